(* Certificates of the kinds private and private-in-parts, and the checker: rational numbers, computable.
   docs/certificates.md has the rules; names of definitions follow it. *)
From Coq Require Import QArith Qround List Bool Arith.
From Symdipa.Core Require Import Model Lookup.
Import ListNotations.
Open Scope bool_scope.

(* ---- Certificates ---- *)

(* What a node says of the values that are stored: comparisons, and pairs whose difference is no given number, but with
   probability 0.  And how far two inputs went apart: the state of the pattern, and by how much registers differ. *)
Record bnode := { b_state : nat; b_facts : list atom; b_distinct : list (term * term); b_apart : nat; b_known : list (nat * Q) }.

(* Intervals by variable; None: there is none. *)
Definition ivs := list (nat * option (Q * Q)).
Record lnode := { l_base : nat; l_pot : Q; l_own : ivs }.

(* How the entry differs that a step reads: not at all, by anything that is allowed, by the least, by the largest difference.
   A step that reads none has Same. *)
Inductive differs := Same | Any | Least | Largest.
Definition way := (nat * differs)%type.
(* Source, transition with what is read, target. *)
Definition edge := (nat * way * nat)%type.

(* A base and a lift over it.  Potentials are looked at in the ground of a certificate only. *)
Record graph := {
  b_nodes : list bnode; b_edges : list edge;
  forward : bool; everywhere : ivs; l_nodes : list lnode; l_edges : list edge
}.

(* Differences of inputs lie in [sens*low, sens*high]; D is what is claimed. *)
Record claim := { c_low : Q; c_high : Q; c_sens : Q; c_D : Q }.

(* No part of the file, and checked, not believed: variables that are surely stored in each state; for each state of the pattern
   those from which no more is allowed; which comparisons of a list, added up with which weights, give one that is asked for;
   and where all values are integers, comparisons that follow and are worth rounding. *)
Definition sums := list (nat * Q).
Record hints := { stored : list (list nat); lesser : list (list nat); why : list atom -> atom -> sums; between : list atom -> list atom }.

(* A ground, which has the potentials, and parts, which have shifts for some variables each and stand on the lift of the ground:
   its nodes and edges take the place of states and transitions.  Together they are the layers, the ground is number 0;
   for each variable it is said which one has its shifts.  The kind private is a ground by itself, with all the shifts.
   The kind private-in-parts has a ground without shifts: the control states, the trunk, or what it calls the ground. *)
Record cert := { c_claim : claim; c_ground : graph; c_parts : list graph; c_layer : list nat; c_hints : hints }.

(* What depends on the noise: the shifts that it allows, the factors that registers may have, whether means of shifts are
   allowed shifts, whether the least and largest difference are, besides 0, all differences between them, whether single
   values have probability 0, and whether all values are integers. *)
Record grade := { shift_ok : Q -> bool; factor_ok : Q -> bool; mixes : bool; only_ends : Q -> Q -> bool; smooth : bool; whole : bool }.

(* ---- Looking things up ---- *)

Definition source (e : edge) : nat := fst (fst e).
Definition via (e : edge) : way := snd (fst e).
Definition number (e : edge) : nat := fst (via e).
Definition target (e : edge) : nat := snd e.

Definition bnode0 := {| b_state := 0; b_facts := []; b_distinct := []; b_apart := 0; b_known := [] |}.
Definition lnode0 := {| l_base := 0; l_pot := 0; l_own := [] |}.
Definition bn (G : graph) v := nth v (b_nodes G) bnode0.
Definition ln (G : graph) n := nth n (l_nodes G) lnode0.
Definition having {X} (key : X -> nat) (l : list X) (k : nat) : list X := filter (fun x => Nat.eqb (key x) k) l.
Definition numbers {X} (l : list X) := seq 0 (length l).

(* What the checker asks of an automaton, and of a graph. *)
Record view := {
  tr_of : nat -> trans; st_of : nat -> stat; leaving_of : nat -> list nat; stored_of : nat -> list nat;
  moves_of : nat -> option nat * option nat; lesser_of : nat -> list nat; why_of : list atom -> atom -> sums;
  between_of : list atom -> list atom
}.
Record gview := {
  bn_of : nat -> bnode; out_of : nat -> list edge; ln_of : nat -> lnode; over_of : nat -> list nat;
  from_of : nat -> list edge; to_of : nat -> list edge; by_of : nat -> list edge; every_of : nat -> ivs
}.

(* The meaning: searches through lists. *)
Definition plain (A : automaton) (H : hints) : view := {|
  tr_of := tr A; st_of := st A; leaving_of := leaving A; stored_of := fun q => nth q (stored H) [];
  moves_of := fun k => nth k (differ A) (None, None); lesser_of := fun k => nth k (lesser H) []; why_of := why H; between_of := between H |}.
Definition gplain (G : graph) : gview := {|
  bn_of := bn G; out_of := having source (b_edges G); ln_of := ln G;
  over_of := having (fun n => l_base (ln G n)) (numbers (l_nodes G));
  from_of := having source (l_edges G); to_of := having target (l_edges G); by_of := having number (l_edges G);
  every_of := having fst (everywhere G) |}.

(* The same by trees. *)
Record trees := {
  tr_tree : tree trans; st_tree : tree stat; leaving_tree : tree (list nat); stored_tree : tree (list nat);
  moves_tree : tree (option nat * option nat); lesser_tree : tree (list nat); why_tree : list atom -> atom -> sums;
  between_tree : list atom -> list atom
}.
Record gtrees := {
  bn_tree : tree bnode; out_tree : tree (list edge); ln_tree : tree lnode; over_tree : tree (list nat);
  from_tree : tree (list edge); to_tree : tree (list edge); by_tree : tree (list edge);
  every_tree : tree (list (nat * option (Q * Q)))
}.
Definition grow (A : automaton) (H : hints) : trees :=
  let t := array (transitions A) in {|
  tr_tree := t; st_tree := array (states A);
  leaving_tree := index (fun i => src (at_place trans0 t i)) (numbers (transitions A)); stored_tree := array (stored H);
  moves_tree := array (differ A); lesser_tree := array (lesser H); why_tree := why H; between_tree := between H |}.
Definition ggrow (G : graph) : gtrees :=
  let n := array (l_nodes G) in {|
  bn_tree := array (b_nodes G); out_tree := index source (b_edges G); ln_tree := n;
  over_tree := index (fun k => l_base (at_place lnode0 n k)) (numbers (l_nodes G));
  from_tree := index source (l_edges G); to_tree := index target (l_edges G); by_tree := index number (l_edges G);
  every_tree := index fst (everywhere G) |}.
Definition by_trees (T : trees) : view := {|
  tr_of := at_place trans0 (tr_tree T); st_of := at_place stat0 (st_tree T);
  leaving_of := with_key (leaving_tree T); stored_of := at_place [] (stored_tree T);
  moves_of := at_place (None, None) (moves_tree T); lesser_of := at_place [] (lesser_tree T); why_of := why_tree T; between_of := between_tree T |}.
Definition by_gtrees (T : gtrees) : gview := {|
  bn_of := at_place bnode0 (bn_tree T); out_of := with_key (out_tree T); ln_of := at_place lnode0 (ln_tree T);
  over_of := with_key (over_tree T); from_of := with_key (from_tree T); to_of := with_key (to_tree T);
  by_of := with_key (by_tree T); every_of := with_key (every_tree T) |}.

Lemma by_trees_plain A H : by_trees (grow A H) = plain A H.
Proof. unfold by_trees, grow, plain. cbn. now rewrite !at_array, index_spec. Qed.
Lemma by_gtrees_plain G : by_gtrees (ggrow G) = gplain G.
Proof. unfold by_gtrees, ggrow, gplain. cbn. now rewrite !at_array, !index_spec. Qed.

(* ---- Lists ---- *)

Definition subset (l l' : list nat) : bool := forallb (fun x => mem x l') l.
Definition Qlt_bool (x y : Q) : bool := negb (Qle_bool y x).
Definition nonempty {X} (l : list X) : bool := match l with [] => false | _ => true end.
Definition meets (l l' : list nat) : bool := existsb (fun x => mem x l') l.
Definition is_some {X} (o : option X) : bool := match o with Some _ => true | None => false end.

(* Lists in one order: each element of the first is in the second.  One walk. *)
Fixpoint within (l l' : list nat) : bool :=
  match l' with
  | [] => negb (nonempty l)
  | y :: m' => match l with
               | [] => true
               | x :: m => if Nat.eqb x y then within m m' else within l m'
               end
  end.
Definition without (l l' : list nat) : list nat := filter (fun x => negb (mem x l')) l.

(* No first number is above a second one. *)
Definition fits (F Ce : list Q) : bool :=
  match F, Ce with
  | f :: F', c :: C' =>
      Qle_bool (fold_right (fun x m => if Qle_bool x m then m else x) f F')
               (fold_right (fun x m => if Qle_bool x m then x else m) c C')
  | _, _ => true
  end.

(* ---- The automaton ---- *)

Definition zero := Term false Zero 0.
Definition insample := Term false Insample 0.
Definition is_sample (v : term) : bool := match whence v with Insample => true | _ => false end.
Definition held_by (v : term) : list nat := match whence v with Held x => [x] | _ => [] end.

Definition terms_of (i : item) : list term := match i with Number a b => [a; b] | _ => [] end.
Definition is_other (i : item) : bool := match i with Other => true | _ => false end.
Definition shows_other (t : trans) : bool := existsb is_other (out t).

(* All terms of a transition but those of its copies. *)
Definition terms (t : trans) : list term :=
  flat_map (fun a => [low a; high a]) (others t) ++ flat_map terms_of (out t).
Definition uses (t : trans) : bool :=
  nonempty (t_ge t) || nonempty (t_lt t) || nonempty (asg t) || existsb is_sample (terms t).
(* The variables that must hold something. *)
Definition read (t : trans) : list nat :=
  t_ge t ++ t_lt t ++ flat_map held_by (terms t) ++ flat_map (fun c => held_by (snd c)) (copies t).
Definition gets (t : trans) : list nat := asg t ++ map fst (copies t).

Definition place_eqb (p q : place) : bool :=
  match p, q with Zero, Zero => true | Insample, Insample => true | Held x, Held y => Nat.eqb x y | _, _ => false end.
Definition same_place (v w : term) : bool := Bool.eqb (negative v) (negative w) && place_eqb (whence v) (whence w).
Definition minus (v : term) : term := Term (negb (negative v)) (whence v) (- plus v).
Definition atoms (t : trans) : list atom :=
  map (fun x => {| low := Term false (Held x) 0; high := insample; strict := false |}) (t_ge t) ++
  map (fun x => {| low := insample; high := Term false (Held x) 0; strict := true |}) (t_lt t) ++ others t.

(* ---- What comparisons say, added up ---- *)

(* Sums of multiples of what is in places. *)
Definition form := list (place * Q).
Fixpoint put (p : place) (q : Q) (f : form) : form :=
  match f with
  | [] => [(p, q)]
  | (p', q') :: f' => if place_eqb p p' then (p', Qred (q + q')) :: f' else (p', q') :: put p q f'
  end.
Definition put_term (q : Q) (v : term) (f : form) : form := put (whence v) (if negative v then - q else q) f.
(* q times the difference of the ends of a comparison. *)
Definition put_atom (q : Q) (a : atom) (f : form) : form := put_term q (low a) (put_term (- q) (high a) f).
Definition vanishes (f : form) : bool := forallb (fun p => place_eqb (fst p) Zero || Qeq_bool (snd p) 0) f.

(* What some of the comparisons K say of the ends of a, added up with weights: a bound on their difference, and whether it
   is not reached. *)
Definition trivial := {| low := zero; high := zero; strict := false |}.
Definition taken_from (K : list atom) (l : sums) : list (atom * Q) := map (fun p => (nth (fst p) K trivial, snd p)) l.
Definition over (a : atom) : Q := plus (low a) - plus (high a).
Definition bound_by (l : list (atom * Q)) (a : atom) : option (Q * bool) :=
  if forallb (fun p => Qle_bool 0 (snd p)) l && vanishes (fold_right (fun p => put_atom (snd p) (fst p)) (put_atom (- (1)) a []) l)
  then Some (fold_right (fun p m => Qred (m - snd p * over (fst p))) (over a) l, existsb (fun p => strict (fst p) && Qlt_bool 0 (snd p)) l)
  else None.

(* What a transition asks of shifts: the first of a pair is shifted at least as far as the second. *)
Definition asked (t : trans) : list (term * term) :=
  map (fun a => (low a, high a)) (others t) ++
  flat_map (fun i => match i with Number a b => [(a, b); (b, a)] | _ => [] end) (out t).

(* Whether anything depends on the means. *)
Definition uses_mean (t : trans) : bool := uses t || shows_other t.

Section Checker.
Variables (g : grade) (A : automaton) (V : view).

Definition is_live (l : law) (d : Q) : bool := match l with Exact => true | _ => Qlt_bool 0 d end.

(* ---- What follows from comparisons ---- *)

(* The largest integer that is no larger than q, or below it. *)
Definition integer_to (q : Q) (below : bool) : Q := inject_Z (if below then - Qfloor (- q) - 1 else Qfloor q).
(* A comparison of integers, as it may be said without strictness and fractions. *)
Definition rounded (a : atom) : atom :=
  let bare v := Term (negative v) (whence v) 0 in
  {| low := bare (low a);
     high := Term (negative (high a)) (whence (high a)) (integer_to (- over a) (strict a)); strict := false |}.

(* The bound that some comparisons put on the difference of the ends of another one.  With [w] all values are integers. *)
Definition bound (w : bool) (K : list atom) (a : atom) : option (Q * bool) :=
  match bound_by (taken_from K (why_of V K a)) a with
  | Some (q, unreached) => if w then Some (integer_to (q - over a) unreached + over a, false) else Some (q, unreached)
  | None => None
  end.
Definition follows (w : bool) (K : list atom) (a : atom) : bool :=
  match bound w K a with Some (q, unreached) => Qlt_bool q 0 || Qle_bool q 0 && (unreached || negb (strict a)) | None => false end.
Definition impossible (w : bool) (K : list atom) : bool := follows w K {| low := zero; high := zero; strict := true |}.
(* There is one value only that a term can have. *)
Definition given (K : list atom) (v : term) : bool :=
  match bound false K {| low := v; high := zero; strict := false |}, bound false K {| low := zero; high := v; strict := false |} with
  | Some (above, _), Some (below, _) => Qle_bool (above + below) 0
  | _, _ => false
  end.
(* Of integers comparisons say more when they are rounded, and so do some that follow from them. *)
Definition sharpened (w : bool) (K : list atom) : list atom :=
  if w then let K' := map rounded K in K' ++ filter (follows w K') (between_of V K') else K.

(* The sample of a transition has any given value with probability 0. *)
Definition fresh (t : trans) : bool :=
  let s := st_of V (src t) in smooth g && match law_of s with Exact => false | _ => Qlt_bool 0 (d s) end.
(* So is the difference of the sample and anything else. *)
Definition fresh_pair (t : trans) (v w : term) : bool :=
  fresh t && (is_sample v || is_sample w) && negb (same_place v w).
Definition stricter (b : bool) (a : atom) : atom := {| low := low a; high := high a; strict := strict a || b |}.

(* What holds whenever a transition is taken: its guard, and where its sample can be, if that depends on no input. *)
Definition support (t : trans) : list atom :=
  let s := st_of V (src t) in
  let m := Term false Zero (mu s) in
  if reads s || nonempty (factors s) || negb (uses t) then [] else
  match law_of s with
  | Laplace => []
  | Exponential => [{| low := m; high := insample; strict := false |}]
  | Exact => [{| low := m; high := insample; strict := false |}; {| low := insample; high := m; strict := false |}]
  end.
Definition sure (t : trans) : list atom := map (fun a => stricter (fresh_pair t (low a) (high a)) a) (atoms t) ++ support t.
Definition opposite (t t' : trans) : bool :=
  meets (t_ge t) (t_lt t') || meets (t_lt t) (t_ge t') || impossible false (sure t ++ sure t').

(* model-noise, model-output, model-assignment, model-determinism, model-initialization. *)
Definition check_trans (i : nat) : bool :=
  let t := tr_of V i in
  let s := st_of V (src t) in
  (negb (uses t) || is_live (law_of s) (d s)) &&
  (negb (shows_other t) || is_live (law_of' s) (d' s)) &&
  Nat.leb (length (filter is_other (out t))) 1 &&
  forallb (fun c => negb (is_sample (snd c))) (copies t) &&
  forallb (fun j => Nat.eqb i j || opposite t (tr_of V j)) (leaving_of V (src t)) &&
  subset (read t) (stored_of V (src t)) &&
  within (without (stored_of V (tgt t)) (gets t)) (stored_of V (src t)).

(* What one state of the pattern allows, another one does.  An equal entry is always allowed: inputs have no end. *)
Definition allows_too (size : nat) (to to' : option nat) : bool :=
  match to with
  | None => true
  | Some j => match to' with Some k => Nat.ltb k size && mem j (lesser_of V k) | None => false end
  end.
Definition check_lesser (size k : nat) : bool :=
  match fst (moves_of V k) with Some j => Nat.ltb j size | None => false end &&
  forallb (fun j => allows_too size (fst (moves_of V j)) (fst (moves_of V k)) &&
                    allows_too size (snd (moves_of V j)) (snd (moves_of V k))) (lesser_of V k).

(* model-integer, where all values are integers. *)
Definition check_whole : bool :=
  negb (whole g) ||
  forallb (fun s => shift_ok g (mu s)) (states A) && forallb (fun t => forallb (fun c => shift_ok g (plus (snd c))) (copies t)) (transitions A).

Definition check_model : bool :=
  forallb check_trans (numbers (transitions A)) && negb (nonempty (stored_of V (initial A))) &&
  forallb (check_lesser (length (differ A))) (numbers (differ A)) &&
  (forallb (fun s => forallb (fun p => factor_ok g (snd p)) (factors s)) (states A) && check_whole).

Definition check_claim (c : claim) : bool :=
  Qle_bool (c_low c) 0 && Qle_bool 0 (c_high c) && Qlt_bool 0 (c_sens c).

(* The least and the largest difference of an entry. *)
Definition entry_of (c : claim) (l : differs) : Q * Q :=
  let lo := (c_sens c * c_low c)%Q in
  let hi := (c_sens c * c_high c)%Q in
  match l with Same => (0, 0) | Any => (lo, hi) | Least => (lo, lo) | Largest => (hi, hi) end.

(* What is the same for all graphs of a certificate, and then a graph: whether it says how far inputs went apart (parts
   stand on a graph that does), and the variables of which it has the shifts. *)
Section Graph.
Variables (c : claim) (G : graph) (W : gview) (tells : bool) (own : nat -> bool).

(* ---- The base ---- *)

Definition differs_eqb (l l' : differs) : bool :=
  match l, l' with Same, Same => true | Any, Any => true | Least, Least => true | Largest, Largest => true | _, _ => false end.
Definition way_eqb (w w' : way) : bool := Nat.eqb (fst w) (fst w') && differs_eqb (snd w) (snd w').
Definition goal (v : nat) (w : way) : option nat :=
  match find (fun e => way_eqb (via e) w) (out_of W v) with Some e => Some (target e) | None => None end.

(* Pairs of terms whose difference is the same, or its negative, but for a number. *)
Definition like (v w : term) : bool :=
  place_eqb (whence v) (whence w) && (Bool.eqb (negative v) (negative w) || place_eqb (whence v) Zero).
Definition alike_pairs (p q : term * term) : bool :=
  let (v, w) := p in
  let (x, y) := q in
  like v x && like w y || like v y && like w x || like v (minus x) && like w (minus y) || like v (minus y) && like w (minus x).
Definition distinct (b : bnode) (v w : term) : bool := existsb (alike_pairs (v, w)) (b_distinct b).

(* A comparison of what is distinct, or of what is given and what is distinct from 0, is strict. *)
Definition parted (b : bnode) (K : list atom) (a : atom) : bool :=
  distinct b (low a) (high a) || distinct b zero (high a) && given K (low a) || distinct b (low a) zero && given K (high a).
Definition told (b : bnode) (t : trans) : list atom :=
  let K := b_facts b ++ sure t in
  if nonempty (b_distinct b) then K ++ map (stricter true) (filter (parted b K) (sure t)) else K.
Definition known (b : bnode) (t : trans) : list atom := sharpened (whole g) (told b t).
Definition contradicts (b : bnode) (t : trans) : bool := impossible (whole g) (known b t).

(* A term in which variables have what they get, in terms of before. *)
Definition as_before (t : trans) (v : term) : term :=
  match whence v with
  | Held x =>
      if mem x (asg t) then Term (negative v) Insample (plus v)
      else match lookup x (copies t) with
           | Some u => let u := if negative v then minus u else u in Term (negative u) (whence u) (plus u + plus v)
           | None => v
           end
  | _ => v
  end.
Definition fact_follows (t : trans) (K : list atom) (a : atom) : bool :=
  follows (whole g) K {| low := as_before t (low a); high := as_before t (high a); strict := strict a |}.
Definition distinct_follows (b : bnode) (t : trans) (p : term * term) : bool :=
  let v := as_before t (fst p) in
  let w := as_before t (snd p) in
  distinct b v w || fresh_pair t v w.

(* No register of which the difference is known gets the entry, and no sample depends on the means. *)
Definition idle (t : trans) (known : list (nat * Q)) : bool :=
  negb (uses_mean t) && forallb (fun p => match lookup (fst p) (sets t) with Some u => negb (adds u) | None => true end) known.

(* Whatever the next entry is, there is an edge for it, or there are two for the least and the largest difference of which
   it is a mean; or an edge for an equal entry does, because nothing depends on it. *)
Definition check_ways (v i : nat) : bool :=
  let t := tr_of V i in
  let has l := is_some (goal v (i, l)) in
  if tells && reads (st_of V (src t)) then
    let (equal, other) := moves_of V (b_apart (bn_of W v)) in
    let alike := match equal, other with Some a, Some b => Nat.eqb a b | _, _ => false end in
    (has Same || alike && (has Any || mixes g && has Least && has Largest) || negb (is_some equal)) &&
    (has Any || has Least && has Largest && (mixes g || let (lo, hi) := entry_of c Any in only_ends g lo hi) ||
     match goal v (i, Same) with
     | Some v' => idle t (b_known (bn_of W v')) && allows_too (length (differ A)) other equal
     | None => false
     end || negb (is_some other))
  else has Same.

(* base-complete and base-fact. *)
Definition check_base_step (v i : nat) : bool :=
  let b := bn_of W v in
  let t := tr_of V i in
  let K := known b t in
  impossible (whole g) K ||
  (forallb (fun e => negb (Nat.eqb (number e) i) ||
      forallb (fact_follows t K) (b_facts (bn_of W (target e))) &&
      forallb (distinct_follows b t) (b_distinct (bn_of W (target e)))) (out_of W v) &&
   check_ways v i).

(* base-register: the difference of a register follows. *)
Definition register_follows (t : trans) (l : differs) (known : list (nat * Q)) (p : nat * Q) : bool :=
  let (x, after) := p in
  match lookup x (sets t) with
  | Some u =>
      let (lo, hi) := entry_of c l in
      match (match from u with Some y => lookup y known | None => Some 0 end) with
      | Some before => if adds u then Qeq_bool lo hi && Qeq_bool after (before + lo) else Qeq_bool after before
      | None => false
      end
  | None => match lookup x known with Some before => Qeq_bool after before | None => false end
  end.

(* base-differ. *)
Definition pattern_follows (t : trans) (l : differs) (k k' : nat) : bool :=
  if tells && reads (st_of V (src t)) then
    let (equal, other) := moves_of V k in
    match (match l with Same => equal | _ => other end) with Some j => Nat.eqb j k' | None => false end
  else differs_eqb l Same && Nat.eqb k k'.

(* base-edge. *)
Definition check_base_edge (e : edge) : bool :=
  let '(v, (i, l), v') := e in
  let t := tr_of V i in
  Nat.ltb v (length (b_nodes G)) && Nat.ltb i (length (transitions A)) && Nat.ltb v' (length (b_nodes G)) &&
  Nat.eqb (src t) (b_state (bn_of W v)) && Nat.eqb (tgt t) (b_state (bn_of W v')) &&
  pattern_follows t l (b_apart (bn_of W v)) (b_apart (bn_of W v')) &&
  forallb (register_follows t l (b_known (bn_of W v))) (b_known (bn_of W v')).

(* Facts are about what is stored. *)
Definition lasting (p : term * term) : bool := negb (is_sample (fst p)) && negb (is_sample (snd p)).

Definition check_base : bool :=
  Nat.ltb 0 (length (b_nodes G)) && Nat.eqb (b_state (bn_of W 0)) (initial A) &&
  negb (nonempty (b_facts (bn_of W 0))) && negb (nonempty (b_distinct (bn_of W 0))) &&
  Nat.eqb (b_apart (bn_of W 0)) 0 && negb (nonempty (b_known (bn_of W 0))) &&
  forallb (fun b => forallb lasting (map (fun a => (low a, high a)) (b_facts b) ++ b_distinct b)) (b_nodes G) &&
  forallb check_base_edge (b_edges G) &&
  forallb (fun v => forallb (check_base_step v) (leaving_of V (b_state (bn_of W v)))) (numbers (b_nodes G)).

(* ---- The lift ---- *)

Fixpoint assoc (x : nat) (l : ivs) : option (option (Q * Q)) :=
  match l with
  | [] => None
  | (y, o) :: l' => if Nat.eqb x y then Some o else assoc x l'
  end.
Definition iv (n x : nat) : option (Q * Q) :=
  match assoc x (l_own (ln_of W n)) with
  | Some o => o
  | None => match assoc x (every_of W x) with Some o => o | None => None end
  end.

(* lift-node, and lift-integer where the noise allows the numbers of a grid only. *)
Definition check_ivs (l : ivs) : bool :=
  forallb (fun p => own (fst p) && match snd p with
                    | Some (lo, hi) => Qle_bool lo hi && shift_ok g lo && shift_ok g hi
                    | None => true end) l.
Definition check_shifts : bool := check_ivs (everywhere G) && forallb (fun n => check_ivs (l_own n)) (l_nodes G).

(* lift-cover. *)
Definition has_edge_from n w : bool := existsb (fun e => way_eqb (via e) w) (from_of W n).
Definition has_edge_to v w n' : bool :=
  existsb (fun e => Nat.eqb (l_base (ln_of W (source e))) v && way_eqb (via e) w) (to_of W n').
Definition check_cover : bool :=
  nonempty (over_of W 0) &&
  forallb (fun e => let '(v, w, v') := e in
    if forward G then forallb (fun n => has_edge_from n w) (over_of W v)
    else nonempty (over_of W v') && forallb (has_edge_to v w) (over_of W v')) (b_edges G).

(* lift-kept; variables without intervals of their own at either end have the same one at both. *)
Definition keys (l : ivs) := map fst l.
Definition check_kept (t : trans) n n' : bool :=
  forallb (fun x => mem x (gets t) ||
    match iv n' x with
    | None => true
    | Some (lo', hi') => match iv n x with
                         | Some (lo, hi) => Qle_bool lo' lo && Qle_bool hi hi'
                         | None => false end
    end) (keys (l_own (ln_of W n)) ++ keys (l_own (ln_of W n'))).

Definition ends (f : Q * Q -> Q) n (xs : list nat) : list Q :=
  flat_map (fun x => match iv n x with Some p => [f p] | None => [] end) xs.

(* The shifts that a term other than the sample may have. *)
Definition turned (b : bool) (p : Q * Q) : Q * Q := if b then ((- snd p)%Q, (- fst p)%Q) else p.
Definition shifts n (v : term) : option (Q * Q) :=
  match whence v with
  | Zero => Some (0, 0)
  | Insample => None
  | Held x => match iv n x with Some p => Some (turned (negative v) p) | None => None end
  end.

(* lift-kept, of what is lookup. *)
Definition check_copies (t : trans) n n' : bool :=
  forallb (fun c =>
    match iv n' (fst c) with
    | None => true
    | Some (lo', hi') => match shifts n (snd c) with
                         | Some (lo, hi) => Qle_bool lo' lo && Qle_bool hi hi'
                         | None => false end
    end) (copies t).

(* Floors and ceilings that a pair asks for; None: it asks for what is not so (lift-read, lift-order). *)
Definition ask n (p : term * term) : option (list Q * list Q) :=
  let (a, b) := p in
  if same_place a b then Some ([], [])
  else match is_sample a, is_sample b with
    | true, true => Some (if negative a then ([], [0]) else ([0], []))
    | true, false => match shifts n b with
        | Some (_, hi) => Some (if negative a then ([], [(- hi)%Q]) else ([hi], []))
        | None => None end
    | false, true => match shifts n a with
        | Some (lo, _) => Some (if negative b then ([(- lo)%Q], []) else ([], [lo]))
        | None => None end
    | false, false => match shifts n a, shifts n b with
        | Some (lo, _), Some (_, hi) => if Qle_bool hi lo then Some ([], []) else None
        | _, _ => None end
    end.
Definition ask_floors n p := match ask n p with Some (F, _) => F | None => [] end.
Definition ask_ceilings n p := match ask n p with Some (_, Ce) => Ce | None => [] end.

Definition floors (t : trans) n n' : list Q :=
  ends snd n (t_lt t) ++ ends fst n' (asg t) ++ flat_map (ask_floors n) (asked t).
Definition ceilings (t : trans) n n' : list Q :=
  ends fst n (t_ge t) ++ ends snd n' (asg t) ++ flat_map (ask_ceilings n) (asked t).

(* A pair that is about variables of the graph, and about nothing else but the sample and 0. *)
Definition is_own (p : term * term) : bool := forallb own (held_by (fst p) ++ held_by (snd p)).

(* The facts of a node bound the difference of a pair from above: then its first one is shifted at least as far. *)
Definition answered n (p : term * term) : bool :=
  is_some (bound false (b_facts (bn_of W (l_base (ln_of W n)))) {| low := fst p; high := snd p; strict := false |}).

(* lift-edge, lift-read, lift-kept, lift-order, lift-sample. *)
Definition check_ledge (e : edge) : bool :=
  let '(n, w, n') := e in
  let t := tr_of V (fst w) in
  Nat.ltb n (length (l_nodes G)) && Nat.ltb n' (length (l_nodes G)) &&
  (match goal (l_base (ln_of W n)) w with Some v' => Nat.eqb v' (l_base (ln_of W n')) | None => false end) &&
  forallb (fun x => negb (own x) || is_some (iv n x)) (t_ge t ++ t_lt t) &&
  check_kept t n n' && check_copies t n n' &&
  forallb (fun p => negb (is_own p) || is_some (ask n p) || answered n p) (asked t) &&
  fits (floors t n n') (ceilings t n n').

Definition check_graph : bool :=
  check_base && check_shifts && check_cover && forallb check_ledge (l_edges G).

(* ---- What a step costs ---- *)

Definition rel (t : trans) : Q := if shows_other t then d' (st_of V (src t)) else 0.

(* The least and the largest difference of the means of a step, if those of its registers are known. *)
Fixpoint weighed_of (known : list (nat * Q)) (l : list (nat * Q)) : option Q :=
  match l with
  | [] => Some 0
  | (x, f) :: l' => match lookup x known, weighed_of known l' with Some q, Some m => Some (f * q + m) | _, _ => None end
  end.
Definition means (c : claim) (t : trans) (l : differs) (known : list (nat * Q)) : option (Q * Q) :=
  let (lo, hi) := entry_of c l in
  if uses_mean t then
    match factors (st_of V (src t)) with
    | [] => Some (lo, hi)
    | fs => match weighed_of known fs with Some m => Some (lo + m, hi + m) | None => None end
    end
  else Some (lo, hi).

Definition misses (F Ce : list Q) (D : Q) : list Q :=
  0 :: map (fun f => (f - D)%Q) F ++ map (fun c => (D - c)%Q) Ce.

(* lift-noise: some shift between floors and ceilings has a finite cost. *)
Definition check_law (l : law) (F Ce : list Q) (D : Q) : bool :=
  match l with
  | Laplace => true
  | Exponential => forallb (fun f => Qle_bool f D) F
  | Exact => forallb (fun f => Qle_bool f D) F && forallb (Qle_bool D) Ce
  end.

(* [paid] covers the cost at the least and the largest difference of means: d times each miss plus rel*|D|. *)
Definition check_cost (t : trans) (apart : Q * Q) (F Ce : list Q) (paid : Q) : bool :=
  let s := st_of V (src t) in
  let dd := d s in
  forallb (fun D =>
    check_law (law_of s) F Ce D && (negb (shows_other t) || check_law (law_of' s) [0] [0] D) &&
    forallb (fun m => Qle_bool (dd * m + rel t * D) paid && Qle_bool (dd * m - rel t * D) paid) (misses F Ce D))
    [fst apart; snd apart].

(* What some edges ask of the sample of a step, together. *)
Definition range (t : trans) (l : list edge) : list Q * list Q :=
  (flat_map (fun e => floors t (source e) (target e)) l, flat_map (fun e => ceilings t (source e) (target e)) l).
End Graph.

(* ---- The ground, and the parts on it ---- *)

(* The lift of a graph as an automaton: its nodes are the states, its edges the transitions. *)
Definition joining (n n' : nat) (t : trans) : trans :=
  {| src := n; tgt := n'; t_ge := t_ge t; t_lt := t_lt t; others := others t; asg := asg t; copies := copies t;
     sets := sets t; out := out t |}.
Definition first_node (W : gview) : nat := match over_of W 0 with n :: _ => n | [] => 0 end.
Definition lifted (G : graph) (W : gview) : automaton := {|
  initial := first_node W; states := map (fun n => st_of V (b_state (bn_of W (l_base n)))) (l_nodes G);
  transitions := map (fun e => joining (source e) (target e) (tr_of V (number e))) (l_edges G); differ := differ A |}.

(* The views of the parts, and the layer that has a variable. *)
Variables (C : cert) (W : gview) (P : list gview) (layer : nat -> nat).
Definition is_in k x : bool := Nat.eqb (layer x) k.

(* lift-read: what is compared or shown is about variables of one layer, whose lift edges see to it, or follows from the facts
   of one at all its edges. *)
Definition in_one_layer (p : term * term) : bool :=
  match held_by (fst p) ++ held_by (snd p) with
  | [] => true
  | x :: l => Nat.leb (layer x) (length P) && forallb (is_in (layer x)) l
  end.
Definition is_answered (L : list (gview * list edge)) (p : term * term) : bool :=
  in_one_layer p || existsb (fun r => forallb (fun e => answered (fst r) (source e) p) (snd r)) L.

(* No floor of one range is above a ceiling of another one. *)
Fixpoint compatible (l : list (list Q * list Q)) : bool :=
  match l with
  | [] => true
  | (F, Ce) :: l' => forallb (fun r => fits F (snd r) && fits (fst r) Ce) l' && compatible l'
  end.

(* part-sample, and lift-potential or part-potential, for an edge of the ground and its number.  If some part has no edge
   over it, no run gets there. *)
Definition check_step (k : nat * edge) : bool :=
  let '(e, (n, (i, l), n')) := k in
  let t := tr_of V i in
  let L := (W, [snd k]) :: map (fun U => (U, by_of U e)) P in
  let R := map (fun r => range (fst r) t (snd r)) L in
  negb (forallb (fun U => nonempty (by_of U e)) P) ||
  (forallb (fun x => Nat.leb (layer x) (length P)) (t_ge t ++ t_lt t) && forallb (is_answered L) (asked t) &&
   compatible R &&
   match means (c_claim C) t l (b_known (bn_of W (l_base (ln_of W n)))) with
   | Some apart => check_cost t apart (flat_map fst R) (flat_map snd R) (l_pot (ln_of W n) - l_pot (ln_of W n'))
   | None => false
   end).

(* private-bound and, if there are parts, trunk-initial. *)
Definition check_bound : bool :=
  forallb (fun n => Qle_bool 0 (l_pot n) && (negb (Nat.eqb (l_base n) 0) || Qle_bool (l_pot n) (c_D (c_claim C)))) (l_nodes (c_ground C)) &&
  (negb (nonempty P) || match over_of W 0 with [_] => true | _ => false end).

Definition numbered {X} (l : list X) : list (nat * X) := combine (numbers l) l.
Definition check_ground : bool :=
  check_claim (c_claim C) && check_model && check_graph (c_claim C) (c_ground C) W true (is_in 0) && check_bound &&
  forallb check_step (numbered (l_edges (c_ground C))).
End Checker.

(* ---- The checker ---- *)

(* What is stored, and how far inputs went apart, is a matter of the ground. *)
Definition for_parts (H : hints) : hints := {| stored := []; lesser := []; why := why H; between := between H |}.
Definition check_part (g : grade) (B : automaton) (V : view) (c : claim) (layer : nat -> nat) (p : nat * (gview * graph)) : bool :=
  let '(k, (U, G)) := p in check_graph g B V c G U false (is_in layer (S k)).

Definition check (g : grade) (A : automaton) (C : cert) : bool :=
  let V := by_trees (grow A (c_hints C)) in
  let W := by_gtrees (ggrow (c_ground C)) in
  let P := map (fun G => by_gtrees (ggrow G)) (c_parts C) in
  let layer := at_place 0%nat (array (c_layer C)) in
  let B := lifted A V (c_ground C) W in
  check_ground g A V C W P layer &&
  forallb (check_part g B (by_trees (grow B (for_parts (c_hints C)))) (c_claim C) layer) (numbered (combine P (c_parts C))).

(* The same without trees. *)
Definition layer_of (C : cert) (x : nat) : nat := nth x (c_layer C) 0%nat.
Definition lifted_of (A : automaton) (C : cert) : automaton := lifted A (plain A (c_hints C)) (c_ground C) (gplain (c_ground C)).

Lemma check_plain g A C : check g A C =
  check_ground g A (plain A (c_hints C)) C (gplain (c_ground C)) (map gplain (c_parts C)) (layer_of C) &&
  forallb (check_part g (lifted_of A C) (plain (lifted_of A C) (for_parts (c_hints C))) (c_claim C) (layer_of C))
    (numbered (combine (map gplain (c_parts C)) (c_parts C))).
Proof.
  unfold check. rewrite !by_trees_plain, by_gtrees_plain, at_array.
  now rewrite (map_ext _ _ (fun G => by_gtrees_plain G)).
Qed.

(* ---- Which shifts the noise allows ---- *)

(* Multiples of 1/n. *)
Definition on_grid (n : positive) (q : Q) : bool := Z.eqb (Z.modulo (Zpos n * Qnum q) (Zpos (Qden q))) 0.

(* Real numbers; multiples of 1/n; integers, where inputs are integers, too; multiples of some 1/n. *)
Definition real_numbers : grade := {|
  shift_ok := fun _ => true; factor_ok := fun _ => true; mixes := true; only_ends := fun _ _ => false; smooth := true; whole := false |}.
Definition multiples (n : positive) : grade := {|
  shift_ok := on_grid n; factor_ok := on_grid 1; mixes := false;
  only_ends := fun lo hi => Qle_bool (- (1 # n)) lo && Qle_bool hi (1 # n); smooth := false; whole := false |}.
Definition integers : grade := {|
  shift_ok := on_grid 1; factor_ok := on_grid 1; mixes := false; only_ends := only_ends (multiples 1); smooth := false; whole := true |}.
Definition some_multiples : grade := {|
  shift_ok := fun _ => true; factor_ok := on_grid 1; mixes := false; only_ends := fun _ _ => false; smooth := false; whole := false |}.
