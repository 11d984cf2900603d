(* Probability of one path, the sum over paths, and the shift nearest to a difference. *)
From Coq Require Import Reals QArith Qreals List Bool Arith Lra Lia FunctionalExtensionality.
From Symdipa.Core Require Import Model Lookup Checker.
Import ListNotations.
Open Scope R_scope.

(* ---- booleans ---- *)

Lemma mem_In x l : mem x l = true <-> In x l.
Proof.
  unfold mem. rewrite existsb_exists. split.
  - intros (y & Hy & He). apply Nat.eqb_eq in He. now subst.
  - intros H. exists x. split; [easy|]. apply Nat.eqb_refl.
Qed.

Lemma mem_false x l : mem x l = false <-> ~ In x l.
Proof. rewrite <- mem_In. destruct (mem x l); split; congruence. Qed.

Lemma subset_spec l l' : subset l l' = true -> forall x, In x l -> In x l'.
Proof. unfold subset. rewrite forallb_forall. intros H x Hx. now apply mem_In, H. Qed.

Lemma within_spec l' : forall l, within l l' = true -> forall x, In x l -> In x l'.
Proof.
  induction l' as [|y m' IH]; intros l; simpl.
  - destruct l; [easy|discriminate].
  - destruct l as [|x m]; [easy|]. destruct (Nat.eqb_spec x y) as [->|]; intros H z Hz.
    + destruct Hz as [->|Hz]; [now left|right; now apply (IH m)].
    + right. now apply (IH (x :: m)).
Qed.

Lemma without_spec l l' x : In x l -> ~ In x l' -> In x (without l l').
Proof. intros H H'. unfold without. apply filter_In. split; [easy|]. apply negb_true_iff. now apply mem_false. Qed.

Lemma having_In {X} (key : X -> nat) l k x : In x (having key l k) <-> In x l /\ key x = k.
Proof. unfold having. rewrite filter_In, Nat.eqb_eq. easy. Qed.

Lemma assoc_having x l : assoc x (having fst l x) = assoc x l.
Proof.
  unfold having. induction l as [|[y o] l IH]; simpl; [easy|]. rewrite (Nat.eqb_sym y x).
  destruct (Nat.eqb x y) eqn:E; simpl; [now rewrite E|easy].
Qed.

Lemma meets_spec l l' : meets l l' = true -> exists x, In x l /\ In x l'.
Proof. unfold meets. rewrite existsb_exists. intros (x & H & H'). exists x. split; [easy|now apply mem_In]. Qed.

Lemma Qle_R x y : Qle_bool x y = true -> Q2R x <= Q2R y.
Proof. intros. now apply Qle_Rle, Qle_bool_iff. Qed.

Lemma Qlt_R x y : Qlt_bool x y = true -> Q2R x < Q2R y.
Proof.
  unfold Qlt_bool. rewrite negb_true_iff. intros H. apply Qlt_Rlt.
  apply Qnot_le_lt. intros H'. apply Qle_bool_iff in H'. congruence.
Qed.

Lemma Qle_R_not x y : Qle_bool x y = false -> Q2R y <= Q2R x.
Proof. intros H. apply Rlt_le, Qlt_R. unfold Qlt_bool. now rewrite H. Qed.

Lemma fold_max_ge F f : forall x, In x (f :: F) -> Q2R x <= Q2R (fold_right (fun x m => if Qle_bool x m then m else x) f F).
Proof.
  induction F as [|a F IH]; intros x Hx; simpl in *.
  - destruct Hx as [->|[]]. lra.
  - destruct (Qle_bool _ _) eqn:E; [apply Qle_R in E|apply Qle_R_not in E];
    destruct Hx as [->|[->|Hx]]; auto; try lra; eapply Rle_trans; [apply IH; auto| |apply IH; auto|]; auto.
Qed.
Lemma fold_min_le F f : forall x, In x (f :: F) -> Q2R (fold_right (fun x m => if Qle_bool x m then x else m) f F) <= Q2R x.
Proof.
  induction F as [|a F IH]; intros x Hx; simpl in *.
  - destruct Hx as [->|[]]. lra.
  - destruct (Qle_bool _ _) eqn:E; [apply Qle_R in E|apply Qle_R_not in E];
    destruct Hx as [->|[->|Hx]]; auto; try lra; (eapply Rle_trans; [exact E|]); auto.
Qed.
Lemma fits_spec F Ce f c : fits F Ce = true -> In f F -> In c Ce -> Q2R f <= Q2R c.
Proof.
  unfold fits. destruct F as [|f0 F], Ce as [|c0 Ce]; try easy. intros H Hf Hc. apply Qle_R in H.
  pose proof (fold_max_ge _ _ _ Hf). pose proof (fold_min_le _ _ _ Hc). lra.
Qed.

Lemma Q2R_0 : Q2R 0 = 0.
Proof. unfold Q2R; simpl; lra. Qed.

Lemma exp_mono x y : x <= y -> exp x <= exp y.
Proof. intros [H|H]; [left; now apply exp_increasing|right; now subst]. Qed.

Lemma le_b_iff x y : le_b x y = true <-> x <= y.
Proof. unfold le_b. destruct (Rle_dec x y); split; try easy; congruence. Qed.
Lemma lt_b_iff x y : lt_b x y = true <-> x < y.
Proof. unfold lt_b. destruct (Rlt_dec x y); split; try easy; congruence. Qed.

Definition true_of (s : store) (z : R) (a : atom) : Prop :=
  if strict a then value s z (low a) < value s z (high a) else value s z (low a) <= value s z (high a).
Lemma holds_iff s z a : holds s z a = true <-> true_of s z a.
Proof. unfold holds, true_of. destruct (strict a); [apply lt_b_iff|apply le_b_iff]. Qed.

Lemma enabled_iff t s z : enabled t s z = true <->
  (forall x, In x (t_ge t) -> s x <= z) /\ (forall x, In x (t_lt t) -> z < s x) /\ (forall a, In a (others t) -> true_of s z a).
Proof.
  unfold enabled. rewrite !andb_true_iff, !forallb_forall. split.
  - intros [[H1 H2] H3]. split; [|split].
    + intros x Hx. now apply le_b_iff, H1.
    + intros x Hx. now apply lt_b_iff, H2.
    + intros a Ha. now apply holds_iff, H3.
  - intros (H1 & H2 & H3). split; [split|].
    + intros x Hx. now apply le_b_iff, H1.
    + intros x Hx. now apply lt_b_iff, H2.
    + intros a Ha. now apply holds_iff, H3.
Qed.

Lemma nonempty_false {X} (l : list X) : nonempty l = false -> l = [].
Proof. now destruct l. Qed.

Lemma leaving_In A q i : In i (leaving A q) <-> (i < length (transitions A))%nat /\ src (tr A i) = q.
Proof.
  unfold leaving. rewrite filter_In, in_seq. split.
  - intros [H He]. apply Nat.eqb_eq in He. split; [lia|easy].
  - intros [H He]. split; [lia|]. now apply Nat.eqb_eq.
Qed.

Lemma leaving_NoDup A q : NoDup (leaving A q).
Proof. apply NoDup_filter, seq_NoDup. Qed.

Lemma forallb_seq f n : forallb f (seq 0 n) = true -> forall i, (i < n)%nat -> f i = true.
Proof. rewrite forallb_forall. intros H i Hi. apply H, in_seq. lia. Qed.

(* ---- finite sums ---- *)

Definition sum {X} (f : X -> R) (l : list X) : R := fold_right (fun x r => f x + r) 0 l.

Lemma sum_app {X} (f : X -> R) l l' : sum f (l ++ l') = sum f l + sum f l'.
Proof. induction l; simpl; lra. Qed.
Lemma sum_map {X Y} (f : Y -> R) (g : X -> Y) l : sum f (map g l) = sum (fun x => f (g x)) l.
Proof. induction l; simpl; lra. Qed.
Lemma sum_flat {X Y} (f : Y -> R) (g : X -> list Y) l : sum f (flat_map g l) = sum (fun x => sum f (g x)) l.
Proof. induction l; simpl; [easy|]. rewrite sum_app. lra. Qed.
Lemma sum_ext {X} (f g : X -> R) l : (forall x, In x l -> f x = g x) -> sum f l = sum g l.
Proof. induction l; simpl; intros H; [easy|]. rewrite (H a), IHl; auto. Qed.
Lemma sum_le {X} (f g : X -> R) l : (forall x, In x l -> f x <= g x) -> sum f l <= sum g l.
Proof.
  induction l; simpl; intros H; [lra|]. pose proof (H a (or_introl eq_refl)).
  assert (sum f l <= sum g l) by auto. lra.
Qed.
Lemma sum_scal {X} (f : X -> R) c l : sum (fun x => c * f x) l = c * sum f l.
Proof. induction l; simpl; lra. Qed.
Lemma sum_pos {X} (f : X -> R) l : (forall x, In x l -> 0 <= f x) -> 0 <= sum f l.
Proof. induction l; simpl; intros H; [lra|]. pose proof (H a (or_introl eq_refl)). assert (0 <= sum f l) by auto. lra. Qed.
Lemma sum_0 {X} (f : X -> R) l : (forall x, In x l -> f x = 0) -> sum f l = 0.
Proof. induction l; simpl; intros H; [lra|]. rewrite (H a), IHl; auto; lra. Qed.

(* ---- facts on operators ---- *)

Section Noise.
Context {eps : R} (N : noise eps).

Lemma E_le l0 dd m h h' : good N h -> good N h' -> unit_fun h -> unit_fun h' -> (forall z, h z <= h' z) -> E N l0 dd m h <= E N l0 dd m h'.
Proof. intros G G' U U' H. apply (E_mono eps N l0 dd m (fun _ => 0)); auto. Qed.

(* What samples usually are not, does not matter. *)
Lemma E_typical l0 dd m s h h' : good N h -> good N h' -> unit_fun h -> unit_fun h' ->
  (forall z, typical (atomless N) (ok N) l0 dd m s z -> h z = h' z) -> E N l0 dd m h = E N l0 dd m h'.
Proof. intros G G' U U' H. apply Rle_antisym; apply (E_mono eps N l0 dd m s); auto; intros z Hz; rewrite (H z Hz); lra. Qed.

Lemma E_ext l0 dd m h h' : good N h -> unit_fun h -> (forall z, h z = h' z) -> E N l0 dd m h = E N l0 dd m h'.
Proof.
  intros Gh U H. apply (E_typical _ _ _ (fun _ => 0)); auto.
  - now apply (good_ext eps N h).
  - intros z; rewrite <- H; apply U.
Qed.

Lemma E_unit l0 dd m h : good N h -> unit_fun h -> 0 <= E N l0 dd m h <= 1.
Proof.
  intros Gh U. pose proof (good_const eps N) as Gc. split.
  - rewrite <- (E_const eps N l0 dd m 0) by lra. apply E_le; auto; intros z; [lra|apply U].
  - rewrite <- (E_const eps N l0 dd m 1) by lra. apply E_le; auto; intros z; [lra|apply U].
Qed.

Lemma E_zero l0 dd m h : (forall z, h z = 0) -> E N l0 dd m h = 0.
Proof.
  intros H. rewrite <- (E_const eps N l0 dd m 0) by lra. symmetry. apply E_ext; [apply good_const| |]; intros z; rewrite ?H; lra.
Qed.
Lemma E_never l0 dd m s h : good N h -> unit_fun h -> (forall z, typical (atomless N) (ok N) l0 dd m s z -> h z = 0) -> E N l0 dd m h = 0.
Proof.
  intros G U H. rewrite <- (E_const eps N l0 dd m 0) by lra. apply (E_typical _ _ _ s); auto; [apply good_const|]. intros z. lra.
Qed.

Lemma good_sum {X} (f : X -> R -> R) (l : list X) : (forall x, In x l -> good N (f x)) -> good N (fun z => sum (fun x => f x z) l).
Proof.
  induction l as [|a l IH]; simpl; intros H; [apply good_const|]. apply (good_plus eps N (f a)); auto.
Qed.

Lemma E_sum {X} l0 dd m (f : X -> R -> R) (l : list X) : (forall x, In x l -> good N (f x)) ->
  (forall x z, In x l -> 0 <= f x z) -> (forall z, sum (fun x => f x z) l <= 1) ->
  E N l0 dd m (fun z => sum (fun x => f x z) l) = sum (fun x => E N l0 dd m (f x)) l.
Proof.
  induction l as [|a l IH]; simpl; intros HG H0 H1.
  - apply E_const. lra.
  - assert (P : forall z, 0 <= sum (fun x => f x z) l) by (intros z; apply sum_pos; auto).
    assert (Pa : forall z, 0 <= f a z) by auto.
    rewrite <- IH; auto.
    + apply (E_plus eps N); auto; [apply good_sum; auto| | |]; intros z;
      specialize (H1 z); specialize (P z); specialize (Pa z); lra.
    + intros z. specialize (H1 z). specialize (Pa z). lra.
Qed.
End Noise.

(* ---- probability of one path; the sum over all paths ---- *)

Section Paths.
Context {eps : R} (N : noise eps) (A : automaton).

(* One step by transition i, with k for what follows. *)
Definition after_step i q (l : list letter) (a : feed) (k : store -> feed -> R) (s : store) (z : R) : R :=
  if enabled (tr A i) s z
  then shows N A q (input A q a) (out (tr A i)) l s z * k (upd s (tr A i) z) (rest A q i a) else 0.

Definition step i q s a l k : R :=
  E N (law_of (st A q)) (Q2R (d (st A q))) (input A q a + Q2R (mu (st A q))) (after_step i q l a k s).

Fixpoint Pp (p : list nat) (w : list (list letter)) (q : nat) (s : store) (a : feed) : R :=
  match p, w with
  | [], [] => 1
  | i :: p', l :: w' => step i q s a l (Pp p' w' (tgt (tr A i)))
  | _, _ => 0
  end.

(* A path that starts at q. *)
Fixpoint chain (q : nat) (p : list nat) : Prop :=
  match p with
  | [] => True
  | i :: p' => In i (leaving A q) /\ chain (tgt (tr A i)) p'
  end.

Fixpoint paths (n : nat) (q : nat) : list (list nat) :=
  match n with
  | O => [[]]
  | S n' => flat_map (fun i => map (cons i) (paths n' (tgt (tr A i)))) (leaving A q)
  end.

Lemma ind_unit b : 0 <= ind b <= 1.
Proof. destruct b; simpl; lra. Qed.

Lemma prod_unit x y : 0 <= x <= 1 -> 0 <= y <= 1 -> 0 <= x * y <= 1.
Proof. intros. split; [apply Rmult_le_pos; lra|]. rewrite <- (Rmult_1_l 1). apply Rmult_le_compat; lra. Qed.

Lemma item_unit q m i l s z : good_letter N l -> 0 <= shows_item N A q m i l s z <= 1.
Proof.
  intros Gl. destruct i, l; simpl; try lra; try apply ind_unit.
  apply E_unit; [apply good_ind, Gl|intros y; apply ind_unit].
Qed.
Lemma shows_unit q m o : forall l s z, Forall (good_letter N) l -> 0 <= shows N A q m o l s z <= 1.
Proof.
  induction o as [|i o IH]; intros [|l1 l] s z Gl; simpl; try lra.
  inversion_clear Gl. apply prod_unit; [now apply item_unit|now apply IH].
Qed.

Lemma item_good q m i l : good_letter N l -> goodJ N (shows_item N A q m i l).
Proof.
  intros Gl. destruct i as [x|a b|], l as [y|B]; simpl in Gl.
  - exact (goodJ_const eps N (ind (Nat.eqb x y))).
  - exact (goodJ_const eps N 0).
  - exact (goodJ_const eps N 0).
  - exact (goodJ_number eps N a b B Gl).
  - exact (goodJ_const eps N 0).
  - exact (goodJ_const eps N (E N (law_of' (st A q)) (Q2R (d' (st A q))) (m + Q2R (mu' (st A q))) (fun y => ind (B y)))).
Qed.
Lemma shows_good q m o : forall l, Forall (good_letter N) l -> goodJ N (shows N A q m o l).
Proof.
  induction o as [|i o IH]; intros [|l1 l] Gl; simpl; try apply goodJ_const.
  inversion_clear Gl. apply (goodJ_mult eps N (shows_item N A q m i l1) (shows N A q m o l)); [now apply item_good|now apply IH].
Qed.

Lemma after_unit i q s a l k : Forall (good_letter N) l -> (forall s a, 0 <= k s a <= 1) -> unit_fun (after_step i q l a k s).
Proof.
  intros Gl Hk z. unfold after_step. destruct (enabled _ _ _); [|lra].
  apply prod_unit; [now apply shows_unit|apply Hk].
Qed.

Lemma after_J i q a l k : Forall (good_letter N) l -> goodS N (fun s => k s (rest A q i a)) -> goodJ N (after_step i q l a k).
Proof.
  intros Gl Hk. exact (goodJ_step eps N (tr A i) _ (fun s => k s (rest A q i a)) _ (shows_good q (input A q a) (out (tr A i)) l Gl) Hk (goodJ_const eps N 0)).
Qed.
Lemma after_good i q s a l k : Forall (good_letter N) l -> goodS N (fun s => k s (rest A q i a)) -> good N (after_step i q l a k s).
Proof. intros Gl Hk. apply (good_J eps N (after_step i q l a k)). now apply after_J. Qed.

Lemma Pp_fine p : forall w, good_word N w -> (forall q s a, 0 <= Pp p w q s a <= 1) /\ (forall q a, goodS N (fun s => Pp p w q s a)).
Proof.
  induction p as [|i p IH]; intros [|l w] Gw; simpl; try (split; [intros; lra|intros; apply goodS_const]).
  inversion_clear Gw as [|? ? Gl Gw']. destruct (IH w Gw') as [U Gd]. split.
  - intros q s a. apply E_unit; [now apply after_good|now apply after_unit].
  - intros q a. apply (goodS_E eps N _ _ _ (after_step i q l a (Pp p w (tgt (tr A i))))).
    + now apply after_J.
    + intros s. now apply after_unit.
Qed.

Lemma Pp_unit p w q s a : good_word N w -> 0 <= Pp p w q s a <= 1.
Proof. intros Gw. now apply Pp_fine. Qed.
Lemma Pp_good p w q a : good_word N w -> goodS N (fun s => Pp p w q s a).
Proof. intros Gw. now apply (Pp_fine p w Gw). Qed.

Definition typically (q : nat) (a : feed) (s : store) (z : R) : Prop :=
  typical (atomless N) (ok N) (law_of (st A q)) (Q2R (d (st A q))) (input A q a + Q2R (mu (st A q))) s z.

(* Two transitions are never possible at once, but with probability 0. *)
Definition deterministic := forall q i j a s z, In i (leaving A q) -> In j (leaving A q) -> i <> j -> typically q a s z ->
  enabled (tr A i) s z = true -> enabled (tr A j) s z = true -> False.

Lemma atoms_true t s z a : enabled t s z = true -> In a (atoms t) -> true_of s z a.
Proof.
  rewrite enabled_iff. intros (H1 & H2 & H3) H. unfold atoms in H. rewrite !in_app_iff, !in_map_iff in H.
  destruct H as [(x & <- & H)|[(x & <- & H)|H]]; auto; unfold true_of, value; cbn; rewrite Q2R_0.
  - pose proof (H1 x H). lra.
  - pose proof (H2 x H). lra.
Qed.

Lemma value_minus s z v : value s z (minus v) = - value s z v.
Proof. unfold value, minus. cbn. rewrite Q2R_opp. destruct (negative v); simpl; lra. Qed.
Lemma place_eqb_spec p q : place_eqb p q = true -> p = q.
Proof. destruct p, q; simpl; try easy. intros H. now apply Nat.eqb_eq in H as ->. Qed.
Lemma same_place_spec v w s z : same_place v w = true -> value s z v - Q2R (plus v) = value s z w - Q2R (plus w).
Proof.
  unfold same_place. rewrite andb_true_iff. intros [H1 H2]. apply Bool.eqb_prop in H1. apply place_eqb_spec in H2.
  unfold value. rewrite H1, H2. lra.
Qed.

(* What the first transition that is possible shows, and what comes of it. *)
Definition first (l : list letter) (k : nat -> store -> feed -> R) (q : nat) (a : feed) (is : list nat) (s : store) (z : R) : R :=
  match find (fun i => enabled (tr A i) s z) is with
  | Some i => shows N A q (input A q a) (out (tr A i)) l s z * k i (upd s (tr A i) z) (rest A q i a)
  | None => 0
  end.
Lemma first_J l k q a is : Forall (good_letter N) l -> (forall i a, goodS N (fun s => k i s a)) -> goodJ N (first l k q a is).
Proof.
  intros Gl Gk. induction is as [|i is IH]; [exact (goodJ_const eps N 0)|].
  replace (first l k q a (i :: is)) with (fun s z => if enabled (tr A i) s z
    then shows N A q (input A q a) (out (tr A i)) l s z * k i (upd s (tr A i) z) (rest A q i a) else first l k q a is s z).
  - exact (goodJ_step eps N (tr A i) _ (fun s => k i s (rest A q i a)) _ (shows_good q _ (out (tr A i)) l Gl) (Gk _ _) IH).
  - apply functional_extensionality. intros s. apply functional_extensionality. intros z. unfold first. cbn [find].
    now destruct (enabled (tr A i) s z).
Qed.
Lemma first_unit l k q a is s : Forall (good_letter N) l -> (forall i s a, 0 <= k i s a <= 1) -> unit_fun (first l k q a is s).
Proof. intros Gl Uk z. unfold first. destruct (find _ _); [|lra]. apply prod_unit; [now apply shows_unit|apply Uk]. Qed.

Lemma Pr_fine w : good_word N w -> (forall q s a, 0 <= Pr N A w q s a <= 1) /\ (forall q a, goodS N (fun s => Pr N A w q s a)).
Proof.
  induction w as [|l w IH]; intros Gw; [split; intros; [simpl; lra|exact (goodS_const eps N 1)]|].
  inversion_clear Gw as [|? ? Gl Gw']. destruct (IH Gw') as [U Gd]. split.
  - intros q s a. apply (E_unit N _ _ _ (first l (fun i => Pr N A w (tgt (tr A i))) q a (leaving A q) s)).
    + apply (good_J eps N (first l (fun i => Pr N A w (tgt (tr A i))) q a (leaving A q))). now apply first_J.
    + now apply first_unit.
  - intros q a. apply (goodS_E eps N _ _ _ (first l (fun i => Pr N A w (tgt (tr A i))) q a (leaving A q))).
    + now apply first_J.
    + intros s. now apply first_unit.
Qed.

(* One transition at most is possible, typically. *)
Lemma first_sum l k q a s : deterministic -> Forall (good_letter N) l -> (forall i s a, 0 <= k i s a <= 1) ->
  (forall i a, goodS N (fun s => k i s a)) -> forall is, NoDup is -> incl is (leaving A q) ->
  E N (law_of (st A q)) (Q2R (d (st A q))) (input A q a + Q2R (mu (st A q))) (first l k q a is s) =
  sum (fun i => step i q s a l (k i)) is.
Proof.
  intros Det Gl Uk Gk. induction is as [|i is IH]; intros Nd Inc; [now apply E_zero|].
  inversion_clear Nd as [|? ? Ni Nd']. cbn [sum fold_right].
  set (others := fun s z => if enabled (tr A i) s z then 0 * 0 else first l k q a is s z).
  assert (Go : good N (others s)).
  { apply (good_J eps N others).
    exact (goodJ_step eps N (tr A i) (fun _ _ => 0) (fun _ => 0) _ (goodJ_const eps N 0) (goodS_const eps N 0) (first_J l k q a is Gl Gk)). }
  assert (Uf : forall is, unit_fun (first l k q a is s)) by (intros; now apply first_unit).
  assert (Gf : forall is, good N (first l k q a is s)) by (intros; now apply (good_J eps N (first l k q a _)), first_J).
  assert (Uo : unit_fun (others s)) by (intros z; unfold others; destruct (enabled _ _ _); [lra|apply Uf]).
  assert (Ga : good N (after_step i q l a (k i) s)) by now apply after_good.
  assert (Ua : unit_fun (after_step i q l a (k i) s)) by now apply after_unit.
  assert (Split : forall z, first l k q a (i :: is) s z = after_step i q l a (k i) s z + others s z).
  { intros z. unfold first at 1, after_step, others. cbn [find]. destruct (enabled _ _ _); [ring|]. fold (first l k q a is s z). ring. }
  rewrite (E_ext N _ _ _ _ (fun z => after_step i q l a (k i) s z + others s z)); auto.
  rewrite (E_plus eps N); auto.
  2: { intros z. rewrite <- Split. apply Uf. }
  unfold step at 1. f_equal. change (fold_right _ 0 is) with (sum (fun i => step i q s a l (k i)) is).
  rewrite <- IH; auto.
  2: { intros j Hj. apply Inc. now right. }
  apply (E_typical N _ _ _ s); auto. intros z Hz. unfold others. destruct (enabled (tr A i) s z) eqn:En; [|easy].
  unfold first. destruct (find _ is) as [j|] eqn:F; [|ring]. exfalso. apply find_some in F as [Fj Ej].
  apply (Det q i j a s z); auto; [apply Inc; now left|apply Inc; now right|now intros <-].
Qed.

(* Where what follows is a sum over paths, so is all. *)
Lemma first_paths : deterministic -> forall w l (ps : nat -> list (list nat)) (k : nat -> store -> feed -> R), good_word N w ->
  Forall (good_letter N) l -> (forall i s a, 0 <= k i s a <= 1) -> (forall i a, goodS N (fun s => k i s a)) -> forall q,
  (forall i s a, In i (leaving A q) -> k i s a = sum (fun p => Pp p w (tgt (tr A i)) s a) (ps i)) -> forall s a,
  E N (law_of (st A q)) (Q2R (d (st A q))) (input A q a + Q2R (mu (st A q))) (first l k q a (leaving A q) s)
  = sum (fun p => Pp p (l :: w) q s a) (flat_map (fun i => map (cons i) (ps i)) (leaving A q)).
Proof.
  intros Det w l ps k Gw Gl Uk Gk q Hk s a. rewrite sum_flat.
  rewrite (first_sum l k q a s Det Gl Uk Gk (leaving A q) (leaving_NoDup A q) (incl_refl _)).
  apply sum_ext. intros i Hi. rewrite sum_map. cbn [Pp].
  assert (Gp : forall p, good N (after_step i q l a (Pp p w (tgt (tr A i))) s)) by (intros; apply after_good; auto using Pp_good).
  assert (Up : forall p, unit_fun (after_step i q l a (Pp p w (tgt (tr A i))) s)) by (intros; apply after_unit; auto using Pp_unit).
  assert (G : forall z, after_step i q l a (k i) s z = sum (fun p => after_step i q l a (Pp p w (tgt (tr A i))) s z) (ps i)).
  { intros z. unfold after_step. destruct (enabled _ _ _).
    - rewrite Hk by easy. symmetry. apply sum_scal.
    - symmetry. now apply sum_0. }
  assert (Ui : unit_fun (after_step i q l a (k i) s)) by now apply after_unit.
  unfold step. rewrite (E_ext N _ _ _ _ _ (after_good i q s a l _ Gl (Gk _ _)) Ui G).
  apply E_sum; auto.
  - intros p z _. apply Up.
  - intros z. rewrite <- G. apply Ui.
Qed.

Lemma Pr_paths : deterministic -> forall w, good_word N w -> forall q s a,
  Pr N A w q s a = sum (fun p => Pp p w q s a) (paths (length w) q).
Proof.
  intros Det. induction w as [|l w IH]; intros Gw q s a; [simpl; lra|].
  inversion_clear Gw as [|? ? Gl Gw']. destruct (Pr_fine w Gw') as [Uw Gd].
  exact (first_paths Det w l (fun i => paths (length w) (tgt (tr A i))) (fun i => Pr N A w (tgt (tr A i))) Gw' Gl
    (fun i => Uw _) (fun i => Gd _) q (fun i s a _ => IH Gw' _ s a) s a).
Qed.

Lemma paths_chain n : forall q p, In p (paths n q) -> chain q p.
Proof.
  induction n as [|n IH]; intros q p; simpl; [now intros [<-|[]]|].
  rewrite in_flat_map. intros (i & Hi & H). apply in_map_iff in H as (p' & <- & H). simpl. auto.
Qed.

End Paths.

(* ---- a shift between floors and ceilings that is nearest to the difference ---- *)

Definition nearest (F C : list R) (D : R) : R := fold_right Rmax (fold_right Rmin D C) F.

Lemma fold_Rmin_le C D c : In c C -> fold_right Rmin D C <= c.
Proof.
  induction C as [|a C IH]; simpl; [easy|]. intros [->|H]; [apply Rmin_l|].
  eapply Rle_trans; [apply Rmin_r|auto].
Qed.
Lemma fold_Rmin_le0 C D : fold_right Rmin D C <= D.
Proof. induction C; simpl; [lra|]. eapply Rle_trans; [apply Rmin_r|auto]. Qed.
Lemma fold_Rmin_ge C D b : b <= D -> (forall c, In c C -> b <= c) -> b <= fold_right Rmin D C.
Proof. induction C; simpl; intros H H'; auto. apply Rmin_glb; auto. Qed.
Lemma fold_Rmax_ge F D f : In f F -> f <= fold_right Rmax D F.
Proof.
  induction F as [|a F IH]; simpl; [easy|]. intros [->|H]; [apply Rmax_l|].
  eapply Rle_trans; [|apply Rmax_r]. auto.
Qed.
Lemma fold_Rmax_ge0 F D : D <= fold_right Rmax D F.
Proof. induction F; simpl; [lra|]. eapply Rle_trans; [eassumption|apply Rmax_r]. Qed.
Lemma fold_Rmax_le F D b : D <= b -> (forall f, In f F -> f <= b) -> fold_right Rmax D F <= b.
Proof. induction F; simpl; intros H H'; auto. apply Rmax_lub; auto. Qed.

Lemma nearest_spec F C D : (forall f c, In f F -> In c C -> f <= c) ->
  (forall f, In f F -> f <= nearest F C D) /\ (forall c, In c C -> nearest F C D <= c) /\
  (forall M, 0 <= M -> (forall f, In f F -> f - D <= M) -> (forall c, In c C -> D - c <= M) -> Rabs (nearest F C D - D) <= M).
Proof.
  intros H. unfold nearest. split; [|split].
  - intros f Hf. now apply fold_Rmax_ge.
  - intros c Hc. apply fold_Rmax_le; auto. now apply fold_Rmin_le.
  - intros M HM HF HC.
    assert (fold_right Rmax (fold_right Rmin D C) F <= D + M).
    { apply fold_Rmax_le; [pose proof (fold_Rmin_le0 C D); lra|]. intros f Hf. specialize (HF f Hf). lra. }
    assert (D - M <= fold_right Rmin D C).
    { apply fold_Rmin_ge; [lra|]. intros c Hc. specialize (HC c Hc). lra. }
    pose proof (fold_Rmax_ge0 F (fold_right Rmin D C)).
    apply Rabs_le. lra.
Qed.

Lemma nearest_ok (P : R -> Prop) F C D : P D -> (forall x, In x F -> P x) -> (forall x, In x C -> P x) -> P (nearest F C D).
Proof.
  intros HD HF HC. unfold nearest.
  assert (P (fold_right Rmin D C)) as H.
  { clear HF. induction C; simpl; auto. unfold Rmin at 1. destruct (Rle_dec _ _); auto using in_eq, in_cons. }
  induction F; simpl; auto. unfold Rmax at 1. destruct (Rle_dec _ _); auto using in_eq, in_cons.
Qed.

Lemma affine_between a b lo hi x P : lo <= x <= hi -> a * lo + b <= P -> a * hi + b <= P -> a * x + b <= P.
Proof. intros. destruct (Rle_dec 0 a); nra. Qed.
