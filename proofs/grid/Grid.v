(* The closed theorems for Laplace noise on the grid of multiples of 1/n (n = 1: integers), and an example inside Coq. *)
From Coq Require Import Reals QArith Qreals ZArith List Bool Lra Lia.
From Symdipa.Core Require Import Model Lookup Checker Relational.
From Symdipa.Above Require Import Facts Sound Guide Coupled.
From Symdipa.Grid Require Import Laplace.
Import ListNotations.
Open Scope R_scope.

Definition width (n : positive) : R := / IZR (Zpos n).

Lemma width_pos n : 0 < width n.
Proof. apply Rinv_0_lt_compat. now apply (IZR_lt 0). Qed.

Definition noise_on (n : positive) eps (Heps : 0 < eps) : noise eps := grid_laplace (width n) eps (width_pos n) Heps.

Lemma on_grid_multiple n q : on_grid n q = true -> multiple (width n) (Q2R q).
Proof.
  unfold on_grid. rewrite Z.eqb_eq. intros H. exists ((Zpos n * Qnum q) / Zpos (Qden q))%Z.
  pose proof (Z.div_mod (Zpos n * Qnum q) (Zpos (Qden q)) ltac:(easy)) as E. rewrite H, Z.add_0_r in E.
  apply (f_equal IZR) in E. rewrite !mult_IZR in E. unfold Q2R, width.
  assert (IZR (Zpos n) <> 0) by now apply not_0_IZR. assert (IZR (Zpos (Qden q)) <> 0) by now apply not_0_IZR.
  apply (Rmult_eq_reg_l (IZR (Zpos n))); auto. rewrite <- Rmult_assoc, E. field. auto.
Qed.

Lemma all_good n eps Heps w : good_word (noise_on n eps Heps) w.
Proof. apply Forall_forall. intros l _. apply Forall_forall. intros [x|B] _; simpl; auto. Qed.

Lemma factor_multiple n q x : on_grid 1 q = true -> multiple (width n) x -> multiple (width n) (Q2R q * x).
Proof.
  intros H [k ->]. apply on_grid_multiple in H as [j ->]. exists (j * k)%Z. rewrite mult_IZR. unfold width at 1.
  replace (/ IZR 1) with 1 by field. ring.
Qed.
Lemma only_ends_multiple n lo hi x : only_ends (multiples n) lo hi = true -> multiple (width n) x -> Q2R lo <= x <= Q2R hi ->
  x = Q2R lo \/ x = 0 \/ x = Q2R hi.
Proof.
  cbn [only_ends multiples]. rewrite andb_true_iff, !Qle_bool_iff. intros [L H] [k ->]. apply Qle_Rle in L, H.
  rewrite Q2R_opp in L. assert (E : Q2R (1 # n) = width n) by (unfold Q2R, width; simpl; lra). rewrite E in *.
  pose proof (width_pos n) as W. intros [B1 B2].
  assert (K : (-1 <= k <= 1)%Z).
  { split; apply le_IZR, (Rmult_le_reg_l (width n)); lra. }
  assert (k = -1 \/ k = 0 \/ k = 1)%Z as [->|[->| ->]] by lia; lra.
Qed.

(* Inputs of the two runs differ, first minus second, by multiples of 1/n in [k*low, k*high]. *)
Definition near (n : positive) (c : claim) (alpha beta : nat -> R) :=
  forall i, Q2R (c_sens c * c_low c) <= alpha i - beta i <= Q2R (c_sens c * c_high c) /\ multiple (width n) (alpha i - beta i).

Definition is_private (n : positive) (A : automaton) (c : claim) :=
  forall eps (Heps : 0 < eps) (alpha beta : nat -> R), near n c alpha beta -> differ_as (differ A) alpha beta ->
  forall w, prob (noise_on n eps Heps) A alpha w <= exp (eps * Q2R (c_D c)) * prob (noise_on n eps Heps) A beta w.

Theorem checked_private n (A : automaton) (C : cert) : check (multiples n) A C = true -> is_private n A (c_claim C).
Proof.
  intros H eps Heps alpha beta Adj Dif w. apply (private Heps (noise_on n eps Heps) (multiples n)); auto.
  - exact (on_grid_multiple n).
  - exact (factor_multiple n).
  - easy.
  - exact (only_ends_multiple n).
  - easy.
  - easy.
  - apply all_good.
  - easy.
  - now split.
Qed.

(* Of integers certificates may say more; then inputs are integers. *)
Definition is_private_on_integers (A : automaton) (c : claim) :=
  forall eps (Heps : 0 < eps) (alpha beta : nat -> Z),
  (forall i, Q2R (c_sens c * c_low c) <= IZR (alpha i - beta i) <= Q2R (c_sens c * c_high c)) ->
  differ_as (differ A) (fun i => IZR (alpha i)) (fun i => IZR (beta i)) ->
  forall w, prob (noise_on 1 eps Heps) A (fun i => IZR (alpha i)) w <=
            exp (eps * Q2R (c_D c)) * prob (noise_on 1 eps Heps) A (fun i => IZR (beta i)) w.

Lemma width_1 : width 1 = 1.
Proof. unfold width. field. Qed.
Lemma multiple_integer x : multiple (width 1) x <-> integer x.
Proof. rewrite width_1. split; intros [k ->]; exists k; ring. Qed.
Lemma whole_near c (alpha beta : nat -> Z) A : (forall i, Q2R (c_sens c * c_low c) <= IZR (alpha i - beta i) <= Q2R (c_sens c * c_high c)) ->
  differ_as (differ A) (fun i => IZR (alpha i)) (fun i => IZR (beta i)) ->
  forall eps (Heps : 0 < eps), adjacent (noise_on 1 eps Heps) A c (fun i => IZR (alpha i)) (fun i => IZR (beta i)).
Proof.
  intros Adj Dif eps Heps. split; [|easy]. intros i. rewrite <- minus_IZR. split; [apply Adj|]. apply multiple_integer. now exists (alpha i - beta i)%Z.
Qed.

Theorem checked_private_on_integers (A : automaton) (C : cert) : check integers A C = true -> is_private_on_integers A (c_claim C).
Proof.
  intros H eps Heps alpha beta Adj Dif w. apply (private Heps (noise_on 1 eps Heps) integers); auto.
  - exact (on_grid_multiple 1).
  - exact (factor_multiple 1).
  - easy.
  - exact (only_ends_multiple 1).
  - easy.
  - intros _ x. apply multiple_integer.
  - apply all_good.
  - intros _ i. apply multiple_integer. now exists (alpha i).
  - now apply whole_near.
Qed.

Theorem checked_relational n (A : automaton) (C : relcert) : check_relational (multiples n) A C = true -> is_private n A (e_claim C).
Proof.
  intros H eps Heps alpha beta Adj _ w. apply (paired Heps (noise_on n eps Heps) (multiples n)); auto; try easy.
  - exact (on_grid_multiple n).
  - apply all_good.
Qed.

Theorem checked_relational_on_integers (A : automaton) (C : relcert) : check_relational integers A C = true -> is_private_on_integers A (e_claim C).
Proof.
  intros H eps Heps alpha beta Adj Dif w. apply (paired Heps (noise_on 1 eps Heps) integers); auto; try easy.
  - exact (on_grid_multiple 1).
  - intros _ x. apply multiple_integer.
  - apply all_good.
  - exact (proj1 (whole_near (e_claim C) alpha beta A Adj Dif eps Heps)).
  - intros _ i. apply multiple_integer. now exists (alpha i).
Qed.
