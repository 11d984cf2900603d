(* A flow that nothing limits through rounds of a cycle: the more rounds, the less goes through each of them. *)
From Coq Require Import Reals QArith Qreals ZArith List Bool Arith Lra Lia Classical FunctionalExtensionality.
From Symdipa.Core Require Import Model Lookup Checker Paths Cover Ways Runs.
From Symdipa.Grid Require Import Laplace Grid Tails Below.
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
Variables (n : positive) (eps : R) (Heps : 0 < eps) (A : automaton) (H0 : hints).
Local Notation V := (plain A H0).
Local Notation N := (noise_on n eps Heps).

(* -- what the checker looks at, of runs one after the other -- *)

Lemma possible_app run1 run2 : forall q s r, possible n A V (run1 ++ run2) q s r =
  possible n A V run1 q s r && (let '(q', s', r') := advance V run1 q s r in possible n A V run2 q' s' r').
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

Lemma enough_for th l dd k : 0 < th -> exists m, forall j, (m <= j)%nat -> (1 <= j)%nat -> falls n eps Heps (th * eps) l dd (/ INR j * k).
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
    destruct (tail (width n) eps (width_pos n) Heps l dd k2 (1 / 2) ltac:(lra) (fun _ => Wi)) as (M & HM & T).
    exists M. split; [easy|]. intros m B0 HB. replace (th * eps * (/ INR j * k)) with (1 / 2 * eps * k2) by (unfold k2; field; lra). now apply T.
  - exists 0%nat. intros j _ J1. assert (J : 0 < INR j) by (apply lt_0_INR; lia).
    destruct (tail (width n) eps (width_pos n) Heps l dd (th * (/ INR j * k) * 2) (1 / 2) ltac:(lra) ltac:(intros; contradiction)) as (M & HM & T).
    exists M. split; [easy|]. intros m B0 HB. replace (th * eps * (/ INR j * k)) with (1 / 2 * eps * (th * (/ INR j * k) * 2)) by (field; lra). now apply T.
Qed.

Lemma enough_rounds th (ps : list (rstep * (Q * Q))) : 0 < th -> (forall p, In p ps -> forallb (Qle_bool 0) (weights (fst p)) = true) ->
  exists j, (1 <= j)%nat /\ forall p, In p ps -> step_falls n eps Heps A (th * eps) (/ INR j) p.
Proof.
  intros Hth Hw.
  assert (H : exists m, forall j, (m <= j)%nat -> (1 <= j)%nat -> forall p, In p ps -> step_falls n eps Heps A (th * eps) (/ INR j) p).
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
  (forall p, In p (combine run kr) -> step_falls n eps Heps A te x p) ->
  forall j, sloped n eps Heps A te (repeated j run) (repeated j (times x kr)) (fun f => X f + INR j * (x * total lr f)) X.
Proof.
  intros Hx HX HT Hb HF. induction j as [|j IH].
  - cbn [repeated sloped]. intros f. simpl. lra.
  - cbn [repeated]. apply (sloped_app n eps Heps A te _ _ _ _ (fun f => X f + INR j * (x * total lr f))); [|exact IH].
    pose proof (back_sloped n eps Heps A H0 te x (fun f => X f + INR j * (x * total lr f)) run Hx) as S.
    specialize (S ltac:(intros c f z Hc; cbv beta; rewrite (HX c f z Hc), (HT c f z Hc); reflexivity) [] lr kr Hb HF).
    cbn [total fold_right] in S.
    replace (fun f : store => X f + INR j * (x * total lr f) + x * 0) with (fun f : store => X f + INR j * (x * total lr f)) in S
      by (apply functional_extensionality; intros f; ring).
    replace (fun f : store => X f + INR (Datatypes.S j) * (x * total lr f)) with (fun f : store => X f + INR j * (x * total lr f) + x * total lr f)
      by (apply functional_extensionality; intros f; rewrite S_INR; ring).
    exact S.
Qed.

Theorem in_rounds C D' : g_hints C = H0 -> check_growth_in_rounds n A C = true ->
  exists alpha beta, on_multiples n alpha /\ near n (g_claim C) alpha beta /\ differ_as (differ A) alpha beta /\
    exists w, exp (eps * D') * prob N A beta w < prob N A alpha w.
Proof.
  intros Eh Hc. rewrite check_rounds_plain, Eh in Hc. unfold check_rounds in Hc.
  set (first := g_before C) in *. set (round := g_round C) in *. set (last := g_after C) in *. cbv zeta in Hc.
  destruct (back V last []) as [la ka] eqn:Ba. destruct (back V round []) as [lr kr] eqn:Br.
  destruct (back V first (la ++ lr)) as [lb kb] eqn:Bb.
  destruct (advance V first (initial A) [] []) as [[q s] r] eqn:Ad. destruct (advance V round q s r) as [[q' s'] r'] eqn:Ad'.
  destruct (rivals_after V first (initial A) []) as [q1 riv] eqn:Ri. destruct (rivals_after V round q1 riv) as [q2 riv'] eqn:Ri'.
  set (e := differing_after V first []) in *.
  rewrite !andb_true_iff in Hc.
  destruct Hc as [[[[[[[[[[[[[[[[[Cc HM] Po] Sb] Sa] Wr] Un] Eq] Es] Er] Ee] Mo] Fo] Pa] Al] Eq1] El] Wo].
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
  assert (Po' : possible n A V run (initial A) [] [] = true).
  { unfold run. rewrite possible_app, Ad, Po1. cbn [andb]. clear -Po2 Po3 Ad'. induction j as [|j IH]; cbn [repeated app]; [easy|].
    rewrite <- app_assoc, possible_app, Ad', Po2. exact IH. }
  rewrite !forallb_app in Mo. apply andb_true_iff in Mo as [Mo1 Mo2]. apply andb_true_iff in Mo2 as [Mo2 Mo3].
  assert (Mo' : forallb (check_more n V (g_claim C)) run = true).
  { unfold run. rewrite !forallb_app, Mo1, Mo3, andb_true_r. cbn [andb]. clear -Mo2. induction j as [|j IH]; cbn [repeated]; [easy|]. now rewrite forallb_app, Mo2, IH. }
  rewrite follows_after, Pf in Fo. rewrite follows_after, Pr in Fo.
  assert (Fo' : follows V (length (differ A)) run 0 = true).
  { unfold run. rewrite follows_after, Pf. clear -Fo Pr. induction j as [|j IH]; cbn [repeated app]; [easy|]. now rewrite <- app_assoc, follows_after, Pr. }
  rewrite alone_app, Ri in Al. rewrite alone_app, Ri' in Al.
  assert (Al' : alone V run (initial A) [] = true).
  { unfold run. rewrite alone_app, Ri. clear -Al Ri'. induction j as [|j IH]; cbn [repeated app]; [easy|]. now rewrite <- app_assoc, alone_app, Ri'. }
  (* and rare *)
  assert (Un1 : forall c f z, In c round -> total la (upd f (tr A (taken c)) z) = total la f).
  { apply total_untouched. unfold untouched in *. rewrite forallb_forall in *. intros c Hc. specialize (Un c Hc).
    rewrite forallb_app in Un. now apply andb_true_iff in Un. }
  assert (Un2 : forall c f z, In c round -> total lr (upd f (tr A (taken c)) z) = total lr f).
  { apply total_untouched. unfold untouched in *. rewrite forallb_forall in *. intros c Hc. specialize (Un c Hc).
    rewrite forallb_app in Un. now apply andb_true_iff in Un. }
  pose proof (back_sloped n eps Heps A H0 (th * eps) 1 (fun _ => 0) last ltac:(lra) ltac:(easy) [] la ka Ba (steep_falls n eps Heps A H0 0 th _ _ Rt Sa)) as Sl3.
  pose proof (back_sloped n eps Heps A H0 (th * eps) 1 (fun _ => 0) first ltac:(lra) ltac:(easy) (la ++ lr) lb kb Bb (steep_falls n eps Heps A H0 0 th _ _ Rt Sb)) as Sl1.
  pose proof (rounds_sloped (th * eps) x (total la) round lr kr Hx Un1 Un2 Br Hj j) as Sl2.
  cbn [total fold_right] in Sl3. cbv beta in Sl1.
  replace (fun f : store => 0 + 1 * total la f) with (total la) in Sl3 by (apply functional_extensionality; intros f; ring).
  replace (fun _ : store => 0 + 1 * 0) with (fun _ : store => 0) in Sl3 by (apply functional_extensionality; intros f; ring).
  replace (fun f : store => 0 + 1 * total (la ++ lr) f) with (fun f : store => total la f + INR j * (x * total lr f)) in Sl1.
  2: { apply functional_extensionality. intros f. rewrite total_app. unfold x. field. lra. }
  assert (Sl : sloped n eps Heps A (th * eps) run ks (fun f => 0 + 1 * total lb f) (fun _ => 0)).
  { apply (sloped_app _ _ _ _ _ _ _ _ _ _ _ _ Sl1). exact (sloped_app _ _ _ _ _ _ _ _ _ _ _ _ Sl2 Sl3). }
  apply (neighbours n eps Heps A H0 (g_claim C) run ks _ th W D' Cc HM Po' Mo' Fo' Al' Sl); [|exact Hth|exact Hr].
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

Theorem checked_growth_in_rounds n (A : automaton) (C : gcert) : check_growth_in_rounds n A C = true -> is_leaking n A (g_claim C).
Proof. intros H eps Heps D'. now apply (in_rounds n eps Heps A (g_hints C) C D'). Qed.
