(* The closed theorems for real Laplace noise: Lebesgue integrals, any real inputs, any rational shifts. *)
From Coq Require Import Reals QArith Qreals List.
From mathcomp Require Import ssreflect ssrbool eqtype ssralg ssrnum order.
From mathcomp.analysis Require Import Rstruct measure.
From Symdipa.Core Require Import Model Lookup Checker Relational.
From Symdipa.Above Require Import Sound Guide Coupled.
From Symdipa.Real Require Import RealNoise RealNorm.

Definition real_noise (eps : R) (H : Rlt 0 eps) : noise eps := real_laplace (introT (RltP _ _) H) (fun one r r0 => @norm_fin r r0 one).

(* Sets of real outputs are measurable: for instance all intervals and their countable unions. *)
Definition near_real (c : claim) (alpha beta : nat -> R) : Prop :=
  forall i, Rle (Q2R (c_sens c * c_low c)) (Rminus (alpha i) (beta i)) /\ Rle (Rminus (alpha i) (beta i)) (Q2R (c_sens c * c_high c)).

Definition is_private_real (A : automaton) (c : claim) : Prop :=
  forall eps (H : Rlt 0 eps) (alpha beta : nat -> R), near_real c alpha beta -> differ_as (differ A) alpha beta ->
  forall w, good_word (real_noise eps H) w ->
  Rle (prob (real_noise eps H) A alpha w) (Rmult (exp (Rmult eps (Q2R (c_D c)))) (prob (real_noise eps H) A beta w)).

Theorem checked_private_real A (C : cert) : check real_numbers A C = true -> is_private_real A (c_claim C).
Proof.
move=> HC eps H alpha beta Adj Dif w Gw. by apply: (private H (real_noise eps H) real_numbers) => //; split=> // i; split=> //; exact: Adj.
Qed.

Theorem checked_relational_real A (C : relcert) : check_relational real_numbers A C = true -> is_private_real A (e_claim C).
Proof.
move=> HC eps H alpha beta Adj _ w Gw. by apply: (paired H (real_noise eps H) real_numbers) => // i; split=> //; exact: Adj.
Qed.
