(* Real Laplace noise is a noise in the sense of Model.v, with Lebesgue integrals and measurable functions. *)
From Coq Require Import Reals ZArith.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint interval finmap.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop mathcomp_extra.
From mathcomp.analysis Require Import signed reals ereal topology normedtype sequences real_interval esum measure lebesgue_measure numfun lebesgue_integral Rstruct.
From Symdipa.Core Require Import Model.
From Symdipa.Real Require Import RealShift.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Def Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Let RT := real_realType.
Let T := [the measurableType _ of measurableTypeR RT].

Lemma exp_D (x y : R) : exp (x + y) = exp x * exp y. Proof. exact: exp_plus. Qed.
Lemma exp_gt0 (x : R) : 0 < exp x. Proof. exact/RltP/exp_pos. Qed.
Lemma exp_le (x y : R) : x <= y -> exp x <= exp y.
Proof.
move=> /RleP [H|->]; last exact: lexx.
by apply/RleP; left; apply: exp_increasing.
Qed.
Lemma exp_measurable : @measurable_fun _ _ T T setT exp.
Proof.
apply: (@continuous_measurable_fun RT) => x. apply/continuity_pt_cvg.
exact: derivable_continuous_pt (derivable_pt_exp x).
Qed.

Let lapR := @lap RT exp.
Let norm one r := lapR one r 0 (cst 1%E).

Definition good (h : R -> R) := @measurable_fun _ _ T T setT h.
Definition good_set (B : R -> bool) := @measurable_fun _ _ T [the measurableType _ of bool : Type] setT B.
Definition goodS (F : store -> R) := forall d (X : measurableType d) (f : nat -> X -> T),
  (forall x, measurable_fun setT (f x)) -> @measurable_fun _ _ X T setT (fun w => F (fun x => f x w)).

Definition goodJ (g : store -> R -> R) := forall d (X : measurableType d) (f : nat -> X -> T) (h : X -> T),
  (forall x, measurable_fun setT (f x)) -> measurable_fun setT h -> @measurable_fun _ _ X T setT (fun w => g (fun x => f x w) (h w)).

Section MeasurableStep.
Variables (d : measure_display) (X : measurableType d) (f : nat -> X -> T) (h : X -> T).
Hypothesis mf : forall x, measurable_fun setT (f x).
Hypothesis mh : measurable_fun setT h.

Lemma le_bE (x y : R) : le_b x y = (x <= y).
Proof. rewrite /le_b. by case: Rle_dec => [/RleP ->|/RleP/negbTE ->]. Qed.
Lemma lt_bE (x y : R) : lt_b x y = (x < y).
Proof. rewrite /lt_b. by case: Rlt_dec => [/RltP ->|/RltP/negbTE ->]. Qed.

Let B := [the measurableType _ of bool : Type].

Lemma measurable_all (g : nat -> X -> bool) (l : list nat) : (forall x, @measurable_fun _ _ X B setT (g x)) ->
  @measurable_fun _ _ X B setT (fun w => List.forallb (fun x => g x w) l).
Proof.
move=> mg. elim: l => [|x l IH] /=; first exact: measurable_fun_cst.
exact: (@measurable_fun_ifT _ _ X B _ (cst false) (g x) (mg x) IH (@measurable_fun_cst _ _ X B setT false)).
Qed.

Lemma measurable_held p : @measurable_fun _ _ X T setT (fun w => held (fun x => f x w) (h w) p).
Proof. case: p => [||x] /=; [exact: measurable_fun_cst|exact: mh|exact: mf]. Qed.

Lemma measurable_value v : @measurable_fun _ _ X T setT (fun w => value (fun x => f x w) (h w) v).
Proof.
rewrite /value. case: (negative v).
- apply: (@measurable_funD _ X RT setT (fun w => - held (fun x => f x w) (h w) (whence v)) (cst (Q2R (plus v)))); last exact: measurable_fun_cst.
  exact: (@measurable_funN _ X RT setT _ (measurable_held (whence v))).
- apply: (@measurable_funD _ X RT setT (fun w => held (fun x => f x w) (h w) (whence v)) (cst (Q2R (plus v)))); last exact: measurable_fun_cst.
  exact: measurable_held.
Qed.

Lemma measurable_holds a : @measurable_fun _ _ X B setT (fun w => holds (fun x => f x w) (h w) a).
Proof.
rewrite /holds. case: (strict a).
- under eq_fun do rewrite lt_bE. exact: (measurable_ltb (measurable_value _) (measurable_value _)).
- under eq_fun do rewrite le_bE. exact: (measurable_leb (measurable_value _) (measurable_value _)).
Qed.

Lemma measurable_atoms (l : list atom) : @measurable_fun _ _ X B setT (fun w => List.forallb (holds (fun x => f x w) (h w)) l).
Proof.
elim: l => [|a l IH] /=; first exact: measurable_fun_cst.
exact: (@measurable_fun_ifT _ _ X B _ (cst false) _ (measurable_holds a) IH (@measurable_fun_cst _ _ X B setT false)).
Qed.

Lemma measurable_enabled t : @measurable_fun _ _ X B setT (fun w => enabled t (fun x => f x w) (h w)).
Proof.
rewrite /enabled.
apply: (@measurable_fun_ifT _ _ X B _ (cst false)); [|exact: measurable_atoms|exact: measurable_fun_cst].
apply: (@measurable_fun_ifT _ _ X B _ (cst false)); last exact: measurable_fun_cst.
- apply: measurable_all => x. under eq_fun do rewrite le_bE. exact: (measurable_leb (mf x) mh).
- apply: measurable_all => x. under eq_fun do rewrite lt_bE. exact: (measurable_ltb mh (mf x)).
Qed.

Lemma measurable_number a b (S : R -> bool) : good_set S ->
  @measurable_fun _ _ X T setT (fun w => ind (S (Rminus (value (fun x => f x w) (h w) a) (value (fun x => f x w) (h w) b)))).
Proof.
move=> mS.
apply: (@measurable_fun_ifT _ _ X T (cst (IZR 1)) (cst (IZR 0)) (fun w => S (Rminus (value (fun x => f x w) (h w) a) (value (fun x => f x w) (h w) b)))); [|exact: measurable_fun_cst|exact: measurable_fun_cst].
apply: (measurable_fun_comp mS).
exact: (@measurable_funB _ X RT setT (fun w => value (fun x => f x w) (h w) a) _ (measurable_value a) (measurable_value b)).
Qed.

Lemma measurable_step t (g : store -> R -> R) F (k : store -> R -> R) : goodJ g -> goodS F -> goodJ k ->
  @measurable_fun _ _ X T setT
    (fun w => if enabled t (fun x => f x w) (h w) then Rmult (g (fun x => f x w) (h w)) (F (upd (fun x => f x w) t (h w)))
              else k (fun x => f x w) (h w)).
Proof.
move=> mg mF mk. apply: measurable_fun_ifT; [exact: measurable_enabled| |exact: mk].
apply: (@measurable_funM _ X RT setT (fun w => g (fun x => f x w) (h w)) (fun w => F (upd (fun x => f x w) t (h w)))).
  exact: mg.
apply: (mF _ X (fun x w => upd (fun x => f x w) t (h w) x)) => x. rewrite /upd. case: (Model.mem _ _); first exact: mh.
by case: (lookup _ _) => [v|]; [exact: measurable_value|exact: mf].
Qed.
End MeasurableStep.

(* The numbers at a rational distance from 0, or from what is stored or its negative: countably many. *)
Definition ratio (c : nat * nat * bool) : QArith_base.Q := QArith_base.Qmake (if c.2 then Z.of_nat c.1.1 else Z.opp (Z.of_nat c.1.1)) (Pos.of_succ_nat c.1.2).
Lemma ratio_onto q : exists c, ratio c = q.
Proof.
case: q => z p. exists (Z.abs_nat z, Nat.pred (Pos.to_nat p), Z.leb 0 z). rewrite /ratio /=. congr QArith_base.Qmake; last first.
  by rewrite Pos.of_nat_succ (Nat.succ_pred_pos _ (Pos2Nat.is_pos p)) Pos2Nat.id.
rewrite Zabs2Nat.id_abs. case: Z.leb_spec => H; [exact: Z.abs_eq|rewrite Z.abs_neq ?Z.opp_involutive //; exact: Z.lt_le_incl].
Qed.
Definition distant (s : store) (c : option (bool * nat) * (nat * nat * bool)) : T :=
  let far := match c.1 with None => IZR 0 | Some (b, x) => if b then s x else Ropp (s x) end in Rplus far (Q2R (ratio c.2)).
Definition coded (n : nat) := odflt (None, (0%N, 0%N, false)) (@choice.unpickle [countType of (option (bool * nat) * (nat * nat * bool))%type] n).
Definition distances (s : store) : set T := (\bigcup_(n : nat) [set distant s (coded n)])%classic.
Lemma in_distances s c : distances s (distant s c).
Proof. exists (@choice.pickle [countType of (option (bool * nat) * (nat * nat * bool))%type] c) => //=. by rewrite /coded choice.pickleK. Qed.
Lemma less_more (x y : R) : y = Rplus x (Rminus y x). Proof. ring. Qed.
Lemma more_less (x y : R) : y = Rplus (Ropp x) (Rplus y x). Proof. ring. Qed.
Lemma free_distances s z : ~ distances s z -> free s z.
Proof.
move=> H. have G a q : z = Rplus (match a with None => IZR 0 | Some (b, x) => if b then s x else Ropp (s x) end) (Q2R q) -> False.
  move=> E. apply: H. rewrite E. have [c <-] := ratio_onto q. exact: (in_distances s (a, c)).
split=> [q E|x]; first by apply: (G None q); rewrite E Rplus_0_l.
by split=> q E; [apply: (G (Some (true, x)) q)|apply: (G (Some (false, x)) q)]; rewrite -E; [exact: less_more|exact: more_less].
Qed.
Lemma distances_null s : measurable (distances s) /\ leb (distances s) = 0%E.
Proof.
have mD n : measurable ([set distant s (coded n)] : set T) by exact: measurable_set1.
split; first exact: bigcup_measurable.
apply/eqP. rewrite eq_le measure_ge0 andbT.
apply: (@le_trans _ _ (\sum_(n <oo) leb [set distant s (coded n)])%E).
  apply: (@measure_sigma_sub_additive _ _ _ [the measure _ _ of @leb RT]) => //. exact: bigcup_measurable.
by rewrite eseries0 // => n _; rewrite /leb lebesgue_measure_set1.
Qed.

Section RealNoise.
Variable eps : R.
Hypothesis eps0 : 0 < eps.
(* The density can be normalised. *)
Hypothesis norm_fin : forall one r, 0 < r -> (0 < norm one r < +oo)%E.

(* The integral, normalised. *)
Definition mean (one : bool) (d m : R) (h : R -> R) : RT := fine (lapR one (eps * d) m (fun z => (h z)%:E)) * (fine (norm one (eps * d)))^-1.

Definition ELap (l : law) (d m : R) (h : R -> R) : R :=
  match l with
  | Exact => h m
  | Laplace => if Rlt_dec (IZR 0) d then mean false d m h else h m
  | Exponential => if Rlt_dec (IZR 0) d then mean true d m h else h m
  end.

(* Either the value at the mean, or the integral. *)
Lemma ELap_cases l d m : (forall h, ELap l d m h = h m) \/ exists one, Rlt (IZR 0) d /\ forall h, ELap l d m h = mean one d m h.
Proof.
rewrite /ELap. case: l; last by left.
- by case: Rlt_dec => d0; [right; exists false|left].
- by case: Rlt_dec => d0; [right; exists true|left].
Qed.

Lemma rate_gt0 d : Rlt (IZR 0) d -> 0 < eps * d. Proof. by move=> /RltP d0; apply: mulr_gt0. Qed.

Lemma norm_gt0 (one : bool) d : Rlt (IZR 0) d -> 0 < fine (norm one (eps * d)).
Proof. move=> /rate_gt0 /(norm_fin one) H. exact: fine_gt0. Qed.

Lemma unitE h : unit_fun h -> forall z, 0 <= h z <= 1.
Proof. move=> U z. by case: (U z) => /RleP -> /RleP ->. Qed.

Lemma mE h : good h -> measurable_fun setT (fun z : T => (h z)%:E).
Proof. move=> mh. exact: (proj2 (@EFin_measurable_fun _ T RT setT h)). Qed.

Lemma one_mE : @measurable_fun _ _ T _ setT (cst 1%E : T -> \bar RT). Proof. exact: measurable_fun_cst. Qed.

Lemma lapR_ge0 (one : bool) r m h : unit_fun h -> (0 <= lapR one r m (fun z => (h z)%:E))%E.
Proof. move=> /unitE U. apply: (lap_ge0 exp_gt0) => x. by rewrite lee_fin; case/andP: (U x). Qed.

Lemma lapR_fin (one : bool) d m h : Rlt (IZR 0) d -> good h -> unit_fun h -> lapR one (eps * d) m (fun z => (h z)%:E) \is a fin_num.
Proof.
move=> d0 mh Uh. rewrite ge0_fin_numE; last exact: lapR_ge0.
apply: le_lt_trans (_ : (norm one (eps * d) < +oo)%E); last by case/andP: (norm_fin one (rate_gt0 d0)).
rewrite /norm /lapR -(lap_norm exp_gt0 exp_measurable _ _ m). have U := unitE Uh.
apply: (lap_mono exp_gt0 exp_measurable _ _ _ _ (distances_null (fun _ => IZR 0))).
- exact: mE.
- exact: one_mE.
- by move=> x; rewrite lee_fin; case/andP: (U x).
- by move=> x; rewrite lee_fin.
- by move=> x _; right; rewrite lee_fin; case/andP: (U x).
Qed.

Lemma ELap_const l d m c : (Rle (IZR 0) c /\ Rle c (IZR 1)) -> ELap l d m (fun _ => c) = c.
Proof.
move=> [/RleP c0 _]. case: (ELap_cases l d m) => [->//|[one [d0 ->]]]. rewrite /mean.
have -> : (fun _ : T => c%:E) = (fun z : T => (c%:E * cst 1%E z)%E) by apply/funext => z; rewrite mule1.
have one0 (x : T) : (0 <= cst 1%E x :> \bar RT)%E by rewrite /= lee_fin.
have Sc := @lap_scale RT exp exp_gt0 exp_measurable one (eps * d) m (cst 1%E) one_mE one0 c c0.
rewrite /lapR Sc (lap_norm exp_gt0 exp_measurable) -/(norm one _). have N := norm_fin one (rate_gt0 d0).
have Nf : norm one (eps * d) \is a fin_num.
  case/andP: N => N0 N1. by rewrite ge0_fin_numE // ltW.
rewrite fineM //= mulfK //. by rewrite gt_eqF // norm_gt0.
Qed.

(* Samples are typical, but for countably many. *)
Lemma supported_dens one d (m z : R) : Rlt (IZR 0) d -> ~ supported (if one then Exponential else Laplace) m z -> @dens RT exp one (eps * d) m z = 0.
Proof. case: one => //= _ H. rewrite /dens /=. case: ifP => // /negbT. rewrite -leNgt => /RleP H'. by case: H. Qed.

Lemma ELap_mono l d m s h h' : good h -> good h' -> unit_fun h -> unit_fun h' ->
  (forall z, typical True (fun _ => True) l d m s z -> Rle (h z) (h' z)) -> Rle (ELap l d m h) (ELap l d m h').
Proof.
move=> mh mh' U U' H.
have At : ~ (l <> Exact /\ Rlt (IZR 0) d) -> Rle (h m) (h' m).
  move=> Nl. apply: H; split; first by case: (l) => //=; exact: Rle_refl.
  by split=> // _ l1 l2; case: Nl.
have Int one : l = (if one then Exponential else Laplace) -> Rlt (IZR 0) d -> Rle (mean one d m h) (mean one d m h').
  move=> El d0. rewrite /mean. apply/RleP.
  have V := unitE U. have V' := unitE U'.
  have F := lapR_fin one m d0 mh U. have F' := lapR_fin one m d0 mh' U'.
  have L : (lapR one (eps * d) m (fun z => (h z)%:E) <= lapR one (eps * d) m (fun z => (h' z)%:E))%E.
    apply: (lap_mono exp_gt0 exp_measurable _ _ _ _ (distances_null s)).
    - exact: mE.
    - exact: mE.
    - by move=> x; rewrite lee_fin; case/andP: (V x).
    - by move=> x; rewrite lee_fin; case/andP: (V' x).
    - move=> x nx. have [Su|Su] := pselect (supported l m x); [right|left].
        by rewrite lee_fin; apply/RleP/H; split=> //; split=> // _ _ _; exact: free_distances.
      by apply: supported_dens => //; rewrite -El.
  rewrite ler_pmul2r ?invr_gt0 ?norm_gt0 //. exact: fine_le.
move: At Int. rewrite /ELap. case: l H => H At Int.
- case: Rlt_dec => [d1|nd]; [exact: (Int false)|by apply: At => -[]].
- case: Rlt_dec => [d1|nd]; [exact: (Int true)|by apply: At => -[]].
- by apply: At => -[].
Qed.

Lemma ELap_plus l d m h h' : good h -> good h' -> unit_fun h -> unit_fun h' -> unit_fun (fun z => Rplus (h z) (h' z)) ->
  ELap l d m (fun z => Rplus (h z) (h' z)) = Rplus (ELap l d m h) (ELap l d m h').
Proof.
move=> mh mh' U U' _. case: (ELap_cases l d m) => [E|[one [d0 E]]]; rewrite !E // /mean.
have V := unitE U. have V' := unitE U'.
have F := lapR_fin one m d0 mh U. have F' := lapR_fin one m d0 mh' U'.
have V0 (x : T) : (0 <= (h x)%:E :> \bar RT)%E by rewrite lee_fin; case/andP: (V x).
have V0' (x : T) : (0 <= (h' x)%:E :> \bar RT)%E by rewrite lee_fin; case/andP: (V' x).
have L := @lap_add RT exp exp_gt0 exp_measurable one (eps * d) m _ _ (mE mh) (mE mh') V0 V0'.
have -> : lapR one (eps * d) m (fun z => (Rplus (h z) (h' z))%:E) = (lapR one (eps * d) m (fun z => (h z)%:E) + lapR one (eps * d) m (fun z => (h' z)%:E))%E by exact: L.
by rewrite fineD // mulrDl.
Qed.

Lemma lapR_shift (one : bool) d m s delta K h h' : Rlt (IZR 0) d -> (one -> Rle s delta) -> Rle (IZR 0) K -> good h -> good h' -> unit_fun h -> unit_fun h' ->
  (forall z, Rle (h z) (Rmult K (h' (Rminus z s)))) ->
  Rle (mean one d m h) (Rmult (Rmult K (exp (Rmult eps (Rmult d (Rabs (Rminus s delta)))))) (mean one d (Rminus m delta) h')).
Proof.
move=> d0 sd /RleP K0 mh mh' U U' H. apply/RleP. rewrite /mean.
have N := norm_gt0 one d0. have V := unitE U. have V' := unitE U'.
have L : (lapR one (eps * d) m (fun z => (h z)%:E) <= (K * exp (eps * d * `|s - delta|))%:E * lapR one (eps * d) (m - delta) (fun z => (h' z)%:E))%E.
  apply: (lap_shift exp_D exp_gt0 exp_le exp_measurable) => //.
  - exact/ltW/rate_gt0.
  - by move=> /sd /RleP.
  - exact: mE.
  - exact: mE.
  - by move=> x; rewrite lee_fin; case/andP: (V x).
  - by move=> x; rewrite lee_fin; case/andP: (V' x).
  - move=> x. rewrite lee_fin. apply/RleP. have := H (move s x). by rewrite /move RminusE addrK.
have F := lapR_fin one m d0 mh U. have F' := lapR_fin one (m - delta) d0 mh' U'.
have -> : exp (Rmult eps (Rmult d (Rabs (Rminus s delta)))) = exp (eps * d * `|s - delta|).
  exact: (f_equal exp (esym (Rmult_assoc eps d (Rabs (Rminus s delta))))).
rewrite !RmultE !RminusE mulrA. rewrite ler_pmul2r; last by rewrite invr_gt0.
by rewrite -lee_fin fineK // EFinM fineK.
Qed.

Lemma ELap_shift l d m s delta K h h' : live l d -> allowed l (Rminus s delta) -> Rle (IZR 0) K -> good h -> good h' -> unit_fun h -> unit_fun h' ->
  (forall z, Rle (h z) (Rmult K (h' (Rminus z s)))) ->
  Rle (ELap l d m h) (Rmult (Rmult K (exp (Rmult eps (Rmult d (Rabs (Rminus s delta)))))) (ELap l d (Rminus m delta) h')).
Proof.
case: l => /= d0 al K0 mh mh' U U' H.
- case: Rlt_dec => [d1|nd0]; last by case: (nd0 d0). exact: (@lapR_shift false d m s delta K h h' d0 (fun e => False_ind _ (Bool.diff_false_true e)) K0 mh mh' U U' H).
- case: Rlt_dec => [d1|nd0]; last by case: (nd0 d0). have sd : is_true true -> Rle s delta.
    by move=> _; have := Rplus_le_compat_r delta _ _ al; rewrite Rplus_0_l /Rminus Rplus_assoc Rplus_opp_l Rplus_0_r.
  exact: (@lapR_shift true d m s delta K h h' d0 sd K0 mh mh' U U' H).
- have -> : Rminus m delta = Rminus m s by rewrite -(Rminus_diag_uniq _ _ al).
  by rewrite al Rabs_R0 !Rmult_0_r exp_0 Rmult_1_r.
Qed.

Lemma goodS_EE l d m g : goodJ g -> (forall s, unit_fun (g s)) -> goodS (fun s => ELap l d m (g s)).
Proof.
move=> mg Ug dd X f mf.
have Point : @measurable_fun _ _ X T setT (fun w => g (fun x => f x w) m).
  by apply: (mg _ X f (cst m)) => //; exact: measurable_fun_cst.
have Int one : @measurable_fun _ _ X T setT (fun w => mean one d m (g (fun x => f x w))).
  pose P := [the measurableType _ of (X * T)%type].
  have [mfst msnd] : @measurable_fun _ _ P X setT fst /\ @measurable_fun _ _ P T setT snd.
    have /prod_measurable_funP := @measurable_fun_id _ P setT. by [].
  pose Psi := fun p : X * T => g (fun x => f x p.1) p.2.
  have mPsi : @measurable_fun _ _ P T setT Psi.
    apply: (mg _ P (fun x p => f x p.1) snd) => // x.
    exact: (measurable_fun_comp (mf x) mfst).
  have Psi0 p : 0 <= Psi p by case/andP: (unitE (Ug (fun x => f x p.1)) p.2).
  have H := @lap_measurable RT exp exp_gt0 exp_measurable one _ X (eps * d) m Psi mPsi Psi0.
  have H' : @measurable_fun _ _ X T setT (fun w => fine (lapR one (eps * d) m (fun z => (Psi (w, z))%:E))).
    exact: (measurable_fun_comp (@measurable_fun_fine RT setT measurableT) H).
  apply: (@measurable_funM _ X RT setT (fun w => fine (lapR one (eps * d) m (fun z => (Psi (w, z))%:E))) (cst (fine (norm one (eps * d)))^-1)) => //.
  exact: measurable_fun_cst.
case: (ELap_cases l d m) => [E|[one [_ E]]].
- by have -> : (fun w => ELap l d m (g (fun x => f x w))) = (fun w => g (fun x => f x w) m) by apply/funext => w; rewrite E.
- by have -> : (fun w => ELap l d m (g (fun x => f x w))) = (fun w => mean one d m (g (fun x => f x w))) by apply/funext => w; rewrite E.
Qed.

Definition real_laplace : noise eps.
Proof.
refine (@Build_noise eps ELap True (fun _ => True) I (fun _ _ => I) (fun _ _ _ _ => I) good goodS goodJ good_set _ _ _ _ _ _ _ _ _ _ _ _ _ _ _).
- move=> c. exact: measurable_fun_cst.
- move=> h h' H. by have -> : h' = h by apply/funext => z; rewrite H.
- move=> h h' mh mh'. exact: (@measurable_funD _ T RT setT h h').
- move=> B mB. exact: (@measurable_fun_ifT _ _ T T (cst (IZR 1)) (cst (IZR 0)) B mB (@measurable_fun_cst _ _ T T setT _) (@measurable_fun_cst _ _ T T setT _)).
- move=> g s mg. apply: (mg _ T (fun x => cst (s x)) id) => [x|]; [exact: measurable_fun_cst|exact: measurable_fun_id].
- move=> c dd X f mf. exact: measurable_fun_cst.
- move=> c dd X f h mf mh. exact: measurable_fun_cst.
- move=> g h mg mh dd X f k mf mk. apply: (@measurable_funM _ X RT setT (fun w => g (fun x => f x w) (k w)) (fun w => h (fun x => f x w) (k w))); [exact: mg|exact: mh].
- move=> a b B mB dd X f h mf mh. exact: measurable_number.
- move=> t g F k mg mF mk dd X f h mf mh. exact: (@measurable_step _ X f h mf mh t g F k mg mF mk).
- exact: goodS_EE.
- exact: ELap_const.
- exact: ELap_mono.
- exact: ELap_plus.
- move=> l d m s delta K h h' d0 al _ _. exact: ELap_shift.
Defined.
End RealNoise.

(* Closed intervals are among the sets in which real outputs may be observed. *)
Lemma interval_good (lo hi : R) : good_set (fun z => le_b lo z && le_b z hi).
Proof.
have -> : (fun z => le_b lo z && le_b z hi) = (fun z : R => if lo <= z then z <= hi else false).
  by apply/funext => z; rewrite !le_bE; case: (lo <= z).
apply: (@measurable_fun_ifT _ _ T _ _ (cst false)); last exact: measurable_fun_cst.
- exact: (@measurable_leb RT _ T (cst lo) id (@measurable_fun_cst _ _ T T setT lo) (@measurable_fun_id _ T setT)).
- exact: (@measurable_leb RT _ T id (cst hi) (@measurable_fun_id _ T setT) (@measurable_fun_cst _ _ T T setT hi)).
Qed.
