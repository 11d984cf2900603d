(* The base covers all feasible paths, the lift all paths of the base; what is stored before it is read. *)
From Coq Require Import Reals QArith Qreals List Bool Arith Lra Lia Classical.
From Symdipa.Core Require Import Model Lookup Checker.
From Symdipa.Above Require Import Paths Facts.
Import ListNotations.
Open Scope R_scope.

Ltac see H := cbn [tr_of st_of leaving_of stored_of moves_of lesser_of why_of plain
  bn_of out_of ln_of over_of from_of to_of by_of every_of gplain] in H.

Ltac see_goal := cbn [tr_of st_of leaving_of stored_of moves_of lesser_of why_of plain
  bn_of out_of ln_of over_of from_of to_of by_of every_of gplain].

Lemma lookup_In {X} x l (v : X) : lookup x l = Some v -> In (x, v) l.
Proof.
  induction l as [|[y w] l IH]; simpl; [easy|]. destruct (Nat.eqb_spec x y) as [->|]; intros H; [inversion H; now left|right; auto].
Qed.
Lemma lookup_None {X} x (l : list (nat * X)) : lookup x l = None -> ~ In x (map fst l).
Proof.
  induction l as [|[y w] l IH]; simpl; [easy|]. destruct (Nat.eqb_spec x y) as [->|]; [easy|]. intros H [->|H']; [easy|now apply IH].
Qed.
Lemma lookup_not {X} x (l : list (nat * X)) : ~ In x (map fst l) -> lookup x l = None.
Proof.
  induction l as [|[y w] l IH]; simpl; [easy|]. destruct (Nat.eqb_spec x y) as [->|]; intros H; [exfalso; auto|auto].
Qed.

(* Factors of registers are allowed; where all values are integers, so are means and what is copied. *)
Definition numbers_ok {eps} (N : noise eps) (g : grade) (A : automaton) : Prop :=
  (forall q p, In p (factors (st A q)) -> factor_ok g (snd p) = true) /\
  (whole g = true ->
    (forall q, ok N (Q2R (mu (st A q)))) /\ (forall i x v, lookup x (copies (tr A i)) = Some v -> ok N (Q2R (plus v)))).

Section Numbers.
Context {eps : R} (N : noise eps) (g : grade) (A : automaton).
Hypothesis factors_ok : forall q x, factor_ok g q = true -> ok N x -> ok N (Q2R q * x).
Hypothesis HN : numbers_ok N g A.

(* The noise allows what a run is given, or its differences from what another one is given. *)
Definition given_ok (e : feed) := (forall n, ok N (fst e n)) /\ (forall x, ok N (snd e x)).

Lemma entry_given q e : given_ok e -> ok N (entry A q e).
Proof. intros [H _]. unfold entry. destruct (reads (st A q)); [apply H|apply ok_0]. Qed.
Lemma input_given q e : given_ok e -> ok N (input A q e).
Proof.
  intros He. unfold input. apply ok_plus; [now apply entry_given|]. pose proof (fun p => proj1 HN q p) as Fq.
  induction (factors (st A q)) as [|p l IH]; simpl; [apply ok_0|]. apply ok_plus.
  - apply factors_ok; [apply Fq; now left|apply He].
  - apply IH. intros p' Hp'. apply Fq. now right.
Qed.
Lemma rest_given q i e : given_ok e -> given_ok (rest A q i e).
Proof.
  intros He. pose proof (entry_given q e He) as Ee. destruct He as [H1 H2]. unfold rest. split; cbn [fst snd].
  - destruct (reads (st A q)); [|exact H1]. intros n. apply H1.
  - intros x. unfold set_registers. destruct (lookup x (sets (tr A i))) as [u|]; [|apply H2]. apply ok_plus.
    + destruct (from u); [apply H2|apply ok_0].
    + destruct (adds u); [easy|apply ok_0].
Qed.


(* Where all values are integers, all that a run meets is. *)
Hypothesis whole_ok : whole g = true -> forall x, ok N x -> integer x.
Definition stored_ok (s : store) := forall x, ok N (s x).

Lemma sample_ok q a s z : whole g = true -> given_ok a -> typically N A q a s z -> ok N z.
Proof.
  intros W Ga (_ & Oz & _). replace z with ((z - (input A q a + Q2R (mu (st A q)))) + (input A q a + Q2R (mu (st A q)))) by ring.
  apply ok_plus; [easy|]. apply ok_plus; [now apply input_given|apply (proj2 HN W)].
Qed.
Lemma upd_ok i s z : whole g = true -> stored_ok s -> ok N z -> stored_ok (upd s (tr A i) z).
Proof.
  intros W Os Oz x. unfold upd. destruct (mem x (asg (tr A i))); [easy|].
  destruct (lookup x (copies (tr A i))) as [v|] eqn:Cv; [|apply Os]. unfold value. apply ok_plus.
  - assert (Oh : ok N (held s z (whence v))) by (destruct (whence v); simpl; auto; apply ok_0).
    destruct (negative v); auto. now apply ok_opp.
  - exact (proj2 (proj2 HN W) i x v Cv).
Qed.
Lemma integers_met s z : whole g = true -> stored_ok s -> ok N z -> integers_in s z.
Proof. intros W Os Oz. split; [|intros x]; now apply whole_ok. Qed.
End Numbers.

Section Automaton.
Context {eps : R} (N : noise eps) (g : grade) (A : automaton) (H0 : hints).
Hypothesis smooth_ok : smooth g = true -> atomless N.
Hypothesis HM : check_model g A (plain A H0) = true.
Local Notation P := (Pp N A).

Local Lemma Htrans i : (i < length (transitions A))%nat -> check_trans g (plain A H0) i = true.
Proof. pose proof HM as H. unfold check_model in H. rewrite !andb_true_iff in H. destruct H as [[[H _] _] _]. now apply forallb_seq. Qed.

Lemma det : deterministic N A.
Proof.
  intros q i j a s z Hi Hj Hn Ty. apply leaving_In in Hi as [Hi Si].
  pose proof (Htrans i Hi) as H. unfold check_trans in H. see H. rewrite !andb_true_iff in H.
  destruct H as [[[_ H] _] _]. rewrite Si in H. rewrite forallb_forall in H. specialize (H j Hj).
  apply orb_true_iff in H as [H|H]; [apply Nat.eqb_eq in H; contradiction|].
  apply leaving_In in Hj as [_ Sj]. rewrite <- Si in Ty, Sj. now apply (opposite_spec N g A H0 smooth_ok (tr A i) (tr A j) a).
Qed.

Lemma live_spec l q : is_live l q = true -> live l (Q2R q).
Proof. destruct l; simpl; auto; intros H; apply Qlt_R in H; now rewrite Q2R_0 in H. Qed.

Lemma used_noise q i : In i (leaving A q) -> uses (tr A i) = true -> live (law_of (st A q)) (Q2R (d (st A q))).
Proof.
  intros Hi U. apply leaving_In in Hi as [Hi <-]. pose proof (Htrans i Hi) as H. unfold check_trans in H. see H. rewrite !andb_true_iff in H.
  destruct H as [[[[[[H _] _] _] _] _] _]. rewrite U in H. now apply live_spec.
Qed.
Lemma other_noise q i : In i (leaving A q) -> shows_other (tr A i) = true -> live (law_of' (st A q)) (Q2R (d' (st A q))).
Proof.
  intros Hi U. apply leaving_In in Hi as [Hi <-]. pose proof (Htrans i Hi) as H. unfold check_trans in H. see H. rewrite !andb_true_iff in H.
  destruct H as [[[[[[_ H] _] _] _] _] _]. rewrite U in H. now apply live_spec.
Qed.
Lemma one_other q i : In i (leaving A q) -> (length (filter is_other (out (tr A i))) <= 1)%nat.
Proof.
  intros Hi. apply leaving_In in Hi as [Hi _]. pose proof (Htrans i Hi) as H. unfold check_trans in H. see H. rewrite !andb_true_iff in H.
  destruct H as [[[[[_ H] _] _] _] _]. now apply Nat.leb_le.
Qed.
Lemma no_sample_copied q i : In i (leaving A q) -> forall x v, lookup x (copies (tr A i)) = Some v -> is_sample v = false.
Proof.
  intros Hi x v Hv. apply leaving_In in Hi as [Hi _]. pose proof (Htrans i Hi) as H. unfold check_trans in H. see H. rewrite !andb_true_iff in H.
  destruct H as [[[[_ H] _] _] _]. rewrite forallb_forall in H. apply lookup_In in Hv. specialize (H _ Hv). now apply negb_true_iff in H.
Qed.

(* Stores that agree on what is read. *)
Lemma value_agree s s' z v : (forall x, In x (held_by v) -> s x = s' x) -> value s z v = value s' z v.
Proof. unfold value, held_by. destruct (whence v); simpl; intros H; auto. now rewrite H by auto. Qed.

Section Agree.
Variables (t : trans) (s s' : store).
Hypothesis R : forall x, In x (read t) -> s x = s' x.

Lemma agree_term z v : In v (terms t) -> value s z v = value s' z v.
Proof.
  intros Hv. apply value_agree. intros x Hx. apply R. unfold read. rewrite !in_app_iff. right. right. left.
  apply in_flat_map. eauto.
Qed.
Lemma agree_atom z a : In a (others t) -> (true_of s z a <-> true_of s' z a).
Proof.
  intros Ha. unfold true_of. rewrite !(agree_term z); [easy| |]; unfold terms; apply in_or_app; left; apply in_flat_map; exists a; simpl; auto.
Qed.
Lemma agree_enabled z : enabled t s z = enabled t s' z.
Proof.
  apply eq_true_iff_eq. rewrite !enabled_iff.
  assert (forall x, In x (t_ge t ++ t_lt t) -> s x = s' x) as Ra.
  { intros x Hx. apply R. unfold read. rewrite !in_app_iff in *. tauto. }
  split; intros (H1 & H2 & H3); (split; [|split]); intros x Hx.
  - rewrite <- Ra; auto. apply in_or_app; auto.
  - rewrite <- Ra; auto. apply in_or_app; auto.
  - now apply agree_atom, H3.
  - rewrite Ra; auto. apply in_or_app; auto.
  - rewrite Ra; auto. apply in_or_app; auto.
  - now apply agree_atom, H3.
Qed.
Lemma agree_shows q m z : forall o l, incl o (out t) -> shows N A q m o l s z = shows N A q m o l s' z.
Proof.
  induction o as [|i o IH]; intros [|l1 l] Ho; simpl; auto. rewrite IH by (intros x Hx; apply Ho; now right). f_equal.
  assert (Hi : In i (out t)) by (apply Ho; now left).
  destruct i as [x|a b|], l1 as [y|B]; simpl; auto.
  rewrite !(agree_term z); auto; unfold terms; apply in_or_app; right; apply in_flat_map; exists (Number a b); simpl; auto.
Qed.
Lemma agree_upd z x : (In x (gets t) \/ s x = s' x) -> upd s t z x = upd s' t z x.
Proof.
  intros Hx. unfold upd. destruct (mem x (asg t)) eqn:M; [easy|]. destruct (lookup x (copies t)) as [v|] eqn:Cv.
  - apply value_agree. intros y Hy. apply R. unfold read. rewrite !in_app_iff. right. right. right.
    apply in_flat_map. exists (x, v). split; [now apply lookup_In|easy].
  - destruct Hx as [Hx|Hx]; auto. unfold gets in Hx. apply in_app_or in Hx as [Hx|Hx].
    + apply mem_In in Hx. congruence.
    + now apply lookup_None in Cv.
Qed.
End Agree.

(* Stores that agree on what is surely stored give the same probability. *)
Lemma Pp_agree p : forall w q s s' a, good_word N w -> chain A q p -> (forall x, In x (nth q (stored H0) []) -> s x = s' x) -> P p w q s a = P p w q s' a.
Proof.
  induction p as [|i p IH]; intros [|l w] q s s' a Gw Hc Hs; simpl; auto. inversion_clear Gw as [|? ? Gl Gw'].
  destruct Hc as [Hi Hc]. apply leaving_In in Hi as [Hi Hq].
  pose proof (Htrans i Hi) as H. unfold check_trans in H. see H. rewrite !andb_true_iff in H.
  destruct H as [[_ Hr] Hk]. rewrite Hq in *.
  assert (R : forall x, In x (read (tr A i)) -> s x = s' x) by (intros x Hx; apply Hs; eapply subset_spec; eauto).
  unfold step. apply E_ext; [apply after_good; auto using Pp_good|apply after_unit; auto using Pp_unit|].
  intros z. unfold after_step. rewrite (agree_enabled _ _ _ R z).
  destruct (enabled _ s' z); [|easy]. f_equal; [apply (agree_shows (tr A i)); auto; apply incl_refl|].
  apply IH; auto. intros x Hx. apply agree_upd; auto.
  destruct (mem x (gets (tr A i))) eqn:M; [left; now apply mem_In|right].
  apply Hs, (within_spec _ _ Hk), without_spec; [easy|]. now apply mem_false.
Qed.

Lemma Pp_init p w s s' a : good_word N w -> chain A (initial A) p -> P p w (initial A) s a = P p w (initial A) s' a.
Proof.
  intros Gw H. apply Pp_agree; auto. pose proof HM as HM'. unfold check_model in HM'. see HM'.
  rewrite !andb_true_iff in HM'. destruct HM' as [[[_ HM'] _] _]. apply negb_true_iff, nonempty_false in HM'. now rewrite HM'.
Qed.

(* The noise allows the numbers of the automaton, as far as that is asked. *)
Lemma model_numbers : (forall q, shift_ok g q = true -> ok N (Q2R q)) -> numbers_ok N g A.
Proof.
  intros okq_ok. pose proof HM as H. unfold check_model in H. rewrite !andb_true_iff in H. destruct H as [_ [H Hw]]. split.
  - intros q p Hp. rewrite forallb_forall in H. destruct (nth_in_or_default q (states A) stat0) as [Hin|E].
    + specialize (H _ Hin). rewrite forallb_forall in H. apply H, Hp.
    + unfold st in Hp. rewrite E in Hp. easy.
  - intros W. unfold check_whole in Hw. rewrite W in Hw. simpl in Hw. rewrite andb_true_iff, !forallb_forall in Hw. destruct Hw as [H1 H2]. split.
    + intros q. destruct (nth_in_or_default q (states A) stat0) as [Hin|E]; [exact (okq_ok _ (H1 _ Hin))|].
      unfold st. rewrite E. simpl. rewrite Q2R_0. apply ok_0.
    + intros i x v Hv. destruct (nth_in_or_default i (transitions A) trans0) as [Hin|E]; [|unfold tr in Hv; rewrite E in Hv; easy].
      specialize (H2 _ Hin). rewrite forallb_forall in H2. exact (okq_ok _ (H2 _ (lookup_In _ _ _ Hv))).
Qed.
End Automaton.

(* Intervals for the shifts of the stored values: by how much those of the first run are larger. *)
Definition ivmap := nat -> option (Q * Q).
Definition inside (v : ivmap) (sg : nat -> R) := forall x lo hi, v x = Some (lo, hi) -> Q2R lo <= sg x <= Q2R hi.

(* And comparisons of what is stored, which shifts respect. *)
Definition keeps (fa : list atom) (sg : nat -> R) := forall sh, respects fa sg sh.

(* The shifts of what variables hold after a step, from those before it and that of the sample. *)
Definition carried (t : trans) (sg : nat -> R) (sh : R) : nat -> R := fun x =>
  if mem x (asg t) then sh else match lookup x (copies t) with Some v => shift sg sh v | None => sg x end.

Lemma carried_before t sg sh z v : is_sample v = false -> shift (carried t sg sh) z v = shift sg sh (as_before t v).
Proof.
  destruct v as [n [| |x] p]; unfold is_sample, as_before; cbn [whence negative plus]; [easy|easy|]. intros _.
  unfold shift at 1, value, carried. cbn [whence negative plus held]. destruct (mem x (asg t)).
  { unfold shift, value. cbn. destruct n; ring. }
  destruct (lookup x (copies t)) as [u|]; [|unfold shift, value; cbn; destruct n; ring].
  destruct n; unfold shift, value, minus; cbn [negative whence plus]; rewrite Q2R_plus, ?Q2R_opp; destruct (negative u); simpl; ring.
Qed.

(* Floors and ceilings for the shift of the sample are enough, as far as some variables are concerned: from shifts
   in the intervals before a step they lead to shifts in those after it, and what the step asks of these variables is so. *)
Definition enough {eps} (N : noise eps) (own : nat -> bool) (fa : list atom) (v v' : ivmap) (t : trans) (F Ce : list Q) : Prop :=
  (forall x, In x (t_ge t ++ t_lt t) -> own x = true -> exists p, v x = Some p) /\
  (forall x lo' hi', mem x (gets t) = false -> v' x = Some (lo', hi') ->
     exists lo hi, v x = Some (lo, hi) /\ Q2R lo' <= Q2R lo /\ Q2R hi <= Q2R hi') /\
  (forall x lo hi, In x (t_ge t) -> v x = Some (lo, hi) -> In lo Ce) /\
  (forall x lo hi, In x (t_lt t) -> v x = Some (lo, hi) -> In hi F) /\
  (forall x lo hi, In x (asg t) -> v' x = Some (lo, hi) -> In lo F /\ In hi Ce) /\
  (forall sg sh, inside v sg -> keeps fa sg -> (forall f, In f F -> Q2R f <= sh) -> (forall e, In e Ce -> sh <= Q2R e) ->
     (forall a b, In (a, b) (asked t) -> is_own own (a, b) = true -> shift sg sh b <= shift sg sh a) /\
     (forall x u lo hi, lookup x (copies t) = Some u -> v' x = Some (lo, hi) -> Q2R lo <= shift sg sh u <= Q2R hi)) /\
  (forall q, In q F \/ In q Ce -> ok N (Q2R q)).

Section Graph.
Context {eps : R} (N : noise eps) (g : grade).
Hypothesis okq_ok : forall q, shift_ok g q = true -> ok N (Q2R q).
Hypothesis smooth_ok : smooth g = true -> atomless N.
Hypothesis factors_ok : forall q x, factor_ok g q = true -> ok N x -> ok N (Q2R q * x).
Hypothesis whole_ok : whole g = true -> forall x, ok N x -> integer x.
Variables (A : automaton) (H0 : hints) (c : claim) (gr : graph) (tells : bool) (own : nat -> bool).
Hypothesis HN : numbers_ok N g A.
Hypothesis HG : check_graph g A (plain A H0) c gr (gplain gr) tells own = true.
Local Notation P := (Pp N A).

Local Lemma Hparts : check_base g A (plain A H0) c gr (gplain gr) tells = true /\ check_shifts g gr own = true /\ check_cover gr (gplain gr) = true /\
  forallb (check_ledge (plain A H0) gr (gplain gr) own) (l_edges gr) = true.
Proof. pose proof HG as H. unfold check_graph in H. rewrite !andb_true_iff in H. tauto. Qed.

(* -- the base: a path that it does not have is infeasible -- *)

Lemma lasting_node v : lasting_in (bn gr v).
Proof.
  destruct Hparts as (H & _). unfold check_base in H. rewrite !andb_true_iff in H. destruct H as [[[_ H] _] _].
  assert (G : forallb lasting (map (fun a => (low a, high a)) (b_facts (bn gr v)) ++ b_distinct (bn gr v)) = true).
  { destruct (nth_in_or_default v (b_nodes gr) bnode0) as [Hin|E]; [|unfold bn; now rewrite E].
    rewrite forallb_forall in H. exact (H _ Hin). }
  rewrite forallb_app, andb_true_iff, !forallb_forall in G. destruct G as [G1 G2]. unfold lasting in G1, G2. split.
  - intros a Ha. specialize (G1 (low a, high a)). cbn [fst snd] in G1. rewrite andb_true_iff, !negb_true_iff in G1. apply G1, in_map_iff. eauto.
  - intros p Hp. specialize (G2 p Hp). now rewrite andb_true_iff, !negb_true_iff in G2.
Qed.

Fixpoint brun v (p : list way) : Prop :=
  match p with
  | [] => True
  | w :: p' => match goal (gplain gr) v w with Some v' => brun v' p' | None => False end
  end.

Lemma way_eqb_spec w w' : way_eqb w w' = true <-> w = w'.
Proof.
  destruct w as [i l], w' as [j k]. unfold way_eqb. cbn [fst snd]. rewrite andb_true_iff, Nat.eqb_eq. split.
  - intros [-> H]. now destruct l, k.
  - intros H. inversion H. subst. now destruct k.
Qed.
Lemma goal_edge v w v' : goal (gplain gr) v w = Some v' ->
  check_base_edge A (plain A H0) c gr (gplain gr) tells (v, w, v') = true /\ In (v, w, v') (b_edges gr).
Proof.
  unfold goal. cbn [out_of gplain]. destruct (find _ _) as [[[u j] u']|] eqn:F; [|easy]. intros E. inversion E; subst u'; clear E.
  apply find_some in F as [F1 F3]. apply having_In in F1 as [F1 F2]. cbn [source via target fst snd] in F2, F3.
  apply way_eqb_spec in F3. subst.
  destruct Hparts as (H & _). unfold check_base in H. rewrite !andb_true_iff in H.
  destruct H as [[_ H] _]. rewrite forallb_forall in H. auto.
Qed.

Lemma goal_spec v i l v' : goal (gplain gr) v (i, l) = Some v' -> (v < length (b_nodes gr))%nat /\ (v' < length (b_nodes gr))%nat /\
  (i < length (transitions A))%nat /\ src (tr A i) = b_state (bn gr v) /\ tgt (tr A i) = b_state (bn gr v') /\
  pattern_follows (plain A H0) tells (tr A i) l (b_apart (bn gr v)) (b_apart (bn gr v')) = true /\
  forallb (register_follows c (tr A i) l (b_known (bn gr v))) (b_known (bn gr v')) = true.
Proof.
  intros H. apply goal_edge in H as [H _]. unfold check_base_edge in H. see H. rewrite !andb_true_iff in H.
  destruct H as [[[[[[H1 H2] H3] H4] H5] H6] H7]. apply Nat.ltb_lt in H1, H2, H3. apply Nat.eqb_eq in H4, H5. auto 8.
Qed.

(* No fact speaks against the path, whatever the entries are. *)
Fixpoint open v (p : list nat) : Prop :=
  match p with
  | [] => True
  | i :: p' => contradicts g (plain A H0) (bn gr v) (tr A i) = false /\ forall l v', goal (gplain gr) v (i, l) = Some v' -> open v' p'
  end.

Lemma base_step v i : (v < length (b_nodes gr))%nat -> In i (leaving A (b_state (bn gr v))) ->
  check_base_step g A (plain A H0) c (gplain gr) tells v i = true.
Proof.
  intros Hv Hi. destruct Hparts as (H & _). unfold check_base in H. see H. rewrite !andb_true_iff in H. destruct H as [_ H].
  pose proof (forallb_seq _ _ H v Hv) as Hs. rewrite forallb_forall in Hs. exact (Hs i Hi).
Qed.

Lemma goal_follows v i l v' : In i (leaving A (b_state (bn gr v))) -> goal (gplain gr) v (i, l) = Some v' ->
  contradicts g (plain A H0) (bn gr v) (tr A i) = false ->
  forallb (fact_follows g (plain A H0) (tr A i) (known g (plain A H0) (bn gr v) (tr A i))) (b_facts (bn gr v')) = true /\
  forallb (distinct_follows g (plain A H0) (bn gr v) (tr A i)) (b_distinct (bn gr v')) = true.
Proof.
  intros Hi G Co. destruct (goal_spec _ _ _ _ G) as (Hv & _). pose proof (base_step v i Hv Hi) as Hs.
  unfold check_base_step in Hs. cbv zeta in Hs. see Hs. unfold contradicts in Co. rewrite Co in Hs. simpl in Hs. apply andb_true_iff in Hs as [Hs _].
  rewrite forallb_forall in Hs. destruct (goal_edge _ _ _ G) as [_ He].
  specialize (Hs (v, (i, l), v')). unfold number in Hs. cbn [via target fst snd] in Hs. rewrite Nat.eqb_refl in Hs. simpl in Hs.
  assert (Hin : In (v, (i, l), v') (having source (b_edges gr) v)) by (apply having_In; auto).
  specialize (Hs Hin). now apply andb_true_iff in Hs.
Qed.

Lemma no_path p : forall v w s a, good_word N w -> (whole g = true -> stored_ok N s /\ given_ok N a) ->
  (v < length (b_nodes gr))%nat -> holds_in (bn gr v) s ->
  chain A (b_state (bn gr v)) p -> open v p \/ P p w (b_state (bn gr v)) s a = 0.
Proof.
  induction p as [|i p IH]; intros v [|l w] s a Gw Wh Hv F Hp; simpl; auto. inversion_clear Gw as [|? ? Gl Gw'].
  destruct Hp as [Hi Hp]. pose proof (proj2 (proj1 (leaving_In A _ i) Hi)) as Hq.
  assert (Ga : good N (after_step N A i (b_state (bn gr v)) l a (P p w (tgt (tr A i))) s)) by (apply after_good; auto using Pp_good).
  assert (Ua : unit_fun (after_step N A i (b_state (bn gr v)) l a (P p w (tgt (tr A i))) s)) by (apply after_unit; auto using Pp_unit).
  assert (Oz : forall z, typically N A (b_state (bn gr v)) a s z -> whole g = true -> ok N z).
  { intros z Ty W. destruct (Wh W). now apply (sample_ok N g A factors_ok HN (b_state (bn gr v)) a s). }
  assert (Met : forall z, typically N A (b_state (bn gr v)) a s z -> whole g = true -> integers_in s z).
  { intros z Ty W. destruct (Wh W). apply (integers_met N g whole_ok); auto. }
  destruct (contradicts g (plain A H0) (bn gr v) (tr A i)) eqn:Co.
  { right. apply (E_never N _ _ _ s); auto. intros z Ty. unfold after_step. destruct (enabled (tr A i) s z) eqn:En; [|easy]. exfalso.
    specialize (Met z Ty). rewrite <- Hq in Ty.
    exact (contradicts_spec N g A H0 smooth_ok (bn gr v) (tr A i) a s z (lasting_node v) F Ty En Met Co). }
  destruct (classic (forall l v', goal (gplain gr) v (i, l) = Some v' -> open v' p)) as [O|O]; [left; auto|right].
  apply not_all_ex_not in O as (k & O). apply not_all_ex_not in O as (v' & O). apply imply_to_and in O as (G & O).
  apply (E_never N _ _ _ s); auto. intros z Ty. unfold after_step. destruct (enabled (tr A i) s z) eqn:En; [|easy].
  destruct (goal_spec _ _ _ _ G) as (_ & Hv' & _ & _ & Ht & _). rewrite Ht in *.
  destruct (goal_follows _ _ _ _ Hi G Co) as [Ff Fd]. specialize (Met z Ty). specialize (Oz z Ty).
  assert (F' : holds_in (bn gr v') (upd s (tr A i) z)).
  { rewrite <- Hq in Ty.
    exact (holds_after N g A H0 smooth_ok (bn gr v) (tr A i) a s z (lasting_node v) F Ty En Met (bn gr v') (lasting_node v') Ff Fd). }
  assert (Wh' : whole g = true -> stored_ok N (upd s (tr A i) z) /\ given_ok N (rest A (b_state (bn gr v)) i a)).
  { intros W. destruct (Wh W). split; [apply (upd_ok N g A HN); auto|]. now apply rest_given. }
  destruct (IH v' w (upd s (tr A i) z) (rest A (b_state (bn gr v)) i a) Gw' Wh' Hv' F' Hp) as [O'|E]; [contradiction|]. rewrite E. lra.
Qed.

(* What the facts of a node say is said of shifts, too. *)
Lemma facts_kept v i l v' sg sh : In i (leaving A (b_state (bn gr v))) -> goal (gplain gr) v (i, l) = Some v' ->
  contradicts g (plain A H0) (bn gr v) (tr A i) = false -> keeps (b_facts (bn gr v)) sg -> respects (sure g (plain A H0) (tr A i)) sg sh ->
  keeps (b_facts (bn gr v')) (carried (tr A i) sg sh).
Proof.
  intros Hi G Co Ke Re z k Hk. destruct (goal_follows v i l v' Hi G Co) as [Ff _]. rewrite forallb_forall in Ff. specialize (Ff k Hk).
  destruct (proj1 (lasting_node v') k Hk) as [L1 L2]. rewrite !carried_before by easy.
  apply (bound_shift sg sh (plain A H0) _ _ _ (follows_some (plain A H0) _ _ _ Ff)). apply sharpened_respects. intros k' Hk'. unfold told in Hk'.
  assert (R0 : forall k, In k (b_facts (bn gr v) ++ sure g (plain A H0) (tr A i)) -> shift sg sh (high k) <= shift sg sh (low k)).
  { intros k0 H1. apply in_app_or in H1 as [H1|H1]; [now apply Ke|now apply Re]. }
  destruct (nonempty (b_distinct (bn gr v))); [|now apply R0]. apply in_app_or in Hk' as [Hk'|Hk']; [now apply R0|].
  apply in_map_iff in Hk' as (k0 & <- & Hk'). apply filter_In in Hk' as [Hk' _]. cbn [stricter low high]. apply R0, in_or_app. auto.
Qed.

(* Where nothing is said of how far inputs went apart there is one way for each step. *)
Definition only (i : nat) : way := (i, Same).
Lemma open_brun p : tells = false -> forall v, (v < length (b_nodes gr))%nat -> chain A (b_state (bn gr v)) p -> open v p -> brun v (map only p).
Proof.
  intros T. induction p as [|i p IH]; intros v Hv Hc Ho; simpl; [easy|]. destruct Hc as [Hi Hc], Ho as [Co Ho].
  pose proof (base_step v i Hv Hi) as Hs. unfold check_base_step in Hs. cbv zeta in Hs. see Hs.
  unfold contradicts in Co. rewrite Co in Hs. simpl in Hs. apply andb_true_iff in Hs as [_ Hs]. unfold check_ways in Hs. rewrite T in Hs. cbn [andb] in Hs. unfold only at 1.
  destruct (goal (gplain gr) v (i, Same)) as [v'|] eqn:G; [|easy].
  destruct (goal_spec _ _ _ _ G) as (_ & Hv' & _ & _ & Ht & _). rewrite Ht in Hc. apply IH; auto. exact (Ho _ _ G).
Qed.

(* -- the lift: over every path of the base there is one -- *)

Fixpoint lrun n (p : list way) : Prop :=
  match p with
  | [] => True
  | i :: p' => exists n', In (n, i, n') (l_edges gr) /\ lrun n' p'
  end.

Lemma over_In v n : In n (over_of (gplain gr) v) <-> (n < length (l_nodes gr))%nat /\ l_base (ln gr n) = v.
Proof.
  cbn [over_of gplain]. rewrite having_In. unfold numbers. rewrite in_seq. split; intros [H E]; split; auto; lia.
Qed.

Lemma ledge e : In e (l_edges gr) -> check_ledge (plain A H0) gr (gplain gr) own e = true.
Proof. destruct Hparts as (_ & _ & _ & H). rewrite forallb_forall in H. auto. Qed.

Lemma ledge_over n w n' : In (n, w, n') (l_edges gr) -> (n < length (l_nodes gr))%nat /\ (n' < length (l_nodes gr))%nat
  /\ goal (gplain gr) (l_base (ln gr n)) w = Some (l_base (ln gr n')).
Proof.
  intros H. apply ledge in H. unfold check_ledge in H. see H. rewrite !andb_true_iff in H.
  destruct H as [[[[[[[H1 H2] H3] _] _] _] _] _]. apply Nat.ltb_lt in H1, H2. repeat split; auto.
  destruct (goal (gplain gr) _ w); [|easy]. apply Nat.eqb_eq in H3. now subst.
Qed.

Lemma nonempty_In {X} (l : list X) : nonempty l = true -> exists x, In x l.
Proof. destruct l; [easy|]. intros _. eexists. now left. Qed.

Lemma lift_exists p : forall v, (exists n, In n (over_of (gplain gr) v)) -> brun v p -> exists n, In n (over_of (gplain gr) v) /\ lrun n p.
Proof.
  destruct Hparts as (_ & _ & Cov & _). unfold check_cover in Cov. see Cov. apply andb_true_iff in Cov as [_ Cov].
  rewrite forallb_forall in Cov. destruct (forward gr) eqn:Fw.
  - (* forward: from every node *)
    assert (All : forall p v n, In n (over_of (gplain gr) v) -> brun v p -> lrun n p).
    { clear p. induction p as [|i p IH]; intros v n Hn HB; simpl; auto.
      simpl in HB. destruct (goal (gplain gr) v i) as [v'|] eqn:G; [|easy].
      destruct (goal_edge _ _ _ G) as [_ He]. specialize (Cov _ He). simpl in Cov.
      rewrite forallb_forall in Cov. specialize (Cov _ Hn). unfold has_edge_from in Cov. see Cov.
      apply existsb_exists in Cov as ([[m j] n'] & Hin & E2). cbn [via fst snd] in E2. apply way_eqb_spec in E2.
      apply having_In in Hin as [Hin E1]. cbn [source fst snd] in E1. subst m. subst j.
      exists n'. split; auto. apply (IH v'); auto.
      apply ledge_over in Hin as (_ & L & Hg). apply over_In in Hn as [_ Hn]. rewrite Hn, G in Hg.
      apply over_In. split; auto. congruence. }
    intros v [n Hn] HB. exists n. split; eauto.
  - (* backward: from some node, found from the end *)
    induction p as [|i p IH]; intros v Hn HB.
    + destruct Hn as [n Hn]. exists n. simpl. auto.
    + simpl in HB. destruct (goal (gplain gr) v i) as [v'|] eqn:G; [|easy].
      destruct (goal_edge _ _ _ G) as [_ He]. specialize (Cov _ He). simpl in Cov.
      apply andb_true_iff in Cov as [Ne Cov]. apply nonempty_In in Ne.
      destruct (IH v' Ne HB) as (n' & Hn' & HL).
      rewrite forallb_forall in Cov. specialize (Cov _ Hn'). unfold has_edge_to in Cov. see Cov.
      apply existsb_exists in Cov as ([[n j] m'] & Hin & Heq). cbn [source via fst snd] in Heq.
      rewrite !andb_true_iff in Heq. destruct Heq as [E1 E2]. apply Nat.eqb_eq in E1. apply way_eqb_spec in E2.
      apply having_In in Hin as [Hin E3]. cbn [target fst snd] in E3. subst j. subst m'.
      exists n. split; [|simpl; eauto]. apply ledge_over in Hin as (L & _ & _). now apply over_In.
Qed.

Lemma base_0 : (0 < length (b_nodes gr))%nat /\ b_state (bn gr 0) = initial A /\ b_facts (bn gr 0) = [] /\ b_distinct (bn gr 0) = [] /\
  b_apart (bn gr 0) = 0%nat /\ b_known (bn gr 0) = [].
Proof.
  destruct Hparts as (HB & _). unfold check_base in HB. see HB. rewrite !andb_true_iff in HB.
  destruct HB as [[[[[[[[B0 BI] BL] BS] BA] BK] _] _] _].
  apply Nat.ltb_lt in B0. apply Nat.eqb_eq in BI, BA. apply negb_true_iff, nonempty_false in BL, BS, BK. auto 8.
Qed.

(* A path that the facts speak against has probability 0. *)
Lemma opened p w a : good_word N w -> (whole g = true -> given_ok N a) -> chain A (initial A) p -> open 0 p \/ P p w (initial A) (fun _ => 0) a = 0.
Proof.
  destruct base_0 as (B0 & BI & BL & BS & _). rewrite <- BI. intros Gw Wh Hc. apply no_path; auto.
  - intros W. split; [intros x; apply ok_0|auto].
  - split; intros x; rewrite ?BL, ?BS; easy.
Qed.

(* Over every path of the base there is one of the lift, from a node over base node 0. *)
Lemma covered ws : brun 0 ws -> exists n, (n < length (l_nodes gr))%nat /\ l_base (ln gr n) = 0%nat /\ lrun n ws.
Proof.
  intros Hb. destruct Hparts as (_ & _ & Cov & _).
  unfold check_cover in Cov. see Cov. apply andb_true_iff in Cov as [N0 _]. apply nonempty_In in N0.
  destruct (lift_exists ws 0 N0 Hb) as (n & Hn & HL). apply over_In in Hn as [Ln Hn]. eauto.
Qed.

(* -- the lift: shifts -- *)

Lemma assoc_In x l o : assoc x l = Some o -> In (x, o) l.
Proof.
  induction l as [|[y o'] l IH]; simpl; [easy|]. destruct (Nat.eqb x y) eqn:E.
  - apply Nat.eqb_eq in E as <-. intros H. inversion H. now left.
  - right. auto.
Qed.

Lemma iv_eq n x : iv (gplain gr) n x =
  match assoc x (l_own (ln gr n)) with
  | Some o => o
  | None => match assoc x (everywhere gr) with Some o => o | None => None end
  end.
Proof. unfold iv. cbn [ln_of every_of gplain]. now rewrite assoc_having. Qed.

Lemma iv_ok n x lo hi : (n < length (l_nodes gr))%nat -> iv (gplain gr) n x = Some (lo, hi) ->
  own x = true /\ Q2R lo <= Q2R hi /\ ok N (Q2R lo) /\ ok N (Q2R hi).
Proof.
  intros Hn H. destruct Hparts as (_ & Sh & _). unfold check_shifts in Sh. apply andb_true_iff in Sh as [Ev Own].
  assert (G : forall l, check_ivs g own l = true -> assoc x l = Some (Some (lo, hi)) ->
      own x = true /\ Q2R lo <= Q2R hi /\ ok N (Q2R lo) /\ ok N (Q2R hi)).
  { intros l Hl Ha. apply assoc_In in Ha. unfold check_ivs in Hl. rewrite forallb_forall in Hl.
    specialize (Hl _ Ha). simpl in Hl. rewrite !andb_true_iff in Hl. destruct Hl as [Ow [[H1 H2] H3]].
    split; [easy|]. split; [now apply Qle_R|auto]. }
  rewrite iv_eq in H. destruct (assoc x (l_own (ln gr n))) as [o|] eqn:Ao.
  - subst o. apply (G (l_own (ln gr n))); auto.
    rewrite forallb_forall in Own. apply Own, nth_In, Hn.
  - destruct (assoc x (everywhere gr)) eqn:Ae; [|easy]. subst o. apply (G (everywhere gr)); auto.
Qed.

Lemma kept_spec n i l n' x lo' hi' : In (n, (i, l), n') (l_edges gr) -> mem x (gets (tr A i)) = false ->
  iv (gplain gr) n' x = Some (lo', hi') ->
  exists lo hi, iv (gplain gr) n x = Some (lo, hi) /\ Q2R lo' <= Q2R lo /\ Q2R hi <= Q2R hi'.
Proof.
  intros He M Hi. apply ledge in He. unfold check_ledge in He. see He. cbn [fst] in He. rewrite !andb_true_iff in He.
  destruct He as [[[[_ He] _] _] _]. unfold check_kept in He. see He. rewrite forallb_forall in He.
  assert (K : forall o, assoc x (l_own (ln gr n)) = Some o \/ assoc x (l_own (ln gr n')) = Some o ->
    In x (keys (l_own (ln gr n)) ++ keys (l_own (ln gr n')))).
  { intros o [Ao|Ao]; apply assoc_In in Ao; apply in_or_app; [left|right]; apply in_map_iff; now exists (x, o). }
  assert (Own : In x (keys (l_own (ln gr n)) ++ keys (l_own (ln gr n'))) ->
    exists lo hi, iv (gplain gr) n x = Some (lo, hi) /\ Q2R lo' <= Q2R lo /\ Q2R hi <= Q2R hi').
  { intros Hx. specialize (He x Hx). rewrite M, Hi in He. simpl in He. destruct (iv (gplain gr) n x) as [[lo hi]|]; [|easy].
    apply andb_true_iff in He as [H1 H2]. exists lo, hi. auto using Qle_R. }
  destruct (assoc x (l_own (ln gr n))) eqn:A1; [apply Own; eauto|].
  destruct (assoc x (l_own (ln gr n'))) eqn:A2; [apply Own; eauto|].
  exists lo', hi'. split; [|lra]. rewrite iv_eq in *. now rewrite A1; rewrite A2 in Hi.
Qed.

Lemma ends_In f n xs x p : In x xs -> iv (gplain gr) n x = Some p -> In (f p) (ends (gplain gr) f n xs).
Proof. intros H E. unfold ends. apply in_flat_map. exists x. rewrite E. split; [easy|now left]. Qed.

Lemma ends_inv f n xs q : In q (ends (gplain gr) f n xs) -> exists x p, In x xs /\ iv (gplain gr) n x = Some p /\ q = f p.
Proof.
  unfold ends. rewrite in_flat_map. intros (x & Hx & H). destruct (iv (gplain gr) n x) eqn:E; [|easy].
  destruct H as [<-|[]]. eauto.
Qed.


Lemma read_spec n i l n' x : In (n, (i, l), n') (l_edges gr) -> In x (t_ge (tr A i) ++ t_lt (tr A i)) -> own x = true ->
  exists p, iv (gplain gr) n x = Some p.
Proof.
  intros He Hx Ho. apply ledge in He. unfold check_ledge in He. see He. cbn [fst] in He. rewrite !andb_true_iff in He.
  destruct He as [[[[[_ He] _] _] _] _]. rewrite forallb_forall in He. specialize (He x Hx). rewrite Ho in He. simpl in He.
  destruct (iv (gplain gr) n x); [eauto|easy].
Qed.

Lemma fit_spec n i l n' f e : In (n, (i, l), n') (l_edges gr) -> In f (floors (gplain gr) (tr A i) n n') -> In e (ceilings (gplain gr) (tr A i) n n') ->
  Q2R f <= Q2R e.
Proof.
  intros He Hf Hc. apply ledge in He. unfold check_ledge in He. see He. cbn [fst] in He. rewrite !andb_true_iff in He. destruct He as [_ He].
  now apply (fits_spec _ _ _ _ He).
Qed.

(* -- what pairs and copies ask -- *)

Lemma shifts_spec n sg sh v lo hi : inside (iv (gplain gr) n) sg -> shifts (gplain gr) n v = Some (lo, hi) -> Q2R lo <= shift sg sh v <= Q2R hi.
Proof.
  intros Iv. unfold shifts, shift, value. destruct (whence v) as [| |x]; simpl.
  - intros H. inversion H. rewrite Q2R_0. destruct (negative v); lra.
  - easy.
  - destruct (iv (gplain gr) n x) as [[a b]|] eqn:E; [|easy]. pose proof (Iv x a b E) as B. unfold turned. destruct (negative v); simpl; intros H; inversion H.
    + rewrite !Q2R_opp. lra.
    + subst. lra.
Qed.

Lemma shift_same sg sh a b : same_place a b = true -> shift sg sh a = shift sg sh b.
Proof. intros H. unfold shift. now apply same_place_spec. Qed.
Lemma shift_sample sg sh a : is_sample a = true -> shift sg sh a = if negative a then - sh else sh.
Proof. unfold is_sample, shift, value. destruct (whence a); try easy. simpl. destruct (negative a); intros; lra. Qed.

Lemma ask_spec n p sg sh : inside (iv (gplain gr) n) sg -> is_some (ask (gplain gr) n p) = true ->
  (forall f, In f (ask_floors (gplain gr) n p) -> Q2R f <= sh) -> (forall e, In e (ask_ceilings (gplain gr) n p) -> sh <= Q2R e) ->
  shift sg sh (snd p) <= shift sg sh (fst p).
Proof.
  intros Iv. unfold ask_floors, ask_ceilings, ask. destruct p as [a b]. cbn [fst snd].
  destruct (same_place a b) eqn:S; [intros; rewrite (shift_same _ _ _ _ S); lra|].
  destruct (is_sample a) eqn:Sa, (is_sample b) eqn:Sb.
  - intros _ F Ce. rewrite !shift_sample by easy.
    assert (negative a <> negative b).
    { intros E. unfold same_place in S. unfold is_sample in Sa, Sb. rewrite E, Bool.eqb_reflx in S.
      destruct (whence a), (whence b); simpl in S; discriminate. }
    destruct (negative a) eqn:Na, (negative b) eqn:Nb; try congruence.
    + pose proof (Ce 0%Q (or_introl eq_refl)) as H1. rewrite Q2R_0 in H1. lra.
    + pose proof (F 0%Q (or_introl eq_refl)) as H1. rewrite Q2R_0 in H1. lra.
  - destruct (shifts (gplain gr) n b) as [[lo hi]|] eqn:E; [|easy]. intros _ F Ce. rewrite (shift_sample _ _ a) by easy.
    pose proof (shifts_spec n sg sh b _ _ Iv E). destruct (negative a).
    + pose proof (Ce _ (or_introl eq_refl)) as H1. rewrite Q2R_opp in H1. lra.
    + pose proof (F _ (or_introl eq_refl)). lra.
  - destruct (shifts (gplain gr) n a) as [[lo hi]|] eqn:E; [|easy]. intros _ F Ce. rewrite (shift_sample _ _ b) by easy.
    pose proof (shifts_spec n sg sh a _ _ Iv E). destruct (negative b).
    + pose proof (F _ (or_introl eq_refl)) as H1. rewrite Q2R_opp in H1. lra.
    + pose proof (Ce _ (or_introl eq_refl)). lra.
  - destruct (shifts (gplain gr) n a) as [[lo hi]|] eqn:E; [|easy]. destruct (shifts (gplain gr) n b) as [[lo' hi']|] eqn:E'; [|easy].
    destruct (Qle_bool hi' lo) eqn:L; [|easy]. intros _ _ _. apply Qle_R in L.
    pose proof (shifts_spec n sg sh a _ _ Iv E). pose proof (shifts_spec n sg sh b _ _ Iv E'). lra.
Qed.

Lemma asked_spec n i l n' a b sg sh : In (n, (i, l), n') (l_edges gr) -> In (a, b) (asked (tr A i)) -> is_own own (a, b) = true ->
  inside (iv (gplain gr) n) sg -> respects (b_facts (bn gr (l_base (ln gr n)))) sg sh ->
  (forall f, In f (floors (gplain gr) (tr A i) n n') -> Q2R f <= sh) ->
  (forall e, In e (ceilings (gplain gr) (tr A i) n n') -> sh <= Q2R e) -> shift sg sh b <= shift sg sh a.
Proof.
  intros He Ha Ow Iv Re F Ce. apply ledge in He. unfold check_ledge in He. see He. cbn [fst] in He. rewrite !andb_true_iff in He.
  destruct He as [[_ He] _]. rewrite forallb_forall in He. specialize (He _ Ha). rewrite Ow in He. cbn [negb orb] in He.
  apply orb_true_iff in He as [He|He].
  2: { unfold answered in He. see He. exact (bound_shift sg sh (plain A H0) _ _ _ He Re). }
  apply (ask_spec n (a, b) sg sh Iv He).
  - intros f Hf. apply F. unfold floors. rewrite !in_app_iff. right. right. apply in_flat_map. eauto.
  - intros f Hf. apply Ce. unfold ceilings. rewrite !in_app_iff. right. right. apply in_flat_map. eauto.
Qed.

Lemma copies_spec n i l n' x v lo hi sg sh : In (n, (i, l), n') (l_edges gr) -> lookup x (copies (tr A i)) = Some v ->
  iv (gplain gr) n' x = Some (lo, hi) -> inside (iv (gplain gr) n) sg -> Q2R lo <= shift sg sh v <= Q2R hi.
Proof.
  intros He Hv E Iv. apply ledge in He. unfold check_ledge in He. see He. cbn [fst] in He. rewrite !andb_true_iff in He.
  destruct He as [[[_ He] _] _]. unfold check_copies in He. rewrite forallb_forall in He. specialize (He _ (lookup_In _ _ _ Hv)).
  cbn [fst snd] in He. rewrite E in He. destruct (shifts (gplain gr) n v) as [[lo0 hi0]|] eqn:S; [|easy].
  apply andb_true_iff in He as [H1 H2]. apply Qle_R in H1, H2. pose proof (shifts_spec n sg sh v _ _ Iv S). lra.
Qed.

Lemma ok_Q0 : ok N (Q2R 0).
Proof. rewrite Q2R_0. apply ok_0. Qed.
Lemma shifts_ok n v lo hi : (n < length (l_nodes gr))%nat -> shifts (gplain gr) n v = Some (lo, hi) -> ok N (Q2R lo) /\ ok N (Q2R hi).
Proof.
  intros Ln. unfold shifts. destruct (whence v) as [| |x]; [intros H; inversion H; auto using ok_Q0|easy|].
  destruct (iv (gplain gr) n x) as [[a b]|] eqn:E; [|easy]. apply iv_ok in E as (_ & _ & Oa & Ob); auto.
  unfold turned. destruct (negative v); simpl; intros H; inversion H; subst; auto.
  rewrite !Q2R_opp. split; now apply ok_opp.
Qed.
Lemma ask_ok n p q : (n < length (l_nodes gr))%nat ->
  In q (ask_floors (gplain gr) n p) \/ In q (ask_ceilings (gplain gr) n p) -> ok N (Q2R q).
Proof.
  intros Ln. unfold ask_floors, ask_ceilings, ask. destruct p as [a b].
  destruct (same_place a b); [simpl; tauto|].
  destruct (is_sample a), (is_sample b).
  - destruct (negative a); simpl; intros [H|H]; try contradiction; destruct H as [<-|[]]; auto using ok_Q0.
  - destruct (shifts (gplain gr) n b) as [[lo hi]|] eqn:E; [|simpl; tauto]. apply shifts_ok in E as [O1 O2]; auto.
    destruct (negative a); simpl; intros [H|H]; try contradiction; destruct H as [<-|[]]; auto. rewrite Q2R_opp. now apply ok_opp.
  - destruct (shifts (gplain gr) n a) as [[lo hi]|] eqn:E; [|simpl; tauto]. apply shifts_ok in E as [O1 O2]; auto.
    destruct (negative b); simpl; intros [H|H]; try contradiction; destruct H as [<-|[]]; auto. rewrite Q2R_opp. now apply ok_opp.
  - destruct (shifts (gplain gr) n a) as [[? ?]|]; [|simpl; tauto]. destruct (shifts (gplain gr) n b) as [[? ?]|]; [|simpl; tauto].
    destruct (Qle_bool _ _); simpl; tauto.
Qed.

Lemma floors_ok n i l n' f : In (n, (i, l), n') (l_edges gr) -> In f (floors (gplain gr) (tr A i) n n') -> ok N (Q2R f).
Proof.
  intros He Hf. destruct (ledge_over _ _ _ He) as (Ln & Ln' & _). unfold floors in Hf. rewrite !in_app_iff in Hf.
  destruct Hf as [Hf|[Hf|Hf]].
  - apply ends_inv in Hf as (x & [lo hi] & _ & E & ->). apply iv_ok in E; auto. apply E.
  - apply ends_inv in Hf as (x & [lo hi] & _ & E & ->). apply iv_ok in E; auto. apply E.
  - apply in_flat_map in Hf as (p & _ & Hf). apply (ask_ok n p); auto.
Qed.
Lemma ceilings_ok n i l n' f : In (n, (i, l), n') (l_edges gr) -> In f (ceilings (gplain gr) (tr A i) n n') -> ok N (Q2R f).
Proof.
  intros He Hf. destruct (ledge_over _ _ _ He) as (Ln & Ln' & _). unfold ceilings in Hf. rewrite !in_app_iff in Hf.
  destruct Hf as [Hf|[Hf|Hf]].
  - apply ends_inv in Hf as (x & [lo hi] & _ & E & ->). apply iv_ok in E; auto. apply E.
  - apply ends_inv in Hf as (x & [lo hi] & _ & E & ->). apply iv_ok in E; auto. apply E.
  - apply in_flat_map in Hf as (p & _ & Hf). apply (ask_ok n p); auto.
Qed.

Lemma edge_enough n i l n' : In (n, (i, l), n') (l_edges gr) ->
  enough N own (b_facts (bn gr (l_base (ln gr n)))) (iv (gplain gr) n) (iv (gplain gr) n') (tr A i) (floors (gplain gr) (tr A i) n n') (ceilings (gplain gr) (tr A i) n n').
Proof.
  intros He. unfold enough. split; [intros x; now apply (read_spec _ _ _ _ _ He)|].
  split; [intros x lo' hi'; now apply (kept_spec _ _ _ _ _ _ _ He)|].
  split; [|split; [|split; [|split]]].
  - intros x lo hi Hx E. unfold ceilings. apply in_or_app. left. apply (ends_In fst n _ x (lo, hi)); auto.
  - intros x lo hi Hx E. unfold floors. apply in_or_app. left. apply (ends_In snd n _ x (lo, hi)); auto.
  - intros x lo hi Hx E. unfold floors, ceilings. rewrite !in_app_iff. split; right; left.
    + apply (ends_In fst n' _ x (lo, hi)); auto.
    + apply (ends_In snd n' _ x (lo, hi)); auto.
  - intros sg sh Iv Ke HF HC. split.
    + intros a b Hab Ow. now apply (asked_spec n i l n' a b sg sh He Hab Ow Iv (Ke sh)).
    + intros x u lo hi Hu E. now apply (copies_spec n i l n' x).
  - intros q [Hq|Hq]; [eapply floors_ok|eapply ceilings_ok]; eauto.
Qed.
End Graph.
