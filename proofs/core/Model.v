(* The automaton, noise operators, and the probability of an output word. *)
From Coq Require Import Reals QArith Qreals List Bool Arith Lra Lia.
Import ListNotations.
Open Scope R_scope.

(* ---- Automata (decidable data: naturals for names, rationals for numbers) ---- *)

(* Noise on both sides of the mean, above it, or none. *)
Inductive law := Laplace | Exponential | Exact.

(* Where a number is found, and what is compared, copied or shown: what is there or its negative, plus a constant. *)
Inductive place := Zero | Insample | Held (x : nat).
Record term := Term { negative : bool; whence : place; plus : Q }.
Record atom := { low : term; high : term; strict : bool }.

(* What is shown: a symbol, the difference of two terms, insampleprime. *)
Inductive item := Sym (s : nat) | Number (a b : term) | Other.

(* The means of a state are mu (mu'), plus the entry if the state reads one, plus multiples of registers. *)
Record stat := { reads : bool; law_of : law; d : Q; mu : Q; law_of' : law; d' : Q; mu' : Q; factors : list (nat * Q) }.

(* What a register gets: what was in another one (None: 0), and the entry if [adds]. *)
Record update := Update { from : option nat; adds : bool }.

(* The guard asks insample >= x for x in t_ge, insample < x for x in t_lt, and the other atoms.  Variables of asg
   get the sample; the terms of copies and outputs speak of what variables held before the step. *)
Record trans := { src : nat; tgt : nat; t_ge : list nat; t_lt : list nat; others : list atom;
                  asg : list nat; copies : list (nat * term); sets : list (nat * update); out : list item }.

(* Which entries of two inputs may differ is said by an automaton of its own (0: its first state): where an entry leads
   that is equal in both, and one that is not.  None: nowhere, there is no such entry. *)
Definition pattern := list (option nat * option nat).
Record automaton := { initial : nat; states : list stat; transitions : list trans; differ : pattern }.

Definition stat0 := {| reads := false; law_of := Laplace; d := 0; mu := 0; law_of' := Laplace; d' := 0; mu' := 0; factors := [] |}.
Definition trans0 := {| src := 0; tgt := 0; t_ge := []; t_lt := []; others := []; asg := []; copies := []; sets := []; out := [] |}.

Definition st (A : automaton) q := nth q (states A) stat0.
Definition tr (A : automaton) i := nth i (transitions A) trans0.

(* Numbers of the transitions that leave a state. *)
Definition leaving (A : automaton) (q : nat) : list nat :=
  filter (fun i => Nat.eqb (src (tr A i)) q) (seq 0 (length (transitions A))).

Definition mem (x : nat) (l : list nat) : bool := existsb (Nat.eqb x) l.

(* ---- Stores and guards ---- *)


Definition store := nat -> R.
Definition stream := nat -> R.

Definition held (s : store) (z : R) (p : place) : R :=
  match p with Zero => 0 | Insample => z | Held x => s x end.
Definition value (s : store) (z : R) (t : term) : R :=
  (if negative t then - held s z (whence t) else held s z (whence t)) + Q2R (plus t).

Fixpoint lookup {X} (x : nat) (l : list (nat * X)) : option X :=
  match l with
  | [] => None
  | (y, v) :: l' => if Nat.eqb x y then Some v else lookup x l'
  end.
Definition upd (s : store) (t : trans) (z : R) : store := fun x =>
  if mem x (asg t) then z else match lookup x (copies t) with Some v => value s z v | None => s x end.

Definition le_b (x y : R) : bool := if Rle_dec x y then true else false.
Definition lt_b (x y : R) : bool := if Rlt_dec x y then true else false.

Definition holds (s : store) (z : R) (a : atom) : bool :=
  if strict a then lt_b (value s z (low a)) (value s z (high a)) else le_b (value s z (low a)) (value s z (high a)).
Definition enabled (t : trans) (s : store) (z : R) : bool :=
  forallb (fun x => le_b (s x) z) (t_ge t) && forallb (fun x => lt_b z (s x)) (t_lt t) && forallb (holds s z) (others t).

(* ---- Noise operators: E l d m h is the expectation of h z, z drawn with inverse scale d around m ---- *)

Definition unit_fun (h : R -> R) := forall z, 0 <= h z <= 1.
Definition ind (b : bool) : R := if b then 1 else 0.

(* By how much a sample may be shifted against its mean at a finite cost, which is d times that. *)
Definition allowed (l : law) (u : R) : Prop :=
  match l with Laplace => True | Exponential => u <= 0 | Exact => u = 0 end.
Definition live (l : law) (d : R) : Prop := match l with Exact => True | _ => 0 < d end.

(* Where a sample can be; and samples that have no rational distance from 0, nor from what is stored or its negative, as
   is the rule where single values have probability 0. *)
Definition supported (l : law) (m z : R) : Prop :=
  match l with Laplace => True | Exponential => m <= z | Exact => z = m end.
Definition irrational (x : R) : Prop := forall q, x <> Q2R q.
Definition free (s : store) (z : R) : Prop := irrational z /\ forall x, irrational (z - s x) /\ irrational (z + s x).
Definition typical (atomless : Prop) (ok : R -> Prop) (l : law) (d m : R) (s : store) (z : R) : Prop :=
  supported l m z /\ ok (z - m) /\ (atomless -> l <> Exact -> 0 < d -> free s z).

Record noise (eps : R) := {
  E : law -> R -> R -> (R -> R) -> R;
  atomless : Prop;    (* single values have probability 0, but without noise *)
  ok : R -> Prop;     (* what the noise adds to a mean, shifts and differences that it allows: all reals, or multiples of a width *)
  ok_0 : ok 0;
  ok_opp : forall x, ok x -> ok (- x);
  ok_plus : forall x y, ok x -> ok y -> ok (x + y);
  (* functions of a sample, of the store, of both, and sets: those that have an expectation (the measurable ones) *)
  good : (R -> R) -> Prop;
  goodS : (store -> R) -> Prop;
  goodJ : (store -> R -> R) -> Prop;
  good_set : (R -> bool) -> Prop;
  good_const : forall c, good (fun _ => c);
  good_ext : forall h h', (forall z, h z = h' z) -> good h -> good h';
  good_plus : forall h h', good h -> good h' -> good (fun z => h z + h' z);
  good_ind : forall B, good_set B -> good (fun z => ind (B z));
  good_J : forall g s, goodJ g -> good (g s);
  goodS_const : forall c, goodS (fun _ => c);
  goodJ_const : forall c, goodJ (fun _ _ => c);
  goodJ_mult : forall g h, goodJ g -> goodJ h -> goodJ (fun s z => g s z * h s z);
  goodJ_number : forall a b B, good_set B -> goodJ (fun s z => ind (B (value s z a - value s z b)));
  goodJ_step : forall t g F h, goodJ g -> goodS F -> goodJ h ->
    goodJ (fun s z => if enabled t s z then g s z * F (upd s t z) else h s z);
  goodS_E : forall l d m g, goodJ g -> (forall s, unit_fun (g s)) -> goodS (fun s => E l d m (g s));
  E_const : forall l d m c, 0 <= c <= 1 -> E l d m (fun _ => c) = c;
  E_mono : forall l d m s h h', good h -> good h' -> unit_fun h -> unit_fun h' ->
    (forall z, typical atomless ok l d m s z -> h z <= h' z) -> E l d m h <= E l d m h';
  E_plus : forall l d m h h', good h -> good h' -> unit_fun h -> unit_fun h' -> unit_fun (fun z => h z + h' z) ->
    E l d m (fun z => h z + h' z) = E l d m h + E l d m h';
  E_shift : forall l d m s delta K h h', live l d -> allowed l (s - delta) -> ok s -> ok delta -> 0 <= K -> good h -> good h' ->
    unit_fun h -> unit_fun h' -> (forall z, h z <= K * h' (z - s)) ->
    E l d m h <= K * exp (eps * (d * Rabs (s - delta))) * E l d (m - delta) h'
}.
Arguments E {eps} _ _ _ _ _.
Arguments atomless {eps} _.
Arguments ok {eps} _ _.
Arguments good {eps} _ _.
Arguments goodS {eps} _ _.
Arguments goodJ {eps} _ _.
Arguments good_set {eps} _ _.

(* ---- Semantics ---- *)

(* What is observed of a step: a list of symbols, and of sets in which the numbers shown lie. *)
Inductive letter := LSym (s : nat) | LReal (B : R -> bool).

Definition good_letter {eps} (N : noise eps) (l : letter) : Prop :=
  match l with LSym _ => True | LReal B => good_set N B end.
Definition good_word {eps} (N : noise eps) (w : list (list letter)) : Prop := Forall (Forall (good_letter N)) w.

Section Semantics.
Context {eps : R} (N : noise eps) (A : automaton).

(* What a run is given: the entries to come, and what its registers hold. *)
Definition feed := (stream * store)%type.
Definition tail (e : stream) : stream := fun n => e (S n).
Definition entry (q : nat) (a : feed) : R := if reads (st A q) then fst a 0%nat else 0.
Definition weighed (l : list (nat * Q)) (r : store) : R := fold_right (fun p m => Q2R (snd p) * r (fst p) + m) 0 l.
(* The part of the means of a state that depends on the input, and what the run is given after transition i. *)
Definition input (q : nat) (a : feed) : R := entry q a + weighed (factors (st A q)) (snd a).
Definition set_registers (l : list (nat * update)) (e : R) (r : store) : store := fun x =>
  match lookup x l with
  | Some u => match from u with Some y => r y | None => 0 end + (if adds u then e else 0)
  | None => r x
  end.
Definition rest (q i : nat) (a : feed) : feed :=
  (if reads (st A q) then tail (fst a) else fst a, set_registers (sets (tr A i)) (entry q a) (snd a)).

(* The probability that an item is seen as a letter, for a store and a sample. *)
Definition shows_item (q : nat) (m : R) (i : item) (l : letter) (s : store) (z : R) : R :=
  match i, l with
  | Sym x, LSym x' => ind (Nat.eqb x x')
  | Number a b, LReal B => ind (B (value s z a - value s z b))
  | Other, LReal B => E N (law_of' (st A q)) (Q2R (d' (st A q))) (m + Q2R (mu' (st A q))) (fun y => ind (B y))
  | _, _ => 0
  end.
Fixpoint shows (q : nat) (m : R) (o : list item) (l : list letter) (s : store) (z : R) : R :=
  match o, l with
  | [], [] => 1
  | i :: o', l1 :: l' => shows_item q m i l1 s z * shows q m o' l' s z
  | _, _ => 0
  end.

(* The probability that the run from state q with store s on inputs a begins with what is observed in w. *)
Fixpoint Pr (w : list (list letter)) (q : nat) (s : store) (a : feed) : R :=
  match w with
  | [] => 1
  | l :: w' =>
    E N (law_of (st A q)) (Q2R (d (st A q))) (input q a + Q2R (mu (st A q))) (fun z =>
      match find (fun i => enabled (tr A i) s z) (leaving A q) with
      | Some i => shows q (input q a) (out (tr A i)) l s z * Pr w' (tgt (tr A i)) (upd s (tr A i) z) (rest q i a)
      | None => 0
      end)
  end.

Definition prob (a : stream) (w : list (list letter)) : R := Pr w (initial A) (fun _ => 0) (a, fun _ => 0).

End Semantics.

(* ---- Which entries differ: e are the differences ---- *)

Definition leads (m : pattern) (k : nat) (x : R) : option nat :=
  if Req_EM_T x 0 then fst (nth k m (None, None)) else snd (nth k m (None, None)).
Fixpoint allows (m : pattern) (k : nat) (e : stream) (n : nat) : Prop :=
  match n with
  | O => True
  | S n' => match leads m k (e 0%nat) with Some k' => allows m k' (tail e) n' | None => False end
  end.
Definition differ_as (m : pattern) (alpha beta : stream) : Prop := forall n, allows m 0 (fun i => alpha i - beta i) n.
