(* Real Laplace noise with Lebesgue integrals (mathcomp-analysis 0.6.0): the integral is invariant under shifts,
   and the (unnormalised) Laplace operator satisfies the shift inequality on measurable functions. *)
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval finmap.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop mathcomp_extra.
From mathcomp.analysis Require Import signed reals ereal topology normedtype sequences real_interval esum measure lebesgue_measure numfun lebesgue_integral exp.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

From HB Require Import structures.

(* The Lebesgue measure on the default sigma-algebra of R (in 0.6.0 it lives on one of another name). *)
Section Leb.
Variable R : realType.
Let T := [the measurableType _ of measurableTypeR R].
Definition leb (X : set T) : \bar R := @lebesgue_measure R X.
Let leb0 : leb set0 = 0%E. Proof. exact: (@measure0 _ _ _ [the measure _ _ of @lebesgue_measure R]). Qed.
Let leb_ge0 X : (0 <= leb X)%E. Proof. exact: (@measure_ge0 _ _ _ [the measure _ _ of @lebesgue_measure R]). Qed.
Let leb_sigma : @semi_sigma_additive _ R T leb.
Proof.
move=> F mF tF mUF.
exact: (@measure_semi_sigma_additive _ _ _ [the measure _ _ of @lebesgue_measure R] F mF tF mUF).
Qed.
HB.instance Definition _ := isMeasure.Build _ R T leb leb0 leb_ge0 leb_sigma.
End Leb.

Section Shift.
Variable R : realType.
(* The exponential function: any measurable one will do, so that it can be that of Coq's standard library. *)
Variable ex : R -> R.
Hypothesis exD : forall x y, ex (x + y) = ex x * ex y.
Hypothesis ex_gt0 : forall x, 0 < ex x.
Hypothesis ex_le : forall x y, x <= y -> ex x <= ex y.
Let T := [the measurableType _ of measurableTypeR R].
Let mu : {measure set T -> \bar R} := [the measure _ _ of @leb R].
Hypothesis ex_measurable : @measurable_fun _ _ T T setT ex.

Definition move (s : R) : T -> T := fun x : R => x + s.

Lemma measurable_move s : measurable_fun setT (move s).
Proof. exact: (@measurable_funD _ T R setT (fun x => x) (cst s) (@measurable_fun_id _ T setT) (@measurable_fun_cst _ _ T T setT s)). Qed.

Let G := @measure_salgebraType__canonical__measure_Measurable
  (semiRingOfSets_ptType (lebesgue_measure_ocitv_type__canonical__measure_SemiRingOfSets R)) (R.-ocitv.-measurable).
Let lebG : {measure set G -> \bar R} := [the measure _ _ of @lebesgue_measure R].
Lemma measurable_move_G s : @measurable_fun _ _ G G setT (move s).
Proof. exact: (measurable_move s). Qed.

Lemma move_measure s (X : set T) : measurable X -> mu X = pushforward mu (measurable_move s) X.
Proof.
move=> mX.
have U := @lebesgue_measure_unique R [the {measure set G -> \bar R} of pushforward lebG (measurable_move_G s)].
apply: (U _ X mX) => Y [[a b] _ <-] /=.
rewrite /pushforward /=.
have -> : move s @^-1` [set` `]a, b]] = [set` `]a - s, b - s]].
  by rewrite predeqE => x; split; rewrite /move /= !in_itv /= ltr_subl_addr ler_subr_addr.
rewrite lebesgue_measure_itv !hlength_itv /= !lte_fin ltr_add2r.
by case: ifP => // _; rewrite -!EFinB opprB addrA subrK.
Qed.

Lemma integral_move s (f : T -> \bar R) : measurable_fun setT f -> (forall y, (0 <= f y)%E) ->
  (\int[mu]_x f (move s x) = \int[mu]_x f x)%E.
Proof.
move=> mf f0. rewrite -[LHS](integral_pushforward (measurable_move s) mu mf f0).
apply: eq_measure_integral => A mA _. by rewrite (move_measure s mA).
Qed.

Lemma measurable_leb d (X : measurableType d) (f g : X -> T) : measurable_fun setT f -> measurable_fun setT g ->
  measurable_fun setT (fun w => ((f w : R) <= (g w : R))%R).
Proof.
move=> mf mg. apply: (@measurable_fun_bool _ _ _ _ true).
have mgf : @measurable_fun _ _ X T setT (fun w => (g w : R) - (f w : R)) by exact: (@measurable_funB _ X R setT g f mg mf).
have := mgf measurableT [set` `[0, +oo[] (measurable_itv _). rewrite setTI.
congr (measurable _). rewrite predeqE => w /=. rewrite in_itv /= andbT subr_ge0. by split => [->|].
Qed.

Lemma measurable_ltb d (X : measurableType d) (f g : X -> T) : measurable_fun setT f -> measurable_fun setT g ->
  measurable_fun setT (fun w => ((f w : R) < (g w : R))%R).
Proof.
move=> mf mg. apply: (@measurable_fun_bool _ _ _ _ true).
have mgf : @measurable_fun _ _ X T setT (fun w => (g w : R) - (f w : R)) by exact: (@measurable_funB _ X R setT g f mg mf).
have := mgf measurableT [set` `]0, +oo[] (measurable_itv _). rewrite setTI.
congr (measurable _). rewrite predeqE => w /=. rewrite in_itv /= andbT subr_gt0. by split => [->|].
Qed.

(* The density with rate r around m, or above m only, without its constant. *)
Definition dens (one : bool) (r m : R) : T -> R := fun x : R => if one && (x < m) then 0 else ex (- (r * `|x - m|)).

Lemma measurable_dens (one : bool) r m : @measurable_fun _ _ T T setT (dens one r m).
Proof.
have mn : @measurable_fun _ _ T T setT (@normr R R) by exact: measurable_fun_normr.
apply: (@measurable_fun_ifT _ _ T T _ _ (fun x : T => one && ((x : R) < m))).
- case: one => /=; last exact: measurable_fun_cst.
  exact: (@measurable_ltb _ T id (cst m) (@measurable_fun_id _ T setT) (@measurable_fun_cst _ _ T T setT m)).
- exact: measurable_fun_cst.
- apply: (measurable_fun_comp ex_measurable).
  apply: (@measurable_funN _ T R setT (fun x : T => r * `|x - m|)).
  apply: (@measurable_funrM _ T R setT (fun x : T => `|x - m|)).
  exact: (measurable_fun_comp mn (measurable_move (- m))).
Qed.

Definition lap (one : bool) (r m : R) (h : T -> \bar R) : \bar R := (\int[mu]_x ((dens one r m x)%:E * h x))%E.

Lemma dens_ge0 (one : bool) r m x : 0 <= dens one r m x.
Proof. by rewrite /dens; case: ifP => // _; exact/ltW/ex_gt0. Qed.

Lemma dens_shift (one : bool) r m s delta (x : R) : 0 <= r -> (one -> s <= delta) ->
  dens one r m (move s x) <= ex (r * `|s - delta|) * dens one r (m - delta) x.
Proof.
move=> r0 sd; rewrite /dens /move. case: ifP => [_|/negbT C].
  by apply: mulr_ge0; [exact/ltW/ex_gt0|case: ifP => // _; exact/ltW/ex_gt0].
have -> : one && (x < m - delta) = false.
  apply/negbTE; move: C sd; case: one => //=; rewrite -!leNgt => C /(_ isT) sd.
  by rewrite ler_subl_addr (le_trans C) // ler_add2l.
rewrite -exD; apply: ex_le; rewrite ler_subr_addr addrC ler_subl_addr -mulrDr.
apply: ler_wpmul2l => //.
have -> : x - (m - delta) = (x + s - m) - (s - delta).
  by rewrite !opprB -!addrA; congr (_ + _); rewrite [s + _]addrC -!addrA addNr addr0 addrC.
by rewrite (le_trans (ler_norm_sub _ _)) // addrC.
Qed.

Lemma lap_shift (one : bool) r m s delta (K : R) (h h' : T -> \bar R) : 0 <= r -> (one -> s <= delta) -> 0 <= K ->
  measurable_fun setT h -> measurable_fun setT h' ->
  (forall x, (0 <= h x)%E) -> (forall x, (0 <= h' x)%E) ->
  (forall x, (h (move s x) <= K%:E * h' x)%E) ->
  (lap one r m h <= (K * ex (r * `|s - delta|))%:E * lap one r (m - delta) h')%E.
Proof.
move=> r0 sd K0 mh mh' h0 h'0 H.
have md k : measurable_fun setT (fun x : T => (dens one r k x)%:E).
  by apply: (proj2 (@EFin_measurable_fun _ T R setT (dens one r k))); exact: measurable_dens.
have d0 k x : (0 <= (dens one r k x)%:E)%E by rewrite lee_fin dens_ge0.
rewrite /lap -(integral_move s); last 2 first.
- exact: emeasurable_funM.
- by move=> y; apply: mule_ge0.
rewrite -ge0_integralM //; last 3 first.
- exact: emeasurable_funM.
- by move=> x _; apply: mule_ge0.
- by rewrite lee_fin mulr_ge0 // ltW // ex_gt0.
apply: ge0_le_integral => //.
- by move=> x _; apply: mule_ge0.
- have := @measurable_fun_comp _ _ _ _ _ _ (fun x => ((dens one r m x)%:E * h x)%E) setT (move s).
  by apply; [exact: emeasurable_funM|exact: measurable_move].
- by move=> x _; apply: mule_ge0; [rewrite lee_fin mulr_ge0 // ltW // ex_gt0|apply: mule_ge0].
- by apply: emeasurable_funM; [exact: measurable_fun_cst|exact: emeasurable_funM].
- move=> x _.
  apply: (@le_trans _ _ ((ex (r * `|s - delta|) * dens one r (m - delta) x)%:E * (K%:E * h' x))%E).
    apply: lee_pmul; [exact: d0|exact: h0|by rewrite lee_fin dens_shift|exact: H].
  by rewrite !EFinM muleACA (muleC (ex _)%:E).
Qed.

(* ---- measurability in the stored values: the step operator maps measurable functions of stores to such ---- *)

Lemma sigma_finite_mu : sigma_finite setT mu.
Proof.
have [F FT mF] := hlength_sigma_finite R.
exists F => // n; have [mFn Fn] := mF n; move: Fn; have [[a b] _ <-] := mFn => Fn; split.
  exact: measurable_itv.
rewrite /mu /= /leb lebesgue_measure_itv. exact: Fn.
Qed.

(* The integral over the sample of a jointly measurable function is measurable in the rest. *)
Lemma lap_measurable (one : bool) d (X : measurableType d) r m (Psi : X * T -> R) :
  @measurable_fun _ _ [the measurableType _ of (X * T)%type] T setT Psi -> (forall p, 0 <= Psi p) ->
  measurable_fun setT (fun w : X => lap one r m (fun z => (Psi (w, z))%:E)).
Proof.
move=> mPsi Psi0.
pose P := [the measurableType _ of (X * T)%type].
have [mfst msnd] : @measurable_fun _ _ P X setT fst /\ @measurable_fun _ _ P T setT snd.
  have /prod_measurable_funP := @measurable_fun_id _ P setT. by [].
pose Phi := fun p : X * T => ((dens one r m p.2)%:E * (Psi p)%:E)%E.
have mPhi : @measurable_fun _ _ P _ setT Phi.
  apply: emeasurable_funM; apply: (proj2 (@EFin_measurable_fun _ P R setT _)); last exact: mPsi.
  exact: (measurable_fun_comp (measurable_dens one r m) msnd).
have Phi0 p : (0 <= Phi p)%E by apply: mule_ge0; rewrite lee_fin ?dens_ge0.
have H := @measurable_fun_fubini_tonelli_F _ _ X T R mu sigma_finite_mu Phi mPhi Phi0.
have -> : (fun w : X => lap one r m (fun z => (Psi (w, z))%:E)) = fubini_F mu Phi.
  by apply/funext => w; rewrite /fubini_F /lap; apply: eq_integral.
exact: H.
Qed.

Section Algebra.
Variables (one : bool) (r m : R) (h h' : T -> \bar R).
Hypothesis mh : measurable_fun setT h.
Hypothesis mh' : measurable_fun setT h'.
Hypothesis h0 : forall x, (0 <= h x)%E.
Hypothesis h'0 : forall x, (0 <= h' x)%E.
Let md : measurable_fun setT (fun x : T => (dens one r m x)%:E).
Proof. by apply: (proj2 (@EFin_measurable_fun _ T R setT (dens one r m))); exact: measurable_dens. Qed.
Let d0 x : (0 <= (dens one r m x)%:E)%E. Proof. by rewrite lee_fin dens_ge0. Qed.

Lemma lap_ge0 : (0 <= lap one r m h)%E.
Proof. by apply: integral_ge0 => x _; apply: mule_ge0. Qed.

(* What happens in a set of measure 0, or where there is no density, does not matter. *)
Lemma lap_mono (S : set T) : measurable S /\ mu S = 0%E ->
  (forall x, ~ S x -> dens one r m x = 0 \/ (h x <= h' x)%E) -> (lap one r m h <= lap one r m h')%E.
Proof.
move=> [mS S0] H.
have mm k : measurable_fun setT k -> measurable_fun setT (fun x : T => ((dens one r m x)%:E * k x)%E) by move=> mk; exact: emeasurable_funM.
have Out k : measurable_fun setT k -> (forall x, (0 <= k x)%E) ->
    (lap one r m k = \int[mu]_(x in ~` S) ((dens one r m x)%:E * k x))%E.
  move=> mk k0. rewrite /lap -setTD. apply: (negligible_integral mS measurableT (mm k mk)) => // x _. exact: mule_ge0.
rewrite !Out //. apply: ge0_le_integral => //.
- exact: measurableC.
- by move=> x _; apply: mule_ge0.
- exact: measurable_funS (mm _ mh).
- by move=> x _; apply: mule_ge0.
- exact: measurable_funS (mm _ mh').
- move=> x nx. case: (H x nx) => [->|L]; [by rewrite !mul0e|exact: lee_pmul].
Qed.

Lemma lap_add : lap one r m (fun x => (h x + h' x)%E) = (lap one r m h + lap one r m h')%E.
Proof.
rewrite /lap -ge0_integralD //; last first.
- exact: emeasurable_funM.
- by move=> x _; apply: mule_ge0.
- exact: emeasurable_funM.
- by move=> x _; apply: mule_ge0.
by apply: eq_integral => x _; rewrite ge0_muleDr.
Qed.

Lemma lap_scale c : 0 <= c -> lap one r m (fun x => (c%:E * h x)%E) = (c%:E * lap one r m h)%E.
Proof.
move=> c0. rewrite /lap -ge0_integralM //; last 2 first.
- exact: emeasurable_funM.
- by move=> x _; apply: mule_ge0.
by apply: eq_integral => x _; rewrite muleCA.
Qed.
End Algebra.

Lemma lap_norm (one : bool) r m : lap one r m (cst 1%E) = lap one r 0 (cst 1%E).
Proof.
have md k : measurable_fun setT (fun x : T => (dens one r k x)%:E).
  by apply: (proj2 (@EFin_measurable_fun _ T R setT (dens one r k))); exact: measurable_dens.
rewrite /lap -(integral_move m).
- apply: eq_integral => x _; rewrite /dens /move addrK subr0. by rewrite -ltr_subr_addr subrr.
- by apply: emeasurable_funM => //; exact: measurable_fun_cst.
- by move=> y; apply: mule_ge0; rewrite ?lee_fin ?dens_ge0.
Qed.
End Shift.
