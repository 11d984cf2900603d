(* Noise on a grid obeys the axioms: z = m + g*k with probability proportional to exp(-eps*d*g*|k|), for all integers k
   or, one-sided, for those from 0 on. *)
From Coq Require Import Reals ZArith List Bool Lra Lia.
From Coquelicot Require Import Coquelicot.
From Symdipa.Core Require Import Model.
Open Scope R_scope.

(* ---- sums over the integers ---- *)

Definition pos (F : Z -> R) (n : nat) := F (Z.of_nat n).
Definition neg (F : Z -> R) (n : nat) := F (- Z.of_nat (S n))%Z.
Definition exZ (F : Z -> R) := ex_series (pos F) /\ ex_series (neg F).
Definition Zsum (F : Z -> R) := Series (pos F) + Series (neg F).

Lemma Zsum_ext F G : (forall k, F k = G k) -> Zsum F = Zsum G.
Proof. intros H. unfold Zsum, pos, neg. f_equal; apply Series_ext; intros; apply H. Qed.
Lemma exZ_ext F G : (forall k, F k = G k) -> exZ F -> exZ G.
Proof. intros H [H1 H2]. split; eapply ex_series_ext; [|exact H1| |exact H2]; intros n; apply H. Qed.
Lemma Zsum_le F G : (forall k, 0 <= F k <= G k) -> exZ G -> Zsum F <= Zsum G.
Proof. intros H [H1 H2]. unfold Zsum. apply Rplus_le_compat; apply Series_le; auto; intros n; apply H. Qed.
Lemma Zsum_plus F G : exZ F -> exZ G -> Zsum (fun k => F k + G k) = Zsum F + Zsum G.
Proof.
  intros [H1 H2] [H3 H4]. unfold Zsum. pose proof (Series_plus _ _ H1 H3). pose proof (Series_plus _ _ H2 H4).
  unfold pos, neg in *. lra.
Qed.
Lemma Zsum_scal c F : Zsum (fun k => c * F k) = c * Zsum F.
Proof.
  unfold Zsum. pose proof (Series_scal_l c (pos F)). pose proof (Series_scal_l c (neg F)).
  unfold pos, neg in *. lra.
Qed.
Lemma exZ_scal c F : exZ F -> exZ (fun k => c * F k).
Proof. intros [H1 H2]. split; [apply (ex_series_scal_l c _ H1)|apply (ex_series_scal_l c _ H2)]. Qed.
Lemma exZ_le F G : (forall k, 0 <= F k <= G k) -> exZ G -> exZ F.
Proof.
  intros H [H1 H2]. split.
  - apply ex_series_Rabs. eapply (ex_series_le (fun n => Rabs (pos F n)) (pos G)); [|exact H1]. intros n. unfold norm; simpl; unfold abs; simpl.
    rewrite Rabs_Rabsolu. rewrite Rabs_pos_eq; apply H.
  - apply ex_series_Rabs. eapply (ex_series_le (fun n => Rabs (neg F n)) (neg G)); [|exact H2]. intros n. unfold norm; simpl; unfold abs; simpl.
    rewrite Rabs_Rabsolu. rewrite Rabs_pos_eq; apply H.
Qed.

Lemma Zshift_up F : exZ F -> exZ (fun k => F (k + 1)%Z) /\ Zsum (fun k => F (k + 1)%Z) = Zsum F.
Proof.
  intros [H1 H2].
  assert (E1 : forall n, pos (fun k => F (k + 1)%Z) n = pos F (S n)) by (intros n; unfold pos; f_equal; lia).
  assert (E2 : forall n, neg F n = neg (fun k => F (k + 1)%Z) (S n)) by (intros n; unfold neg; f_equal; lia).
  assert (H1' : ex_series (fun n => pos F (S n))) by now apply ex_series_incr_1 in H1.
  assert (H2' : ex_series (neg (fun k => F (k + 1)%Z))).
  { apply ex_series_incr_1. now apply (ex_series_ext (neg F)). }
  split; [split; auto|].
  - eapply ex_series_ext; [|exact H1']. intros n. now rewrite E1.
  - unfold Zsum. rewrite (Series_incr_1 (pos F)) by auto. rewrite (Series_incr_1 (neg (fun k => F (k + 1)%Z))) by auto.
    rewrite (Series_ext _ _ E1). rewrite (Series_ext _ _ E2).
    replace (neg (fun k => F (k + 1)%Z) 0) with (pos F 0) by (unfold pos, neg; f_equal; lia). lra.
Qed.

Lemma Zshift_down F : exZ F -> exZ (fun k => F (k - 1)%Z) /\ Zsum (fun k => F (k - 1)%Z) = Zsum F.
Proof.
  intros [H1 H2].
  assert (E1 : forall n, pos F n = pos (fun k => F (k - 1)%Z) (S n)) by (intros n; unfold pos; f_equal; lia).
  assert (E2 : forall n, neg (fun k => F (k - 1)%Z) n = neg F (S n)) by (intros n; unfold neg; f_equal; lia).
  assert (H2' : ex_series (fun n => neg F (S n))) by now apply ex_series_incr_1 in H2.
  assert (H1' : ex_series (pos (fun k => F (k - 1)%Z))).
  { apply ex_series_incr_1. now apply (ex_series_ext (pos F)). }
  split; [split; auto|].
  - eapply ex_series_ext; [|exact H2']. intros n. now rewrite E2.
  - unfold Zsum. rewrite (Series_incr_1 (neg F)) by auto. rewrite (Series_incr_1 (pos (fun k => F (k - 1)%Z))) by auto.
    rewrite (Series_ext _ _ E1). rewrite (Series_ext _ _ E2).
    replace (pos (fun k => F (k - 1)%Z) 0) with (neg F 0) by (unfold pos, neg; f_equal; lia). lra.
Qed.

Lemma Zshift F c : exZ F -> exZ (fun k => F (k + c)%Z) /\ Zsum (fun k => F (k + c)%Z) = Zsum F.
Proof.
  intros H. revert c. apply (Z.order_induction_0).
  - now intros c c' ->.
  - split; [eapply exZ_ext; [|exact H]|apply Zsum_ext]; intros k; f_equal; lia.
  - intros c _ [I1 I2]. destruct (Zshift_up _ I1) as [J1 J2]. split.
    + eapply exZ_ext; [|exact J1]. intros k; simpl. f_equal; lia.
    + rewrite <- I2, <- J2. apply Zsum_ext. intros k. f_equal; lia.
  - intros c Hc [I1 I2]. destruct (Zshift_down _ I1) as [J1 J2]. split.
    + eapply exZ_ext; [|exact J1]. intros k; simpl. f_equal; lia.
    + rewrite <- I2, <- J2. apply Zsum_ext. intros k. f_equal; lia.
Qed.

(* ---- the weights ---- *)

Section Weights.
Variable x : R.
Hypothesis Hx : 0 < x.

Definition weight (k : Z) : R := exp (- x * IZR (Z.abs k)).
Let q := exp (- x).

Local Lemma q_lt : 0 < q < 1.
Proof. unfold q. split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing. lra. Qed.

Local Lemma weight_pow n k : Z.abs k = Z.of_nat n -> weight k = q ^ n.
Proof.
  intros E. unfold weight. rewrite E, <- INR_IZR_INZ.
  clear E. unfold q. induction n as [|n IH].
  - simpl. rewrite Rmult_0_r. apply exp_0.
  - rewrite S_INR. replace (- x * (INR n + 1)) with (- x + - x * INR n) by ring. rewrite exp_plus, IH. reflexivity.
Qed.

Local Lemma pos_weight n : pos weight n = q ^ n.
Proof. apply weight_pow. lia. Qed.
Local Lemma neg_weight n : neg weight n = q * q ^ n.
Proof. unfold neg. rewrite (weight_pow (S n)) by lia. reflexivity. Qed.

Local Lemma q_abs : Rabs q < 1.
Proof. pose proof q_lt. rewrite Rabs_pos_eq; lra. Qed.

Lemma weight_ex : exZ weight.
Proof.
  split.
  - eapply ex_series_ext; [intros n; symmetry; apply pos_weight|]. apply ex_series_geom, q_abs.
  - eapply ex_series_ext; [intros n; symmetry; apply neg_weight|]. apply (ex_series_scal_l q (pow q)). apply ex_series_geom, q_abs.
Qed.

Lemma weight_sum : Zsum weight = (1 + q) / (1 - q).
Proof.
  pose proof q_lt. unfold Zsum. rewrite (Series_ext _ _ pos_weight), (Series_ext _ _ neg_weight).
  rewrite Series_scal_l, Series_geom by apply q_abs. field. lra.
Qed.

Lemma weight_pos k : 0 < weight k.
Proof. apply exp_pos. Qed.

Lemma weight_shift k c : weight k <= exp (x * Rabs (IZR c)) * weight (k + c).
Proof.
  unfold weight. rewrite <- exp_plus. rewrite !abs_IZR, plus_IZR.
  assert (H : Rabs (IZR k) <= Rabs (IZR c) + Rabs (IZR k + IZR c)).
  { replace (IZR k) with (- IZR c + (IZR k + IZR c)) at 1 by ring. eapply Rle_trans; [apply Rabs_triang|].
    rewrite Rabs_Ropp. lra. }
  assert (- x * Rabs (IZR k) >= - x * (Rabs (IZR c) + Rabs (IZR k + IZR c))) by nra.
  assert (- x * Rabs (IZR k) <= x * Rabs (IZR c) + - x * Rabs (IZR k + IZR c) \/ True) by auto.
  destruct (Rle_lt_dec (- x * Rabs (IZR k)) (x * Rabs (IZR c) + - x * Rabs (IZR k + IZR c))) as [L|L].
  - destruct L as [L|L]; [left; now apply exp_increasing|right; now rewrite L].
  - exfalso.
    assert (H' : Rabs (IZR k + IZR c) <= Rabs (IZR k) + Rabs (IZR c)) by apply Rabs_triang. nra.
Qed.

(* Weights at and above 0 only. *)
Definition weight_up (k : Z) : R := if Z_lt_dec k 0 then 0 else weight k.

Lemma weight_up_le k : 0 <= weight_up k <= weight k.
Proof. unfold weight_up. pose proof (weight_pos k). destruct (Z_lt_dec k 0); lra. Qed.
Lemma weight_up_sum : Zsum weight_up = 1 / (1 - q).
Proof.
  pose proof q_lt. unfold Zsum.
  rewrite (Series_ext (pos weight_up) (pow q)).
  2: { intros n. unfold pos, weight_up. destruct (Z_lt_dec (Z.of_nat n) 0); [lia|]. apply pos_weight. }
  rewrite (Series_ext (neg weight_up) (fun n => 0 * q ^ n)).
  2: { intros n. unfold neg, weight_up. destruct (Z_lt_dec (- Z.of_nat (S n)) 0); [ring|lia]. }
  rewrite Series_scal_l, Series_geom by apply q_abs. field. lra.
Qed.

(* What the laws have in common; u is the shift against the mean. *)
Definition weight_of (l : law) (k : Z) : R :=
  match l with Exponential => weight_up k | _ => weight k end.
Definition mass (l : law) : R :=
  match l with Exponential => 1 - q | _ => (1 - q) / (1 + q) end.

Lemma weight_of_pos l k : 0 <= weight_of l k.
Proof. pose proof (weight_pos k). destruct l; simpl; try lra. apply weight_up_le. Qed.
Lemma weight_of_ex l : exZ (weight_of l).
Proof. apply (exZ_le _ weight); [|apply weight_ex]. intros k. pose proof (weight_pos k). destruct l; simpl; try lra. apply weight_up_le. Qed.
Lemma weight_of_shift l k c : allowed l (- IZR c) -> weight_of l k <= exp (x * Rabs (IZR c)) * weight_of l (k + c).
Proof.
  intros Al. destruct l; simpl; try apply weight_shift. simpl in Al. unfold weight_up.
  assert (0 <= c)%Z by (apply le_IZR; lra).
  destruct (Z_lt_dec k 0) as [|K].
  - apply Rmult_le_pos; [left; apply exp_pos|]. destruct (Z_lt_dec (k + c) 0); [lra|left; apply weight_pos].
  - destruct (Z_lt_dec (k + c) 0); [lia|apply weight_shift].
Qed.
Lemma mass_pos l : 0 < mass l.
Proof. pose proof q_lt. destruct l; simpl; try (apply Rdiv_lt_0_compat; lra). lra. Qed.
Lemma mass_sum l : mass l * Zsum (weight_of l) = 1.
Proof.
  pose proof q_lt. destruct l; unfold mass; try (change (Zsum (weight_of _)) with (Zsum weight); rewrite weight_sum; field; lra).
  change (Zsum (weight_of _)) with (Zsum weight_up). rewrite weight_up_sum. field. lra.
Qed.
End Weights.

(* ---- the operator, on the grid m + g*Z (g = 1: the integers) ---- *)

Definition laplace (g eps : R) (l : law) (d m : R) (h : R -> R) : R :=
  match l with
  | Exact => h m
  | _ => if Rlt_dec 0 d then mass (g * (eps * d)) l * Zsum (fun k => weight_of (g * (eps * d)) l k * h (m + g * IZR k)) else h m
  end.

Definition multiple (g r : R) : Prop := exists k : Z, r = g * IZR k.

Section Instance.
Variables g eps : R.
Hypothesis Hg : 0 < g.
Hypothesis Heps : 0 < eps.

Local Lemma rate_pos d : 0 < d -> 0 < g * (eps * d).
Proof. intros. now repeat apply Rmult_lt_0_compat. Qed.

Lemma exZ_h l d m h : 0 < d -> unit_fun h -> exZ (fun k => weight_of (g * (eps * d)) l k * h (m + g * IZR k)).
Proof.
  intros Hd U. apply (exZ_le _ (weight_of (g * (eps * d)) l)).
  - intros k. pose proof (weight_of_pos (g * (eps * d)) l k). pose proof (U (m + g * IZR k)). split; [apply Rmult_le_pos; lra|].
    rewrite <- (Rmult_1_r (weight_of (g * (eps * d)) l k)) at 2. apply Rmult_le_compat_l; lra.
  - apply weight_of_ex. now apply rate_pos.
Qed.

(* Either the value at the mean, or the sum. *)
Lemma laplace_cases l d m : (forall h, laplace g eps l d m h = h m) \/
  (0 < d /\ forall h, laplace g eps l d m h = mass (g * (eps * d)) l * Zsum (fun k => weight_of (g * (eps * d)) l k * h (m + g * IZR k))).
Proof. unfold laplace. destruct l; auto; destruct (Rlt_dec 0 d); auto. Qed.

Lemma laplace_const l d m c : 0 <= c <= 1 -> laplace g eps l d m (fun _ => c) = c.
Proof.
  intros Hc. destruct (laplace_cases l d m) as [->|[Hd ->]]; [easy|].
  rewrite (Zsum_ext _ (fun k => c * weight_of (g * (eps * d)) l k)) by (intros; ring).
  rewrite Zsum_scal. pose proof (mass_sum _ (rate_pos d Hd) l). nra.
Qed.

(* On a grid single values have a probability. *)
Lemma laplace_mono l d m s h h' : unit_fun h -> unit_fun h' -> (forall z, typical False (multiple g) l d m s z -> h z <= h' z) ->
  laplace g eps l d m h <= laplace g eps l d m h'.
Proof.
  intros U U' H.
  assert (H' : forall k, supported l m (m + g * IZR k) -> h (m + g * IZR k) <= h' (m + g * IZR k)).
  { intros k Hk. apply H. split; [easy|]. split; [|easy]. exists k. ring. }
  assert (Hm : supported l m m -> h m <= h' m).
  { intros Hs. specialize (H' 0%Z). replace (m + g * IZR 0) with m in H' by (simpl; ring). auto. }
  assert (L : l = Exact \/ l <> Exact) by (destruct l; auto; now right). destruct L as [->|Ne]; [now apply Hm|].
  destruct (laplace_cases l d m) as [E|[Hd E]]; rewrite !E; [apply Hm; destruct l; simpl; auto; lra|].
  apply Rmult_le_compat_l; [left; apply mass_pos; now apply rate_pos|].
  apply Zsum_le; [|now apply exZ_h]. intros k. pose proof (weight_of_pos (g * (eps * d)) l k) as W. split.
  - apply Rmult_le_pos; [lra|apply U].
  - destruct l; [apply Rmult_le_compat_l; [lra|now apply H']| |easy].
    simpl. unfold weight_up. destruct (Z_lt_dec k 0) as [|K]; [lra|]. apply Rmult_le_compat_l; [left; apply weight_pos|]. apply H'. simpl.
    assert (0 <= IZR k) by (apply IZR_le; lia). pose proof (Rmult_le_pos g (IZR k) ltac:(lra) ltac:(easy)). lra.
Qed.

Lemma laplace_plus l d m h h' : unit_fun h -> unit_fun h' -> unit_fun (fun z => h z + h' z) ->
  laplace g eps l d m (fun z => h z + h' z) = laplace g eps l d m h + laplace g eps l d m h'.
Proof.
  intros U U' _. destruct (laplace_cases l d m) as [E|[Hd E]]; rewrite !E; [easy|].
  rewrite <- Rmult_plus_distr_l. f_equal. rewrite <- Zsum_plus by now apply exZ_h.
  apply Zsum_ext. intros; ring.
Qed.

Lemma sum_shift l d m (a b : Z) K h h' (x := g * (eps * d)) : 0 < d -> allowed l (- IZR (b - a)) -> 0 <= K -> unit_fun h -> unit_fun h' ->
  (forall z, h z <= K * h' (z - g * IZR a)) ->
  mass x l * Zsum (fun k => weight_of x l k * h (m + g * IZR k)) <=
  K * exp (eps * (d * Rabs (g * IZR a - g * IZR b))) * (mass x l * Zsum (fun k => weight_of x l k * h' (m - g * IZR b + g * IZR k))).
Proof.
  intros Hd Al HK U U' H. assert (Hx : 0 < x) by now apply rate_pos.
  set (G := fun j => weight_of x l j * h' (m - g * IZR b + g * IZR j)).
  assert (EG : exZ G) by now apply exZ_h.
  destruct (Zshift G (b - a)%Z EG) as [EG' <-].
  rewrite (Rmult_comm (K * exp _)), Rmult_assoc. apply Rmult_le_compat_l; [left; now apply mass_pos|].
  rewrite (Rmult_comm (Zsum _)), <- Zsum_scal. apply Zsum_le.
  2: { now apply exZ_scal. }
  intros k. pose proof (weight_of_pos x l k) as W. split; [apply Rmult_le_pos; [lra|apply U]|].
  unfold G. replace (m - g * IZR b + g * IZR (k + (b - a))) with (m + g * IZR k - g * IZR a) by (rewrite plus_IZR, minus_IZR; ring).
  pose proof (weight_of_shift x Hx l k (b - a) Al) as S.
  replace (eps * (d * Rabs (g * IZR a - g * IZR b))) with (x * Rabs (IZR (b - a))).
  2: { rewrite minus_IZR, (Rabs_minus_sym (IZR b)). rewrite <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq g) by lra.
       unfold x. ring. }
  specialize (H (m + g * IZR k)).
  apply Rle_trans with (weight_of x l k * (K * h' (m + g * IZR k - g * IZR a))); [apply Rmult_le_compat_l; lra|].
  replace (K * exp (x * Rabs (IZR (b - a))) * (weight_of x l (k + (b - a)) * h' (m + g * IZR k - g * IZR a)))
    with ((exp (x * Rabs (IZR (b - a))) * weight_of x l (k + (b - a))) * (K * h' (m + g * IZR k - g * IZR a))) by ring.
  apply Rmult_le_compat_r; auto. apply Rmult_le_pos; [easy|apply U'].
Qed.

Lemma laplace_shift l d m s delta K h h' : live l d -> allowed l (s - delta) -> multiple g s -> multiple g delta -> 0 <= K -> unit_fun h -> unit_fun h' ->
  (forall z, h z <= K * h' (z - s)) ->
  laplace g eps l d m h <= K * exp (eps * (d * Rabs (s - delta))) * laplace g eps l d (m - delta) h'.
Proof.
  intros Hl Al [a ->] [b ->] HK U U' H. destruct l; unfold laplace; simpl in Hl, Al.
  - destruct (Rlt_dec 0 d); [|easy]. now apply sum_shift.
  - destruct (Rlt_dec 0 d); [|easy]. apply sum_shift; auto. simpl. rewrite minus_IZR.
    destruct (Rle_lt_dec (IZR a - IZR b) 0) as [|P]; [lra|]. pose proof (Rmult_lt_0_compat _ _ Hg P). lra.
  - rewrite Al, Rabs_R0, !Rmult_0_r, exp_0, Rmult_1_r. replace (m - g * IZR b) with (m - g * IZR a) by lra. apply H.
Qed.

Local Lemma multiple_0 : multiple g 0.
Proof. exists 0%Z. ring. Qed.
Local Lemma multiple_opp r : multiple g r -> multiple g (- r).
Proof. intros [k ->]. exists (- k)%Z. rewrite opp_IZR. ring. Qed.

Local Lemma multiple_plus r r' : multiple g r -> multiple g r' -> multiple g (r + r').
Proof. intros [k ->] [k' ->]. exists (k + k')%Z. rewrite plus_IZR. ring. Qed.

Definition grid_laplace : noise eps := {|
  E := laplace g eps; atomless := False; ok := multiple g; ok_0 := multiple_0; ok_opp := multiple_opp; ok_plus := multiple_plus;
  good := fun _ => True; goodS := fun _ => True; goodJ := fun _ => True; good_set := fun _ => True;    (* sums exist for all functions *)
  good_const := fun _ => I; good_ext := fun _ _ _ _ => I; good_plus := fun _ _ _ _ => I; good_ind := fun _ _ => I;
  good_J := fun _ _ _ => I; goodS_const := fun _ => I; goodJ_const := fun _ => I; goodJ_mult := fun _ _ _ _ => I;
  goodJ_number := fun _ _ _ _ => I; goodJ_step := fun _ _ _ _ _ _ _ => I; goodS_E := fun _ _ _ _ _ _ => I;
  E_const := laplace_const;
  E_mono := fun l d m s h h' _ _ => laplace_mono l d m s h h';
  E_plus := fun l d m h h' _ _ => laplace_plus l d m h h';
  E_shift := fun l d m s delta K h h' Hl Ha Hs Hd HK _ _ => laplace_shift l d m s delta K h h' Hl Ha Hs Hd HK |}.
End Instance.
