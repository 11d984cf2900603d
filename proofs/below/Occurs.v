(* What a certificate of a pattern says is so: the pattern occurs. *)
From Coq Require Import QArith List Bool Arith Lia Lqa.
From Symdipa.Core Require Import Model Lookup Checker Rivals Runs Patterns.
From Symdipa.Above Require Import Paths Cover.
From Symdipa.Below Require Import Below Rounds.
Import ListNotations.
Open Scope nat_scope.

Section Occurs.
Variables (A : automaton) (H0 : hints).
Local Notation V := (plain A H0).
Hypothesis Paper : of_the_paper A.

(* ---- Runs that have samples are feasible ---- *)

Lemma adds_up_some : adds_up some_multiples.
Proof. easy. Qed.

Section Samples.
Variable run : list rstep.
Hypothesis Po : possible some_multiples A V run (initial A) [] [] = true.
Local Notation ts := (map taken run).
Let sample (j : nat) : Q := drawn (nth j run {| taken := 0; entry_at := 0; more := 0; drawn := 0; drawn' := 0; weights := []; pulls := [] |}).
Let before (j : nat) := advance V (firstn j run) (initial A) [] [].
Let held_at (j : nat) : numbers_of := snd (fst (before j)).

Lemma split_at j : (j < length run) -> exists c, nth_error run j = Some c /\ run = firstn j run ++ c :: skipn (S j) run /\ firstn (S j) run = firstn j run ++ [c].
Proof.
  intros Hj. destruct (nth_error run j) as [c|] eqn:E; [|apply nth_error_None in E; lia]. exists c. split; [easy|].
  clear Po sample before held_at. revert run Hj E. induction j as [|j IH]; intros [|c0 l] Hj E; simpl in *; try lia; try easy.
  - injection E as ->. easy.
  - destruct (IH l ltac:(lia) E) as [E1 E2]. split; f_equal; easy.
Qed.
Lemma possible_at j : j < length run -> forallb (atom_holds (held_at j) (sample j)) (atoms (at_ A ts j)) = true /\
  held_at (S j) = updQ (held_at j) (at_ A ts j) (sample j).
Proof.
  intros Hj. destruct (split_at j Hj) as (c & E & E1 & E2).
  assert (Ec : sample j = drawn c) by (unfold sample; now rewrite (nth_error_nth run j _ E)).
  assert (Et : at_ A ts j = tr A (taken c)).
  { unfold at_. rewrite (nth_indep ts 0 (taken (nth j run c))) by (now rewrite map_length).
    rewrite (map_nth taken). now rewrite (nth_error_nth run j _ E). }
  rewrite Ec, Et. unfold held_at, before. rewrite E2, advance_app. pose proof Po as P. rewrite E1, possible_app in P.
  destruct (advance V (firstn j run) (initial A) [] []) as [[q s] r]. apply andb_true_iff in P as [_ P]. cbn [possible] in P. cbv zeta in P.
  rewrite !andb_true_iff in P. destruct P as [[_ P] _]. see P. split; [exact P|]. reflexivity.
Qed.
Lemma stored_at x j i : last_to_assign A ts x j i -> getQ (held_at j) x = sample i.
Proof.
  intros (Hij & Hj & Hx & No). rewrite map_length in Hj. induction j as [|j IH]; [lia|]. destruct (possible_at j ltac:(lia)) as [_ ->].
  rewrite get_upd. destruct (Nat.eq_dec i j) as [->|Ne].
  - assert (M : mem x (asg (at_ A ts j)) = true) by now apply mem_In. now rewrite M.
  - assert (M : mem x (asg (at_ A ts j)) = false) by (apply mem_false, No; lia). rewrite M.
    assert (Hl : (j < length run)%nat) by lia. destruct (split_at j Hl) as (c & E & E1 & _).
    assert (Cp : copies (at_ A ts j) = []).
    { unfold at_. destruct (Nat.lt_ge_cases (nth j ts 0) (length (transitions A))) as [L|L]; [now apply Paper|]. unfold tr. now rewrite nth_overflow. }
    rewrite Cp. simpl. apply IH; try lia. intros k Hk. apply No. lia.
Qed.

Lemma forced_order i j : forced A ts i j -> (sample i < sample j)%Q \/ ((sample i <= sample j)%Q /\ i < j).
Proof.
  intros H. destruct H as [x i j Hx Hl|x i j Hx Hl]; pose proof Hl as (Hij & Hj & _); rewrite map_length in Hj;
  destruct (possible_at j Hj) as [At _]; rewrite forallb_forall in At; pose proof (stored_at x j i Hl) as St.
  - left. specialize (At {| low := insample; high := Term false (Held x) 0; strict := true |}
      ltac:(unfold atoms; rewrite !in_app_iff; right; left; apply in_map_iff; eauto)).
    unfold atom_holds in At. cbn [strict low high] in At. apply Qlt_bool_iff in At. unfold valueQ, heldQ in At. cbn [negative whence plus insample] in At.
    rewrite St in At. lra.
  - right. split; [|easy]. specialize (At {| low := Term false (Held x) 0; high := insample; strict := false |}
      ltac:(unfold atoms; rewrite !in_app_iff; left; apply in_map_iff; eauto)).
    unfold atom_holds in At. cbn [strict low high] in At. apply Qle_bool_iff in At. unfold valueQ, heldQ in At. cbn [negative whence plus insample] in At.
    rewrite St in At. lra.
Qed.
Lemma forced_far_order i j : forced_far A ts i j -> (sample i < sample j)%Q \/ ((sample i <= sample j)%Q /\ i < j).
Proof.
  induction 1 as [i j H|i j k H _ IH]; [now apply forced_order|]. apply forced_order in H. destruct H as [H|[H L]], IH as [IH|[IH L']]; try (left; lra).
  right. split; [lra|lia].
Qed.

Lemma chained_possible l : forall q s r, possible some_multiples A V l q s r = true -> chained A q (map taken l).
Proof.
  induction l as [|c l IH]; intros q s r; cbn [possible map chained]; [easy|]. cbv zeta. see_goal. rewrite !andb_true_iff.
  intros [[[[[H1 H2] _] _] _] H6]. apply Nat.ltb_lt in H1. apply Nat.eqb_eq in H2. split; [easy|]. split; [easy|]. eapply IH, H6.
Qed.
Lemma possible_feasible : feasible A ts.
Proof.
  split; [eapply chained_possible, Po|]. intros i H. apply forced_far_order in H. destruct H as [H|[_ H]]; [lra|lia].
Qed.
End Samples.

(* The first part of what is feasible is. *)
Lemma chained_app run1 run2 : forall q, chained A q (run1 ++ run2) -> chained A q run1.
Proof. induction run1 as [|i run1 IH]; intros q; cbn [app chained]; [easy|]. intros (H1 & H2 & H3). eauto. Qed.
Lemma at_app run1 run2 j : j < length run1 -> at_ A (run1 ++ run2) j = at_ A run1 j.
Proof. intros H. unfold at_. now rewrite app_nth1. Qed.
Lemma last_app run1 run2 x j i : last_to_assign A run1 x j i -> last_to_assign A (run1 ++ run2) x j i.
Proof.
  intros (H1 & H2 & H3 & H4). split; [easy|]. split; [rewrite app_length; lia|]. rewrite at_app by lia. split; [easy|].
  intros k Hk. rewrite at_app by lia. now apply H4.
Qed.
Lemma forced_app run1 run2 i j : forced A run1 i j -> forced A (run1 ++ run2) i j.
Proof.
  intros [x i0 j0 Hx Hl|x i0 j0 Hx Hl]; pose proof Hl as (Hij & Hj & _).
  - apply (from_above _ _ x); [now rewrite at_app|now apply last_app].
  - apply (from_below _ _ x); [now rewrite at_app|now apply last_app].
Qed.
Lemma feasible_app run1 run2 : feasible A (run1 ++ run2) -> feasible A run1.
Proof.
  intros [H1 H2]. split; [eapply chained_app, H1|]. intros i H. apply (H2 i). clear H2.
  assert (G : forall i j, forced_far A run1 i j -> forced_far A (run1 ++ run2) i j).
  { induction 1 as [a b F|a b c F _ IH]; [apply one_step; now apply forced_app|]. eapply further; [now apply forced_app; eauto|exact IH]. }
  now apply G.
Qed.

(* ---- What the checker looks at ---- *)

Variable run : list nat.
Let at_of := fun j => nth j run 0.
Let size := length run.

Lemma step_is j : step_at V at_of j = at_ A run j.
Proof. reflexivity. Qed.
Lemma is_last_spec x j i : is_last V size at_of x j i = true -> last_to_assign A run x j i.
Proof.
  unfold is_last. rewrite !andb_true_iff. intros [[[H1 H2] H3] H4]. apply Nat.ltb_lt in H1, H2. rewrite step_is in H3. apply mem_In in H3.
  split; [easy|]. split; [easy|]. split; [easy|]. intros k Hk. rewrite forallb_forall in H4.
  specialize (H4 k ltac:(apply in_seq; lia)). rewrite step_is in H4. apply negb_true_iff in H4. now apply mem_false.
Qed.
Lemma is_forced_spec i j : is_forced V size at_of i j = true -> forced A run i j.
Proof.
  unfold is_forced. rewrite orb_true_iff, !existsb_exists, !step_is. intros [(x & Hx & H)|(x & Hx & H)]; apply is_last_spec in H.
  - now apply (from_below _ _ x).
  - now apply (from_above _ _ x).
Qed.
Lemma path_on_spec path : forall k, is_path_on V size at_of k path = true -> path_on A run k path.
Proof.
  induction path as [|k' path IH]; intros k; cbn [is_path_on path_on]; [easy|]. rewrite andb_true_iff. intros [H1 H2].
  split; [now apply is_forced_spec|auto].
Qed.
Lemma check_path_spec path : check_path V size at_of path = true -> is_path A run path.
Proof.
  destruct path as [|k path]; cbn [check_path is_path]; [easy|]. rewrite andb_true_iff. intros [H1 H2]. split; [now destruct path|now apply path_on_spec].
Qed.

Lemma is_on_spec c p : is_on c p = true -> on c p.
Proof. unfold is_on, on. rewrite andb_true_iff, Nat.leb_le, Nat.ltb_lt. lia. Qed.
Lemma cycle_spec c : check_cycle V size at_of c = true -> is_cycle A run c.
Proof.
  unfold check_cycle. rewrite !andb_true_iff, Nat.ltb_lt, Nat.leb_le, Nat.eqb_eq, !step_is. intros [[H1 H2] H3]. now split.
Qed.
Lemma nth_firstn_lt {X} (l : list X) d : forall k n, n < k -> nth n (firstn k l) d = nth n l d.
Proof. induction l as [|x l IH]; intros [|k] [|n] H; simpl; try lia; auto. apply IH. lia. Qed.
Lemma nth_of_skipn {X} (l : list X) d : forall k n, nth n (skipn k l) d = nth (k + n) l d.
Proof. induction l as [|x l IH]; intros [|k] n; simpl; auto; now destruct n. Qed.
Lemma steps_positions c i : snd c <= length run -> (In i (round_of run c) <-> exists p, In p (positions c) /\ at_of p = i).
Proof.
  intros Hc. unfold round_of, positions, at_of. destruct c as [a b]. cbn [fst snd] in *. split.
  - intros H. apply (In_nth _ _ 0) in H as (n & Hn & H). exists (a + n). rewrite firstn_length, skipn_length in Hn. split; [apply in_seq; lia|].
    rewrite <- H. rewrite nth_firstn_lt by lia. rewrite nth_of_skipn. f_equal; lia.
  - intros (p & Hp & <-). apply in_seq in Hp. replace (nth p run 0) with (nth (p - a) (firstn (b - a) (skipn a run)) 0).
    + apply nth_In. rewrite firstn_length, skipn_length. lia.
    + rewrite nth_firstn_lt by lia. rewrite nth_of_skipn. f_equal; lia.
Qed.
Lemma stored_spec c x : snd c <= length run -> (assigned A (round_of run c) x <-> In x (stored_on V at_of c)).
Proof.
  intros Hc. unfold assigned, stored_on. rewrite in_flat_map. split.
  - intros (i & Hi & Hx). apply steps_positions in Hi as (p & Hp & <-); [|easy]. exists p. split; [easy|]. exact Hx.
  - intros (p & Hp & Hx). exists (at_of p). split; [apply steps_positions; eauto|exact Hx].
Qed.
Lemma used_spec c x : snd c <= length run -> (used A (round_of run c) x <-> In x (used_on V at_of c)).
Proof.
  intros Hc. unfold used, used_on. rewrite in_flat_map. split.
  - intros (i & Hi & Hx). apply steps_positions in Hi as (p & Hp & <-); [|easy]. exists p. split; [easy|]. rewrite in_app_iff. exact Hx.
  - intros (p & Hp & Hx). exists (at_of p). split; [apply steps_positions; eauto|]. rewrite in_app_iff in Hx. exact Hx.
Qed.
Lemma non_leaking_spec c : check_non_leaking V size at_of c = true -> non_leaking A run c.
Proof.
  unfold check_non_leaking. rewrite andb_true_iff, negb_true_iff. intros [H1 H2]. apply cycle_spec in H1. split; [easy|]. destruct H1 as (_ & Hc & _).
  intros x Hu Ha. apply used_spec in Hu; [|easy]. apply stored_spec in Ha; [|easy].
  assert (M : meets (used_on V at_of c) (stored_on V at_of c) = true) by (apply existsb_exists; exists x; split; [easy|now apply mem_In]). congruence.
Qed.
Lemma leaves_spec c path : check_leaves c path = true -> leaves c path.
Proof.
  destruct path as [|k1 [|k2 more]]; cbn [check_leaves]; try easy. rewrite andb_true_iff, Nat.ltb_lt. intros [H1 H2].
  exists k1, k2, more. split; [easy|]. split; [now apply is_on_spec|easy].
Qed.
Lemma enters_spec c path : check_enters c path = true -> enters c path.
Proof.
  induction path as [|k1 path IH]; cbn [check_enters]; [easy|]. destruct path as [|k2 [|k3 path]].
  - easy.
  - rewrite andb_true_iff, Nat.ltb_lt. intros [H1 H2]. exists [], k1, k2. split; [easy|]. split; [now apply is_on_spec|easy].
  - intros H. destruct (IH H) as (b & x & y & E & Ho & L). exists (k1 :: b), x, y. split; [now rewrite E|easy].
Qed.
Lemma plain_term_spec v p : is_plain_term v p = true -> v = Term false p 0%Q.
Proof.
  unfold is_plain_term. rewrite !andb_true_iff. intros [[[H1 H2] H3] H4]. destruct v as [n w [a b]]. cbn [negative whence plus Qnum Qden] in *.
  apply negb_true_iff in H1. apply place_eqb_eq in H2. apply Z.eqb_eq in H3. apply Pos.eqb_eq in H4. now subst.
Qed.
Lemma shows_spec p : shows_it V at_of p = true -> shows_sample (at_ A run p).
Proof.
  unfold shows_it, shows_sample. rewrite existsb_exists, step_is. intros (i & Hi & H). destruct i as [|a b|]; try easy.
  apply andb_true_iff in H as [Ha Hb]. apply plain_term_spec in Ha, Hb. now subst.
Qed.
Lemma ends_shown_spec path : ends_shown V at_of path = true -> exists before k, path = before ++ [k] /\ shows_sample (at_ A run k).
Proof.
  induction path as [|k1 path IH]; cbn [ends_shown]; [easy|]. destruct path as [|k2 path].
  - intros H. exists [], k1. split; [easy|now apply shows_spec].
  - intros H. destruct (IH H) as (b & k & E & S). exists (k1 :: b), k. split; [now rewrite E|easy].
Qed.

Lemma strip_spec C : forall l l', strip C l = Some l' -> l = C ++ l'.
Proof.
  induction C as [|i C IH]; intros l l'; cbn [strip]; [intros H; now injection H as ->|]. destruct l as [|j l]; [easy|].
  destruct (Nat.eqb_spec i j) as [->|]; [|easy]. intros H. cbn [app]. f_equal. auto.
Qed.
Lemma rounds_spec C fuel : forall l, only_rounds fuel C l = true -> exists m, l = times_over m C.
Proof.
  induction fuel as [|fuel IH]; intros l; cbn [only_rounds].
  - destruct l; [exists 0; easy|easy].
  - destruct l as [|i l]; [exists 0; easy|]. destruct (strip C (i :: l)) as [l'|] eqn:E; [|easy]. intros H. destruct (IH _ H) as [m ->].
    apply strip_spec in E. exists (S m). exact E.
Qed.
Lemma times_app a b C : times_over a C ++ times_over b C = times_over (a + b) C.
Proof. induction a as [|a IH]; cbn [times_over Nat.add app]; [easy|]. now rewrite <- app_assoc, IH. Qed.
Lemma times_split a b C : b <= a -> exists more, times_over a C = times_over b C ++ more.
Proof. intros H. exists (times_over (a - b) C). rewrite times_app. f_equal. lia. Qed.
Lemma same_nats_spec l : forall l', same_nats l l' = true -> l = l'.
Proof.
  induction l as [|x l IH]; intros [|y l']; cbn [same_nats]; try easy. rewrite andb_true_iff. intros [H1 H2]. apply Nat.eqb_eq in H1. f_equal; auto.
Qed.

Lemma written_feasible samples k : possible_in some_multiples A V samples (initial A) [] [] [] [] [] = true -> feasible A (map taken (written k samples)).
Proof.
  intros H. assert (Nil : grown k [] [] []) by (intros x; unfold getQ; simpl; ring).
  apply possible_feasible. exact (possible_written some_multiples adds_up_some A V k samples _ _ _ _ _ _ _ _ Nil Nil H).
Qed.
Lemma taken_rounds k h : forall m j, map taken (flat_map (fun j => round k j h) (seq j m)) = times_over m (map taken (bases h)).
Proof.
  induction m as [|m IH]; intros j; cbn [seq flat_map times_over]; [easy|]. rewrite map_app, IH. f_equal. unfold round, bases. now rewrite !map_map.
Qed.
Lemma times_times m a C : times_over m (times_over a C) = times_over (m * a) C.
Proof. induction m as [|m IH]; cbn [times_over Nat.mul]; [easy|]. now rewrite IH, times_app. Qed.

Lemma pattern_occurs w samples : check_where V size at_of w = true -> check_samples A V run w samples = true -> occurs A w.
Proof.
  intros Hw Hs. unfold check_samples in Hs. apply andb_true_iff in Hs as [Po Hs].
  assert (Once : match w with Leaking _ => True | _ => feasible A run end).
  { destruct w; auto; (destruct samples as [|g [|]]; try easy; apply andb_true_iff in Hs as [Ag Sm]; apply negb_true_iff in Ag;
    apply same_nats_spec in Sm; pose proof (written_feasible [g] 0 Po) as F; cbn [written] in F; rewrite Ag, app_nil_r in F;
    unfold once in F; rewrite map_map in F; rewrite Sm; unfold bases; now rewrite map_map). }
  destruct w as [first|c1 c2 path|c p|c path]; cbn [check_where occurs] in *.
  - clear Once. apply andb_true_iff in Hw as [Hc Hm]. apply cycle_spec in Hc. apply meets_spec in Hm as (x & Hu & Ha).
    pose proof Hc as (Hf & _ & _). cbn [fst snd] in Hf. unfold size in *.
    assert (EC : round_of run (first, length run) = skipn first run).
    { unfold round_of. cbn [fst snd]. apply firstn_all2. rewrite skipn_length. lia. }
    destruct samples as [|g [|h [|]]]; try easy. rewrite !andb_true_iff in Hs. destruct Hs as [[[[Ag Ah] Ne] Sg] Sh]. apply negb_true_iff in Ag.
    destruct (strip (firstn first run) (map taken (bases g))) as [l|] eqn:St; [|easy]. apply strip_spec in St.
    destruct (rounds_spec _ _ _ Sg) as [a ->]. destruct (rounds_spec _ _ _ Sh) as [b Eb].
    exists (firstn first run), (skipn first run), x. rewrite <- EC. split; [now apply stored_spec|]. split; [now apply used_spec|]. rewrite EC.
    intros m. pose proof (written_feasible [g; h] m Po) as F. cbn [written] in F. rewrite Ag, Ah, app_nil_r, map_app, taken_rounds, Eb, times_times in F.
    replace (map taken (once m g)) with (map taken (bases g)) in F by (unfold once, bases; now rewrite !map_map).
    rewrite St, <- app_assoc, times_app in F.
    assert (B1 : 1 <= b).
    { destruct b as [|b]; [|lia]. cbn [times_over] in Eb. unfold bases in Eb. destruct (steps h); [easy|]. easy. }
    destruct (times_split (a + m * b) m (skipn first run)) as [more E]; [nia|]. rewrite E, app_assoc in F. now apply feasible_app in F.
  - rewrite !andb_true_iff in Hw. destruct Hw as [[[[[H1 H2] H3] H4] H5] H6]. exists run, c1, c2, path.
    repeat split; try apply Once; try (now apply non_leaking_spec); try (now apply check_path_spec); try (now apply leaves_spec); try (now apply enters_spec);
    try (apply non_leaking_spec in H1; apply H1); try (apply non_leaking_spec in H2; apply H2).
    apply orb_true_iff in H3. rewrite !Nat.leb_le in H3. exact H3.
  - rewrite !andb_true_iff in Hw. destruct Hw as [[[[H1 H2] H3] H4] H5]. apply Nat.eqb_eq in H2. exists run, c, p.
    split; [exact Once|]. split; [now apply non_leaking_spec|]. split; [exact H2|]. split; [now apply is_on_spec|]. split; [exact H4|].
    apply orb_true_iff in H5 as [H5|H5]; [left; now apply shows_spec|right]. unfold shows_other in H5. apply existsb_exists in H5 as (i & Hi & Oi). now destruct i.
  - rewrite !andb_true_iff in Hw. destruct Hw as [[H1 H2] H3]. exists run, c, path.
    split; [exact Once|]. split; [now apply non_leaking_spec|]. split; [now apply check_path_spec|].
    apply orb_true_iff in H3 as [H3|H3]; apply andb_true_iff in H3 as [Ha Hb].
    + left. split; [|now apply enters_spec]. destruct path as [|k more]; [easy|]. exists k, more. split; [easy|now apply shows_spec].
    + right. split; [now apply ends_shown_spec|now apply leaves_spec].
Qed.
End Occurs.

Theorem checked_pattern A (C : fcert) : check_pattern A C = true -> of_the_paper A /\ occurs A (f_where C).
Proof.
  rewrite check_pattern_plain. unfold check_at. rewrite !andb_true_iff. intros [[Hp Hw] Hs].
  assert (Paper : of_the_paper A).
  { intros i Hi. unfold check_paper in Hp. pose proof (forallb_seq _ _ Hp i Hi) as H. see H. apply andb_true_iff in H as [H1 H2].
    apply negb_true_iff, nonempty_false in H1, H2. easy. }
  split; [exact Paper|]. exact (pattern_occurs A (f_hints C) Paper (f_run C) (f_where C) (f_samples C) Hw Hs).
Qed.
