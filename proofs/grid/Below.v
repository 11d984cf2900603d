(* A run that the checker accepts shows that nothing less than its D will do, for noise on a grid.
   Inputs x + tau*delta make the run so rare, as tau grows, that of two neighbours one must differ by as much as D says. *)
From Coq Require Import Reals QArith Qreals ZArith List Bool Arith Lra Lia Classical FunctionalExtensionality FinFun.
From Symdipa.Core Require Import Model Lookup Checker Paths Cover Ways Runs.
From Symdipa.Grid Require Import Laplace Grid Tails.
Import ListNotations.
Open Scope R_scope.

Local Lemma exp_mono x y : x <= y -> exp x <= exp y.
Proof. intros [H|H]; [left; now apply exp_increasing|right; now subst]. Qed.

(* ---- Rational numbers ---- *)

Lemma Q2R_red q : Q2R (Qred q) = Q2R q.
Proof. apply Qeq_eqR, Qred_correct. Qed.
Definition real (s : numbers_of) : store := fun x => Q2R (getQ s x).

Lemma real_nil : real [] = fun _ => 0.
Proof. apply functional_extensionality. intros x. unfold real. simpl. apply Q2R_0. Qed.

Lemma value_real s z v : Q2R (valueQ s z v) = value (real s) (Q2R z) v.
Proof.
  unfold valueQ, value. rewrite Q2R_plus. f_equal.
  assert (H : Q2R (heldQ s z (whence v)) = held (real s) (Q2R z) (whence v)) by (unfold heldQ, held; destruct (whence v); [apply Q2R_0|easy|easy]).
  destruct (negative v); rewrite ?Q2R_opp, H; reflexivity.
Qed.

Lemma lookup_app {X} x (l l' : list (nat * X)) : lookup x (l ++ l') = match lookup x l with Some v => Some v | None => lookup x l' end.
Proof. induction l as [|[y v] l IH]; simpl; [easy|]. now destruct (Nat.eqb x y). Qed.
Lemma lookup_filter {X} x (f : nat -> bool) (l : list (nat * X)) : f x = true -> lookup x (filter (fun p => f (fst p)) l) = lookup x l.
Proof.
  intros H. induction l as [|[y v] l IH]; simpl; [easy|]. destruct (f y) eqn:F; simpl; destruct (Nat.eqb_spec x y) as [->|]; auto. congruence.
Qed.
Lemma lookup_map {X Y} x (h : nat * X -> Y) (l : list (nat * X)) :
  lookup x (map (fun p => (fst p, h p)) l) = match lookup x l with Some v => Some (h (x, v)) | None => None end.
Proof. induction l as [|[y v] l IH]; simpl; [easy|]. destruct (Nat.eqb_spec x y) as [->|]; auto. Qed.
Lemma lookup_same x (z : Q) l : lookup x (map (fun y => (y, z)) l) = if mem x l then Some z else None.
Proof.
  induction l as [|y l IH]; simpl; [easy|]. unfold mem. simpl. destruct (Nat.eqb x y); simpl; auto.
Qed.

Lemma upd_real s t z : real (updQ s t z) = upd (real s) t (Q2R z).
Proof.
  apply functional_extensionality. intros x. unfold real at 1, getQ, updQ, upd. rewrite lookup_app, lookup_same.
  destruct (mem x (asg t)) eqn:M; [easy|]. rewrite lookup_app, (lookup_map x (fun p => valueQ s z (snd p))).
  destruct (lookup x (copies t)) as [v|] eqn:C; [apply value_real|].
  rewrite (lookup_filter x (fun y => negb (mem y (gets t)))); [easy|]. apply negb_true_iff, mem_false. unfold gets. rewrite in_app_iff.
  intros [H|H]; [apply mem_In in H; congruence|now apply lookup_None in C].
Qed.
Lemma set_real l e r : real (setQ l e r) = set_registers l (Q2R e) (real r).
Proof.
  apply functional_extensionality. intros x. unfold real at 1, getQ, setQ, set_registers. rewrite lookup_app.
  rewrite (lookup_map x (fun p => Qred (match from (snd p) with Some y => getQ r y | None => 0 end + (if adds (snd p) then e else 0)))).
  destruct (lookup x l) as [u|] eqn:C.
  - cbn [snd]. rewrite Q2R_red, Q2R_plus. f_equal; [destruct (from u)|destruct (adds u)]; rewrite ?Q2R_0; reflexivity.
  - rewrite (lookup_filter x (fun y => negb (mem y (map fst l)))); [easy|]. apply negb_true_iff, mem_false. now apply lookup_None.
Qed.
Lemma weighed_real l r : Q2R (weighedQ l r) = weighed l (real r).
Proof.
  induction l as [|[x f] l IH]; cbn [weighedQ weighed fold_right fst snd]; [apply Q2R_0|].
  fold (weighedQ l r). fold (weighed l (real r)). rewrite Q2R_red, Q2R_plus, Q2R_mult, IH. reflexivity.
Qed.

Lemma atom_real s z a : atom_holds s z a = true -> true_of (real s) (Q2R z) a.
Proof.
  unfold atom_holds, true_of. rewrite <- !value_real. destruct (strict a); intros H; [now apply Qlt_R|now apply Qle_R].
Qed.
Lemma atoms_enabled t s z : (forall a, In a (atoms t) -> true_of s z a) -> enabled t s z = true.
Proof.
  intros H. apply enabled_iff. unfold atoms in H. split; [|split]; intros x Hx.
  - assert (Hin := H {| low := Term false (Held x) 0; high := insample; strict := false |}
      ltac:(rewrite !in_app_iff; left; apply in_map_iff; eauto)). unfold true_of, value in Hin. cbn in Hin. rewrite Q2R_0 in Hin. lra.
  - assert (Hin := H {| low := insample; high := Term false (Held x) 0; strict := true |}
      ltac:(rewrite !in_app_iff; right; left; apply in_map_iff; eauto)). unfold true_of, value in Hin. cbn in Hin. rewrite Q2R_0 in Hin. lra.
  - apply H. rewrite !in_app_iff. auto.
Qed.

(* ---- Sums of what is stored ---- *)

Definition total (l : numbers_of) (s : store) : R := fold_right (fun p m => Q2R (snd p) * s (fst p) + m) 0 l.
Definition total_at (L : linear) (s : store) (z : R) : R := total (fst L) s + Q2R (snd L) * z.

Lemma total_plus x w l s : total (plus_at x w l) s = Q2R w * s x + total l s.
Proof.
  induction l as [|[y v] l IH]; cbn [plus_at total fold_right fst snd]; [lra|]. fold (total l s).
  destruct (Nat.eqb_spec x y) as [->|]; cbn [total fold_right fst snd].
  - fold (total l s). rewrite Q2R_red, Q2R_plus. lra.
  - fold (total (plus_at x w l) s). rewrite IH. lra.
Qed.
(* Terms count without their constants. *)
Definition bare (s : store) (z : R) (v : term) : R := value s z v - Q2R (plus v).
Lemma total_term w v L s z : total_at (add_term w v L) s z = Q2R w * bare s z v + total_at L s z.
Proof.
  unfold add_term, bare, value, total_at. destruct (whence v); cbn [fst snd held];
  rewrite ?total_plus, ?Q2R_red, ?Q2R_plus; destruct (negative v); rewrite ?Q2R_opp; lra.
Qed.

(* What is stored after a step, but for a constant. *)
Lemma total_pulled t l : exists K, forall s z, total l (upd s t z) = total_at (pulled t l) s z + K.
Proof.
  induction l as [|[x w] l [K IH]]; cbn [pulled total fold_right fst snd].
  - exists 0. intros s z. unfold total_at. simpl. rewrite Q2R_0. lra.
  - fold (pulled t l). assert (T : forall s z, fold_right (fun p m => Q2R (snd p) * upd s t z (fst p) + m) 0 l = total l (upd s t z)) by easy.
    destruct (mem x (asg t)) eqn:M; [|destruct (lookup x (copies t)) as [v|] eqn:Cv].
    + exists K. intros s z. rewrite T, IH. unfold upd at 1. rewrite M. unfold total_at. cbn [fst snd]. rewrite Q2R_red, Q2R_plus. lra.
    + exists (K + Q2R w * Q2R (plus v)). intros s z. rewrite T, IH, total_term. unfold bare, upd at 1. rewrite M, Cv. lra.
    + exists K. intros s z. rewrite T, IH. unfold total_at, upd at 1. cbn [fst snd]. rewrite M, Cv, total_plus. lra.
Qed.

(* What comparisons that hold, and numbers that are shown, say of their weighted sum. *)
Lemma total_atoms l L : Forall (fun p => Qle_bool 0 (snd p) = true) l ->
  exists K, forall s z, (forall a, In a (map fst l) -> true_of s z a) -> total_at (add_atoms l L) s z <= total_at L s z + K.
Proof.
  induction l as [|[a w] l IH]; intros HF; cbn [add_atoms fold_right map].
  - exists 0. intros. lra.
  - inversion_clear HF as [|? ? Hw HF']. destruct (IH HF') as [K HK]. cbn [fst snd] in *. apply Qle_R in Hw. rewrite Q2R_0 in Hw.
    exists (K + Q2R w * (Q2R (plus (high a)) - Q2R (plus (low a)))). intros s z H. fold (add_atoms l L). rewrite !total_term, Q2R_opp.
    pose proof (HK s z ltac:(intros b Hb; apply H; now right)) as B. pose proof (H a ltac:(now left)) as Ha. unfold true_of in Ha. unfold bare.
    assert (value s z (low a) <= value s z (high a)) by (destruct (strict a); lra).
    assert (0 <= Q2R w * (value s z (high a) - value s z (low a))) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma total_items l L (b : item -> R) :
  exists K, forall s z, (forall u v, In (Number u v) (map fst l) -> value s z u - value s z v = b (Number u v)) ->
  total_at (add_items l L) s z = total_at L s z + K.
Proof.
  induction l as [|[i w] l [K IH]]; cbn [add_items fold_right map].
  - exists 0. intros. lra.
  - fold (add_items l L). cbn [fst snd]. destruct i as [x|u v|].
    + exists K. intros s z H. apply IH. intros u v Huv. apply H. now right.
    + exists (K + Q2R w * (b (Number u v) - Q2R (plus u) + Q2R (plus v))). intros s z H. rewrite !total_term, Q2R_opp.
      rewrite IH by (intros u' v' Huv; apply H; now right). pose proof (H u v ltac:(now left)). unfold bare.
      replace (b (Number u v)) with (value s z u - value s z v) by easy. lra.
    + exists K. intros s z H. apply IH. intros u v Huv. apply H. now right.
Qed.

Lemma combine_incl {X Y} (l : list X) (l' : list Y) x : In x (map fst (combine l l')) -> In x l.
Proof. intros H. apply in_map_iff in H as ([a b] & <- & H). now apply in_combine_l in H. Qed.

(* ---- What is observed of the run ---- *)

Definition equal_b (x y : R) : bool := if Req_EM_T x y then true else false.
Definition seen (s : numbers_of) (z z' : Q) (i : item) : letter :=
  match i with
  | Sym x => LSym x
  | Number a b => LReal (fun r => equal_b r (Q2R (valueQ s z a) - Q2R (valueQ s z b)))
  | Other => LReal (fun r => equal_b r (Q2R z'))
  end.

Lemma alike_shows {eps} (N : noise eps) A q m s z z' o : forall o' st y, alike o' o = false -> shows N A q m o' (map (seen s z z') o) st y = 0.
Proof.
  induction o as [|i o IH]; intros [|i' o'] st y; simpl; try easy. rewrite andb_false_iff. intros [H|H].
  - destruct i, i'; simpl in *; try easy; rewrite ?H; simpl; lra.
  - rewrite IH by easy. lra.
Qed.

(* Inputs that are multiples of 1/n (those that are [near] them are, too). *)
Definition on_multiples (n : positive) (alpha : nat -> R) := forall i, multiple (width n) (alpha i).

Section Run.
Variables (n : positive) (eps : R) (Heps : 0 < eps) (A : automaton) (H0 : hints).
Local Notation V := (plain A H0).
Local Notation N := (noise_on n eps Heps).
Local Notation P := (Pp N A).
Let g := width n.

Fixpoint word (run : list rstep) (s : numbers_of) : list (list letter) :=
  match run with
  | [] => []
  | c :: run' => let t := tr A (taken c) in map (seen s (drawn c) (drawn' c)) (out t) :: word run' (updQ s t (drawn c))
  end.

Lemma good_any w : good_word N w.
Proof. apply all_good. Qed.
Lemma good_letters l : Forall (good_letter N) l.
Proof. exact (Forall_inv (good_any [l])). Qed.

(* -- the run is possible -- *)

Lemma can_be_real l dd m z : can_beQ n l dd m z = true -> can_be g l (Q2R dd) (Q2R m) (Q2R z).
Proof.
  assert (Neg : Qle_bool dd 0 = true -> ~ 0 < Q2R dd) by (intros H; apply Qle_R in H; rewrite Q2R_0 in H; lra).
  assert (Pos : Qle_bool dd 0 = false -> 0 < Q2R dd).
  { intros H. apply Rnot_le_lt. intros L. rewrite <- Q2R_0 in L. apply Rle_Qle in L. apply Qle_bool_iff in L. congruence. }
  assert (Grid : on_grid n (z - m) = true -> multiple g (Q2R z - Q2R m)) by (intros H; rewrite <- Q2R_minus; now apply on_grid_multiple).
  assert (Same : Qeq_bool z m = true -> Q2R z = Q2R m) by (intros H; now apply Qeq_bool_iff, Qeq_eqR in H).
  unfold can_beQ, can_be. destruct l; auto; destruct (Qle_bool dd 0) eqn:L; destruct (Rlt_dec 0 (Q2R dd)) as [r|r]; auto;
  try (exfalso; apply (Neg eq_refl); exact r); try (exfalso; apply r; exact (Pos eq_refl)).
  rewrite andb_true_iff. intros [H1 H2]. split; [auto|now apply Qle_R].
Qed.

(* The streams of entries of a run: those that it reads, then 0. *)
Fixpoint entries_of (f : rstep -> Q) (run : list rstep) : list Q :=
  match run with
  | [] => []
  | c :: run' => if reads (st A (src (tr A (taken c)))) then f c :: entries_of f run' else entries_of f run'
  end.
Definition stream_of (f : rstep -> Q) (run : list rstep) : stream := fun k => Q2R (nth k (entries_of f run) 0%Q).

Lemma stream_step f c run r :
  entry A (src (tr A (taken c))) (stream_of f (c :: run), r) = Q2R (read_of V c (f c)) /\
  rest A (src (tr A (taken c))) (taken c) (stream_of f (c :: run), r) =
    (stream_of f run, set_registers (sets (tr A (taken c))) (Q2R (read_of V c (f c))) r).
Proof.
  unfold rest, entry, read_of, stream_of. cbn [tr_of st_of plain fst snd entries_of].
  destruct (reads (st A (src (tr A (taken c))))); cbn [nth]; split; rewrite ?Q2R_0; reflexivity.
Qed.

Lemma ind_equal x : ind (equal_b x x) = 1.
Proof. unfold equal_b. now destruct (Req_EM_T x x). Qed.
Lemma unit_ind B : unit_fun (fun y => ind (B y)).
Proof. intros y. apply ind_unit. Qed.

Lemma shows_positive q m s z z' o : (In Other o -> can_be g (law_of' (st A q)) (Q2R (d' (st A q))) (m + Q2R (mu' (st A q))) (Q2R z')) ->
  0 < shows N A q m o (map (seen s z z') o) (real s) (Q2R z).
Proof.
  induction o as [|i o IH]; intros Ho; cbn [map shows]; [lra|]. apply Rmult_lt_0_compat; [|apply IH; intros H; apply Ho; now right].
  destruct i as [x|a b|]; cbn [seen shows_item].
  - rewrite Nat.eqb_refl. simpl. lra.
  - rewrite <- !value_real, ind_equal. lra.
  - apply (possible_value g eps (width_pos n) Heps _ _ _ (Q2R z')); [apply unit_ind|apply Ho; now left|]. rewrite ind_equal. lra.
Qed.

Lemma possible_positive run : forall q s r, possible n A V run q s r = true ->
  chain A q (map taken run) /\ 0 < P (map taken run) (word run s) q (real s) (stream_of entry_at run, real r).
Proof.
  induction run as [|c run IH]; intros q s r; cbn [possible map word Pp chain]; [intros _; split; [easy|lra]|].
  cbv zeta. see_goal. rewrite !andb_true_iff. intros [[[[[H1 H2] H3] H4] H5] H6]. apply Nat.ltb_lt in H1. apply Nat.eqb_eq in H2.
  set (i := taken c) in *. subst q. set (q := src (tr A i)) in *. set (t := tr A i) in *.
  destruct (IH _ _ _ H6) as [Hc Hp]. assert (Hi : In i (leaving A q)) by (apply leaving_In; auto).
  split; [easy|]. unfold step. set (a := (stream_of entry_at (c :: run), real r)).
  destruct (stream_step entry_at c run (real r)) as [Ea Ra]. fold i in Ea, Ra. fold t in Ea, Ra. fold q a in Ea, Ra.
  assert (Em : input A q a = Q2R (Qred (read_of V c (entry_at c) + weighedQ (factors (st A q)) r))).
  { unfold input. rewrite Ea, Q2R_red, Q2R_plus, weighed_real. reflexivity. }
  assert (U : unit_fun (after_step N A i q (map (seen s (drawn c) (drawn' c)) (out t)) a (P (map taken run) (word run (updQ s t (drawn c))) (tgt t)) (real s))).
  { apply after_unit; [apply good_letters|intros; apply Pp_unit, good_any]. }
  apply (possible_value g eps (width_pos n) Heps _ _ _ (Q2R (drawn c))); [exact U| |].
  - rewrite Em, <- Q2R_plus. now apply can_be_real.
  - unfold after_step. fold t. rewrite atoms_enabled.
    2: { intros b Hb. apply atom_real. rewrite forallb_forall in H5. auto. }
    apply Rmult_lt_0_compat.
    + apply shows_positive. intros Ho. apply orb_true_iff in H4 as [H4|H4].
      * apply negb_true_iff in H4. assert (shows_other t = true) by (apply existsb_exists; exists Other; auto). congruence.
      * rewrite Em, <- Q2R_plus. now apply can_be_real.
    + rewrite Ra, <- upd_real, <- set_real. exact Hp.
Qed.

(* -- how rare it is -- *)

Fixpoint pulling (run : list rstep) (ks : list (R * R)) (a : feed) : R :=
  match run, ks with
  | c :: run', k :: ks' => let i := taken c in let q := src (tr A i) in
      (fst k + snd k) * input A q a + pulling run' ks' (rest A q i a)
  | _, _ => 0
  end.
(* The same multiples, times a number. *)
Definition times (x : R) (ks : list (Q * Q)) : list (R * R) := map (fun k => (x * Q2R (fst k), x * Q2R (snd k))) ks.

Lemma pulling_gap run : forall ks a b, pulling run ks (gap a b) = pulling run ks a - pulling run ks b.
Proof.
  induction run as [|c run IH]; intros [|k ks] a b; cbn [pulling]; try lra. cbv zeta. rewrite input_gap, rest_gap, IH. lra.
Qed.
Lemma pulling_mixed run la : forall ks a b, pulling run ks (mixed_feed la a b) = la * pulling run ks a + (1 - la) * pulling run ks b.
Proof.
  induction run as [|c run IH]; intros [|k ks] a b; cbn [pulling]; try lra. cbv zeta. rewrite input_mixed, rest_mixed, IH. lra.
Qed.
Lemma pulling_worth x run : forall ks r, pulling run (times x ks) (stream_of more run, real r) = x * Q2R (worth V run ks r).
Proof.
  induction run as [|c run IH]; intros [|k ks] r; cbn [pulling worth times map]; try (rewrite Q2R_0; lra). cbv zeta. see_goal.
  destruct (stream_step more c run (real r)) as [E R']. fold (times x ks). rewrite R', <- set_real, IH. unfold input. rewrite E. cbn [fst snd].
  rewrite <- weighed_real, Q2R_red, Q2R_plus, Q2R_mult, !Q2R_plus. ring.
Qed.

Lemma within_real l dd k : withinQ l dd k = true -> within l (Q2R dd) (Q2R k).
Proof.
  unfold withinQ, within. destruct l; rewrite ?andb_true_iff; auto.
  - intros [H1 H2]. apply Qle_R in H1, H2. rewrite Q2R_opp in H1. lra.
  - intros H. apply Qle_R in H. rewrite Q2R_opp in H. lra.
Qed.

Lemma pulled_none l : existsb is_other (map fst l) = false -> Q2R (pulled' l) = 0.
Proof.
  induction l as [|[i w] l IH]; simpl; [intros _; apply Q2R_0|]. rewrite orb_false_iff. intros [H1 H2]. rewrite H1. auto.
Qed.

Lemma shows_numbers q m s z z' f y : forall o, shows N A q m o (map (seen s z z') o) f y <> 0 ->
  forall u v, In (Number u v) o -> value f y u - value f y v = Q2R (valueQ s z u) - Q2R (valueQ s z v).
Proof.
  induction o as [|i o IH]; cbn [map shows]; [easy|]. intros H u v [->|Hin].
  - cbn [seen shows_item] in H. unfold equal_b in H. destruct (Req_EM_T _ _) as [E|E]; [exact E|]. simpl in H. exfalso. apply H. ring.
  - apply IH; auto. intros E. apply H. rewrite E. ring.
Qed.

Lemma shows_second q m s z z' f y : forall o, In Other o ->
  shows N A q m o (map (seen s z z') o) f y <= E N (law_of' (st A q)) (Q2R (d' (st A q))) (m + Q2R (mu' (st A q))) (fun x => ind (equal_b x (Q2R z'))).
Proof.
  induction o as [|i o IH]; [easy|]. intros Hin. cbn [map shows].
  pose proof (item_unit N A q m i (seen s z z' i) f y ltac:(destruct i; simpl; auto)) as U.
  pose proof (shows_unit N A q m o (map (seen s z z') o) f y ltac:(apply good_letters)) as U'.
  destruct Hin as [->|Hin].
  - cbn [seen shows_item] in *. rewrite <- Rmult_1_r. apply Rmult_le_compat_l; lra.
  - specialize (IH Hin). eapply Rle_trans; [|exact IH]. rewrite <- Rmult_1_l. apply Rmult_le_compat_r; lra.
Qed.

Section Rare.
Variable te : R.
Hypothesis Te : 0 < te.

(* The density falls more steeply than a multiple of the sample. *)
Definition falls (l : law) (dd k : R) : Prop := exists M, 0 < M /\
  forall m B, 0 <= B -> E N l dd m (fun z => Rmin 1 (B * exp (- (te * k) * (z - m)))) <= M * B.

Lemma shows_rare q s c k : (shows_other (tr A (taken c)) = true -> falls (law_of' (st A q)) (Q2R (d' (st A q))) k) ->
  (shows_other (tr A (taken c)) = false -> k = 0) ->
  exists M, 0 < M /\ forall f y m,
    shows N A q m (out (tr A (taken c))) (map (seen s (drawn c) (drawn' c)) (out (tr A (taken c)))) f y <= M * exp (- te * (k * m)).
Proof.
  intros Hw H0'. set (t := tr A (taken c)) in *. destruct (shows_other t) eqn:Ex.
  - destruct (Hw eq_refl) as (M & HM & T).
    set (b := Q2R (drawn' c)). set (m' := Q2R (mu' (st A q))).
    exists (M * exp (- te * (k * (m' - b)))). split; [apply Rmult_lt_0_compat; [easy|apply exp_pos]|]. intros f y m.
    assert (Ho : In Other (out t)) by (apply existsb_exists in Ex as (x & Hx & Ox); now destruct x).
    eapply Rle_trans; [now apply shows_second|].
    specialize (T (m + m') (exp (- te * (k * (m + m' - b)))) ltac:(left; apply exp_pos)).
    assert (Le : E N (law_of' (st A q)) (Q2R (d' (st A q))) (m + m') (fun x => ind (equal_b x b)) <= M * exp (- te * (k * (m + m' - b)))).
    { eapply Rle_trans; [|exact T]. apply (E_le N); try exact I; [apply unit_ind|apply min_exp_unit; left; apply exp_pos|].
      intros x. unfold equal_b. destruct (Req_EM_T x b) as [->|]; simpl.
      - rewrite <- exp_plus. replace (_ + _) with 0 by ring. rewrite exp_0. unfold Rmin. destruct (Rle_dec 1 1); lra.
      - apply (min_exp_unit _ (fun z => - (te * k) * (z - (m + m')))). left; apply exp_pos. }
    unfold m', b in Le |- *. eapply Rle_trans; [exact Le|]. right. rewrite Rmult_assoc, <- exp_plus. f_equal. f_equal. ring.
  - exists 1. split; [lra|]. intros f y m. rewrite (H0' eq_refl).
    replace (- te * (0 * m)) with 0 by ring. rewrite exp_0. apply Rle_trans with 1; [|lra].
    apply shows_unit, good_letters.
Qed.

(* With the multiples k of its samples a step leads from one function of what is stored to another one, but for a constant. *)
Definition slopes (c : rstep) (k : R * R) (L L' : store -> R) : Prop :=
  let t := tr A (taken c) in
  let s := st A (src t) in
  falls (law_of s) (Q2R (d s)) (fst k) /\ (shows_other t = true -> falls (law_of' s) (Q2R (d' s)) (snd k)) /\
  (shows_other t = false -> snd k = 0) /\
  forall s, exists K, forall f z, (forall a, In a (atoms t) -> true_of f z a) ->
    (forall u v, In (Number u v) (out t) -> value f z u - value f z v = Q2R (valueQ s (drawn c) u) - Q2R (valueQ s (drawn c) v)) ->
    L f + fst k * z <= L' (upd f t z) + K.
Fixpoint sloped (run : list rstep) (ks : list (R * R)) (L L1 : store -> R) : Prop :=
  match run, ks with
  | [], [] => forall f, L f = L1 f
  | c :: run', k :: ks' => exists L', slopes c k L L' /\ sloped run' ks' L' L1
  | _, _ => False
  end.

Lemma sloped_app run ks run' ks' L1 L2 : forall L, sloped run ks L L1 -> sloped run' ks' L1 L2 -> sloped (run ++ run') (ks ++ ks') L L2.
Proof.
  revert ks. induction run as [|c run IH]; intros [|k ks] L; cbn [sloped app]; try easy.
  - intros E S. assert (L = L1) as -> by now apply functional_extensionality. exact S.
  - intros (L' & Sc & S) S'. exists L'. split; [easy|]. now apply IH.
Qed.

Lemma rare run : forall ks L L1 s q, sloped run ks L L1 -> (forall f, L1 f = 0) -> chain A q (map taken run) ->
  exists M, 0 < M /\ forall f a, P (map taken run) (word run s) q f a <= M * exp (- te * (L f + pulling run ks a)).
Proof.
  induction run as [|c run IH]; intros [|k ks] L L1 s q; cbn [sloped map word Pp chain]; try easy.
  - intros Hl Hz _. exists 1. split; [lra|]. intros f a. cbn [pulling]. rewrite Hl, Hz. replace (- te * (0 + 0)) with 0 by ring. rewrite exp_0. lra.
  - intros (L' & (F1 & F2 & F3 & Sum) & Sl) Hz [Hi Hc].
    set (i := taken c) in *. pose proof (proj2 (proj1 (leaving_In A q i) Hi)) as Hq. set (t := tr A i) in *. rewrite Hq in F1, F2.
    set (s' := updQ s t (drawn c)).
    destruct (IH ks L' L1 s' (tgt t) Sl Hz Hc) as (M1 & P1 & R1).
    destruct (shows_rare q s c (snd k) F2 F3) as (M2 & P2 & R2). fold i in R2. fold t in R2.
    destruct F1 as (M3 & P3 & R3). destruct (Sum s) as [K HK]. clear Sum.
    set (k1 := fst k) in *. set (k2 := snd k) in *.
    exists (M3 * (M2 * M1 * exp (te * K) * exp (- te * (k1 * Q2R (mu (st A q)))))).
    split; [repeat apply Rmult_lt_0_compat; auto; apply exp_pos|]. intros f a.
    set (m := input A q a + Q2R (mu (st A q))).
    set (Bc := M2 * M1 * exp (te * K) * exp (- te * (L f + k1 * m + k2 * input A q a + pulling run ks (rest A q i a)))).
    assert (HB : 0 <= Bc) by (unfold Bc; left; repeat apply Rmult_lt_0_compat; auto; apply exp_pos).
    eapply Rle_trans with (M3 * Bc).
    + eapply Rle_trans; [|apply (R3 m Bc HB)]. unfold step. fold t.
      assert (U : unit_fun (after_step N A i q (map (seen s (drawn c) (drawn' c)) (out t)) a (P (map taken run) (word run s') (tgt t)) f)).
      { apply after_unit; [apply good_letters|intros; apply Pp_unit, good_any]. }
      apply (E_le N); try exact I; [exact U|now apply min_exp_unit|].
      intros z. unfold Rmin. destruct (Rle_dec 1 _) as [|_]; [apply U|].
      unfold after_step. fold t. destruct (enabled t f z) eqn:En; [|apply Rmult_le_pos; [easy|left; apply exp_pos]].
      pose proof (shows_unit N A q (input A q a) (out t) (map (seen s (drawn c) (drawn' c)) (out t)) f z (good_letters _)) as Us.
      pose proof (Pp_unit N A (map taken run) (word run s') (tgt t) (upd f t z) (rest A q i a) (good_any _)) as Up.
      destruct (Req_dec (shows N A q (input A q a) (out t) (map (seen s (drawn c) (drawn' c)) (out t)) f z) 0) as [E0|Ne].
      { rewrite E0, Rmult_0_l. apply Rmult_le_pos; [easy|left; apply exp_pos]. }
      pose proof (HK f z ltac:(intros b Hb; now apply (atoms_true t f z b En)) (shows_numbers q _ s (drawn c) (drawn' c) f z _ Ne)) as Sm.
      pose proof (R2 f z (input A q a)) as B2. pose proof (R1 (upd f t z) (rest A q i a)) as B1.
      eapply Rle_trans; [apply Rmult_le_compat; [apply Us|apply Up|exact B2|exact B1]|].
      unfold Bc.
      match goal with |- M2 * ?x * (M1 * ?y) <= M2 * M1 * ?u * ?v * ?w =>
        replace (M2 * x * (M1 * y)) with ((M2 * M1) * (x * y)) by ring; replace (M2 * M1 * u * v * w) with ((M2 * M1) * (u * v * w)) by ring end.
      apply Rmult_le_compat_l; [left; now apply Rmult_lt_0_compat|]. rewrite <- !exp_plus. apply exp_mono.
      assert (G : L f + k1 * z + pulling run ks (rest A q i a) - K <= L' (upd f t z) + pulling run ks (rest A q i a)) by lra.
      apply (Rmult_le_compat_l te) in G; [|lra]. lra.
    + right. unfold Bc. cbn [pulling]. cbv zeta. fold i. fold t. rewrite Hq. fold k1 k2.
      replace (L f + k1 * m + k2 * input A q a + pulling run ks (rest A q i a)) with
        (k1 * Q2R (mu (st A q)) + (L f + ((k1 + k2) * input A q a + pulling run ks (rest A q i a)))) by (unfold m; ring).
      rewrite (Rmult_plus_distr_l (- te)), exp_plus. ring.
Qed.

(* The samples of a step, for multiples times x; no weight is negative. *)
Definition step_falls (x : R) (p : rstep * (Q * Q)) : Prop :=
  let s := st A (src (tr A (taken (fst p)))) in
  falls (law_of s) (Q2R (d s)) (x * Q2R (fst (snd p))) /\
  (shows_other (tr A (taken (fst p))) = true -> falls (law_of' s) (Q2R (d' s)) (x * Q2R (snd (snd p)))) /\
  forallb (Qle_bool 0) (weights (fst p)) = true.

(* What the checker adds up along a run are such functions, besides one that the run does not change. *)
Lemma back_sloped x X run : 0 <= x -> (forall c f z, In c run -> X (upd f (tr A (taken c)) z) = X f) ->
  forall l0 l ks, back V run l0 = (l, ks) -> (forall p, In p (combine run ks) -> step_falls x p) ->
  sloped run (times x ks) (fun f => X f + x * total l f) (fun f => X f + x * total l0 f).
Proof.
  intros Hx. induction run as [|c run IH]; intros HX l0 l ks; cbn [back].
  - intros H. inversion H. intros _. cbn [times map sloped]. easy.
  - destruct (back V run l0) as [l1 ks1] eqn:B. destruct (stepped V c l1) as [l2 k] eqn:St. intros H. inversion H; subst l ks; clear H.
    intros HF. cbn [times map sloped fst snd]. exists (fun f => X f + x * total l1 f).
    split; [|apply (IH ltac:(intros; apply HX; now right) l0 l1 ks1 B); intros p Hp; apply HF; now right].
    destruct (HF (c, (k, steep' V c)) ltac:(now left)) as (F1 & F2 & Wp). cbn [fst snd] in *.
    set (i := taken c) in *. set (t := tr A i) in *. unfold slopes. cbn [fst snd]. fold i. fold t.
    split; [easy|split; [easy|split]].
    + intros Ns. unfold steep'. see_goal. fold i. fold t. rewrite pulled_none; [ring|].
      destruct (existsb is_other (map fst (combine (out t) (pulls c)))) eqn:Ex'; [|easy].
      apply existsb_exists in Ex' as (j & Hj & Oj). apply combine_incl in Hj.
      assert (shows_other t = true) by (apply existsb_exists; eauto). congruence.
    + intros s. destruct (total_pulled t l1) as [Kp Hp].
      assert (Wpos : Forall (fun p : atom * Q => Qle_bool 0 (snd p) = true) (combine (atoms t) (weights c))).
      { apply Forall_forall. intros [a w] Ha. apply in_combine_r in Ha. rewrite forallb_forall in Wp. now apply Wp. }
      destruct (total_atoms (combine (atoms t) (weights c)) (pulled t l1) Wpos) as [Ka Ha].
      destruct (total_items (combine (out t) (pulls c)) (add_atoms (combine (atoms t) (weights c)) (pulled t l1))
        (fun it => match it with Number u v => Q2R (valueQ s (drawn c) u) - Q2R (valueQ s (drawn c) v) | _ => 0 end)) as [Ki Hit].
      exists (x * (Ka + Ki - Kp)). intros f z H1 H2. rewrite (HX c) by now left. fold i. fold t. rewrite Hp.
      pose proof (Ha f z ltac:(intros a Hy; apply H1; now apply combine_incl in Hy)) as B1.
      pose proof (Hit f z ltac:(intros u v Hy; apply H2; now apply combine_incl in Hy)) as B2.
      unfold stepped in St. see St. fold i in St. fold t in St. unfold total_at in B2 at 1. rewrite St in B2. cbn [fst snd] in B2.
      assert (G : total l2 f + Q2R k * z <= total_at (pulled t l1) f z + Ka + Ki) by lra.
      apply (Rmult_le_compat_l x) in G; [|easy]. lra.
Qed.
End Rare.

(* What the checker says of capacities, for a factor th that is less than 1 or, where nothing is used, any. *)
Definition rate (share : Q) (th : R) : Prop := 0 < th /\ (share = 1%Q /\ th < 1 \/ share = 0%Q).

Lemma share_falls share th l dd k : rate share th -> withinQ l (share * dd) k = true -> falls (th * eps) l (Q2R dd) (1 * Q2R k).
Proof.
  intros [Hth Hs] H. apply within_real in H. rewrite Q2R_mult in H. rewrite Rmult_1_l. destruct Hs as [[-> Lt]| ->].
  - apply (tail g eps (width_pos n) Heps); [lra|]. intros _. replace (Q2R 1 * Q2R dd) with (Q2R dd) in H by (unfold Q2R at 2; simpl; lra). exact H.
  - apply (tail_flat g eps (width_pos n) Heps); [lra|]. now rewrite Q2R_0, Rmult_0_l in H.
Qed.
Lemma steep_falls share th run ks : rate share th -> forallb (fun p => check_steep V share (fst p) (snd p)) (combine run ks) = true ->
  forall p, In p (combine run ks) -> step_falls (th * eps) 1 p.
Proof.
  intros Hr H p Hp. rewrite forallb_forall in H. specialize (H p Hp). unfold check_steep in H. see H. rewrite !andb_true_iff in H.
  destruct H as [[H1 H2] H3]. split; [|split; [|exact H3]].
  - now apply (share_falls share th).
  - intros So. rewrite So in H2. now apply (share_falls share th).
Qed.

(* -- it is alone -- *)

Lemma not_alike_0 j q l f a k : (forall z, shows N A q (input A q a) (out (tr A j)) l f z = 0) -> step N A j q f a l k = 0.
Proof.
  intros H. unfold step. apply E_zero. intros z. unfold after_step. destruct (enabled _ _ _); [|easy]. rewrite H. ring.
Qed.

Lemma alone_zero run : forall s q rivals p q' f a, alone V run q rivals = true -> chain A q' p -> chain A q (map taken run) ->
  (In q' rivals \/ q' = q /\ p <> map taken run) -> P p (word run s) q' f a = 0.
Proof.
  induction run as [|c run IH]; intros s q rivals p q' f a; cbn [alone word map].
  - intros Al Hc _ [Hr|[-> Ne]].
    + apply negb_true_iff, nonempty_false in Al. now rewrite Al in Hr.
    + destruct p; [contradiction|reflexivity].
  - intros Al Hc Hc' Hp. destruct p as [|j p]; [reflexivity|]. cbn [Pp]. cbn [chain] in Hc. destruct Hc as [Hj Hc].
    see Al. set (i := taken c) in *. set (t := tr A i) in *.
    destruct (alike (out (tr A j)) (out t)) eqn:Lk.
    2: { apply not_alike_0. intros z. now apply alike_shows. }
    unfold step. apply E_zero. intros z. unfold after_step. destruct (enabled _ _ _); [|easy].
    rewrite (IH _ _ _ p (tgt (tr A j)) _ _ Al Hc); [ring|apply Hc'|].
    destruct Hp as [Hr|[-> Ne]].
    + left. apply nodup_In, in_map_iff. exists j. split; [easy|]. apply in_or_app. right. apply filter_In. split; [|easy].
      apply in_flat_map. eauto.
    + destruct (Nat.eq_dec j i) as [->|Nj].
      * right. split; [easy|]. intros ->. now apply Ne.
      * left. apply nodup_In, in_map_iff. exists j. split; [easy|]. apply in_or_app. left. apply filter_In. split; [easy|].
        rewrite Lk, andb_true_r. apply negb_true_iff. now apply Nat.eqb_neq.
Qed.

(* -- sums over all paths -- *)

Lemma word_length run : forall s, length (word run s) = length run.
Proof. induction run as [|c run IH]; intros s; simpl; [easy|]. now rewrite IH. Qed.
Lemma chain_paths p : forall q, chain A q p -> In p (paths A (length p) q).
Proof.
  induction p as [|i p IH]; intros q; simpl; [now left|]. intros [Hi Hc]. apply in_flat_map. exists i. split; [easy|]. apply in_map. auto.
Qed.
Lemma paths_length k : forall q p, In p (paths A k q) -> length p = k.
Proof.
  induction k as [|k IH]; intros q p; simpl; [now intros [<-|[]]|]. rewrite in_flat_map. intros (i & _ & H).
  apply in_map_iff in H as (p' & <- & H). simpl. f_equal. eauto.
Qed.
Lemma nodup_app {X} (l l' : list X) : NoDup l -> NoDup l' -> (forall x, In x l -> ~ In x l') -> NoDup (l ++ l').
Proof.
  induction l as [|x l IH]; simpl; auto. intros H H' Hn. inversion_clear H as [|? ? Hx Hl]. constructor.
  - rewrite in_app_iff. intros [Hi|Hi]; [now apply Hx|]. exact (Hn x (or_introl eq_refl) Hi).
  - apply IH; auto.
Qed.
Lemma paths_NoDup k : forall q, NoDup (paths A k q).
Proof.
  induction k as [|k IH]; intros q; simpl.
  { constructor; [intros []|constructor]. }
  pose proof (leaving_NoDup A q) as Nd. induction (leaving A q) as [|i l IHl]; simpl; [constructor|].
  inversion_clear Nd as [|? ? Hi Hl]. apply nodup_app; auto.
  - apply FinFun.Injective_map_NoDup; auto. intros x y H. now inversion H.
  - intros p Hp Hp'. apply in_map_iff in Hp as (p1 & <- & _). apply in_flat_map in Hp' as (j & Hj & Hp').
    apply in_map_iff in Hp' as (p2 & E & _). inversion E. subst. contradiction.
Qed.
Lemma sum_one {X} (f : X -> R) l x : NoDup l -> In x l -> (forall y, In y l -> y <> x -> f y = 0) -> sum f l = f x.
Proof.
  induction l as [|y l IH]; simpl; [easy|]. intros Nd Hin Hz. inversion_clear Nd as [|? ? Hy Hl]. destruct Hin as [->|Hin].
  - rewrite sum_0; [lra|]. intros y Hy'. apply Hz; [now right|]. intros ->. contradiction.
  - rewrite IH; auto. rewrite (Hz y); [lra|now left|]. intros ->. contradiction.
Qed.

Lemma prob_alone run a : deterministic N A -> alone V run (initial A) [] = true -> chain A (initial A) (map taken run) ->
  prob N A a (word run []) = P (map taken run) (word run []) (initial A) (fun _ => 0) (a, fun _ => 0).
Proof.
  intros Det Al Hc. unfold prob. rewrite (Pr_paths N A Det _ (good_any _)).
  apply (sum_one (fun p => P p (word run []) (initial A) (fun _ => 0) (a, fun _ => 0)) _ (map taken run)).
  - apply paths_NoDup.
  - rewrite word_length, <- (map_length taken). now apply chain_paths.
  - intros p Hp Ne. apply (alone_zero run [] (initial A) []); auto. eapply paths_chain; eauto.
Qed.

(* -- differences -- *)

Lemma follows_allows run : check_model (multiples n) A V = true -> forall k, follows V (length (differ A)) run k = true ->
  forall j, allows (differ A) k (fun x => - stream_of more run x) j.
Proof.
  intros HM. induction run as [|c run IH]; intros k; cbn [follows].
  - (* equal entries for ever *)
    intros Hk. apply Nat.ltb_lt in Hk. intros j. revert k Hk.
    assert (Z : (fun x => - stream_of more [] x) = (fun _ => 0)).
    { apply functional_extensionality. intros x. unfold stream_of. simpl. destruct x; rewrite Q2R_0; lra. }
    rewrite Z. clear Z. induction j as [|j IH]; intros k Hk; simpl; [easy|].
    unfold leads. destruct (Req_EM_T 0 0) as [_|F]; [|exfalso; now apply F].
    unfold check_model in HM. rewrite !andb_true_iff in HM. destruct HM as [[_ H] _].
    pose proof (forallb_seq _ _ H k Hk) as C. unfold check_lesser in C. see C. apply andb_true_iff in C as [C _].
    destruct (fst (nth k (differ A) (None, None))) as [k'|]; [|easy]. apply Nat.ltb_lt in C. now apply IH.
  - see_goal. unfold stream_of at 1. cbn [entries_of]. destruct (reads (st A (src (tr A (taken c))))) eqn:Rd.
    + intros H [|j]; simpl; [easy|]. unfold leads.
      assert (Eq : Qeq_bool (more c) 0 = true <-> - Q2R (more c) = 0).
      { rewrite Qeq_bool_iff. split; intros E.
        - apply Qeq_eqR in E. rewrite E, Q2R_0. ring.
        - apply eqR_Qeq. rewrite Q2R_0. lra. }
      destruct (Req_EM_T (- Q2R (more c)) 0) as [E|E].
      * rewrite (proj2 Eq E) in H. destruct (fst (nth k (differ A) (None, None))) as [k'|]; [|easy]. now apply IH.
      * destruct (Qeq_bool (more c) 0); [exfalso; apply E; now apply Eq|].
        destruct (snd (nth k (differ A) (None, None))) as [k'|]; [|easy]. now apply IH.
    + intros H. now apply IH.
Qed.

Lemma more_near c run : check_claim c = true -> forallb (check_more n V c) run = true -> forall x,
  Q2R (c_sens c * c_low c) <= - stream_of more run x <= Q2R (c_sens c * c_high c) /\ multiple g (- stream_of more run x).
Proof.
  intros Hc Hm x. unfold stream_of.
  assert (Z : Q2R (c_sens c * c_low c) <= 0 <= Q2R (c_sens c * c_high c)).
  { unfold check_claim in Hc. rewrite !andb_true_iff in Hc. destruct Hc as [[H1 H2] H3]. apply Qle_R in H1, H2. apply Qlt_R in H3.
    rewrite Q2R_0 in *. rewrite !Q2R_mult. split; nra. }
  assert (Hin : forall y, In y (entries_of more run) ->
    Q2R (c_sens c * c_low c) <= - Q2R y <= Q2R (c_sens c * c_high c) /\ multiple g (- Q2R y)).
  { clear x. induction run as [|s run IH]; simpl; [easy|]. cbn [forallb] in Hm. apply andb_true_iff in Hm as [H1 H2].
    unfold check_more in H1. see H1. intros y. destruct (reads (st A (src (tr A (taken s))))); [|auto]. cbn [negb orb] in H1.
    intros [<-|Hy]; [|auto]. rewrite !andb_true_iff in H1. destruct H1 as [[[H1 H3] H4] _]. apply Qle_R in H1, H3. rewrite Q2R_opp in *.
    split; [lra|]. apply on_grid_multiple in H4 as [j Ej]. exists (- j)%Z. rewrite Ej, opp_IZR. unfold g. ring. }
  destruct (nth_in_or_default x (entries_of more run) 0%Q) as [H|E]; [auto|]. rewrite E, Q2R_0.
  split; [lra|]. exists 0%Z. lra.
Qed.

Lemma entries_multiple c run : forallb (check_more n V c) run = true -> forall x,
  multiple g (stream_of entry_at run x) /\ multiple g (stream_of more run x).
Proof.
  intros Hm x. unfold stream_of.
  assert (Hin : forall h, h = entry_at \/ h = more -> forall y, In y (entries_of h run) -> multiple g (Q2R y)).
  { intros h Hh. induction run as [|s run IH]; simpl; [easy|]. cbn [forallb] in Hm. apply andb_true_iff in Hm as [H1 H2].
    unfold check_more in H1. see H1. intros y. destruct (reads (st A (src (tr A (taken s))))); [|auto]. cbn [negb orb] in H1.
    intros [<-|Hy]; [|auto]. rewrite !andb_true_iff in H1. destruct H1 as [[_ H3] H4]. destruct Hh as [-> | ->]; now apply on_grid_multiple. }
  assert (Z : multiple g (Q2R 0)) by (exists 0%Z; rewrite Q2R_0; ring).
  split; match goal with |- multiple g (Q2R (nth x (entries_of ?h run) 0%Q)) =>
    destruct (nth_in_or_default x (entries_of h run) 0%Q) as [H|E]; [apply (Hin h); auto|rewrite E; exact Z] end.
Qed.

Lemma decays x B : 0 < x -> 0 < B -> exists k : nat, B * exp (- x * INR k) < 1.
Proof.
  intros Hx HB. destruct (archimed (B / x)) as [Hk _].
  assert (Hp : 0 < B / x) by now apply Rdiv_lt_0_compat. assert (Hu : (0 <= up (B / x))%Z) by (apply le_IZR; lra).
  set (k := Z.to_nat (up (B / x))) in *. assert (Ek : INR k = IZR (up (B / x))) by (unfold k; now rewrite INR_IZR_INZ, Z2Nat.id).
  rewrite <- Ek in Hk. exists k.
  assert (H1 : B < x * INR k).
  { apply (Rmult_lt_compat_l x) in Hk; [|easy]. replace (x * (B / x)) with B in Hk by (field; lra). lra. }
  assert (H2 : x * INR k < exp (x * INR k)) by (pose proof (exp_ineq1 (x * INR k) ltac:(lra)); lra).
  replace (- x * INR k) with (- (x * INR k)) by ring. rewrite exp_Ropp.
  apply (Rmult_lt_reg_r (exp (x * INR k))); [apply exp_pos|]. rewrite Rmult_assoc, Rinv_l by (apply Rgt_not_eq, exp_pos). lra.
Qed.

(* A run that is alone and possible, and as rare far away as a slope W says, has neighbours that differ by more than D'. *)
Lemma neighbours c run ks L th W D' : check_claim c = true -> check_model (multiples n) A V = true ->
  possible n A V run (initial A) [] [] = true -> forallb (check_more n V c) run = true ->
  follows V (length (differ A)) run 0 = true -> alone V run (initial A) [] = true ->
  sloped (th * eps) run ks L (fun _ => 0) -> pulling run ks (stream_of more run, real []) = W -> 0 < th -> D' < th * W ->
  exists alpha beta, on_multiples n alpha /\ near n c alpha beta /\ differ_as (differ A) alpha beta /\
    exists w, exp (eps * D') * prob N A beta w < prob N A alpha w.
Proof.
  intros Cc HM Po Mo Fo Al Sl EW Hth Hr.
  destruct (possible_positive run _ _ _ Po) as [Hch Pos]. rewrite real_nil in Pos, EW.
  set (w := word run []) in *. set (p := map taken run) in *.
  set (at_ := fun (k : nat) x => stream_of entry_at run x + INR k * stream_of more run x).
  set (f := fun k => P p w (initial A) (fun _ => 0) (at_ k, fun _ => 0)).
  assert (Pr' : forall k, prob N A (at_ k) w = f k).
  { intros k. apply prob_alone; auto. apply (det N (multiples n) A _ ltac:(easy) HM). }
  destruct (rare (th * eps) ltac:(now apply Rmult_lt_0_compat) run ks L (fun _ => 0) [] (initial A) Sl (fun _ => eq_refl) Hch) as (M & HM0 & Ra).
  fold p w in Ra.
  set (a0 := (at_ 0%nat, fun _ : nat => 0) : feed). set (a1 := (at_ 1%nat, fun _ : nat => 0) : feed).
  assert (Line : forall k, pulling run ks (at_ k, fun _ => 0) = pulling run ks a0 + INR k * W).
  { intros k. replace (at_ k, fun _ : nat => 0) with (mixed_feed (1 - INR k) a0 a1).
    2: { unfold mixed_feed, a0, a1, mixed. cbn [fst snd]. f_equal; apply functional_extensionality; intros x; [unfold at_; simpl|]; ring. }
    rewrite pulling_mixed. assert (G : pulling run ks (gap a1 a0) = W).
    { rewrite <- EW. f_equal. unfold gap, a0, a1. cbn [fst snd].
      f_equal; apply functional_extensionality; intros x; [unfold at_; simpl|]; ring. }
    rewrite pulling_gap in G. replace (pulling run ks a1) with (W + pulling run ks a0) by lra. ring. }
  (* if each neighbour were nearly as likely, the run would be too likely far away *)
  destruct (classic (exists k, exp (eps * D') * f (S k) < f k)) as [[k Hk]|No].
  - exists (at_ k), (at_ (S k)).
    assert (Df : forall x, at_ k x - at_ (S k) x = - stream_of more run x) by (intros x; unfold at_; rewrite S_INR; ring).
    split; [|split; [|split]].
    + intros x. destruct (entries_multiple c run Mo x) as [[i Ei] [j Ej]]. exists (i + Z.of_nat k * j)%Z.
      unfold at_. rewrite Ei, Ej, plus_IZR, mult_IZR, <- INR_IZR_INZ. unfold g. ring.
    + intros x. rewrite Df. apply (more_near c run Cc Mo).
    + intros j. replace (fun i => at_ k i - at_ (S k) i) with (fun x => - stream_of more run x) by (apply functional_extensionality; intros x; now rewrite Df).
      now apply follows_allows.
    + exists w. now rewrite !Pr'.
  - exfalso.
    assert (Up : forall k, f 0%nat <= exp (eps * D' * INR k) * f k).
    { induction k as [|k IH]; [simpl; rewrite Rmult_0_r, exp_0; lra|].
      assert (Lk : f k <= exp (eps * D') * f (S k)) by (apply Rnot_lt_le; intros Lk; apply No; eauto).
      rewrite S_INR. replace (eps * D' * (INR k + 1)) with (eps * D' * INR k + eps * D') by ring. rewrite exp_plus.
      eapply Rle_trans; [exact IH|]. rewrite (Rmult_assoc (exp (eps * D' * INR k))). apply Rmult_le_compat_l; [left; apply exp_pos|exact Lk]. }
    set (B := M * exp (- (th * eps) * (L (fun _ => 0) + pulling run ks a0))).
    assert (HB : 0 < B) by (apply Rmult_lt_0_compat; [easy|apply exp_pos]).
    assert (F0 : 0 < f 0%nat).
    { unfold f. replace (at_ 0%nat) with (stream_of entry_at run); [exact Pos|]. apply functional_extensionality. intros x. unfold at_. simpl. ring. }
    set (x := eps * (th * W - D')). assert (Hx : 0 < x) by (apply Rmult_lt_0_compat; lra).
    destruct (decays x (B / f 0%nat) Hx ltac:(now apply Rdiv_lt_0_compat)) as [k Hk].
    pose proof (Up k) as U. pose proof (Ra (fun _ => 0) (at_ k, fun _ => 0)) as R1. fold (f k) in R1. rewrite Line in R1.
    assert (Le : f 0%nat <= B * exp (- x * INR k)).
    { eapply Rle_trans; [exact U|]. eapply Rle_trans; [apply Rmult_le_compat_l; [left; apply exp_pos|exact R1]|]. right. unfold B, x.
      match goal with |- exp ?y * (M * exp ?z) = M * exp ?u * exp ?v => replace (exp y * (M * exp z)) with (M * (exp y * exp z)) by ring;
        rewrite (Rmult_assoc M), <- !exp_plus; f_equal; f_equal; ring end. }
    apply (Rmult_lt_compat_l (f 0%nat)) in Hk; [|easy]. unfold Rdiv in Hk.
    replace (f 0%nat * (B * / f 0%nat * exp (- x * INR k))) with (B * exp (- x * INR k)) in Hk by (field; lra). lra.
Qed.

Lemma beyond C D' share enough : r_hints C = H0 -> check_run n A V share enough C = true ->
  (forall w, enough w = true -> exists th, rate share th /\ D' < th * Q2R w) ->
  exists alpha beta, on_multiples n alpha /\ near n (r_claim C) alpha beta /\ differ_as (differ A) alpha beta /\
    exists w, exp (eps * D') * prob N A beta w < prob N A alpha w.
Proof.
  intros Eh Hc Rate. unfold check_run in Hc. destruct (back V (r_run C) []) as [l ks] eqn:Bk.
  rewrite !andb_true_iff in Hc. destruct Hc as [[[[[[[Cc HM] Po] St] Mo] Fo] Al] Wo].
  destruct (Rate _ Wo) as (th & Rt & Hr).
  pose proof (back_sloped (th * eps) 1 (fun _ => 0) (r_run C) ltac:(lra) ltac:(easy) [] l ks Bk (steep_falls share th _ _ Rt St)) as Sl.
  cbn [total fold_right] in Sl. replace (fun _ : store => 0 + 1 * 0) with (fun _ : store => 0) in Sl by (apply functional_extensionality; intros f; ring).
  apply (neighbours (r_claim C) (r_run C) _ _ th (Q2R (worth V (r_run C) ks [])) D' Cc HM Po Mo Fo Al Sl); [|apply Rt|exact Hr].
  rewrite pulling_worth. ring.
Qed.

Theorem below C D' : r_hints C = H0 -> check_lower n A C = true -> D' < Q2R (c_D (r_claim C)) ->
  exists alpha beta, on_multiples n alpha /\ near n (r_claim C) alpha beta /\ differ_as (differ A) alpha beta /\
    exists w, exp (eps * D') * prob N A beta w < prob N A alpha w.
Proof.
  intros Eh Hc HD. rewrite check_lower_plain, Eh in Hc. apply (beyond C D' 1 (worth_D C) Eh Hc).
  intros q Hq. unfold worth_D in Hq. apply andb_true_iff in Hq as [D0 Wo]. apply Qle_R in D0, Wo. rewrite Q2R_0 in D0. set (W := Q2R q) in *.
  destruct (Req_dec W 0) as [E|E]; [exists (1 / 2); split; [split; [lra|left; split; [easy|lra]]|rewrite E; lra]|]. assert (0 < W) by lra.
  destruct (Rle_lt_dec D' 0) as [L|L].
  - exists (1 / 2). split; [split; [lra|left; split; [easy|lra]]|lra].
  - exists ((D' + W) / (2 * W)). assert (Hw : D' < W) by lra. split; [split|].
    + apply Rdiv_lt_0_compat; lra.
    + left. split; [easy|]. apply (Rmult_lt_reg_r (2 * W)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
    + replace ((D' + W) / (2 * W) * W) with ((D' + W) / 2) by (field; lra). lra.
Qed.

Theorem growing C D' : r_hints C = H0 -> check_growth n A C = true ->
  exists alpha beta, on_multiples n alpha /\ near n (r_claim C) alpha beta /\ differ_as (differ A) alpha beta /\
    exists w, exp (eps * D') * prob N A beta w < prob N A alpha w.
Proof.
  intros Eh Hc. rewrite check_growth_plain, Eh in Hc. apply (beyond C D' 0 (Qlt_bool 0) Eh Hc).
  intros q Hq. apply Qlt_R in Hq. rewrite Q2R_0 in Hq. exists ((Rabs D' + 1) / Q2R q). pose proof (Rabs_pos D'). pose proof (Rle_abs D').
  split; [split; [apply Rdiv_lt_0_compat; lra|now right]|]. replace ((Rabs D' + 1) / Q2R q * Q2R q) with (Rabs D' + 1) by (field; lra). lra.
Qed.
End Run.

(* Nothing less than D will do, whatever eps is. *)
Definition is_tight (n : positive) (A : automaton) (c : claim) :=
  forall eps (Heps : 0 < eps) D', D' < Q2R (c_D c) -> exists alpha beta, on_multiples n alpha /\ near n c alpha beta /\ differ_as (differ A) alpha beta /\
  exists w, exp (eps * D') * prob (noise_on n eps Heps) A beta w < prob (noise_on n eps Heps) A alpha w.

Theorem checked_lower n (A : automaton) (C : rcert) : check_lower n A C = true -> is_tight n A (r_claim C).
Proof. intros H eps Heps D' HD. now apply (below n eps Heps A (r_hints C) C D'). Qed.

(* No D will do at all. *)
Definition is_leaking (n : positive) (A : automaton) (c : claim) :=
  forall eps (Heps : 0 < eps) D', exists alpha beta, on_multiples n alpha /\ near n c alpha beta /\ differ_as (differ A) alpha beta /\
  exists w, exp (eps * D') * prob (noise_on n eps Heps) A beta w < prob (noise_on n eps Heps) A alpha w.

Theorem checked_growth n (A : automaton) (C : rcert) : check_growth n A C = true -> is_leaking n A (r_claim C).
Proof. intros H eps Heps D'. now apply (growing n eps Heps A (r_hints C) C D'). Qed.
