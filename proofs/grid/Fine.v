(* Any rational shifts: the certificate proves privacy on every grid that is fine enough (multiples of 1/(n0*k), all k). *)
From Coq Require Import Reals QArith Qreals ZArith List Bool Lra Lia.
From Symdipa.Core Require Import Model Lookup Checker Sound Guide.
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
