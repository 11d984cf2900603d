(* The closed theorems on bounds from below, for noise on real numbers. *)
From Coq Require Import Reals QArith Qreals List.
From Symdipa.Core Require Import Model Lookup Checker Runs.
From Symdipa.Above Require Import Guide.
From Symdipa.Below Require Import Rare Below Rounds.
From Symdipa.Real Require Import RealNoise RealClosed RealTails.
Open Scope R_scope.

Lemma differ_real eps (Heps : 0 < eps) A c D' : differ_by (real_noise eps Heps) A c D' ->
  exists alpha beta, near_real c alpha beta /\ differ_as (differ A) alpha beta /\
  exists w, good_word (real_noise eps Heps) w /\
    exp (eps * D') * prob (real_noise eps Heps) A beta w < prob (real_noise eps Heps) A alpha w.
Proof.
  intros (alpha & beta & _ & [Nr Df] & w & Gw & Lt). exists alpha, beta. split; [intros i; apply Nr|]. eauto.
Qed.

Section Bounds.
Variables (eps : R) (Heps : 0 < eps) (A : automaton) (D' : R).
Let any_ok : forall q, shift_ok real_numbers q = true -> ok (real_noise eps Heps) (Q2R q) := fun _ _ => I.
Let no_points : mixes real_numbers = false -> points _ (real_tails Heps) := fun E => False_ind _ (Bool.diff_true_false E).

Let smooth : Checker.smooth real_numbers = true -> atomless (real_noise eps Heps).
Proof. easy. Qed.
Let sums : adds_up real_numbers := fun _ _ _ _ _ _ _ => eq_refl.

Lemma below_real C : check_lower real_numbers A C = true -> D' < Q2R (c_D (r_claim C)) -> differ_by (real_noise eps Heps) A (r_claim C) D'.
Proof. exact (below Heps _ (real_tails Heps) real_numbers sums any_ok smooth no_points A _ C D' eq_refl). Qed.
Lemma growing_real C : check_growth real_numbers A C = true -> differ_by (real_noise eps Heps) A (r_claim C) D'.
Proof. exact (growing Heps _ (real_tails Heps) real_numbers sums any_ok smooth no_points A _ C D' eq_refl). Qed.
End Bounds.

(* Nothing less than D will do, whatever eps is: measurable sets show it. *)
Definition is_tight_real (A : automaton) (c : claim) : Prop :=
  forall eps (Heps : 0 < eps) D', D' < Q2R (c_D c) -> exists alpha beta, near_real c alpha beta /\ differ_as (differ A) alpha beta /\
  exists w, good_word (real_noise eps Heps) w /\
    exp (eps * D') * prob (real_noise eps Heps) A beta w < prob (real_noise eps Heps) A alpha w.

Theorem checked_lower_real A (C : rcert) : check_lower real_numbers A C = true -> is_tight_real A (r_claim C).
Proof. intros H eps Heps D' HD. apply differ_real. now apply below_real. Qed.

(* No D will do at all. *)
Definition is_leaking_real (A : automaton) (c : claim) : Prop :=
  forall eps (Heps : 0 < eps) D', exists alpha beta, near_real c alpha beta /\ differ_as (differ A) alpha beta /\
  exists w, good_word (real_noise eps Heps) w /\
    exp (eps * D') * prob (real_noise eps Heps) A beta w < prob (real_noise eps Heps) A alpha w.

Theorem checked_growth_real A (C : rcert) : check_growth real_numbers A C = true -> is_leaking_real A (r_claim C).
Proof. intros H eps Heps D'. apply differ_real. now apply growing_real. Qed.
