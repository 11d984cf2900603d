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

Lemma check_ivs_fine l n : (forall p, In p (dens l) -> exists k, n = (p * k)%positive) ->
  check_ivs any_number l = true -> check_ivs (on_grid n) l = true.
Proof.
  unfold check_ivs. rewrite !forallb_forall. intros Hn H p Hp. specialize (H p Hp).
  assert (D : forall q, In q (match snd p with Some (lo, hi) => [Qden lo; Qden hi] | None => [] end) -> In q (dens l)).
  { intros q Hq. apply in_flat_map. eauto. }
  destruct (snd p) as [[lo hi]|]; [|easy]. rewrite !andb_true_iff in *. destruct H as [[H _] _]. repeat split; auto.
  - destruct (Hn (Qden lo)) as [k ->]; [apply D; now left|]. apply on_grid_den.
  - destruct (Hn (Qden hi)) as [k ->]; [apply D; right; now left|]. apply on_grid_den.
Qed.

Lemma check_graph_fine V G W own n : (forall p, In p (graph_dens G) -> exists k, n = (p * k)%positive) ->
  forall A, check_graph any_number A V G W own = true -> check_graph (on_grid n) A V G W own = true.
Proof.
  intros Hn A. unfold check_graph, check_shifts. rewrite !andb_true_iff. intros [[[H1 [H2 H3]] H4] H5]. repeat split; auto.
  - apply check_ivs_fine; auto. intros p Hp. apply Hn. unfold graph_dens. apply in_or_app. auto.
  - rewrite forallb_forall in *. intros x Hx. apply check_ivs_fine; auto. intros p Hp. apply Hn.
    unfold graph_dens. apply in_or_app. right. apply in_flat_map. eauto.
Qed.

Theorem checked_private_fine (A : automaton) (C : cert) : check any_number A C = true ->
  exists n0, forall k, is_private (n0 * k) A (c_claim C).
Proof.
  intros H. exists (product (graph_dens (c_graph C))). intros k. apply checked_private.
  rewrite check_plain in *. unfold check_private in *. rewrite !andb_true_iff in *. destruct H as [[[H1 H2] H3] H4]. repeat split; auto.
  eapply check_graph_fine; eauto. intros p Hp. destruct (product_divides _ _ Hp) as [j ->]. exists (j * k)%positive. lia.
Qed.

Theorem checked_in_parts_fine (A : automaton) (C : pcert) : check_parts any_number A C = true ->
  exists n0, forall k, is_private (n0 * k) A (p_claim C).
Proof.
  intros H. exists (product (flat_map (fun p => graph_dens (snd p)) (p_parts C))). intros k. apply checked_in_parts.
  rewrite check_parts_plain in *. unfold check_in_parts in *. rewrite !andb_true_iff in *.
  destruct H as [[[[[H1 H2] H3] H4] H5] H6]. repeat split; auto.
  rewrite forallb_forall in *. intros q Hq. specialize (H3 q Hq). unfold check_part in *. rewrite andb_true_iff in *.
  destruct H3 as [H3 H3']. split; auto. eapply check_graph_fine; eauto. intros p Hp.
  unfold beside in Hq. apply in_map_iff in Hq as (pg & <- & Hq). cbn [snd] in Hp.
  assert (In p (flat_map (fun p => graph_dens (snd p)) (p_parts C))) as Hin by (apply in_flat_map; eauto).
  destruct (product_divides _ _ Hin) as [i ->]. exists (i * k)%positive. lia.
Qed.
