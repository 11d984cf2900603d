(* What comparisons say when they are added up: of values, and of shifts; and that facts follow from one step to the next one. *)
From Coq Require Import Reals QArith Qreals Qround List Bool Arith Lra Lia.
From Symdipa.Core Require Import Model Lookup Checker.
From Symdipa.Above Require Import Paths.
Import ListNotations.
Open Scope R_scope.

(* By how much a term is shifted, for shifts of what is stored and of the sample. *)
Definition shift (sg : nat -> R) (sh : R) (v : term) : R := value sg sh v - Q2R (plus v).

(* Shifts respect comparisons: the first end is shifted at least as far as the second. *)
Definition respects (K : list atom) (sg : nat -> R) (sh : R) := forall k, In k K -> shift sg sh (high k) <= shift sg sh (low k).

Lemma value_lasting s z z' v : is_sample v = false -> value s z v = value s z' v.
Proof. unfold is_sample, value. destruct (whence v); easy. Qed.
Lemma true_lasting s z z' a : is_sample (low a) = false -> is_sample (high a) = false -> true_of s z a -> true_of s z' a.
Proof. intros L H. unfold true_of. now rewrite (value_lasting s z z' _ L), (value_lasting s z z' _ H). Qed.

Definition integer (x : R) : Prop := exists k, x = IZR k.

(* ---- Sums of comparisons ---- *)

Section Sums.
Variables (s : nat -> R) (z : R).

(* What a form stands for, and by how much the first end of a comparison exceeds the second one, but for numbers. *)
Definition stands (f : form) : R := fold_right (fun p m => Q2R (snd p) * held s z (fst p) + m) 0 f.
Definition gain (a : atom) : R := shift s z (low a) - shift s z (high a).

Lemma Q2R_red q : Q2R (Qred q) = Q2R q.
Proof. apply Qeq_eqR, Qred_correct. Qed.
Lemma stands_put p q f : stands (put p q f) = Q2R q * held s z p + stands f.
Proof.
  induction f as [|[p' q'] f IH]; cbn [put stands fold_right fst snd]; [easy|].
  destruct (place_eqb p p') eqn:E; cbn [stands fold_right fst snd].
  - apply place_eqb_spec in E as ->. rewrite Q2R_red, Q2R_plus. fold (stands f). ring.
  - fold (stands (put p q f)). fold (stands f). rewrite IH. ring.
Qed.
Lemma stands_term q v f : stands (put_term q v f) = Q2R q * shift s z v + stands f.
Proof. unfold put_term, shift, value. rewrite stands_put. destruct (negative v); rewrite ?Q2R_opp; ring. Qed.
Lemma stands_atom q a f : stands (put_atom q a f) = Q2R q * gain a + stands f.
Proof. unfold put_atom, gain. rewrite !stands_term, Q2R_opp. ring. Qed.
Lemma vanishes_0 f : vanishes f = true -> stands f = 0.
Proof.
  unfold vanishes. rewrite forallb_forall. induction f as [|[p q] f IH]; intros H; cbn [stands fold_right fst snd]; [easy|].
  fold (stands f). rewrite IH by (intros x Hx; apply H; now right). specialize (H (p, q) (or_introl eq_refl)). cbn [fst snd] in H.
  apply orb_true_iff in H as [H|H].
  - apply place_eqb_spec in H as ->. simpl. ring.
  - apply Qeq_bool_iff, Qeq_eqR in H. rewrite H, Q2R_0. ring.
Qed.

Definition gains (l : list (atom * Q)) : R := fold_right (fun p m => Q2R (snd p) * gain (fst p) + m) 0 l.

Lemma bound_by_gain l a q b : bound_by l a = Some (q, b) -> gain a = gains l /\ (forall p, In p l -> 0 <= Q2R (snd p)) /\
  q = fold_right (fun p m => Qred (m - snd p * over (fst p))) (over a) l /\
  b = existsb (fun p => strict (fst p) && Qlt_bool 0 (snd p)) l.
Proof.
  unfold bound_by. destruct (forallb _ l) eqn:P; [|easy]. cbn [andb]. destruct (vanishes _) eqn:Va; [|easy].
  intros E. inversion E. rewrite forallb_forall in P. split; [|split; [|easy]].
  - apply vanishes_0 in Va.
    assert (G : forall l, stands (fold_right (fun p => put_atom (snd p) (fst p)) (put_atom (- (1)) a []) l) = gains l - gain a).
    { clear. induction l as [|p l IH]; cbn [fold_right gains].
      - rewrite stands_atom, Q2R_opp. unfold stands; simpl. unfold Q2R; simpl. field.
      - rewrite stands_atom, IH. unfold gains. ring. }
    rewrite G in Va. lra.
  - intros p Hp. specialize (P p Hp). apply Qle_R in P. now rewrite Q2R_0 in P.
Qed.

Lemma value_gain a : value s z (low a) - value s z (high a) = gain a + Q2R (over a).
Proof. unfold gain, shift, over. rewrite Q2R_minus. ring. Qed.
Lemma true_gain a : true_of s z a -> gain a + Q2R (over a) <= 0 /\ (strict a = true -> gain a + Q2R (over a) < 0).
Proof. rewrite <- value_gain. unfold true_of. destruct (strict a); intros; split; intros; try easy; lra. Qed.

Lemma bound_by_true l a q b : bound_by l a = Some (q, b) -> (forall p, In p l -> true_of s z (fst p)) ->
  value s z (low a) - value s z (high a) <= Q2R q /\ (b = true -> value s z (low a) - value s z (high a) < Q2R q).
Proof.
  intros H T. apply bound_by_gain in H as (G & P & -> & ->). rewrite value_gain, G. clear G. set (o := over a).
  induction l as [|p l IH]; cbn [gains fold_right existsb].
  - split; [lra|easy].
  - fold (gains l). rewrite Q2R_red, Q2R_minus, Q2R_mult. destruct IH as [I1 I2]; [intros; apply P; now right|intros; apply T; now right|].
    pose proof (P p (or_introl eq_refl)) as Pp. destruct (true_gain _ (T p (or_introl eq_refl))) as [T1 T2].
    assert (M : Q2R (snd p) * (gain (fst p) + Q2R (over (fst p))) <= 0).
    { rewrite <- (Rmult_0_r (Q2R (snd p))). now apply Rmult_le_compat_l. }
    split; [lra|]. intros B. apply orb_true_iff in B as [B|B]; [|specialize (I2 B); lra].
    apply andb_true_iff in B as [S W]. apply Qlt_R in W. rewrite Q2R_0 in W. specialize (T2 S).
    assert (Q2R (snd p) * (gain (fst p) + Q2R (over (fst p))) < 0).
    { rewrite <- (Rmult_0_r (Q2R (snd p))). now apply Rmult_lt_compat_l. }
    lra.
Qed.

Lemma taken_In K l p : In p (taken_from K l) -> In (fst p) K \/ fst p = trivial.
Proof.
  unfold taken_from. rewrite in_map_iff. intros (x & <- & _). cbn [fst].
  destruct (nth_in_or_default (fst x) K trivial); auto.
Qed.
Lemma trivial_true : true_of s z trivial.
Proof. unfold true_of, trivial, value. simpl. lra. Qed.

Variable V : view.

(* What is rounded is about integers. *)
Definition integers_in := integer z /\ forall x, integer (s x).
Lemma gain_integer a : integers_in -> integer (gain a).
Proof.
  intros [Iz Is]. assert (G : forall v, integer (shift s z v)).
  { intros v. unfold shift, value. assert (I : integer (held s z (whence v))) by (destruct (whence v); simpl; auto; now exists 0%Z).
    destruct I as [k E]. rewrite E. destruct (negative v); [exists (- k)%Z; rewrite opp_IZR|exists k]; ring. }
  unfold gain. destruct (G (low a)) as [k ->], (G (high a)) as [j ->]. exists (k - j)%Z. now rewrite minus_IZR.
Qed.
Lemma integer_to_le q x b : integer x -> x <= Q2R q -> (b = true -> x < Q2R q) -> x <= Q2R (integer_to q b).
Proof.
  intros [k ->] L S. assert (E : forall j, Q2R (inject_Z j) = IZR j) by (intros j; unfold Q2R, inject_Z; simpl; field).
  unfold integer_to. rewrite E. apply IZR_le. rewrite <- E in L, S. destruct b.
  - specialize (S eq_refl). apply Rlt_Qlt in S.
    assert (H : (Qfloor (- q) < - k)%Z).
    { rewrite Zlt_Qlt. eapply Qle_lt_trans; [apply Qfloor_le|]. apply Qlt_minus_iff in S. apply Qlt_minus_iff.
      rewrite inject_Z_opp. setoid_replace (- inject_Z k + - - q)%Q with (q + - inject_Z k)%Q by ring. exact S. }
    lia.
  - apply Rle_Qle in L. rewrite <- (Qfloor_Z k). now apply Qfloor_resp_le.
Qed.
Lemma rounded_true a : integers_in -> true_of s z a -> true_of s z (rounded a).
Proof.
  intros I T. destruct (true_gain _ T) as [L S].
  assert (B : gain a <= Q2R (integer_to (- over a) (strict a))).
  { apply integer_to_le; [now apply gain_integer| |]; rewrite Q2R_opp; [lra|]. intros E. specialize (S E). lra. }
  unfold true_of, rounded. cbn [strict low high]. unfold gain, shift in B. unfold value in *. cbn [negative whence plus]. rewrite Q2R_0.
  destruct (negative (low a)), (negative (high a)); lra.
Qed.

Lemma bound_true w K a q b : (w = true -> integers_in) -> bound V w K a = Some (q, b) -> (forall k, In k K -> true_of s z k) ->
  value s z (low a) - value s z (high a) <= Q2R q /\ (b = true -> value s z (low a) - value s z (high a) < Q2R q).
Proof.
  intros I H T. unfold bound in H. destruct (bound_by _ a) as [[q0 b0]|] eqn:B; [|easy].
  assert (G : value s z (low a) - value s z (high a) <= Q2R q0 /\ (b0 = true -> value s z (low a) - value s z (high a) < Q2R q0)).
  { apply (bound_by_true _ _ _ _ B). intros p Hp. apply taken_In in Hp as [Hp|Hp]; [auto|]. rewrite Hp. apply trivial_true. }
  destruct w; inversion H; subst; [|exact G]. rewrite value_gain in *. rewrite Q2R_plus. split; [|easy].
  assert (gain a <= Q2R (integer_to (q0 - over a) b0)); [|lra].
  apply integer_to_le; [now apply gain_integer, I| |]; rewrite Q2R_minus; [lra|]. intros E. destruct G as [_ G]. specialize (G E). lra.
Qed.
(* Shifts respect a comparison if they respect those that it follows from. *)
Lemma bound_shift w K a : is_some (bound V w K a) = true -> respects K s z -> shift s z (high a) <= shift s z (low a).
Proof.
  intros H T. unfold bound in H. destruct (bound_by _ a) as [[q b]|] eqn:B; [|easy]. clear H. apply bound_by_gain in B as (G & P & _).
  assert (0 <= gain a); [|unfold gain in *; lra]. rewrite G. clear G.
  assert (T' : forall p, In p (taken_from K (why_of V K a)) -> 0 <= gain (fst p)).
  { intros p Hp. unfold gain. apply taken_In in Hp as [Hp| ->]; [specialize (T _ Hp); lra|unfold trivial; simpl; lra]. }
  induction (taken_from K (why_of V K a)) as [|p l IH]; cbn [gains fold_right]; [lra|]. fold (gains l).
  assert (0 <= gains l) by (apply IH; intros; [apply P|apply T']; now right).
  pose proof (Rmult_le_pos _ _ (P p (or_introl eq_refl)) (T' p (or_introl eq_refl))). lra.
Qed.

Lemma follows_some w K a : follows V w K a = true -> is_some (bound V w K a) = true.
Proof. unfold follows. now destruct (bound V w K a). Qed.
Lemma follows_true w K a : (w = true -> integers_in) -> follows V w K a = true -> (forall k, In k K -> true_of s z k) -> true_of s z a.
Proof.
  unfold follows. intros I. destruct (bound V w K a) as [[q b]|] eqn:B; [|easy]. intros H T. destruct (bound_true w K a q b I B T) as [L S].
  unfold true_of. apply orb_true_iff in H as [H|H].
  - apply Qlt_R in H. rewrite Q2R_0 in H. destruct (strict a); lra.
  - apply andb_true_iff in H as [H1 H2]. apply Qle_R in H1. rewrite Q2R_0 in H1. destruct (strict a); [|lra].
    rewrite orb_false_r in H2. specialize (S H2). lra.
Qed.
Lemma impossible_false w K : (w = true -> integers_in) -> impossible V w K = true -> (forall k, In k K -> true_of s z k) -> False.
Proof. intros I H T. pose proof (follows_true _ _ _ I H T) as F. unfold true_of, value in F. simpl in F. lra. Qed.
Lemma given_true K v : given V K v = true -> (forall k, In k K -> true_of s z k) -> exists q, value s z v = Q2R q.
Proof.
  unfold given. destruct (bound V false K {| low := v; high := zero; strict := false |}) as [[q b]|] eqn:B; [|easy].
  destruct (bound V false K {| low := zero; high := v; strict := false |}) as [[q' b']|] eqn:B'; [|easy]. intros H T.
  assert (I : false = true -> integers_in) by easy.
  destruct (bound_true _ _ _ _ _ I B T) as [L _]. destruct (bound_true _ _ _ _ _ I B' T) as [L' _]. cbn [low high] in L, L'.
  apply Qle_R in H. rewrite Q2R_plus, Q2R_0 in H. assert (Z : value s z zero = 0) by (unfold value; simpl; rewrite Q2R_0; ring).
  exists q. lra.
Qed.

Lemma sharpened_true w K k : (w = true -> integers_in) -> (forall k, In k K -> true_of s z k) -> In k (sharpened V w K) -> true_of s z k.
Proof.
  intros I T. unfold sharpened. destruct w; [|apply T].
  assert (T' : forall k, In k (map rounded K) -> true_of s z k).
  { intros k0 H0. apply in_map_iff in H0 as (k1 & <- & H1). apply rounded_true; auto. }
  rewrite in_app_iff, filter_In. intros [H|[_ H]]; [now apply T'|]. now apply (follows_true true (map rounded K)).
Qed.
Lemma sharpened_respects w K : respects K s z -> respects (sharpened V w K) s z.
Proof.
  intros T k. unfold sharpened. destruct w; [|apply T].
  assert (T' : respects (map rounded K) s z).
  { intros k0 H0. apply in_map_iff in H0 as (k1 & <- & H1). specialize (T k1 H1). unfold shift, value in *. cbn [rounded low high negative whence plus].
    destruct (negative (low k1)), (negative (high k1)); lra. }
  rewrite in_app_iff, filter_In. intros [H|[_ H]]; [now apply T'|]. apply (bound_shift true (map rounded K)); [now apply follows_some|easy].
Qed.
End Sums.

(* ---- Values that are no rational distance from each other ---- *)

Lemma irrational_moved x y q : irrational x -> y = x + Q2R q \/ y = - x + Q2R q -> irrational y.
Proof.
  intros H E r ->. destruct E as [E|E].
  - apply (H (r - q)%Q). rewrite Q2R_minus. lra.
  - apply (H (q - r)%Q). rewrite Q2R_minus. lra.
Qed.
Lemma irrational_double x : irrational x -> irrational (x + x).
Proof. intros H r E. apply (H ((1 # 2) * r)%Q). rewrite Q2R_mult, <- E. unfold Q2R; simpl. lra. Qed.

Lemma like_spec s z v w : like v w = true -> shift s z v = shift s z w.
Proof.
  unfold like. rewrite andb_true_iff, orb_true_iff. intros [H1 H2]. apply place_eqb_spec in H1. unfold shift, value. destruct H2 as [H2|H2].
  - apply Bool.eqb_prop in H2. rewrite H1, H2. lra.
  - apply place_eqb_spec in H2. rewrite <- H1, H2. simpl. destruct (negative v), (negative w); lra.
Qed.
Lemma shift_minus s z v : shift s z (minus v) = - shift s z v.
Proof. unfold shift. rewrite value_minus. cbn [plus minus]. rewrite Q2R_opp. ring. Qed.
Lemma alike_spec s z v w x y : alike_pairs (v, w) (x, y) = true -> irrational (value s z x - value s z y) -> irrational (value s z v - value s z w).
Proof.
  assert (G : forall v w, value s z v - value s z w = shift s z v - shift s z w + Q2R (plus v - plus w)) by (intros; unfold shift; rewrite Q2R_minus; ring).
  unfold alike_pairs. rewrite !orb_true_iff, !andb_true_iff. intros H I.
  apply (irrational_moved _ (shift s z x - shift s z y) (- (plus x - plus y))%Q) in I; [|left; rewrite G, Q2R_opp; ring].
  rewrite G. apply (irrational_moved _ _ (plus v - plus w) I).
  destruct H as [[[[H1 H2]|[H1 H2]]|[H1 H2]]|[H1 H2]]; apply (like_spec s z) in H1, H2; rewrite ?shift_minus in H1, H2; rewrite H1, H2; lra.
Qed.

Lemma sample_spec v s z : is_sample v = true -> shift s z v = if negative v then - z else z.
Proof. unfold is_sample, shift, value. destruct (whence v); try easy. simpl. destruct (negative v); intros; lra. Qed.

Section Step.
Context {eps : R} (N : noise eps) (g : grade) (A : automaton) (H0 : hints).
Hypothesis smooth_ok : smooth g = true -> atomless N.
Local Notation V := (plain A H0).

Lemma fresh_pair_spec t v w a s z : fresh_pair g V t v w = true -> typically N A (src t) a s z -> irrational (value s z v - value s z w).
Proof.
  unfold fresh_pair, fresh. cbn [st_of plain]. rewrite !andb_true_iff, orb_true_iff, negb_true_iff. intros [[[Sm La] Sa] Ne] (_ & _ & Ty).
  assert (F : free s z).
  { apply Ty; auto; destruct (law_of _); try easy; now apply Qlt_R in La; rewrite Q2R_0 in La. }
  clear La Ty. destruct F as [Fz Fs].
  assert (Sym : forall v w, is_sample v = true -> same_place v w = false -> irrational (shift s z v - shift s z w)).
  { clear Sa Ne v w. intros v w Sv Ne. rewrite (sample_spec v s z Sv). unfold same_place, is_sample in *. unfold shift, value.
    destruct (whence v); try easy. destruct (whence w) as [| |x]; cbn [held place_eqb] in *.
    - apply (irrational_moved z _ 0 Fz). rewrite Q2R_0. destruct (negative v), (negative w); lra.
    - rewrite andb_true_r in Ne. apply (irrational_moved (z + z) _ 0 (irrational_double _ Fz)). rewrite Q2R_0.
      destruct (negative v), (negative w); simpl in Ne; try discriminate; lra.
    - destruct (Fs x) as [F1 F2].
      destruct (negative v), (negative w); [apply (irrational_moved _ _ 0 F1)|apply (irrational_moved _ _ 0 F2)|apply (irrational_moved _ _ 0 F2)|apply (irrational_moved _ _ 0 F1)];
      rewrite Q2R_0; lra. }
  assert (G : value s z v - value s z w = shift s z v - shift s z w + Q2R (plus v - plus w)) by (unfold shift; rewrite Q2R_minus; ring).
  rewrite G. destruct Sa as [Sv|Sw].
  - apply (irrational_moved _ _ (plus v - plus w) (Sym v w Sv Ne)). now left.
  - assert (Ne' : same_place w v = false).
    { unfold same_place in *. rewrite <- Ne. f_equal; [now destruct (negative v), (negative w)|].
      destruct (whence v), (whence w); try easy. apply Nat.eqb_sym. }
    apply (irrational_moved _ _ (plus v - plus w) (Sym w v Sw Ne')). lra.
Qed.

Lemma stricter_true b s z a : (b = true -> irrational (value s z (low a) - value s z (high a))) -> true_of s z a -> true_of s z (stricter b a).
Proof.
  unfold true_of, stricter. cbn [low high strict]. destruct (strict a); cbn [orb]; [easy|]. destruct b; [|easy].
  intros I L. destruct (Rle_lt_or_eq_dec _ _ L) as [H|H]; [easy|]. exfalso. apply (I eq_refl 0%Q). rewrite Q2R_0. lra.
Qed.

(* Where the sample of a transition can be, whether it is taken or not. *)
Lemma support_true t a s z k : typically N A (src t) a s z -> In k (support V t) -> true_of s z k.
Proof.
  intros Ty Hk. unfold support in Hk. cbn [st_of plain] in Hk. destruct (reads (st A (src t))) eqn:Rd; [easy|].
  destruct (factors (st A (src t))) eqn:Fa; [|easy]. destruct (uses t); [|easy]. cbn [orb negb nonempty] in Hk.
  destruct Ty as [Su _]. unfold input, entry in Su. rewrite Rd, Fa in Su. cbn [weighed fold_right] in Su.
  destruct (law_of (st A (src t))); cbn [supported] in Su; simpl in Hk; [easy| |];
  unfold true_of, value; [destruct Hk as [<-|[]]|destruct Hk as [<-|[<-|[]]]]; simpl; rewrite Q2R_0; lra.
Qed.
(* What holds whenever a transition is taken. *)
Lemma sure_true t a s z k : typically N A (src t) a s z -> enabled t s z = true -> In k (sure g V t) -> true_of s z k.
Proof.
  intros Ty En Hk. unfold sure in Hk. apply in_app_or in Hk as [Hk|Hk].
  - apply in_map_iff in Hk as (k' & <- & Hk). apply stricter_true; [|now apply (atoms_true t)].
    intros F. now apply (fresh_pair_spec t _ _ a).
  - now apply (support_true t a).
Qed.
Lemma opposite_spec t t' a s z : src t' = src t -> typically N A (src t) a s z -> opposite g V t t' = true ->
  enabled t s z = true -> enabled t' s z = true -> False.
Proof.
  intros Sr Ty H E1 E2. unfold opposite in H. rewrite !orb_true_iff in H.
  pose proof (proj1 (enabled_iff _ _ _) E1) as (G1 & L1 & _). pose proof (proj1 (enabled_iff _ _ _) E2) as (G2 & L2 & _).
  destruct H as [[H|H]|H].
  - apply meets_spec in H as (x & H1 & H2). pose proof (G1 _ H1). pose proof (L2 _ H2). lra.
  - apply meets_spec in H as (x & H1 & H2). pose proof (L1 _ H1). pose proof (G2 _ H2). lra.
  - apply (impossible_false s z V false _ ltac:(easy) H). intros k Hk. apply in_app_or in Hk as [Hk|Hk]; [now apply (sure_true t a)|].
    apply (sure_true t' a); auto. now rewrite Sr.
Qed.

(* What is known in a node holds for a store. *)
Definition holds_in (b : bnode) (s : store) : Prop :=
  (forall a, In a (b_facts b) -> true_of s 0 a) /\ (forall p, In p (b_distinct b) -> irrational (value s 0 (fst p) - value s 0 (snd p))).
Definition lasting_in (b : bnode) : Prop :=
  (forall a, In a (b_facts b) -> is_sample (low a) = false /\ is_sample (high a) = false) /\
  (forall p, In p (b_distinct b) -> is_sample (fst p) = false /\ is_sample (snd p) = false).

Section Node.
Variables (b : bnode) (t : trans) (a : feed) (s : store) (z : R).
Hypothesis La : lasting_in b.
Hypothesis Ho : holds_in b s.
Hypothesis Ty : typically N A (src t) a s z.
Hypothesis En : enabled t s z = true.
Hypothesis Wh : whole g = true -> integers_in s z.

Lemma distinct_true v w : distinct b v w = true -> irrational (value s z v - value s z w).
Proof.
  unfold distinct. rewrite existsb_exists. intros ([x y] & Hp & H). apply (alike_spec s z v w x y H).
  destruct (proj2 La _ Hp) as [L1 L2]. pose proof (proj2 Ho _ Hp) as I. cbn [fst snd] in *.
  now rewrite (value_lasting s z 0 x L1), (value_lasting s z 0 y L2).
Qed.
Lemma told_true k : In k (told g V b t) -> true_of s z k.
Proof.
  assert (K0 : forall k, In k (b_facts b ++ sure g V t) -> true_of s z k).
  { clear k. intros k Hk. apply in_app_or in Hk as [Hk|Hk].
    - destruct (proj1 La _ Hk). apply (true_lasting s 0); auto. now apply Ho.
    - now apply (sure_true t a). }
  unfold told. destruct (nonempty (b_distinct b)); [|apply K0]. intros Hk. apply in_app_or in Hk as [Hk|Hk]; [auto|].
  apply in_map_iff in Hk as (k' & <- & Hk). apply filter_In in Hk as [Hk Pa].
  apply stricter_true; [intros _|apply K0; apply in_or_app; auto].
  assert (Z : value s z zero = 0) by (unfold value; simpl; rewrite Q2R_0; ring).
  unfold parted in Pa. rewrite !orb_true_iff, !andb_true_iff in Pa. destruct Pa as [[Pa|[Pa Gi]]|[Pa Gi]].
  - now apply distinct_true.
  - destruct (given_true s z V _ _ Gi K0) as [q Eq]. apply distinct_true in Pa. rewrite Z in Pa. rewrite Eq.
    apply (irrational_moved _ _ q Pa). left. ring.
  - destruct (given_true s z V _ _ Gi K0) as [q Eq]. apply distinct_true in Pa. rewrite Z in Pa. rewrite Eq.
    apply (irrational_moved _ _ (- q) Pa). left. rewrite Q2R_opp. ring.
Qed.
Lemma known_true k : In k (known g V b t) -> true_of s z k.
Proof. exact (sharpened_true s z V _ _ k Wh told_true). Qed.
Lemma contradicts_spec : contradicts g V b t = true -> False.
Proof. intros H. exact (impossible_false s z V _ _ Wh H known_true). Qed.

Lemma as_before_spec z' v : is_sample v = false -> value (upd s t z) z' v = value s z (as_before t v).
Proof.
  destruct v as [n [| |x] p]; unfold is_sample, as_before; cbn [whence negative plus]; [easy|easy|]. intros _.
  unfold value at 1, upd. cbn [whence negative plus held]. destruct (mem x (asg t)); [easy|].
  destruct (lookup x (copies t)) as [u|]; [|easy].
  destruct n; unfold value, minus; cbn [negative whence plus]; rewrite Q2R_plus, ?Q2R_opp; destruct (negative u); simpl; ring.
Qed.
Lemma holds_after b' : lasting_in b' -> forallb (fact_follows g V t (known g V b t)) (b_facts b') = true ->
  forallb (distinct_follows g V b t) (b_distinct b') = true -> holds_in b' (upd s t z).
Proof.
  intros La' HF HD. rewrite forallb_forall in HF, HD. split.
  - intros k Hk. pose proof (follows_true s z V _ _ _ Wh (HF k Hk) known_true) as T. destruct (proj1 La' _ Hk) as [L1 L2].
    unfold true_of in *. cbn [low high strict] in T. rewrite !as_before_spec by easy. exact T.
  - intros p Hp. specialize (HD p Hp). unfold distinct_follows in HD. destruct (proj2 La' _ Hp) as [L1 L2]. rewrite !as_before_spec by easy.
    apply orb_true_iff in HD as [HD|HD]; [now apply distinct_true|now apply (fresh_pair_spec t _ _ a)].
Qed.
End Node.
End Step.
