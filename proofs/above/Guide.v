(* A path along which intervals of shifts and potentials are given has shifts that cost no more; a path with shifts has a
   probability that their cost bounds; and means of shifts are shifts for means of differences. *)
From Coq Require Import Reals QArith Qreals List Bool Arith Lra Lia FunctionalExtensionality.
From Symdipa.Core Require Import Model Lookup Checker.
From Symdipa.Above Require Import Paths Facts Cover Ways.
Import ListNotations.
Open Scope R_scope.

Section Guide.
Context {eps : R} (Heps : 0 < eps) (N : noise eps) (g : grade) (A : automaton) (H0 : hints) (c : claim).
Hypothesis factors_ok : forall q x, factor_ok g q = true -> ok N x -> ok N (Q2R q * x).
Hypothesis okq_ok : forall q, shift_ok g q = true -> ok N (Q2R q).
Hypothesis smooth_ok : smooth g = true -> atomless N.
Hypothesis HM : check_model g A (plain A H0) = true.
Local Notation V := (plain A H0).
Local Notation P := (Pp N A).

Let kl := Q2R (c_sens c * c_low c).
Let kh := Q2R (c_sens c * c_high c).

(* ---- Shifts for a path ---- *)

(* Guards and numbers shown are respected, and the noise allows the shift. *)
Definition fair (i : nat) (sg : nat -> R) (sh D : R) : Prop :=
  let t := tr A i in
  let s := st A (src t) in
  ok N sh /\
  (forall x, In x (t_ge t) -> sh <= sg x) /\ (forall x, In x (t_lt t) -> sg x <= sh) /\
  (forall a b, In (a, b) (asked t) -> shift sg sh b <= shift sg sh a) /\
  (uses t = true -> allowed (law_of s) (sh - D)) /\ (shows_other t = true -> allowed (law_of' s) (0 - D)).

(* So is all that holds whenever the transition is taken. *)
Lemma fair_sure i sg sh e : fair i sg sh (input A (src (tr A i)) e) -> respects (sure g V (tr A i)) sg sh.
Proof.
  intros (_ & Ge & Lt & As & Al & _) k Hk. unfold sure in Hk. apply in_app_or in Hk as [Hk|Hk].
  - apply in_map_iff in Hk as (k' & <- & Hk). cbn [stricter low high]. unfold atoms in Hk. rewrite !in_app_iff, !in_map_iff in Hk.
    destruct Hk as [(x & <- & Hk)|[(x & <- & Hk)|Hk]].
    + specialize (Ge x Hk). unfold shift, value. cbn. lra.
    + specialize (Lt x Hk). unfold shift, value. cbn. lra.
    + apply As. unfold asked. apply in_or_app. left. apply in_map_iff. eauto.
  - unfold support in Hk. cbn [st_of plain] in Hk. destruct (reads (st A (src (tr A i)))) eqn:Rd; [easy|].
    destruct (factors (st A (src (tr A i)))) eqn:Fa; [|easy]. destruct (uses (tr A i)); [|easy]. cbn [orb negb nonempty] in Hk.
    specialize (Al eq_refl). unfold input, entry in Al. rewrite Rd, Fa in Al. cbn [weighed fold_right] in Al. unfold allowed in Al.
    destruct (law_of (st A (src (tr A i)))); simpl in Hk; [easy| |];
    [destruct Hk as [<-|[]]|destruct Hk as [<-|[<-|[]]]]; unfold shift, value; simpl; lra.
Qed.

Definition price (i : nat) (sh D : R) : R :=
  (if uses (tr A i) then Q2R (d (st A (src (tr A i)))) * Rabs (sh - D) else 0) + Q2R (rel V (tr A i)) * Rabs D.

(* Along a path, with differences e of what is given, stored values shifted by sg: some shifts cost at most K. *)
Fixpoint shifted (sg : nat -> R) (p : list nat) (e : feed) (K : R) : Prop :=
  match p with
  | [] => 0 <= K
  | i :: p' => let q := src (tr A i) in
    exists sh K', fair i sg sh (input A q e) /\ price i sh (input A q e) + K' <= K /\
                  shifted (carried (tr A i) sg sh) p' (rest A q i e) K'
  end.

Lemma shifted_more p sg e K K' : shifted sg p e K -> K <= K' -> shifted sg p e K'.
Proof.
  destruct p as [|i p]; cbn [shifted]; [lra|]. cbv zeta. intros (sh & K1 & F & C & S) H. exists sh, K1. split; [easy|]. split; [lra|easy].
Qed.

(* ---- Means of shifts ---- *)

Lemma value_mixed la sg sg' sh sh' v : shift (mixed la sg sg') (la * sh + (1 - la) * sh') v = la * shift sg sh v + (1 - la) * shift sg' sh' v.
Proof. unfold shift, value, mixed. destruct (negative v), (whence v); simpl; ring. Qed.
Lemma carried_mixed t la sg sg' sh sh' :
  carried t (mixed la sg sg') (la * sh + (1 - la) * sh') = mixed la (carried t sg sh) (carried t sg' sh').
Proof.
  apply functional_extensionality. intros x. unfold carried. unfold mixed at 3. destruct (mem x (asg t)); [easy|].
  destruct (lookup x (copies t)); [apply value_mixed|easy].
Qed.
Lemma mean_le la x y x' y' : 0 <= la <= 1 -> x <= y -> x' <= y' -> la * x + (1 - la) * x' <= la * y + (1 - la) * y'.
Proof. intros [] ? ?. apply Rplus_le_compat; apply Rmult_le_compat_l; lra. Qed.
Lemma allowed_mixed l la u u' : 0 <= la <= 1 -> allowed l u -> allowed l u' -> allowed l (la * u + (1 - la) * u').
Proof.
  intros Hla. destruct l; simpl; auto.
  - intros H H'. pose proof (mean_le la u 0 u' 0 Hla H H'). lra.
  - intros -> ->. ring.
Qed.
Lemma abs_mixed la u u' : 0 <= la <= 1 -> Rabs (la * u + (1 - la) * u') <= la * Rabs u + (1 - la) * Rabs u'.
Proof.
  intros Hla. eapply Rle_trans; [apply Rabs_triang|].
  rewrite !Rabs_mult, (Rabs_right la ltac:(lra)), (Rabs_right (1 - la) ltac:(lra)). lra.
Qed.
(* A scale is positive, or multiplies 0. *)
Lemma scaled_mixed l dd la u u' : 0 <= la <= 1 -> live l dd -> allowed l u -> allowed l u' ->
  dd * Rabs (la * u + (1 - la) * u') <= la * (dd * Rabs u) + (1 - la) * (dd * Rabs u').
Proof.
  intros Hla. pose proof (abs_mixed la u u' Hla) as B.
  assert (Pos : 0 <= dd -> dd * Rabs (la * u + (1 - la) * u') <= la * (dd * Rabs u) + (1 - la) * (dd * Rabs u')).
  { intros Hd. apply (Rmult_le_compat_l dd) in B; lra. }
  destruct l; simpl; intros L H H'; try (apply Pos; lra).
  subst. rewrite !Rmult_0_r, Rplus_0_r, Rabs_R0. lra.
Qed.

Lemma price_mixed q i la sg sg' sh sh' D D' : In i (leaving A q) -> 0 <= la <= 1 -> fair i sg sh D -> fair i sg' sh' D' ->
  price i (la * sh + (1 - la) * sh') (la * D + (1 - la) * D') <= la * price i sh D + (1 - la) * price i sh' D'.
Proof.
  intros Hi Hla F F'. unfold price. pose proof (proj2 (proj1 (leaving_In A q i) Hi)) as Hq.
  destruct F as (_ & _ & _ & _ & Al & Oth), F' as (_ & _ & _ & _ & Al' & Oth'). unfold rel. cbn [st_of plain].
  assert (H1 : (if uses (tr A i) then Q2R (d (st A (src (tr A i)))) * Rabs (la * sh + (1 - la) * sh' - (la * D + (1 - la) * D')) else 0) <=
    la * (if uses (tr A i) then Q2R (d (st A (src (tr A i)))) * Rabs (sh - D) else 0) +
    (1 - la) * (if uses (tr A i) then Q2R (d (st A (src (tr A i)))) * Rabs (sh' - D') else 0)).
  { destruct (uses (tr A i)) eqn:U; [|lra].
    replace (la * sh + (1 - la) * sh' - (la * D + (1 - la) * D')) with (la * (sh - D) + (1 - la) * (sh' - D')) by ring.
    apply (scaled_mixed (law_of (st A (src (tr A i))))); auto. rewrite Hq. exact (used_noise g A H0 HM q i Hi U). }
  assert (H2 : Q2R (if shows_other (tr A i) then d' (st A (src (tr A i))) else 0) * Rabs (la * D + (1 - la) * D') <=
    la * (Q2R (if shows_other (tr A i) then d' (st A (src (tr A i))) else 0) * Rabs D) +
    (1 - la) * (Q2R (if shows_other (tr A i) then d' (st A (src (tr A i))) else 0) * Rabs D')).
  { destruct (shows_other (tr A i)) eqn:S; [|rewrite Q2R_0; lra]. specialize (Oth eq_refl). specialize (Oth' eq_refl).
    pose proof (scaled_mixed (law_of' (st A (src (tr A i)))) (Q2R (d' (st A (src (tr A i))))) la (0 - D) (0 - D') Hla) as B.
    replace (la * (0 - D) + (1 - la) * (0 - D')) with (- (la * D + (1 - la) * D')) in B by ring.
    replace (0 - D) with (- D) in * by ring. replace (0 - D') with (- D') in * by ring. rewrite !Rabs_Ropp in B. apply B; auto.
    rewrite Hq. exact (other_noise g A H0 HM q i Hi S). }
  lra.
Qed.

Lemma shifted_mixed la : (forall x, ok N x) -> 0 <= la <= 1 -> forall p q sg sg' e e' K K', chain A q p ->
  shifted sg p e K -> shifted sg' p e' K' -> shifted (mixed la sg sg') p (mixed_feed la e e') (la * K + (1 - la) * K').
Proof.
  intros All Hla. induction p as [|i p IH]; intros q sg sg' e e' K K' Hc; cbn [shifted].
  - intros H H'. pose proof (mean_le la 0 K 0 K' Hla H H'). lra.
  - cbv zeta. intros (sh & K1 & F & C1 & S) (sh' & K1' & F' & C1' & S'). destruct Hc as [Hi Hc].
    exists (la * sh + (1 - la) * sh'), (la * K1 + (1 - la) * K1'). rewrite input_mixed, rest_mixed, carried_mixed.
    split; [|split; [|now apply (IH (tgt (tr A i)))]].
    + destruct F as (_ & G & L & As & Al & Oth), F' as (_ & G' & L' & As' & Al' & Oth').
      split; [apply All|split; [|split; [|split; [|split]]]].
      * intros x Hx. unfold mixed. apply mean_le; auto.
      * intros x Hx. unfold mixed. apply mean_le; auto.
      * intros a b Hab. rewrite !value_mixed. apply mean_le; auto.
      * intros U.
        replace (la * sh + (1 - la) * sh' - (la * input A (src (tr A i)) e + (1 - la) * input A (src (tr A i)) e')) with
          (la * (sh - input A (src (tr A i)) e) + (1 - la) * (sh' - input A (src (tr A i)) e')) by ring.
        apply allowed_mixed; auto.
      * intros U.
        replace (0 - (la * input A (src (tr A i)) e + (1 - la) * input A (src (tr A i)) e')) with
          (la * (0 - input A (src (tr A i)) e) + (1 - la) * (0 - input A (src (tr A i)) e')) by ring.
        apply allowed_mixed; auto.
    + pose proof (price_mixed q i la sg sg' sh sh' _ _ Hi Hla F F').
      pose proof (mean_le la _ _ _ _ Hla C1 C1'). lra.
Qed.

(* ---- Intervals for a path ---- *)

Lemma keeps_nothing sg : keeps [] sg.
Proof. easy. Qed.

Definition edge_ok (fa fa' : list atom) (v v' : ivmap) (i : nat) (ends : Q * Q) (pn pn' : Q) : Prop := exists F Ce,
  enough N (fun _ => true) fa v v' (tr A i) F Ce /\
  (forall sg sh, keeps fa sg -> respects (sure g V (tr A i)) sg sh -> keeps fa' (carried (tr A i) sg sh)) /\
  (forall f e, In f F -> In e Ce -> Q2R f <= Q2R e) /\
  check_cost V (tr A i) ends F Ce (pn - pn') = true.

Lemma every_own p : is_own (fun _ => true) p = true.
Proof. unfold is_own. now apply forallb_forall. Qed.

Fixpoint guided (fa : list atom) (v : ivmap) (pn : Q) (p : list nat) (e : feed) : Prop :=
  match p with
  | [] => 0 <= Q2R pn
  | i :: p' => let q := src (tr A i) in
    exists fa' v' pn' ends, edge_ok fa fa' v v' i ends pn pn' /\
      (uses_mean (tr A i) = true -> Q2R (fst ends) <= input A q e <= Q2R (snd ends)) /\ guided fa' v' pn' p' (rest A q i e)
  end.

Lemma check_law_sub l F Ce F' Ce' D : incl F F' -> incl Ce Ce' -> check_law l F' Ce' D = true -> check_law l F Ce D = true.
Proof.
  intros IF IC. unfold check_law. destruct l; rewrite ?andb_true_iff, ?forallb_forall; auto. intros [H1 H2]. split; auto.
Qed.
Lemma check_cost_sub t apart F Ce F' Ce' paid : incl F F' -> incl Ce Ce' ->
  check_cost V t apart F' Ce' paid = true -> check_cost V t apart F Ce paid = true.
Proof.
  intros IF IC. unfold check_cost. rewrite !forallb_forall. intros H D HD. specialize (H D HD).
  rewrite !andb_true_iff in *. destruct H as [[L O] H]. split; [split; [eapply check_law_sub; eauto|easy]|].
  rewrite forallb_forall in *. intros m Hg. apply H. unfold misses in *. destruct Hg as [<-|Hg]; [now left|right].
  rewrite in_app_iff, !in_map_iff in *. destruct Hg as [(x & <- & Hx)|(x & <- & Hx)]; [left|right]; exists x; auto.
Qed.

(* The noise allows a shift at every difference if it does at the extreme ones. *)
Lemma law_between t ends F Ce paid D l G H : check_cost V t ends F Ce paid = true ->
  (forall q, check_law (law_of (st A (src t))) F Ce q && (negb (shows_other t) || check_law (law_of' (st A (src t))) [0%Q] [0%Q] q) = true ->
     check_law l G H q = true) -> Q2R (fst ends) <= D <= Q2R (snd ends) ->
  match l with
  | Laplace => True
  | Exponential => forall f, In f G -> Q2R f <= D
  | Exact => (forall f, In f G -> Q2R f <= D) /\ (forall e, In e H -> D <= Q2R e)
  end.
Proof.
  intros Hc Hl HD. unfold check_cost in Hc. see Hc. rewrite forallb_forall in Hc.
  assert (At : forall q, In q [fst ends; snd ends] -> check_law l G H q = true).
  { intros q Hq. specialize (Hc q Hq). rewrite andb_true_iff in Hc. now apply Hl. }
  pose proof (At (fst ends) ltac:(simpl; auto)) as La. pose proof (At (snd ends) ltac:(simpl; auto)) as Lb.
  unfold check_law in La, Lb. destruct l; auto.
  - rewrite forallb_forall in La. intros f Hf. specialize (La f Hf). apply Qle_R in La. lra.
  - rewrite andb_true_iff, !forallb_forall in La, Lb. split.
    + intros f Hf. apply La in Hf. apply Qle_R in Hf. lra.
    + intros e He. apply Lb in He. apply Qle_R in He. lra.
Qed.

(* What the shift of a sample has to satisfy on a lift edge, and what it may cost. *)
Lemma edge_shift fa fa' iv1 iv2 i ends (pn0 pn0' : Q) (D : R) : edge_ok fa fa' iv1 iv2 i ends pn0 pn0' -> ok N D ->
  (uses_mean (tr A i) = true -> Q2R (fst ends) <= D <= Q2R (snd ends)) ->
  exists sh, ok N sh /\
    (forall x lo hi, In x (t_ge (tr A i)) -> iv1 x = Some (lo, hi) -> sh <= Q2R lo) /\
    (forall x lo hi, In x (t_lt (tr A i)) -> iv1 x = Some (lo, hi) -> Q2R hi <= sh) /\
    (forall x lo hi, In x (asg (tr A i)) -> iv2 x = Some (lo, hi) -> Q2R lo <= sh <= Q2R hi) /\
    (forall sg, inside iv1 sg -> keeps fa sg ->
      (forall a b, In (a, b) (asked (tr A i)) -> shift sg sh b <= shift sg sh a) /\
      (forall x u lo hi, lookup x (copies (tr A i)) = Some u -> iv2 x = Some (lo, hi) -> Q2R lo <= shift sg sh u <= Q2R hi)) /\
    (uses (tr A i) = true -> allowed (law_of (st A (src (tr A i)))) (sh - D)) /\
    (shows_other (tr A i) = true -> allowed (law_of' (st A (src (tr A i)))) (0 - D)) /\
    ((uses (tr A i) = true -> live (law_of (st A (src (tr A i)))) (Q2R (d (st A (src (tr A i)))))) ->
     price i sh D + Q2R pn0' <= Q2R pn0).
Proof.
  intros (F & Ce & (_ & _ & Ige & Ilt & Ias & Ish & Hok) & _ & Hfc & Hcost) HD HD'.
  set (t := tr A i) in *.
  assert (HF : forall f c, In f (map Q2R F) -> In c (map Q2R Ce) -> f <= c).
  { intros f e Hf He. apply in_map_iff in Hf as (qf & <- & Hf). apply in_map_iff in He as (qc & <- & He). auto. }
  assert (okF : forall x, In x (map Q2R F) -> ok N x) by (intros y Hy; apply in_map_iff in Hy as (qy & <- & Hy); auto).
  assert (okC : forall x, In x (map Q2R Ce) -> ok N x) by (intros y Hy; apply in_map_iff in Hy as (qy & <- & Hy); auto).
  destruct (nearest_spec _ _ D HF) as (NF & NC & NM).
  exists (nearest (map Q2R F) (map Q2R Ce) D).
  split; [now apply nearest_ok|].
  assert (InF : forall q, In q F -> Q2R q <= nearest (map Q2R F) (map Q2R Ce) D) by (intros; apply NF, in_map; auto).
  assert (InC : forall q, In q Ce -> nearest (map Q2R F) (map Q2R Ce) D <= Q2R q) by (intros; apply NC, in_map; auto).
  destruct (uses_mean t) eqn:Um.
  2: { (* nothing depends on the means *)
    assert (U : uses t = false /\ shows_other t = false) by (unfold uses_mean in Um; now apply orb_false_iff in Um).
    destruct U as [U1 U2]. repeat split; try (intros; congruence).
    - intros x lo hi Hx E. eauto.
    - intros x lo hi Hx E. eauto.
    - destruct (Ias x lo hi ltac:(easy) ltac:(easy)). auto.
    - destruct (Ias x lo hi ltac:(easy) ltac:(easy)). auto.
    - intros a b Hab. apply (Ish sg); auto using every_own.
    - eapply (Ish sg); eauto.
    - eapply (Ish sg); eauto.
    - intros _. unfold price, rel. fold t. rewrite U1, U2, Q2R_0.
      unfold check_cost, rel in Hcost. see Hcost. rewrite U2 in Hcost. cbn [forallb] in Hcost. rewrite !andb_true_iff in Hcost.
      destruct Hcost as [[_ Hcost] _]. cbn [misses forallb] in Hcost. rewrite !andb_true_iff in Hcost. destruct Hcost as [[Hcost _] _].
      apply Qle_R in Hcost. rewrite Q2R_plus, Q2R_minus, !Q2R_mult, !Q2R_0 in Hcost. lra. }
  specialize (HD' eq_refl).
  assert (Aok : allowed (law_of (st A (src t))) (nearest (map Q2R F) (map Q2R Ce) D - D)).
  { pose proof (law_between t ends F Ce _ D (law_of (st A (src t))) F Ce Hcost) as L.
    assert (L' : forall q, check_law (law_of (st A (src t))) F Ce q && (negb (shows_other t) || check_law (law_of' (st A (src t))) [0%Q] [0%Q] q) = true ->
      check_law (law_of (st A (src t))) F Ce q = true) by (intros q Hq; now apply andb_true_iff in Hq).
    specialize (L L' HD'). unfold allowed. destruct (law_of (st A (src t))); auto.
    - assert (nearest (map Q2R F) (map Q2R Ce) D <= D); [|lra]. unfold nearest. apply fold_Rmax_le; [apply fold_Rmin_le0|].
      intros f Hf. apply in_map_iff in Hf as (q & <- & Hq). now apply L.
    - destruct L as [LF LC].
      assert (nearest (map Q2R F) (map Q2R Ce) D = D); [|lra]. apply Rle_antisym; unfold nearest.
      + apply fold_Rmax_le; [apply fold_Rmin_le0|]. intros f Hf. apply in_map_iff in Hf as (q & <- & Hq). auto.
      + eapply Rle_trans; [|apply fold_Rmax_ge0]. apply fold_Rmin_ge; [lra|]. intros e He. apply in_map_iff in He as (q & <- & Hq). auto. }
  split; [|split; [|split; [|split; [|split; [intros _; exact Aok|split]]]]].
  - intros x lo hi Hx E. eauto.
  - intros x lo hi Hx E. eauto.
  - intros x lo hi Hx E. destruct (Ias x lo hi Hx E). auto.
  - intros sg Hsg Hk. destruct (Ish sg _ Hsg Hk InF InC) as [H1 H2]. split; auto using every_own.
  - intros Sh. pose proof (law_between t ends F Ce _ D (law_of' (st A (src t))) [0%Q] [0%Q] Hcost) as L.
    assert (L' : forall q, check_law (law_of (st A (src t))) F Ce q && (negb (shows_other t) || check_law (law_of' (st A (src t))) [0%Q] [0%Q] q) = true ->
      check_law (law_of' (st A (src t))) [0%Q] [0%Q] q = true).
    { intros q Hq0. apply andb_true_iff in Hq0 as [_ Hq0]. now rewrite Sh in Hq0. }
    specialize (L L' HD'). unfold allowed. destruct (law_of' (st A (src t))); auto.
    + specialize (L 0%Q (or_introl eq_refl)). rewrite Q2R_0 in L. lra.
    + destruct L as [L1 L2]. specialize (L1 0%Q (or_introl eq_refl)). specialize (L2 0%Q (or_introl eq_refl)). rewrite Q2R_0 in *. lra.
  - (* the cost at D, from that at the extreme differences *)
    set (dd := Q2R (d (st A (src t)))) in *. set (r := Q2R (rel V t)) in *.
    set (pn := Q2R pn0) in *. set (pn' := Q2R pn0') in *.
    assert (K : forall sg u v, (sg = 1 \/ sg = -1) ->
      (exists h : Q -> Q, (forall q, Q2R (h q) = u * Q2R q + v) /\
         (forall q, In (h q) (0%Q :: map (fun f => (f - q)%Q) F ++ map (fun c => (q - c)%Q) Ce))) ->
      dd * (u * D + v) + sg * (r * D) + pn' <= pn).
    { intros sg u v Hsg (h & Hg & Hin).
      assert (At : forall q, In q [fst ends; snd ends] -> (dd * u + sg * r) * Q2R q + (dd * v + pn') <= pn).
      { intros q Hq. unfold check_cost in Hcost. see Hcost. rewrite forallb_forall in Hcost. specialize (Hcost q Hq).
        apply andb_true_iff in Hcost as [_ Hcost]. rewrite forallb_forall in Hcost. specialize (Hcost _ (Hin q)).
        apply andb_true_iff in Hcost as [H1 H2]. apply Qle_R in H1, H2.
        rewrite Q2R_plus, Q2R_minus, !Q2R_mult, Hg in H1. rewrite !Q2R_minus, !Q2R_mult, Hg in H2.
        fold dd r pn pn' in H1, H2. destruct Hsg as [->| ->]; lra. }
      assert ((dd * u + sg * r) * D + (dd * v + pn') <= pn); [|lra].
      apply (affine_between _ _ (Q2R (fst ends)) (Q2R (snd ends))); [exact HD'| |]; apply At; simpl; auto. }
    assert (K0 : forall u v, (exists h : Q -> Q, (forall q, Q2R (h q) = u * Q2R q + v) /\
         (forall q, In (h q) (0%Q :: map (fun f => (f - q)%Q) F ++ map (fun c => (q - c)%Q) Ce))) ->
      dd * (u * D + v) + r * Rabs D + pn' <= pn).
    { intros u v Hg. pose proof (K 1 u v (or_introl eq_refl) Hg). pose proof (K (-1) u v (or_intror eq_refl) Hg).
      unfold Rabs. destruct (Rcase_abs D); lra. }
    assert (KZ : r * Rabs D + pn' <= pn).
    { pose proof (K0 0 0) as H. replace (dd * (0 * D + 0)) with 0 in H by ring. rewrite Rplus_0_l in H. apply H.
      exists (fun _ => 0%Q). split; [intros; rewrite Q2R_0; lra|intros; now left]. }
    intros Live. unfold price. fold t. fold dd r. destruct (uses t) eqn:U; [|lra]. specialize (Live eq_refl).
    destruct (Rle_lt_dec dd 0) as [Neg|Hdd].
    { (* without noise: d is whatever it is *)
      unfold live in Live. unfold allowed in Aok. fold dd in Live. destruct (law_of (st A (src t))); try lra.
      rewrite Aok, Rabs_R0. lra. }
    assert (M : Rabs (nearest (map Q2R F) (map Q2R Ce) D - D) <= (pn - pn' - r * Rabs D) / dd).
    { apply NM.
      - apply Rmult_le_pos; [lra|]. now apply Rlt_le, Rinv_0_lt_compat.
      - intros f Hf. apply in_map_iff in Hf as (q & <- & Hq).
        apply (Rmult_le_reg_l dd); [easy|]. replace (dd * ((pn - pn' - r * Rabs D) / dd)) with (pn - pn' - r * Rabs D) by (field; lra).
        pose proof (K0 (-1) (Q2R q)) as H.
        assert (dd * (-1 * D + Q2R q) + r * Rabs D + pn' <= pn); [|lra]. apply H.
        exists (fun x => (q - x)%Q). split; [intros; rewrite Q2R_minus; lra|].
        intros x. right. apply in_or_app. left. apply in_map_iff. now exists q.
      - intros e Hc. apply in_map_iff in Hc as (q & <- & Hq).
        apply (Rmult_le_reg_l dd); [easy|]. replace (dd * ((pn - pn' - r * Rabs D) / dd)) with (pn - pn' - r * Rabs D) by (field; lra).
        pose proof (K0 1 (- Q2R q)) as H.
        assert (dd * (1 * D + - Q2R q) + r * Rabs D + pn' <= pn); [|lra]. apply H.
        exists (fun x => (x - q)%Q). split; [intros; rewrite Q2R_minus; lra|].
        intros x. right. apply in_or_app. right. apply in_map_iff. now exists q. }
    apply (Rmult_le_compat_l dd) in M; [|lra].
    replace (dd * ((pn - pn' - r * Rabs D) / dd)) with (pn - pn' - r * Rabs D) in M by (field; lra). lra.
Qed.

Lemma value_shift (s s' : store) z sh v : value s z v = value s' (z - sh) v + shift (fun x => s x - s' x) sh v.
Proof. unfold shift, value. destruct (negative v), (whence v); simpl; lra. Qed.

Lemma unused_value (s : store) z z' v : is_sample v = false -> value s z v = value s z' v.
Proof. unfold is_sample, value. destruct (whence v); easy. Qed.

Lemma unused_const i q s a l k z z' : In i (leaving A q) -> uses (tr A i) = false ->
  after_step N A i q l a k s z = after_step N A i q l a k s z'.
Proof.
  intros Hi. unfold uses. rewrite !orb_false_iff. intros [[[H1 H2] H3] H4]. apply nonempty_false in H1, H2, H3.
  assert (T : forall v, In v (terms (tr A i)) -> value s z v = value s z' v).
  { intros v Hv. apply unused_value. destruct (is_sample v) eqn:E; [|easy].
    assert (existsb is_sample (terms (tr A i)) = true) by (apply existsb_exists; eauto). congruence. }
  assert (Up : upd s (tr A i) z = upd s (tr A i) z').
  { apply functional_extensionality. intros x. unfold upd. rewrite H3. cbn [mem existsb].
    destruct (lookup x (copies (tr A i))) eqn:Cv; [|easy]. apply unused_value.
    eapply (no_sample_copied g A H0 HM); eauto. }
  assert (En : enabled (tr A i) s z = enabled (tr A i) s z').
  { unfold enabled. rewrite H1, H2. cbn [forallb andb].
    assert (HA : forall a, In a (others (tr A i)) -> holds s z a = holds s z' a).
    { intros b Hb. unfold holds. rewrite !T; [easy| |]; unfold terms; apply in_or_app; left; apply in_flat_map; exists b; simpl; auto. }
    revert HA. generalize (others (tr A i)). induction l0 as [|b l0 IH]; intros HA; simpl; [easy|]. rewrite HA by now left.
    rewrite IH; [easy|]. intros; apply HA; now right. }
  assert (Sh : forall o l, incl o (out (tr A i)) -> shows N A q (input A q a) o l s z = shows N A q (input A q a) o l s z').
  { induction o as [|it o IH]; intros [|l1 l0] Ho; simpl; auto. rewrite IH by (intros x Hx; apply Ho; now right). f_equal.
    assert (It : In it (out (tr A i))) by (apply Ho; now left).
    destruct it as [x|u v|], l1 as [y|B]; simpl; auto.
    rewrite !T; [easy| |]; unfold terms; apply in_or_app; right; apply in_flat_map; exists (Number u v); simpl; auto. }
  unfold after_step. rewrite En, Up, Sh by apply incl_refl. reflexivity.
Qed.

(* Items of an output: those that show numbers show the same, insampleprime costs what it costs. *)
Lemma shows_shift i q a b z sh (s s' : store) (D := input A q a - input A q b) : In i (leaving A q) -> ok N D ->
  (shows_other (tr A i) = true -> allowed (law_of' (st A q)) (0 - D)) ->
  (forall u v, In (u, v) (asked (tr A i)) -> shift (fun x => s x - s' x) sh v <= shift (fun x => s x - s' x) sh u) ->
  forall o l, Forall (good_letter N) l -> incl o (out (tr A i)) -> (length (filter is_other o) <= 1)%nat ->
  shows N A q (input A q a) o l s z <=
  exp (eps * ((if existsb is_other o then Q2R (d' (st A q)) else 0) * Rabs D)) * shows N A q (input A q b) o l s' (z - sh).
Proof.
  intros Hi HD Ho Ask. induction o as [|it o IH]; intros [|l1 l] Gl Inc Len; simpl; try lra.
  - replace (eps * (0 * Rabs D)) with 0 by ring. rewrite exp_0. lra.
  - inversion_clear Gl as [|? ? G1 G2].
    assert (Inc' : incl o (out (tr A i))) by (intros x Hx; apply Inc; now right).
    assert (It : In it (out (tr A i))) by (apply Inc; now left).
    pose proof (shows_unit N A q (input A q a) o l s z G2) as U. pose proof (shows_unit N A q (input A q b) o l s' (z - sh) G2) as U'.
    destruct it as [x|u v|]; cbn [is_other orb filter length] in *.
    + specialize (IH l G2 Inc' Len). destruct l1 as [y|B]; cbn [shows_item]; [|lra].
      pose proof (ind_unit (Nat.eqb x y)).
      match goal with |- _ <= ?e * (?i * ?r) => replace (e * (i * r)) with (i * (e * r)) by ring end. apply Rmult_le_compat_l; lra.
    + specialize (IH l G2 Inc' Len). destruct l1 as [y|B]; cbn [shows_item]; [lra|].
      assert (Au : In (u, v) (asked (tr A i)) /\ In (v, u) (asked (tr A i))).
      { unfold asked. rewrite !in_app_iff, !in_flat_map. split; right; exists (Number u v); simpl; auto. }
      assert (Sv : value s z u - value s z v = value s' (z - sh) u - value s' (z - sh) v).
      { pose proof (Ask _ _ (proj1 Au)). pose proof (Ask _ _ (proj2 Au)). rewrite !(value_shift s s' z sh). lra. }
      rewrite Sv. pose proof (ind_unit (B (value s' (z - sh) u - value s' (z - sh) v))).
      match goal with |- _ <= ?e * (?i * ?r) => replace (e * (i * r)) with (i * (e * r)) by ring end. apply Rmult_le_compat_l; lra.
    + assert (None' : existsb is_other o = false).
      { destruct (existsb is_other o) eqn:Ex; [|easy]. apply existsb_exists in Ex as (y & Hy & Oy).
        assert (In y (filter is_other o)) as F by (apply filter_In; auto). destruct (filter is_other o); simpl in *; [easy|lia]. }
      assert (Hs : shows_other (tr A i) = true) by (apply existsb_exists; exists Other; auto).
      specialize (IH l G2 Inc' ltac:(lia)). rewrite None' in IH. replace (eps * (0 * Rabs D)) with 0 in IH by ring. rewrite exp_0 in IH.
      destruct l1 as [y|B]; cbn [shows_item]; [lra|].
      assert (Ub : unit_fun (fun y => ind (B y))) by (intros y; apply ind_unit).
      pose proof (E_shift eps N (law_of' (st A q)) (Q2R (d' (st A q))) (input A q a + Q2R (mu' (st A q))) 0 D 1 _ _
        (other_noise g _ _ HM q i Hi Hs) (Ho Hs) (ok_0 eps N) HD ltac:(lra) (good_ind eps N B G1) (good_ind eps N B G1) Ub Ub
        ltac:(intros y; rewrite Rminus_0_r; lra)) as H.
      rewrite Rmult_1_l in H. replace (Rabs (0 - D)) with (Rabs D) in H.
      2: { rewrite <- Rabs_Ropp. f_equal. ring. }
      replace (input A q a + Q2R (mu' (st A q)) - D) with (input A q b + Q2R (mu' (st A q))) in H by (unfold D; ring).
      match goal with |- _ <= ?e * (?x * ?r) => replace (e * (x * r)) with ((e * x) * r) by ring end.
      apply Rmult_le_compat; [|lra|exact H|lra].
      apply E_unit; [apply (good_ind eps N B G1)|exact Ub].
Qed.



Lemma guided_shifted p : forall fa v pn q e sg, chain A q p -> given_ok N e -> inside v sg -> keeps fa sg -> guided fa v pn p e -> shifted sg p e (Q2R pn).
Proof.
  induction p as [|i p IH]; intros fa v pn q e sg Hc Ge Iv Ke Hg; [exact Hg|]. cbn [guided] in Hg. cbv zeta in Hg.
  destruct Hg as (fa' & v' & pn' & ends & He & HD & Hg). destruct Hc as [Hi Hc]. cbn [shifted]. cbv zeta.
  pose proof (proj2 (proj1 (leaving_In A q i) Hi)) as Hq.
  destruct (edge_shift fa fa' v v' i ends pn pn' _ He (input_given N g A factors_ok (model_numbers N g A H0 HM okq_ok) _ _ Ge) HD) as (sh & okS & Sge & Slt & Sas & Sask & Sal & Soth & Cost).
  destruct (Sask _ Iv Ke) as [Ask Cop]. exists sh, (Q2R pn'). destruct He as (F & Ce & (Read & Kept & _) & Next & _).
  assert (Fair : fair i sg sh (input A (src (tr A i)) e)).
  { repeat split; auto.
    + intros x Hx. destruct (Read x) as ([lo hi] & E); [apply in_or_app; auto|easy|].
      pose proof (Iv x lo hi E). pose proof (Sge x lo hi Hx E). lra.
    + intros x Hx. destruct (Read x) as ([lo hi] & E); [apply in_or_app; auto|easy|].
      pose proof (Iv x lo hi E). pose proof (Slt x lo hi Hx E). lra. }
  split; [easy|split].
  - apply Cost. intros U. rewrite Hq. exact (used_noise g A H0 HM q i Hi U).
  - apply (IH fa' v' pn' (tgt (tr A i))); auto.
    + now apply rest_given.
    + intros x lo hi E. unfold carried. destruct (mem x (asg (tr A i))) eqn:M.
      * apply mem_In in M. exact (Sas x lo hi M E).
      * destruct (lookup x (copies (tr A i))) as [u|] eqn:Cu; [exact (Cop x u lo hi Cu E)|].
        assert (M' : mem x (gets (tr A i)) = false).
        { apply mem_false. unfold gets. rewrite in_app_iff. intros [H|H]; [apply mem_In in H; congruence|now apply lookup_None in Cu]. }
        destruct (Kept x lo hi M' E) as (lo1 & hi1 & E1 & H1 & H2). pose proof (Iv x lo1 hi1 E1). lra.
    + apply Next; [easy|]. now apply (fair_sure i sg sh e).
Qed.

Lemma shifted_bound p : forall w sg q s s' a b K, good_word N w -> chain A q p -> given_ok N (gap a b) ->
  (forall x, s x - s' x = sg x) -> shifted sg p (gap a b) K -> P p w q s a <= exp (eps * K) * P p w q s' b.
Proof.
  induction p as [|i p IH]; intros [|l w] sg q s s' a b K0 Gw Hc Ge Rel HS; simpl; try lra.
  - rewrite Rmult_1_r. rewrite <- exp_0. apply exp_mono. simpl in HS. apply Rmult_le_pos; lra.
  - inversion_clear Gw as [|? ? Gl Gw']. destruct Hc as [Hi Hc].
    pose proof (proj2 (proj1 (leaving_In A q i) Hi)) as Hs. cbn [shifted] in HS. cbv zeta in HS. rewrite Hs in HS.
    destruct HS as (sh & pn' & (okS & Sge & Slt & Ask & Sal & Soth) & Cost & HS). rewrite Hs in Sal, Soth.
    set (q' := tgt (tr A i)) in *.
    assert (EqSg : sg = fun x => s x - s' x) by (apply functional_extensionality; intros x; now rewrite Rel).
    rewrite input_gap in *. rewrite rest_gap in HS.
    set (D := input A q a - input A q b) in *.
    assert (okD : ok N D) by (unfold D; rewrite <- input_gap; now apply (input_given N g A factors_ok (model_numbers N g A H0 HM okq_ok))).
    assert (Ge' : given_ok N (gap (rest A q i a) (rest A q i b))) by (rewrite <- rest_gap; now apply rest_given).
    set (r := Q2R (rel V (tr A i))) in *.
    set (K := exp (eps * (r * Rabs D)) * exp (eps * pn')).
    assert (HK : 0 <= K) by (apply Rmult_le_pos; left; apply exp_pos).
    assert (Point : forall z, after_step N A i q l a (P p w q') s z <= K * after_step N A i q l b (P p w q') s' (z - sh)).
    { intros z. unfold after_step. destruct (enabled (tr A i) s z) eqn:En.
      - assert (En' : enabled (tr A i) s' (z - sh) = true).
        { apply enabled_iff in En as (G & L & O). apply enabled_iff. split; [|split]; intros x Hx.
          - pose proof (Sge x Hx). pose proof (Rel x). pose proof (G x Hx). lra.
          - pose proof (Slt x Hx). pose proof (Rel x). pose proof (L x Hx). lra.
          - specialize (O x Hx). unfold true_of in *.
            assert (Au : In (low x, high x) (asked (tr A i))) by (unfold asked; apply in_or_app; left; apply in_map_iff; eauto).
            pose proof (Ask _ _ Au) as Au'. rewrite EqSg in Au'. rewrite !(value_shift s s' z sh) in O. destruct (strict x); lra. }
        rewrite En'.
        assert (Rel' : forall x, upd s (tr A i) z x - upd s' (tr A i) (z - sh) x = carried (tr A i) sg sh x).
        { intros x. unfold upd, carried. destruct (mem x (asg (tr A i))); [lra|].
          destruct (lookup x (copies (tr A i))) as [u|]; [|apply Rel]. rewrite EqSg, (value_shift s s' z sh). lra. }
        pose proof (IH w _ q' _ _ _ _ _ Gw' Hc Ge' Rel' HS) as Next.
        assert (Ask' : forall u v, In (u, v) (asked (tr A i)) -> shift (fun x => s x - s' x) sh v <= shift (fun x => s x - s' x) sh u)
          by (rewrite <- EqSg; exact Ask).
        pose proof (shows_shift i q a b z sh s s' Hi okD Soth Ask' (out (tr A i)) l Gl (incl_refl _) (one_other g _ _ HM q i Hi)) as Sh.
        assert (Er : (if existsb is_other (out (tr A i)) then Q2R (d' (st A q)) else 0) = r).
        { unfold r, rel, shows_other. cbn [st_of plain]. rewrite Hs. destruct (existsb is_other (out (tr A i))); [easy|now rewrite Q2R_0]. }
        rewrite Er in Sh. fold D in Sh.
        unfold K.
        match goal with |- ?x * ?y <= ?u * ?v * (?x' * ?y') => replace (u * v * (x' * y')) with ((u * x') * (v * y')) by ring end.
        apply Rmult_le_compat; auto; [now apply shows_unit|now apply Pp_unit].
      - apply Rmult_le_pos; auto. destruct (enabled _ s' _); [|lra].
        apply prod_unit; [now apply shows_unit|now apply Pp_unit]. }
    assert (U : unit_fun (after_step N A i q l a (P p w q') s)) by (apply after_unit; auto using Pp_unit).
    assert (U' : unit_fun (after_step N A i q l b (P p w q') s')) by (apply after_unit; auto using Pp_unit).
    assert (GG : forall s a, good N (after_step N A i q l a (P p w q') s)) by (intros; apply after_good; auto using Pp_good).
    unfold price in Cost. fold r in Cost. rewrite Hs in Cost.
    unfold step. destruct (uses (tr A i)) eqn:Us.
    + pose proof (used_noise g _ _ HM q i Hi Us) as Hd.
      pose proof (E_shift eps N _ _ (input A q a + Q2R (mu (st A q))) sh D K _ _ Hd (Sal eq_refl) okS okD HK (GG s a) (GG s' b) U U' Point) as H.
      eapply Rle_trans; [exact H|]. clear H.
      replace (input A q a + Q2R (mu (st A q)) - D) with (input A q b + Q2R (mu (st A q))) by (unfold D; ring).
      apply Rmult_le_compat_r; [now apply E_unit|]. unfold K. rewrite <- !exp_plus. apply exp_mono.
      replace (eps * (r * Rabs D) + eps * pn' + eps * (Q2R (d (st A q)) * Rabs (sh - D))) with
        (eps * (Q2R (d (st A q)) * Rabs (sh - D) + r * Rabs D + pn')) by ring.
      apply Rmult_le_compat_l; lra.
    + assert (Fix : forall l0 s a dd m, E N l0 dd m (after_step N A i q l a (P p w q') s) = after_step N A i q l a (P p w q') s 0).
      { intros l0 s1 a1 dd m. rewrite <- (E_const eps N l0 dd m (after_step N A i q l a1 (P p w q') s1 0)).
        - apply E_ext; auto.
          + apply after_unit; auto using Pp_unit.
          + intros z. now apply unused_const.
        - apply after_unit; auto using Pp_unit. }
      rewrite !Fix. eapply Rle_trans; [apply Point|].
      rewrite (unused_const i q s' b l (P p w q') (0 - sh) 0 Hi Us).
      apply Rmult_le_compat_r; [apply U'|]. unfold K. rewrite <- exp_plus. apply exp_mono.
      replace (eps * (r * Rabs D) + eps * pn') with (eps * (r * Rabs D + pn')) by ring.
      apply Rmult_le_compat_l; lra.
Qed.

(* Which pairs of inputs: the differences of entries lie between the ends, and only those differ that may. *)
Definition adjacent (a b : stream) := (forall i, kl <= a i - b i <= kh /\ ok N (a i - b i)) /\ differ_as (differ A) a b.

(* The automaton is private if every path has probability 0 or shifts that cost at most D. *)
Theorem shifted_private a b :
  adjacent a b ->
  (forall p w, good_word N w -> chain A (initial A) p -> P p w (initial A) (fun _ => 0) (a, fun _ => 0) = 0 \/
     exists sg, shifted sg p (fun n => a n - b n, fun _ => 0) (Q2R (c_D c))) ->
  forall w, good_word N w -> prob N A a w <= exp (eps * Q2R (c_D c)) * prob N A b w.
Proof.
  intros [Adj _] H w Gw. unfold prob. rewrite !(Pr_paths N A (det N g A H0 smooth_ok HM) w Gw). rewrite <- sum_scal. apply sum_le. intros p Hp.
  pose proof (paths_chain _ _ _ _ Hp) as Hc.
  destruct (H p w Gw Hc) as [->|(sg & HS)].
  - apply Rmult_le_pos; [left; apply exp_pos|now apply Pp_unit].
  - assert (Eg : gap (a, fun _ => 0) (b, fun _ => 0) = (fun n => a n - b n, fun _ => 0)).
    { unfold gap. cbn [fst snd]. f_equal. apply functional_extensionality. intros x. lra. }
    assert (Ge : given_ok N (gap (a, fun _ => 0) (b, fun _ => 0))).
    { rewrite Eg. split; cbn [fst snd]; intros; [apply Adj|apply ok_0]. }
    pose proof (shifted_bound p w sg (initial A) (fun _ => 0) (fun x => 0 - sg x) (a, fun _ => 0) (b, fun _ => 0) _ Gw Hc Ge
      ltac:(intros x; simpl; lra) ltac:(rewrite Eg; exact HS)) as B.
    rewrite (Pp_init N g A H0 HM p w (fun x => 0 - sg x) (fun _ => 0)) in B; auto.
Qed.
End Guide.
