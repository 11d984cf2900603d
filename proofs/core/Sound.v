(* Certificates that the checker accepts prove privacy, for any noise that obeys the axioms. *)
From Coq Require Import Reals QArith Qreals List Bool Arith Lra Lia FunctionalExtensionality.
From Symdipa.Core Require Import Model Lookup Checker Paths Facts Cover Ways Guide.
Import ListNotations.
Open Scope R_scope.

(* ---- What transitions of the paper's automata ask ---- *)

Lemma sample_shown_spec it : is_sample_shown it = true -> exists a b, it = Number a b /\
  negative a = false /\ whence a = Insample /\ negative b = false /\ whence b = Zero.
Proof.
  destruct it as [|a b|]; simpl; try easy. rewrite andb_true_iff. unfold same_place, insample, zero. simpl.
  rewrite !andb_true_iff. intros [[H1 H2] [H3 H4]]. apply place_eqb_spec in H2, H4. exists a, b.
  apply Bool.eqb_prop in H1, H3. auto.
Qed.

Lemma shift_zero sg sh v : negative v = false -> whence v = Zero -> shift sg sh v = 0.
Proof. intros Nv Wv. unfold shift, value. rewrite Nv, Wv. simpl. lra. Qed.

Lemma plain_spec t : is_plain t = true -> others t = [] /\ copies t = [] /\
  (forall a b, In (a, b) (asked t) -> shows_sample t = true /\
    (forall sg sh, sh = 0 -> shift sg sh a = 0 /\ shift sg sh b = 0)).
Proof.
  unfold is_plain. rewrite !andb_true_iff, !negb_true_iff. intros [[H1 H2] H3]. apply nonempty_false in H1, H2.
  split; [easy|split; [easy|]]. intros a b Hab. unfold asked in Hab. rewrite H1 in Hab. simpl in Hab.
  apply in_flat_map in Hab as (it & Hit & Hab). rewrite forallb_forall in H3. specialize (H3 it Hit).
  destruct it as [|u v|]; try easy. pose proof (sample_shown_spec _ H3) as (u' & v' & E & Nu & Wu & Nv & Wv). inversion E; subst u' v'.
  split; [apply existsb_exists; eauto|]. intros sg sh ->.
  assert (Su : shift sg 0 u = 0) by (rewrite shift_sample; [now rewrite Nu|unfold is_sample; now rewrite Wu]).
  assert (Sv : shift sg 0 v = 0) by now apply shift_zero.
  simpl in Hab. destruct Hab as [Hab|[Hab|[]]]; inversion Hab; subst; auto.
Qed.

Lemma shown_spec t : shows_sample t = true -> exists p1 p2, In p1 (asked t) /\ In p2 (asked t) /\
  (forall W n, ask_floors W n p1 = [0%Q]) /\ (forall W n, ask_ceilings W n p2 = [0%Q]).
Proof.
  intros H. apply existsb_exists in H as (it & Hit & H).
  apply sample_shown_spec in H as (a & b & -> & Na & Wa & Nb & Wb). exists (a, b), (b, a).
  unfold asked. rewrite !in_app_iff, !in_flat_map.
  assert (forall W n, ask W n (a, b) = Some ([0%Q], [])) as E1.
  { intros W n. unfold ask, same_place, is_sample, shifts. rewrite Na, Nb, Wa, Wb. reflexivity. }
  assert (forall W n, ask W n (b, a) = Some ([], [0%Q])) as E2.
  { intros W n. unfold ask, same_place, is_sample, shifts. rewrite Na, Nb, Wa, Wb. reflexivity. }
  split; [right; exists (Number a b); simpl; auto|]. split; [right; exists (Number a b); simpl; auto|].
  unfold ask_floors, ask_ceilings. split; intros; [now rewrite E1|now rewrite E2].
Qed.

Section Sound.
Context {eps : R} (Heps : 0 < eps) (N : noise eps) (g : grade).
Hypothesis okq_ok : forall q, shift_ok g q = true -> ok N (Q2R q).
Hypothesis factors_ok : forall q x, factor_ok g q = true -> ok N x -> ok N (Q2R q * x).
Hypothesis mixes_ok : mixes g = true -> forall x, ok N x.
Hypothesis ends_ok : forall lo hi x, only_ends g lo hi = true -> ok N x -> Q2R lo <= x <= Q2R hi -> x = Q2R lo \/ x = 0 \/ x = Q2R hi.
Hypothesis smooth_ok : smooth g = true -> atomless N.
Hypothesis whole_ok : whole g = true -> forall x, ok N x -> integer x.
Variable A : automaton.

(* Shifts at the lower ends of intervals. *)
Definition lowest (v : ivmap) : nat -> R := fun x => match v x with Some (lo, _) => Q2R lo | None => 0 end.
Lemma lowest_inside v : (forall x lo hi, v x = Some (lo, hi) -> Q2R lo <= Q2R hi) -> inside v (lowest v).
Proof. intros H x lo hi E. unfold lowest. rewrite E. pose proof (H x lo hi E). lra. Qed.

(* Along a path that the facts allow, something holds if it does for all ways of the base, and for means. *)
Lemma along H c gr own a b p (R : stream -> Prop) : check_model g A (plain A H) = true ->
  check_graph g A (plain A H) c gr (gplain gr) own = true -> chain A (initial A) p -> open g A H gr 0 p -> adjacent N A c a b ->
  (mixes g = true -> convex R) ->
  (forall ws e, map fst ws = p -> proper N c e -> walk A c gr ws 0 (e, fun _ => 0) -> R e) -> R (fun n => a n - b n).
Proof.
  intros HM HG Hc Ho [Adj Dif] Cv HR. destruct (base_0 g A H c gr own HG) as (B0 & BI & _ & _ & BA & BK).
  apply (ways N g mixes_ok ends_ok A H c gr own HM HG p 0 (fun _ => 0)); auto.
  - now rewrite BI.
  - intros x q Hx. rewrite BK in Hx. easy.
  - now rewrite BA.
Qed.

(* ---- kind "private" ---- *)

Section Private.
Variable C : cert.
Hypothesis Hcheck : check g A C = true.
Let gr := c_graph C.
Let c := c_claim C.
Local Notation V := (plain A (c_hints C)).
Local Notation W := (gplain gr).

Local Lemma Hparts : check_model g A V = true /\ check_graph g A V c gr W (fun _ => true) = true /\
  check_potentials V c gr W = true.
Proof. pose proof Hcheck as H. rewrite check_plain in H. unfold check_private in H. rewrite !andb_true_iff in H. tauto. Qed.

(* What the facts of a node say is said of shifts, too. *)
Lemma facts_kept v i l v' sg sh : In i (leaving A (b_state (bn gr v))) -> goal W v (i, l) = Some v' ->
  contradicts g V (bn gr v) (tr A i) = false -> keeps (b_facts (bn gr v)) sg -> respects (sure g V (tr A i)) sg sh ->
  keeps (b_facts (bn gr v')) (carried (tr A i) sg sh).
Proof.
  destruct Hparts as (_ & HG & _). intros Hi G Co Ke Re z k Hk.
  destruct (goal_follows g A (c_hints C) c gr _ HG v i l v' Hi G Co) as [Ff _]. rewrite forallb_forall in Ff. specialize (Ff k Hk).
  destruct (proj1 (lasting_node g A (c_hints C) c gr _ HG v') k Hk) as [L1 L2]. rewrite !carried_before by easy.
  apply (bound_shift sg sh V _ _ _ (follows_some V _ _ _ Ff)). apply sharpened_respects. intros k' Hk'. unfold told in Hk'.
  assert (R0 : forall k, In k (b_facts (bn gr v) ++ sure g V (tr A i)) -> shift sg sh (high k) <= shift sg sh (low k)).
  { intros k0 H0. apply in_app_or in H0 as [H0|H0]; [now apply Ke|now apply Re]. }
  destruct (nonempty (b_distinct (bn gr v))); [|now apply R0]. apply in_app_or in Hk' as [Hk'|Hk']; [now apply R0|].
  apply in_map_iff in Hk' as (k0 & <- & Hk'). apply filter_In in Hk' as [Hk' _]. cbn [stricter low high]. apply R0, in_or_app. auto.
Qed.

Lemma lift_guided ws : forall n a, (n < length (l_nodes gr))%nat -> lrun gr n ws -> walk A c gr ws (l_base (ln gr n)) a ->
  chain A (b_state (bn gr (l_base (ln gr n)))) (map fst ws) -> open g A (c_hints C) gr (l_base (ln gr n)) (map fst ws) ->
  guided N g A (c_hints C) (b_facts (bn gr (l_base (ln gr n)))) (iv W n) (l_pot (ln gr n)) (map fst ws) a.
Proof.
  destruct Hparts as (_ & HG & HP). unfold check_potentials in HP. apply andb_true_iff in HP as [Pos Cost].
  rewrite forallb_forall in Pos, Cost.
  induction ws as [|[i l] ws IH]; intros n a Ln HL HW Hc Ho; simpl.
  - specialize (Pos (ln gr n) (nth_In _ _ Ln)). apply andb_true_iff in Pos as [Pos _]. apply Qle_R in Pos. now rewrite Q2R_0 in Pos.
  - destruct HL as (n' & He & HL). cbn [walk fst] in HW. destruct HW as (Ag & v' & Gl & Fit & HW).
    destruct (ledge_over g A (c_hints C) c gr _ HG _ _ _ He) as (_ & Ln' & Gl'). rewrite Gl in Gl'. inversion Gl'; subst v'.
    cbn [map fst chain open] in Hc, Ho. destruct Hc as [Hi Hc]. destruct Ho as [Nc Ho].
    destruct (goal_spec g A (c_hints C) c gr _ HG _ _ _ _ Gl) as (_ & _ & _ & _ & Ht & _).
    pose proof (Cost _ He) as Co. cbv beta iota in Co.
    destruct (means V c (tr_of V i) l (b_known (bn_of W (l_base (ln_of W n))))) as [ends|] eqn:Me; [|easy].
    exists (b_facts (bn gr (l_base (ln gr n')))), (iv W n'), (l_pot (ln gr n')), ends.
    split; [|split; [|apply IH; auto; [now rewrite <- Ht|now apply (Ho l)]]].
    2: { intros U. exact (means_spec A (c_hints C) c gr (l_base (ln gr n)) (i, l) (l_base (ln gr n')) a ends Ag Fit Me U). }
    exists (floors W (tr A i) n n'), (ceilings W (tr A i) n n'). cbv zeta.
    split; [intros x Hx; now apply (read_spec g A (c_hints C) c gr _ HG _ _ _ _ _ He)|].
    split; [intros x lo' hi' M E; now apply (kept_spec g A (c_hints C) c gr _ HG _ _ _ _ _ _ _ He)|].
    split; [|split; [|split; [|split; [|split; [|split; [|split]]]]]].
    + intros x lo hi Hx E. unfold ceilings. apply in_or_app. left. apply (ends_In gr fst n _ x (lo, hi)); auto.
    + intros x lo hi Hx E. unfold floors. apply in_or_app. left. apply (ends_In gr snd n _ x (lo, hi)); auto.
    + intros x lo hi Hx E. unfold floors, ceilings. rewrite !in_app_iff. split; right; left.
      * apply (ends_In gr fst n' _ x (lo, hi)); auto.
      * apply (ends_In gr snd n' _ x (lo, hi)); auto.
    + intros sg sh. now apply (facts_kept _ i l).
    + intros sg sh Iv Ke HF HC. split.
      * intros u v Huv. now apply (asked_spec g A (c_hints C) c gr _ HG n i l n').
      * intros x u lo hi Hu E. now apply (copies_spec g A (c_hints C) c gr _ HG n i l n' x).
    + intros f e. apply (fit_spec g A (c_hints C) c gr _ HG _ _ _ _ _ _ He).
    + intros q [Hq|Hq]; [eapply (floors_ok N g okq_ok)|eapply (ceilings_ok N g okq_ok)]; eauto.
    + exact Co.
Qed.

Theorem private a b w : good_word N w -> (whole g = true -> forall n, ok N (a n)) -> adjacent N A c a b -> prob N A a w <= exp (eps * Q2R (c_D c)) * prob N A b w.
Proof.
  destruct Hparts as (HM & HG & HP). intros Gw Wh Adj. apply (shifted_private Heps N g A (c_hints C) c factors_ok smooth_ok HM a b Adj); auto.
  assert (Wh' : whole g = true -> given_ok N (a, fun _ => 0)) by (intros W; split; cbn [fst snd]; intros; [now apply Wh|apply ok_0]).
  intros p w' Gw' Hc. destruct (opened N g okq_ok smooth_ok factors_ok whole_ok A (c_hints C) c gr _ HM HG p w' (a, fun _ => 0) Gw' Wh' Hc) as [Ho|E0]; [right|now left].
  apply (along (c_hints C) c gr _ a b p (fun e => exists sg, shifted N A (c_hints C) sg p (e, fun _ => 0) (Q2R (c_D c))) HM HG Hc Ho Adj).
  - intros M la e e' Hla [sg S] [sg' S']. exists (mixed la sg sg').
    pose proof (shifted_mixed N g A (c_hints C) HM la (mixes_ok M) Hla p (initial A) _ _ _ _ _ _ Hc S S') as Sm.
    replace (la * Q2R (c_D c) + (1 - la) * Q2R (c_D c)) with (Q2R (c_D c)) in Sm by ring.
    unfold mixed_feed in Sm. cbn [fst snd] in Sm.
    replace (mixed la (fun _ => 0) (fun _ => 0)) with (fun _ : nat => 0) in Sm; [exact Sm|].
    apply functional_extensionality. intros x. unfold mixed. ring.
  - intros ws e Hws Pe HW. destruct (covered g A (c_hints C) c gr _ HG ws (walk_brun A c gr ws 0 _ HW)) as (n & Ln & Hn & HL).
    assert (Iv : forall x lo hi, iv W n x = Some (lo, hi) -> Q2R lo <= Q2R hi).
    { intros x lo hi E. eapply (iv_ok N g okq_ok A (c_hints C) c gr _ HG); eauto. }
    assert (Ge : given_ok N (e, fun _ => 0)) by (split; cbn [fst snd]; intros; [apply Pe|apply ok_0]).
    destruct (base_0 g A (c_hints C) c gr _ HG) as (_ & BI & BF & _).
    exists (lowest (iv W n)). rewrite <- Hn in HW. pose proof (lift_guided ws n _ Ln HL HW) as Gd. rewrite Hws, Hn, BI, BF in Gd.
    specialize (Gd Hc Ho).
    pose proof (guided_shifted N g A (c_hints C) factors_ok HM p _ _ _ (initial A) _ _ Hc Ge (lowest_inside _ Iv) (keeps_nothing _) Gd) as S.
    unfold check_potentials in HP. apply andb_true_iff in HP as [Pos _]. rewrite forallb_forall in Pos.
    specialize (Pos (ln gr n) (nth_In _ _ Ln)). apply andb_true_iff in Pos as [_ Pos]. rewrite Hn in Pos. apply Qle_R in Pos.
    now apply (shifted_more N A (c_hints C) p _ _ (Q2R (l_pot (ln gr n)))).
Qed.
End Private.

(* ---- kind "private-in-parts" ---- *)

Section Parts.
Variable C : pcert.
Hypothesis Hcheck : check_parts g A C = true.
Let c := p_claim C.
Local Notation V := (plain A (p_hints C)).
Let G0 := snd (snd part0).
Let count := numbers (p_parts C).
Let own k : list nat := fst (nth k (p_parts C) ([], G0)).
Let part k : graph := snd (nth k (p_parts C) ([], G0)).
Let asked k i : list edge := having number (l_edges (part k)) i.
Let all_floors k i : list Q := asked_floors V (gplain (part k)) i.
Let all_ceilings k i : list Q := asked_ceilings V (gplain (part k)) i.

Local Lemma beside_count : beside C = map (fun k => (gplain (part k), (own k, part k))) count.
Proof.
  unfold beside, count, own, part, numbers. generalize (p_parts C). intros l.
  assert (E : l = map (fun k => nth k l ([], G0)) (seq 0 (length l))).
  { induction l as [|x l IH]; simpl; [easy|]. f_equal. rewrite <- seq_shift, map_map. exact IH. }
  rewrite E at 1. rewrite map_map. apply map_ext. intros k. now destruct (nth k l _).
Qed.

Local Lemma forallb_map {X Y} (f : Y -> bool) (h : X -> Y) l : forallb f (map h l) = forallb (fun x => f (h x)) l.
Proof. induction l; simpl; congruence. Qed.
Local Lemma existsb_map {X Y} (f : Y -> bool) (h : X -> Y) l : existsb f (map h l) = existsb (fun x => f (h x)) l.
Proof. induction l; simpl; congruence. Qed.
Local Lemma nth_count {X} (h : nat -> list X) k : In k count -> nth k (map h count) [] = h k.
Proof.
  intros Hk. unfold count, numbers in *. apply in_seq in Hk.
  rewrite (nth_indep _ [] (h 0%nat)) by (rewrite map_length, seq_length; lia). rewrite map_nth, seq_nth by lia. reflexivity.
Qed.

Local Lemma step_spec i : check_parts_step V C (pot C) (beside C) i = true ->
  forallb (fun k => nonempty (asked k i)) count = false \/
  is_plain (tr A i) = true /\
  (forall x, In x (t_ge (tr A i) ++ t_lt (tr A i)) -> existsb (fun k => mem x (own k)) count = true) /\
  (forall k k', In k count -> In k' count -> k <> k' -> fits (all_floors k i) (all_ceilings k' i) = true) /\
  exists ends, means V c (tr A i) (usual V (tr A i)) [] = Some ends /\
  check_cost V (tr A i) ends (flat_map (fun k => all_floors k i) count ++ zero_if (shows_sample (tr A i)))
    (flat_map (fun k => all_ceilings k i) count ++ zero_if (shows_sample (tr A i)))
    (pot C (src (tr A i)) - pot C (tgt (tr A i))) = true.
Proof.
  unfold check_parts_step. rewrite beside_count. cbv zeta. see_goal.
  rewrite !map_map, forallb_map. cbn [fst snd by_of gplain].
  replace (numbers (map (fun k => (gplain (part k), (own k, part k))) count)) with count.
  2: { unfold numbers at 1. rewrite map_length. unfold count, numbers. now rewrite seq_length. }
  intros H. apply orb_true_iff in H as [H|H]; [left; now apply negb_true_iff in H|right].
  rewrite !andb_true_iff, !forallb_forall in H. destruct H as [[[Pl O] X] K]. split; [exact Pl|split; [|split]].
  - intros x Hx. specialize (O x Hx). rewrite existsb_map in O. exact O.
  - intros k k' Hk Hk' Ne. specialize (X k Hk). rewrite forallb_forall in X. specialize (X k' Hk').
    rewrite !nth_count in X by easy. apply orb_true_iff in X as [X|X]; [apply Nat.eqb_eq in X; contradiction|exact X].
  - rewrite !flat_map_concat_map. fold c in K. destruct (means V c (tr A i) (usual V (tr A i)) []) as [ends|]; [|easy].
    exists ends. split; [easy|exact K].
Qed.

Local Lemma Pparts : check_model g A V = true /\ (forall k, In k count -> check_part g A V c (gplain (part k)) (own k, part k) = true) /\
  (forall k, In k count -> forallb (is_usual V) (b_edges (part k)) = true) /\
  (forall i, (i < length (transitions A))%nat -> check_parts_step V C (pot C) (beside C) i = true) /\
  forallb (fun q => Qle_bool 0 q) (p_pots C) = true /\ Qle_bool (pot C (initial A)) (c_D c) = true.
Proof.
  pose proof Hcheck as H. rewrite check_parts_plain in H. unfold check_in_parts in H. rewrite !andb_true_iff in H.
  destruct H as [[[[[[_ HM] HP] HU] HS] Pos] HD]. repeat split; auto.
  - intros k Hk. rewrite beside_count, forallb_map, forallb_forall in HP. now apply HP.
  - intros k Hk. rewrite beside_count, forallb_map, forallb_forall in HU. now apply HU.
  - now apply forallb_seq.
Qed.

Local Lemma part_graph k : In k count -> check_graph g A V c (part k) (gplain (part k)) (fun x => mem x (own k)) = true.
Proof.
  intros Hk. destruct Pparts as (_ & H & _). specialize (H k Hk). unfold check_part in H. now apply andb_true_iff in H.
Qed.

(* The intervals of the part that has the variable, at the node where that part's path is. *)
Definition ivs_at (ns : nat -> nat) (x : nat) : option (Q * Q) :=
  match find (fun k => mem x (own k)) count with Some k => iv (gplain (part k)) (ns k) x | None => None end.

Local Lemma ivs_inv ns x r : ivs_at ns x = Some r ->
  exists k, In k count /\ find (fun k => mem x (own k)) count = Some k /\ iv (gplain (part k)) (ns k) x = Some r.
Proof.
  unfold ivs_at. destruct (find _ _) as [k|] eqn:F; [|easy]. intros E. exists k. split; [|easy].
  now apply find_some in F.
Qed.

Local Lemma choice (l : list nat) (R : nat -> nat -> Prop) : (forall k, In k l -> exists n, R k n) ->
  exists f, forall k, In k l -> R k (f k).
Proof.
  induction l as [|k l IH]; intros H; [now exists (fun _ => 0%nat)|].
  destruct (H k (or_introl eq_refl)) as [n Hn]. destruct IH as [f Hf]; [intros; apply H; now right|].
  exists (fun k' => if Nat.eqb k' k then n else f k'). intros k' Hk'. destruct (Nat.eqb_spec k' k) as [->|Ne]; [easy|].
  destruct Hk' as [<-|Hk']; [easy|auto].
Qed.

Local Lemma pot_pos q : 0 <= Q2R (pot C q).
Proof.
  unfold pot. destruct Pparts as (_ & _ & _ & _ & H & _). rewrite forallb_forall in H. rewrite <- Q2R_0.
  destruct (nth_in_or_default q (p_pots C) 0%Q) as [Hin| ->]; [now apply Qle_R, H|lra].
Qed.

(* Every entry may differ on the ways of the parts. *)
Definition usual_ways (p : list nat) : list way := map (fun i => (i, usual V (tr A i))) p.

Lemma brun_usual k ws : In k count -> forall v, brun (part k) v ws -> ws = usual_ways (map fst ws).
Proof.
  intros Hk. destruct Pparts as (_ & _ & HU & _). specialize (HU k Hk). rewrite forallb_forall in HU.
  induction ws as [|[i l] ws IH]; intros v; simpl; [easy|].
  destruct (goal (gplain (part k)) v (i, l)) as [v'|] eqn:G; [|easy]. intros Hb. rewrite <- (IH v' Hb).
  destruct (goal_edge g A (p_hints C) c (part k) _ (part_graph k Hk) _ _ _ G) as [_ He]. specialize (HU _ He).
  unfold is_usual, number in HU. cbn [via fst snd] in HU. see HU. now destruct l, (usual V (tr A i)).
Qed.

Lemma means_usual i e ends : proper N c (fst e) -> means V c (tr A i) (usual V (tr A i)) [] = Some ends ->
  uses_mean (tr A i) = true -> Q2R (fst ends) <= input A (src (tr A i)) e <= Q2R (snd ends).
Proof.
  intros Pe Hm U. unfold means, usual in Hm. rewrite U in Hm. see Hm. unfold input, entry.
  destruct (factors (st A (src (tr A i)))) as [|[x f] fs]; cbn [weighed fold_right].
  - destruct (reads (st A (src (tr A i)))); cbn [entry_of] in Hm; inversion Hm; cbn [fst snd].
    + destruct (Pe 0%nat) as [H _]. lra.
    + rewrite Q2R_0. lra.
  - destruct (reads _); cbn in Hm; easy.
Qed.

Lemma parts_guided p : forall ns q e, chain A q p -> proper N c (fst e) -> (forall k, In k count -> lrun (part k) (ns k) (usual_ways p)) ->
  guided N g A (p_hints C) [] (ivs_at ns) (pot C q) p e.
Proof.
  induction p as [|i p IH]; intros ns q e0 Hc Pe HL; simpl; [apply pot_pos|].
  set (l := usual V (tr A i)) in *.
  destruct (choice count (fun k n' => In (ns k, (i, l), n') (l_edges (part k)) /\ lrun (part k) n' (usual_ways p))) as [ns' Hns]; [exact HL|].
  assert (He : forall k, In k count -> In (ns k, (i, l), ns' k) (l_edges (part k))) by (intros; now apply Hns).
  destruct Hc as [Hi Hc]. exists [], (ivs_at ns'), (pot C (tgt (tr A i))).
  pose proof (proj2 (proj1 (leaving_In A _ i) Hi)) as Hs. pose proof (proj1 (proj1 (leaving_In A _ i) Hi)) as Hi'.
  destruct Pparts as (_ & _ & _ & HS & _). pose proof (step_spec i (HS i Hi')) as S.
  assert (Ha : forall k, In k count -> In (ns k, (i, l), ns' k) (asked k i)).
  { intros k Hk. apply having_In. split; [auto|easy]. }
  destruct S as [S|S].
  { exfalso. assert (T : forallb (fun k => nonempty (asked k i)) count = true); [|congruence].
    apply forallb_forall. intros k Hk. specialize (Ha k Hk). now destruct (asked k i). }
  destruct S as (Pl & Own & Cross & ends & Means & Cost). exists ends.
  split; [|split; [now apply means_usual|apply IH; auto; [|intros; now apply Hns]]].
  2: { unfold rest. cbn [fst]. destruct (reads _); [intros n; apply Pe|exact Pe]. }
  rewrite Hs in Cost.
  assert (Fa : forall k f, In k count -> In f (floors (gplain (part k)) (tr A i) (ns k) (ns' k)) -> In f (all_floors k i)).
  { intros k f Hk Hf. unfold all_floors, asked_floors. apply in_flat_map. exists (ns k, (i, l), ns' k). split; [now apply Ha|exact Hf]. }
  assert (Ca : forall k f, In k count -> In f (ceilings (gplain (part k)) (tr A i) (ns k) (ns' k)) -> In f (all_ceilings k i)).
  { intros k f Hk Hf. unfold all_ceilings, asked_ceilings. apply in_flat_map. exists (ns k, (i, l), ns' k). split; [now apply Ha|exact Hf]. }
  set (F := flat_map (fun k => floors (gplain (part k)) (tr A i) (ns k) (ns' k)) count ++ zero_if (shows_sample (tr A i))).
  set (Ce := flat_map (fun k => ceilings (gplain (part k)) (tr A i) (ns k) (ns' k)) count ++ zero_if (shows_sample (tr A i))).
  assert (FIn : forall k f, In k count -> In f (floors (gplain (part k)) (tr A i) (ns k) (ns' k)) -> In f F).
  { intros k f Hk Hf. unfold F. apply in_or_app. left. apply in_flat_map. eauto. }
  assert (CIn : forall k f, In k count -> In f (ceilings (gplain (part k)) (tr A i) (ns k) (ns' k)) -> In f Ce).
  { intros k f Hk Hf. unfold Ce. apply in_or_app. left. apply in_flat_map. eauto. }
  assert (Zero : forall b r, In r (zero_if b) -> b = true /\ r = 0%Q) by (intros [] r; simpl; intuition).
  exists F, Ce. cbv zeta. split; [|split; [|split; [|split; [|split; [|split; [|split; [|split; [|split]]]]]]]].
  - intros x Hx. specialize (Own x Hx). apply existsb_exists in Own as (k0 & Hk0 & M0).
    unfold ivs_at. destruct (find _ _) as [k|] eqn:Fk.
    + apply find_some in Fk as [Hk M]. apply (read_spec g A (p_hints C) c (part k) _ (part_graph k Hk) _ _ _ _ _ (He k Hk) Hx M).
    + apply (find_none _ _ Fk) in Hk0. simpl in Hk0. congruence.
  - intros x lo' hi' M E. apply ivs_inv in E as (k & Hk & Fk & E).
    destruct (kept_spec g A (p_hints C) c (part k) _ (part_graph k Hk) _ _ _ _ _ _ _ (He k Hk) M E) as (lo & hi & E' & H).
    exists lo, hi. split; [|easy]. unfold ivs_at. now rewrite Fk.
  - intros x lo hi Hx E. apply ivs_inv in E as (k & Hk & _ & E). apply (CIn k); auto.
    unfold ceilings. apply in_or_app. left. apply (ends_In (part k) fst _ _ x (lo, hi)); auto.
  - intros x lo hi Hx E. apply ivs_inv in E as (k & Hk & _ & E). apply (FIn k); auto.
    unfold floors. apply in_or_app. left. apply (ends_In (part k) snd _ _ x (lo, hi)); auto.
  - intros x lo hi Hx E. apply ivs_inv in E as (k & Hk & _ & E). split; [apply (FIn k)|apply (CIn k)]; auto;
    unfold floors, ceilings; rewrite !in_app_iff; right; left.
    + apply (ends_In (part k) fst _ _ x (lo, hi)); auto.
    + apply (ends_In (part k) snd _ _ x (lo, hi)); auto.
  - easy.
  - intros sg sh _ _ HF HC. destruct (plain_spec _ Pl) as (_ & Cop & Ask). split.
    + intros a b Hab. destruct (Ask a b Hab) as [Sh E].
      assert (HF0 : Q2R 0 <= sh) by (apply HF; unfold F; rewrite in_app_iff, Sh; right; now left).
      assert (HC0 : sh <= Q2R 0) by (apply HC; unfold Ce; rewrite in_app_iff, Sh; right; now left).
      rewrite Q2R_0 in *. destruct (E sg sh ltac:(lra)) as [-> ->]. lra.
    + intros x u lo hi Hu. rewrite Cop in Hu. easy.
  - (* no floor is above a ceiling: of one part, of two parts, or of the number shown *)
    assert (Sh0 : forall k f, shows_sample (tr A i) = true -> In k count ->
       (In f (floors (gplain (part k)) (tr A i) (ns k) (ns' k)) -> Q2R f <= Q2R 0) /\
       (In f (ceilings (gplain (part k)) (tr A i) (ns k) (ns' k)) -> Q2R 0 <= Q2R f)).
    { intros k f Sh Hk. destruct (shown_spec _ Sh) as (p1 & p2 & H1 & H2 & F1 & F2).
      split; intros Hf; apply (fit_spec g A (p_hints C) c (part k) _ (part_graph k Hk) _ _ _ _ _ _ (He k Hk)); auto;
      unfold floors, ceilings; rewrite !in_app_iff; right; right; apply in_flat_map; [exists p2|exists p1]; split; auto;
      [rewrite F2|rewrite F1]; now left. }
    intros f e Hf Hq. unfold F, Ce in Hf, Hq. apply in_app_or in Hf, Hq.
    destruct Hf as [Hf|Hf], Hq as [Hq|Hq].
    + apply in_flat_map in Hf as (k & Hk & Hf). apply in_flat_map in Hq as (k' & Hk' & Hq).
      destruct (Nat.eqb_spec k k') as [<-|Ne].
      * apply (fit_spec g A (p_hints C) c (part k) _ (part_graph k Hk) _ _ _ _ _ _ (He k Hk)); auto.
      * apply (fits_spec _ _ _ _ (Cross k k' Hk Hk' Ne)); auto.
    + apply Zero in Hq as [Sh ->]. apply in_flat_map in Hf as (k & Hk & Hf). now apply (Sh0 k f Sh Hk).
    + apply Zero in Hf as [Sh ->]. apply in_flat_map in Hq as (k & Hk & Hq). now apply (Sh0 k e Sh Hk).
    + apply Zero in Hf as [_ ->]. apply Zero in Hq as [_ ->]. lra.
  - intros r [Hr|Hr]; unfold F, Ce in Hr; apply in_app_or in Hr as [Hr|Hr];
    try (apply Zero in Hr as [_ ->]; rewrite Q2R_0; apply ok_0);
    apply in_flat_map in Hr as (k & Hk & Hr).
    + eapply (floors_ok N g okq_ok A (p_hints C) c (part k)); eauto using part_graph.
    + eapply (ceilings_ok N g okq_ok A (p_hints C) c (part k)); eauto using part_graph.
  - eapply check_cost_sub; [| |exact Cost].
    + intros f Hf. unfold F in Hf. apply in_app_or in Hf as [Hf|Hf]; apply in_or_app; [left|now right].
      apply in_flat_map in Hf as (k & Hk & Hf). apply in_flat_map. eauto.
    + intros f Hf. unfold Ce in Hf. apply in_app_or in Hf as [Hf|Hf]; apply in_or_app; [left|now right].
      apply in_flat_map in Hf as (k & Hk & Hf). apply in_flat_map. eauto.
Qed.

Theorem private_in_parts a b w : good_word N w -> (whole g = true -> forall n, ok N (a n)) -> adjacent N A c a b -> prob N A a w <= exp (eps * Q2R (c_D c)) * prob N A b w.
Proof.
  destruct Pparts as (HM & _ & _ & _ & _ & HD). intros Gw Wh Adj. apply (shifted_private Heps N g A (p_hints C) c factors_ok smooth_ok HM a b Adj); auto.
  assert (Wh' : whole g = true -> given_ok N (a, fun _ => 0)) by (intros W; split; cbn [fst snd]; intros; [now apply Wh|apply ok_0]).
  intros p w' Gw' Hc.
  destruct (Req_dec (Pp N A p w' (initial A) (fun _ => 0) (a, fun _ => 0)) 0) as [H|H]; [now left|right].
  destruct (choice count (fun k n => (n < length (l_nodes (part k)))%nat /\ lrun (part k) n (usual_ways p))) as [ns Hns].
  { intros k Hk. destruct (opened N g okq_ok smooth_ok factors_ok whole_ok A (p_hints C) c (part k) _ HM (part_graph k Hk) p w' (a, fun _ => 0) Gw' Wh' Hc) as [Ho|H']; [|contradiction].
    assert (Hb : brun (part k) 0 (usual_ways p)).
    { apply (along (p_hints C) c (part k) _ a b p (fun _ => brun (part k) 0 (usual_ways p)) HM (part_graph k Hk) Hc Ho Adj).
      - intros _ la e e' _ H1 _. exact H1.
      - intros ws e <- _ HW. pose proof (walk_brun A c (part k) ws 0 _ HW) as Hb. now rewrite <- (brun_usual k ws Hk 0 Hb). }
    destruct (covered g A (p_hints C) c (part k) _ (part_graph k Hk) _ Hb) as (n & Ln & _ & HL). eauto. }
  exists (lowest (ivs_at ns)).
  assert (Iv : forall x lo hi, ivs_at ns x = Some (lo, hi) -> Q2R lo <= Q2R hi).
  { intros x lo hi E. apply ivs_inv in E as (k & Hk & _ & E).
    eapply (iv_ok N g okq_ok A (p_hints C) c (part k)); [exact (part_graph k Hk)| |exact E]. now apply Hns. }
  assert (Pe : proper N c (fun n => a n - b n)) by exact (proj1 Adj).
  assert (Ge : given_ok N (fun n => a n - b n, fun _ => 0)) by (split; cbn [fst snd]; intros; [apply Pe|apply ok_0]).
  assert (Gd : guided N g A (p_hints C) [] (ivs_at ns) (pot C (initial A)) p (fun n => a n - b n, fun _ => 0)).
  { apply parts_guided; auto. intros k Hk. now apply Hns. }
  pose proof (guided_shifted N g A (p_hints C) factors_ok HM p _ _ _ (initial A) _ _ Hc Ge (lowest_inside _ Iv) (keeps_nothing _) Gd) as S.
  apply (shifted_more N A (p_hints C) p _ _ (Q2R (pot C (initial A)))); auto. now apply Qle_R.
Qed.
End Parts.
End Sound.
