(* The four patterns that well-formed automata do not have (docs/theory.md, section 3), as propositions, and the checker of certificates that
   say where one is.  Runs are lists of numbers of transitions. *)
From Coq Require Import QArith List Bool Arith.
From Symdipa.Core Require Import Model Lookup Checker Rivals Runs.
Import ListNotations.
Open Scope nat_scope.
Open Scope bool_scope.

(* ---- What they are ---- *)

Section Meaning.
Variable A : automaton.

Definition at_ (run : list nat) (j : nat) : trans := tr A (nth j run 0).

(* The last position before j that assigns x. *)
Definition last_to_assign (run : list nat) (x j i : nat) : Prop :=
  i < j /\ j < length run /\ In x (asg (at_ run i)) /\ forall k, i < k < j -> ~ In x (asg (at_ run k)).

(* Of two samples the guards force the first below the second. *)
Inductive forced (run : list nat) : nat -> nat -> Prop :=
| from_above x i j : In x (t_lt (at_ run j)) -> last_to_assign run x j i -> forced run j i
| from_below x i j : In x (t_ge (at_ run j)) -> last_to_assign run x j i -> forced run i j.
Inductive forced_far (run : list nat) : nat -> nat -> Prop :=
| one_step i j : forced run i j -> forced_far run i j
| further i j k : forced run i j -> forced_far run j k -> forced_far run i k.

Fixpoint chained (q : nat) (run : list nat) : Prop :=
  match run with
  | [] => True
  | i :: run' => i < length (transitions A) /\ src (tr A i) = q /\ chained (tgt (tr A i)) run'
  end.
Definition feasible (run : list nat) : Prop := chained (initial A) run /\ forall i, ~ forced_far run i i.

Definition assigned (C : list nat) (x : nat) : Prop := exists i, In i C /\ In x (asg (tr A i)).
Definition used (C : list nat) (x : nat) : Prop := exists i, In i C /\ (In x (t_ge (tr A i)) \/ In x (t_lt (tr A i))).

(* A cycle is a range of positions, half-open and not empty, from a state back to it. *)
Definition cycle := (nat * nat)%type.
Definition on (c : cycle) (p : nat) : Prop := fst c <= p < snd c.
Definition round_of (run : list nat) (c : cycle) : list nat := firstn (snd c - fst c) (skipn (fst c) run).
Definition is_cycle (run : list nat) (c : cycle) : Prop :=
  fst c < snd c /\ snd c <= length run /\ src (at_ run (fst c)) = tgt (at_ run (snd c - 1)).
Definition non_leaking (run : list nat) (c : cycle) : Prop :=
  is_cycle run c /\ forall x, used (round_of run c) x -> ~ assigned (round_of run c) x.

(* Of at least two positions, each forced below the next one. *)
Fixpoint path_on (run : list nat) (k : nat) (path : list nat) : Prop :=
  match path with [] => True | k' :: path' => forced run k k' /\ path_on run k' path' end.
Definition leaves (c : cycle) (path : list nat) : Prop := exists k1 k2 more, path = k1 :: k2 :: more /\ on c k1 /\ k2 < k1.
Definition enters (c : cycle) (path : list nat) : Prop := exists before k1 k2, path = before ++ [k1; k2] /\ on c k2 /\ k1 < k2.
Definition is_path (run path : list nat) : Prop := match path with k :: path' => path' <> [] /\ path_on run k path' | [] => False end.

Definition shows_sample (t : trans) : Prop := In (Number (Term false Insample 0%Q) (Term false Zero 0%Q)) (out t).

Fixpoint times_over (m : nat) (C : list nat) : list nat := match m with O => [] | S m' => C ++ times_over m' C end.
Definition leaking_cycle : Prop := exists rho C x, assigned C x /\ used C x /\ forall m, feasible (rho ++ times_over m C).
Definition leaking_pair : Prop := exists run c1 c2 path, feasible run /\ non_leaking run c1 /\ non_leaking run c2 /\
  (snd c1 <= fst c2 \/ snd c2 <= fst c1) /\ is_path run path /\ leaves c1 path /\ enters c2 path.
Definition disclosing_cycle : Prop := exists run c p, feasible run /\ non_leaking run c /\ snd c = length run /\ on c p /\
  reads (st A (src (at_ run p))) = true /\ (shows_sample (at_ run p) \/ In Other (out (at_ run p))).
Definition violating_path : Prop := exists run c path, feasible run /\ non_leaking run c /\ is_path run path /\
  ((exists k more, path = k :: more /\ shows_sample (at_ run k)) /\ enters c path \/
   (exists before k, path = before ++ [k] /\ shows_sample (at_ run k)) /\ leaves c path).

(* The paper's automata: samples are compared with variables, and stored. *)
Definition of_the_paper : Prop := forall i, i < length (transitions A) -> others (tr A i) = [] /\ copies (tr A i) = [].
End Meaning.

(* ---- The checker ---- *)

(* Of a leaking cycle: where it begins.  The run ends with it. *)
Inductive pattern_at :=
| Leaking (first : nat)
| Pair (c1 c2 : cycle) (path : list nat)
| Disclosing (c : cycle) (p : nat)
| Violating (c : cycle) (path : list nat).
Definition occurs (A : automaton) (w : pattern_at) : Prop :=
  match w with
  | Leaking _ => leaking_cycle A
  | Pair _ _ _ => leaking_pair A
  | Disclosing _ _ => disclosing_cycle A
  | Violating _ _ => violating_path A
  end.

(* [f_samples]: the run with samples; of a leaking cycle the run, and perhaps more rounds of it, and then rounds that are repeated. *)
Record fcert := { f_run : list nat; f_samples : list segment; f_where : pattern_at; f_hints : hints }.

Section Check.
Variables (A : automaton) (V : view).
Variables (size : nat) (at_of : nat -> nat).       (* the run by positions *)
Definition step_at (j : nat) : trans := tr_of V (at_of j).

Definition is_last (x j i : nat) : bool :=
  Nat.ltb i j && Nat.ltb j size && mem x (asg (step_at i)) && forallb (fun k => negb (mem x (asg (step_at k)))) (seq (S i) (j - S i)).
Definition is_forced (i j : nat) : bool :=
  existsb (fun x => is_last x j i) (t_ge (step_at j)) || existsb (fun x => is_last x i j) (t_lt (step_at i)).
Fixpoint is_path_on (k : nat) (path : list nat) : bool :=
  match path with [] => true | k' :: path' => is_forced k k' && is_path_on k' path' end.
Definition check_path (path : list nat) : bool :=
  match path with k :: path' => nonempty path' && is_path_on k path' | [] => false end.

Definition is_on (c : cycle) (p : nat) : bool := Nat.leb (fst c) p && Nat.ltb p (snd c).
Definition positions (c : cycle) : list nat := seq (fst c) (snd c - fst c).
Definition stored_on (c : cycle) : list nat := flat_map (fun p => asg (step_at p)) (positions c).
Definition used_on (c : cycle) : list nat := flat_map (fun p => t_ge (step_at p) ++ t_lt (step_at p)) (positions c).
Definition check_cycle (c : cycle) : bool :=
  Nat.ltb (fst c) (snd c) && Nat.leb (snd c) size && Nat.eqb (src (step_at (fst c))) (tgt (step_at (snd c - 1))).
Definition check_non_leaking (c : cycle) : bool := check_cycle c && negb (meets (used_on c) (stored_on c)).
Definition check_leaves (c : cycle) (path : list nat) : bool :=
  match path with k1 :: k2 :: _ => is_on c k1 && Nat.ltb k2 k1 | _ => false end.
Fixpoint check_enters (c : cycle) (path : list nat) : bool :=
  match path with
  | [] => false
  | k1 :: path' => match path' with [k2] => is_on c k2 && Nat.ltb k1 k2 | _ => check_enters c path' end
  end.
Definition is_plain_term (v : term) (p : place) : bool :=
  negb (negative v) && place_eqb (whence v) p && Z.eqb (Qnum (plus v)) 0 && Pos.eqb (Qden (plus v)) 1.
Definition shows_it (p : nat) : bool :=
  existsb (fun i => match i with Number a b => is_plain_term a Insample && is_plain_term b Zero | _ => false end) (out (step_at p)).
Fixpoint ends_shown (path : list nat) : bool :=
  match path with [] => false | [k] => shows_it k | _ :: path' => ends_shown path' end.

Definition check_where (w : pattern_at) : bool :=
  match w with
  | Leaking first => check_cycle (first, size) && meets (used_on (first, size)) (stored_on (first, size))
  | Pair c1 c2 path => check_non_leaking c1 && check_non_leaking c2 && (Nat.leb (snd c1) (fst c2) || Nat.leb (snd c2) (fst c1)) &&
      check_path path && check_leaves c1 path && check_enters c2 path
  | Disclosing c p => check_non_leaking c && Nat.eqb (snd c) size && is_on c p && reads (st_of V (src (step_at p))) &&
      (shows_it p || shows_other (step_at p))
  | Violating c path => check_non_leaking c && check_path path &&
      (match path with k :: _ => shows_it k | [] => false end && check_enters c path || ends_shown path && check_leaves c path)
  end.

(* Nothing but rounds of C. *)
Fixpoint strip (C l : list nat) : option (list nat) :=
  match C, l with
  | [], _ => Some l
  | i :: C', j :: l' => if Nat.eqb i j then strip C' l' else None
  | _, [] => None
  end.
Fixpoint only_rounds (fuel : nat) (C l : list nat) : bool :=
  match l, fuel with
  | [], _ => true
  | _, S fuel' => match strip C l with Some l' => only_rounds fuel' C l' | None => false end
  | _, O => false
  end.
Fixpoint same_nats (l l' : list nat) : bool :=
  match l, l' with [], [] => true | x :: l, y :: l' => Nat.eqb x y && same_nats l l' | _, _ => false end.
Definition check_samples (run : list nat) (w : pattern_at) (samples : list segment) : bool :=
  possible_in some_multiples A V samples (initial A) [] [] [] [] [] &&
  match w, samples with
  | Leaking first, [g; h] =>
      let C := skipn first run in
      negb (again g) && again h && nonempty (steps h) &&
      match strip (firstn first run) (map taken (bases g)) with Some l => only_rounds (length l) C l | None => false end &&
      only_rounds (length (steps h)) C (map taken (bases h))
  | Leaking _, _ => false
  | _, [g] => negb (again g) && same_nats run (map taken (bases g))
  | _, _ => false
  end.
Definition check_paper : bool :=
  forallb (fun i => negb (nonempty (others (tr_of V i))) && negb (nonempty (copies (tr_of V i)))) (numbers (transitions A)).
End Check.

Definition check_at (A : automaton) (V : view) (at_of : nat -> nat) (C : fcert) : bool :=
  check_paper A V && check_where V (length (f_run C)) at_of (f_where C) && check_samples A V (f_run C) (f_where C) (f_samples C).
Definition check_pattern (A : automaton) (C : fcert) : bool :=
  check_at A (by_trees (grow A (f_hints C))) (at_place 0 (array (f_run C))) C.
Lemma check_pattern_plain A C : check_pattern A C = check_at A (plain A (f_hints C)) (fun j => nth j (f_run C) 0) C.
Proof. unfold check_pattern. now rewrite by_trees_plain, at_array. Qed.
