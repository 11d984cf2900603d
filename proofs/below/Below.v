(* A run that the checker accepts shows that nothing less than its D will do, for noise of which large values are rare (Rare).
   Inputs x + tau*delta make the run so rare, as tau grows, that of two neighbours one must differ by as much as D says. *)
From Coq Require Import Reals QArith Qreals ZArith List Bool Arith Lra Lia Classical FunctionalExtensionality FinFun.
From Symdipa.Core Require Import Model Lookup Checker Rivals Runs.
From Symdipa.Above Require Import Paths Cover Ways Guide.
From Symdipa.Below Require Import Rare.
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
Lemma lookup_same {X} x (z : X) l : lookup x (map (fun y => (y, z)) l) = if mem x l then Some z else None.
Proof.
  induction l as [|y l IH]; simpl; [easy|]. unfold mem. simpl. destruct (Nat.eqb x y); simpl; auto.
Qed.

(* What a step stores: what the sample leaves, what copies do, and what was there. *)
Lemma lookup_upd {X} x t (z : X) (h : term -> X) l :
  lookup x (map (fun y => (y, z)) (asg t) ++ map (fun p => (fst p, h (snd p))) (copies t) ++ filter (fun p => negb (mem (fst p) (gets t))) l) =
  if mem x (asg t) then Some z else match lookup x (copies t) with Some v => Some (h v) | None => lookup x l end.
Proof.
  rewrite lookup_app, lookup_same. destruct (mem x (asg t)) eqn:M; [easy|]. rewrite lookup_app, (lookup_map x (fun p => h (snd p))).
  destruct (lookup x (copies t)) as [v|] eqn:C; [easy|].
  rewrite (lookup_filter x (fun y => negb (mem y (gets t)))); [easy|]. apply negb_true_iff, mem_false. unfold gets. rewrite in_app_iff.
  intros [H|H]; [apply mem_In in H; congruence|now apply lookup_None in C].
Qed.
Lemma upd_real s t z : real (updQ s t z) = upd (real s) t (Q2R z).
Proof.
  apply functional_extensionality. intros x. unfold real at 1, getQ, updQ, upd. rewrite (lookup_upd x t z (fun v => valueQ s z v)).
  destruct (mem x (asg t)); [easy|]. destruct (lookup x (copies t)) as [v|]; [apply value_real|easy].
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
  unfold plus_at. destruct (Qeq_bool w 0) eqn:Z; [apply Qeq_bool_iff, Qeq_eqR in Z; rewrite Q2R_0 in Z; rewrite Z; lra|]. clear Z.
  induction l as [|[y v] l IH]; cbn [put_at total fold_right fst snd]; [lra|]. fold (total l s).
  destruct (Nat.eqb_spec x y) as [->|]; cbn [total fold_right fst snd].
  - fold (total l s). rewrite Q2R_red, Q2R_plus. lra.
  - fold (total (put_at x w l) s). rewrite IH. lra.
Qed.
(* Terms count without their constants. *)
Definition bare (s : store) (z : R) (v : term) : R := value s z v - Q2R (plus v).
Lemma total_term w v L s z : total_at (add_term w v L) s z = Q2R w * bare s z v + total_at L s z.
Proof.
  unfold add_term, bare, value, total_at. destruct (whence v); cbn [fst snd held];
  rewrite ?total_plus, ?Q2R_red, ?Q2R_plus; destruct (negative v); rewrite ?Q2R_opp; lra.
Qed.

(* What is stored after a step, but for a constant. *)
Lemma total_cons p l s : total (p :: l) s = Q2R (snd p) * s (fst p) + total l s.
Proof. reflexivity. Qed.
Lemma total_split (f : nat * Q -> bool) l s : total l s = total (filter f l) s + total (filter (fun p => negb (f p)) l) s.
Proof.
  induction l as [|p l IH]; cbn [filter]; [simpl; ring|]. rewrite total_cons, IH. destruct (f p); cbn [negb]; rewrite total_cons; ring.
Qed.
Lemma total_pulled t l : exists K, forall s z, total l (upd s t z) = total_at (pulled t l) s z + K.
Proof.
  assert (Kept : forall s z, total (filter (fun p => negb (is_new t p)) l) (upd s t z) = total (filter (fun p => negb (is_new t p)) l) s).
  { intros s z. induction l as [|[x w] l IH]; cbn [filter]; [reflexivity|]. destruct (is_new t (x, w)) eqn:Nw; cbn [negb]; [exact IH|].
    unfold is_new in Nw. cbn [fst] in Nw. apply mem_false in Nw. unfold gets in Nw. rewrite in_app_iff in Nw.
    rewrite !total_cons, IH. cbn [fst snd]. unfold upd at 1. destruct (mem x (asg t)) eqn:M; [apply mem_In in M; tauto|]. rewrite lookup_not by tauto. ring. }
  assert (New : forall l' L, (forall p, In p l' -> is_new t p = true) -> exists K, forall s z, total l' (upd s t z) + total_at L s z =
    total_at (fold_right (fun p L => if mem (fst p) (asg t) then (fst L, Qred (snd L + snd p)) else match lookup (fst p) (copies t) with
         | Some v => add_term (snd p) v L | None => L end) L l') s z + K).
  { induction l' as [|[x w] l' IH]; intros L H; cbn [fold_right fst snd]; [exists 0; intros; simpl; ring|].
    destruct (IH L ltac:(intros; apply H; now right)) as [K HK]. specialize (H (x, w) ltac:(now left)). unfold is_new, gets in H. cbn [fst] in H.
    apply mem_In in H. rewrite in_app_iff in H.
    set (L' := fold_right _ _ _) in *.
    pose proof (fun s z => total_cons (x, w) l' (upd s t z)) as T. cbn [fst snd] in T.
    destruct (mem x (asg t)) eqn:M; [|destruct (lookup x (copies t)) as [v|] eqn:Cv].
    - exists K. intros s z. rewrite T. unfold upd at 1. rewrite M, Rplus_assoc, HK. unfold total_at. cbn [fst snd]. rewrite Q2R_red, Q2R_plus. ring.
    - exists (K + Q2R w * Q2R (plus v)). intros s z. rewrite T, Rplus_assoc, HK, total_term. unfold bare, upd at 1. rewrite M, Cv. ring.
    - exfalso. destruct H as [H|H]; [apply mem_In in H; congruence|now apply lookup_None in Cv]. }
  destruct (New (filter (is_new t) l) (filter (fun p => negb (is_new t p)) l, 0%Q)) as [K HK]; [intros p Hp; now apply filter_In in Hp|].
  exists K. intros s z. rewrite (total_split (is_new t) l), Kept. unfold pulled. rewrite <- HK. unfold total_at. cbn [fst snd]. rewrite Q2R_0. ring.
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
  exists K, forall s z, (forall u v, In (Number u v) (map fst l) -> Rabs (value s z u - value s z v - b (Number u v)) <= 1) ->
  total_at (add_items l L) s z <= total_at L s z + K.
Proof.
  induction l as [|[i w] l [K IH]]; cbn [add_items fold_right map].
  - exists 0. intros. lra.
  - fold (add_items l L). cbn [fst snd]. destruct i as [x|u v|].
    + exists K. intros s z H. apply IH. intros u v Huv. apply H. now right.
    + exists (K + Q2R w * (b (Number u v) - Q2R (plus u) + Q2R (plus v)) + Rabs (Q2R w)). intros s z H. rewrite !total_term, Q2R_opp.
      pose proof (IH s z ltac:(intros u' v' Huv; apply H; now right)). pose proof (H u v ltac:(now left)) as B. unfold bare.
      set (y := value s z u - value s z v - b (Number u v)) in B.
      assert (Q2R w * y <= Rabs (Q2R w)).
      { eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult. rewrite <- (Rmult_1_r (Rabs (Q2R w))) at 2. apply Rmult_le_compat_l; [apply Rabs_pos|exact B]. }
      unfold y in *. lra.
    + exists K. intros s z H. apply IH. intros u v Huv. apply H. now right.
Qed.

Lemma combine_incl {X Y} (l : list X) (l' : list Y) x : In x (map fst (combine l l')) -> In x l.
Proof. intros H. apply in_map_iff in H as ([a b] & <- & H). now apply in_combine_l in H. Qed.

(* ---- What is observed of the run ---- *)

(* Numbers that are near to those of the run. *)
Definition seen (s : numbers_of) (z z' : Q) (i : item) : letter :=
  match i with
  | Sym x => LSym x
  | Number a b => LReal (around (Q2R (valueQ s z a) - Q2R (valueQ s z b)) 1)
  | Other => LReal (around (Q2R z') 1)
  end.

Lemma alike_shows {eps} (N : noise eps) A q m s z z' o : forall o' st y, alike o' o = false -> shows N A q m o' (map (seen s z z') o) st y = 0.
Proof.
  induction o as [|i o IH]; intros [|i' o'] st y; simpl; try easy. rewrite andb_false_iff. intros [H|H].
  - destruct i, i'; simpl in *; try easy; rewrite ?H; simpl; lra.
  - rewrite IH by easy. lra.
Qed.

Section Run.
Context {eps : R} (Heps : 0 < eps) (N : noise eps) (T : tails N) (g : grade).
Hypothesis okq_ok : forall q, shift_ok g q = true -> ok N (Q2R q).
Hypothesis smooth_ok : smooth g = true -> atomless N.
Variables (A : automaton) (H0 : hints).
Local Notation V := (plain A H0).
Local Notation P := (Pp N A).

Fixpoint word (run : list rstep) (s : numbers_of) : list (list letter) :=
  match run with
  | [] => []
  | c :: run' => let t := tr A (taken c) in map (seen s (drawn c) (drawn' c)) (out t) :: word run' (updQ s t (drawn c))
  end.

Lemma good_seen s z z' o : Forall (good_letter N) (map (seen s z z') o).
Proof. apply Forall_forall. intros l Hl. apply in_map_iff in Hl as (i & <- & _). destruct i; simpl; try easy; apply (good_around N T). Qed.
Lemma good_run run : forall s, good_word N (word run s).
Proof. induction run as [|c run IH]; intros s; cbn [word]; constructor; [apply good_seen|apply IH]. Qed.

(* -- the run is possible -- *)

Lemma can_be_real l dd m z : can_beQ g l dd m z = true -> can_be N l (Q2R dd) (Q2R m) (Q2R z).
Proof.
  assert (Neg : Qle_bool dd 0 = true -> ~ 0 < Q2R dd) by (intros H; apply Qle_R in H; rewrite Q2R_0 in H; lra).
  assert (Pos : Qle_bool dd 0 = false -> 0 < Q2R dd).
  { intros H. apply Rnot_le_lt. intros L. rewrite <- Q2R_0 in L. apply Rle_Qle in L. apply Qle_bool_iff in L. congruence. }
  assert (Apart : shift_ok g (z - m) = true -> ok N (Q2R z - Q2R m)) by (intros H; rewrite <- Q2R_minus; now apply okq_ok).
  assert (Same : Qeq_bool z m = true -> Q2R z = Q2R m) by (intros H; now apply Qeq_bool_iff, Qeq_eqR in H).
  unfold can_beQ, can_be. destruct l; auto; destruct (Qle_bool dd 0) eqn:L; destruct (Rlt_dec 0 (Q2R dd)) as [r|r]; auto;
  try (exfalso; apply (Neg eq_refl); exact r); try (exfalso; apply r; exact (Pos eq_refl)).
  rewrite andb_true_iff. intros [H1 H2]. split; [auto|now apply Qle_R].
Qed.
Lemma can_be_still l dd m z : ~ noisy l dd -> can_be N l dd m z -> z = m.
Proof. destruct l; simpl; auto; destruct (Rlt_dec 0 dd); tauto. Qed.

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

Lemma unit_ind B : unit_fun (fun y => ind (B y)).
Proof. intros y. apply ind_unit. Qed.

Lemma good_scaled c B : good_set N B -> good N (fun z => c * ind (B z)).
Proof.
  intros GB. apply (good_ext eps N (fun z => c * ind (B (value (fun _ => 0) z insample - value (fun _ => 0) z zero)))).
  - intros z. unfold value. cbn. rewrite Q2R_0. replace (z + 0 - (0 + 0)) with z by ring. reflexivity.
  - apply (good_J eps N (fun s z => c * ind (B (value s z insample - value s z zero)))).
    exact (goodJ_mult eps N (fun _ _ => c) _ (goodJ_const eps N c) (goodJ_number eps N insample zero B GB)).
Qed.

(* Samples and what is stored: near those of the run.  In sets S of what may be stored, comparisons of the run hold. *)
Definition sample_near (r : R) (q : nat) (z y : R) : Prop :=
  Rabs (y - z) <= r /\ (~ noisy (law_of (st A q)) (Q2R (d (st A q))) -> y = z).
Definition next (r : R) (c : rstep) (S : store -> Prop) : store -> Prop := fun f' =>
  exists f y, S f /\ sample_near r (src (tr A (taken c))) (Q2R (drawn c)) y /\ f' = upd f (tr A (taken c)) y.
Definition goes (r : R) (c : rstep) (s : numbers_of) (S : store -> Prop) : Prop := forall f y,
  S f -> sample_near r (src (tr A (taken c))) (Q2R (drawn c)) y ->
  (forall a, In a (atoms (tr A (taken c))) -> true_of f y a) /\
  (forall u v, In (Number u v) (out (tr A (taken c))) ->
     Rabs (value f y u - value f y v - (Q2R (valueQ s (drawn c) u) - Q2R (valueQ s (drawn c) v))) <= 1).
Fixpoint passes (r : R) (run : list rstep) (s : numbers_of) (S : store -> Prop) : Prop :=
  match run with
  | [] => True
  | c :: run' => goes r c s S /\ passes r run' (updQ s (tr A (taken c)) (drawn c)) (next r c S)
  end.
Definition has (r : R) := 0 < r \/ r = 0 /\ points N T.

Lemma around_likely l dd m z r : has r -> can_be N l dd m z -> 0 < E N l dd m (fun y => ind (around z r y)).
Proof.
  intros Hr C. destruct (classic (noisy l dd)) as [L|L]; [now apply (E_around N T)|].
  rewrite (E_still N T) by easy. apply (can_be_still l dd m z L) in C. subst m.
  assert (H : around z r z = true) by (apply around_iff; replace (z - z) with 0 by ring; rewrite Rabs_R0; destruct Hr; lra).
  rewrite H. simpl. lra.
Qed.

Lemma shows_likely q m s z z' o : (In Other o -> can_be N (law_of' (st A q)) (Q2R (d' (st A q))) (m + Q2R (mu' (st A q))) (Q2R z')) ->
  exists c, 0 < c /\ forall f y,
    (forall u v, In (Number u v) o -> Rabs (value f y u - value f y v - (Q2R (valueQ s z u) - Q2R (valueQ s z v))) <= 1) ->
    c <= shows N A q m o (map (seen s z z') o) f y.
Proof.
  induction o as [|i o IH]; intros Ho; cbn [map shows]; [exists 1; split; intros; lra|].
  destruct IH as (c & Hc & H); [intros; apply Ho; now right|].
  assert (Hi : exists c1, 0 < c1 /\ forall f y, (forall u v, i = Number u v -> Rabs (value f y u - value f y v - (Q2R (valueQ s z u) - Q2R (valueQ s z v))) <= 1) ->
    c1 <= shows_item N A q m i (seen s z z' i) f y).
  { destruct i as [x|u v|]; cbn [seen shows_item].
    - exists 1. split; [lra|]. intros. rewrite Nat.eqb_refl. simpl. lra.
    - exists 1. split; [lra|]. intros f y B. specialize (B u v eq_refl). apply around_iff in B. rewrite B. simpl. lra.
    - assert (0 < E N (law_of' (st A q)) (Q2R (d' (st A q))) (m + Q2R (mu' (st A q))) (fun y => ind (around (Q2R z') 1 y))) as L.
      { apply around_likely; [left; lra|]. apply Ho. now left. }
      eexists. split; [exact L|]. intros. lra. }
  destruct Hi as (c1 & Hc1 & H1). exists (c1 * c). split; [now apply Rmult_lt_0_compat|]. intros f y B.
  apply Rmult_le_compat; try lra; [apply H1|apply H]; intros u v Huv; apply B; [now left|now right].
Qed.

Lemma possible_likely r run : has r -> forall q s rr S, possible g A V run q s rr = true -> passes r run s S ->
  chain A q (map taken run) /\ exists c, 0 < c /\ forall f, S f -> c <= P (map taken run) (word run s) q f (stream_of entry_at run, real rr).
Proof.
  intros Hr. induction run as [|c run IH]; intros q s rr S; cbn [possible passes map word Pp chain].
  { intros _ _. split; [easy|]. exists 1. split; intros; lra. }
  cbv zeta. see_goal. rewrite !andb_true_iff. intros [[[[[H1 H2] H3] H4] H5] H6] [Go Pa]. apply Nat.ltb_lt in H1. apply Nat.eqb_eq in H2.
  unfold goes, next in *. set (i := taken c) in *. subst q. set (q := src (tr A i)) in *. set (t := tr A i) in *.
  destruct (IH _ _ _ _ H6 Pa) as [Hc (c1 & Hc1 & L1)]. assert (Hi : In i (leaving A q)) by (apply leaving_In; auto).
  split; [easy|]. unfold step. set (a := (stream_of entry_at (c :: run), real rr)).
  destruct (stream_step entry_at c run (real rr)) as [Ea Ra]. fold i in Ea, Ra. fold t in Ea, Ra. fold q a in Ea, Ra.
  assert (Em : input A q a = Q2R (Qred (read_of V c (entry_at c) + weighedQ (factors (st A q)) rr))).
  { unfold input. rewrite Ea, Q2R_red, Q2R_plus, weighed_real. reflexivity. }
  assert (Ho : In Other (out t) -> can_be N (law_of' (st A q)) (Q2R (d' (st A q))) (input A q a + Q2R (mu' (st A q))) (Q2R (drawn' c))).
  { intros Ho. apply orb_true_iff in H4 as [H4|H4].
    - apply negb_true_iff in H4. assert (shows_other t = true) by (apply existsb_exists; exists Other; auto). congruence.
    - rewrite Em, <- Q2R_plus. now apply can_be_real. }
  destruct (shows_likely q (input A q a) s (drawn c) (drawn' c) (out t) Ho) as (c2 & Hc2 & L2).
  set (m := input A q a + Q2R (mu (st A q))).
  assert (Cz : can_be N (law_of (st A q)) (Q2R (d (st A q))) m (Q2R (drawn c))) by (unfold m; rewrite Em, <- Q2R_plus; now apply can_be_real).
  pose proof (around_likely _ _ _ _ r Hr Cz) as L3. set (h := fun y => ind (around (Q2R (drawn c)) r y)) in L3.
  assert (Gh : good N h) by apply good_ind, (good_around N T). assert (Uh : unit_fun h) by apply unit_ind.
  assert (Low : forall f y, S f -> sample_near r q (Q2R (drawn c)) y ->
    c2 * c1 <= after_step N A i q (map (seen s (drawn c) (drawn' c)) (out t)) a (P (map taken run) (word run (updQ s t (drawn c))) (tgt t)) f y).
  { intros f y Sf Ny. destruct (Go f y Sf Ny) as [At Nu]. unfold after_step. fold t. rewrite (atoms_enabled t f y At).
    apply Rmult_le_compat; try lra; [now apply L2|]. rewrite Ra, <- set_real. apply L1. exists f, y. auto. }
  assert (U : forall f, unit_fun (after_step N A i q (map (seen s (drawn c) (drawn' c)) (out t)) a (P (map taken run) (word run (updQ s t (drawn c))) (tgt t)) f)).
  { intros f. apply after_unit; [apply good_seen|intros; apply Pp_unit, good_run]. }
  assert (G : forall f, good N (after_step N A i q (map (seen s (drawn c) (drawn' c)) (out t)) a (P (map taken run) (word run (updQ s t (drawn c))) (tgt t)) f)).
  { intros f. apply after_good; [apply good_seen|apply Pp_good, good_run]. }
  assert (C12 : 0 < c2 * c1) by now apply Rmult_lt_0_compat.
  destruct (classic (exists f, S f)) as [[f0 Sf0]|None].
  2: { exists 1. split; [lra|]. intros f Sf. exfalso. eauto. }
  assert (C1 : c2 * c1 <= 1).
  { eapply Rle_trans; [apply (Low f0 (Q2R (drawn c)) Sf0)|apply U]. split; [|easy].
    replace (_ - _) with 0 by ring. rewrite Rabs_R0. destruct Hr; lra. }
  destruct (classic (noisy (law_of (st A q)) (Q2R (d (st A q))))) as [Lv|Lv].
  - exists (c2 * c1 * E N (law_of (st A q)) (Q2R (d (st A q))) m h). split; [now apply Rmult_lt_0_compat|]. intros f Sf.
    rewrite <- (E_scale N T) by (auto; lra).
    assert (Us : unit_fun (fun z => c2 * c1 * h z)) by (intros z; apply prod_unit; [lra|apply Uh]).
    apply (E_le N); auto.
    { apply good_scaled, (good_around N T). }
    intros y. unfold h. destruct (around (Q2R (drawn c)) r y) eqn:Ar; simpl.
    + rewrite Rmult_1_r. apply Low; [easy|]. apply around_iff in Ar. split; [easy|]. intros; contradiction.
    + rewrite Rmult_0_r. apply U.
  - exists (c2 * c1). split; [easy|]. intros f Sf. rewrite (E_still N T) by easy. fold m. rewrite <- (can_be_still _ _ _ _ Lv Cz).
    apply Low; [easy|]. split; [|easy]. replace (_ - _) with 0 by ring. rewrite Rabs_R0. destruct Hr; lra.
Qed.

(* -- samples that are near to those of the run -- *)

(* By how much samples are off, and so what comes from them. *)
Definition off (e : nat -> R) (o : origin) : R := match o with Some (b, i) => if b then - e i else e i | None => 0 end.
Definition near_store (r : R) (s : numbers_of) (O : origins) (f : store) : Prop :=
  exists e, (forall i, Rabs (e i) <= r) /\ forall x, f x = real s x + off e (origin_of O x).

Lemma off_turn e b o : off e (turn b o) = if b then - off e o else off e o.
Proof. destruct o as [[[] i]|], b; simpl; ring. Qed.
Lemma off_bound e r o : 0 <= r -> (forall i, Rabs (e i) <= r) -> Rabs (off e o) <= r.
Proof. intros Hr H. destruct o as [[[] i]|]; simpl; rewrite ?Rabs_Ropp, ?Rabs_R0; auto. Qed.
Lemma same_origin_spec o o' : same_origin o o' = true -> o = o'.
Proof.
  destruct o as [[b i]|], o' as [[c j]|]; simpl; try easy. rewrite andb_true_iff. intros [H1 H2].
  apply Bool.eqb_prop in H1. apply Nat.eqb_eq in H2. now subst.
Qed.

Lemma value_near e s O f z y o v : (forall x, f x = real s x + off e (origin_of O x)) -> y = Q2R z + off e o ->
  value f y v = Q2R (valueQ s z v) + off e (origin_at O o v).
Proof.
  intros Hf ->. rewrite value_real. unfold value, origin_at. rewrite off_turn.
  destruct (whence v) as [| |x]; cbn [held]; [simpl off|..]; rewrite ?Hf; destruct (negative v); lra.
Qed.

Lemma fresh_spec O x b i : origin_of O x = Some (b, i) -> (i < fresh O)%nat.
Proof.
  unfold origin_of. destruct (lookup x O) as [o|] eqn:L; [|easy]. intros ->. apply lookup_In in L. unfold fresh.
  induction O as [|[y [[c j]|]] O IH]; cbn [fold_right snd]; [easy| |].
  - set (n := fold_right _ _ _) in *. destruct L as [L|L].
    + injection L as -> -> ->. destruct (Nat.leb_spec n i); lia.
    + specialize (IH L). destruct (Nat.leb_spec n j); lia.
  - destruct L as [L|L]; [easy|now apply IH].
Qed.

(* The sample of a step is off by something of its own. *)
Lemma sample_off r c s O f y : near_store r s O f -> sample_near r (src (tr A (taken c))) (Q2R (drawn c)) y ->
  exists e, (forall i, Rabs (e i) <= r) /\ (forall x, f x = real s x + off e (origin_of O x)) /\ y = Q2R (drawn c) + off e (drawn_from V c O).
Proof.
  intros (e & Be & He) [By Sy]. exists (fun i => if Nat.eqb i (fresh O) then y - Q2R (drawn c) else e i). split; [|split].
  - intros i. now destruct (Nat.eqb i (fresh O)).
  - intros x. rewrite He. destruct (origin_of O x) as [[b i]|] eqn:Ox; [|easy]. pose proof (fresh_spec O x b i Ox). simpl.
    destruct (Nat.eqb_spec i (fresh O)); [lia|easy].
  - unfold drawn_from, sample_origin. see_goal. destruct (is_noisy _ _) eqn:L; simpl.
    + rewrite Nat.eqb_refl. lra.
    + rewrite Sy; [lra|]. intros Lv. destruct (law_of (st A (src (tr A (taken c))))); simpl in L, Lv; try easy;
      apply negb_false_iff, Qle_R in L; rewrite Q2R_0 in L; lra.
Qed.
Lemma next_near r c s O f : next r c (near_store r s O) f ->
  near_store r (updQ s (tr A (taken c)) (drawn c)) (upd_origins O (tr A (taken c)) (drawn_from V c O)) f.
Proof.
  intros (f0 & y & Hf & Hy & ->). destruct (sample_off r c s O f0 y Hf Hy) as (e & Be & He & Ey). exists e. split; [easy|]. intros x.
  rewrite upd_real. unfold origin_of, upd_origins. rewrite (lookup_upd x (tr A (taken c)) (drawn_from V c O) (fun v => origin_at O (drawn_from V c O) v)).
  unfold upd. destruct (mem x _); [easy|]. destruct (lookup x (copies _)) as [v|]; [|apply He].
  rewrite <- value_real. now apply value_near.
Qed.

Lemma passes_mono r run : forall s (S S' : store -> Prop), (forall f, S f -> S' f) -> passes r run s S' -> passes r run s S.
Proof.
  induction run as [|c run IH]; intros s S S' H; cbn [passes]; [easy|]. intros [Go Pa]. split.
  - intros f y Sf. apply Go, H, Sf.
  - apply (IH _ _ (next r c S')); [|easy]. intros f (f0 & y & Sf & R'). exists f0, y. auto.
Qed.

(* Small enough. *)
Definition small (r0 r : R) : Prop := if mixes g then 0 < r <= r0 else r = 0.
Lemma small_least r0 r1 r : 0 < r0 -> small (Rmin r0 r1) r -> small r0 r /\ small r1 r.
Proof. unfold small. destruct (mixes g); [|easy]. pose proof (Rmin_l r0 r1). pose proof (Rmin_r r0 r1). lra. Qed.

Lemma roomy_atoms s O z o l : forallb (atom_holds s z) l = true -> negb (mixes g) || forallb (roomy s O z o) l = true ->
  exists r0, 0 < r0 /\ forall r e f y, small r0 r -> (forall i, Rabs (e i) <= r) -> (forall x, f x = real s x + off e (origin_of O x)) ->
    y = Q2R z + off e o -> forall a, In a l -> true_of f y a.
Proof.
  induction l as [|a l IH]; cbn [forallb].
  { exists 1. split; [lra|easy]. }
  rewrite andb_true_iff. intros [Ha Hl] HR.
  assert (HR' : negb (mixes g) || roomy s O z o a = true /\ negb (mixes g) || forallb (roomy s O z o) l = true).
  { destruct (mixes g); simpl in *; [now apply andb_true_iff|easy]. }
  destruct HR' as [Ra Rl]. destruct (IH Hl Rl) as (r1 & P1 & H1). apply atom_real in Ha.
  assert (X : exists r2, 0 < r2 /\ forall r e f y, small r2 r -> (forall i, Rabs (e i) <= r) -> (forall x, f x = real s x + off e (origin_of O x)) ->
    y = Q2R z + off e o -> true_of f y a).
  { unfold true_of in Ha. rewrite <- !value_real in Ha. set (lo := Q2R (valueQ s z (low a))) in *. set (hi := Q2R (valueQ s z (high a))) in *.
    assert (V' : forall e f y, (forall x, f x = real s x + off e (origin_of O x)) -> y = Q2R z + off e o ->
      value f y (low a) = lo + off e (origin_at O o (low a)) /\ value f y (high a) = hi + off e (origin_at O o (high a))).
    { intros e f y Hf Hy. split; now apply value_near. }
    destruct (orb_true_iff (negb (mixes g)) (roomy s O z o a)) as [D _]. destruct (D Ra) as [M|R1].
    - apply negb_true_iff in M. exists 1. split; [lra|]. intros r e f y Sm Be Hf Hy. destruct (V' e f y Hf Hy) as [E1 E2].
      unfold small in Sm. rewrite M in Sm. subst r. pose proof (off_bound e 0 (origin_at O o (low a)) ltac:(lra) Be) as B1.
      pose proof (off_bound e 0 (origin_at O o (high a)) ltac:(lra) Be) as B2.
      assert (Z : forall x, Rabs x <= 0 -> x = 0) by (intros x Hx; pose proof (Rle_abs x); pose proof (Rle_abs (- x)) as H'; rewrite Rabs_Ropp in H'; lra).
      apply Z in B1, B2. unfold true_of. rewrite E1, E2, B1, B2, !Rplus_0_r. exact Ha.
    - unfold roomy in R1. apply orb_true_iff in R1 as [So|Lt].
      + apply same_origin_spec in So. exists 1. split; [lra|]. intros r e f y Sm Be Hf Hy. destruct (V' e f y Hf Hy) as [E1 E2].
        unfold true_of. rewrite E1, E2, So. destruct (strict a); lra.
      + apply Qlt_R in Lt. fold lo hi in Lt. exists ((hi - lo) / 4). split; [lra|]. intros r e f y Sm Be Hf Hy. destruct (V' e f y Hf Hy) as [E1 E2].
        assert (Hr : 0 <= r <= (hi - lo) / 4) by (unfold small in Sm; destruct (mixes g); lra).
        pose proof (off_bound e r (origin_at O o (low a)) ltac:(lra) Be) as B1. pose proof (off_bound e r (origin_at O o (high a)) ltac:(lra) Be) as B2.
        pose proof (Rle_abs (off e (origin_at O o (low a)))). pose proof (Rle_abs (- off e (origin_at O o (high a)))) as B3. rewrite Rabs_Ropp in B3.
        unfold true_of. rewrite E1, E2. destruct (strict a); lra. }
  destruct X as (r2 & P2 & H2). exists (Rmin r1 r2). split; [now apply Rmin_pos|]. intros r e f y Sm Be Hf Hy b [<-|Hb].
  - apply (H2 r e f y); auto. now apply (small_least r1 r2 r).
  - apply (H1 r e f y); auto. now apply (small_least r1 r2 r).
Qed.

Lemma near_passes run : forall q s rr O, possible g A V run q s rr = true -> negb (mixes g) || has_room V run s O = true ->
  exists r0, 0 < r0 /\ forall r, small r0 r -> passes r run s (near_store r s O).
Proof.
  induction run as [|c run IH]; intros q s rr O; cbn [possible passes has_room].
  { exists 1. split; [lra|easy]. }
  cbv zeta. see_goal. rewrite !andb_true_iff. intros [[_ H5] H6] HR. set (t := tr A (taken c)) in *.
  assert (HR' : negb (mixes g) || forallb (roomy s O (drawn c) (drawn_from V c O)) (atoms t) = true /\
    negb (mixes g) || has_room V run (updQ s t (drawn c)) (upd_origins O t (drawn_from V c O)) = true).
  { destruct (mixes g); simpl in *; [now apply andb_true_iff|easy]. }
  destruct HR' as [R1 R2]. destruct (IH _ _ _ _ H6 R2) as (r1 & P1 & Pa). destruct (roomy_atoms _ _ _ _ _ H5 R1) as (r2 & P2 & At).
  exists (Rmin r1 (Rmin r2 (1 / 2))). split; [repeat apply Rmin_pos; lra|]. intros r Sm.
  apply small_least in Sm as [S1 Sm]; [|easy]. apply small_least in Sm as [S2 S3]; [|easy].
  split; [|apply (passes_mono _ _ _ _ _ (next_near r c s O)); auto].
  intros f y Hf Hy. destruct (sample_off r c s O f y Hf Hy) as (e & Be & He & Ey). split; [now apply (At r e f y)|].
  intros u v _. rewrite !(value_near e s O f (drawn c) y (drawn_from V c O)) by easy.
  assert (Hr : 0 <= r <= 1 / 2) by (unfold small in S3; destruct (mixes g); lra).
  set (x := off e (origin_at O (drawn_from V c O) u)). set (x' := off e (origin_at O (drawn_from V c O) v)).
  pose proof (off_bound e r (origin_at O (drawn_from V c O) u) ltac:(lra) Be) as B1. fold x in B1.
  pose proof (off_bound e r (origin_at O (drawn_from V c O) v) ltac:(lra) Be) as B2. fold x' in B2.
  match goal with |- Rabs ?y <= 1 => replace y with (x + - x') by ring end.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra.
Qed.

Lemma nothing_near r0 r : small r0 r -> near_store r [] [] (fun _ => 0).
Proof.
  intros Sm. exists (fun _ => 0). split.
  - intros _. rewrite Rabs_R0. unfold small in Sm. destruct (mixes g); lra.
  - intros x. rewrite real_nil. simpl. ring.
Qed.

Hypothesis points_ok : mixes g = false -> points N T.
Lemma small_has r0 r : small r0 r -> has r.
Proof. unfold small, has. destruct (mixes g) eqn:M; [left; lra|right; split; [easy|auto]]. Qed.

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
  forall u v, In (Number u v) o -> Rabs (value f y u - value f y v - (Q2R (valueQ s z u) - Q2R (valueQ s z v))) <= 1.
Proof.
  induction o as [|i o IH]; cbn [map shows]; [easy|]. intros H u v [->|Hin].
  - cbn [seen shows_item] in H. apply around_iff. destruct (around _ _ _); [easy|]. simpl in H. exfalso. apply H. ring.
  - apply IH; auto. intros E. apply H. rewrite E. ring.
Qed.

Lemma shows_second q m s z z' f y : forall o, In Other o ->
  shows N A q m o (map (seen s z z') o) f y <= E N (law_of' (st A q)) (Q2R (d' (st A q))) (m + Q2R (mu' (st A q))) (fun x => ind (around (Q2R z') 1 x)).
Proof.
  induction o as [|i o IH]; [easy|]. intros Hin. cbn [map shows].
  pose proof (item_unit N A q m i (seen s z z' i) f y (Forall_inv (good_seen s z z' [i]))) as U.
  pose proof (shows_unit N A q m o (map (seen s z z') o) f y (good_seen s z z' o)) as U'.
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
  - destruct (Hw eq_refl) as (M & HM & H).
    set (b := Q2R (drawn' c)). set (m' := Q2R (mu' (st A q))).
    exists (M * exp (te * Rabs k) * exp (- te * (k * (m' - b)))). split; [repeat apply Rmult_lt_0_compat; auto; apply exp_pos|]. intros f y m.
    assert (Ho : In Other (out t)) by (apply existsb_exists in Ex as (x & Hx & Ox); now destruct x).
    eapply Rle_trans; [now apply shows_second|].
    set (B := exp (te * Rabs k + - te * (k * (m + m' - b)))). assert (HB : 0 <= B) by (left; apply exp_pos).
    assert (Le : E N (law_of' (st A q)) (Q2R (d' (st A q))) (m + m') (fun x => ind (around b 1 x)) <= M * B).
    { eapply Rle_trans; [|apply (H (m + m') B HB)].
      apply (E_le N); [apply good_ind, (good_around N T)|apply (good_exp N T)|apply unit_ind|now apply min_exp_unit|].
      intros x. destruct (around b 1 x) eqn:Ar; simpl.
      - apply around_iff in Ar. apply Rmin_glb; [lra|]. unfold B. rewrite <- exp_plus, <- exp_0. apply exp_mono.
        replace (te * Rabs k + - te * (k * (m + m' - b)) + - (te * k) * (x - (m + m'))) with (te * (Rabs k - k * (x - b))) by ring.
        apply Rmult_le_pos; [lra|]. assert (k * (x - b) <= Rabs k); [|lra].
        eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult. rewrite <- (Rmult_1_r (Rabs k)) at 2. apply Rmult_le_compat_l; [apply Rabs_pos|exact Ar].
      - apply (min_exp_unit _ (fun z => - (te * k) * (z - (m + m')))). exact HB. }
    unfold m', b in Le |- *. eapply Rle_trans; [exact Le|]. right. unfold B, m', b.
    match goal with |- _ = M * ?x * ?y * ?z => replace (M * x * y * z) with (M * (x * y * z)) by ring end. rewrite <- !exp_plus. f_equal. f_equal. ring.
  - exists 1. split; [lra|]. intros f y m. rewrite (H0' eq_refl).
    replace (- te * (0 * m)) with 0 by ring. rewrite exp_0. apply Rle_trans with 1; [|lra].
    apply shows_unit, good_seen.
Qed.

(* With the multiples k of its samples a step leads from one function of what is stored to another one, but for a constant. *)
Definition slopes (c : rstep) (k : R * R) (L L' : store -> R) : Prop :=
  let t := tr A (taken c) in
  let s := st A (src t) in
  falls (law_of s) (Q2R (d s)) (fst k) /\ (shows_other t = true -> falls (law_of' s) (Q2R (d' s)) (snd k)) /\
  (shows_other t = false -> snd k = 0) /\
  forall s, exists K, forall f z, (forall a, In a (atoms t) -> true_of f z a) ->
    (forall u v, In (Number u v) (out t) -> Rabs (value f z u - value f z v - (Q2R (valueQ s (drawn c) u) - Q2R (valueQ s (drawn c) v))) <= 1) ->
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
      { apply after_unit; [apply good_seen|intros; apply Pp_unit, good_run]. }
      apply (E_le N); [apply after_good; [apply good_seen|apply Pp_good, good_run]|apply (good_exp N T)|exact U|now apply min_exp_unit|].
      intros z. unfold Rmin. destruct (Rle_dec 1 _) as [|_]; [apply U|].
      unfold after_step. fold t. destruct (enabled t f z) eqn:En; [|apply Rmult_le_pos; [easy|left; apply exp_pos]].
      pose proof (shows_unit N A q (input A q a) (out t) (map (seen s (drawn c) (drawn' c)) (out t)) f z (good_seen s (drawn c) (drawn' c) (out t))) as Us.
      pose proof (Pp_unit N A (map taken run) (word run s') (tgt t) (upd f t z) (rest A q i a) (good_run run s')) as Up.
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
  - apply (E_tail N T); [lra|]. intros _. replace (Q2R 1 * Q2R dd) with (Q2R dd) in H by (unfold Q2R at 2; simpl; lra). exact H.
  - apply (tail_flat N T); [lra|]. now rewrite Q2R_0, Rmult_0_l in H.
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

(* Samples and stores for which the order of places is as said. *)
Definition in_order (F : order) (s : store) (z : R) : Prop := forall p q, In (p, q) F -> held s z p <= held s z q.
Definition fits_order (F : order) (s : store) : Prop := forall z, in_order F s z.

Lemma ends_hold a p q s z : ends_of a = Some (p, q) -> true_of s z a -> held s z p <= held s z q /\ (is_strict a = true -> held s z p < held s z q).
Proof.
  unfold ends_of, is_strict, true_of, value. destruct (Bool.eqb _ _) eqn:B; [|easy]. apply Bool.eqb_prop in B. cbn [andb].
  destruct (Qle_bool _ _) eqn:L; [|easy]. apply Qle_R in L. intros E.
  assert (St : Qlt_bool (plus (high a)) (plus (low a)) = true -> Q2R (plus (high a)) < Q2R (plus (low a))) by apply Qlt_R.
  rewrite <- B. destruct (negative (low a)); injection E as <- <-; intros H; (split; [destruct (strict a); lra|]); rewrite orb_true_iff;
  intros [S|S]; try (rewrite S in H; lra); specialize (St S); destruct (strict a); lra.
Qed.
Lemma said_holds t s z : enabled t s z = true -> in_order (said t) s z.
Proof.
  intros En p q H. unfold said in H. apply in_flat_map in H as (a & Ha & H). destruct (ends_of a) as [r|] eqn:E; [|easy]. destruct H as [->|[]].
  exact (proj1 (ends_hold a p q s z E (atoms_true t s z a En Ha))).
Qed.
Lemma once_each_In F r : In r (once_each F) -> In r F.
Proof. induction F as [|x F IH]; cbn [once_each fold_right]; [easy|]. fold (once_each F). destruct (listed _ x); [right; auto|intros [->|H]; [now left|right; auto]]. Qed.
Lemma place_eqb_eq p q : place_eqb p q = true -> p = q.
Proof. destruct p, q; simpl; try easy. intros H. apply Nat.eqb_eq in H. now subst. Qed.
Lemma listed_In F r : listed F r = true -> In r F.
Proof.
  unfold listed. rewrite existsb_exists. intros ([p q] & H & E). unfold pair_eqb in E. apply andb_true_iff in E as [E1 E2].
  apply place_eqb_eq in E1, E2. cbn [fst snd] in *. destruct r. cbn [fst snd] in *. now subst.
Qed.
Lemma composed_holds F s z : in_order F s z -> in_order (composed F) s z.
Proof.
  intros H p q Hpq. apply once_each_In in Hpq. apply in_app_or in Hpq as [Hpq|Hpq]; [auto|].
  apply in_flat_map in Hpq as ([p1 q1] & H1 & Hpq). apply in_map_iff in Hpq as ([p2 q2] & E & H2). apply filter_In in H2 as [H2 E2].
  cbn [fst snd] in *. apply place_eqb_eq in E2. injection E as <- <-. subst p2. pose proof (H _ _ H1). pose proof (H _ _ H2). lra.
Qed.
Lemma told_holds F t s z : fits_order F s -> enabled t s z = true -> in_order (told F t) s z.
Proof.
  intros HF En. unfold told. apply composed_holds, composed_holds. intros p q H. apply in_app_or in H as [H|H]; [now apply (said_holds t)|now apply HF].
Qed.
Lemma at_most_holds K s z p q : in_order K s z -> at_most K p q = true -> held s z p <= held s z q.
Proof.
  unfold at_most. intros HK H. apply orb_true_iff in H as [H|H]; [apply place_eqb_eq in H; subst; lra|]. now apply HK, listed_In.
Qed.
Lemma contradicts_order_holds F t s z : fits_order F s -> contradicts_order F t = true -> enabled t s z = false.
Proof.
  intros HF H. destruct (enabled t s z) eqn:En; [|easy]. unfold contradicts_order in H. apply existsb_exists in H as (a & Ha & H).
  destruct (ends_of a) as [[p q]|] eqn:E; [|easy]. apply andb_true_iff in H as [H1 H2].
  pose proof (at_most_holds _ s z _ _ (told_holds F t s z HF En) H2). pose proof (proj2 (ends_hold a p q s z E (atoms_true t s z a En Ha)) H1). lra.
Qed.
Lemma came_holds t s z z' p p' : came t p = Some p' -> held (upd s t z) z' p = held s z p'.
Proof.
  destruct p as [| |x]; cbn [came held]; [intros H; now injection H as <-|easy|]. unfold upd. destruct (mem x (asg t)); [intros H; now injection H as <-|].
  destruct (lookup x (copies t)) as [v|]; [|intros H; now injection H as <-]. destruct (negative v) eqn:Ng; [easy|]. cbn [negb andb].
  destruct (Qeq_bool (plus v) 0) eqn:Z; [|easy]. intros H. injection H as <-. unfold value. rewrite Ng. apply Qeq_bool_iff, Qeq_eqR in Z. rewrite Z, Q2R_0. ring.
Qed.
Lemma order_after_holds W F t s z : fits_order F s -> enabled t s z = true -> fits_order (order_after W F t) (upd s t z).
Proof.
  intros HF En z' p q H. unfold order_after in H. apply in_flat_map in H as (p0 & _ & H). apply in_flat_map in H as (q0 & _ & H).
  destruct (came t p0) as [p'|] eqn:Cp; [|easy]. destruct (came t q0) as [q'|] eqn:Cq; [|easy].
  destruct (negb _ && _) eqn:B; [|easy]. destruct H as [H|[]]. injection H as <- <-. apply andb_true_iff in B as [_ B].
  rewrite (came_holds t s z z' _ _ Cp), (came_holds t s z z' _ _ Cq). exact (at_most_holds _ s z _ _ (told_holds F t s z HF En) B).
Qed.

Lemma covers_fits r r' s : covers r r' = true -> fst r = fst r' /\ (fits_order (snd r') s -> fits_order (snd r) s).
Proof.
  unfold covers. rewrite andb_true_iff, forallb_forall. intros [E H]. apply Nat.eqb_eq in E. split; [easy|].
  intros F z p q Hpq. apply F, listed_In, H, Hpq.
Qed.
Lemma add_rivals_cover l l' r : In r l -> exists r', In r' (fold_right add_rival l' l) /\ (r' = r \/ covers r' r = true).
Proof.
  induction l as [|r0 l IH]; [easy|]. cbn [fold_right In]. unfold add_rival at 1. set (l1 := fold_right add_rival l' l) in *. intros [->|H].
  - destruct (existsb _ l1) eqn:Ex; [apply existsb_exists in Ex as (r' & H' & C); eauto|exists r; split; [now left|now left]].
  - destruct (IH H) as (r' & H' & C). exists r'. split; [|easy]. destruct (existsb _ l1); [easy|now right].
Qed.

(* Paths that show what the run shows have probability 0: those that start at a rival's state in its order, and those
   that start where the run does and are not its own. *)
Definition clear (run : list rstep) (x : pursued) : Prop := forall s p q' f a, chain A q' p -> chain A (fst (fst x)) (map taken run) ->
  (exists F, In (q', F) (snd x) /\ fits_order F f) \/ (q' = fst (fst x) /\ fits_order (snd (fst x)) f /\ p <> map taken run) ->
  P p (word run s) q' f a = 0.

Lemma led_holds W i r among j f z : In j among -> fits_order (snd r) f -> enabled (tr A j) f z = true -> alike (out (tr A j)) (out (tr A i)) = true ->
  In (tgt (tr A j), order_after W (snd r) (tr A j)) (led W V i r among) /\ fits_order (order_after W (snd r) (tr A j)) (upd f (tr A j) z).
Proof.
  intros Hj HF En Lk. split; [|now apply order_after_holds]. unfold led. apply in_flat_map. exists j. split; [easy|]. see_goal. rewrite Lk.
  destruct (contradicts_order (snd r) (tr A j)) eqn:C; [pose proof (contradicts_order_holds _ _ f z HF C); congruence|]. now left.
Qed.
Lemma clear_step W c run x : clear run (pursue_step W V (taken c) x) -> clear (c :: run) x.
Proof.
  intros Cl s p q' f a Hc Hc' Hp. destruct x as [r rivals]. cbn [fst snd map word chain] in *. destruct p as [|j p]; [reflexivity|]. cbn [Pp].
  destruct Hc as [Hj Hc]. set (i := taken c) in *. set (t := tr A i) in *.
  destruct (alike (out (tr A j)) (out t)) eqn:Lk.
  2: { apply not_alike_0. intros z. now apply alike_shows. }
  unfold step. apply E_zero. intros z. unfold after_step. destruct (enabled (tr A j) f z) eqn:En; [|easy].
  rewrite (Cl (updQ s t (drawn c)) p (tgt (tr A j)) (upd f (tr A j) z) _ Hc); [ring|apply Hc'|].
  unfold pursue_step. cbn [fst snd]. see_goal. fold t.
  assert (In_all : forall r0 among, In j among -> fits_order (snd r0) f -> (forall r1, In r1 (led W V i r0 among) ->
    In r1 (led W V i r (filter (fun j => negb (Nat.eqb j i)) (leaving A (fst r))) ++ flat_map (fun r' => led W V i r' (leaving A (fst r'))) rivals)) ->
    exists F, In (tgt (tr A j), F) (fold_right add_rival [] (led W V i r (filter (fun j => negb (Nat.eqb j i)) (leaving A (fst r))) ++
      flat_map (fun r' => led W V i r' (leaving A (fst r'))) rivals)) /\ fits_order F (upd f (tr A j) z)).
  { intros r0 among Ha HF Sub. destruct (led_holds W i r0 among j f z Ha HF En Lk) as [L1 L2]. apply Sub in L1.
    destruct (add_rivals_cover _ [] _ L1) as ([q1 F1] & L3 & [E|C]).
    - injection E as -> ->. eauto.
    - destruct (covers_fits _ _ (upd f (tr A j) z) C) as [E Fi]. cbn [fst snd] in *. subst q1. eauto. }
  destruct Hp as [(F & Hr & HF)|(-> & HF & Ne)].
  - left. apply (In_all (q', F) (leaving A q')); auto. intros r1 H1. apply in_or_app. right. apply in_flat_map. now exists (q', F).
  - destruct (Nat.eq_dec j i) as [->|Nj].
    + right. split; [easy|]. split; [now apply order_after_holds|]. intros ->. now apply Ne.
    + left. apply (In_all r (filter (fun j => negb (Nat.eqb j i)) (leaving A (fst r)))); auto.
      * apply filter_In. split; [easy|]. apply negb_true_iff. now apply Nat.eqb_neq.
      * intros r1 H1. apply in_or_app. now left.
Qed.
Lemma clear_run W run2 run : forall x, clear run2 (pursue W V (map taken run) x) -> clear (run ++ run2) x.
Proof.
  induction run as [|c run IH]; intros x; cbn [app map pursue fold_left]; [easy|]. intros H. apply (clear_step W). now apply IH.
Qed.
Lemma clear_end x : nonempty (snd x) = false -> clear [] x.
Proof.
  intros H s p q' f a _ _ [(F & Hr & _)|(_ & _ & Ne)]; [apply nonempty_false in H; rewrite H in Hr; easy|]. destruct p; [contradiction|reflexivity].
Qed.
Lemma clear_settled run x y : settled x y = true -> clear run x -> clear run y.
Proof.
  unfold settled. rewrite andb_true_iff, forallb_forall. intros [C H] Cl s p q' f a Hc Hc' Hp. destruct (covers_fits _ _ f C) as [E Fi].
  apply (Cl s p q' f a Hc); [now rewrite E|]. destruct Hp as [(F & Hr & HF)|(-> & HF & Ne)].
  - left. specialize (H _ Hr). apply existsb_exists in H as ([q1 F1] & H1 & C1). destruct (covers_fits _ _ f C1) as [E1 Fi1]. cbn [fst snd] in *. subst q1. eauto.
  - right. rewrite E. auto.
Qed.
(* What is covered is clear, too: more rivals do no harm. *)
Lemma clear_more run r l l' : (forall r', In r' l -> exists r'', In r'' l' /\ (r'' = r' \/ covers r'' r' = true)) -> clear run (r, l') -> clear run (r, l).
Proof.
  intros H Cl s p q' f a Hc Hc' Hp. apply (Cl s p q' f a Hc Hc'). cbn [fst snd] in *. destruct Hp as [(F & Hr & HF)|Hp]; [left|now right].
  destruct (H _ Hr) as ([q1 F1] & H1 & [E|C]); [injection E as -> ->; eauto|]. destruct (covers_fits _ _ f C) as [E1 Fi1]. cbn [fst snd] in *. subst q1. eauto.
Qed.
Lemma spread_covers W fuel round r : forall l r', In r' l -> exists r'', In r'' (spread W V fuel round r l) /\ (r'' = r' \/ covers r'' r' = true).
Proof.
  assert (Trans : forall a b c, (a = b \/ covers a b = true) -> (b = c \/ covers b c = true) -> (a = c \/ covers a c = true)).
  { intros a b c [->|C] [->|C']; auto. right. unfold covers in *. rewrite andb_true_iff, forallb_forall in *. destruct C as [E H], C' as [E' H'].
    apply Nat.eqb_eq in E, E'. split; [apply Nat.eqb_eq; congruence|]. intros x Hx. specialize (H x Hx). apply listed_In in H. now apply H'. }
  induction fuel as [|fuel IH]; intros l r' Hr; cbn [spread]; [eauto|]. destruct (forallb _ _); [eauto|].
  assert (Old : forall m, In r' (fold_right add_rival l m)).
  { induction m as [|x m IHm]; cbn [fold_right]; [easy|]. unfold add_rival at 1. destruct (existsb _ _); [easy|now right]. }
  apply IH, Old.
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

Lemma prob_alone run a : deterministic N A -> clear run ((initial A, []), []) -> chain A (initial A) (map taken run) ->
  prob N A a (word run []) = P (map taken run) (word run []) (initial A) (fun _ => 0) (a, fun _ => 0).
Proof.
  intros Det Al Hc. unfold prob. rewrite (Pr_paths N A Det _ (good_run run [])).
  apply (sum_one (fun p => P p (word run []) (initial A) (fun _ => 0) (a, fun _ => 0)) _ (map taken run)).
  - apply paths_NoDup.
  - rewrite word_length, <- (map_length taken). now apply chain_paths.
  - intros p Hp Ne. apply Al; [eapply paths_chain; eauto|exact Hc|]. right. cbn [fst snd]. split; [easy|]. split; [easy|exact Ne].
Qed.

(* -- differences -- *)

Lemma follows_allows run : check_model g A V = true -> forall k, follows V (length (differ A)) run k = true ->
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

Lemma more_near c run : check_claim c = true -> forallb (check_more g V c) run = true -> forall x,
  Q2R (c_sens c * c_low c) <= - stream_of more run x <= Q2R (c_sens c * c_high c).
Proof.
  intros Hc Hm x. unfold stream_of.
  assert (Z : Q2R (c_sens c * c_low c) <= 0 <= Q2R (c_sens c * c_high c)).
  { unfold check_claim in Hc. rewrite !andb_true_iff in Hc. destruct Hc as [[H1 H2] H3]. apply Qle_R in H1, H2. apply Qlt_R in H3.
    rewrite Q2R_0 in *. rewrite !Q2R_mult. split; nra. }
  assert (Hin : forall y, In y (entries_of more run) -> Q2R (c_sens c * c_low c) <= - Q2R y <= Q2R (c_sens c * c_high c)).
  { clear x. induction run as [|s run IH]; simpl; [easy|]. cbn [forallb] in Hm. apply andb_true_iff in Hm as [H1 H2].
    unfold check_more in H1. see H1. intros y. destruct (reads (st A (src (tr A (taken s))))); [|auto]. cbn [negb orb] in H1.
    intros [<-|Hy]; [|auto]. rewrite !andb_true_iff in H1. destruct H1 as [[[H1 H3] _] _]. apply Qle_R in H1, H3. rewrite Q2R_opp in *. lra. }
  destruct (nth_in_or_default x (entries_of more run) 0%Q) as [H|E]; [auto|]. rewrite E, Q2R_0. lra.
Qed.

Lemma entries_ok c run : forallb (check_more g V c) run = true -> forall x,
  ok N (stream_of entry_at run x) /\ ok N (stream_of more run x).
Proof.
  intros Hm x. unfold stream_of.
  assert (Hin : forall h, h = entry_at \/ h = more -> forall y, In y (entries_of h run) -> ok N (Q2R y)).
  { intros h Hh. induction run as [|s run IH]; simpl; [easy|]. cbn [forallb] in Hm. apply andb_true_iff in Hm as [H1 H2].
    unfold check_more in H1. see H1. intros y. destruct (reads (st A (src (tr A (taken s))))); [|auto]. cbn [negb orb] in H1.
    intros [<-|Hy]; [|auto]. rewrite !andb_true_iff in H1. destruct H1 as [[_ H3] H4]. destruct Hh as [-> | ->]; now apply okq_ok. }
  assert (Z : ok N (Q2R 0)) by (rewrite Q2R_0; apply ok_0).
  split; match goal with |- ok N (Q2R (nth x (entries_of ?h run) 0%Q)) =>
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

(* Inputs that the noise allows, adjacent, and a word of sets for which they differ by more than D'. *)
Definition differ_by (c : claim) (D' : R) : Prop :=
  exists alpha beta, (forall i, ok N (alpha i)) /\ adjacent N A c alpha beta /\
    exists w, good_word N w /\ exp (eps * D') * prob N A beta w < prob N A alpha w.

(* A run that is alone and possible, and as rare far away as a slope W says, has neighbours that differ by more than D'. *)
Lemma neighbours c run ks L th W D' r S : check_claim c = true -> check_model g A V = true ->
  possible g A V run (initial A) [] [] = true -> has r -> passes r run [] S -> S (fun _ => 0) ->
  forallb (check_more g V c) run = true ->
  follows V (length (differ A)) run 0 = true -> clear run ((initial A, []), []) ->
  sloped (th * eps) run ks L (fun _ => 0) -> pulling run ks (stream_of more run, real []) = W -> 0 < th -> D' < th * W ->
  differ_by c D'.
Proof.
  intros Cc HM Po Hr0 Pa S0 Mo Fo Al Sl EW Hth Hr.
  destruct (possible_likely r run Hr0 _ _ _ S Po Pa) as [Hch (c0 & C0 & Pos)]. rewrite real_nil in Pos, EW. specialize (Pos _ S0).
  set (w := word run []) in *. set (p := map taken run) in *.
  set (at_ := fun (k : nat) x => stream_of entry_at run x + INR k * stream_of more run x).
  set (f := fun k => P p w (initial A) (fun _ => 0) (at_ k, fun _ => 0)).
  assert (Pr' : forall k, prob N A (at_ k) w = f k).
  { intros k. apply prob_alone; auto. apply (det N g A H0 smooth_ok HM). }
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
  destruct (classic (exists k, exp (eps * D') * f (Datatypes.S k) < f k)) as [[k Hk]|No].
  - exists (at_ k), (at_ (Datatypes.S k)).
    assert (Df : forall x, at_ k x - at_ (Datatypes.S k) x = - stream_of more run x) by (intros x; unfold at_; rewrite S_INR; ring).
    assert (Ok : forall k x, ok N (at_ k x)).
    { intros j x. destruct (entries_ok c run Mo x) as [O1 O2]. apply ok_plus; [exact O1|].
      induction j as [|j IH]; [simpl; rewrite Rmult_0_l; apply ok_0|]. rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l. now apply ok_plus. }
    split; [apply Ok|split; [split|]].
    + intros x. rewrite Df. split; [apply (more_near c run Cc Mo)|]. apply ok_opp, (entries_ok c run Mo).
    + intros j. replace (fun i => at_ k i - at_ (Datatypes.S k) i) with (fun x => - stream_of more run x) by (apply functional_extensionality; intros x; now rewrite Df).
      now apply follows_allows.
    + exists w. split; [apply good_run|]. now rewrite !Pr'.
  - exfalso.
    assert (Up : forall k, f 0%nat <= exp (eps * D' * INR k) * f k).
    { induction k as [|k IH]; [simpl; rewrite Rmult_0_r, exp_0; lra|].
      assert (Lk : f k <= exp (eps * D') * f (Datatypes.S k)) by (apply Rnot_lt_le; intros Lk; apply No; eauto).
      rewrite S_INR. replace (eps * D' * (INR k + 1)) with (eps * D' * INR k + eps * D') by ring. rewrite exp_plus.
      eapply Rle_trans; [exact IH|]. rewrite (Rmult_assoc (exp (eps * D' * INR k))). apply Rmult_le_compat_l; [left; apply exp_pos|exact Lk]. }
    set (B := M * exp (- (th * eps) * (L (fun _ => 0) + pulling run ks a0))).
    assert (HB : 0 < B) by (apply Rmult_lt_0_compat; [easy|apply exp_pos]).
    assert (F0 : 0 < f 0%nat).
    { unfold f. replace (at_ 0%nat) with (stream_of entry_at run); [eapply Rlt_le_trans; [exact C0|exact Pos]|]. apply functional_extensionality. intros x. unfold at_. simpl. ring. }
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
End Run.
