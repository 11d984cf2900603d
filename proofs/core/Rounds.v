(* A flow that nothing limits through rounds of a cycle: the more rounds, the less goes through each of them. *)
From Coq Require Import Reals QArith Qreals ZArith List Bool Arith Lra Lia Classical FunctionalExtensionality.
From Symdipa.Core Require Import Model Lookup Checker Paths Cover Ways Guide Runs Rare Below.
Import ListNotations.
Open Scope R_scope.

Lemma same_number_spec x y : same_number x y = true -> x = y.
Proof.
  unfold same_number. destruct x as [a b], y as [a' b']. cbn [Qnum Qden]. rewrite andb_true_iff. intros [H1 H2].
  apply Z.eqb_eq in H1. apply Pos.eqb_eq in H2. now subst.
Qed.
Lemma same_numbers_spec l : forall l', same_numbers l l' = true -> l = l'.
Proof.
  induction l as [|[x q] l IH]; intros [|[y p] l']; simpl; try easy. rewrite !andb_true_iff. intros [[H1 H2] H3].
  apply Nat.eqb_eq in H1. apply same_number_spec in H2. apply IH in H3. now subst.
Qed.
Lemma same_list_spec l : forall l', same_list l l' = true -> l = l'.
Proof.
  induction l as [|x l IH]; intros [|y l']; simpl; try easy. rewrite andb_true_iff. intros [H1 H2].
  apply Nat.eqb_eq in H1. apply IH in H2. now subst.
Qed.

(* So many times. *)
Fixpoint repeated {X} (k : nat) (l : list X) : list X := match k with O => [] | S k' => l ++ repeated k' l end.

Lemma total_app l l' s : total (l ++ l') s = total l s + total l' s.
Proof.
  induction l as [|[x w] l IH]; [symmetry; apply Rplus_0_l|].
  change (Q2R w * s x + total (l ++ l') s = Q2R w * s x + total l s + total l' s). rewrite IH. lra.
Qed.

Section Rounds.
Context {eps : R} (Heps : 0 < eps) (N : noise eps) (T : tails N) (g : grade).
Hypothesis okq_ok : forall q, shift_ok g q = true -> ok N (Q2R q).
Hypothesis points_ok : mixes g = false -> points N T.
Variables (A : automaton) (H0 : hints).
Local Notation V := (plain A H0).

(* -- what the checker looks at, of runs one after the other -- *)

Lemma possible_app run1 run2 : forall q s r, possible g A V (run1 ++ run2) q s r =
  possible g A V run1 q s r && (let '(q', s', r') := advance V run1 q s r in possible g A V run2 q' s' r').
Proof.
  induction run1 as [|c run1 IH]; intros q s r; cbn [app possible advance]; [easy|]. cbv zeta. rewrite IH, !andb_assoc. reflexivity.
Qed.
Lemma follows_after size run1 run2 : forall k, follows V size (run1 ++ run2) k =
  match pattern_after V run1 k with Some k' => follows V size run2 k' | None => false end.
Proof.
  induction run1 as [|c run1 IH]; intros k; cbn [app follows pattern_after]; [easy|].
  destruct (reads _); [|apply IH]. destruct (if Qeq_bool _ _ then _ else _); [apply IH|easy].
Qed.
Lemma alone_app run1 run2 : forall q rivals, alone V (run1 ++ run2) q rivals =
  (let (q', rivals') := rivals_after V run1 q rivals in alone V run2 q' rivals').
Proof. induction run1 as [|c run1 IH]; intros q rivals; cbn [app alone rivals_after]; [easy|]. apply IH. Qed.

Fixpoint gone (run : list rstep) (a : feed) : feed :=
  match run with [] => a | c :: run' => gone run' (rest A (src (tr A (taken c))) (taken c) a) end.
Lemma pulling_app run1 run2 ks2 : forall ks1 a, length ks1 = length run1 ->
  pulling A (run1 ++ run2) (ks1 ++ ks2) a = pulling A run1 ks1 a + pulling A run2 ks2 (gone run1 a).
Proof.
  induction run1 as [|c run1 IH]; intros [|k ks1] a Hl; try easy; cbn [app pulling gone]; [lra|]. cbv zeta. rewrite IH; [lra|].
  simpl in Hl. lia.
Qed.

(* -- room -- *)

Lemma has_room_app run1 run2 : forall q s r O, has_room V (run1 ++ run2) s O =
  has_room V run1 s O && (let '(_, s', _) := advance V run1 q s r in has_room V run2 s' (origins_after V run1 O)).
Proof.
  induction run1 as [|c run1 IH]; intros q s r O; cbn [app has_room advance origins_after]; [easy|]. cbv zeta.
  now rewrite (IH (tgt (tr A (taken c))) _ (setQ (sets (tr A (taken c))) (read_of V c (entry_at c)) r)), <- andb_assoc.
Qed.

(* What may be stored after a run, if before it something of S is. *)
Fixpoint after (r : R) (run : list rstep) (S : store -> Prop) : store -> Prop :=
  match run with [] => S | c :: run' => after r run' (next A r c S) end.
Lemma after_mono r run : forall S S' : store -> Prop, (forall f, S f -> S' f) -> forall f, after r run S f -> after r run S' f.
Proof.
  induction run as [|c run IH]; intros S S' H; cbn [after]; [exact H|]. apply IH. intros f (f0 & y & Sf & R'). exists f0, y. auto.
Qed.
Lemma after_near r run : forall q s rr O q' s' rr', advance V run q s rr = (q', s', rr') ->
  forall f, after r run (near_store r s O) f -> near_store r s' (origins_after V run O) f.
Proof.
  induction run as [|c run IH]; intros q s rr O q' s' rr'; cbn [advance after origins_after].
  - intros E. now injection E as _ <- _.
  - cbv zeta. see_goal. intros E f Hf. apply (IH _ _ _ _ _ _ _ E). revert f Hf. apply after_mono. intros f. apply next_near.
Qed.
Lemma passes_app r run1 run2 : forall q s rr q' s' rr' S, advance V run1 q s rr = (q', s', rr') ->
  passes A r run1 s S -> passes A r run2 s' (after r run1 S) -> passes A r (run1 ++ run2) s S.
Proof.
  induction run1 as [|c run1 IH]; intros q s rr q' s' rr' S; cbn [app passes advance after].
  - intros E. now injection E as _ <- _.
  - cbv zeta. see_goal. intros E [Go Pa] P2. split; [easy|]. now apply (IH _ _ _ _ _ _ _ E).
Qed.

Lemma turn_twice b c o : turn b o = turn c o -> o = None \/ b = c.
Proof. destruct o as [[d i]|]; [|now left]. intros H. right. injection H. destruct b, c, d; easy. Qed.
Lemma comes_back_near r s O O' f : comes_back O O' = true -> near_store r s O' f -> near_store r s O f.
Proof.
  intros HB (e & Be & He). unfold comes_back in HB. cbv zeta in HB. set (now := instead O O') in HB. rewrite forallb_forall in HB.
  exists (fun i => match lookup i now with Some o => off e o | None => 0 end). split.
  - intros i. assert (B0 : 0 <= r) by (pose proof (Be 0%nat); pose proof (Rabs_pos (e 0%nat)); lra).
    destruct (lookup i now); [now apply off_bound|now rewrite Rabs_R0].
  - intros x. rewrite He. f_equal. destruct (in_dec Nat.eq_dec x (map fst O ++ map fst O')) as [Hx|Hx].
    + specialize (HB x Hx). destruct (origin_of O x) as [[b i]|]; cbn [off].
      * destruct (lookup i now) as [o|]; [|easy]. apply same_origin_spec in HB. subst o. rewrite off_turn. destruct b; ring.
      * apply same_origin_spec in HB. now rewrite HB.
    + rewrite in_app_iff in Hx. unfold origin_of. rewrite !lookup_not; [easy| |]; intros H; apply Hx; auto.
Qed.

Lemma rounds_pass first round last q s r j : possible g A V first (initial A) [] [] = true -> possible g A V round q s r = true ->
  possible g A V last q s r = true -> advance V first (initial A) [] [] = (q, s, r) -> advance V round q s r = (q, s, r) ->
  near_enough g V (first ++ round ++ last) = true -> round_near_enough g V first round = true -> (1 <= j)%nat ->
  exists r0 x, small g r0 x /\ passes A x (first ++ repeated j round ++ last) [] (near_store x [] []).
Proof.
  intros P1 P2 P3 Ad Ad' Ne Ro J1. unfold near_enough in Ne. unfold round_near_enough in Ro.
  rewrite (has_room_app first (round ++ last) (initial A) [] []), Ad, (has_room_app round last q s r), Ad' in Ne.
  set (O1 := origins_after V first []) in *. set (O2 := origins_after V round O1) in *.
  assert (Ne' : negb (mixes g) || has_room V first [] [] = true /\ negb (mixes g) || has_room V round s O1 = true /\
    negb (mixes g) || has_room V last s O2 = true).
  { destruct (mixes g); simpl in *; [rewrite !andb_true_iff in Ne; tauto|easy]. }
  destruct Ne' as (N1 & N2 & N3).
  destruct (near_passes g A H0 first _ _ _ _ P1 N1) as (r1 & R1 & Pa1). destruct (near_passes g A H0 round _ _ _ _ P2 N2) as (r2 & R2 & Pa2).
  destruct (near_passes g A H0 last _ _ _ _ P3 N3) as (r3 & R3 & Pa3).
  set (r0 := Rmin r1 (Rmin r2 r3)). assert (R0 : 0 < r0) by (unfold r0; repeat apply Rmin_pos; lra).
  set (x := if mixes g then r0 else 0). assert (Sm : small g r0 x) by (unfold small, x; destruct (mixes g); lra).
  exists r0, x. split; [easy|]. pose proof Sm as Sm'. unfold r0 in Sm'. apply small_least in Sm' as [S1 S2]; [|easy]. apply small_least in S2 as [S2 S3]; [|easy].
  assert (Back : forall f, near_store x s O2 f -> near_store x s O1 f).
  { intros f. destruct (orb_true_iff (negb (mixes g)) (comes_back O1 O2)) as [D _]. destruct (D Ro) as [M|B].
    - apply negb_true_iff in M. intros (e & Be & He). exists (fun _ => 0). split; [intros _; rewrite Rabs_R0; unfold x; rewrite M; lra|].
      intros y. rewrite He. pose proof (off_bound e x (origin_of O2 y)) as B. unfold x in B at 1 3. rewrite M in B. specialize (B ltac:(lra) Be).
      pose proof (Rle_abs (off e (origin_of O2 y))). pose proof (Rle_abs (- off e (origin_of O2 y))) as B'. rewrite Rabs_Ropp in B'.
      destruct (origin_of O1 y) as [[[] i]|]; simpl; lra.
    - now apply comes_back_near. }
  apply (passes_app x first _ _ _ _ _ _ _ _ Ad); [auto|].
  apply (passes_mono A _ _ _ _ (near_store x s O1)); [exact (after_near x first _ _ _ _ _ _ _ Ad)|].
  destruct j as [|j]; [lia|]. clear J1. induction j as [|j IH]; cbn [repeated app].
  - rewrite app_nil_r. apply (passes_app x round _ _ _ _ _ _ _ _ Ad'); [auto|].
    apply (passes_mono A _ _ _ _ (near_store x s O2)); [exact (after_near x round _ _ _ _ _ _ _ Ad')|]. auto.
  - rewrite <- app_assoc. apply (passes_app x round _ _ _ _ _ _ _ _ Ad'); [auto|].
    apply (passes_mono A _ _ _ _ (near_store x s O1)); [|exact IH].
    intros f Hf. apply Back. exact (after_near x round _ _ _ _ _ _ _ Ad' f Hf).
Qed.

(* Streams of entries of a run that goes on. *)
Lemma stream_on f c run run2 r :
  entry A (src (tr A (taken c))) (stream_of A f ((c :: run) ++ run2), r) = Q2R (read_of V c (f c)) /\
  rest A (src (tr A (taken c))) (taken c) (stream_of A f ((c :: run) ++ run2), r) =
    (stream_of A f (run ++ run2), set_registers (sets (tr A (taken c))) (Q2R (read_of V c (f c))) r).
Proof. exact (stream_step A H0 f c (run ++ run2) r). Qed.
Lemma gone_more run run2 : forall r, gone run (stream_of A more (run ++ run2), real r) = (stream_of A more run2, real (differing_after V run r)).
Proof.
  induction run as [|c run IH]; intros r; cbn [gone differing_after]; [reflexivity|].
  destruct (stream_on more c run run2 (real r)) as [_ ->]. rewrite <- set_real. apply IH.
Qed.
Lemma pulling_on x run run2 : forall ks r, pulling A run (times x ks) (stream_of A more (run ++ run2), real r) = x * Q2R (worth V run ks r).
Proof.
  induction run as [|c run IH]; intros [|k ks] r; cbn [pulling worth times map]; try (rewrite Q2R_0; lra). cbv zeta. see_goal.
  destruct (stream_on more c run run2 (real r)) as [E R']. fold (times x ks). rewrite R', <- set_real, IH. unfold input. rewrite E. cbn [fst snd].
  rewrite <- weighed_real, Q2R_red, Q2R_plus, Q2R_mult, !Q2R_plus. ring.
Qed.

Lemma back_length run : forall l0 l ks, back V run l0 = (l, ks) -> length ks = length run.
Proof.
  induction run as [|c run IH]; intros l0 l ks; cbn [back]; [intros H; now inversion H|].
  destruct (back V run l0) as [l1 ks1] eqn:B. destruct (stepped V c l1). intros H. inversion H. simpl. f_equal. eauto.
Qed.
Lemma times_length x ks : length (times x ks) = length ks.
Proof. apply map_length. Qed.

(* -- enough rounds -- *)

Lemma enough_for th l dd k : 0 < th -> exists m, forall j, (m <= j)%nat -> (1 <= j)%nat -> falls N (th * eps) l dd (/ INR j * k).
Proof.
  intros Hth. destruct (Rlt_dec 0 dd) as [Hd|Hd].
  - destruct (archimed (2 * th * Rabs k / dd)) as [Hk _].
    exists (Z.to_nat (up (2 * th * Rabs k / dd))). intros j Hj H1.
    assert (J : 0 < INR j) by (apply lt_0_INR; lia).
    assert (B : 2 * th * Rabs k / dd <= INR j).
    { apply Rle_trans with (IZR (up (2 * th * Rabs k / dd))); [lra|]. rewrite INR_IZR_INZ. apply IZR_le. lia. }
    assert (B' : 2 * th * Rabs k * / INR j <= dd).
    { apply (Rmult_le_reg_r (INR j)); [easy|]. rewrite Rmult_assoc, Rinv_l by lra. apply (Rmult_le_compat_r dd) in B; [|lra].
      unfold Rdiv in B. rewrite Rmult_assoc, Rinv_l in B by lra. lra. }
    set (k2 := 2 * th * (/ INR j * k)).
    assert (K2 : Rabs k2 <= dd).
    { assert (Ij : 0 <= / INR j) by (left; now apply Rinv_0_lt_compat). unfold k2.
      rewrite !Rabs_mult, (Rabs_pos_eq 2 ltac:(lra)), (Rabs_pos_eq th ltac:(lra)), (Rabs_pos_eq (/ INR j) Ij). lra. }
    assert (Wi : within l dd k2).
    { pose proof (Rle_abs k2). pose proof (Rle_abs (- k2)) as A2. rewrite Rabs_Ropp in A2. destruct l; simpl; try split; try lra; exact I. }
    destruct (E_tail N T l dd k2 (1 / 2) ltac:(lra) (fun _ => Wi)) as (M & HM & H).
    exists M. split; [easy|]. intros m B0 HB. replace (th * eps * (/ INR j * k)) with (1 / 2 * eps * k2) by (unfold k2; field; lra). now apply H.
  - exists 0%nat. intros j _ J1. assert (J : 0 < INR j) by (apply lt_0_INR; lia).
    destruct (E_tail N T l dd (th * (/ INR j * k) * 2) (1 / 2) ltac:(lra) ltac:(intros; contradiction)) as (M & HM & H).
    exists M. split; [easy|]. intros m B0 HB. replace (th * eps * (/ INR j * k)) with (1 / 2 * eps * (th * (/ INR j * k) * 2)) by (field; lra). now apply H.
Qed.

Lemma enough_rounds th (ps : list (rstep * (Q * Q))) : 0 < th -> (forall p, In p ps -> forallb (Qle_bool 0) (weights (fst p)) = true) ->
  exists j, (1 <= j)%nat /\ forall p, In p ps -> step_falls N A (th * eps) (/ INR j) p.
Proof.
  intros Hth Hw.
  assert (H : exists m, forall j, (m <= j)%nat -> (1 <= j)%nat -> forall p, In p ps -> step_falls N A (th * eps) (/ INR j) p).
  { induction ps as [|p ps IH]; [exists 0%nat; easy|]. destruct IH as [m Hm]; [intros; apply Hw; now right|].
    set (s := st A (src (tr A (taken (fst p))))).
    destruct (enough_for th (law_of s) (Q2R (d s)) (Q2R (fst (snd p))) Hth) as [m1 H1].
    destruct (enough_for th (law_of' s) (Q2R (d' s)) (Q2R (snd (snd p))) Hth) as [m2 H2].
    exists (m + m1 + m2)%nat. intros j Hj J1 p' [<-|Hp]; [|apply Hm; auto; lia].
    split; [apply H1; lia|]. split; [intros _; apply H2; lia|]. apply Hw. now left. }
  destruct H as [m Hm]. exists (S m). split; [lia|]. apply Hm; lia.
Qed.

(* -- what a round leaves alone -- *)

Lemma total_untouched run l : untouched V run l = true -> forall c f z, In c run -> total l (upd f (tr A (taken c)) z) = total l f.
Proof.
  intros Hu c f z Hc. unfold untouched in Hu. rewrite forallb_forall in Hu. specialize (Hu c Hc). see Hu.
  induction l as [|[x w] l IH]; [reflexivity|]. cbn [forallb fst] in Hu. apply andb_true_iff in Hu as [H1 H2].
  cbn [total fold_right fst snd]. fold (total l (upd f (tr A (taken c)) z)). fold (total l f). rewrite (IH H2). f_equal. f_equal.
  apply negb_true_iff in H1. unfold upd. unfold gets in H1.
  destruct (mem x (asg (tr A (taken c)))) eqn:M.
  { apply mem_In in M. apply mem_false in H1. exfalso. apply H1. apply in_or_app. now left. }
  rewrite lookup_not; [easy|]. apply mem_false in H1. intros H. apply H1. apply in_or_app. now right.
Qed.

Lemma rounds_sloped te x X run lr kr : 0 <= x -> (forall c f z, In c run -> X (upd f (tr A (taken c)) z) = X f) ->
  (forall c f z, In c run -> total lr (upd f (tr A (taken c)) z) = total lr f) -> back V run [] = (lr, kr) ->
  (forall p, In p (combine run kr) -> step_falls N A te x p) ->
  forall j, sloped N A te (repeated j run) (repeated j (times x kr)) (fun f => X f + INR j * (x * total lr f)) X.
Proof.
  intros Hx HX HT Hb HF. induction j as [|j IH].
  - cbn [repeated sloped]. intros f. simpl. lra.
  - cbn [repeated]. apply (sloped_app N A te _ _ _ _ (fun f => X f + INR j * (x * total lr f))); [|exact IH].
    pose proof (back_sloped N A H0 te x (fun f => X f + INR j * (x * total lr f)) run Hx) as S.
    specialize (S ltac:(intros c f z Hc; cbv beta; rewrite (HX c f z Hc), (HT c f z Hc); reflexivity) [] lr kr Hb HF).
    cbn [total fold_right] in S.
    replace (fun f : store => X f + INR j * (x * total lr f) + x * 0) with (fun f : store => X f + INR j * (x * total lr f)) in S
      by (apply functional_extensionality; intros f; ring).
    replace (fun f : store => X f + INR (Datatypes.S j) * (x * total lr f)) with (fun f : store => X f + INR j * (x * total lr f) + x * total lr f)
      by (apply functional_extensionality; intros f; rewrite S_INR; ring).
    exact S.
Qed.

Theorem in_rounds C D' : g_hints C = H0 -> check_growth_in_rounds g A C = true -> differ_by N A (g_claim C) D'.
Proof.
  intros Eh Hc. rewrite check_rounds_plain, Eh in Hc. unfold check_rounds in Hc.
  set (first := g_before C) in *. set (round := g_round C) in *. set (last := g_after C) in *. cbv zeta in Hc.
  destruct (back V last []) as [la ka] eqn:Ba. destruct (back V round []) as [lr kr] eqn:Br.
  destruct (back V first (la ++ lr)) as [lb kb] eqn:Bb.
  destruct (advance V first (initial A) [] []) as [[q s] r] eqn:Ad. destruct (advance V round q s r) as [[q' s'] r'] eqn:Ad'.
  destruct (rivals_after V first (initial A) []) as [q1 riv] eqn:Ri. destruct (rivals_after V round q1 riv) as [q2 riv'] eqn:Ri'.
  set (e := differing_after V first []) in *.
  rewrite !andb_true_iff in Hc.
  destruct Hc as [[[[[[[[[[[[[[[[[[[Cc HM] Po] Ne] Ro] Sb] Sa] Wr] Un] Eq] Es] Er] Ee] Mo] Fo] Pa] Al] Eq1] El] Wo].
  apply Nat.eqb_eq in Eq, Eq1. apply same_numbers_spec in Es, Er, Ee. apply same_list_spec in El. subst q' s' r' q2 riv'.
  destruct (pattern_after V first 0) as [k|] eqn:Pf; [|easy]. destruct (pattern_after V round k) as [k'|] eqn:Pr; [|easy].
  apply Nat.eqb_eq in Pa. subst k'. apply Qlt_R in Wo. rewrite !Q2R_plus, Q2R_0 in Wo.
  set (W := Q2R (worth V first kb []) + Q2R (worth V round kr e) + Q2R (worth V last ka e)) in *.
  set (th := (Rabs D' + 1) / W). pose proof (Rabs_pos D'). pose proof (Rle_abs D').
  assert (Hth : 0 < th) by (apply Rdiv_lt_0_compat; lra).
  assert (Hr : D' < th * W) by (unfold th; replace ((Rabs D' + 1) / W * W) with (Rabs D' + 1) by (field; lra); lra).
  assert (Rt : rate 0 th) by (split; [easy|now right]).
  destruct (enough_rounds th (combine round kr) Hth) as (j & J1 & Hj).
  { intros [c ks] Hp. apply in_combine_l in Hp. rewrite forallb_forall in Wr. now apply Wr. }
  assert (J0 : 0 < INR j) by (apply lt_0_INR; lia).
  set (x := / INR j) in *. assert (Hx : 0 <= x) by (left; now apply Rinv_0_lt_compat).
  set (run := first ++ repeated j round ++ last).
  set (ks := times 1 kb ++ repeated j (times x kr) ++ times 1 ka).
  (* the run with all its rounds is as it should be *)
  rewrite possible_app, Ad in Po. apply andb_true_iff in Po as [Po1 Po2]. rewrite possible_app, Ad' in Po2. apply andb_true_iff in Po2 as [Po2 Po3].
  assert (Po' : possible g A V run (initial A) [] [] = true).
  { unfold run. rewrite possible_app, Ad, Po1. cbn [andb]. clear -Po2 Po3 Ad'. induction j as [|j IH]; cbn [repeated app]; [easy|].
    rewrite <- app_assoc, possible_app, Ad', Po2. exact IH. }
  rewrite !forallb_app in Mo. apply andb_true_iff in Mo as [Mo1 Mo2]. apply andb_true_iff in Mo2 as [Mo2 Mo3].
  assert (Mo' : forallb (check_more g V (g_claim C)) run = true).
  { unfold run. rewrite !forallb_app, Mo1, Mo3, andb_true_r. cbn [andb]. clear -Mo2. induction j as [|j IH]; cbn [repeated]; [easy|]. now rewrite forallb_app, Mo2, IH. }
  rewrite follows_after, Pf in Fo. rewrite follows_after, Pr in Fo.
  assert (Fo' : follows V (length (differ A)) run 0 = true).
  { unfold run. rewrite follows_after, Pf. clear -Fo Pr. induction j as [|j IH]; cbn [repeated app]; [easy|]. now rewrite <- app_assoc, follows_after, Pr. }
  rewrite alone_app, Ri in Al. rewrite alone_app, Ri' in Al.
  assert (Al' : alone V run (initial A) [] = true).
  { unfold run. rewrite alone_app, Ri. clear -Al Ri'. induction j as [|j IH]; cbn [repeated app]; [easy|]. now rewrite <- app_assoc, alone_app, Ri'. }
  destruct (rounds_pass first round last q s r j Po1 Po2 Po3 Ad Ad' Ne Ro J1) as (r0 & x0 & Sm & Pa).
  (* and rare *)
  assert (Un1 : forall c f z, In c round -> total la (upd f (tr A (taken c)) z) = total la f).
  { apply total_untouched. unfold untouched in *. rewrite forallb_forall in *. intros c Hc. specialize (Un c Hc).
    rewrite forallb_app in Un. now apply andb_true_iff in Un. }
  assert (Un2 : forall c f z, In c round -> total lr (upd f (tr A (taken c)) z) = total lr f).
  { apply total_untouched. unfold untouched in *. rewrite forallb_forall in *. intros c Hc. specialize (Un c Hc).
    rewrite forallb_app in Un. now apply andb_true_iff in Un. }
  pose proof (back_sloped N A H0 (th * eps) 1 (fun _ => 0) last ltac:(lra) ltac:(easy) [] la ka Ba (steep_falls N T A H0 0 th _ _ Rt Sa)) as Sl3.
  pose proof (back_sloped N A H0 (th * eps) 1 (fun _ => 0) first ltac:(lra) ltac:(easy) (la ++ lr) lb kb Bb (steep_falls N T A H0 0 th _ _ Rt Sb)) as Sl1.
  pose proof (rounds_sloped (th * eps) x (total la) round lr kr Hx Un1 Un2 Br Hj j) as Sl2.
  cbn [total fold_right] in Sl3. cbv beta in Sl1.
  replace (fun f : store => 0 + 1 * total la f) with (total la) in Sl3 by (apply functional_extensionality; intros f; ring).
  replace (fun _ : store => 0 + 1 * 0) with (fun _ : store => 0) in Sl3 by (apply functional_extensionality; intros f; ring).
  replace (fun f : store => 0 + 1 * total (la ++ lr) f) with (fun f : store => total la f + INR j * (x * total lr f)) in Sl1.
  2: { apply functional_extensionality. intros f. rewrite total_app. unfold x. field. lra. }
  assert (Sl : sloped N A (th * eps) run ks (fun f => 0 + 1 * total lb f) (fun _ => 0)).
  { apply (sloped_app N A _ _ _ _ _ _ _ _ Sl1). exact (sloped_app N A _ _ _ _ _ _ _ _ Sl2 Sl3). }
  apply (neighbours Heps N T g okq_ok A H0 (g_claim C) run ks _ th W D' _ _ Cc HM Po' (small_has _ _ _ points_ok _ _ Sm) Pa
    (nothing_near _ _ _ Sm) Mo' Fo' Al' Sl); [|exact Hth|exact Hr].
  (* what it is worth *)
  unfold run, ks. rewrite pulling_app by (rewrite times_length; eapply back_length; eauto).
  rewrite pulling_on, gone_more. fold e.
  assert (Rounds : forall i, pulling A (repeated i round ++ last) (repeated i (times x kr) ++ times 1 ka) (stream_of A more (repeated i round ++ last), real e) =
    INR i * (x * Q2R (worth V round kr e)) + Q2R (worth V last ka e)).
  { induction i as [|i IH]; cbn [repeated app].
    - rewrite (pulling_worth A H0 1 last ka e). simpl. ring.
    - rewrite <- !app_assoc, pulling_app by (rewrite times_length; eapply back_length; eauto).
      rewrite pulling_on, gone_more, <- Ee, IH, S_INR. ring. }
  rewrite Rounds. unfold W, x. field. lra.
Qed.
End Rounds.
