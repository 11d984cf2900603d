(* Certificates that the checker accepts prove privacy, for any noise that obeys the axioms. *)
From Coq Require Import Reals QArith Qreals List Bool Arith Lra Lia FunctionalExtensionality.
From Symdipa.Core Require Import Model Lookup Checker.
From Symdipa.Above Require Import Paths Facts Cover Ways Guide.
Import ListNotations.
Open Scope R_scope.

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
  check_graph g A (plain A H) c gr (gplain gr) true own = true -> chain A (initial A) p -> open g A H gr 0 p -> adjacent N A c a b ->
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
Let all := numbers (ground :: parts).
Local Notation H := (c_hints C).
Local Notation V := (plain A (c_hints C)).
Local Notation W := (gplain ground).
Local Notation own k := (is_in (layer_of C) k).
Local Notation ledge_of e := (nth e (l_edges ground) (0, (0, Same), 0)%nat).

(* A layer, the automaton that it is about, and the way of it over an edge of the ground's lift. *)
Let nothing := {| b_nodes := []; b_edges := []; forward := true; everywhere := []; l_nodes := []; l_edges := [] |}.
Let layer k : graph := nth k (ground :: parts) nothing.
Let over k : automaton := if Nat.eqb k 0 then A else B.
Let hints_of k : hints := if Nat.eqb k 0 then H else for_parts H.
Let way_of k e : way := if Nat.eqb k 0 then via (ledge_of e) else only e.
Let step_of k e : nat := fst (way_of k e).
Local Notation trans_of e := (tr A (number (ledge_of e))).

Local Lemma Hparts : check_model g A V = true /\ check_bound C W (map gplain parts) = true /\
  (forall e, (e < length (l_edges ground))%nat -> check_step V C W (map gplain parts) (layer_of C) (e, ledge_of e) = true) /\
  (forall k, In k all -> check_graph g (over k) (plain (over k) (hints_of k)) c (layer k) (gplain (layer k)) (Nat.eqb k 0) (own k) = true).
Proof.
  pose proof Hcheck as Hc. rewrite check_plain in Hc. unfold check_ground in Hc. rewrite !andb_true_iff in Hc.
  destruct Hc as [[[[[_ HM] HG] HB] HS] HP]. repeat split; auto.
  - intros e He. now apply forallb_numbered.
  - intros [|k] Hk; [exact HG|]. unfold all, numbers in Hk. apply in_seq in Hk. simpl in Hk.
    assert (L : length (map gplain (c_parts C)) = length (c_parts C)) by apply map_length.
    apply (forallb_numbered _ _ k (gplain nothing, nothing)) in HP.
    + rewrite combine_nth, map_nth in HP by exact L. exact HP.
    + rewrite combine_length, L, Nat.min_id. unfold parts in Hk. lia.
Qed.
Local Lemma HG k : In k all ->
  check_graph g (over k) (plain (over k) (hints_of k)) c (layer k) (gplain (layer k)) (Nat.eqb k 0) (own k) = true.
Proof. apply Hparts. Qed.
Local Lemma all_0 : In 0%nat all.
Proof. unfold all, numbers. apply in_seq. simpl. lia. Qed.
Local Lemma HG0 : check_graph g A V c ground W true (own 0%nat) = true.
Proof. exact (HG 0 all_0). Qed.

(* -- the lift of the ground as an automaton -- *)

Local Lemma B_tr e : (e < length (l_edges ground))%nat -> tr B e = joining (source (ledge_of e)) (target (ledge_of e)) (trans_of e).
Proof.
  intros He. unfold tr at 1. unfold B, lifted_of, lifted. cbn [transitions]. see_goal.
  rewrite (nth_indep _ _ (joining (source (0, (0, Same), 0)%nat) (target (0, (0, Same), 0)%nat) (tr A (number (0, (0, Same), 0)%nat))))
    by now rewrite map_length.
  exact (map_nth (fun e => joining (source e) (target e) (tr A (number e))) (l_edges ground) _ e).
Qed.
Local Lemma B_leaving n e : In e (leaving B n) <-> (e < length (l_edges ground))%nat /\ source (ledge_of e) = n.
Proof.
  rewrite leaving_In. unfold B at 1, lifted_of, lifted. cbn [transitions]. rewrite map_length. fold ground.
  split; intros [He Hs]; (split; [exact He|]); rewrite B_tr in * by easy; exact Hs.
Qed.
Local Lemma B_st n : (n < length (l_nodes ground))%nat -> st B n = st A (b_state (bn ground (l_base (ln ground n)))).
Proof.
  intros Hn. unfold st at 1. unfold B, lifted_of, lifted. cbn [states]. see_goal.
  rewrite (nth_indep _ _ (st A (b_state (bn ground (l_base lnode0))))) by now rewrite map_length.
  exact (map_nth (fun n => st A (b_state (bn ground (l_base n)))) (l_nodes ground) _ n).
Qed.

(* An edge, with what it is over. *)
Local Lemma edge_spec e : (e < length (l_edges ground))%nat ->
  let (n, n') := (source (ledge_of e), target (ledge_of e)) in
  In (n, via (ledge_of e), n') (l_edges ground) /\ (n < length (l_nodes ground))%nat /\ (n' < length (l_nodes ground))%nat /\
  goal W (l_base (ln ground n)) (via (ledge_of e)) = Some (l_base (ln ground n')) /\
  src (trans_of e) = b_state (bn ground (l_base (ln ground n))) /\ tgt (trans_of e) = b_state (bn ground (l_base (ln ground n'))).
Proof.
  intros He. pose proof (nth_In (l_edges ground) (0, (0, Same), 0)%nat He) as Hin.
  destruct (ledge_of e) as [[n [i l]] n'] eqn:Ee. cbn [source target via fst snd]. unfold number. cbn [via fst snd].
  destruct (ledge_over g A H c ground true _ HG0 _ _ _ Hin) as (Ln & Ln' & Gl).
  destruct (goal_spec g A H c ground true _ HG0 _ _ _ _ Gl) as (_ & _ & _ & Hs & Ht & _). auto 8.
Qed.

(* Numbers of the transitions. *)
Definition steps_of (es : list nat) : list nat := map (fun e => number (ledge_of e)) es.

Local Lemma lrun_chain ws : forall n, lrun ground n ws -> exists es, chain B n es /\ map (fun e => via (ledge_of e)) es = ws.
Proof.
  induction ws as [|w ws IH]; intros n; simpl; [exists []; simpl; auto|]. intros (n' & He & HL).
  destruct (IH n' HL) as (es & Hes & <-). apply (In_nth _ _ (0, (0, Same), 0)%nat) in He as (e & He & E0).
  assert (E : ledge_of e = (n, w, n')) by exact E0. clear E0. exists (e :: es). simpl. rewrite B_tr by easy. rewrite E.
  split; [split; [|exact Hes]|easy]. apply B_leaving. now rewrite E.
Qed.

(* A path has the probability that it has as one of the lift. *)
Local Lemma B_Pp es : forall w n s a, (n < length (l_nodes ground))%nat -> chain B n es ->
  Pp N B es w n s a = Pp N A (steps_of es) w (b_state (bn ground (l_base (ln ground n)))) s a.
Proof.
  induction es as [|e es IH]; intros [|l w] n s a Hn Hc; simpl; auto. destruct Hc as [He Hc].
  apply B_leaving in He as [Le <-]. destruct (edge_spec e Le) as (_ & _ & Ln' & _ & _ & Ht). rewrite B_tr in Hc by easy. cbn [tgt joining] in Hc.
  unfold step. rewrite B_st by easy. set (n := source (ledge_of e)) in *. set (q := b_state (bn ground (l_base (ln ground n)))) in *.
  assert (En : forall b, entry B n b = entry A q b) by (intros b; unfold entry; now rewrite B_st).
  assert (Ei : forall b, input B n b = input A q b) by (intros b; unfold input; now rewrite En, B_st).
  rewrite Ei. f_equal. apply functional_extensionality. intros z. unfold after_step. rewrite B_tr, Ei by easy. set (t := trans_of e) in *.
  change (enabled (joining (source (ledge_of e)) (target (ledge_of e)) t) s z) with (enabled t s z).
  change (upd s (joining (source (ledge_of e)) (target (ledge_of e)) t) z) with (upd s t z). cbn [out tgt joining].
  destruct (enabled t s z); [|easy].
  assert (Es : forall o m l1, shows N B n m o l1 s z = shows N A q m o l1 s z).
  { induction o as [|it o IHo]; intros m [|l1 l2]; simpl; auto. rewrite IHo. f_equal.
    destruct it, l1; simpl; auto. now rewrite B_st. }
  rewrite Es, Ht. f_equal. replace (rest B n e a) with (rest A q (number (ledge_of e)) a); [now apply IH|].
  unfold rest. rewrite En, B_st, B_tr by easy. reflexivity.
Qed.

(* -- where the layers are on a path -- *)

Local Lemma over_tr k e : (e < length (l_edges ground))%nat -> exists n n',
  tr (over k) (step_of k e) = joining n n' (trans_of e) /\
  sure g (plain (over k) (hints_of k)) (tr (over k) (step_of k e)) = sure g V (trans_of e).
Proof.
  intros He. unfold over, step_of, way_of, hints_of. destruct (Nat.eqb k 0).
  - exists (src (trans_of e)), (tgt (trans_of e)). split; [|easy]. unfold number. now destruct (tr A _).
  - destruct (edge_spec e He) as (_ & Ln & _ & _ & Hs & _). exists (source (ledge_of e)), (target (ledge_of e)). cbn [only fst].
    rewrite B_tr by easy. split; [easy|]. unfold sure, support, fresh_pair, fresh. see_goal. cbn [src joining].
    rewrite B_st, <- Hs by easy. reflexivity.
Qed.

(* A layer's path over edges of the ground's lift begins in a node, and no fact speaks against it. *)
Definition facts_at k n : list atom := b_facts (bn (layer k) (l_base (ln (layer k) n))).
Definition stands k n es : Prop :=
  (if Nat.eqb k 0 then chain B n es else lrun (layer k) n (map only es)) /\ (n < length (l_nodes (layer k)))%nat /\
  chain (over k) (b_state (bn (layer k) (l_base (ln (layer k) n)))) (map (step_of k) es) /\
  open g (over k) (hints_of k) (layer k) (l_base (ln (layer k) n)) (map (step_of k) es).

(* Every layer goes on: the ground by an edge, each part by one over it. *)
Definition goes k n e n' : Prop :=
  In (n, way_of k e, n') (l_edges (layer k)) /\ (k = 0%nat -> source (ledge_of e) = n /\ target (ledge_of e) = n') /\
  (forall sg sh, keeps (facts_at k n) sg -> respects (sure g V (trans_of e)) sg sh -> keeps (facts_at k n') (carried (trans_of e) sg sh)).

Local Lemma stands_step k n e es : In k all -> (e < length (l_edges ground))%nat -> stands k n (e :: es) -> exists n', goes k n e n' /\ stands k n' es.
Proof.
  intros Hk He (Ru & Ln & Ch & Op). cbn [map chain open] in Ch, Op. destruct Ch as [Hi Ch], Op as [Co Op].
  assert (E : exists n', In (n, way_of k e, n') (l_edges (layer k)) /\ (k = 0%nat -> source (ledge_of e) = n /\ target (ledge_of e) = n') /\
    if Nat.eqb k 0 then chain B n' es else lrun (layer k) n' (map only es)).
  { unfold way_of. destruct (Nat.eqb_spec k 0) as [->|Ne].
    - destruct Ru as [Hb Ru]. apply B_leaving in Hb as [_ <-]. rewrite B_tr in Ru by easy. exists (target (ledge_of e)).
      split; [now apply edge_spec|]. split; [easy|exact Ru].
    - destruct Ru as (n' & Hin & Ru). exists n'. split; [exact Hin|]. split; [lia|exact Ru]. }
  destruct E as (n' & Hin & Zero & Ru'). exists n'.
  destruct (ledge_over g _ _ c (layer k) _ _ (HG k Hk) _ _ _ Hin) as (_ & Ln' & Gl).
  assert (Gl' : goal (gplain (layer k)) (l_base (ln (layer k) n)) (step_of k e, snd (way_of k e)) = Some (l_base (ln (layer k) n'))).
  { unfold step_of. now rewrite <- surjective_pairing. }
  destruct (goal_spec g _ _ c (layer k) _ _ (HG k Hk) _ _ _ _ Gl') as (_ & _ & _ & _ & Ht & _).
  split; [split; [exact Hin|split; [exact Zero|]]|split; [exact Ru'|split; [exact Ln'|split; [now rewrite <- Ht|exact (Op _ _ Gl')]]]].
  intros sg sh Ke Re. destruct (over_tr k e He) as (m & m' & Et & Es).
  pose proof (facts_kept g _ _ c (layer k) _ _ (HG k Hk) _ _ _ _ sg sh Hi Gl' Co Ke) as Kept. rewrite Es, Et in Kept. exact (Kept Re).
Qed.

(* -- what all layers allow -- *)

(* The intervals of the layer that has the variable, at the node where that layer's path is; and all facts. *)
Definition ivs_at (ns : nat -> nat) : ivmap := fun x => iv (gplain (layer (layer_of C x))) (ns (layer_of C x)) x.
Definition facts_of (ns : nat -> nat) : list atom := flat_map (fun k => facts_at k (ns k)) all.

Local Lemma keeps_all ns sg : keeps (facts_of ns) sg <-> forall k, In k all -> keeps (facts_at k (ns k)) sg.
Proof.
  unfold facts_of. split.
  - intros K k Hk sh a Ha. apply K, in_flat_map. eauto.
  - intros K sh a Ha. apply in_flat_map in Ha as (k & Hk & Ha). now apply (K k Hk).
Qed.

Local Lemma ivs_some ns x r : ivs_at ns x = Some r -> In (layer_of C x) all.
Proof.
  unfold ivs_at. intros E. unfold all, numbers. apply in_seq. split; [lia|]. simpl length.
  destruct (Nat.lt_ge_cases (layer_of C x) (length (ground :: parts))) as [L|L]; [exact L|].
  unfold layer in E. rewrite nth_overflow in E by exact L. unfold iv in E. cbn in E. now destruct (ns _).
Qed.

Local Lemma layer_enough k n e n' (t := trans_of e) : In k all -> (e < length (l_edges ground))%nat -> goes k n e n' ->
  enough N (own k) (facts_at k n) (iv (gplain (layer k)) n) (iv (gplain (layer k)) n') t
    (floors (gplain (layer k)) t n n') (ceilings (gplain (layer k)) t n n') /\
  (forall f d, In f (floors (gplain (layer k)) t n n') -> In d (ceilings (gplain (layer k)) t n n') -> Q2R f <= Q2R d) /\
  (forall x r, iv (gplain (layer k)) n x = Some r -> layer_of C x = k).
Proof.
  intros Hk He (Hin & _). destruct (over_tr k e He) as (m & m' & Et & _).
  assert (Hin' : In (n, (step_of k e, snd (way_of k e)), n') (l_edges (layer k))) by (unfold step_of; now rewrite <- surjective_pairing).
  destruct (ledge_over g _ _ c (layer k) _ _ (HG k Hk) _ _ _ Hin) as (Ln & _). split; [|split].
  - pose proof (edge_enough N g okq_ok _ _ c (layer k) _ _ (HG k Hk) _ _ _ _ Hin') as En. rewrite Et in En. exact En.
  - intros f d. pose proof (fit_spec g _ _ c (layer k) _ _ (HG k Hk) _ _ _ _ f d Hin') as Fi. rewrite Et in Fi. exact Fi.
  - intros x [lo hi] E. apply (iv_ok N g okq_ok _ _ c (layer k) _ _ (HG k Hk) n x lo hi Ln) in E as [E _]. now apply Nat.eqb_eq in E.
Qed.

(* What the check of a step says, without views. *)
Let edges_of e k : list edge := if Nat.eqb k 0 then [ledge_of e] else by_of (gplain (layer k)) e.
Let range_of t e k := range (gplain (layer k)) t (edges_of e k).

Local Lemma goes_edge k n e n' : goes k n e n' -> exists w, In (n, w, n') (edges_of e k).
Proof.
  intros (Hin & Zero & _). unfold edges_of, way_of in *. destruct (Nat.eqb_spec k 0) as [->|Ne].
  - destruct (Zero eq_refl) as [<- <-]. exists (via (ledge_of e)). left. now destruct (ledge_of e) as [[? ?] ?].
  - exists (only e). apply having_In. split; [exact Hin|easy].
Qed.

Local Lemma compatible_spec l : compatible l = true -> forall i j, i <> j -> (i < length l)%nat -> (j < length l)%nat ->
  fits (fst (nth i l ([], []))) (snd (nth j l ([], []))) = true.
Proof.
  induction l as [|[F Ce] l IH]; simpl; [lia|]. rewrite andb_true_iff, forallb_forall. intros [Hf Ag] i j Ne Hi Hj.
  destruct i as [|i], j as [|j]; [easy| | |apply IH; auto; lia].
  - specialize (Hf _ (nth_In l ([], []) (n := j) ltac:(lia))). now apply andb_true_iff in Hf.
  - specialize (Hf _ (nth_In l ([], []) (n := i) ltac:(lia))). now apply andb_true_iff in Hf.
Qed.

Local Lemma listed e : (W, [ledge_of e]) :: map (fun U => (U, by_of U e)) (map gplain parts) = map (fun k => (gplain (layer k), edges_of e k)) all.
Proof.
  unfold all, numbers. simpl. f_equal. rewrite map_map, <- seq_shift, map_map. unfold edges_of, layer. cbn [Nat.eqb nth].
  generalize parts. intros l.
  assert (G : forall l, map (fun G => (gplain G, by_of (gplain G) e)) l =
    map (fun k => (gplain (nth k l nothing), by_of (gplain (nth k l nothing)) e)) (seq 0 (length l))).
  { clear. induction l as [|x l IH]; simpl; [easy|]. f_equal. rewrite <- seq_shift, map_map. exact IH. }
  apply G.
Qed.

Local Lemma step_spec e (t := trans_of e) : (e < length (l_edges ground))%nat ->
  (forall k, In k all -> exists n n', goes k n e n') ->
  (forall x, In x (t_ge t ++ t_lt t) -> In (layer_of C x) all) /\
  (forall p, In p (asked t) -> exists k, In k all /\ (is_own (own k) p = true \/
     forall d, In d (edges_of e k) -> answered V (gplain (layer k)) (source d) p = true)) /\
  (forall k k', In k all -> In k' all -> k <> k' -> fits (fst (range_of t e k)) (snd (range_of t e k')) = true) /\
  exists ends, means V c t (snd (via (ledge_of e))) (b_known (bn ground (l_base (ln ground (source (ledge_of e)))))) = Some ends /\
  check_cost V t ends (flat_map (fun k => fst (range_of t e k)) all) (flat_map (fun k => snd (range_of t e k)) all)
    (l_pot (ln ground (source (ledge_of e))) - l_pot (ln ground (target (ledge_of e)))) = true.
Proof.
  intros He Hk. destruct Hparts as (_ & _ & HS & _). specialize (HS e He). unfold check_step in HS. cbn [snd] in HS.
  rewrite (listed e) in HS. revert HS. unfold t. destruct (ledge_of e) as [[n [i l]] n'] eqn:Ee. unfold number. cbn [source target via fst snd].
  clear t. set (t := tr A i). see_goal. cbv zeta. intros HS. fold t in HS.
  assert (Nall : forall k, (k <= length parts)%nat <-> In k all) by (intros k; unfold all, numbers; rewrite in_seq; simpl; lia).
  assert (Skip : forallb (fun U => nonempty (by_of U e)) (map gplain parts) = true).
  { apply forallb_forall. intros U HU. apply in_map_iff in HU as (G & <- & HU). apply (In_nth _ _ nothing) in HU as (k & Lk & EG).
    destruct (Hk (S k) ltac:(apply Nall; lia)) as (m & m' & Go). apply goes_edge in Go as (w & Go).
    unfold edges_of, layer in Go. cbn [Nat.eqb nth] in Go. rewrite EG in Go. now destruct (by_of (gplain G) e). }
  rewrite Skip, map_map in HS. cbn [negb orb fst snd] in HS. rewrite !andb_true_iff, !forallb_forall in HS.
  destruct HS as [[[Rd As] Cr] Co].
  split; [|split; [|split]].
  - intros x Hx. apply Nall. apply Nat.leb_le. rewrite <- (map_length gplain). now apply Rd.
  - intros p Hp. specialize (As p Hp). unfold is_answered in As. apply orb_true_iff in As as [As|As].
    + unfold in_one_layer in As. unfold is_own.
      destruct (held_by (fst p) ++ held_by (snd p)) as [|x xs] eqn:Eh; [exists 0%nat; split; [apply all_0|now left]|].
      apply andb_true_iff in As as [L As]. exists (layer_of C x). rewrite map_length in L. split; [now apply Nall, Nat.leb_le|left].
      simpl. unfold is_in at 1. now rewrite Nat.eqb_refl.
    + apply existsb_exists in As as (r & Hr & As). apply in_map_iff in Hr as (k & <- & Hk'). exists k. split; [exact Hk'|right].
      rewrite forallb_forall in As. exact As.
  - intros k k' Hk1 Hk2 Ne. pose proof (compatible_spec _ Cr k k' Ne) as Fi. rewrite map_length in Fi.
    assert (Nth : forall j, In j all -> (j < length all)%nat /\
      nth j (map (fun k => range (gplain (layer k)) t (edges_of e k)) all) ([], []) = range_of t e j).
    { intros j Hj. unfold all, numbers in *. apply in_seq in Hj. rewrite seq_length. split; [lia|].
      rewrite (nth_indep _ _ (range_of t e 0%nat)) by (rewrite map_length, seq_length; lia).
      rewrite (map_nth (fun k => range_of t e k)). f_equal. now apply seq_nth. }
    destruct (Nth k Hk1) as [L1 E1], (Nth k' Hk2) as [L2 E2]. rewrite E1, E2 in Fi. now apply Fi.
  - fold c in Co. destruct (means V c t l _) as [ends|]; [|easy]. exists ends. split; [easy|].
    rewrite !flat_map_concat_map, !map_map in Co. now rewrite !flat_map_concat_map.
Qed.

Lemma layers_edge ns e ns' (t := trans_of e) : (e < length (l_edges ground))%nat -> (forall k, In k all -> goes k (ns k) e (ns' k)) ->
  exists ends, means V c t (snd (via (ledge_of e))) (b_known (bn ground (l_base (ln ground (ns 0%nat))))) = Some ends /\
  edge_ok N g A H (facts_of ns) (facts_of ns') (ivs_at ns) (ivs_at ns') (number (ledge_of e)) ends
    (l_pot (ln ground (ns 0%nat))) (l_pot (ln ground (ns' 0%nat))).
Proof.
  intros He Go. destruct (step_spec e He) as (Rd & As & Cr & ends & Me & Co); [intros k Hk; eauto|]. fold t in Rd, As, Cr, Me, Co.
  destruct (Go 0%nat all_0) as (_ & Zero & _). destruct (Zero eq_refl) as [Hs Ht].
  rewrite Hs, Ht in Co. rewrite Hs in Me. exists ends. split; [exact Me|].
  set (F k := floors (gplain (layer k)) t (ns k) (ns' k)). set (Ce k := ceilings (gplain (layer k)) t (ns k) (ns' k)).
  assert (Sub : forall k q, In k all -> (In q (F k) -> In q (fst (range_of t e k))) /\ (In q (Ce k) -> In q (snd (range_of t e k)))).
  { intros k q Hk. destruct (goes_edge _ _ _ _ (Go k Hk)) as (w & Hw).
    split; intros Hq; apply in_flat_map; exists (ns k, w, ns' k); (split; [exact Hw|exact Hq]). }
  pose proof (fun k Hk => layer_enough k (ns k) e (ns' k) Hk He (Go k Hk)) as L. fold t in L.
  assert (At : forall x r, ivs_at ns x = Some r -> In (layer_of C x) all) by (intros x r; apply ivs_some).
  assert (At' : forall x r, ivs_at ns' x = Some r -> In (layer_of C x) all) by (intros x r; apply ivs_some).
  exists (flat_map F all), (flat_map Ce all). fold t. split; [|split; [|split]].
  - assert (InF : forall k q, In k all -> In q (F k) -> In q (flat_map F all)) by (intros; apply in_flat_map; eauto).
    assert (InC : forall k q, In k all -> In q (Ce k) -> In q (flat_map Ce all)) by (intros; apply in_flat_map; eauto).
    split; [|split; [|split; [|split; [|split; [|split]]]]].
    + intros x Hx _. destruct (L _ (Rd x Hx)) as ((Read & _) & _). apply (Read x Hx), Nat.eqb_refl.
    + intros x lo hi M E. destruct (L _ (At' _ _ E)) as ((_ & Kept & _) & _). exact (Kept x lo hi M E).
    + intros x lo hi Hx E. destruct (L _ (At _ _ E)) as ((_ & _ & Ge & _) & _). apply (InC _ _ (At _ _ E)), (Ge x lo hi Hx E).
    + intros x lo hi Hx E. destruct (L _ (At _ _ E)) as ((_ & _ & _ & Lt & _) & _). apply (InF _ _ (At _ _ E)), (Lt x lo hi Hx E).
    + intros x lo hi Hx E. destruct (L _ (At' _ _ E)) as ((_ & _ & _ & _ & As' & _) & _). destruct (As' x lo hi Hx E).
      split; [apply (InF _ _ (At' _ _ E))|apply (InC _ _ (At' _ _ E))]; auto.
    + intros sg sh Iv Ke HF HC. rewrite keeps_all in Ke.
      assert (Ik : forall k, In k all -> inside (iv (gplain (layer k)) (ns k)) sg).
      { intros k Hk x lo hi E. destruct (L _ Hk) as (_ & _ & Lk). specialize (Lk _ _ E). apply Iv. unfold ivs_at. now rewrite Lk. }
      split.
      * intros a b Hab _. destruct (As _ Hab) as (k & Hk & [Ow|An]).
        -- destruct (L _ Hk) as ((_ & _ & _ & _ & _ & Ask & _) & _). apply (Ask sg sh); eauto.
        -- destruct (goes_edge _ _ _ _ (Go k Hk)) as (w & Hw). specialize (An _ Hw). unfold answered in An. see An. cbn [source fst snd] in An.
           exact (bound_shift sg sh V _ _ _ An (Ke k Hk sh)).
      * intros x u lo hi Hu E. destruct (L _ (At' _ _ E)) as ((_ & _ & _ & _ & _ & Ask & _) & _). eapply (Ask sg sh); eauto.
    + intros q [Hq|Hq]; apply in_flat_map in Hq as (k & Hk & Hq); apply (L _ Hk); auto.
  - intros sg sh. rewrite !keeps_all. intros Ke Re k Hk. destruct (Go k Hk) as (_ & _ & Kept). now apply Kept; [apply Ke|].
  - intros f d Hf Hd. apply in_flat_map in Hf as (k & Hk1 & Hf). apply in_flat_map in Hd as (k' & Hk2 & Hd).
    destruct (Nat.eq_dec k k') as [<-|Ne]; [now apply (L _ Hk1)|].
    exact (fits_spec _ _ _ _ (Cr k k' Hk1 Hk2 Ne) (proj1 (Sub k f Hk1) Hf) (proj2 (Sub k' d Hk2) Hd)).
  - eapply check_cost_sub; [| |exact Co]; intros q Hq; apply in_flat_map in Hq as (k & Hk & Hq); apply in_flat_map; exists k;
      (split; [exact Hk|first [exact (proj1 (Sub k q Hk) Hq)|exact (proj2 (Sub k q Hk) Hq)]]).
Qed.

Local Lemma pot_spec n : (n < length (l_nodes ground))%nat -> 0 <= Q2R (l_pot (ln ground n)) /\
  (l_base (ln ground n) = 0%nat -> Q2R (l_pot (ln ground n)) <= Q2R (c_D c)).
Proof.
  intros Hn. destruct Hparts as (_ & HB & _). unfold check_bound in HB. apply andb_true_iff in HB as [Pos _].
  rewrite forallb_forall in Pos. specialize (Pos _ (nth_In _ lnode0 Hn)). apply andb_true_iff in Pos as [P0 P1].
  fold (ln ground n) in P0, P1. apply Qle_R in P0. rewrite Q2R_0 in P0. split; [exact P0|]. intros E. rewrite E in P1. now apply Qle_R in P1.
Qed.

Lemma layers_guided es : forall ns a, (forall k, In k all -> stands k (ns k) es) ->
  walk A c ground (map (fun e => via (ledge_of e)) es) (l_base (ln ground (ns 0%nat))) a ->
  guided N g A H (facts_of ns) (ivs_at ns) (l_pot (ln ground (ns 0%nat))) (steps_of es) a.
Proof.
  induction es as [|e es IH]; intros ns a St HW; simpl; [apply pot_spec, (St 0%nat all_0)|].
  assert (He : (e < length (l_edges ground))%nat) by (destruct (St 0%nat all_0) as [[Hb _] _]; now apply B_leaving in Hb).
  destruct (choice all (fun k n' => goes k (ns k) e n' /\ stands k n' es)) as [ns' Hns]; [intros k Hk; now apply stands_step; auto|].
  destruct (layers_edge ns e ns' He) as (ends & Me & Ok); [intros k Hk; now apply Hns|].
  exists (facts_of ns'), (ivs_at ns'), (l_pot (ln ground (ns' 0%nat))), ends. split; [exact Ok|].
  destruct (Hns 0%nat all_0) as [(_ & Zero & _) _]. destruct (Zero eq_refl) as [Hs Ht].
  destruct (edge_spec e He) as (_ & _ & _ & Gl & _). rewrite Hs, Ht in Gl.
  cbn [map walk] in HW. destruct HW as (Ag & v' & Gl' & Fit & HW). rewrite Gl in Gl'. inversion Gl'; subst v'. split.
  - intros U. exact (means_spec A H c ground _ (via (ledge_of e)) _ a ends Ag Fit Me U).
  - apply IH; [intros k Hk; now apply Hns|exact HW].
Qed.

(* -- the theorem -- *)

Local Lemma numbers_A : numbers_ok N g A.
Proof. exact (model_numbers N g A H (proj1 Hparts) okq_ok). Qed.
Local Lemma numbers_B : numbers_ok N g B.
Proof.
  destruct numbers_A as [Fa Wh]. split.
  - intros n p Hp. destruct (Nat.lt_ge_cases n (length (l_nodes ground))) as [Ln|Ln]; [rewrite B_st in Hp by easy; eauto|].
    unfold st in Hp. rewrite nth_overflow in Hp; [easy|]. unfold B, lifted_of, lifted. cbn [states]. now rewrite map_length.
  - intros W. destruct (Wh W) as [Mu Co]. split.
    + intros n. destruct (Nat.lt_ge_cases n (length (l_nodes ground))) as [Ln|Ln]; [rewrite B_st by easy; apply Mu|].
      unfold st. rewrite nth_overflow; [simpl; rewrite Q2R_0; apply ok_0|]. unfold B, lifted_of, lifted. cbn [states]. now rewrite map_length.
    + intros e x v Hv. destruct (Nat.lt_ge_cases e (length (l_edges ground))) as [Le|Le]; [rewrite B_tr in Hv by easy; exact (Co _ _ _ Hv)|].
      unfold tr in Hv. rewrite nth_overflow in Hv; [easy|]. unfold B, lifted_of, lifted. cbn [transitions]. now rewrite map_length.
Qed.

(* A path that is possible has one in each layer. *)
Local Lemma all_stand es w a n : good_word N w -> (whole g = true -> given_ok N a) -> chain B n es -> (n < length (l_nodes ground))%nat -> l_base (ln ground n) = 0%nat ->
  Pp N A (steps_of es) w (initial A) (fun _ => 0) a <> 0 -> chain A (initial A) (steps_of es) -> open g A H ground 0 (steps_of es) ->
  forall k, In k all -> exists m, (k = 0%nat -> m = n) /\ facts_at k m = [] /\ stands k m es.
Proof.
  intros Gw Wh Hc Ln Hn Ne Hcp Ho k Hk. destruct (base_0 g A H c ground true _ HG0) as (_ & BI & BF & _).
  destruct (Nat.eq_dec k 0) as [->|K].
  { exists n. split; [easy|]. unfold facts_at, stands. cbn [Nat.eqb]. 
    change (layer 0) with ground. change (over 0) with A. change (hints_of 0) with H. rewrite Hn, BI. auto. }
  assert (First : n = initial B).
  { destruct Hparts as (_ & HB & _). unfold check_bound in HB. apply andb_true_iff in HB as [_ HB]. apply orb_true_iff in HB as [HB|HB].
    - unfold all, numbers in Hk. destruct parts; [apply in_seq in Hk; simpl in Hk; lia|discriminate].
    - unfold B, lifted_of, lifted, first_node. cbn [initial]. assert (Hin : In n (over_of W 0)) by now apply over_In. fold ground.
      destruct (over_of W 0) as [|m [|m' l]]; try discriminate. now destruct Hin as [->|[]]. }
  pose proof (HG k Hk) as G. unfold over, hints_of in G. assert (K0 : Nat.eqb k 0 = false) by now apply Nat.eqb_neq. rewrite K0 in G.
  assert (Es : map (step_of k) es = es) by (unfold step_of, way_of; rewrite K0; cbn [only fst]; apply map_id).
  assert (HcB : chain B (initial B) es) by now rewrite <- First.
  destruct (opened N g smooth_ok factors_ok whole_ok B (for_parts H) c (layer k) false _ numbers_B G es w a Gw Wh HcB) as [Op|E0].
  - destruct (base_0 g B _ c (layer k) false _ G) as (B0 & BI' & BF' & _).
    assert (Hb : brun (layer k) 0 (map only es)).
    { apply (open_brun g B _ c (layer k) false _ G); auto. now rewrite BI'. }
    destruct (covered g B _ c (layer k) false _ G _ Hb) as (m & Lm & Hm & HLm). exists m. split; [lia|].
    unfold facts_at, stands, over, hints_of. rewrite K0, Es, Hm, BI'. auto.
  - exfalso. apply Ne. rewrite <- First, B_Pp, Hn, BI in E0 by easy. exact E0.
Qed.

Theorem private a b w : good_word N w -> (whole g = true -> forall n, ok N (a n)) -> adjacent N A c a b -> prob N A a w <= exp (eps * Q2R (c_D c)) * prob N A b w.
Proof.
  destruct Hparts as (HM & _). intros Gw Wh Adj. apply (shifted_private Heps N g A H c factors_ok okq_ok smooth_ok HM a b Adj); auto.
  assert (Wh' : whole g = true -> given_ok N (a, fun _ => 0)) by (intros W; split; cbn [fst snd]; intros; [now apply Wh|apply ok_0]).
  intros p w' Gw' Hc. destruct (Req_dec (Pp N A p w' (initial A) (fun _ => 0) (a, fun _ => 0)) 0) as [E0|Ne]; [now left|right].
  destruct (opened N g smooth_ok factors_ok whole_ok A H c ground true _ numbers_A HG0 p w' (a, fun _ => 0) Gw' Wh' Hc) as [Ho|E0]; [|contradiction].
  apply (along H c ground _ a b p (fun e => exists sg, shifted N A H sg p (e, fun _ => 0) (Q2R (c_D c))) HM HG0 Hc Ho Adj).
  - intros M la e e' Hla [sg S] [sg' S']. exists (mixed la sg sg').
    pose proof (shifted_mixed N g A H HM la (mixes_ok M) Hla p (initial A) _ _ _ _ _ _ Hc S S') as Sm.
    replace (la * Q2R (c_D c) + (1 - la) * Q2R (c_D c)) with (Q2R (c_D c)) in Sm by ring.
    unfold mixed_feed in Sm. cbn [fst snd] in Sm.
    replace (mixed la (fun _ => 0) (fun _ => 0)) with (fun _ : nat => 0) in Sm; [exact Sm|].
    apply functional_extensionality. intros x. unfold mixed. ring.
  - intros ws e Hws Pe HW. destruct (covered g A H c ground true _ HG0 ws (walk_brun A c ground ws 0 _ HW)) as (n & Ln & Hn & HL).
    destruct (lrun_chain ws n HL) as (es & Hes & Ews). subst ws. rewrite map_map in Hws. change (steps_of es = p) in Hws. subst p.
    destruct (choice all (fun k m => (k = 0%nat -> m = n) /\ facts_at k m = [] /\ stands k m es)) as [ns Hns].
    { exact (all_stand es w' (a, fun _ => 0) n Gw' Wh' Hes Ln Hn Ne Hc Ho). }
    assert (N0 : ns 0%nat = n) by now apply (Hns 0%nat all_0).
    assert (Iv : forall x lo hi, ivs_at ns x = Some (lo, hi) -> Q2R lo <= Q2R hi).
    { intros x lo hi E. pose proof (ivs_some _ _ _ E) as Hk. destruct (Hns _ Hk) as (_ & _ & _ & Lk & _).
      now apply (iv_ok N g okq_ok _ _ c _ _ _ (HG _ Hk) _ _ _ _ Lk) in E. }
    assert (Ke : keeps (facts_of ns) (lowest (ivs_at ns))).
    { apply keeps_all. intros k Hk. destruct (Hns k Hk) as (_ & -> & _). apply keeps_nothing. }
    assert (Ge : given_ok N (e, fun _ => 0)) by (split; cbn [fst snd]; intros; [apply Pe|apply ok_0]).
    exists (lowest (ivs_at ns)).
    pose proof (layers_guided es ns (e, fun _ => 0) (fun k Hk => proj2 (proj2 (Hns k Hk)))) as Gd. rewrite N0, Hn in Gd. specialize (Gd HW).
    pose proof (guided_shifted N g A H factors_ok okq_ok HM _ _ _ _ (initial A) _ _ Hc Ge (lowest_inside _ Iv) Ke Gd) as S.
    apply (shifted_more N A H _ _ _ (Q2R (l_pot (ln ground n)))); [exact S|]. now apply pot_spec.
Qed.
End Layers.
End Sound.
