(* The Laplace density can be normalised, and the closed theorem for real Laplace noise. *)
From Coq Require Import Reals.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval finmap.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop mathcomp_extra.
From mathcomp.analysis Require Import signed reals ereal topology normedtype sequences real_interval esum measure lebesgue_measure numfun lebesgue_integral Rstruct.
From Symdipa.Real Require Import RealShift RealNoise.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Let RT := real_realType.
Let T := [the measurableType _ of measurableTypeR RT].
Let mu := [the measure _ _ of @leb RT].

Section Norm.
Variable r : RT.
Hypothesis r0 : 0 < r.
Let e : RT -> RT := exp.
Let q : RT := e (- r).

Lemma q_gt0 : 0 < q. Proof. exact: exp_gt0. Qed.
Lemma q_lt1 : q < 1.
Proof.
have H : Rlt (- r) (IZR 0) by apply/RltP; rewrite oppr_lt0.
apply/RltP. have := exp_increasing _ _ H. by rewrite exp_0.
Qed.
Lemma e0 : e 0 = 1. Proof. exact: exp_0. Qed.
Lemma eD x y : e (x + y) = e x * e y. Proof. exact: exp_D. Qed.
Lemma q_pow n : e (- (r * n%:R)) = q ^+ n.
Proof.
elim: n => [|n IH]; first by rewrite mulr0 oppr0 expr0 e0.
by rewrite -natr1 mulrDr mulr1 opprD eD IH exprSr.
Qed.

Let J n : set T := [set` `[(n%:R : RT), n%:R + 1]].
Let J' n : set T := [set` `[(- (n%:R + 1) : RT), - n%:R]].
Lemma mJ n : measurable (J n). Proof. exact: measurable_itv. Qed.
Lemma mJ' n : measurable (J' n). Proof. exact: measurable_itv. Qed.
Lemma muJ n : mu (J n) = 1%E.
Proof. by rewrite /mu /= /leb lebesgue_measure_itv hlength_itv /= lte_fin ltr_addl ltr01 -EFinB addrC addKr. Qed.
Lemma muJ' n : mu (J' n) = 1%E.
Proof.
rewrite /mu /= /leb lebesgue_measure_itv hlength_itv /= lte_fin ltr_opp2 ltr_addl ltr01 -EFinB opprK.
by rewrite addrC addrAC subrr add0r.
Qed.

Let g n (x : T) : \bar RT := ((\1_(J n) x : RT)%:E + (\1_(J' n) x : RT)%:E)%E.
Let f n (x : T) : \bar RT := ((q ^+ n)%:E * g n x)%E.

Lemma mI (S : set T) : measurable S -> measurable_fun setT (fun x : T => (\1_S x : RT)%:E).
Proof. move=> mS. apply: (proj2 (@EFin_measurable_fun _ T RT setT _)). exact: measurable_fun_indic. Qed.
Lemma I_ge0 (S : set T) (x : T) : (0 <= (\1_S x : RT)%:E)%E. Proof. by rewrite lee_fin. Qed.
Lemma g_ge0 n x : (0 <= g n x)%E. Proof. by apply: adde_ge0; apply: I_ge0. Qed.
Lemma mg n : measurable_fun setT (g n). Proof. by apply: emeasurable_funD; apply: mI; [apply: mJ|apply: mJ']. Qed.
Lemma qn_ge0 n : (0 <= (q ^+ n)%:E)%E. Proof. by rewrite lee_fin exprn_ge0 // ltW // q_gt0. Qed.
Lemma f_ge0 n x : (0 <= f n x)%E. Proof. apply: mule_ge0; [exact: qn_ge0|exact: g_ge0]. Qed.
Lemma mf n : measurable_fun setT (f n).
Proof. apply: emeasurable_funM; [exact: measurable_fun_cst|exact: mg]. Qed.

Lemma int_f n : (\int[mu]_x f n x = (2%:R * q ^+ n)%:E)%E.
Proof.
rewrite /f ge0_integralM //; last 3 first.
- exact: mg.
- by move=> x _; exact: g_ge0.
- exact: qn_ge0.
rewrite /g (@ge0_integralD _ _ RT mu setT measurableT _ _ (fun x _ => I_ge0 (J n) x) (mI (mJ n)) (fun x _ => I_ge0 (J' n) x) (mI (mJ' n))).
rewrite !integral_indic // ?setIT ?muJ ?muJ'; [|exact: mJ'|exact: mJ].
by rewrite -EFinD -EFinM mulrC.
Qed.

Lemma sum_fin : (\sum_(n <oo) \int[mu]_x f n x < +oo)%E.
Proof.
apply: (@le_lt_trans _ _ ((2%:R / (1 - q))%:E)); last exact: ltry.
apply: lime_le.
  apply: is_cvg_nneseries => n _. apply: integral_ge0 => x _. exact: f_ge0.
apply: nearW => n. under eq_bigr do rewrite int_f.
rewrite sumEFin lee_fin -mulr_sumr ler_wpmul2l // -[X in _ <= X]mul1r.
rewrite ler_pdivl_mulr ?subr_gt0 ?q_lt1 //.
suff -> : (\sum_(0 <= i < n) q ^+ i) * (1 - q) = 1 - q ^+ n.
  by rewrite ler_subl_addr ler_addl exprn_ge0 // ltW // q_gt0.
elim: n => [|n IH]; first by rewrite big_geq // mul0r expr0 subrr.
by rewrite big_nat_recr //= mulrDl IH mulrBr mulr1 -exprSr addrA subrK.
Qed.

Lemma dens_one one (x : T) : dens exp one r 0 x <= dens exp false r 0 x.
Proof. by rewrite /dens; case: ifP => // _; rewrite /= ltW // exp_gt0. Qed.

Lemma dom one (x : T) : ((dens exp one r 0 x)%:E * 1 <= \sum_(n <oo) f n x)%E.
Proof.
rewrite mule1. apply: (@le_trans _ _ (dens exp false r 0 x)%:E); first by rewrite lee_fin dens_one.
have [n /andP[n1 n2]] : exists n : nat, (n%:R <= `|x : RT| < n%:R + 1).
  exists `|floor `|x : RT| |%N.
  have F0 : 0 <= floor `|x : RT| by rewrite floor_ge0.
  have E : (`|floor `|x : RT| |%N%:R : RT) = (floor `|x : RT|)%:~R by rewrite natr_absz ger0_norm.
  by rewrite E floor_le /= lt_succ_floor.
apply: le_trans (nneseries_lim_ge n.+1 (fun i _ => f_ge0 i x)).
rewrite big_nat_recr //=. apply: le_trans (lee_addr _ _); last by apply: sume_ge0 => i _; exact: f_ge0.
apply: le_trans (_ : ((q ^+ n)%:E <= _)%E).
  rewrite lee_fin /dens -q_pow; apply: exp_le. rewrite subr0 ler_opp2. by rewrite ler_wpmul2l // ltW.
rewrite /f -[X in (X <= _)%E]mule1. apply: lee_wpmul2l; first exact: qn_ge0.
rewrite /g. have [x0|x0] := leP 0 (x : RT).
- have H : x \in J n by rewrite inE /J /= in_itv /= -(ger0_norm x0) n1 ltW.
  by rewrite indicE H /= lee_addl // I_ge0.
- have H : x \in J' n.
    rewrite inE /J' /= in_itv /=. rewrite ltr0_norm // in n1 n2. by rewrite ler_oppl ltW //= ler_oppr.
  by rewrite [in X in (_ <= _ + X)%E]indicE H /= lee_addr // I_ge0.
Qed.

Lemma mdens one : measurable_fun setT (fun x : T => (dens exp one r 0 x)%:E * 1 : \bar RT)%E.
Proof.
apply: emeasurable_funM; last exact: measurable_fun_cst.
apply: (proj2 (@EFin_measurable_fun _ T RT setT _)). exact: (measurable_dens exp_measurable).
Qed.

Lemma norm_fin one : (0 < lap exp one r 0 (cst 1%E) < +oo)%E.
Proof.
apply/andP; split.
- apply: (@lt_le_trans _ _ (\int[mu]_x (q%:E * (\1_(J 0) x : RT)%:E))%E).
    rewrite ge0_integralM //; last 3 first.
    + exact: (mI (mJ 0)).
    + by move=> x _; exact: I_ge0.
    + by rewrite lee_fin ltW // q_gt0.
    by rewrite integral_indic // ?setIT ?muJ ?mule1 ?lte_fin ?q_gt0 //; exact: mJ.
  apply: ge0_le_integral => //.
  + by move=> x _; apply: mule_ge0; [rewrite lee_fin ltW // q_gt0|exact: I_ge0].
  + by apply: emeasurable_funM; [exact: measurable_fun_cst|exact: (mI (mJ 0))].
  + by move=> x _; rewrite mule1 lee_fin; rewrite /dens; case: ifP => // _; rewrite ltW // exp_gt0.
  + exact: mdens.
  + move=> x _ /=. rewrite mule1 indicE. have [|] := boolP (x \in J 0); last first.
      by rewrite mule0 lee_fin; rewrite /dens; case: ifP => // _; rewrite ltW // exp_gt0.
    rewrite inE /J /= in_itv /= add0r => /andP[x0 x1]. rewrite mule1 lee_fin /dens /q. have -> : one && ((x : RT) < 0) = false by rewrite ltNge x0 andbF. apply: exp_le.
    rewrite ler_opp2 subr0 ger0_norm //. by rewrite -[X in _ <= X]mulr1 ler_wpmul2l // ltW.
- apply: le_lt_trans sum_fin. rewrite -integral_nneseries //; last 2 first.
  + exact: mf.
  + by move=> n x _; exact: f_ge0.
  apply: ge0_le_integral => //.
  + by move=> x _; rewrite mule1 lee_fin; rewrite /dens; case: ifP => // _; rewrite ltW // exp_gt0.
  + exact: mdens.
  + by move=> x _; apply: nneseries_ge0 => n _; exact: f_ge0.
  + apply: ge0_emeasurable_fun_sum; [by move=> n x; exact: f_ge0|exact: mf].
  + by move=> x _; exact: dom.
Qed.
End Norm.
