(* Certificates of the kinds lower and violation, about a run of which parts are repeated: what comparisons are added up with which
   weights, and samples with which the run is possible, however many rounds there are.  Rational numbers, computable. *)
From Coq Require Import QArith List Bool Arith.
From Symdipa.Core Require Import Model Lookup Checker Rivals.
Import ListNotations.
Open Scope bool_scope.

(* A step of the run: its transition; the entry that it reads in the first input, and by how much that of the second is larger; its
   samples; what its comparisons (those of [atoms]) and the numbers that it shows are multiplied with. *)
Record rstep := { taken : nat; entry_at : Q; more : Q; drawn : Q; drawn' : Q; weights : list Q; pulls : list Q }.

(* A part of a run is there once, or k times one after the other, for any k.  Numbers may depend on k and on the round:
   base + ahead * (k - j) + behind * j with j rounds behind it.  Outside of rounds that is base + ahead * k. *)
Record slopes_of := { of_entry : Q; of_drawn : Q; of_drawn' : Q }.
Record lstep := { base : rstep; ahead : slopes_of; behind : slopes_of }.
(* In further rounds weights are those of all rounds together; what is stored, and what registers hold, may differ from round to
   round: by [drift] and [drift_r] is said how that goes with j, where it does not go with k as before the part. *)
Record segment := { again : bool; steps : list lstep; drift : list (nat * Q); drift_r : list (nat * Q) }.
(* [r_watched]: the places whose order tells other paths apart. *)
Record rcert := { r_claim : claim; r_run : list segment; r_watched : list place; r_hints : hints }.

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
Definition is_noisy (l : law) (d : Q) : bool := match l with Exact => false | _ => Qlt_bool 0 d end.
Definition sample_origin (l : law) (d : Q) (O : origins) : origin := if is_noisy l d then Some (false, fresh O) else None.

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
Fixpoint put_at (x : nat) (w : Q) (l : numbers_of) : numbers_of :=
  match l with
  | [] => [(x, w)]
  | (y, v) :: l' => if Nat.eqb x y then (y, Qred (v + w)) :: l' else (y, v) :: put_at x w l'
  end.
Definition plus_at (x : nat) (w : Q) (l : numbers_of) : numbers_of := if Qeq_bool w 0 then l else put_at x w l.
Definition add_term (w : Q) (v : term) (L : linear) : linear :=
  let w := if negative v then - w else w in
  match whence v with
  | Zero => L
  | Insample => (fst L, Qred (snd L + w))
  | Held x => (plus_at x w (fst L), snd L)
  end.
(* A sum of what is stored after a step, in terms of what was stored before. *)
Definition is_new (t : trans) (p : nat * Q) : bool := mem (fst p) (gets t).
Definition pulled (t : trans) (l : numbers_of) : linear :=
  fold_right (fun p L =>
    if mem (fst p) (asg t) then (fst L, Qred (snd L + snd p))
    else match lookup (fst p) (copies t) with
         | Some v => add_term (snd p) v L
         | None => L
         end) (filter (fun p => negb (is_new t p)) l, 0) (filter (is_new t) l).
Definition add_atoms (l : list (atom * Q)) (L : linear) : linear :=
  fold_right (fun p L => add_term (snd p) (low (fst p)) (add_term (- snd p) (high (fst p)) L)) L l.
Definition add_items (l : list (item * Q)) (L : linear) : linear :=
  fold_right (fun p L => match fst p with Number a b => add_term (snd p) a (add_term (- snd p) b L) | _ => L end) L l.
(* The same of the second sample. *)
Definition pulled' (l : list (item * Q)) : Q := fold_right (fun p w => if is_other (fst p) then Qred (snd p + w) else w) 0 l.

(* How steeply a weight may grow against the density. *)
Definition withinQ (l : law) (d k : Q) : bool :=
  match l with Laplace => Qle_bool (- d) k && Qle_bool k d | Exponential => Qle_bool (- d) k | Exact => true end.

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
Definition near_enough (run : list rstep) (s : numbers_of) (O : origins) : bool := negb (mixes g) || has_room run s O.

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
End Runs.

(* ---- Parts that are repeated ---- *)

(* By how much numbers grow: the same run, of an automaton without constants, whose guards let values be equal. *)
Definition loose_term (v : term) : term := Term (negative v) (whence v) 0.
Definition loose_trans (t : trans) : trans := {|
  src := src t; tgt := tgt t; t_ge := []; t_lt := [];
  others := map (fun a => {| low := loose_term (low a); high := loose_term (high a); strict := false |}) (atoms t);
  asg := asg t; copies := map (fun p => (fst p, loose_term (snd p))) (copies t); sets := sets t; out := out t |}.
Definition loose_stat (s : stat) : stat := {|
  reads := reads s; law_of := law_of s; d := d s; mu := 0; law_of' := law_of' s; d' := d' s; mu' := 0; factors := factors s |}.
Definition loose (V : view) : view := {|
  tr_of := fun i => loose_trans (tr_of V i); st_of := fun q => loose_stat (st_of V q); leaving_of := leaving_of V;
  stored_of := stored_of V; moves_of := moves_of V; lesser_of := lesser_of V; why_of := why_of V; between_of := between_of V |}.

Definition with_numbers (c : rstep) (x : slopes_of) : rstep := {|
  taken := taken c; entry_at := of_entry x; more := more c; drawn := of_drawn x; drawn' := of_drawn' x;
  weights := weights c; pulls := pulls c |}.
Definition bases (g : segment) : list rstep := map base (steps g).
Definition aheads (g : segment) : list rstep := map (fun c => with_numbers (base c) (ahead c)) (steps g).
Definition behinds (g : segment) : list rstep := map (fun c => with_numbers (base c) (behind c)) (steps g).

Section Segments.
Variables (gr : grade) (A : automaton) (V : view).
Local Notation B := (loose V).

Definition shifted_by (l s : numbers_of) : numbers_of := l ++ filter (fun p => negb (mem (fst p) (map fst l))) s.
Definition stored_in (run : list rstep) : list nat := flat_map (fun c => gets (tr_of V (taken c))) run.
Definition set_in (run : list rstep) : list nat := flat_map (fun c => map fst (sets (tr_of V (taken c)))) run.

(* After a round numbers are what they are before the next one: base, ahead and behind, before and after. *)
Definition in_step (xs : list nat) (s s1 s2 t t1 t2 : numbers_of) : bool :=
  forallb (fun x => Qeq_bool (getQ t x) (getQ s x - getQ s1 x + getQ s2 x) && Qeq_bool (getQ t1 x) (getQ s1 x) &&
                    Qeq_bool (getQ t2 x) (getQ s2 x)) xs.

(* run-step, run-feasible, cycle-repeats; what comes from one sample still does after a round. *)
Fixpoint possible_in (run : list segment) (q : nat) (s r s1 r1 : numbers_of) (O : origins) : bool :=
  match run with
  | [] => true
  | g :: run' =>
      let '(q', t, u) := advance V (bases g) q s r in
      let '(_, t1, u1) := advance B (aheads g) q s1 r1 in
      let O' := origins_after V (bases g) O in
      possible gr A V (bases g) q s r && near_enough gr V (bases g) s O && possible gr A B (aheads g) q s1 r1 &&
      if again g then
        let s2 := shifted_by (drift g) s1 in
        let r2 := shifted_by (drift_r g) r1 in
        let '(_, t2, u2) := advance B (behinds g) q s2 r2 in
        possible gr A B (behinds g) q s2 r2 && Nat.eqb q q' && (negb (mixes gr) || comes_back O O') &&
        in_step (map fst (drift g) ++ stored_in (bases g)) s s1 s2 t t1 t2 &&
        in_step (map fst (drift_r g) ++ set_in (bases g)) r r1 r2 u u1 u2 &&
        possible_in run' q s r s2 r2 O
      else possible_in run' q' t u t1 u1 O'
  end.

(* What the flow says of what is stored; of each part what it must leave alone, and the multiples of its samples. *)
Fixpoint back_in (run : list segment) : numbers_of * list (numbers_of * list (Q * Q)) :=
  match run with
  | [] => ([], [])
  | g :: run' =>
      let (l, ks) := back_in run' in
      if again g then
        let (l', k) := back V (bases g) [] in (fold_right (fun p => plus_at (fst p) (snd p)) l l', (l' ++ l, k) :: ks)
      else let (l', k) := back V (bases g) l in (l', ([], k) :: ks)
  end.

(* A round stores nothing that matters to what is added up. *)
Definition untouched (run : list rstep) (l : numbers_of) : bool :=
  forallb (fun c => forallb (fun p => Qeq_bool (snd p) 0 || negb (mem (fst p) (gets (tr_of V (taken c))))) l) run.

(* flow-capacity: through many rounds as much may go as one likes. *)
Definition steep_in (share : Q) (g : segment) (lk : numbers_of * list (Q * Q)) : bool :=
  if again g then forallb (fun c => forallb (Qle_bool 0) (weights c)) (bases g) && untouched (bases g) (fst lk)
  else forallb (fun p => check_steep V share (fst p) (snd p)) (combine (bases g) (snd lk)).

(* cycle-differ; what the flow is worth in all. *)
Fixpoint steady_in (run : list segment) (e : numbers_of) : bool :=
  match run with
  | [] => true
  | g :: run' =>
      let e' := differing_after V (bases g) e in
      if again g then forallb (fun x => Qeq_bool (getQ e' x) (getQ e x)) (set_in (bases g)) && steady_in run' e else steady_in run' e'
  end.
Fixpoint worth_in (run : list segment) (ks : list (numbers_of * list (Q * Q))) (e : numbers_of) : Q :=
  match run, ks with
  | g :: run', k :: ks' =>
      Qred (worth V (bases g) (snd k) e + worth_in run' ks' (if again g then e else differing_after V (bases g) e))
  | _, _ => 0
  end.
Fixpoint follows_in (run : list segment) (k : nat) : bool :=
  match run with
  | [] => Nat.ltb k (length (differ A))
  | g :: run' =>
      match pattern_after V (bases g) k with
      | Some k' => (negb (again g) || Nat.eqb k k') && follows_in run' k'
      | None => false
      end
  end.
(* No other path shows what may look like it. *)
Fixpoint alone_in (W : list place) (run : list segment) (x : pursued) : bool :=
  match run with
  | [] => negb (nonempty (snd x))
  | g :: run' =>
      let round := map taken (bases g) in
      if again g then
        let y := (fst x, spread W V 50 round (fst x) (snd x)) in
        settled y (pursue W V round y) && alone_in W run' y
      else alone_in W run' (pursue W V round x)
  end.

(* difference, and numbers on the grid. *)
Definition check_mores (c : claim) (g : segment) : bool :=
  forallb (check_more gr V c) (bases g) && forallb (check_more gr V c) (aheads g) && forallb (check_more gr V c) (behinds g).

(* The run is as it should be, and worth enough. *)
Definition check_run (share : Q) (enough : Q -> bool) (C : rcert) : bool :=
  let run := r_run C in
  let ks := snd (back_in run) in
  check_claim (r_claim C) && check_model gr A V &&
  possible_in run (initial A) [] [] [] [] [] && forallb (fun p => steep_in share (fst p) (snd p)) (combine run ks) &&
  forallb (check_mores (r_claim C)) run && steady_in run [] && follows_in run 0 && alone_in (r_watched C) run ((initial A, []), []) &&
  enough (worth_in run ks []).
End Segments.

Definition worth_D (C : rcert) (w : Q) : bool := Qle_bool 0 (c_D (r_claim C)) && Qle_bool (c_D (r_claim C)) w.

(* lower-bound; violation-growth: nothing limits the flow. *)
Definition check_lower (gr : grade) (A : automaton) (C : rcert) : bool :=
  check_run gr A (by_trees (grow A (r_hints C))) 1 (worth_D C) C.
Definition check_growth (gr : grade) (A : automaton) (C : rcert) : bool :=
  check_run gr A (by_trees (grow A (r_hints C))) 0 (Qlt_bool 0) C.

Lemma check_lower_plain gr A C : check_lower gr A C = check_run gr A (plain A (r_hints C)) 1 (worth_D C) C.
Proof. unfold check_lower. now rewrite by_trees_plain. Qed.
Lemma check_growth_plain gr A C : check_growth gr A C = check_run gr A (plain A (r_hints C)) 0 (Qlt_bool 0) C.
Proof. unfold check_growth. now rewrite by_trees_plain. Qed.
