(* Trees that find the n-th element of a list, and the elements of a list that have a key, in logarithmic
   time.  What they find is what a search through the list finds: checking with them is checking without. *)
From Coq Require Import List Arith Lia FunctionalExtensionality.
Import ListNotations.

Inductive tree (X : Type) := Leaf | Node (x : X) (odd even : tree X).
Arguments Leaf {X}.
Arguments Node {X} _ _ _.

(* The extraction has machine instructions for these two. *)
Definition half (n : nat) : nat := Nat.div n 2.
Definition is_odd (n : nat) : bool := Nat.eqb (Nat.modulo n 2) 1.

(* Number 0 is at the root, then the odd numbers are in one subtree, the even ones in the other. *)
Fixpoint get {X} (t : tree X) (n : nat) : option X :=
  match t with
  | Leaf => None
  | Node x l r => if Nat.eqb n 0 then Some x
                  else if is_odd n then get l (half n) else get r (half n - 1)
  end.

Fixpoint push {X} (x : X) (t : tree X) : tree X :=
  match t with
  | Leaf => Node x Leaf Leaf
  | Node y l r => Node x (push y r) l
  end.

Fixpoint change {X} (f : X -> X) (n : nat) (t : tree X) : tree X :=
  match t with
  | Leaf => Leaf
  | Node x l r => if Nat.eqb n 0 then Node (f x) l r
                  else if is_odd n then Node x (change f (half n) l) r
                  else Node x l (change f (half n - 1) r)
  end.

Inductive parity (n : nat) : Prop :=
| Null : n = 0 -> parity n
| Odd k : n = 2 * k + 1 -> parity n
| Even k : n = 2 * k + 2 -> parity n.

Lemma parity_of n : parity n.
Proof.
  destruct (Nat.eq_dec n 0) as [->|H]; [now apply Null|].
  pose proof (Nat.div_mod n 2 ltac:(lia)) as E. pose proof (Nat.mod_upper_bound n 2 ltac:(lia)).
  destruct (Nat.eq_dec (n mod 2) 1); [apply (Odd _ (n / 2))|apply (Even _ (n / 2 - 1))]; lia.
Qed.

Lemma halves k : half (2 * k + 1) = k /\ is_odd (2 * k + 1) = true /\ half (2 * k + 2) = k + 1 /\ is_odd (2 * k + 2) = false.
Proof.
  unfold half, is_odd. repeat split.
  - symmetry. apply (Nat.div_unique _ 2 k 1); lia.
  - replace ((2 * k + 1) mod 2) with 1; [easy|]. apply (Nat.mod_unique _ 2 k 1); lia.
  - symmetry. apply (Nat.div_unique _ 2 (k + 1) 0); lia.
  - replace ((2 * k + 2) mod 2) with 0; [easy|]. apply (Nat.mod_unique _ 2 (k + 1) 0); lia.
Qed.

Lemma get_0 {X} (x : X) l r : get (Node x l r) 0 = Some x.
Proof. reflexivity. Qed.
Lemma get_odd {X} (x : X) l r k : get (Node x l r) (2 * k + 1) = get l k.
Proof.
  destruct (halves k) as (D & M & _). cbn [get]. rewrite D, M. destruct (Nat.eqb_spec (2 * k + 1) 0); [lia|easy].
Qed.
Lemma get_even {X} (x : X) l r k : get (Node x l r) (2 * k + 2) = get r k.
Proof.
  destruct (halves k) as (_ & _ & D & M). cbn [get]. rewrite D, M. destruct (Nat.eqb_spec (2 * k + 2) 0); [lia|].
  f_equal. lia.
Qed.

Lemma get_push {X} (t : tree X) : forall x n, get (push x t) n = match n with 0 => Some x | S m => get t m end.
Proof.
  induction t as [|y l IHl r IHr]; intros x n; cbn [push].
  - destruct n; [easy|]. cbn [get]. destruct (Nat.eqb_spec (S n) 0); [lia|]. now destruct (is_odd _).
  - destruct (parity_of n) as [->|k ->|k ->].
    + apply get_0.
    + rewrite get_odd, IHr. replace (2 * k + 1) with (S (2 * k)) by lia. destruct k as [|k]; [now rewrite get_0|].
      replace (2 * S k) with (2 * k + 2) by lia. now rewrite get_even.
    + rewrite get_even. replace (2 * k + 2) with (S (2 * k + 1)) by lia. now rewrite get_odd.
Qed.

Lemma get_change {X} (f : X -> X) (t : tree X) : forall m n,
  get (change f m t) n = if Nat.eqb n m then option_map f (get t n) else get t n.
Proof.
  induction t as [|y l IHl r IHr]; intros m n; cbn [change].
  - cbn [get]. now destruct (n =? m).
  - destruct (parity_of m) as [->|k ->|k ->].
    + change (0 =? 0) with true. cbv iota. destruct (parity_of n) as [->|j ->|j ->].
      * reflexivity.
      * rewrite !get_odd. destruct (Nat.eqb_spec (2 * j + 1) 0); [lia|easy].
      * rewrite !get_even. destruct (Nat.eqb_spec (2 * j + 2) 0); [lia|easy].
    + destruct (halves k) as (D & M & _). rewrite D, M. destruct (Nat.eqb_spec (2 * k + 1) 0); [lia|].
      destruct (parity_of n) as [->|j ->|j ->].
      * rewrite !get_0. now destruct (Nat.eqb_spec 0 (2 * k + 1)); [lia|].
      * rewrite !get_odd, IHl. destruct (Nat.eqb_spec j k), (Nat.eqb_spec (2 * j + 1) (2 * k + 1)); now try lia.
      * rewrite !get_even. now destruct (Nat.eqb_spec (2 * j + 2) (2 * k + 1)); [lia|].
    + destruct (halves k) as (_ & _ & D & M). rewrite D, M. destruct (Nat.eqb_spec (2 * k + 2) 0); [lia|].
      replace (k + 1 - 1) with k by lia.
      destruct (parity_of n) as [->|j ->|j ->].
      * rewrite !get_0. now destruct (Nat.eqb_spec 0 (2 * k + 2)); [lia|].
      * rewrite !get_odd. now destruct (Nat.eqb_spec (2 * j + 1) (2 * k + 2)); [lia|].
      * rewrite !get_even, IHr. destruct (Nat.eqb_spec j k), (Nat.eqb_spec (2 * j + 2) (2 * k + 2)); now try lia.
Qed.

(* The elements of a list by their places. *)
Definition array {X} (l : list X) : tree X := fold_right push Leaf l.
Definition at_place {X} (d : X) (t : tree X) (n : nat) : X := match get t n with Some x => x | None => d end.

Lemma at_array {X} (d : X) l : at_place d (array l) = fun n => nth n l d.
Proof.
  apply functional_extensionality. unfold at_place.
  induction l as [|x l IH]; intros n; cbn [array fold_right]; [now destruct n|].
  change (fold_right push Leaf l) with (array l). rewrite get_push. destruct n as [|n]; [easy|]. apply IH.
Qed.

(* The elements of a list by a key, in their order. *)
Fixpoint blank {X} (n : nat) : tree (list X) := match n with 0 => Leaf | S m => push [] (blank m) end.
Definition beyond {X} (key : X -> nat) (l : list X) : nat := fold_right (fun x n => if Nat.ltb (key x) n then n else S (key x)) 0 l.
Definition index {X} (key : X -> nat) (l : list X) : tree (list X) :=
  fold_right (fun x t => change (cons x) (key x) t) (blank (beyond key l)) l.
Definition with_key {X} (t : tree (list X)) (k : nat) : list X := match get t k with Some l => l | None => [] end.

Lemma get_blank {X} n k : get (@blank X n) k = if k <? n then Some [] else None.
Proof.
  revert k. induction n as [|n IH]; intros k; cbn [blank]; [easy|]. rewrite get_push. destruct k as [|k]; [easy|]. apply IH.
Qed.

Lemma index_spec {X} (key : X -> nat) l : with_key (index key l) = fun k => filter (fun x => key x =? k) l.
Proof.
  apply functional_extensionality. intros k. unfold with_key, index.
  assert (G : forall n, beyond key l <= n -> get (fold_right (fun x t => change (cons x) (key x) t) (blank n) l) k
    = if k <? n then Some (filter (fun x => key x =? k) l) else None).
  { intros n. induction l as [|x l IH]; cbn [fold_right filter beyond]; intros Hn; [apply get_blank|].
    change (fold_right (fun x n => if Nat.ltb (key x) n then n else S (key x)) 0 l) with (beyond key l) in Hn.
    assert (key x < n /\ beyond key l <= n) by (revert Hn; destruct (Nat.ltb_spec (key x) (beyond key l)); lia).
    rewrite get_change, IH by lia. rewrite (Nat.eqb_sym (key x) k).
    destruct (Nat.eqb_spec k (key x)) as [->|]; [|easy]. now destruct (_ <? n). }
  rewrite G by lia. destruct (Nat.ltb_spec k (beyond key l)) as [H|H]; [easy|].
  symmetry. clear G. induction l as [|x l IH]; cbn [filter beyond fold_right] in *; [easy|].
  change (fold_right (fun x n => if Nat.ltb (key x) n then n else S (key x)) 0 l) with (beyond key l) in H.
  assert (key x < k /\ beyond key l <= k) by (revert H; destruct (Nat.ltb_spec (key x) (beyond key l)); lia).
  destruct (Nat.eqb_spec (key x) k); [lia|]. apply IH. lia.
Qed.
