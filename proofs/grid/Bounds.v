(* The closed theorems on bounds from below, for noise on multiples of 1/n (n = 1: integers). *)
From Coq Require Import Reals QArith Qreals List Bool.
From Symdipa.Core Require Import Model Lookup Checker Guide Runs Rare Below Rounds.
From Symdipa.Grid Require Import Laplace Grid Tails.
Open Scope R_scope.

(* Inputs that are multiples of 1/n (those that are [near] them are, too). *)
Definition on_multiples (n : positive) (alpha : nat -> R) := forall i, multiple (width n) (alpha i).

Definition tails_on (n : positive) eps (Heps : 0 < eps) : tails (noise_on n eps Heps) := grid_tails (width n) eps (width_pos n) Heps.

Lemma differ_on n eps Heps A c D' : differ_by (noise_on n eps Heps) A c D' ->
  exists alpha beta, on_multiples n alpha /\ near n c alpha beta /\ differ_as (differ A) alpha beta /\
  exists w, exp (eps * D') * prob (noise_on n eps Heps) A beta w < prob (noise_on n eps Heps) A alpha w.
Proof. intros (alpha & beta & Ok & [Nr Df] & w & _ & Lt). exists alpha, beta. eauto. Qed.

(* Nothing less than D will do, whatever eps is. *)
Definition is_tight (n : positive) (A : automaton) (c : claim) :=
  forall eps (Heps : 0 < eps) D', D' < Q2R (c_D c) -> exists alpha beta, on_multiples n alpha /\ near n c alpha beta /\ differ_as (differ A) alpha beta /\
  exists w, exp (eps * D') * prob (noise_on n eps Heps) A beta w < prob (noise_on n eps Heps) A alpha w.

Theorem checked_lower n (A : automaton) (C : rcert) : check_lower (multiples n) A C = true -> is_tight n A (r_claim C).
Proof.
  intros H eps Heps D' HD. apply differ_on.
  exact (below Heps _ (tails_on n eps Heps) (multiples n) (on_grid_multiple n) A _ (fun _ => I) C D' eq_refl H HD).
Qed.

(* No D will do at all. *)
Definition is_leaking (n : positive) (A : automaton) (c : claim) :=
  forall eps (Heps : 0 < eps) D', exists alpha beta, on_multiples n alpha /\ near n c alpha beta /\ differ_as (differ A) alpha beta /\
  exists w, exp (eps * D') * prob (noise_on n eps Heps) A beta w < prob (noise_on n eps Heps) A alpha w.

Theorem checked_growth n (A : automaton) (C : rcert) : check_growth (multiples n) A C = true -> is_leaking n A (r_claim C).
Proof.
  intros H eps Heps D'. apply differ_on.
  exact (growing Heps _ (tails_on n eps Heps) (multiples n) (on_grid_multiple n) A _ (fun _ => I) C D' eq_refl H).
Qed.

Theorem checked_growth_in_rounds n (A : automaton) (C : gcert) : check_growth_in_rounds (multiples n) A C = true -> is_leaking n A (g_claim C).
Proof.
  intros H eps Heps D'. apply differ_on.
  exact (in_rounds Heps _ (tails_on n eps Heps) (multiples n) (on_grid_multiple n) (fun _ => I) A _ C D' eq_refl H).
Qed.
