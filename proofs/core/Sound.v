(* Certificates that the checker accepts prove privacy, for any noise that obeys the axioms. *)
From Coq Require Import Reals QArith Qreals List Bool Arith Lra Lia FunctionalExtensionality.
From Symdipa.Core Require Import Model Lookup Checker Paths Cover Ways Guide.
Import ListNotations.
Open Scope R_scope.

Section Sound.
Context {eps : R} (Heps : 0 < eps) (N : noise eps) (g : grade).
Hypothesis okq_ok : forall q, shift_ok g q = true -> ok N (Q2R q).
Hypothesis factors_ok : forall q x, factor_ok g q = true -> ok N x -> ok N (Q2R q * x).
Hypothesis mixes_ok : mixes g = true -> forall x, ok N x.
Hypothesis ends_ok : forall lo hi x, only_ends g lo hi = true -> ok N x -> Q2R lo <= x <= Q2R hi -> x = Q2R lo \/ x = 0 \/ x = Q2R hi.
Variable A : automaton.

(* Shifts at the lower ends of intervals. *)
Definition lowest (v : ivmap) : nat -> R := fun x => match v x with Some (lo, _) => Q2R lo | None => 0 end.
Lemma lowest_inside v : (forall x lo hi, v x = Some (lo, hi) -> Q2R lo <= Q2R hi) -> inside v (lowest v).
Proof. intros H x lo hi E. unfold lowest. rewrite E. pose proof (H x lo hi E). lra. Qed.

(* Along a path that the facts allow, something holds if it does for all ways of the base, and for means. *)
Lemma along H c gr own a b p (R : stream -> Prop) : check_model g A (plain A H) = true ->
  check_graph g A (plain A H) c gr (gplain gr) true own = true -> chain A (initial A) p -> open A gr 0 p -> adjacent N A c a b ->
  (mixes g = true -> convex R) ->
  (forall ws e, map fst ws = p -> proper N c e -> walk A c gr ws 0 (e, fun _ => 0) -> R e) -> R (fun n => a n - b n).
Proof.
  intros HM HG Hc Ho [Adj Dif] Cv HR. destruct (base_0 g A H c gr true own HG) as (B0 & BI & _ & _ & BA & BK).
  apply (ways N g mixes_ok ends_ok A H c gr own HM HG p 0 (fun _ => 0)); auto.
  - now rewrite BI.
  - intros x q Hx. rewrite BK in Hx. easy.
  - now rewrite BA.
Qed.

(* ---- A ground and the parts on it ---- *)

Local Lemma forallb_numbered {X} (f : nat * X -> bool) l k x : forallb f (numbered l) = true -> (k < length l)%nat -> f (k, nth k l x) = true.
Proof.
  rewrite forallb_forall. intros H Hk. apply H. unfold numbered, numbers.
  replace k with (nth k (seq 0 (length l)) 0%nat) at 1 by now apply seq_nth. rewrite <- combine_nth by apply seq_length.
  apply nth_In. now rewrite combine_length, seq_length, Nat.min_id.
Qed.

Local Lemma choice (l : list nat) (R : nat -> nat -> Prop) : (forall k, In k l -> exists n, R k n) ->
  exists f, forall k, In k l -> R k (f k).
Proof.
  induction l as [|k l IH]; intros H; [now exists (fun _ => 0%nat)|].
  destruct (H k (or_introl eq_refl)) as [n Hn]. destruct IH as [f Hf]; [intros; apply H; now right|].
  exists (fun k' => if Nat.eqb k' k then n else f k'). intros k' Hk'. destruct (Nat.eqb_spec k' k) as [->|Ne]; [easy|].
  destruct Hk' as [<-|Hk']; [easy|auto].
Qed.

Section Layers.
Variable C : cert.
Hypothesis Hcheck : check g A C = true.
Let c := c_claim C.
Let ground := c_ground C.
Let parts := c_parts C.
Let B := lifted_of A C.
Let nothing := {| b_nodes := []; b_edges := []; forward := true; everywhere := []; l_nodes := []; l_edges := [] |}.
Let layer k : graph := nth k (ground :: parts) nothing.
Let all := numbers (ground :: parts).
Let rest_of := seq 1 (length parts).
Local Notation V := (plain A (c_hints C)).
Local Notation W := (gplain ground).
Local Notation own k := (is_in (layer_of C) k).
Local Notation ledge_of e := (nth e (l_edges ground) (0, (0, Same), 0)%nat).

Local Lemma Hparts : check_model g A V = true /\ check_graph g A V c ground W true (own 0%nat) = true /\
  check_bound C W (map gplain parts) = true /\
  (forall e, (e < length (l_edges ground))%nat -> check_step V C W (map gplain parts) (layer_of C) (e, ledge_of e) = true) /\
  (forall k, In k rest_of -> check_graph g B (plain B no_hints) c (layer k) (gplain (layer k)) false (own k) = true).
Proof.
  pose proof Hcheck as H. rewrite check_plain in H. unfold check_ground in H. rewrite !andb_true_iff in H.
  destruct H as [[[[[_ HM] HG] HB] HS] HP]. repeat split; auto.
  - intros e He. now apply forallb_numbered.
  - intros k Hk. apply in_seq in Hk. destruct k as [|k]; [lia|].
    assert (L : length (map gplain (c_parts C)) = length (c_parts C)) by apply map_length.
    apply (forallb_numbered _ _ k (gplain nothing, nothing)) in HP.
    + rewrite combine_nth, map_nth in HP by exact L. exact HP.
    + rewrite combine_length, L, Nat.min_id. unfold parts in Hk. lia.
Qed.

Local Lemma all_cases k : In k all -> k = 0%nat \/ In k rest_of.
Proof. unfold all, rest_of, numbers. rewrite !in_seq. simpl. lia. Qed.

(* -- the lift of the ground as an automaton -- *)

Local Lemma B_tr e : (e < length (l_edges ground))%nat ->
  tr B e = between (source (ledge_of e)) (target (ledge_of e)) (tr A (number (ledge_of e))).
Proof.
  intros He. unfold tr at 1. unfold B, lifted_of, lifted. cbn [transitions]. see_goal.
  rewrite (nth_indep _ _ (between (source (0, (0, Same), 0)%nat) (target (0, (0, Same), 0)%nat) (tr A (number (0, (0, Same), 0)%nat))))
    by now rewrite map_length.
  exact (map_nth (fun e => between (source e) (target e) (tr A (number e))) (l_edges ground) _ e).
Qed.
Local Lemma B_leaving n e : In e (leaving B n) -> (e < length (l_edges ground))%nat /\ source (ledge_of e) = n.
Proof.
  intros H. apply leaving_In in H as [He H]. unfold B, lifted_of, lifted in He. cbn [transitions] in He. rewrite map_length in He.
  rewrite B_tr in H by easy. easy.
Qed.
Local Lemma B_st n : (n < length (l_nodes ground))%nat -> st B n = st A (b_state (bn ground (l_base (ln ground n)))).
Proof.
  intros Hn. unfold st at 1. unfold B, lifted_of, lifted. cbn [states]. see_goal.
  rewrite (nth_indep _ _ (st A (b_state (bn ground (l_base lnode0))))) by now rewrite map_length.
  exact (map_nth (fun n => st A (b_state (bn ground (l_base n)))) (l_nodes ground) _ n).
Qed.

(* Numbers of edges and the transitions with what is read. *)
Definition ways_of (es : list nat) : list way := map (fun e => via (ledge_of e)) es.
Definition steps_of (es : list nat) : list nat := map (fun e => number (ledge_of e)) es.

Local Lemma steps_ways es : map fst (ways_of es) = steps_of es.
Proof. unfold ways_of, steps_of. now rewrite map_map. Qed.

Local Lemma lrun_chain ws : forall n, lrun ground n ws -> exists es, chain B n es /\ ways_of es = ws.
Proof.
  induction ws as [|w ws IH]; intros n; simpl; [exists []; simpl; auto|]. intros (n' & He & HL).
  destruct (IH n' HL) as (es & Hes & <-). apply (In_nth _ _ (0, (0, Same), 0)%nat) in He as (e & He & E0).
  assert (E : ledge_of e = (n, w, n')) by exact E0. clear E0.
  exists (e :: es). unfold ways_of. simpl. rewrite B_tr by easy. rewrite E. split; [split; [|exact Hes]|easy].
  apply leaving_In. unfold B, lifted_of, lifted. cbn [transitions]. fold ground. rewrite map_length. split; [easy|].
  change (src (tr B e) = n). rewrite B_tr, E by easy. easy.
Qed.

(* A path has the probability that it has as one of the lift. *)
Local Lemma B_Pp es : forall w n s a, (n < length (l_nodes ground))%nat -> chain B n es ->
  Pp N B es w n s a = Pp N A (steps_of es) w (b_state (bn ground (l_base (ln ground n)))) s a.
Proof.
  destruct Hparts as (_ & HG & _). induction es as [|e es IH]; intros [|l w] n s a Hn Hc; simpl; auto. destruct Hc as [He Hc].
  destruct (B_leaving _ _ He) as [Le Hs].
  pose proof (nth_In (l_edges ground) (0, (0, Same), 0)%nat Le) as Hin.
  destruct (ledge_of e) as [[m [i x]] n'] eqn:Ee. cbn [source fst] in Hs. subst m.
  destruct (ledge_over g A (c_hints C) c ground true _ HG _ _ _ Hin) as (_ & Ln' & Gl).
  destruct (goal_spec g A (c_hints C) c ground true _ HG _ _ _ _ Gl) as (_ & _ & _ & _ & Ht & _).
  assert (Et : tr B e = between n n' (tr A i)) by (rewrite B_tr, Ee; easy).
  unfold step. rewrite B_st by easy. unfold number. cbn [via fst snd].
  set (q := b_state (bn ground (l_base (ln ground n)))) in *.
  assert (En : forall b, entry B n b = entry A q b) by (intros b; unfold entry; now rewrite B_st).
  assert (Ei : forall b, input B n b = input A q b) by (intros b; unfold input; now rewrite En, B_st).
  rewrite Ei. f_equal. apply functional_extensionality. intros z. unfold after_step. rewrite Et, Ei in *.
  change (enabled (between n n' (tr A i)) s z) with (enabled (tr A i) s z).
  change (upd s (between n n' (tr A i)) z) with (upd s (tr A i) z). cbn [out tgt between].
  destruct (enabled (tr A i) s z); [|easy].
  assert (Es : forall o m l1, shows N B n m o l1 s z = shows N A q m o l1 s z).
  { induction o as [|it o IHo]; intros m [|l1 l2]; simpl; auto. rewrite IHo. f_equal.
    destruct it, l1; simpl; auto. now rewrite B_st. }
  rewrite Es. f_equal. rewrite Ht.
  replace (rest B n e a) with (rest A q i a); [now apply IH|].
  unfold rest. rewrite En, B_st, Et by easy. reflexivity.
Qed.

(* -- what all layers allow -- *)

(* The intervals of the layer that has the variable, at the node where that layer's path is. *)
Definition ivs_at (ns : nat -> nat) : ivmap := fun x => iv (gplain (layer (layer_of C x))) (ns (layer_of C x)) x.

Local Lemma ivs_some ns x r : ivs_at ns x = Some r -> In (layer_of C x) all.
Proof.
  unfold ivs_at. intros E. unfold all, numbers. apply in_seq. split; [lia|]. simpl length.
  destruct (Nat.lt_ge_cases (layer_of C x) (length (ground :: parts))) as [L|L]; [exact L|].
  unfold layer in E. rewrite nth_overflow in E by exact L. unfold iv in E. cbn in E. now destruct (ns _).
Qed.

Local Lemma fits_spec' F Ce : fits F Ce = true -> forall f e, In f F -> In e Ce -> Q2R f <= Q2R e.
Proof. intros H f e. now apply fits_spec. Qed.

(* Every layer goes on: the ground by its e-th edge, each part by an edge over it. *)
Definition goes (ns : nat -> nat) e (ns' : nat -> nat) :=
  source (ledge_of e) = ns 0%nat /\ target (ledge_of e) = ns' 0%nat /\
  forall k, In k rest_of -> In (ns k, only e, ns' k) (l_edges (layer k)).

Local Lemma layer_enough ns e ns' k (t := tr A (number (ledge_of e))) : (e < length (l_edges ground))%nat -> goes ns e ns' -> In k all ->
  enough N (own k) (iv (gplain (layer k)) (ns k)) (iv (gplain (layer k)) (ns' k)) t
    (floors (gplain (layer k)) t (ns k) (ns' k)) (ceilings (gplain (layer k)) t (ns k) (ns' k)) /\
  (forall f d, In f (floors (gplain (layer k)) t (ns k) (ns' k)) -> In d (ceilings (gplain (layer k)) t (ns k) (ns' k)) -> Q2R f <= Q2R d) /\
  (forall n x lo hi, n = ns k \/ n = ns' k -> iv (gplain (layer k)) n x = Some (lo, hi) -> layer_of C x = k).
Proof.
  destruct Hparts as (_ & HG & _ & _ & HP). intros He (Hs & Ht & Hk) Hall. apply all_cases in Hall as [->|Hr].
  - pose proof (nth_In (l_edges ground) (0, (0, Same), 0)%nat He) as Hin.
    destruct (ledge_of e) as [[n [i l]] n'] eqn:Ee. cbn [source target fst snd] in Hs, Ht. subst n n'.
    destruct (ledge_over g A (c_hints C) c ground true _ HG _ _ _ Hin) as (Ln & Ln' & _).
    split; [|split].
    + apply (edge_enough N g okq_ok A (c_hints C) c ground true _ HG _ _ l _ Hin).
    + intros f d. apply (fit_spec g A (c_hints C) c ground true _ HG _ _ l _ _ _ Hin).
    + intros n x lo hi Hn E. eapply (iv_ok N g okq_ok A (c_hints C) c ground true _ HG) in E as [E _]; [|destruct Hn; subst; auto].
      now apply Nat.eqb_eq in E.
  - specialize (Hk k Hr). specialize (HP k Hr). destruct (ledge_over g B no_hints c (layer k) false _ HP _ _ _ Hk) as (Ln & Ln' & _).
    assert (Et : tr B e = between (ns 0%nat) (ns' 0%nat) t) by (rewrite B_tr by easy; now rewrite Hs, Ht).
    split; [|split].
    + pose proof (edge_enough N g okq_ok B no_hints c (layer k) false _ HP _ _ Same _ Hk) as H. rewrite Et in H. exact H.
    + intros f d. pose proof (fit_spec g B no_hints c (layer k) false _ HP _ _ Same _ f d Hk) as H. rewrite Et in H. exact H.
    + intros n x lo hi Hn E. eapply (iv_ok N g okq_ok B no_hints c (layer k) false _ HP) in E as [E _]; [|destruct Hn; subst; auto].
      now apply Nat.eqb_eq in E.
Qed.

(* What the check of a step says, without views. *)
Let range_of t e k := if Nat.eqb k 0 then range W t [ledge_of e] else range (gplain (layer k)) t (by_of (gplain (layer k)) e).

Local Lemma compatible_spec l : compatible l = true -> forall i j, i <> j -> (i < length l)%nat -> (j < length l)%nat ->
  fits (fst (nth i l ([], []))) (snd (nth j l ([], []))) = true.
Proof.
  induction l as [|[F Ce] l IH]; simpl; [lia|]. rewrite andb_true_iff, forallb_forall. intros [H Ag] i j Ne Hi Hj.
  destruct i as [|i], j as [|j]; [easy| | |apply IH; auto; lia].
  - specialize (H _ (nth_In l ([], []) (n := j) ltac:(lia))). now apply andb_true_iff in H.
  - specialize (H _ (nth_In l ([], []) (n := i) ltac:(lia))). now apply andb_true_iff in H.
Qed.

Local Lemma listed {X} (f : nat -> X) (h : gview -> X) : (forall k, In k rest_of -> f k = h (gplain (layer k))) ->
  f 0%nat :: map h (map gplain parts) = map f all.
Proof.
  intros H. unfold all, numbers. simpl. f_equal. rewrite map_map, <- seq_shift, map_map. unfold rest_of, layer in H. clear -H.
  revert H. generalize parts as l. intros l.
  assert (G : forall l k, (forall j, (j < length l)%nat -> f (S (k + j)) = h (gplain (nth j l nothing))) ->
    map (fun G => h (gplain G)) l = map (fun j => f (S j)) (seq k (length l))).
  { clear. induction l as [|x l IH]; intros k H; simpl; [easy|]. f_equal.
    - specialize (H 0%nat ltac:(simpl; lia)). now rewrite Nat.add_0_r in H.
    - apply IH. intros j Hj. specialize (H (S j) ltac:(simpl; lia)). now rewrite Nat.add_succ_r in H. }
  intros H. apply G. intros j Hj. simpl. apply (H (S j)). apply in_seq. lia.
Qed.

Local Lemma step_spec e (t := tr A (number (ledge_of e))) : (e < length (l_edges ground))%nat ->
  (forall k, In k rest_of -> exists n n', In (n, only e, n') (l_edges (layer k))) ->
  (forall x, In x (t_ge t ++ t_lt t) -> In (layer_of C x) all) /\
  (forall p, In p (asked t) -> exists k, In k all /\ is_own (own k) p = true) /\
  (forall k k', In k all -> In k' all -> k <> k' -> fits (fst (range_of t e k)) (snd (range_of t e k')) = true) /\
  exists ends, means V c t (snd (via (ledge_of e))) (b_known (bn ground (l_base (ln ground (source (ledge_of e)))))) = Some ends /\
  check_cost V t ends (flat_map (fun k => fst (range_of t e k)) all) (flat_map (fun k => snd (range_of t e k)) all)
    (l_pot (ln ground (source (ledge_of e))) - l_pot (ln ground (target (ledge_of e)))) = true.
Proof.
  intros He Hk. destruct Hparts as (_ & _ & _ & HS & _). specialize (HS e He). unfold check_step in HS.
  assert (ER : range W t [ledge_of e] :: map (fun U => range U t (by_of U e)) (map gplain parts) = map (range_of t e) all).
  { apply (listed (range_of t e) (fun U => range U t (by_of U e))). intros k Hr. apply in_seq in Hr. unfold range_of.
    destruct (Nat.eqb_spec k 0); [lia|easy]. }
  cbn [snd] in HS. revert HS ER. unfold t. destruct (ledge_of e) as [[n [i l]] n'] eqn:Ee. unfold number. cbn [source target via fst snd].
  clear t. set (t := tr A i). see_goal. cbv zeta. intros HS ER. fold t in HS.
  assert (Skip : forallb (fun U => nonempty (by_of U e)) (map gplain parts) = true).
  { apply forallb_forall. intros U HU. apply in_map_iff in HU as (G & <- & HG). apply (In_nth _ _ nothing) in HG as (k & Lk & EG).
    destruct (Hk (S k)) as (m & m' & Hm); [apply in_seq; lia|]. unfold layer in Hm. simpl in Hm. rewrite EG in Hm.
    assert (In (m, only e, m') (by_of (gplain G) e)) as HI by (apply having_In; auto). now destruct (by_of (gplain G) e). }
  rewrite Skip, ER in HS. cbn [negb orb] in HS. rewrite !andb_true_iff, !forallb_forall in HS.
  destruct HS as [[[Rd As] Cr] Co].
  assert (Nall : forall k, (k <= length parts)%nat -> In k all) by (intros k Hle; apply in_seq; simpl; lia).
  split; [|split; [|split]].
  - intros x Hx. apply Nall. apply Nat.leb_le. rewrite <- (map_length gplain). now apply Rd.
  - intros p Hp. specialize (As p Hp). unfold is_answered in As. unfold is_own.
    destruct (held_by (fst p) ++ held_by (snd p)) as [|x xs] eqn:Eh; [exists 0%nat; split; [apply Nall; lia|easy]|].
    apply andb_true_iff in As as [L As]. exists (layer_of C x). rewrite map_length in L. split; [now apply Nall, Nat.leb_le|].
    simpl. unfold is_in at 1. now rewrite Nat.eqb_refl.
  - intros k k' Hk1 Hk2 Ne. pose proof (compatible_spec _ Cr k k' Ne) as H. rewrite map_length in H.
    assert (Nth : forall j, In j all -> (j < length all)%nat /\ nth j (map (range_of t e) all) ([], []) = range_of t e j).
    { intros j Hj. unfold all, numbers in *. apply in_seq in Hj. rewrite seq_length. split; [lia|].
      rewrite (nth_indep _ _ (range_of t e 0%nat)) by (rewrite map_length, seq_length; lia). rewrite map_nth. f_equal.
      now apply seq_nth. }
    destruct (Nth k Hk1) as [L1 E1], (Nth k' Hk2) as [L2 E2]. rewrite E1, E2 in H. now apply H.
  - fold c in Co. destruct (means V c t l _) as [ends|]; [|easy]. exists ends. split; [easy|].
    rewrite !flat_map_concat_map, !map_map in Co. now rewrite !flat_map_concat_map.
Qed.

Lemma layers_edge ns e ns' (t := tr A (number (ledge_of e))) : (e < length (l_edges ground))%nat -> goes ns e ns' ->
  exists ends, means V c t (snd (via (ledge_of e))) (b_known (bn ground (l_base (ln ground (ns 0%nat))))) = Some ends /\
  edge_ok N A (c_hints C) (ivs_at ns) (ivs_at ns') (number (ledge_of e)) ends (l_pot (ln ground (ns 0%nat))) (l_pot (ln ground (ns' 0%nat))).
Proof.
  intros He Hg. pose proof Hg as (Hs & Ht & Hk).
  destruct (step_spec e He) as (Rd & As & Cr & ends & Me & Co); [intros k Hr; eauto|]. fold t in Rd, As, Cr, Me, Co.
  rewrite Hs, Ht in Co. rewrite Hs in Me. exists ends. split; [exact Me|].
  set (F k := floors (gplain (layer k)) t (ns k) (ns' k)). set (Ce k := ceilings (gplain (layer k)) t (ns k) (ns' k)).
  assert (Sub : forall k q, In k all -> (In q (F k) -> In q (fst (range_of t e k))) /\ (In q (Ce k) -> In q (snd (range_of t e k)))).
  { intros k q Hall. unfold range_of, F, Ce. apply all_cases in Hall as [->|Hr].
    - cbn [Nat.eqb range fst snd flat_map]. rewrite Hs, Ht, !app_nil_r. auto.
    - specialize (Hk k Hr). apply in_seq in Hr. destruct (Nat.eqb_spec k 0); [lia|].
      split; intros Hq; apply in_flat_map; exists (ns k, only e, ns' k); (split; [now apply having_In|exact Hq]). }
  pose proof (fun k => layer_enough ns e ns' k He Hg) as L. fold t in L.
  assert (At : forall x r, ivs_at ns x = Some r -> In (layer_of C x) all) by (intros x r; apply ivs_some).
  assert (At' : forall x r, ivs_at ns' x = Some r -> In (layer_of C x) all) by (intros x r; apply ivs_some).
  exists (flat_map F all), (flat_map Ce all). fold t. split; [|split].
  - assert (InF : forall k q, In k all -> In q (F k) -> In q (flat_map F all)) by (intros; apply in_flat_map; eauto).
    assert (InC : forall k q, In k all -> In q (Ce k) -> In q (flat_map Ce all)) by (intros; apply in_flat_map; eauto).
    split; [|split; [|split; [|split; [|split; [|split]]]]].
    + intros x Hx _. destruct (L _ (Rd x Hx)) as ((Read & _) & _). apply (Read x Hx), Nat.eqb_refl.
    + intros x lo hi M E. destruct (L _ (At' _ _ E)) as ((_ & Kept & _) & _). exact (Kept x lo hi M E).
    + intros x lo hi Hx E. destruct (L _ (At _ _ E)) as ((_ & _ & Ge & _) & _). apply (InC _ _ (At _ _ E)), (Ge x lo hi Hx E).
    + intros x lo hi Hx E. destruct (L _ (At _ _ E)) as ((_ & _ & _ & Lt & _) & _). apply (InF _ _ (At _ _ E)), (Lt x lo hi Hx E).
    + intros x lo hi Hx E. destruct (L _ (At' _ _ E)) as ((_ & _ & _ & _ & As' & _) & _). destruct (As' x lo hi Hx E).
      split; [apply (InF _ _ (At' _ _ E))|apply (InC _ _ (At' _ _ E))]; auto.
    + intros sg sh Iv HF HC.
      assert (Ik : forall k, In k all -> inside (iv (gplain (layer k)) (ns k)) sg).
      { intros k Hall x lo hi E. destruct (L _ Hall) as (_ & _ & Lk). specialize (Lk _ _ _ _ (or_introl eq_refl) E).
        apply Iv. unfold ivs_at. now rewrite Lk. }
      split.
      * intros a b Hab _. destruct (As _ Hab) as (k & Hall & Ow). destruct (L _ Hall) as ((_ & _ & _ & _ & _ & Ask & _) & _).
        apply (Ask sg sh); eauto.
      * intros x u lo hi Hu E. destruct (L _ (At' _ _ E)) as ((_ & _ & _ & _ & _ & Ask & _) & _).
        eapply (Ask sg sh); eauto.
    + intros q [Hq|Hq]; apply in_flat_map in Hq as (k & Hall & Hq); apply (L _ Hall); auto.
  - intros f d Hf Hd. apply in_flat_map in Hf as (k & Hk1 & Hf). apply in_flat_map in Hd as (k' & Hk2 & Hd).
    destruct (Nat.eq_dec k k') as [<-|Ne]; [now apply (L _ Hk1)|].
    apply (fits_spec' _ _ (Cr k k' Hk1 Hk2 Ne)); now apply Sub.
  - eapply check_cost_sub; [| |exact Co]; intros q Hq; apply in_flat_map in Hq as (k & Hall & Hq); apply in_flat_map; exists k; (split; [easy|now apply Sub]).
Qed.

Local Lemma pot_pos n : (n < length (l_nodes ground))%nat -> 0 <= Q2R (l_pot (ln ground n)) /\
  (l_base (ln ground n) = 0%nat -> Q2R (l_pot (ln ground n)) <= Q2R (c_D c)).
Proof.
  intros Hn. destruct Hparts as (_ & _ & HB & _). unfold check_bound in HB. apply andb_true_iff in HB as [Pos _].
  rewrite forallb_forall in Pos. specialize (Pos _ (nth_In _ lnode0 Hn)). apply andb_true_iff in Pos as [P0 P1].
  fold (ln ground n) in P0, P1. apply Qle_R in P0. rewrite Q2R_0 in P0. split; [exact P0|]. intros E. rewrite E in P1. now apply Qle_R in P1.
Qed.

Lemma layers_guided es : forall ns a, (ns 0%nat < length (l_nodes ground))%nat -> chain B (ns 0%nat) es ->
  (forall k, In k rest_of -> lrun (layer k) (ns k) (map only es)) -> walk A c ground (ways_of es) (l_base (ln ground (ns 0%nat))) a ->
  guided N A (c_hints C) (ivs_at ns) (l_pot (ln ground (ns 0%nat))) (steps_of es) a.
Proof.
  destruct Hparts as (_ & HG & _). induction es as [|e es IH]; intros ns a Ln Hc HL HW; simpl; [now apply pot_pos|].
  destruct Hc as [Hi Hc]. destruct (B_leaving _ _ Hi) as [Le Hs]. rewrite B_tr in Hc by easy. cbn [tgt between] in Hc.
  destruct (choice all (fun k n' => if Nat.eqb k 0 then n' = target (ledge_of e)
    else In (ns k, only e, n') (l_edges (layer k)) /\ lrun (layer k) n' (map only es))) as [ns' Hns].
  { intros k Hall. destruct (all_cases _ Hall) as [->|Hr]; [simpl; eauto|]. specialize (HL k Hr). apply in_seq in Hr.
    destruct (Nat.eqb_spec k 0); [lia|]. exact HL. }
  assert (H0 : target (ledge_of e) = ns' 0%nat) by (symmetry; apply (Hns 0%nat); apply in_seq; simpl; lia).
  assert (Hr : forall k, In k rest_of -> In (ns k, only e, ns' k) (l_edges (layer k)) /\ lrun (layer k) (ns' k) (map only es)).
  { intros k Hk. specialize (Hns k). assert (In k all) as Hall by (apply in_seq in Hk; apply in_seq; simpl; lia). specialize (Hns Hall).
    apply in_seq in Hk. destruct (Nat.eqb_spec k 0); [lia|exact Hns]. }
  destruct (layers_edge ns e ns' Le) as (ends & Me & Ok); [split; [easy|split; [easy|]]; intros k Hk; now apply Hr|].
  exists (ivs_at ns'), (l_pot (ln ground (ns' 0%nat))), ends. split; [exact Ok|].
  assert (Hin : In (ledge_of e) (l_edges ground)) by now apply nth_In.
  destruct (ledge_of e) as [[m [i l]] n'] eqn:Ee. cbn [source target via number fst snd] in *. subst m n'.
  unfold ways_of in HW. simpl in HW. rewrite Ee in HW. cbn [via fst snd] in HW.
  destruct HW as (Ag & v' & Gl & Fit & HW).
  destruct (ledge_over g A (c_hints C) c ground true _ HG _ _ _ Hin) as (_ & Ln' & Gl'). rewrite Gl in Gl'. inversion Gl'; subst v'.
  split.
  - intros U. exact (means_spec A (c_hints C) c ground _ (i, l) _ a ends Ag Fit Me U).
  - apply IH; auto. intros k Hk. now apply Hr.
Qed.

(* -- the theorem -- *)

Theorem private a b w : good_word N w -> adjacent N A c a b -> prob N A a w <= exp (eps * Q2R (c_D c)) * prob N A b w.
Proof.
  destruct Hparts as (HM & HG & HB & _ & HP). intros Gw Adj. apply (shifted_private Heps N g A (c_hints C) c factors_ok HM a b Adj); auto.
  intros p w' _ Hc. destruct (Req_dec (Pp N A p w' (initial A) (fun _ => 0) (a, fun _ => 0)) 0) as [E0|Ne]; [now left|right].
  destruct (opened N g A (c_hints C) c ground true _ HG p w' (fun _ => 0) (a, fun _ => 0) Hc) as [Ho|E0]; [|contradiction].
  apply (along (c_hints C) c ground _ a b p (fun e => exists sg, shifted N A (c_hints C) sg p (e, fun _ => 0) (Q2R (c_D c))) HM HG Hc Ho Adj).
  - intros M la e e' Hla [sg S] [sg' S']. exists (mixed la sg sg').
    pose proof (shifted_mixed N g A (c_hints C) HM la (mixes_ok M) Hla p (initial A) _ _ _ _ _ _ Hc S S') as Sm.
    replace (la * Q2R (c_D c) + (1 - la) * Q2R (c_D c)) with (Q2R (c_D c)) in Sm by ring.
    unfold mixed_feed in Sm. cbn [fst snd] in Sm.
    replace (mixed la (fun _ => 0) (fun _ => 0)) with (fun _ : nat => 0) in Sm; [exact Sm|].
    apply functional_extensionality. intros x. unfold mixed. ring.
  - intros ws e Hws Pe HW. destruct (covered g A (c_hints C) c ground true _ HG ws (walk_brun A c ground ws 0 _ HW)) as (n0 & Ln & Hn & HL).
    destruct (lrun_chain ws n0 HL) as (es & Hes & Ews). subst ws. rewrite steps_ways in Hws.
    destruct (choice all (fun k n => if Nat.eqb k 0 then n = n0
      else (n < length (l_nodes (layer k)))%nat /\ lrun (layer k) n (map only es))) as [ns Hns].
    { intros k Hall. destruct (all_cases _ Hall) as [->|Hr]; [simpl; eauto|]. specialize (HP k Hr).
      assert (First : n0 = initial B).
      { unfold check_bound in HB. apply andb_true_iff in HB as [_ HB]. apply orb_true_iff in HB as [HB|HB].
        - unfold rest_of in Hr. destruct parts; [now apply in_seq in Hr; simpl in Hr; lia|discriminate].
        - unfold B, lifted_of, lifted, first_node. cbn [initial].
          assert (In n0 (over_of W 0)) as Hin by now apply over_In. fold ground.
          destruct (over_of W 0) as [|m [|m' l]]; try discriminate. now destruct Hin as [->|[]]. }
      apply in_seq in Hr. destruct (Nat.eqb_spec k 0); [lia|].
      assert (Hes' := Hes). rewrite First in Hes'.
      destruct (opened N g B no_hints c (layer k) false _ HP es w' (fun _ => 0) (a, fun _ => 0) Hes') as [Ho'|E0].
      - destruct (base_0 g B no_hints c (layer k) false _ HP) as (B0 & BI & _).
        assert (Hb : brun (layer k) 0 (map only es)).
        { apply (open_brun g B no_hints c (layer k) false _ HP); auto. now rewrite BI. }
        destruct (covered g B no_hints c (layer k) false _ HP _ Hb) as (m & Lm & _ & HLm). eauto.
      - rewrite <- First, B_Pp, Hn, Hws in E0 by easy.
        destruct (base_0 g A (c_hints C) c ground true _ HG) as (_ & BI & _). rewrite BI in E0. contradiction. }
    assert (H0 : ns 0%nat = n0) by (apply (Hns 0%nat), in_seq; simpl; lia).
    assert (Hr : forall k, In k rest_of -> (ns k < length (l_nodes (layer k)))%nat /\ lrun (layer k) (ns k) (map only es)).
    { intros k Hk. specialize (Hns k). apply in_seq in Hk. specialize (Hns ltac:(apply in_seq; simpl; lia)).
      destruct (Nat.eqb_spec k 0); [lia|exact Hns]. }
    assert (Iv : forall x lo hi, ivs_at ns x = Some (lo, hi) -> Q2R lo <= Q2R hi).
    { intros x lo hi E. destruct (all_cases _ (ivs_some _ _ _ E)) as [K|K]; unfold ivs_at in E.
      - rewrite K, H0 in E. now apply (iv_ok N g okq_ok A (c_hints C) c ground true _ HG) in E.
      - eapply (iv_ok N g okq_ok B no_hints c _ false _ (HP _ K)) in E; [apply E|]. now apply Hr. }
    assert (Ge : given_ok N (e, fun _ => 0)) by (split; cbn [fst snd]; intros; [apply Pe|apply ok_0]).
    exists (lowest (ivs_at ns)). rewrite <- Hn in HW.
    assert (Gd : guided N A (c_hints C) (ivs_at ns) (l_pot (ln ground n0)) p (e, fun _ => 0)).
    { rewrite <- Hws, <- H0. apply layers_guided; rewrite ?H0; auto. intros k Hk. now apply Hr. }
    pose proof (guided_shifted N g A (c_hints C) factors_ok HM p _ _ (initial A) _ _ Hc Ge (lowest_inside _ Iv) Gd) as S.
    apply (shifted_more N A (c_hints C) p _ _ (Q2R (l_pot (ln ground n0)))); [exact S|]. now apply pot_pos.
Qed.
End Layers.
End Sound.
