(* The closed theorems on bounds from below, for noise on multiples of 1/n (n = 1: integers). *)
From Coq Require Import Reals QArith Qreals ZArith List Bool Lia.
From Symdipa.Core Require Import Model Lookup Checker Runs.
From Symdipa.Above Require Import Guide.
From Symdipa.Below Require Import Rare Below Rounds.
From Symdipa.Grid Require Import Laplace Grid Tails.
Open Scope R_scope.

(* Inputs that are multiples of 1/n (those that are [near] them are, too). *)
Definition on_multiples (n : positive) (alpha : nat -> R) := forall i, multiple (width n) (alpha i).

Definition tails_on (n : positive) eps (Heps : 0 < eps) : tails (noise_on n eps Heps) := grid_tails (width n) eps (width_pos n) Heps.

(* Multiples add up. *)
Section Sums.
Open Scope Q_scope.
Lemma on_grid_iff n x : on_grid n x = true <-> exists k, inject_Z (Zpos n) * x == inject_Z k.
Proof.
  unfold on_grid. rewrite Z.eqb_eq. unfold Qeq, inject_Z, Qmult. cbn [Qnum Qden]. split.
  - intros H. exists ((Zpos n * Qnum x) / Zpos (Qden x))%Z. pose proof (Z.div_mod (Zpos n * Qnum x) (Zpos (Qden x)) ltac:(easy)). lia.
  - intros [k Hk]. replace (Zpos n * Qnum x)%Z with (k * Zpos (Qden x))%Z by lia. apply Z.mod_mul. easy.
Qed.
Lemma adds_up_on n : adds_up (multiples n).
Proof.
  intros x y z k. cbn [multiples shift_ok]. rewrite !on_grid_iff. intros E [i Hi] [j Hj]. exists (i + Z.of_nat k * j)%Z.
  rewrite E, inject_Z_plus, inject_Z_mult, <- Hi, <- Hj. fold (so_many k). ring.
Qed.
End Sums.

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
  exact (below Heps _ (tails_on n eps Heps) (multiples n) (adds_up_on n) (on_grid_multiple n) ltac:(easy) (fun _ => I) A _ C D' eq_refl H HD).
Qed.

(* No D will do at all. *)
Definition is_leaking (n : positive) (A : automaton) (c : claim) :=
  forall eps (Heps : 0 < eps) D', exists alpha beta, on_multiples n alpha /\ near n c alpha beta /\ differ_as (differ A) alpha beta /\
  exists w, exp (eps * D') * prob (noise_on n eps Heps) A beta w < prob (noise_on n eps Heps) A alpha w.

Theorem checked_growth n (A : automaton) (C : rcert) : check_growth (multiples n) A C = true -> is_leaking n A (r_claim C).
Proof.
  intros H eps Heps D'. apply differ_on.
  exact (growing Heps _ (tails_on n eps Heps) (multiples n) (adds_up_on n) (on_grid_multiple n) ltac:(easy) (fun _ => I) A _ C D' eq_refl H).
Qed.
