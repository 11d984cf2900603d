(* Large values of noise on a grid are as rare as its density says, and no value that it can have has probability 0. *)
From Coq Require Import Reals ZArith List Bool Lra Lia.
From Coquelicot Require Import Coquelicot.
From Symdipa.Core Require Import Model.
From Symdipa.Grid Require Import Laplace.
Open Scope R_scope.

(* How steeply something may grow against the density. *)
Definition within (l : law) (d k : R) : Prop :=
  match l with Laplace => - d <= k <= d | Exponential => - d <= k | Exact => True end.

Section Tails.
Variables g eps : R.
Hypothesis Hg : 0 < g.
Hypothesis Heps : 0 < eps.

Lemma min_exp_unit B r : 0 <= B -> unit_fun (fun z => Rmin 1 (B * exp (r z))).
Proof.
  intros HB z. pose proof (exp_pos (r z)). assert (0 <= B * exp (r z)) by (apply Rmult_le_pos; lra).
  unfold Rmin. destruct (Rle_dec _ _); lra.
Qed.

(* The mean of an exponential that grows less steeply than the density falls. *)
Lemma tail l d k th : 0 <= th < 1 -> (0 < d -> within l d k) ->
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

(* What does not grow at all may be taken as often as one likes. *)
Lemma tail_flat l d k th : 0 <= th -> within l 0 k ->
  exists M, 0 < M /\ forall m B, 0 <= B -> laplace g eps l d m (fun z => Rmin 1 (B * exp (- (th * eps * k) * (z - m)))) <= M * B.
Proof.
  intros Hth Hk. destruct (tail l d (2 * th * k) (1 / 2)) as (M & HM & T); [lra| |].
  - intros Hd. destruct l; simpl in *; auto.
    + assert (k = 0) by lra. subst. lra.
    + assert (0 <= th * k) by (apply Rmult_le_pos; lra). lra.
  - exists M. split; [easy|]. intros m B HB. replace (th * eps * k) with (1 / 2 * eps * (2 * th * k)) by field. now apply T.
Qed.

(* Values that the noise can have. *)
Definition can_be (l : law) (d m z : R) : Prop :=
  match l with
  | Laplace => if Rlt_dec 0 d then multiple g (z - m) else z = m
  | Exponential => if Rlt_dec 0 d then multiple g (z - m) /\ m <= z else z = m
  | Exact => z = m
  end.

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

Lemma possible_value l d m z h : unit_fun h -> can_be l d m z -> 0 < h z -> 0 < laplace g eps l d m h.
Proof.
  intros U C Hz. unfold laplace. unfold can_be in C. destruct l; [destruct (Rlt_dec 0 d)|destruct (Rlt_dec 0 d)|]; subst; auto.
  - destruct C as [j Ej]. assert (z = m + g * IZR j) by lra. subst z.
    assert (Hx : 0 < g * (eps * d)) by now repeat apply Rmult_lt_0_compat.
    apply Rmult_lt_0_compat; [now apply mass_pos|].
    eapply Rlt_le_trans; [|apply (Zsum_term _ j)].
    + apply Rmult_lt_0_compat; [apply weight_pos|easy].
    + intros k. apply Rmult_le_pos; [apply weight_of_pos|apply U].
    + now apply exZ_h.
  - destruct C as [[j Ej] Up]. assert (z = m + g * IZR j) by lra. subst z.
    assert (Hx : 0 < g * (eps * d)) by now repeat apply Rmult_lt_0_compat.
    apply Rmult_lt_0_compat; [now apply mass_pos|].
    eapply Rlt_le_trans; [|apply (Zsum_term _ j)].
    + apply Rmult_lt_0_compat; [|easy]. simpl. unfold weight_up. destruct (Z_lt_dec j 0) as [J|]; [|apply weight_pos].
      apply IZR_lt in J. assert (g * IZR j < 0); [|lra]. nra.
    + intros k. apply Rmult_le_pos; [apply weight_of_pos|apply U].
    + now apply exZ_h.
Qed.
End Tails.
