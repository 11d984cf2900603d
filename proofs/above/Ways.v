(* Over every path that the facts allow, and all differences of entries, there are ways of the base, of which the differences are means. *)
From Coq Require Import Reals QArith Qreals List Bool Arith Lra Lia FunctionalExtensionality.
From Symdipa.Core Require Import Model Lookup Checker.
From Symdipa.Above Require Import Paths Cover.
Import ListNotations.
Open Scope R_scope.

(* The differences of what two runs are given. *)
Definition gap (a b : feed) : feed := (fun n => fst a n - fst b n, fun x => snd a x - snd b x).

Lemma weighed_gap l r r' : weighed l (fun x => r x - r' x) = weighed l r - weighed l r'.
Proof. induction l as [|[x f] l IH]; cbn [weighed fold_right fst snd]; [lra|]. unfold weighed in IH. rewrite IH. lra. Qed.
Lemma entry_gap A q a b : entry A q (gap a b) = entry A q a - entry A q b.
Proof. unfold entry, gap. cbn [fst snd]. destruct (reads (st A q)); lra. Qed.
Lemma input_gap A q a b : input A q (gap a b) = input A q a - input A q b.
Proof. unfold input. rewrite entry_gap. unfold gap at 1. cbn [fst snd]. rewrite weighed_gap. lra. Qed.
Lemma rest_gap A q i a b : rest A q i (gap a b) = gap (rest A q i a) (rest A q i b).
Proof.
  unfold rest. rewrite entry_gap. unfold gap. cbn [fst snd]. f_equal.
  - destruct (reads (st A q)); reflexivity.
  - apply functional_extensionality. intros x. unfold set_registers. destruct (lookup x (sets (tr A i))) as [u|]; [|lra].
    destruct (from u), (adds u); lra.
Qed.

(* Means of differences. *)
Definition mixed (la : R) (f h : nat -> R) : nat -> R := fun n => la * f n + (1 - la) * h n.
Definition mixed_feed la (a b : feed) : feed := (mixed la (fst a) (fst b), mixed la (snd a) (snd b)).
Definition convex (R : stream -> Prop) := forall la e e', 0 <= la <= 1 -> R e -> R e' -> R (mixed la e e').

Lemma weighed_mixed la l r r' : weighed l (mixed la r r') = la * weighed l r + (1 - la) * weighed l r'.
Proof. induction l as [|[x f] l IH]; cbn [weighed fold_right fst snd]; [lra|]. unfold weighed in IH. rewrite IH. unfold mixed. lra. Qed.
Lemma entry_mixed A q la a b : entry A q (mixed_feed la a b) = la * entry A q a + (1 - la) * entry A q b.
Proof. unfold entry, mixed_feed, mixed. cbn [fst snd]. destruct (reads (st A q)); lra. Qed.
Lemma input_mixed A q la a b : input A q (mixed_feed la a b) = la * input A q a + (1 - la) * input A q b.
Proof. unfold input. rewrite entry_mixed. unfold mixed_feed at 1. cbn [fst snd]. rewrite weighed_mixed. lra. Qed.
Lemma rest_mixed A q i la a b : rest A q i (mixed_feed la a b) = mixed_feed la (rest A q i a) (rest A q i b).
Proof.
  unfold rest. rewrite entry_mixed. unfold mixed_feed, mixed. cbn [fst snd]. f_equal.
  - destruct (reads (st A q)); reflexivity.
  - apply functional_extensionality. intros x. unfold set_registers. destruct (lookup x (sets (tr A i))) as [u|]; [|lra].
    destruct (from u), (adds u); lra.
Qed.

Definition before (x : R) (e : stream) : stream := fun n => match n with O => x | S n' => e n' end.
Lemma before_tail e : before (e 0%nat) (tail e) = e.
Proof. apply functional_extensionality. now intros [|n]. Qed.

Section Ways.
Context {eps : R} (N : noise eps) (g : grade).
Hypothesis mixes_ok : mixes g = true -> forall x, ok N x.
Hypothesis ends_ok : forall lo hi x, only_ends g lo hi = true -> ok N x -> Q2R lo <= x <= Q2R hi -> x = Q2R lo \/ x = 0 \/ x = Q2R hi.
Variables (A : automaton) (H0 : hints) (c : claim) (gr : graph) (own : nat -> bool).
Hypothesis HM : check_model g A (plain A H0) = true.
Hypothesis HG : check_graph g A (plain A H0) c gr (gplain gr) true own = true.

Let kl := Q2R (c_sens c * c_low c).
Let kh := Q2R (c_sens c * c_high c).

(* Differences of entries that are allowed, whichever may differ. *)
Definition proper (e : stream) := forall n, kl <= e n <= kh /\ ok N (e n).
Definition patterned (k : nat) (e : stream) := forall n, allows (differ A) k e n.

Lemma patterned_step k e : patterned k e -> exists k', leads (differ A) k (e 0%nat) = Some k' /\ patterned k' (tail e).
Proof.
  intros H. pose proof (H 1%nat) as H1. simpl in H1. destruct (leads (differ A) k (e 0%nat)) as [k'|] eqn:L; [|easy].
  exists k'. split; [easy|]. intros n. specialize (H (S n)). simpl in H. now rewrite L in H.
Qed.

(* What a state allows, those do that are said to allow no less. *)
Lemma lesser_allows n : forall j k e, allows_too (plain A H0) (length (differ A)) (Some j) (Some k) = true ->
  allows (differ A) j e n -> allows (differ A) k e n.
Proof.
  induction n as [|n IH]; intros j k e Hjk; simpl; [easy|].
  unfold allows_too in Hjk. see Hjk. apply andb_true_iff in Hjk as [Lk M]. apply Nat.ltb_lt in Lk. apply mem_In in M.
  pose proof HM as H. unfold check_model in H. rewrite !andb_true_iff in H. destruct H as [[_ H] _].
  pose proof (forallb_seq _ _ H k Lk) as Hk. unfold check_lesser in Hk. see Hk. apply andb_true_iff in Hk as [_ Hk]. rewrite forallb_forall in Hk.
  specialize (Hk j M). apply andb_true_iff in Hk as [H1 H2]. unfold leads.
  destruct (Req_EM_T (e 0%nat) 0).
  - destruct (fst (nth j (differ A) (None, None))) as [j'|]; [|easy].
    destruct (fst (nth k (differ A) (None, None))) as [k'|]; [|easy]. now apply IH.
  - destruct (snd (nth j (differ A) (None, None))) as [j'|]; [|easy].
    destruct (snd (nth k (differ A) (None, None))) as [k'|]; [|easy]. now apply IH.
Qed.

(* The differences of registers are those that a node knows. *)
Definition agree v (r : store) := forall x q, lookup x (b_known (bn gr v)) = Some q -> r x = Q2R q.

(* The entry differs as the letter says, or it does not matter. *)
Definition entry_fits (w : way) v' (x : R) :=
  Q2R (fst (entry_of c (snd w))) <= x <= Q2R (snd (entry_of c (snd w))) \/ idle (tr A (fst w)) (b_known (bn gr v')) = true.

(* The ways are those of a path of the base, for these differences. *)
Fixpoint walk (ws : list way) v (a : feed) : Prop :=
  agree v (snd a) /\
  match ws with
  | [] => True
  | w :: ws' => exists v', goal (gplain gr) v w = Some v' /\ entry_fits w v' (entry A (src (tr A (fst w))) a) /\
                           walk ws' v' (rest A (src (tr A (fst w))) (fst w) a)
  end.

Lemma walk_brun ws : forall v a, walk ws v a -> brun gr v ws.
Proof.
  induction ws as [|w ws IH]; intros v a; simpl; [easy|]. intros (_ & v' & G & _ & Hw). rewrite G. eauto.
Qed.

Lemma agree_step v i l v' r x : goal (gplain gr) v (i, l) = Some v' -> agree v r -> entry_fits (i, l) v' x ->
  agree v' (set_registers (sets (tr A i)) x r).
Proof.
  intros G Ag Fit y q Hy. destruct (goal_spec g A H0 c gr true own HG _ _ _ _ G) as (_ & _ & _ & _ & _ & _ & RF).
  rewrite forallb_forall in RF. pose proof (lookup_In _ _ _ Hy) as Hin. specialize (RF _ Hin). unfold register_follows in RF.
  unfold set_registers. destruct (lookup y (sets (tr A i))) as [u|] eqn:Lu.
  - destruct (entry_of c l) as [lo hi] eqn:El.
    assert (Before : forall b, match from u with Some z => lookup z (b_known (bn gr v)) | None => Some 0%Q end = Some b ->
      match from u with Some z => r z | None => 0 end = Q2R b).
    { intros b. destruct (from u); intros E; [now apply Ag|]. inversion E. now rewrite Q2R_0. }
    destruct (match from u with Some z => lookup z (b_known (bn gr v)) | None => Some 0%Q end) as [b|]; [|easy].
    rewrite (Before b eq_refl). destruct (adds u) eqn:Ad.
    + apply andb_true_iff in RF as [E1 E2]. apply Qeq_bool_iff, Qeq_eqR in E1, E2.
      destruct Fit as [Fit|Id].
      * cbn [snd] in Fit. rewrite El in Fit. cbn [fst snd] in Fit. rewrite E2, Q2R_plus. lra.
      * unfold idle in Id. apply andb_true_iff in Id as [_ Id]. rewrite forallb_forall in Id. specialize (Id _ Hin).
        cbn [fst] in Id. rewrite Lu, Ad in Id. easy.
    + apply Qeq_bool_iff, Qeq_eqR in RF. lra.
  - destruct (lookup y (b_known (bn gr v))) as [b|] eqn:Lb; [|easy]. apply Qeq_bool_iff, Qeq_eqR in RF. rewrite RF. now apply Ag.
Qed.

Definition next q (e : stream) : stream := if reads (st A q) then tail e else e.

Lemma next_rest q i e r : rest A q i (e, r) = (next q e, set_registers (sets (tr A i)) (entry A q (e, r)) r).
Proof. reflexivity. Qed.

Lemma ways p : forall v r e (R : stream -> Prop), (v < length (b_nodes gr))%nat -> chain A (b_state (bn gr v)) p -> open g A H0 gr v p ->
  agree v r -> proper e -> patterned (b_apart (bn gr v)) e -> (mixes g = true -> convex R) ->
  (forall ws e', map fst ws = p -> proper e' -> walk ws v (e', r) -> R e') -> R e.
Proof.
  induction p as [|i p IH]; intros v r e R Hv Hc Ho Ag Pe Pt Cv HR.
  { apply (HR []); simpl; auto. }
  destruct Hc as [Hi Hc]. destruct Ho as [Co Ho].
  pose proof (base_step g A H0 c gr true own HG v i Hv Hi) as Hs. unfold check_base_step in Hs. cbv zeta in Hs. see Hs.
  unfold contradicts in Co. rewrite Co in Hs. cbn [orb] in Hs. apply andb_true_iff in Hs as [_ Hs].
  pose proof (proj2 (proj1 (leaving_In A _ i) Hi)) as Hq. set (q := src (tr A i)) in *.
  (* along one edge *)
  assert (Take : forall l v' e, proper e -> goal (gplain gr) v (i, l) = Some v' -> entry_fits (i, l) v' (entry A q (e, r)) ->
    patterned (b_apart (bn gr v')) (next q e) -> R e).
  { clear e Pe Pt. intros l v' e Pe G Fit Pt.
    destruct (goal_spec g A H0 c gr true own HG _ _ _ _ G) as (_ & Hv' & _ & _ & Ht & _).
    set (r' := set_registers (sets (tr A i)) (entry A q (e, r)) r).
    set (back := fun e1 => if reads (st A q) then before (e 0%nat) e1 else e1).
    assert (Eb : back (next q e) = e) by (unfold back, next; destruct (reads (st A q)); [apply before_tail|easy]).
    assert (Nb : forall e1, next q (back e1) = e1) by (intros e1; unfold back, next; destruct (reads (st A q)); reflexivity).
    assert (Er : forall e1, entry A q (back e1, r) = entry A q (e, r)) by (intros e1; unfold entry, back; cbn [fst]; now destruct (reads (st A q))).
    rewrite <- Eb. apply (IH v' r' (next q e) (fun e1 => R (back e1))); auto.
    - now rewrite <- Ht.
    - now apply (Ho l).
    - now apply (agree_step v i l).
    - unfold next. destruct (reads (st A q)); [|easy]. intros n. apply Pe.
    - intros M la e1 e2 Hla H1 H2. specialize (Cv M la _ _ Hla H1 H2).
      replace (back (mixed la e1 e2)) with (mixed la (back e1) (back e2)); [easy|].
      unfold back. destruct (reads (st A q)); [|easy]. apply functional_extensionality. intros [|n]; unfold mixed, before; lra.
    - intros ws e1 Hws Pe1 Hw. apply (HR ((i, l) :: ws)).
      + simpl. now rewrite Hws.
      + unfold back. destruct (reads (st A q)); [|easy]. intros [|n]; [apply Pe|apply Pe1].
      + cbn [walk snd fst]. split; [easy|]. exists v'. fold q. rewrite Er. split; [easy|split; [easy|]].
        rewrite next_rest, Nb, Er. exact Hw. }
  unfold check_ways in Hs. cbv zeta in Hs. see Hs. fold q in Hs.
  destruct (reads (st A q)) eqn:Rd.
  2: { (* no entry is read *)
    destruct (goal (gplain gr) v (i, Same)) as [v'|] eqn:G; [|easy].
    destruct (goal_spec g A H0 c gr true own HG _ _ _ _ G) as (_ & _ & _ & _ & _ & PF & _).
    apply (Take Same v' e); auto.
    - left. unfold entry. rewrite Rd. cbn. rewrite Q2R_0. lra.
    - unfold pattern_follows in PF. see PF. fold q in PF. rewrite Rd in PF. apply andb_true_iff in PF as [_ PF]. apply Nat.eqb_eq in PF.
      unfold next. rewrite Rd. now rewrite <- PF. }
  destruct (nth (b_apart (bn gr v)) (differ A) (None, None)) as [equal other] eqn:Mv.
  (* where edges lead in the pattern *)
  assert (Lead : forall l v', goal (gplain gr) v (i, l) = Some v' ->
    (match l with Same => equal | _ => other end) = Some (b_apart (bn gr v'))).
  { intros l v' G. destruct (goal_spec g A H0 c gr true own HG _ _ _ _ G) as (_ & _ & _ & _ & _ & PF & _).
    unfold pattern_follows in PF. see PF. fold q in PF. rewrite Rd, Mv in PF.
    destruct (match l with Same => equal | _ => other end) as [j|]; [|easy]. apply Nat.eqb_eq in PF. now subst. }
  assert (Ent : forall e, entry A q (e, r) = e 0%nat) by (intros e1; unfold entry; now rewrite Rd).
  assert (Nx : forall e, next q e = tail e) by (intros e1; unfold next; now rewrite Rd).
  (* the mean of the least and the largest difference *)
  assert (Mix : forall b, is_some (goal (gplain gr) v (i, Least)) = true -> is_some (goal (gplain gr) v (i, Largest)) = true ->
    other = Some b -> patterned b (tail e) -> mixes g = true -> R e).
  { intros b G1 G2 Ob Pb M. destruct (goal (gplain gr) v (i, Least)) as [v1|] eqn:E1; [|easy].
    destruct (goal (gplain gr) v (i, Largest)) as [v2|] eqn:E2; [|easy].
    pose proof (Lead _ _ E1) as L1. pose proof (Lead _ _ E2) as L2. simpl in L1, L2.
    pose proof (Pe 0%nat) as [B0 _].
    assert (Prop' : forall x, kl <= x <= kh -> proper (before x (tail e))).
    { intros x Hx [|n]; [split; [exact Hx|now apply mixes_ok]|apply (Pe (S n))]. }
    assert (R1 : R (before kl (tail e))).
    { apply (Take Least v1); auto.
      - apply Prop'. lra.
      - left. rewrite Ent. simpl. fold kl. lra.
      - rewrite Nx. change (tail (before kl (tail e))) with (tail e). replace (b_apart (bn gr v1)) with b by congruence. exact Pb. }
    assert (R2 : R (before kh (tail e))).
    { apply (Take Largest v2); auto.
      - apply Prop'. lra.
      - left. rewrite Ent. simpl. fold kh. lra.
      - rewrite Nx. change (tail (before kh (tail e))) with (tail e). replace (b_apart (bn gr v2)) with b by congruence. exact Pb. }
    destruct (Req_EM_T kl kh) as [Ek|Ek].
    { replace (before kl (tail e)) with e in R1; [easy|]. apply functional_extensionality. intros [|n]; simpl; [lra|easy]. }
    pose proof (fun H => Cv M ((kh - e 0%nat) / (kh - kl)) _ _ H R1 R2) as Cm.
    assert (D : 0 < kh - kl) by lra.
    replace e with (mixed ((kh - e 0%nat) / (kh - kl)) (before kl (tail e)) (before kh (tail e))).
    - apply Cm. split.
      + apply Rmult_le_pos; [lra|]. now apply Rlt_le, Rinv_0_lt_compat.
      + apply (Rmult_le_reg_r (kh - kl)); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
    - apply functional_extensionality. intros [|n]; unfold mixed, before, tail; [field; lra|ring]. }
  apply andb_true_iff in Hs as [Hs1 Hs2].
  destruct (patterned_step _ _ Pt) as (k & Lk & Pk). unfold leads in Lk. rewrite Mv in Lk. cbn [fst snd] in Lk.
  destruct (Req_EM_T (e 0%nat) 0) as [E0|E0].
  - (* an equal entry *)
    subst equal. cbn [is_some negb] in Hs1. rewrite orb_false_r in Hs1. apply orb_true_iff in Hs1 as [S|Hs1].
    + destruct (goal (gplain gr) v (i, Same)) as [v'|] eqn:G; [|easy]. pose proof (Lead _ _ G) as L. simpl in L. inversion L; subst k.
      apply (Take Same v'); auto.
      * left. rewrite Ent, E0. simpl. rewrite Q2R_0. lra.
      * now rewrite Nx.
    + apply andb_true_iff in Hs1 as [Al Hs1]. destruct other as [b|]; [|easy]. apply Nat.eqb_eq in Al. subst b.
      apply orb_true_iff in Hs1 as [S|Hs1].
      * destruct (goal (gplain gr) v (i, Any)) as [v'|] eqn:G; [|easy]. pose proof (Lead _ _ G) as L. simpl in L. inversion L; subst k.
        apply (Take Any v'); auto.
        -- left. rewrite Ent. simpl. fold kl kh. apply Pe.
        -- now rewrite Nx.
      * rewrite !andb_true_iff in Hs1. destruct Hs1 as [[M S1] S2]. now apply (Mix k).
  - (* one that differs *)
    subst other. cbn [is_some negb] in Hs2. rewrite orb_false_r in Hs2. rewrite !orb_true_iff in Hs2. destruct Hs2 as [[S|Hs2]|Hs2].
    + destruct (goal (gplain gr) v (i, Any)) as [v'|] eqn:G; [|easy]. pose proof (Lead _ _ G) as L. simpl in L. inversion L; subst k.
      apply (Take Any v'); auto.
      * left. rewrite Ent. simpl. fold kl kh. apply Pe.
      * now rewrite Nx.
    + rewrite !andb_true_iff, orb_true_iff in Hs2. destruct Hs2 as [[S1 S2] [M|En]]; [now apply (Mix k)|].
      cbn [entry_of] in En. pose proof (Pe 0%nat) as [B0 O0].
      destruct (goal (gplain gr) v (i, Least)) as [v1|] eqn:E1; [|easy].
      destruct (goal (gplain gr) v (i, Largest)) as [v2|] eqn:E2; [|easy].
      pose proof (Lead _ _ E1) as L1. pose proof (Lead _ _ E2) as L2. simpl in L1, L2. inversion L1. inversion L2.
      destruct (ends_ok _ _ _ En O0 B0) as [Ex|[Ex|Ex]]; [|contradiction|].
      * apply (Take Least v1); auto.
        -- left. rewrite Ent, Ex. simpl. lra.
        -- rewrite Nx. replace (b_apart (bn gr v1)) with k by congruence. exact Pk.
      * apply (Take Largest v2); auto.
        -- left. rewrite Ent, Ex. simpl. lra.
        -- rewrite Nx. replace (b_apart (bn gr v2)) with k by congruence. exact Pk.
    + destruct (goal (gplain gr) v (i, Same)) as [v'|] eqn:G; [|easy]. pose proof (Lead _ _ G) as L. simpl in L. subst equal.
      apply andb_true_iff in Hs2 as [Id Al]. apply (Take Same v'); auto.
      * right. exact Id.
      * rewrite Nx. intros n. apply (lesser_allows n k); auto.
Qed.

(* The differences of means are those that the checker looks at. *)
Lemma weighed_known v r l m : agree v r -> weighed_of (b_known (bn gr v)) l = Some m -> weighed l r = Q2R m.
Proof.
  intros Ag. revert m. induction l as [|[x f] l IH]; simpl; intros m H.
  - inversion H. now rewrite Q2R_0.
  - destruct (lookup x _) as [q|] eqn:Lx; [|easy]. destruct (weighed_of _ l) as [m'|]; [|easy]. inversion H.
    rewrite (IH m' eq_refl), Q2R_plus, Q2R_mult, (Ag x q Lx). lra.
Qed.
Lemma means_spec v w v' a ends : agree v (snd a) -> entry_fits w v' (entry A (src (tr A (fst w))) a) ->
  means (plain A H0) c (tr A (fst w)) (snd w) (b_known (bn gr v)) = Some ends -> uses_mean (tr A (fst w)) = true ->
  Q2R (fst ends) <= input A (src (tr A (fst w))) a <= Q2R (snd ends).
Proof.
  intros Ag Fit Hm U. unfold means in Hm. rewrite U in Hm. see Hm. unfold input.
  destruct Fit as [Fit|Id].
  2: { unfold idle in Id. now rewrite U in Id. }
  destruct (entry_of c (snd w)) as [lo hi]. cbn [fst snd] in Fit.
  destruct (factors (st A (src (tr A (fst w))))) as [|f fs] eqn:Fs.
  - inversion Hm. cbn [fst snd weighed fold_right]. lra.
  - destruct (weighed_of _ (f :: fs)) as [m|] eqn:Wm; [|easy]. inversion Hm. cbn [fst snd]. rewrite !Q2R_plus, (weighed_known _ _ _ _ Ag Wm). lra.
Qed.
End Ways.
