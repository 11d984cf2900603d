(* Any rational shifts: the certificate proves privacy on every grid that is fine enough (multiples of 1/(n0*k), all k). *)
From Coq Require Import Reals QArith Qreals ZArith List Bool Lra Lia.
From Symdipa.Core Require Import Model Lookup Checker Differences Relational.
From Symdipa.Above Require Import Sound Guide Coupled.
From Symdipa.Grid Require Import Laplace Grid.
Import ListNotations.

Definition dens (l : ivs) : list positive :=
  flat_map (fun p => match snd p with Some (lo, hi) => [Qden lo; Qden hi] | None => [] end) l.
Definition graph_dens (G : graph) : list positive := dens (everywhere G) ++ flat_map (fun n => dens (l_own n)) (l_nodes G).
Definition product (l : list positive) : positive := fold_right Pos.mul 1%positive l.

Lemma product_divides p l : In p l -> exists k, product l = (p * k)%positive.
Proof.
  induction l as [|a l IH]; simpl; [easy|]. intros [<-|H]; [now exists (product l)|].
  destruct (IH H) as [k ->]. exists (a * k)%positive. lia.
Qed.

Lemma on_grid_den q k : on_grid (Qden q * k) q = true.
Proof.
  unfold on_grid. apply Z.eqb_eq. replace (Z.pos (Qden q * k) * Qnum q)%Z with ((Z.pos k * Qnum q) * Z.pos (Qden q))%Z by lia.
  now apply Z.mod_mul.
Qed.

Lemma check_ivs_fine own l n : (forall p, In p (dens l) -> exists k, n = (p * k)%positive) ->
  check_ivs some_multiples own l = true -> check_ivs (multiples n) own l = true.
Proof.
  unfold check_ivs. rewrite !forallb_forall. intros Hn H p Hp. specialize (H p Hp).
  assert (D : forall q, In q (match snd p with Some (lo, hi) => [Qden lo; Qden hi] | None => [] end) -> In q (dens l)).
  { intros q Hq. apply in_flat_map. eauto. }
  rewrite andb_true_iff in *. destruct H as [Ow H]. split; [exact Ow|].
  destruct (snd p) as [[lo hi]|]; [|easy]. rewrite !andb_true_iff in *. destruct H as [[H _] _]. repeat split; auto.
  - destruct (Hn (Qden lo)) as [k ->]; [apply D; now left|]. apply on_grid_den.
  - destruct (Hn (Qden hi)) as [k ->]; [apply D; right; now left|]. apply on_grid_den.
Qed.

(* What is asked of ways does not depend on how fine the grid is. *)
Lemma check_ways_fine A V c W tells v i n :
  check_ways some_multiples A V c W tells v i = true -> check_ways (multiples n) A V c W tells v i = true.
Proof.
  unfold check_ways. cbv zeta. cbn [mixes only_ends some_multiples multiples].
  destruct (tells && reads _); [|easy]. destruct (moves_of V _) as [equal other]. rewrite !andb_true_iff. intros [H1 H2]. split; [exact H1|].
  rewrite !orb_true_iff in *. destruct H2 as [[[H2|H2]|H2]|H2]; auto. rewrite !andb_true_iff in H2. destruct H2 as [_ H2].
  destruct (entry_of c Any). discriminate.
Qed.
Lemma check_base_fine A V c G W tells n : check_base some_multiples A V c G W tells = true -> check_base (multiples n) A V c G W tells = true.
Proof.
  unfold check_base. rewrite !andb_true_iff. intros [H Hs]. split; [exact H|]. rewrite forallb_forall in *. intros v Hv.
  specialize (Hs v Hv). rewrite forallb_forall in *. intros i Hi. specialize (Hs i Hi). unfold check_base_step in *.
  rewrite orb_true_iff in *. destruct Hs as [Hs|Hs]; [now left|right]. rewrite andb_true_iff in *. destruct Hs as [Hf Hw].
  split; [exact Hf|now apply check_ways_fine].
Qed.

Lemma check_graph_fine V c G W tells own n : (forall p, In p (graph_dens G) -> exists k, n = (p * k)%positive) ->
  forall A, check_graph some_multiples A V c G W tells own = true -> check_graph (multiples n) A V c G W tells own = true.
Proof.
  intros Hn A. unfold check_graph, check_shifts. rewrite !andb_true_iff. intros [[[H1 [H2 H3]] H4] H5]. repeat split; auto using check_base_fine.
  - apply check_ivs_fine; auto. intros p Hp. apply Hn. unfold graph_dens. apply in_or_app. auto.
  - rewrite forallb_forall in *. intros x Hx. apply check_ivs_fine; auto. intros p Hp. apply Hn.
    unfold graph_dens. apply in_or_app. right. apply in_flat_map. eauto.
Qed.

Theorem checked_private_fine (A : automaton) (C : cert) : check some_multiples A C = true ->
  exists n0, forall k, is_private (n0 * k) A (c_claim C).
Proof.
  intros H. set (l := flat_map graph_dens (c_ground C :: c_parts C)). exists (product l). intros k. apply checked_private.
  assert (Fine : forall G, In G (c_ground C :: c_parts C) -> forall p, In p (graph_dens G) -> exists j, (product l * k = p * j)%positive).
  { intros G HG p Hp. destruct (product_divides p l) as [j ->]; [apply in_flat_map; eauto|]. exists (j * k)%positive. lia. }
  rewrite check_plain in *. unfold check_ground in *. rewrite !andb_true_iff in *. destruct H as [[[[[H1 H2] H3] H4] H5] HP].
  repeat split; auto.
  - eapply check_graph_fine; eauto. apply Fine. now left.
  - rewrite forallb_forall in *. intros [i [U G]] Hq. specialize (HP _ Hq). eapply check_graph_fine; eauto. apply Fine. right.
    now apply in_combine_r, in_combine_r in Hq.
Qed.

(* Pairs of runs: means of two states may differ, too. *)
Definition mean_dens (A : automaton) : list positive := flat_map (fun s => [Qden (mu s); Qden (mu' s)]) (states A).
Definition move_dens (m : move) : list positive := match mv_shift m with Some (a, b) => [Qden a; Qden b] | None => [] end.
Definition pairs_den (A : automaton) (C : relcert) : positive :=
  (product (mean_dens A) * product (mean_dens A) * product (flat_map (fun n => flat_map move_dens (n_moves n)) (e_nodes C)))%positive.

Lemma mean_den A q : exists k k', product (mean_dens A) = (Qden (mu (st A q)) * k)%positive /\ product (mean_dens A) = (Qden (mu' (st A q)) * k')%positive.
Proof.
  unfold st. destruct (nth_in_or_default q (states A) stat0) as [H|H].
  - destruct (product_divides (Qden (mu (nth q (states A) stat0))) (mean_dens A)) as [k E].
    { apply in_flat_map. exists (nth q (states A) stat0). split; [easy|now left]. }
    destruct (product_divides (Qden (mu' (nth q (states A) stat0))) (mean_dens A)) as [k' E'].
    { apply in_flat_map. exists (nth q (states A) stat0). split; [easy|right; now left]. }
    now exists k, k'.
  - rewrite H. exists (product (mean_dens A)), (product (mean_dens A)). cbn. lia.
Qed.

Lemma paid_fine A C n s s' x m q q' : s = st A q -> s' = st A q' ->
  (exists k, n = (product (mean_dens A) * product (mean_dens A) * k)%positive) -> (forall p, In p (move_dens m) -> exists k, n = (p * k)%positive) ->
  paid some_multiples C (pplain C) s s' x (mv_shift m) = None \/
  paid (multiples n) C (pplain C) s s' x (mv_shift m) = paid some_multiples C (pplain C) s s' x (mv_shift m).
Proof.
  intros -> -> [k Hk] Hm.
  assert (M : on_grid n (mu (st A q') - mu (st A q)) = true /\ on_grid n (mu' (st A q') - mu' (st A q)) = true).
  { destruct (mean_den A q) as (a & a' & E & E'), (mean_den A q') as (b & b' & F & F'). split.
    - replace n with (Qden (mu (st A q') - mu (st A q)) * (a * b * k))%positive; [apply on_grid_den|]. cbn [Qden Qminus Qplus Qopp].
      rewrite Hk. rewrite E at 1. rewrite F. lia.
    - replace n with (Qden (mu' (st A q') - mu' (st A q)) * (a' * b' * k))%positive; [apply on_grid_den|]. cbn [Qden Qminus Qplus Qopp].
      rewrite Hk. rewrite E' at 1. rewrite F'. lia. }
  destruct M as [M M']. unfold paid, price_of_tie, price_of_other. unfold move_dens in Hm. cbn [shift_ok some_multiples multiples]. rewrite M, M'.
  destruct (mv_shift m) as [[a b]|]; [|now right]. right.
  destruct (Hm (Qden a)) as [ka ->]; [now left|]. rewrite on_grid_den. destruct (Hm (Qden b)) as [kb Eb]; [right; now left|].
  rewrite Eb, on_grid_den. now rewrite !andb_true_r.
Qed.

Lemma different_In {X} (eqb : X -> X -> bool) l x : In x (different eqb l) -> In x l.
Proof.
  induction l as [|y l IH]; simpl; [easy|]. destruct (existsb _ _); [intros H; right; auto|intros [<-|H]; [now left|right; auto]].
Qed.

Lemma rnode_fine A C (k : positive) : let n := (pairs_den A C * k)%positive in let V := plain A (e_hints C) in
  forall r, In r (e_nodes C) -> check_rnode some_multiples V C (pplain C) r = true -> check_rnode (multiples n) V C (pplain C) r = true.
Proof.
  intros n V r Hr. unfold check_rnode. rewrite !andb_true_iff. intros [H1 H]. split; [exact H1|].
  destruct (without _ _) as [|v vs]; [easy|]. rewrite andb_true_iff in *. destruct H as [H2 H]. split; [exact H2|].
  rewrite forallb_forall in *. intros b Hb. specialize (H b Hb). cbv zeta in *. destruct (filter _ _) as [|u us]; [easy|].
  destruct (find _ _) as [m|] eqn:F; [|easy]. apply find_some in F as [Hm _].
  unfold check_move in *. rewrite andb_true_iff in *. destruct H as [HP H]. split; [|exact H].
  unfold check_paid in *. rewrite forallb_forall in *. intros s Hs. specialize (HP s Hs). rewrite forallb_forall in *. intros s' Hs'. specialize (HP s' Hs').
  apply different_In in Hs, Hs'. apply in_map_iff in Hs as (q & Es & _), Hs' as (q' & Es' & _).
  destruct (paid_fine A C n s s' (b_letter b) m (control_of (pplain C) q) (control_of (pplain C) q')) as [E|E]; auto.
  - eexists. unfold n, pairs_den. rewrite <- !Pos.mul_assoc. reflexivity.
  - intros p Hp. assert (In p (flat_map (fun n => flat_map move_dens (n_moves n)) (e_nodes C))) as Hin.
    { apply in_flat_map. exists r. split; [easy|]. apply in_flat_map. eauto. }
    destruct (product_divides _ _ Hin) as [j Ej]. unfold n, pairs_den. rewrite Ej.
    exists (product (mean_dens A) * product (mean_dens A) * j * k)%positive. lia.
  - rewrite E in HP. now rewrite andb_false_r in HP.
  - now rewrite E.
Qed.

Theorem checked_relational_fine (A : automaton) (C : relcert) : check_relational some_multiples A C = true ->
  exists n0, forall k, is_private (n0 * k) A (e_claim C).
Proof.
  intros H. exists (pairs_den A C). intros k. apply checked_relational. rewrite check_relational_plain in *. unfold check_pairs in *.
  rewrite !andb_true_iff in *. destruct H as [[[[[[[H1 H2] H3] H4] H5] H6] H7] H8]. repeat split; auto.
  rewrite forallb_forall in *. intros r Hr. now apply rnode_fine, H7.
Qed.
