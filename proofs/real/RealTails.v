(* Large values of noise on real numbers are as rare as its density says, and each interval around a value that it can have has probability. *)
From Coq Require Import Reals Lra.
(* In the real numbers of Coq. *)
Section Reals.
Local Open Scope R_scope.
Lemma falls_faster e d k th B u : 0 < e -> 0 <= th -> 0 <= B -> - k * u <= d * Rabs u ->
  exp (- (e * d * Rabs u)) * Rmin 1 (B * exp (- (th * e * k) * u)) <= B * exp (- (e * ((1 - th) * d) * Rabs u)).
Proof.
  intros He Hth HB Hk. apply Rle_trans with (exp (- (e * d * Rabs u)) * (B * exp (- (th * e * k) * u))).
  - apply Rmult_le_compat_l; [left; apply exp_pos|apply Rmin_r].
  - replace (exp (- (e * d * Rabs u)) * (B * exp (- (th * e * k) * u))) with (B * (exp (- (e * d * Rabs u)) * exp (- (th * e * k) * u))) by ring.
    apply Rmult_le_compat_l; [easy|]. rewrite <- exp_plus.
    assert (H : - (e * d * Rabs u) + - (th * e * k) * u <= - (e * ((1 - th) * d) * Rabs u)).
    { replace (- (th * e * k) * u) with (th * e * (- k * u)) by ring.
      assert (0 <= th * e) by (apply Rmult_le_pos; lra). apply (Rmult_le_compat_l (th * e)) in Hk; lra. }
    destruct H as [H|H]; [left; now apply exp_increasing|right; now rewrite H].
Qed.
Lemma within_both d k u : - d <= k <= d -> - k * u <= d * Rabs u.
Proof. unfold Rabs. destruct (Rcase_abs u); nra. Qed.
Lemma within_up d k u : - d <= k -> 0 <= u -> - k * u <= d * Rabs u.
Proof. intros. rewrite Rabs_pos_eq by easy. nra. Qed.
Lemma at_mean B x m : 0 <= B -> Rmin 1 (B * exp (x * (m - m))) <= 1 * B.
Proof. intros HB. replace (x * (m - m)) with 0 by ring. rewrite exp_0, Rmult_1_r, Rmult_1_l. apply Rmin_r. Qed.
End Reals.

From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval finmap.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop mathcomp_extra.
From mathcomp.analysis Require Import signed reals ereal topology normedtype sequences real_interval esum measure lebesgue_measure numfun lebesgue_integral Rstruct.
From Symdipa.Core Require Import Model.
From Symdipa.Below Require Import Rare.
From Symdipa.Real Require Import RealShift RealNoise RealNorm RealClosed.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Let RT := real_realType.
Let T := [the measurableType _ of measurableTypeR RT].
Let mu := [the measure _ _ of @leb RT].

Lemma good_min_exp (B k m : R) : good (fun z => Rmin (IZR 1) (Rmult B (exp (Rmult k (Rminus z m))))).
Proof.
pose f : T -> T := fun z => Rmult B (exp (Rmult k (Rminus z m))).
have mf : @measurable_fun _ _ T T setT f.
  apply: (@measurable_funrM _ T RT setT (fun z : T => exp (k * ((z : RT) - m)))).
  apply: (@measurable_fun_comp _ _ _ T T T exp setT (fun z : T => k * ((z : RT) - m)) exp_measurable).
  apply: (@measurable_funrM _ T RT setT (fun z : T => (z : RT) - m)). exact: (measurable_move (- m)).
have -> : (fun z => Rmin (IZR 1) (Rmult B (exp (Rmult k (Rminus z m))))) = (fun z => if (1 : RT) <= (f z : RT) then (1 : RT) else f z).
  apply/funext => z. rewrite -/(f z) /Rmin. by case: Rle_dec => [/RleP ->|/RleP/negbTE ->].
apply: (@measurable_fun_ifT _ _ T T (cst (1 : RT)) f); last exact: mf.
- exact: (@measurable_leb RT _ T (cst (1 : RT)) f (@measurable_fun_cst _ _ T T setT (1 : RT)) mf).
- exact: measurable_fun_cst.
Qed.

Section Tails.
Variable eps : R.
Hypothesis Heps : Rlt (IZR 0) eps.
Let eps0 : 0 < eps. Proof. exact/RltP. Qed.
Let fin := fun (one : bool) (r : RT) (r0 : 0 < r) => @norm_fin r r0 one.
Let N := real_noise eps Heps.

Local Notation lapR := RealNoise.lapR.

Lemma mean_tail (one : bool) (d k th : R) : Rlt (IZR 0) d -> Rle (IZR 0) th /\ Rlt th (IZR 1) ->
  (if one then Rle (Ropp d) k else Rle (Ropp d) k /\ Rle k d) ->
  exists M, Rlt (IZR 0) M /\ forall m B, Rle (IZR 0) B ->
    Rle (mean eps one d m (fun z => Rmin (IZR 1) (Rmult B (exp (Rmult (Ropp (Rmult (Rmult th eps) k)) (Rminus z m)))))) (Rmult M B).
Proof.
move=> d0 [th0 th1] Hk. pose d2 : R := Rmult (Rminus (IZR 1) th) d.
have d20 : Rlt (IZR 0) d2 by apply: Rmult_lt_0_compat => //; lra.
pose n1 := fine (lapR one (eps * d) 0 (cst 1%E)). pose n2 := fine (lapR one (eps * d2) 0 (cst 1%E)).
have N1 : 0 < n1 := norm_gt0 eps0 fin one d0. have N2 : 0 < n2 := norm_gt0 eps0 fin one d20.
pose M := n2 / n1. exists M; split; first by apply/RltP; rewrite divr_gt0.
move=> m B B0. set h := fun z => Rmin _ _.
have U : unit_fun h by apply: (min_exp_unit B (fun z => Rmult (Ropp (Rmult (Rmult th eps) k)) (Rminus z m))).
have V := unitE U. have G : good h := good_min_exp B _ m.
have one0 (x : T) : (0 <= cst 1%E x :> \bar RT)%E by rewrite /= lee_fin.
have B0' : 0 <= (B : RT) by exact/RleP.
have L : (lapR one (eps * d) m (fun z => (h z)%:E) <= B%:E * lapR one (eps * d2) 0 (cst 1%E))%E.
  rewrite /RealNoise.lapR -(lap_norm exp_gt0 exp_measurable one (eps * d2) m).
  rewrite -(@lap_scale RT exp exp_gt0 exp_measurable one (eps * d2) m (cst 1%E) one_mE one0 B B0').
  have md r : measurable_fun setT (fun x : T => (dens exp one r m x)%:E).
    by apply: (proj2 (@EFin_measurable_fun _ T RT setT _)); exact: (measurable_dens exp_measurable).
  have D0 r x : (0 <= (dens exp one r m x)%:E)%E by rewrite lee_fin (dens_ge0 exp_gt0).
  apply: ge0_le_integral => //.
  - by move=> x _; apply: mule_ge0 => //; rewrite lee_fin; case/andP: (V x).
  - by apply: emeasurable_funM; [exact: md|exact: mE].
  - by move=> x _; apply: mule_ge0 => //; apply: mule_ge0; rewrite lee_fin.
  - by apply: emeasurable_funM; [exact: md|apply: emeasurable_funM; exact: measurable_fun_cst].
  move=> x _. rewrite /= mule1 -!EFinM lee_fin /dens.
  case: ifP => [_|/negbT C]; first by rewrite !mul0r.
  rewrite [X in _ <= X]mulrC. apply/RleP. apply: falls_faster => //.
  case: one Hk C {N1 N2 md D0 M n1 n2} => /= Hk C; last exact: within_both.
  apply: within_up => //. move: C; rewrite -leNgt => /RleP C. by apply: Rge_le; apply: Rge_minus; apply: Rle_ge.
apply/RleP. rewrite /mean -/n1. have -> : Rmult M B = B * n2 * n1^-1 by rewrite RmultE /M mulrC mulrA.
rewrite ler_pmul2r ?invr_gt0 //. have F := lapR_fin eps0 fin one m d0 G U.
have F2 : lapR one (eps * d2) 0 (cst 1%E) \is a fin_num.
  by rewrite ge0_fin_numE ?ltW //; case/andP: (fin one (rate_gt0 eps0 d20)).
have -> : B * n2 = fine (B%:E * lapR one (eps * d2) 0 (cst 1%E))%E by rewrite fineM.
by apply: fine_le => //; rewrite fin_numM.
Qed.

(* The density is not 0 on an interval that begins at z, if z is not below the mean of noise above it. *)
Lemma mean_around (one : bool) (d m z r : R) : Rlt (IZR 0) d -> Rlt (IZR 0) r -> (one -> Rle m z) ->
  Rlt (IZR 0) (mean eps one d m (fun y => ind (around z r y))).
Proof.
move=> d0 /RltP r0 up. apply/RltP. rewrite /mean. apply: mulr_gt0; last by rewrite invr_gt0; exact: (norm_gt0 eps0 fin one d0).
set h := fun y => ind (around z r y).
have U : unit_fun h by move=> y; rewrite /h; case: around => /=; lra.
have G : good h by exact: (@good_ind eps N _ (interval_good _ _)).
pose q : RT := exp (- (eps * d * (`|(z : RT) - m| + r))). pose J : set T := [set` `[(z : RT), (z : RT) + r]].
have mJ : measurable J by exact: measurable_itv.
have muJ : mu J = r%:E.
  by rewrite /mu /= /leb lebesgue_measure_itv hlength_itv /= lte_fin ltr_addl r0 -EFinB addrC addKr.
have q0 : 0 < q by exact: exp_gt0.
rewrite -lte_fin fineK; last exact: (lapR_fin eps0 fin one m d0 G U).
apply: (@lt_le_trans _ _ (\int[mu]_x (q%:E * (\1_J x : RT)%:E))%E).
  rewrite ge0_integralM //; last 3 first.
  - exact: (mI mJ).
  - by move=> x _; exact: I_ge0.
  - by rewrite lee_fin ltW.
  by rewrite integral_indic // setIT muJ -EFinM lte_fin mulr_gt0.
have V := unitE U.
apply: ge0_le_integral => //.
- by move=> x _; apply: mule_ge0; [rewrite lee_fin ltW|exact: I_ge0].
- by apply: emeasurable_funM; [exact: measurable_fun_cst|exact: (mI mJ)].
- by move=> x _; apply: mule_ge0; rewrite lee_fin; [exact: (dens_ge0 exp_gt0)|case/andP: (V x)].
- apply: emeasurable_funM; last exact: mE.
  by apply: (proj2 (@EFin_measurable_fun _ T RT setT _)); exact: (measurable_dens exp_measurable).
move=> x _. rewrite indicE. have [|] := boolP (x \in J); last first.
  by move=> _; rewrite mule0; apply: mule_ge0; rewrite lee_fin; [exact: (dens_ge0 exp_gt0)|case/andP: (V x)].
rewrite inE /J /= in_itv /= => /andP[x0 x1]. rewrite mule1.
have hx : h x = 1.
  rewrite /h. have -> : around z r x = true; last by [].
  rewrite /around !le_bE. apply/andP; split; last exact: x1. apply: le_trans x0. by rewrite ler_subl_addr ler_addl ltW.
rewrite -/(h x) hx mule1 lee_fin /dens. have -> : one && ((x : RT) < m) = false.
  case: one up => //= up. apply/negbTE. rewrite -leNgt. apply: le_trans x0. exact/RleP/up.
apply: exp_le. rewrite ler_opp2. apply: ler_wpmul2l; first by rewrite ltW // (rate_gt0 eps0 d0).
have -> : (x : RT) - m = (z - m) + (x - z) by rewrite [RHS]addrC addrA subrK.
apply: le_trans (ler_norm_add _ _) _. rewrite ler_add2l ger0_norm ?subr_ge0 //. by rewrite ler_subl_addl.
Qed.

Lemma real_around l d m z r : noisy l d -> can_be N l d m z -> Rlt (IZR 0) r \/ r = IZR 0 /\ False ->
  Rlt (IZR 0) (ELap eps l d m (fun y => ind (around z r y))).
Proof.
move=> Lv C [r0|[_ []]]. case: l Lv C => /= Lv.
- by case: Rlt_dec => // d0 _; apply: mean_around.
- by case: Rlt_dec => // d0 [_ up]; apply: mean_around.
- move=> ->. have -> : around m r m = true; last by rewrite /=; lra.
  apply/around_iff. rewrite Rminus_eq_0 Rabs_R0. exact: Rlt_le.
Qed.

Lemma real_tail l d k th : (Rle (IZR 0) th /\ Rlt th (IZR 1)) -> (Rlt (IZR 0) d -> within l d k) ->
  exists M, Rlt (IZR 0) M /\ forall m B, Rle (IZR 0) B ->
    Rle (ELap eps l d m (fun z => Rmin (IZR 1) (Rmult B (exp (Rmult (Ropp (Rmult (Rmult th eps) k)) (Rminus z m)))))) (Rmult M B).
Proof.
have Pt : exists M, Rlt (IZR 0) M /\ forall m B, Rle (IZR 0) B ->
    Rle (Rmin (IZR 1) (Rmult B (exp (Rmult (Ropp (Rmult (Rmult th eps) k)) (Rminus m m))))) (Rmult M B).
  by exists (IZR 1); split; [lra|move=> m B; exact: at_mean].
move=> Hth Hk. case: l Hk => /= Hk //.
- case: Rlt_dec => d0 //. exact: (@mean_tail false d k th d0 Hth (Hk d0)).
- case: Rlt_dec => d0 //. exact: (@mean_tail true d k th d0 Hth (Hk d0)).
Qed.

Lemma real_scale l d m c h : Rle (IZR 0) c /\ Rle c (IZR 1) -> good h -> unit_fun h ->
  ELap eps l d m (fun z => Rmult c (h z)) = Rmult c (ELap eps l d m h).
Proof.
move=> [/RleP c0 _] mh U. case: (ELap_cases eps l d m) => [E|[one [d0 E]]]; rewrite !E // /mean.
have V := unitE U. have V0 (x : T) : (0 <= (h x)%:E :> \bar RT)%E by rewrite lee_fin; case/andP: (V x).
have Sc := @lap_scale RT exp exp_gt0 exp_measurable one (eps * d) m _ (mE mh) V0 c c0.
have -> : lapR one (eps * d) m (fun z => (Rmult c (h z))%:E) = (c%:E * lapR one (eps * d) m (fun z => (h z)%:E))%E by exact: Sc.
by rewrite fineM ?(lapR_fin eps0 fin one m d0 mh U) // -mulrA.
Qed.
Lemma real_still l d m h : ~ noisy l d -> ELap eps l d m h = h m.
Proof. by case: l => //= H; case: Rlt_dec. Qed.

Definition real_tails : tails N := @Build_tails eps N real_tail good_min_exp (fun z r => interval_good _ _)
  real_scale real_still False real_around.
End Tails.
