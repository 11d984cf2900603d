(* Certificates of the kind lower, about one run that is written out: what comparisons are added up with which weights, and samples
   with which the run is possible.  Rational numbers, computable. *)
From Coq Require Import QArith List Bool Arith.
From Symdipa.Core Require Import Model Lookup Checker.
Import ListNotations.
Open Scope bool_scope.

(* A step of the run: its transition; the entry that it reads in the first input, and by how much that of the second is larger; its
   samples; what its comparisons (those of [atoms]) and the numbers that it shows are multiplied with. *)
Record rstep := { taken : nat; entry_at : Q; more : Q; drawn : Q; drawn' : Q; weights : list Q; pulls : list Q }.
Record rcert := { r_claim : claim; r_run : list rstep; r_hints : hints }.
(* A run with a round in it that is repeated as often as one likes; weights in the round are those of all rounds together. *)
Record gcert := { g_claim : claim; g_before : list rstep; g_round : list rstep; g_after : list rstep; g_hints : hints }.

(* ---- The run, with numbers ---- *)

Definition numbers_of := list (nat * Q).
Definition getQ (s : numbers_of) (x : nat) : Q := match lookup x s with Some q => q | None => 0 end.
Definition heldQ (s : numbers_of) (z : Q) (p : place) : Q :=
  match p with Zero => 0 | Insample => z | Held x => getQ s x end.
Definition valueQ (s : numbers_of) (z : Q) (v : term) : Q :=
  (if negative v then - heldQ s z (whence v) else heldQ s z (whence v)) + plus v.
Definition updQ (s : numbers_of) (t : trans) (z : Q) : numbers_of :=
  map (fun x => (x, z)) (asg t) ++ map (fun p => (fst p, valueQ s z (snd p))) (copies t) ++
  filter (fun p => negb (mem (fst p) (gets t))) s.
Definition setQ (l : list (nat * update)) (e : Q) (r : numbers_of) : numbers_of :=
  map (fun p => (fst p, Qred (match from (snd p) with Some y => getQ r y | None => 0 end + (if adds (snd p) then e else 0)))) l ++
  filter (fun p => negb (mem (fst p) (map fst l))) r.
Definition weighedQ (l : list (nat * Q)) (r : numbers_of) : Q := fold_right (fun p m => Qred (snd p * getQ r (fst p) + m)) 0 l.

Definition atom_holds (s : numbers_of) (z : Q) (a : atom) : bool :=
  if strict a then Qlt_bool (valueQ s z (low a)) (valueQ s z (high a)) else Qle_bool (valueQ s z (low a)) (valueQ s z (high a)).

(* Values that the noise can have. *)
Definition can_beQ (g : grade) (l : law) (d m z : Q) : bool :=
  match l with
  | Exact => Qeq_bool z m
  | Laplace => if Qle_bool d 0 then Qeq_bool z m else shift_ok g (z - m)
  | Exponential => if Qle_bool d 0 then Qeq_bool z m else shift_ok g (z - m) && Qle_bool m z
  end.

(* ---- Room: which samples values come from ---- *)

(* Noise that spreads over all real numbers has no single values, only values near those of the run.  So comparisons must hold with
   some room, unless both sides come from one sample (or none): then their difference is certain.  Where a value comes from:
   the number of a sample, and whether it is negative; None: from none that has noise. *)
Definition origin := option (bool * nat).
Definition origins := list (nat * origin).
Definition turn (b : bool) (o : origin) : origin := match o with Some (c, i) => Some (xorb b c, i) | None => None end.
Definition same_origin (o o' : origin) : bool :=
  match o, o' with Some (b, i), Some (c, j) => Bool.eqb b c && Nat.eqb i j | None, None => true | _, _ => false end.
Definition origin_of (O : origins) (x : nat) : origin := match lookup x O with Some o => o | None => None end.
Definition origin_at (O : origins) (z : origin) (v : term) : origin :=
  turn (negative v) (match whence v with Zero => None | Insample => z | Held x => origin_of O x end).
Definition upd_origins (O : origins) (t : trans) (z : origin) : origins :=
  map (fun x => (x, z)) (asg t) ++ map (fun p => (fst p, origin_at O z (snd p))) (copies t) ++
  filter (fun p => negb (mem (fst p) (gets t))) O.

(* A number that no sample has which is stored. *)
Definition fresh (O : origins) : nat :=
  fold_right (fun p n => match snd p with Some (_, i) => if Nat.leb n i then S i else n | None => n end) 0%nat O.
Definition sample_origin (l : law) (d : Q) (O : origins) : origin := if is_live l d then Some (false, fresh O) else None.

Definition roomy (s : numbers_of) (O : origins) (z : Q) (o : origin) (a : atom) : bool :=
  same_origin (origin_at O o (low a)) (origin_at O o (high a)) || Qlt_bool (valueQ s z (low a)) (valueQ s z (high a)).

(* What may be stored later, with origins O', might have been stored before: what came from one sample still does. *)
Definition instead (O O' : origins) : list (nat * origin) :=
  flat_map (fun p => match snd p with Some (b, i) => [(i, turn b (origin_of O' (fst p)))] | None => [] end) O.
Definition comes_back (O O' : origins) : bool :=
  let now := instead O O' in
  forallb (fun x => match origin_of O x with
    | None => same_origin (origin_of O' x) None
    | Some (b, i) => match lookup i now with Some o => same_origin (turn b (origin_of O' x)) o | None => false end
    end) (map fst O ++ map fst O').

(* ---- What comparisons say, added up: a sum of what is stored, and a multiple of the sample ---- *)

Definition linear := (numbers_of * Q)%type.
Fixpoint plus_at (x : nat) (w : Q) (l : numbers_of) : numbers_of :=
  match l with
  | [] => [(x, w)]
  | (y, v) :: l' => if Nat.eqb x y then (y, Qred (v + w)) :: l' else (y, v) :: plus_at x w l'
  end.
Definition add_term (w : Q) (v : term) (L : linear) : linear :=
  let w := if negative v then - w else w in
  match whence v with
  | Zero => L
  | Insample => (fst L, Qred (snd L + w))
  | Held x => (plus_at x w (fst L), snd L)
  end.
(* A sum of what is stored after a step, in terms of what was stored before. *)
Definition pulled (t : trans) (l : numbers_of) : linear :=
  fold_right (fun p L =>
    if mem (fst p) (asg t) then (fst L, Qred (snd L + snd p))
    else match lookup (fst p) (copies t) with
         | Some v => add_term (snd p) v L
         | None => (plus_at (fst p) (snd p) (fst L), snd L)
         end) ([], 0) l.
Definition add_atoms (l : list (atom * Q)) (L : linear) : linear :=
  fold_right (fun p L => add_term (snd p) (low (fst p)) (add_term (- snd p) (high (fst p)) L)) L l.
Definition add_items (l : list (item * Q)) (L : linear) : linear :=
  fold_right (fun p L => match fst p with Number a b => add_term (snd p) a (add_term (- snd p) b L) | _ => L end) L l.
(* The same of the second sample. *)
Definition pulled' (l : list (item * Q)) : Q := fold_right (fun p w => if is_other (fst p) then Qred (snd p + w) else w) 0 l.

(* How steeply a weight may grow against the density. *)
Definition withinQ (l : law) (d k : Q) : bool :=
  match l with Laplace => Qle_bool (- d) k && Qle_bool k d | Exponential => Qle_bool (- d) k | Exact => true end.

(* Outputs that may look alike. *)
Fixpoint alike (o o' : list item) : bool :=
  match o, o' with
  | [], [] => true
  | i :: o, i' :: o' => (match i, i' with Sym x, Sym y => Nat.eqb x y | Sym _, _ | _, Sym _ => false | _, _ => true end) && alike o o'
  | _, _ => false
  end.

Section Runs.
Variables (g : grade) (A : automaton) (V : view).

Definition read_of (c : rstep) (x : Q) : Q := if reads (st_of V (src (tr_of V (taken c)))) then x else 0.

(* run-step, run-feasible. *)
Fixpoint possible (run : list rstep) (q : nat) (s r : numbers_of) : bool :=
  match run with
  | [] => true
  | c :: run' =>
      let t := tr_of V (taken c) in
      let e := read_of c (entry_at c) in
      let m := Qred (e + weighedQ (factors (st_of V (src t))) r) in
      Nat.ltb (taken c) (length (transitions A)) && Nat.eqb (src t) q &&
      can_beQ g (law_of (st_of V q)) (d (st_of V q)) (m + mu (st_of V q)) (drawn c) &&
      (negb (shows_other t) || can_beQ g (law_of' (st_of V q)) (d' (st_of V q)) (m + mu' (st_of V q)) (drawn' c)) &&
      forallb (atom_holds s (drawn c)) (atoms t) &&
      possible run' (tgt t) (updQ s t (drawn c)) (setQ (sets t) e r)
  end.

(* run-room. *)
Definition drawn_from (c : rstep) (O : origins) : origin :=
  let s := st_of V (src (tr_of V (taken c))) in sample_origin (law_of s) (d s) O.
Fixpoint has_room (run : list rstep) (s : numbers_of) (O : origins) : bool :=
  match run with
  | [] => true
  | c :: run' =>
      let t := tr_of V (taken c) in
      forallb (roomy s O (drawn c) (drawn_from c O)) (atoms t) &&
      has_room run' (updQ s t (drawn c)) (upd_origins O t (drawn_from c O))
  end.
Fixpoint origins_after (run : list rstep) (O : origins) : origins :=
  match run with
  | [] => O
  | c :: run' => origins_after run' (upd_origins O (tr_of V (taken c)) (drawn_from c O))
  end.
(* Where single values have probabilities no room is needed. *)
Definition near_enough (run : list rstep) : bool := negb (mixes g) || has_room run [] [].
Definition round_near_enough (first round : list rstep) : bool :=
  negb (mixes g) || (let O := origins_after first [] in comes_back O (origins_after round O)).

(* What the rest of the run says of what is stored; and the multiples of its samples. *)
Definition stepped (c : rstep) (l : numbers_of) : linear :=
  let t := tr_of V (taken c) in
  add_items (combine (out t) (pulls c)) (add_atoms (combine (atoms t) (weights c)) (pulled t l)).
Definition steep' (c : rstep) : Q := pulled' (combine (out (tr_of V (taken c))) (pulls c)).
Fixpoint back (run : list rstep) (l0 : numbers_of) : numbers_of * list (Q * Q) :=
  match run with
  | [] => (l0, [])
  | c :: run' => let (l, ks) := back run' l0 in let (l', k) := stepped c l in (l', (k, steep' c) :: ks)
  end.

(* flow-capacity; [share] is what may be used of it. *)
Definition check_steep (share : Q) (c : rstep) (ks : Q * Q) : bool :=
  let t := tr_of V (taken c) in
  let s := st_of V (src t) in
  withinQ (law_of s) (share * d s) (fst ks) && (negb (shows_other t) || withinQ (law_of' s) (share * d' s) (snd ks)) &&
  forallb (Qle_bool 0) (weights c).

(* What the flow is worth, if registers differ by r. *)
Fixpoint worth (run : list rstep) (ks : list (Q * Q)) (r : numbers_of) : Q :=
  match run, ks with
  | c :: run', k :: ks' =>
      let t := tr_of V (taken c) in
      let e := read_of c (more c) in
      Qred ((fst k + snd k) * (e + weighedQ (factors (st_of V (src t))) r) + worth run' ks' (setQ (sets t) e r))
  | _, _ => 0
  end.

(* Where a run leads: state, what is stored, what registers hold; and by how much registers differ, the state of the pattern,
   and the states of other paths that look like it. *)
Fixpoint advance (run : list rstep) (q : nat) (s r : numbers_of) : nat * numbers_of * numbers_of :=
  match run with
  | [] => (q, s, r)
  | c :: run' =>
      let t := tr_of V (taken c) in
      advance run' (tgt t) (updQ s t (drawn c)) (setQ (sets t) (read_of c (entry_at c)) r)
  end.
Fixpoint differing_after (run : list rstep) (r : numbers_of) : numbers_of :=
  match run with
  | [] => r
  | c :: run' => differing_after run' (setQ (sets (tr_of V (taken c))) (read_of c (more c)) r)
  end.

(* difference, run-differ. *)
Definition check_more (c : claim) (s : rstep) : bool :=
  negb (reads (st_of V (src (tr_of V (taken s))))) ||
  (Qle_bool (c_sens c * c_low c) (- more s) && Qle_bool (- more s) (c_sens c * c_high c) && shift_ok g (more s) &&
   shift_ok g (entry_at s)).
Fixpoint follows (size : nat) (run : list rstep) (k : nat) : bool :=
  match run with
  | [] => Nat.ltb k size
  | c :: run' =>
      if reads (st_of V (src (tr_of V (taken c)))) then
        match (if Qeq_bool (more c) 0 then fst (moves_of V k) else snd (moves_of V k)) with
        | Some k' => follows size run' k'
        | None => false
        end
      else follows size run' k
  end.

Fixpoint pattern_after (run : list rstep) (k : nat) : option nat :=
  match run with
  | [] => Some k
  | c :: run' =>
      if reads (st_of V (src (tr_of V (taken c)))) then
        match (if Qeq_bool (more c) 0 then fst (moves_of V k) else snd (moves_of V k)) with
        | Some k' => pattern_after run' k'
        | None => None
        end
      else pattern_after run' k
  end.

(* No other path shows what may look like it; [rivals] are the states where others are. *)
Fixpoint alone (run : list rstep) (q : nat) (rivals : list nat) : bool :=
  match run with
  | [] => negb (nonempty rivals)
  | c :: run' =>
      let o := out (tr_of V (taken c)) in
      let like := fun i => alike (out (tr_of V i)) o in
      alone run' (tgt (tr_of V (taken c)))
        (nodup Nat.eq_dec (map (fun i => tgt (tr_of V i))
          (filter (fun i => negb (Nat.eqb i (taken c)) && like i) (leaving_of V q) ++
           filter like (flat_map (leaving_of V) rivals))))
  end.

Fixpoint rivals_after (run : list rstep) (q : nat) (rivals : list nat) : nat * list nat :=
  match run with
  | [] => (q, rivals)
  | c :: run' =>
      let o := out (tr_of V (taken c)) in
      let like := fun i => alike (out (tr_of V i)) o in
      rivals_after run' (tgt (tr_of V (taken c)))
        (nodup Nat.eq_dec (map (fun i => tgt (tr_of V i))
          (filter (fun i => negb (Nat.eqb i (taken c)) && like i) (leaving_of V q) ++
           filter like (flat_map (leaving_of V) rivals))))
  end.

(* Equal as they are written. *)
Definition same_number (x y : Q) : bool := Z.eqb (Qnum x) (Qnum y) && Pos.eqb (Qden x) (Qden y).
Fixpoint same_numbers (l l' : numbers_of) : bool :=
  match l, l' with
  | [], [] => true
  | (x, q) :: l, (y, p) :: l' => Nat.eqb x y && same_number q p && same_numbers l l'
  | _, _ => false
  end.
Fixpoint same_list (l l' : list nat) : bool :=
  match l, l' with [], [] => true | x :: l, y :: l' => Nat.eqb x y && same_list l l' | _, _ => false end.

(* The round stores nothing that matters to what is added up. *)
Definition untouched (run : list rstep) (l : numbers_of) : bool :=
  forallb (fun c => forallb (fun p => negb (mem (fst p) (gets (tr_of V (taken c))))) l) run.

Definition check_rounds (C : gcert) : bool :=
  let first := g_before C in
  let round := g_round C in
  let last := g_after C in
  let run := first ++ round ++ last in
  let (la, ka) := back last [] in
  let (lr, kr) := back round [] in
  let (lb, kb) := back first (la ++ lr) in
  let '(q, s, r) := advance first (initial A) [] [] in
  let '(q', s', r') := advance round q s r in
  let e := differing_after first [] in
  let (q1, rivals) := rivals_after first (initial A) [] in
  let (q2, rivals') := rivals_after round q1 rivals in
  check_claim (g_claim C) && check_model g A V && possible run (initial A) [] [] &&
  near_enough run && round_near_enough first round &&
  forallb (fun p => check_steep 0 (fst p) (snd p)) (combine first kb) && forallb (fun p => check_steep 0 (fst p) (snd p)) (combine last ka) &&
  forallb (fun c => forallb (Qle_bool 0) (weights c)) round && untouched round (la ++ lr) &&
  Nat.eqb q q' && same_numbers s s' && same_numbers r r' && same_numbers e (differing_after round e) &&
  forallb (check_more (g_claim C)) run && follows (length (differ A)) run 0 &&
  match pattern_after first 0 with
  | Some k => match pattern_after round k with Some k' => Nat.eqb k k' | None => false end
  | None => false
  end &&
  alone run (initial A) [] && Nat.eqb q1 q2 && same_list rivals rivals' &&
  Qlt_bool 0 (worth first kb [] + worth round kr e + worth last ka e).

(* The run is as it should be, and worth enough. *)
Definition check_run (share : Q) (enough : Q -> bool) (C : rcert) : bool :=
  let run := r_run C in
  let (l, ks) := back run [] in
  check_claim (r_claim C) && check_model g A V &&
  possible run (initial A) [] [] && near_enough run && forallb (fun p => check_steep share (fst p) (snd p)) (combine run ks) &&
  forallb (check_more (r_claim C)) run && follows (length (differ A)) run 0 && alone run (initial A) [] &&
  enough (worth run ks []).
End Runs.

Definition worth_D (C : rcert) (w : Q) : bool := Qle_bool 0 (c_D (r_claim C)) && Qle_bool (c_D (r_claim C)) w.

(* lower-bound; violation-growth: nothing limits the flow. *)
Definition check_lower (g : grade) (A : automaton) (C : rcert) : bool :=
  check_run g A (by_trees (grow A (r_hints C))) 1 (worth_D C) C.
Definition check_growth (g : grade) (A : automaton) (C : rcert) : bool :=
  check_run g A (by_trees (grow A (r_hints C))) 0 (Qlt_bool 0) C.

(* The same where a round is repeated. *)
Definition check_growth_in_rounds (g : grade) (A : automaton) (C : gcert) : bool :=
  check_rounds g A (by_trees (grow A (g_hints C))) C.

Lemma check_rounds_plain g A C : check_growth_in_rounds g A C = check_rounds g A (plain A (g_hints C)) C.
Proof. unfold check_growth_in_rounds. now rewrite by_trees_plain. Qed.
Lemma check_lower_plain g A C : check_lower g A C = check_run g A (plain A (r_hints C)) 1 (worth_D C) C.
Proof. unfold check_lower. now rewrite by_trees_plain. Qed.
Lemma check_growth_plain g A C : check_growth g A C = check_run g A (plain A (r_hints C)) 0 (Qlt_bool 0) C.
Proof. unfold check_growth. now rewrite by_trees_plain. Qed.
