(* Large values of noise on a grid are as rare as its density says, and no value that it can have has probability 0. *)
From Coq Require Import Reals ZArith List Bool Lra Lia.
From Coquelicot Require Import Coquelicot.
From Symdipa.Core Require Import Model.
From Symdipa.Below Require Import Rare.
From Symdipa.Grid Require Import Laplace.
Open Scope R_scope.

Section Tails.
Variables g eps : R.
Hypothesis Hg : 0 < g.
Hypothesis Heps : 0 < eps.

(* The mean of an exponential that grows less steeply than the density falls. *)
Lemma laplace_tail l d k th : 0 <= th < 1 -> (0 < d -> within l d k) ->
  exists M, 0 < M /\ forall m B, 0 <= B -> laplace g eps l d m (fun z => Rmin 1 (B * exp (- (th * eps * k) * (z - m)))) <= M * B.
Proof.
  intros Hth Hk0.
  assert (At : forall m B, 0 <= B -> Rmin 1 (B * exp (- (th * eps * k) * (m - m))) <= 1 * B).
  { intros m B HB. replace (- (th * eps * k) * (m - m)) with 0 by ring. rewrite exp_0, Rmult_1_r, Rmult_1_l. apply Rmin_r. }
  destruct (Rlt_dec 0 d) as [Hd|Hd].
  2: { exists 1. split; [lra|]. intros m B HB. unfold laplace. destruct l; try (destruct (Rlt_dec 0 d); [contradiction|]); auto. }
  destruct l.
  3: { exists 1. split; [lra|]. intros m B HB. now apply At. }
  1, 2 : set (x := g * (eps * d)); assert (Hx : 0 < x) by (unfold x; now repeat apply Rmult_lt_0_compat);
    pose proof (Hk0 Hd) as Hk; set (y := (1 - th) * x); assert (Hy : 0 < y) by (apply Rmult_lt_0_compat; lra).
  - assert (W : forall j, weight x j * exp (- (th * eps * k) * (g * IZR j)) <= weight y j).
    { intros j. unfold weight. rewrite <- exp_plus, abs_IZR.
      assert (H : - x * Rabs (IZR j) + - (th * eps * k) * (g * IZR j) <= - y * Rabs (IZR j)).
      { unfold y, x. replace (- (th * eps * k) * (g * IZR j)) with (th * (eps * g) * (- k * IZR j)) by ring.
        assert (K : - k * IZR j <= d * Rabs (IZR j)).
        { unfold Rabs. simpl in Hk. destruct (Rcase_abs (IZR j)); nra. }
        assert (T : 0 <= th * (eps * g)) by (apply Rmult_le_pos; [lra|]; apply Rmult_le_pos; lra).
        apply (Rmult_le_compat_l _ _ _ T) in K. nra. }
      destruct H as [H|H]; [left; now apply exp_increasing|right; now rewrite H]. }
    pose proof (mass_pos x Hx Laplace) as Mp. exists (mass x Laplace * Zsum (weight y)).
    split.
    { apply Rmult_lt_0_compat; [easy|]. rewrite weight_sum by easy.
      assert (0 < exp (- y) < 1) by (split; [apply exp_pos|]; rewrite <- exp_0; apply exp_increasing; lra).
      apply Rdiv_lt_0_compat; lra. }
    intros m B HB. unfold laplace. destruct (Rlt_dec 0 d); [|contradiction]. fold x.
    rewrite (Rmult_assoc (mass x Laplace)). apply Rmult_le_compat_l; [lra|]. rewrite (Rmult_comm _ B), <- Zsum_scal. apply Zsum_le.
    2: { apply exZ_scal. now apply weight_ex. }
    intros j. change (weight_of x Laplace j) with (weight x j). pose proof (weight_pos x j).
    pose proof (min_exp_unit B (fun z => - (th * eps * k) * (z - m)) HB (m + g * IZR j)) as U. split; [apply Rmult_le_pos; lra|].
    replace (m + g * IZR j - m) with (g * IZR j) in * by ring.
    eapply Rle_trans; [apply Rmult_le_compat_l; [lra|apply Rmin_r]|]. specialize (W j).
    replace (weight x j * (B * exp (- (th * eps * k) * (g * IZR j)))) with (B * (weight x j * exp (- (th * eps * k) * (g * IZR j)))) by ring.
    now apply Rmult_le_compat_l.
  - assert (W : forall j, weight_up x j * exp (- (th * eps * k) * (g * IZR j)) <= weight y j).
    { intros j. unfold weight_up. destruct (Z_lt_dec j 0) as [|J]; [rewrite Rmult_0_l; left; apply weight_pos|].
      unfold weight. rewrite <- exp_plus, abs_IZR.
      assert (J' : 0 <= IZR j) by (apply IZR_le; lia). rewrite (Rabs_pos_eq _ J').
      assert (H : - x * IZR j + - (th * eps * k) * (g * IZR j) <= - y * IZR j).
      { unfold y, x. replace (- (th * eps * k) * (g * IZR j)) with (th * (eps * g) * (- k * IZR j)) by ring.
        assert (K : - k * IZR j <= d * IZR j) by (simpl in Hk; nra).
        assert (T : 0 <= th * (eps * g)) by (apply Rmult_le_pos; [lra|]; apply Rmult_le_pos; lra).
        apply (Rmult_le_compat_l _ _ _ T) in K. nra. }
      destruct H as [H|H]; [left; now apply exp_increasing|right; now rewrite H]. }
    pose proof (mass_pos x Hx Exponential) as Mp. exists (mass x Exponential * Zsum (weight y)).
    split.
    { apply Rmult_lt_0_compat; [easy|]. rewrite weight_sum by easy.
      assert (0 < exp (- y) < 1) by (split; [apply exp_pos|]; rewrite <- exp_0; apply exp_increasing; lra).
      apply Rdiv_lt_0_compat; lra. }
    intros m B HB. unfold laplace. destruct (Rlt_dec 0 d); [|contradiction]. fold x.
    rewrite (Rmult_assoc (mass x Exponential)). apply Rmult_le_compat_l; [lra|]. rewrite (Rmult_comm _ B), <- Zsum_scal. apply Zsum_le.
    2: { apply exZ_scal. now apply weight_ex. }
    intros j. change (weight_of x Exponential j) with (weight_up x j). pose proof (weight_up_le x j).
    pose proof (min_exp_unit B (fun z => - (th * eps * k) * (z - m)) HB (m + g * IZR j)) as U. split; [apply Rmult_le_pos; lra|].
    replace (m + g * IZR j - m) with (g * IZR j) in * by ring.
    eapply Rle_trans; [apply Rmult_le_compat_l; [lra|apply Rmin_r]|]. specialize (W j).
    replace (weight_up x j * (B * exp (- (th * eps * k) * (g * IZR j)))) with (B * (weight_up x j * exp (- (th * eps * k) * (g * IZR j)))) by ring.
    now apply Rmult_le_compat_l.
Qed.

Lemma Series_first a : (forall n, 0 <= a n) -> ex_series a -> a 0%nat <= Series a.
Proof.
  intros P E. rewrite Series_incr_1 by easy. apply (ex_series_incr_1 a) in E.
  assert (0 <= Series (fun n => a (S n))); [|lra].
  rewrite <- (Rmult_0_l (Series (fun n => a (S n)))), <- Series_scal_l. apply Series_le; [|easy]. intros n. pose proof (P (S n)). lra.
Qed.
Lemma Zsum_term F j : (forall k, 0 <= F k) -> exZ F -> F j <= Zsum F.
Proof.
  intros P E. destruct (Zshift F j E) as [[E1 E2] <-]. unfold Zsum.
  pose proof (Series_first (pos (fun k => F (k + j)%Z)) ltac:(intros n; apply P) E1) as H. unfold pos at 1 in H. simpl in H.
  pose proof (Series_first (neg (fun k => F (k + j)%Z)) ltac:(intros n; apply P) E2) as H2.
  assert (0 <= neg (fun k => F (k + j)%Z) 0) by apply P. lra.
Qed.

Local Notation N := (grid_laplace g eps Hg Heps).
Lemma laplace_around l d m z r : noisy l d -> can_be N l d m z -> 0 < r \/ r = 0 /\ True -> 0 < laplace g eps l d m (fun y => ind (around z r y)).
Proof.
  intros Lv C Hr. set (h := fun y => ind (around z r y)).
  assert (Hz : 0 < h z).
  { unfold h. assert (A : around z r z = true) by (apply around_iff; replace (z - z) with 0 by ring; rewrite Rabs_R0; destruct Hr; lra).
    rewrite A. simpl. lra. }
  assert (U : unit_fun h) by (intros y; unfold h; destruct (around z r y); simpl; lra).
  assert (Term : forall j, 0 < d -> z = m + g * IZR j -> 0 < weight_of (g * (eps * d)) l j ->
    0 < mass (g * (eps * d)) l * Zsum (fun k => weight_of (g * (eps * d)) l k * h (m + g * IZR k))).
  { intros j Hd Ej Hw. assert (Hx : 0 < g * (eps * d)) by now repeat apply Rmult_lt_0_compat.
    apply Rmult_lt_0_compat; [now apply mass_pos|]. eapply Rlt_le_trans; [|apply (Zsum_term _ j)].
    - apply Rmult_lt_0_compat; [exact Hw|]. rewrite <- Ej. exact Hz.
    - intros k. apply Rmult_le_pos; [apply weight_of_pos|apply U].
    - now apply exZ_h. }
  unfold laplace. unfold can_be in C. destruct l; [destruct (Rlt_dec 0 d)|destruct (Rlt_dec 0 d)|]; subst; auto.
  - destruct C as [j Ej]. apply (Term j); [easy|lra|apply weight_pos].
  - destruct C as [[j Ej] Up]. apply (Term j); [easy|lra|]. simpl. unfold weight_up. destruct (Z_lt_dec j 0) as [J|]; [|apply weight_pos].
    apply IZR_lt in J. assert (g * IZR j < 0); [|lra]. nra.
Qed.

Lemma laplace_scale l d m c h : laplace g eps l d m (fun z => c * h z) = c * laplace g eps l d m h.
Proof.
  destruct (laplace_cases g eps l d m) as [E|[Hd E]]; rewrite !E; [easy|].
  rewrite (Zsum_ext _ (fun k => c * (weight_of (g * (eps * d)) l k * h (m + g * IZR k)))) by (intros; ring). rewrite Zsum_scal. ring.
Qed.
Lemma laplace_still l d m h : ~ noisy l d -> laplace g eps l d m h = h m.
Proof. unfold laplace. destruct l; simpl; [|  |easy]; intros H; destruct (Rlt_dec 0 d); easy. Qed.

(* The operator is that of the noise, sets and functions are any. *)
Definition grid_tails : tails N := @Build_tails eps N laplace_tail (fun _ _ _ => I) (fun _ _ => I)
  (fun l d m c h _ _ _ => laplace_scale l d m c h) laplace_still True laplace_around.
End Tails.
