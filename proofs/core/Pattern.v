(* What patterns say that are used often: which entries of two inputs may differ. *)
From Coq Require Import Reals List Bool Arith Lra Lia.
From Symdipa.Core Require Import Model.
Import ListNotations.
Open Scope nat_scope.

Definition every_entry : pattern := [(Some 0, Some 0)].
(* At most so many entries; entries that lie among so many in a row. *)
Definition entries (most : nat) : pattern := map (fun k => (Some k, Some (S k))) (seq 0 most) ++ [(Some most, None)].
Definition window (length : nat) : pattern :=
  (Some 0, Some 1) :: map (fun k => (Some (S k), Some (S k))) (seq 1 (length - 1)) ++ [(Some length, None)].

Theorem every_entry_spec alpha beta : differ_as every_entry alpha beta.
Proof.
  intros n. generalize (fun i => (alpha i - beta i)%R). induction n as [|n IH]; intros e; simpl; [easy|].
  unfold leads. simpl. destruct (Req_EM_T (e 0) 0); apply IH.
Qed.

(* How many of the first n numbers are not 0. *)
Fixpoint differing (e : stream) (n : nat) : nat :=
  match n with O => 0 | S n' => (if Req_EM_T (e 0) 0 then 0 else 1) + differing (tail e) n' end.

Lemma nth_map {X} (f : nat -> X) s n k x : k < n -> nth k (map f (seq s n)) x = f (s + k).
Proof.
  intros H. rewrite (nth_indep _ x (f 0)) by (rewrite map_length, seq_length; lia). rewrite map_nth, seq_nth by lia. reflexivity.
Qed.

Lemma entries_nth most k : nth k (entries most) (None, None) =
  if k <? most then (Some k, Some (S k)) else if k =? most then (Some most, None) else (None, None).
Proof.
  unfold entries. destruct (Nat.ltb_spec k most).
  - rewrite app_nth1 by (rewrite map_length, seq_length; lia).
    now rewrite nth_map by lia.
  - rewrite app_nth2 by (rewrite map_length, seq_length; lia). rewrite map_length, seq_length.
    destruct (Nat.eqb_spec k most) as [->|]; [now rewrite Nat.sub_diag|].
    destruct (k - most) as [|[|m]] eqn:Ek; [lia|reflexivity|now destruct m].
Qed.

Theorem entries_spec most alpha beta :
  differ_as (entries most) alpha beta <-> forall n, differing (fun i => alpha i - beta i)%R n <= most.
Proof.
  assert (H : forall n e k, k <= most -> (allows (entries most) k e n <-> k + differing e n <= most)).
  { induction n as [|n IH]; intros e k Hk; simpl; [lia|]. unfold leads. rewrite entries_nth.
    destruct (Nat.ltb_spec k most); [|destruct (Nat.eqb_spec k most) as [->|]; [|lia]]; cbn [fst snd];
    destruct (Req_EM_T (e 0) 0); try (rewrite IH by lia; lia). split; [easy|lia]. }
  unfold differ_as. split; intros D n; apply (H n _ 0); try lia; apply D.
Qed.

Lemma window_nth length k : 0 < length -> nth k (window length) (None, None) =
  if k =? 0 then (Some 0, Some 1) else if k <? length then (Some (S k), Some (S k))
  else if k =? length then (Some length, None) else (None, None).
Proof.
  intros Hl. unfold window. destruct k as [|k]; [reflexivity|]. cbn [nth]. change (S k =? 0) with false. cbv iota. destruct (Nat.ltb_spec (S k) length).
  - rewrite app_nth1 by (rewrite map_length, seq_length; lia).
    now rewrite nth_map by lia.
  - rewrite app_nth2 by (rewrite map_length, seq_length; lia). rewrite map_length, seq_length.
    destruct (Nat.eqb_spec (S k) length) as [E|].
    + replace (k - (length - 1)) with 0 by lia. reflexivity.
    + destruct (k - (length - 1)) as [|[|m]] eqn:Ek; [lia|reflexivity|now destruct m].
Qed.

Theorem window_spec length alpha beta : 0 < length ->
  (differ_as (window length) alpha beta <->
   forall i j, i <= j -> alpha i <> beta i -> alpha j <> beta j -> j < i + length).
Proof.
  intros Hl.
  (* once an entry differed *)
  assert (After : forall n e k, 0 < k <= length ->
    (allows (window length) k e n <-> forall j, j < n -> e j <> 0%R -> k + j < length)).
  { induction n as [|n IH]; intros e k Hk; simpl; [split; [lia|easy]|].
    assert (Step : forall k', k' = Nat.min (S k) length -> (k < length \/ e 0 = 0%R) ->
      ((forall j, j < n -> tail e j <> 0%R -> k' + j < length) <-> (forall j, j < S n -> e j <> 0%R -> k + j < length))).
    { intros k' -> Ho. split; intros H j Hj Ne.
      - destruct j as [|j]; [destruct Ho; [lia|contradiction]|]. specialize (H j ltac:(lia) Ne). lia.
      - specialize (H (S j) ltac:(lia) Ne). lia. }
    unfold leads. rewrite window_nth by easy. destruct (Nat.eqb_spec k 0); [lia|].
    destruct (Nat.ltb_spec k length); [|destruct (Nat.eqb_spec k length) as [->|]; [|lia]]; cbn [fst snd].
    - destruct (Req_EM_T (e 0) 0); (rewrite IH by lia); apply Step; auto; lia.
    - destruct (Req_EM_T (e 0) 0) as [E|E]; [rewrite IH by lia; apply Step; auto; lia|].
      split; [easy|]. intros Hj. specialize (Hj 0 ltac:(lia) E). lia. }
  assert (Before : forall n e, allows (window length) 0 e n <->
    forall i j, i <= j < n -> e i <> 0%R -> e j <> 0%R -> j < i + length).
  { induction n as [|n IH]; intros e; simpl; [split; [lia|easy]|].
    unfold leads. rewrite window_nth by easy. cbn [Nat.eqb fst snd]. destruct (Req_EM_T (e 0) 0) as [E|E].
    - rewrite IH. split; intros H i j Hij Ni Nj.
      + destruct i as [|i]; [contradiction|]. destruct j as [|j]; [lia|]. specialize (H i j ltac:(lia) Ni Nj). lia.
      + specialize (H (S i) (S j) ltac:(lia) Ni Nj). lia.
    - rewrite After by lia. split; intros H.
      + intros i j Hij Ni Nj. destruct j as [|j]; [lia|]. specialize (H j ltac:(lia) Nj). lia.
      + intros j Hj Nj. exact (H 0 (S j) ltac:(lia) E Nj). }
  unfold differ_as. split.
  - intros D i j Hij Ni Nj. apply (proj1 (Before (S j) _) (D (S j))); [lia| |]; lra.
  - intros H n. apply Before. intros i j Hij Ni Nj. apply H; [lia| |]; lra.
Qed.
