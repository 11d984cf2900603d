(* Two copies of an automaton side by side: what the first one shows is at most exp(eps*D) times as likely as that the second one
   shows it, for certificates that the checker accepts and any noise that obeys the axioms. *)
From Coq Require Import Reals QArith Qreals List Bool Arith Lra Lia Permutation FunctionalExtensionality.
From Symdipa.Core Require Import Model Lookup Checker Differences Relational.
From Symdipa.Above Require Import Paths Facts Cover Ways.
Import ListNotations.
Open Scope R_scope.

Ltac peek H := cbn [tr_of st_of leaving_of stored_of moves_of lesser_of plain control_of edges_of letter_at able_of sure_of before_of made_of
  node_at set_at pairs_of pplain] in H.
Ltac peek_goal := cbn [tr_of st_of leaving_of stored_of moves_of lesser_of plain control_of edges_of letter_at able_of sure_of before_of made_of
  node_at set_at pairs_of pplain].

(* ---- Lists ---- *)

Lemma NoDup_flat {X Y} (f : X -> list Y) l : NoDup l -> (forall x, In x l -> NoDup (f x)) ->
  (forall x x' y, In y (f x) -> In y (f x') -> x = x') -> NoDup (flat_map f l).
Proof.
  induction 1 as [|x l Hx Hl IH]; simpl; intros Hf Hd; [constructor|].
  assert (forall m m' : list Y, NoDup m -> NoDup m' -> (forall y, In y m -> In y m' -> False) -> NoDup (m ++ m')) as App.
  { clear. induction m as [|y m IH]; simpl; intros m' H H' D; [easy|]. inversion_clear H. constructor.
    - rewrite in_app_iff. intros [?|?]; [contradiction|]. apply (D y); auto.
    - apply IH; auto. intros z ? ?. apply (D z); auto. }
  apply App; auto. intros y Hy Hy'. apply in_flat_map in Hy' as (x' & Hx' & Hy'). now rewrite <- (Hd x x' y Hy Hy') in Hx'.
Qed.
Lemma NoDup_cons_each {X} (x : X) l : NoDup l -> NoDup (map (cons x) l).
Proof. intros H. apply FinFun.Injective_map_NoDup; [|easy]. now intros m m' [=]. Qed.
Lemma sum_permuted {X} (f : X -> R) l l' : Permutation l l' -> sum f l = sum f l'.
Proof. induction 1; simpl; lra. Qed.

Lemma all2_spec {X Y} (f : X -> Y -> bool) l : forall l', all2 f l l' = true -> Forall2 (fun x y => f x y = true) l l'.
Proof. induction l as [|x l IH]; intros [|y l']; simpl; try easy. rewrite andb_true_iff. intros [H1 H2]. constructor; auto. Qed.
Lemma nat_all2 l : forall l', all2 Nat.eqb l l' = true -> l = l'.
Proof. intros l' H. apply all2_spec in H. induction H as [|x y l l' E _ IH]; [easy|]. apply Nat.eqb_eq in E. now subst. Qed.
Lemma sight_eqb_spec a b : sight_eqb a b = true -> a = b.
Proof. destruct a, b; simpl; try easy. intros H. apply Nat.eqb_eq in H. now subst. Qed.
Lemma sights_all2 l l' : all2 sight_eqb l l' = true -> l = l'.
Proof. intros H. apply all2_spec in H. induction H as [|x y l l' E _ IH]; [easy|]. apply sight_eqb_spec in E. now subst. Qed.
Lemma law_eqb_spec l l' : law_eqb l l' = true -> l = l'.
Proof. now destruct l, l'. Qed.
Lemma Qeq_R x y : Qeq_bool x y = true -> Q2R x = Q2R y.
Proof. intros H. now apply Qeq_eqR, Qeq_bool_iff. Qed.


(* ---- Samples of two copies ---- *)

Section Samples.
Context {eps : R} (N : noise eps).

(* Whatever the two samples are, as far as they are typical: nothing ties them. *)
Lemma E_untied l l' dd dd' m m' s s' h h' K : 0 < K -> good N h -> good N h' -> unit_fun h -> unit_fun h' ->
  (forall z z', typical (atomless N) (ok N) l dd m s z -> typical (atomless N) (ok N) l' dd' m' s' z' -> h z <= K * h' z') ->
  E N l dd m h <= K * E N l' dd' m' h'.
Proof.
  intros HK G G' U U' H.
  destruct (completeness (fun y => y = 0 \/ exists z, typical (atomless N) (ok N) l dd m s z /\ y = h z)) as [c [Up Lub]].
  { exists 1. intros y [->|(z & _ & ->)]; [lra|apply U]. }
  { exists 0. now left. }
  assert (C : forall z, typical (atomless N) (ok N) l dd m s z -> h z <= c) by (intros z Hz; apply Up; right; now exists z).
  assert (C0 : 0 <= c) by (apply Up; now left).
  assert (C1 : c <= 1) by (apply Lub; intros y [->|(z & _ & ->)]; [lra|apply U]).
  assert (C' : forall z', typical (atomless N) (ok N) l' dd' m' s' z' -> c <= K * h' z').
  { intros z' Hz'. apply Lub. intros y [->|(z & Hz & ->)]; [apply Rmult_le_pos; [lra|apply U']|now apply H]. }
  assert (CK : c = K * (c / K)) by (field; lra).
  assert (D0 : 0 <= c / K) by (apply Rmult_le_pos; [easy|]; apply Rlt_le; now apply Rinv_0_lt_compat).
  apply (Rle_trans _ c).
  - rewrite <- (E_const eps N l dd m c) by lra. apply (E_mono eps N l dd m s); auto using good_const. now intros z.
  - rewrite CK. apply Rmult_le_compat_l; [lra|].
    assert (Least : forall z', typical (atomless N) (ok N) l' dd' m' s' z' -> c / K <= h' z').
    { intros z' Hz'. apply (Rmult_le_reg_l K); auto. rewrite <- CK. now apply C'. }
    destruct (Rle_lt_dec (c / K) 1) as [D1|D1].
    + rewrite <- (E_const eps N l' dd' m' (c / K)) by lra. apply (E_mono eps N l' dd' m' s'); auto using good_const. now intros z.
    + (* then no sample is typical *)
      exfalso. assert (E N l' dd' m' (fun _ => 1) <= E N l' dd' m' (fun _ => 0)); [|rewrite !(E_const eps N) in H0; lra].
      apply (E_mono eps N l' dd' m' s'); auto using good_const; try (intros z; lra). intros z' Hz'. pose proof (Least z' Hz'). pose proof (U' z'). lra.
Qed.

(* The second sample is larger by [sh], but it is enough to look at typical ones. *)
Lemma both_typical l dd m m' sh (s s' : store) : allowed l (m' - m - sh) -> ok N (m' - m - sh) -> exists S, forall z, typical (atomless N) (ok N) l dd m S z ->
  typical (atomless N) (ok N) l dd m s z /\ typical (atomless N) (ok N) l dd m' s' (z + sh).
Proof.
  intros Al Om. set (S := fun k => match Nat.modulo k 4 with 0%nat => s (Nat.div k 4) | 1%nat => s' (Nat.div k 4) - sh | 2%nat => - s' (Nat.div k 4) - sh | _ => - sh end).
  assert (SE : forall x k, (k < 4)%nat -> Nat.modulo (4 * x + k) 4 = k /\ Nat.div (4 * x + k) 4 = x).
  { intros x k Hk. split; [symmetry; apply (Nat.mod_unique _ 4 x k); lia|symmetry; apply (Nat.div_unique _ 4 x k); lia]. }
  assert (S0 : forall x, S (4 * x + 0)%nat = s x) by (intros x; unfold S; destruct (SE x 0%nat ltac:(lia)) as [-> ->]; reflexivity).
  assert (S1 : forall x, S (4 * x + 1)%nat = s' x - sh) by (intros x; unfold S; destruct (SE x 1%nat ltac:(lia)) as [-> ->]; reflexivity).
  assert (S2 : forall x, S (4 * x + 2)%nat = - s' x - sh) by (intros x; unfold S; destruct (SE x 2%nat ltac:(lia)) as [-> ->]; reflexivity).
  assert (S3 : S 3%nat = - sh) by reflexivity.
  clearbody S. exists S. intros z (Su & Ok & Fr). split; split; [easy|split; [easy|]| |split].
  - intros At Ne D. destruct (Fr At Ne D) as [F0 F]. split; [easy|]. intros x. rewrite <- S0. apply F.
  - destruct l; cbn [supported allowed] in *; lra.
  - replace (z + sh - m') with (z - m + - (m' - m - sh)) by ring. apply ok_plus; [easy|now apply ok_opp].
  - intros At Ne D. destruct (Fr At Ne D) as [F0 F]. split.
    + replace (z + sh) with (z - S 3%nat) by (rewrite S3; ring). apply F.
    + intros x. split.
      * replace (z + sh - s' x) with (z - S (4 * x + 1)%nat) by (rewrite S1; ring). apply F.
      * replace (z + sh + s' x) with (z - S (4 * x + 2)%nat) by (rewrite S2; ring). apply F.
Qed.
Lemma E_tied l dd m m' s s' sh h h' K : live l dd -> allowed l (m' - m - sh) -> ok N sh -> ok N (m' - m) -> 0 <= K ->
  good N h -> good N h' -> unit_fun h -> unit_fun h' ->
  (forall z, typical (atomless N) (ok N) l dd m s z -> typical (atomless N) (ok N) l dd m' s' (z + sh) -> h z <= K * h' (z + sh)) ->
  E N l dd m h <= K * exp (eps * (dd * Rabs (m' - m - sh))) * E N l dd m' h'.
Proof.
  intros Li Al Os Om HK G G' U U' H. destruct (both_typical l dd m m' sh s s' Al) as [S HS].
  { apply (ok_plus eps N _ (- _)); [easy|now apply ok_opp]. }
  pose (h1 := fun z => Rmin (h z) (K * h' (z - - sh))).
  assert (G1 : good N h1) by now apply (good_least eps N).
  assert (U1 : unit_fun h1).
  { intros z. unfold h1. split; [apply Rmin_glb; [apply U|apply Rmult_le_pos; [easy|apply U']]|].
    eapply Rle_trans; [apply Rmin_l|apply U]. }
  apply (Rle_trans _ (E N l dd m h1)).
  - apply (E_mono eps N l dd m S); auto. intros z Hz. destruct (HS z Hz) as [T T']. unfold h1. apply Rmin_glb; [lra|].
    replace (z - - sh) with (z + sh) by ring. now apply H.
  - replace m' with (m - (- (m' - m))) at 2 by ring. replace (m' - m - sh) with (- sh - - (m' - m)) by ring.
    apply (E_shift eps N); auto using ok_opp.
    + replace (- sh - - (m' - m)) with (m' - m - sh) by ring. exact Al.
    + intros z. unfold h1. apply Rmin_r.
Qed.

(* What a tie costs: the second sample is larger by the number in the range that is nearest to how much its mean is. *)
Lemma price_spec l dd apart D sh p Delta : price l dd apart D sh = Some p -> live l (Q2R dd) -> Q2R (fst sh) <= Q2R (snd sh) ->
  Q2R (fst D) <= Delta <= Q2R (snd D) ->
  let free := Q2R apart - Delta in let s := nearest [Q2R (fst sh)] [Q2R (snd sh)] free in
  Q2R (fst sh) <= s <= Q2R (snd sh) /\ allowed l (free - s) /\ Q2R dd * Rabs (free - s) <= Q2R p.
Proof.
  intros HP HL Hab HD free s. destruct (nearest_spec [Q2R (fst sh)] [Q2R (snd sh)] free) as (S1 & S2 & S3).
  { intros f c [<-|[]] [<-|[]]. easy. }
  fold s in S1, S2, S3. assert (B : Q2R (fst sh) <= s <= Q2R (snd sh)) by (split; [apply S1|apply S2]; now left).
  split; [easy|].
  unfold price in HP. cbv zeta in HP. set (above := (fst sh - (apart - snd D))%Q) in *. set (under := (apart - fst D - snd sh)%Q) in *.
  assert (Ab : Q2R (fst sh) - free <= Q2R above) by (unfold above, free; rewrite !Q2R_minus; lra).
  assert (Un : free - Q2R (snd sh) <= Q2R under) by (unfold under, free; rewrite !Q2R_minus; lra).
  assert (Mx : forall x y, Q2R x <= Q2R (maximum x y) /\ Q2R y <= Q2R (maximum x y) /\ (maximum x y = x \/ maximum x y = y)).
  { intros x y. unfold maximum. destruct (Qle_bool x y) eqn:Q; [apply Qle_R in Q|apply Qle_R_not in Q]; split; try split; auto; lra. }
  set (M := maximum 0 (maximum above under)) in *.
  assert (M0 : 0 <= Q2R M) by (rewrite <- Q2R_0; apply Mx).
  assert (M1 : Q2R above <= Q2R M) by (eapply Rle_trans; [|apply Mx]; apply Mx).
  assert (M2 : Q2R under <= Q2R M) by (eapply Rle_trans; [|apply Mx]; apply Mx).
  assert (Near : Rabs (s - free) <= Q2R M).
  { apply S3; auto; intros f [<-|[]]; lra. }
  rewrite Rabs_minus_sym in Near.
  assert (Cost : 0 <= Q2R dd -> Q2R dd * Rabs (free - s) <= Q2R (dd * M)).
  { intros. rewrite Q2R_mult. now apply Rmult_le_compat_l. }
  destruct l; simpl in HL |- *.
  - inversion HP. subst p. split; [easy|]. apply Cost. lra.
  - destruct (Qle_bool under 0) eqn:L; [|easy]. inversion HP. subst p. apply Qle_R in L. rewrite Q2R_0 in L.
    split; [|apply Cost; lra]. unfold s, nearest. simpl. rewrite (Rmin_right (Q2R (snd sh)) free) by lra.
    pose proof (Rmax_r (Q2R (fst sh)) free). lra.
  - destruct (Qle_bool under 0) eqn:L; [|easy]. destruct (Qle_bool above 0) eqn:L'; [|easy]. inversion HP. subst p.
    apply Qle_R in L, L'. rewrite Q2R_0 in L, L'.
    assert (s = free) as ->. { unfold s, nearest. simpl. rewrite Rmin_right, Rmax_right by lra. easy. }
    replace (free - free) with 0 by lra. split; [easy|]. rewrite Rabs_R0, Rmult_0_r, Q2R_mult.
    assert (Q2R M <= 0); [|replace (Q2R M) with 0 by lra; lra].
    destruct (Mx 0%Q (maximum above under)) as (_ & _ & [E|E]); fold M in E; rewrite E; [rewrite Q2R_0; lra|].
    destruct (Mx above under) as (_ & _ & [E'|E']); rewrite E'; lra.
Qed.
End Samples.

(* ---- What bounds say of what both copies hold ---- *)

Lemma enabled_atoms t s z : (forall a, In a (atoms t) -> true_of s z a) -> enabled t s z = true.
Proof.
  intros H. unfold atoms in H. apply enabled_iff. split; [|split].
  - intros x Hx. assert (T := H _ (in_or_app _ _ _ (or_introl (in_map _ _ _ Hx)))).
    unfold true_of, value in T. simpl in T. rewrite Q2R_0 in T. lra.
  - intros x Hx. assert (T := H _ (in_or_app _ _ _ (or_intror (in_or_app _ _ _ (or_introl (in_map _ _ _ Hx)))))).
    unfold true_of, value in T. simpl in T. rewrite Q2R_0 in T. lra.
  - intros a Ha. apply H. rewrite !in_app_iff. auto.
Qed.

Section Spots.
Context {eps : R} (N : noise eps) (g : grade).
Hypothesis okq_ok : forall q, shift_ok g q = true -> ok N (Q2R q).
Hypothesis whole_ok : whole g = true -> forall x, ok N x -> integer x.

(* Where inputs are integers, so are all values. *)
Definition whole_if (x : R) : Prop := whole g = true -> ok N x.
Lemma tight_obeyed v x y b : whole_if (v x - v y) -> obeys v x y b -> obeys v x y (tight g b).
Proof.
  intros G. unfold tight, obeys. destruct (whole g && unreached b && shift_ok g (most b)) eqn:E; [|easy].
  rewrite !andb_true_iff in E. destruct E as [[Wh U] O]. rewrite U. cbn [most unreached]. rewrite Q2R_minus.
  destruct (whole_ok Wh _ (G Wh)) as [i ->], (whole_ok Wh _ (okq_ok _ O)) as [j ->]. intros H. apply lt_IZR in H.
  replace (Q2R 1) with 1 by (unfold Q2R; simpl; lra). rewrite <- minus_IZR. apply IZR_le. lia.
Qed.

Variables (s : store) (z : R) (s' : store) (z' : R).
Definition store_of (c : bool) := if c then s' else s.
Definition sample_of (c : bool) := if c then z' else z.
Definition at_spot (x : spot) : R := held (store_of (fst x)) (sample_of (fst x)) (snd x).
Local Notation possible := (possible at_spot).

Lemma at_spot_of c v : negative v = false -> value (store_of c) (sample_of c) v = at_spot (spot_in c v) + Q2R (plus v).
Proof. unfold value, spot_in, at_spot. intros ->. destruct (whence v); reflexivity. Qed.

Definition all_whole (c : bool) : Prop := (forall x, whole_if (store_of c x)) /\ whole_if (sample_of c).
Lemma whole_spot c p q : all_whole c -> whole_if (at_spot (spot_of c p) - at_spot (spot_of c q)).
Proof.
  intros [Wx Wz] Hw. assert (G : forall p, ok N (at_spot (spot_of c p))).
  { intros [| |x]; unfold at_spot; simpl; [apply ok_0|now apply Wz|now apply Wx]. }
  apply (ok_plus eps N _ (- _)); [apply G|apply ok_opp, G].
Qed.
Lemma atom_possible c a M : all_whole c -> possible M -> true_of (store_of c) (sample_of c) a -> possible (learn_atom g c a M).
Proof.
  intros Wh H T. unfold learn_atom. destruct (negative (low a)) eqn:L; [easy|]. destruct (negative (high a)) eqn:G; [easy|]. cbn [orb].
  apply learn_obeyed; [easy|]. apply tight_obeyed; [now apply whole_spot|]. unfold true_of in T. rewrite !at_spot_of in T by easy. unfold obeys. cbn [most unreached].
  rewrite Q2R_minus. destruct (strict a); lra.
Qed.
Lemma atoms_possible c l M : all_whole c -> possible M -> (forall a, In a l -> true_of (store_of c) (sample_of c) a) -> possible (learn_atoms g c l M).
Proof.
  intros Wh H T. unfold learn_atoms. induction l as [|a l IH]; simpl; [easy|]. apply atom_possible; [easy| |apply T; now left]. apply IH. intros. apply T. now right.
Qed.
Lemma facts_possible l M : possible M -> (forall f, In f l -> obeys at_spot (f_low f) (f_high f) (f_limit f)) -> possible (learn_facts l M).
Proof.
  intros H F. unfold learn_facts. induction l as [|f l IH]; simpl; [easy|]. apply learn_obeyed; [|apply F; now left].
  apply IH. intros. apply F. now right.
Qed.
Lemma tied_possible shift M : possible M -> (forall a b, shift = Some (a, b) -> Q2R a <= z' - z <= Q2R b) -> possible (tied shift M).
Proof.
  intros H T. unfold tied. destruct shift as [[a b]|]; [|easy]. specialize (T a b eq_refl).
  apply learn_obeyed; [apply learn_obeyed; [easy|]|]; unfold obeys, at_spot; simpl; rewrite ?Q2R_opp; lra.
Qed.

Lemma true_or_not c a : true_of (store_of c) (sample_of c) a \/ ~ true_of (store_of c) (sample_of c) a.
Proof. rewrite <- holds_iff. destruct (holds _ _ _); [now left|now right]. Qed.
Lemma goes_on_spec c (ls : list (list atom)) : all_whole c -> forall M, possible M -> goes_on g c ls M = true ->
  exists l, In l ls /\ forall a, In a l -> ~ true_of (store_of c) (sample_of c) a.
Proof.
  intros Wh. induction ls as [|l ls IH]; intros [M|] H; simpl; try easy. intros G.
  assert (D : (forall a, In a l -> ~ true_of (store_of c) (sample_of c) a) \/ exists a, In a l /\ true_of (store_of c) (sample_of c) a).
  { clear. induction l as [|a l [IH|(b & Hb & IH)]]; [now left| |right; exists b; split; [now right|easy]].
    destruct (true_or_not c a) as [H|H]; [right; exists a; split; [now left|easy]|left; intros b [<-|Hb]; auto]. }
  destruct D as [D|(a & Ha & T)].
  - exists l. split; [now left|easy].
  - rewrite forallb_forall in G. destruct (IH _ (atom_possible c a (Some M) Wh H T) (G a Ha)) as (l' & Hl & E). exists l'. split; [now right|easy].
Qed.

(* Transitions that have the same effect. *)
Lemma term_eqb_spec (s0 : store) z0 v w : term_eqb v w = true -> value s0 z0 v = value s0 z0 w.
Proof.
  unfold term_eqb. rewrite andb_true_iff. intros [H1 H2]. apply Qeq_R in H2. pose proof (same_place_spec v w s0 z0 H1). lra.
Qed.
Lemma atom_eqb_spec c a b : atom_eqb a b = true -> (true_of (store_of c) (sample_of c) a <-> true_of (store_of c) (sample_of c) b).
Proof.
  unfold atom_eqb. rewrite !andb_true_iff. intros [[L H] S]. apply Bool.eqb_prop in S.
  unfold true_of. now rewrite S, (term_eqb_spec _ _ _ _ L), (term_eqb_spec _ _ _ _ H).
Qed.
Lemma same_atoms_spec c l l' : same_atoms l l' = true ->
  ((forall a, In a l -> true_of (store_of c) (sample_of c) a) <-> forall a, In a l' -> true_of (store_of c) (sample_of c) a) /\
  ((forall a, In a l -> ~ true_of (store_of c) (sample_of c) a) <-> forall a, In a l' -> ~ true_of (store_of c) (sample_of c) a).
Proof.
  intros G. apply all2_spec in G. induction G as [|a b l l' G _ [IH IH']]; [split; split; easy|]. apply (atom_eqb_spec c) in G.
  split; split; intros H x [<-|Hx]; try (rewrite <- G; now apply H; left); try (rewrite G; now apply H; left);
    revert x Hx; [apply IH|apply IH|apply IH'|apply IH']; intros y Hy; apply H; now right.
Qed.
Lemma upd_eqb V t t' c x : effect_eqb g V t t' = true -> upd (store_of c) t (sample_of c) x = upd (store_of c) t' (sample_of c) x.
Proof.
  unfold effect_eqb. rewrite !andb_true_iff. intros [[[_ H1] H2] _]. apply nat_all2 in H1. apply all2_spec in H2. unfold upd. rewrite H1.
  destruct (mem x (asg t')); [easy|]. induction H2 as [|[y v] [y' v'] l l' E _ IH]; [easy|]. simpl in *. apply andb_true_iff in E as [E1 E2].
  apply Nat.eqb_eq in E1. subst y'. destruct (Nat.eqb x y); [now apply term_eqb_spec|easy].
Qed.

Lemma origin_spec t c p y q : origin t (c, p) = Some (y, q) ->
  forall z1, held (upd (store_of c) t (sample_of c)) z1 p = at_spot y + Q2R q.
Proof.
  unfold origin. destruct p as [| |x]; try easy.
  - intros [= <- <-] z1. unfold at_spot. simpl. rewrite Q2R_0. lra.
  - intros H z1. simpl. unfold upd. destruct (mem x (asg t)).
    + inversion H. unfold at_spot. simpl. rewrite Q2R_0. lra.
    + destruct (lookup x (copies t)) as [v|].
      * destruct (negative v) eqn:Nv; [easy|]. inversion H. now apply at_spot_of.
      * inversion H. unfold at_spot. simpl. rewrite Q2R_0. lra.
Qed.
End Spots.

Lemma fact_follows_spec s z s' z' M t t' f : obeyed (at_spot s z s' z') M -> fact_follows M t t' f = true ->
  forall z1 z1', obeys (at_spot (upd s t z) z1 (upd s' t' z') z1') (f_low f) (f_high f) (f_limit f).
Proof.
  intros H. unfold fact_follows. cbv zeta. destruct (f_low f) as [c p] eqn:EL, (f_high f) as [c' p'] eqn:EH. cbn [fst].
  destruct (origin (if c then t' else t) (c, p)) as [[x q]|] eqn:O; [|easy].
  destruct (origin (if c' then t' else t) (c', p')) as [[y q']|] eqn:O'; [|easy].
  destruct (between M x y) as [b|] eqn:B; [|easy]. intros L z1 z1'.
  pose proof (between_obeyed _ M x y H) as E. rewrite B in E. simpl in E.
  assert (V : forall (d : bool) r x0 q0, origin (if d then t' else t) (d, r) = Some (x0, q0) ->
      at_spot (upd s t z) z1 (upd s' t' z') z1' (d, r) = at_spot s z s' z' x0 + Q2R q0).
  { intros [|] r x0 q0 Ho; unfold at_spot at 1; cbn [fst snd store_of sample_of];
      [apply (origin_spec s z s' z' t' true r)|apply (origin_spec s z s' z' t false r)]; exact Ho. }
  set (w := at_spot (upd s t z) z1 (upd s' t' z') z1') in *.
  assert (E' : obeys w (c, p) (c', p') (after b (Limit (q - q') false))).
  { unfold obeys, after. cbn [most unreached]. rewrite (V _ _ _ _ O), (V _ _ _ _ O'), sum_of_R, Q2R_minus, orb_false_r.
    unfold obeys in E. destruct (unreached b); lra. }
  exact (obeys_more w _ _ _ _ L E').
Qed.

Lemma apart_spec s z s' z' M a a' q : obeyed (at_spot s z s' z') M -> apart M a a' = Some q -> value s z a - value s' z' a' = Q2R q.
Proof.
  intros H. unfold apart. destruct (negative a) eqn:Na; [easy|]. destruct (negative a') eqn:Na'; [easy|]. cbn [orb].
  pose proof (between_obeyed _ M (spot_in false a) (spot_in true a') H) as E. pose proof (between_obeyed _ M (spot_in true a') (spot_in false a) H) as E'.
  destruct (between M (spot_in false a) (spot_in true a')) as [b|]; [|easy]. destruct (between M (spot_in true a') (spot_in false a)) as [b'|]; [|easy].
  destruct (Qeq_bool _ _) eqn:S; [|easy]. intros [= <-]. apply Qeq_R in S. rewrite Q2R_plus, Q2R_0 in S. rewrite Q2R_plus, Q2R_minus.
  pose proof (at_spot_of s z s' z' false a Na) as V. pose proof (at_spot_of s z s' z' true a' Na') as V'. cbn [store_of sample_of] in V, V'.
  rewrite V, V'. unfold obeys_if, obeys in E, E'. destruct (unreached b), (unreached b'); lra.
Qed.
Lemma same_item_spec s z s' z' M a b a' b' : obeyed (at_spot s z s' z') M -> same_item M (Number a b) (Number a' b') = true ->
  value s z a - value s z b = value s' z' a' - value s' z' b'.
Proof.
  intros H. cbn [same_item]. destruct (apart M a a') as [x|] eqn:X; [|easy]. destruct (apart M b b') as [y|] eqn:Y; [|easy].
  intros E. apply Qeq_R in E. pose proof (apart_spec _ _ _ _ _ _ _ _ H X). pose proof (apart_spec _ _ _ _ _ _ _ _ H Y). lra.
Qed.

Section Coupled.
Context {eps : R} (Heps : 0 < eps) (N : noise eps) (g : grade).
Hypothesis okq_ok : forall q, shift_ok g q = true -> ok N (Q2R q).
Hypothesis smooth_ok : smooth g = true -> atomless N.
Hypothesis whole_ok : whole g = true -> forall x, ok N x -> integer x.
Variables (A : automaton) (C : relcert).
Hypothesis HC : check_relational g A C = true.
Local Notation V := (plain A (e_hints C)).
Local Notation W := (pplain C).
Local Notation control := (control_of W).

Local Lemma parts : check_model g A V = true /\ forallb (fun s => negb (nonempty (factors s))) (states A) = true /\
  check_machine A V C W = true /\ check_able C W = true /\ check_sure g V C W = true /\
  forallb (check_rnode g V C W) (e_nodes C) = true /\ check_initial C W = true.
Proof. pose proof HC as H. rewrite check_relational_plain in H. unfold check_pairs in H. rewrite !andb_true_iff in H. tauto. Qed.

Local Lemma Det : deterministic N A.
Proof. apply (det N g A (e_hints C) smooth_ok). apply parts. Qed.

(* ---- Where inputs are integers, so is what is stored ---- *)

Lemma input_entry q a : input A q a = entry A q a.
Proof.
  unfold input. destruct parts as (_ & HF & _). rewrite forallb_forall in HF.
  assert (E : factors (st A q) = []).
  { unfold st. destruct (nth_in_or_default q (states A) stat0) as [H|H]; [|now rewrite H]. specialize (HF _ H).
    apply negb_true_iff in HF. now apply nonempty_false in HF. }
  rewrite E. simpl. lra.
Qed.

Definition whole_store (s : store) : Prop := whole g = true -> stored_ok N s.
Definition whole_feed (a : feed) : Prop := whole g = true -> forall n, ok N (fst a n).

Local Lemma numbers_A : numbers_ok N g A.
Proof. exact (model_numbers N g A (e_hints C) (proj1 parts) okq_ok). Qed.
Lemma whole_sample u a s z : whole_feed a -> typically N A (control u) a s z -> whole_if N g z.
Proof.
  intros Ga (_ & Ok & _) W. rewrite input_entry in Ok. set (q := control u) in *.
  replace z with (z - (entry A q a + Q2R (mu (st A q))) + (entry A q a + Q2R (mu (st A q)))) by ring.
  apply ok_plus; [easy|]. apply ok_plus; [|apply (proj2 numbers_A W)].
  unfold entry. destruct (reads (st A q)); [now apply Ga|apply ok_0].
Qed.
Lemma whole_upd s z i : whole_store s -> whole_if N g z -> whole_store (upd s (tr A i) z).
Proof. intros Hs Hz W. exact (upd_ok N g A numbers_A i s z W (Hs W) (Hz W)). Qed.
Lemma whole_rest q i a : whole_feed a -> whole_feed (rest A q i a).
Proof. intros H W n. unfold rest. cbn [fst]. destruct (reads (st A q)); [apply (H W (S n))|now apply H]. Qed.
Lemma whole_first s z s' z' : whole_store s -> whole_if N g z -> all_whole N g s z s' z' false.
Proof. intros Hs Hz. split; [intros x W; now apply Hs|easy]. Qed.
Lemma whole_second s z s' z' : whole_store s' -> whole_if N g z' -> all_whole N g s z s' z' true.
Proof. intros Hs Hz. split; [intros x W; now apply Hs|easy]. Qed.

(* ---- What steps do ---- *)

Lemma all2_refl {X} (f : X -> X -> bool) l : (forall x, f x x = true) -> all2 f l l = true.
Proof. intros H. induction l as [|x l IH]; simpl; [easy|]. now rewrite H, IH. Qed.
Lemma term_eqb_refl v : term_eqb v v = true.
Proof.
  unfold term_eqb, same_place. rewrite eqb_reflx, Qeq_bool_refl. destruct (whence v); simpl; rewrite ?Nat.eqb_refl; reflexivity.
Qed.
Lemma guard_eqb_refl t : guard_eqb g V t t = true.
Proof.
  unfold guard_eqb, same_atoms. rewrite !all2_refl; [easy| | | |]; intros a; unfold atom_eqb; now rewrite !term_eqb_refl, eqb_reflx.
Qed.
Lemma effect_eqb_refl t : effect_eqb g V t t = true.
Proof.
  unfold effect_eqb. rewrite guard_eqb_refl, !all2_refl; auto using Nat.eqb_refl.
  - intros [| a b|]; simpl; now rewrite ?term_eqb_refl.
  - intros [x v]. simpl. now rewrite Nat.eqb_refl, term_eqb_refl.
Qed.

Lemma typical_src u i a s z : In i (leaving A (control u)) -> typically N A (control u) a s z -> typically N A (src (tr A i)) a s z.
Proof. intros Hi Ty. apply leaving_In in Hi as [_ ->]. exact Ty. Qed.

(* Where a guard does not hold, one of its denials does. *)
Lemma denials_spec t a s z : typically N A (src t) a s z -> (forall k, In k (denials g V t) -> ~ true_of s z k) -> enabled t s z = true.
Proof.
  intros Ty H. apply enabled_atoms. intros k Hk. destruct (true_or_not s z s z false k) as [T|T]; [exact T|]. exfalso.
  apply (H (stricter (fresh_pair g V t (low k) (high k)) (denied k))); [now apply (in_map (fun a => stricter (fresh_pair g V t (low a) (high a)) (denied a)))|].
  apply stricter_true.
  - intros F. apply (fresh_pair_spec N g A (e_hints C) smooth_ok t _ _ a s z) in F; [|easy]. cbn [denied low high].
    apply (irrational_moved _ _ 0 F). rewrite Q2R_0. lra.
  - cbn [store_of sample_of] in T. unfold true_of, denied in *. cbn [low high strict]. destruct (strict k); simpl; lra.
Qed.

(* A list of transitions that have the guards of those of a state. *)
Lemma can_go_on_spec s z s' z' v b l M : whole_store s' -> whole_feed b -> possible (at_spot s z s' z') M -> typically N A (control v) b s' z' ->
  guards_eqb g V l (map (tr A) (leaving A (control v))) = true -> can_go_on g V true l M = true ->
  exists j, In j (leaving A (control v)) /\ enabled (tr A j) s' z' = true.
Proof.
  intros Gs Gb PM Ty Eq Go. apply all2_spec in Eq.
  pose proof (whole_second s z s' z' Gs (whole_sample v b s' z' Gb Ty)) as Wh. unfold can_go_on in Go.
  assert (Each : forall t, In t l -> exists j, In j (leaving A (control v)) /\ guard_eqb g V t (tr A j) = true).
  { clear - Eq. remember (leaving A (control v)) as js. clear Heqjs. revert js Eq. induction l as [|t l IH]; intros [|j js] Eq; inversion Eq; subst; [easy|].
    intros t' [<-|Ht]; [exists j; split; [now left|easy]|]. destruct (IH js H4 t' Ht) as (j' & Hj & E). exists j'. split; [now right|easy]. }
  destruct (goes_on_spec N g okq_ok whole_ok s z s' z' true (map (denials g V) l) Wh (learn_atoms g true (flat_map (support V) l) M)) as (ds & Hd & No); [|exact Go|].
  - apply (atoms_possible N g okq_ok whole_ok s z s' z' true); [easy|easy|]. intros k Hk. apply in_flat_map in Hk as (t & Ht & Hk). destruct (Each t Ht) as (j & Hj & G).
    unfold guard_eqb in G. rewrite !andb_true_iff in G. destruct G as [_ G]. revert k Hk. apply (same_atoms_spec s z s' z' true) in G as [G _].
    apply G. intros k Hk. apply (support_true N A (e_hints C) (tr A j) b s' z' k); [now apply (typical_src v)|easy].
  - apply in_map_iff in Hd as (t & <- & Ht). destruct (Each t Ht) as (j & Hj & G). exists j. split; [easy|].
    apply (denials_spec (tr A j) b); [now apply (typical_src v)|]. unfold guard_eqb in G. rewrite !andb_true_iff in G. destruct G as [[_ G] _].
    now apply (same_atoms_spec s z s' z' true _ _ G).
Qed.

(* ---- The machine ---- *)

Lemma edge_spec e : In e (m_edges (e_machine C)) -> let t := tr A (m_by e) in let x := letter_at W (m_letter e) in
  In (m_by e) (leaving A (control (m_source e))) /\ (m_letter e < length (m_letters (e_machine C)))%nat /\ tgt t = control (m_target e) /\
  reads (st A (control (m_source e))) = prompted x /\ map sight_of (out t) = sights x /\
  edge_by W (m_source e) (m_letter e) (m_by e) = Some (m_target e).
Proof.
  intros He. destruct parts as (_ & _ & HM & _). unfold check_machine in HM. rewrite !andb_true_iff in HM.
  destruct HM as [[[[[[_ HE] _] _] _] _] _]. rewrite forallb_forall in HE. specialize (HE e He). unfold check_medge in HE. cbv zeta in HE. peek HE.
  rewrite !andb_true_iff in HE. destruct HE as [[[[[[H1 H2] H3] H4] H5] H6] H7]. peek_goal.
  apply Nat.ltb_lt in H1, H2. apply Nat.eqb_eq in H3, H4. apply Bool.eqb_prop in H5. apply sights_all2 in H6. rewrite H3 in H5.
  repeat split; auto.
  - now apply leaving_In.
  - destruct (edge_by _ _ _ _); [|easy]. now apply Nat.eqb_eq in H7 as ->.
Qed.

Lemma edge_by_spec u x i v : edge_by W u x i = Some v -> In i (leaving A (control u)) /\ (x < length (m_letters (e_machine C)))%nat /\
  tgt (tr A i) = control v /\ reads (st A (control u)) = prompted (letter_at W x) /\ map sight_of (out (tr A i)) = sights (letter_at W x) /\
  exists e, In e (m_edges (e_machine C)) /\ m_source e = u /\ m_letter e = x /\ m_by e = i /\ m_target e = v.
Proof.
  unfold edge_by. destruct (find _ _) as [e|] eqn:F; [|easy]. intros [= <-]. apply find_some in F as [F E]. peek F. apply having_In in F as [F <-].
  apply andb_true_iff in E as [E1 E2]. apply Nat.eqb_eq in E1, E2. subst. pose proof (edge_spec e F) as S. cbv zeta in S. intuition. eauto 10.
Qed.

(* The paths from a machine state that have these letters. *)
Fixpoint having_letters (ell : list nat) (u : nat) : list (list nat) :=
  match ell with
  | [] => if accepts C u then [[]] else []
  | x :: ell' => flat_map (fun i => map (cons i) (match edge_by W u x i with Some v => having_letters ell' v | None => [] end)) (leaving A (control u))
  end.

Lemma having_cons x ell u p : In p (having_letters (x :: ell) u) <->
  exists i v p', p = i :: p' /\ edge_by W u x i = Some v /\ In p' (having_letters ell v).
Proof.
  cbn [having_letters]. rewrite in_flat_map. split.
  - intros (i & Hi & Hp). apply in_map_iff in Hp as (p' & <- & Hp). destruct (edge_by W u x i) as [v|] eqn:E; [|easy]. now exists i, v, p'.
  - intros (i & v & p' & -> & E & Hp). exists i. split; [now apply (edge_by_spec u x i v)|]. rewrite E. now apply in_map.
Qed.

Lemma having_paths ell : forall u p, In p (having_letters ell u) -> In p (paths A (length ell) (control u)).
Proof.
  induction ell as [|x ell IH]; intros u p.
  - simpl. destruct (accepts C u); [easy|now intros []].
  - rewrite having_cons. intros (i & v & p' & -> & E & Hp). pose proof (edge_by_spec _ _ _ _ E) as (Hi & _ & T & _).
    cbn [paths length]. apply in_flat_map. exists i. split; [easy|]. apply in_map. rewrite T. now apply IH.
Qed.

Lemma having_NoDup ell : forall u, NoDup (having_letters ell u).
Proof.
  induction ell as [|x ell IH]; intros u; simpl.
  - destruct (accepts C u); repeat constructor. easy.
  - apply NoDup_flat; [apply leaving_NoDup| |].
    + intros i _. apply NoDup_cons_each. destruct (edge_by W u x i); [apply IH|constructor].
    + intros i i' p H H'. apply in_map_iff in H as (? & <- & _). apply in_map_iff in H' as (? & [= <- _] & _). easy.
Qed.
Lemma paths_NoDup n : forall q, NoDup (paths A n q).
Proof.
  induction n as [|n IH]; intros q; simpl; [repeat constructor; easy|]. apply NoDup_flat; [apply leaving_NoDup| |].
  - intros i _. now apply NoDup_cons_each.
  - intros i i' p H H'. apply in_map_iff in H as (? & <- & _). apply in_map_iff in H' as (? & [= <- _] & _). easy.
Qed.

(* machine-remarks: a path has letters, *)
Lemma some_letters p : forall S, In S (w_sets (e_witness C)) -> chain A (control (hd 0%nat (fst S))) p ->
  exists u ell, In u (fst S) /\ In p (having_letters ell u).
Proof.
  destruct parts as (_ & _ & HM & _). unfold check_machine in HM. rewrite !andb_true_iff in HM. destruct HM as [[[[[[_ _] _] _] HS] _] _].
  rewrite forallb_forall in HS.
  induction p as [|i p IH]; intros S HS0 Hc; pose proof (HS S HS0) as H; unfold check_set in H; destruct (fst S) as [|u us] eqn:ES; try easy;
    apply andb_true_iff in H as [HA HN].
  - apply existsb_exists in HA as (v & Hv & Av). exists v, []. split; [easy|]. simpl. rewrite Av. now left.
  - destruct Hc as [Hi Hc]. cbn [hd] in Hi. peek HN. rewrite forallb_forall in HN. specialize (HN i Hi).
    destruct (lookup i (snd S)) as [k|]; [|easy]. apply andb_true_iff in HN as [HT HK]. apply Nat.ltb_lt in HK.
    set (T := nth k (w_sets (e_witness C)) ([], [])) in *. assert (HT0 : In T (w_sets (e_witness C))) by now apply nth_In.
    rewrite forallb_forall in HT.
    assert (Reach : forall v, In v (fst T) -> exists u' x, In u' (u :: us) /\ edge_by W u' x i = Some v).
    { intros v Hv. specialize (HT v Hv). apply existsb_exists in HT as (u' & Hu & HT). apply existsb_exists in HT as (e & He & HT).
      apply andb_true_iff in HT as [E1 E2]. apply Nat.eqb_eq in E1, E2. apply having_In in He as [He Es]. subst i v u'.
      exists (m_source e), (m_letter e). split; [easy|]. now apply edge_spec. }
    assert (HcT : chain A (control (hd 0%nat (fst T))) p).
    { pose proof (HS T HT0) as HT1. unfold check_set in HT1. destruct (fst T) as [|v vs] eqn:ET; [easy|]. cbn [hd].
      destruct (Reach v (or_introl eq_refl)) as (u' & x & _ & E). apply edge_by_spec in E as (_ & _ & <- & _). exact Hc. }
    destruct (IH T HT0 HcT) as (v & ell & Hv & Hp). destruct (Reach v Hv) as (u' & x & Hu & E).
    exists u', (x :: ell). split; [easy|]. apply having_cons. now exists i, v, p.
Qed.

(* and not different ones. *)
Lemma has_pair_spec u v b : has_pair W u v b = true -> In (u, (v, b)) (w_pairs (e_witness C)).
Proof.
  unfold has_pair. intros H. apply existsb_exists in H as ([u' [v' b']] & H & E). peek H. apply having_In in H as [H E']. cbn [fst snd] in *.
  apply andb_true_iff in E as [E1 E2]. apply Nat.eqb_eq in E1. apply Bool.eqb_prop in E2. now subst.
Qed.
Lemma one_letters p : forall u v b ell ell', In (u, (v, b)) (w_pairs (e_witness C)) -> In p (having_letters ell u) -> In p (having_letters ell' v) ->
  b = false /\ ell = ell'.
Proof.
  destruct parts as (_ & _ & HM & _). unfold check_machine in HM. rewrite !andb_true_iff in HM. destruct HM as [_ HP].
  rewrite forallb_forall in HP.
  induction p as [|i p IH]; intros u v b ell ell' Hb Hu Hv; pose proof (HP _ Hb) as H; unfold check_pair in H; apply andb_true_iff in H as [HA HN];
    destruct ell as [|x ell], ell' as [|x' ell'].
  - simpl in Hu, Hv. destruct (accepts C u); [|easy]. destruct (accepts C v); [|easy]. destruct b; [easy|auto].
  - apply having_cons in Hv as (? & ? & ? & ? & _). easy.
  - apply having_cons in Hu as (? & ? & ? & ? & _). easy.
  - apply having_cons in Hu as (? & ? & ? & ? & _). easy.
  - simpl in Hu. destruct (accepts C u); [now destruct Hu|easy].
  - simpl in Hu. destruct (accepts C u); [now destruct Hu|easy].
  - simpl in Hv. destruct (accepts C v); [now destruct Hv|easy].
  - apply having_cons in Hu as (i1 & u' & p1 & [= <- <-] & Eu & Hu). apply having_cons in Hv as (i2 & v' & p2 & [= <- <-] & Ev & Hv).
    apply edge_by_spec in Eu as (_ & _ & _ & _ & _ & e & He & <- & <- & Ei & <-). apply edge_by_spec in Ev as (_ & _ & _ & _ & _ & e' & He' & <- & <- & Ei' & <-).
    rewrite forallb_forall in HN. specialize (HN e (proj2 (having_In _ _ _ _) (conj He eq_refl))). rewrite forallb_forall in HN.
    specialize (HN e' (proj2 (having_In _ _ _ _) (conj He' eq_refl))). rewrite Ei, Ei', Nat.eqb_refl in HN. cbn [negb orb] in HN.
    apply has_pair_spec in HN. destruct (IH _ _ _ _ _ HN Hu Hv) as [E ->]. apply orb_false_iff in E as [-> E]. apply negb_false_iff, Nat.eqb_eq in E.
    now rewrite E.
Qed.

Fixpoint letters (n : nat) : list (list nat) :=
  match n with O => [[]] | S n' => flat_map (fun x => map (cons x) (letters n')) (numbers (m_letters (e_machine C))) end.
Lemma letters_NoDup n : NoDup (letters n).
Proof.
  induction n as [|n IH]; simpl; [repeat constructor; easy|]. apply NoDup_flat; [apply seq_NoDup| |].
  - intros x _. now apply NoDup_cons_each.
  - intros x x' p H H'. apply in_map_iff in H as (? & <- & _). apply in_map_iff in H' as (? & [= <- _] & _). easy.
Qed.
Lemma letters_In ell : forall u p, In p (having_letters ell u) -> In ell (letters (length p)).
Proof.
  induction ell as [|x ell IH]; intros u p.
  - simpl. destruct (accepts C u); [|easy]. intros [<-|[]]. now left.
  - rewrite having_cons. intros (i & v & p' & -> & E & Hp). cbn [letters length]. apply in_flat_map. exists x. split.
    + apply in_seq. apply edge_by_spec in E. lia.
    + apply in_map. eauto.
Qed.

Lemma control_0 : control 0%nat = initial A.
Proof.
  destruct parts as (_ & _ & HM & _). unfold check_machine in HM. rewrite !andb_true_iff in HM. destruct HM as [[[[[[H _] _] _] _] _] _].
  now apply Nat.eqb_eq in H.
Qed.

Lemma all_letters n : Permutation (paths A n (initial A)) (flat_map (fun ell => having_letters ell 0%nat) (letters n)).
Proof.
  destruct parts as (_ & _ & HM & _). unfold check_machine in HM. rewrite !andb_true_iff in HM. destruct HM as [[[[[[_ _] L0] S0] _] P0] _].
  assert (One : forall p ell ell', In p (having_letters ell 0%nat) -> In p (having_letters ell' 0%nat) -> ell = ell').
  { intros p ell ell' H H'. apply has_pair_spec in P0. exact (proj2 (one_letters p _ _ _ _ _ P0 H H')). }
  apply NoDup_Permutation; [apply paths_NoDup| |].
  - apply NoDup_flat; [apply letters_NoDup| |]; eauto using having_NoDup.
  - assert (Len : forall n q p, In p (paths A n q) -> length p = n).
    { clear. induction n as [|n IH]; intros q p; simpl; [now intros [<-|[]]|]. rewrite in_flat_map. intros (i & _ & H).
      apply in_map_iff in H as (p' & <- & H). simpl. f_equal. eauto. }
    intros p. rewrite in_flat_map. split.
    + intros Hp. pose proof (paths_chain A _ _ _ Hp) as Hc. set (S := set_at W 0). assert (HS : In S (w_sets (e_witness C))).
      { apply nth_In. now apply Nat.ltb_lt in L0. }
      fold S in S0. destruct (fst S) as [|u [|]] eqn:ES; try easy. apply Nat.eqb_eq in S0. subst u.
      destruct (some_letters p S HS) as (u & ell & Hu & He); [rewrite ES; cbn [hd]; now rewrite control_0|].
      rewrite ES in Hu. destruct Hu as [<-|[]]. exists ell. split; [|easy]. rewrite <- (Len _ _ _ Hp). eauto using letters_In.
    + intros (ell & He & Hp). pose proof (having_paths _ _ _ Hp) as H. rewrite control_0 in H. 
      replace n with (length ell); [easy|]. clear - He. revert ell He. induction n as [|n IH]; simpl; intros ell; [now intros [<-|[]]|].
      rewrite in_flat_map. intros (x & _ & H). apply in_map_iff in H as (ell' & <- & H). simpl. now rewrite (IH ell').
Qed.

(* ---- The probability of what is seen, together with letters ---- *)

Definition F (w : list (list letter)) (ell : list nat) (u : nat) (s : store) (a : feed) : R :=
  sum (fun p => Pp N A p w (control u) s a) (having_letters ell u).
Definition onward (w : list (list letter)) (x : nat) (ell : list nat) (u i : nat) (s : store) (a : feed) : R :=
  match edge_by W u x i with Some v => F w ell v s a | None => 0 end.
Definition stepping (l : list letter) (w : list (list letter)) (x : nat) (ell : list nat) (u : nat) (s : store) (a : feed) : R -> R :=
  first N A l (onward w x ell u) (control u) a (leaving A (control u)) s.

Definition fine (w : list (list letter)) (ell : list nat) : Prop :=
  (forall u s a, 0 <= F w ell u s a <= 1) /\ (forall u a, goodS N (fun s => F w ell u s a)).

Lemma F_step l w x ell u : Forall (good_letter N) l -> good_word N w -> fine w ell ->
  (forall s a, unit_fun (stepping l w x ell u s a)) /\ (forall a, goodJ N (fun s => stepping l w x ell u s a)) /\
  forall s a, F (l :: w) (x :: ell) u s a = E N (law_of (st A (control u))) (Q2R (d (st A (control u)))) (input A (control u) a + Q2R (mu (st A (control u)))) (stepping l w x ell u s a).
Proof.
  intros Gl Gw [U Gd].
  assert (Uo : forall i s a, 0 <= onward w x ell u i s a <= 1) by (intros; unfold onward; destruct (edge_by W u x i); [apply U|lra]).
  assert (Go : forall i a, goodS N (fun s => onward w x ell u i s a)).
  { intros i a. unfold onward. destruct (edge_by W u x i); [apply Gd|apply (goodS_const eps N)]. }
  split; [|split].
  - intros s a. now apply (first_unit N A).
  - intros a. now apply (first_J N A).
  - intros s a. symmetry.
    apply (first_paths N A Det w l (fun i => match edge_by W u x i with Some v => having_letters ell v | None => [] end) (onward w x ell u)); auto.
    intros i s0 a0 _. unfold onward. destruct (edge_by W u x i) as [v|] eqn:E; [|reflexivity]. apply edge_by_spec in E as (_ & _ & -> & _). reflexivity.
Qed.

Lemma F_fine w : good_word N w -> forall ell, fine w ell.
Proof.
  induction w as [|l w IH]; intros Gw [|x ell].
  - split; intros; unfold F; simpl; destruct (accepts C u); simpl; try lra; apply (goodS_const eps N).
  - assert (Z : forall u s a, F [] (x :: ell) u s a = 0).
    { intros u s a. unfold F. apply sum_0. intros p Hp. apply having_cons in Hp as (i & v & p' & -> & _). reflexivity. }
    split; [intros u s a; rewrite Z; lra|]. intros u a. rewrite (functional_extensionality _ _ (fun s => Z u s a)). apply (goodS_const eps N).
  - split; intros; unfold F; simpl; destruct (accepts C u); simpl; try lra; apply (goodS_const eps N).
  - inversion_clear Gw as [|? ? Gl Gw']. specialize (IH Gw' ell). split.
    + intros u s a. destruct (F_step l w x ell u Gl Gw' IH) as (U & G & ->). apply E_unit; [|apply U]. exact (good_J eps N _ s (G a)).
    + intros u a. destruct (F_step l w x ell u Gl Gw' IH) as (U & G & Eq). rewrite (functional_extensionality _ _ (fun s => Eq s a)).
      apply (goodS_E eps N); [apply G|]. intros s. apply U.
Qed.
Lemma F_unit w : good_word N w -> forall ell u s a, 0 <= F w ell u s a <= 1.
Proof. intros Gw ell. now apply F_fine. Qed.

Lemma prob_letters a w : good_word N w -> prob N A a w = sum (fun ell => F w ell 0%nat (fun _ => 0) (a, fun _ => 0)) (letters (length w)).
Proof.
  intros Gw. unfold prob. rewrite (Pr_paths N A Det w Gw). rewrite (sum_permuted _ _ _ (all_letters _)), sum_flat.
  apply sum_ext. intros ell _. unfold F. now rewrite control_0.
Qed.

(* ---- Classes ---- *)

Fixpoint class_of (ell : list nat) : option nat :=
  match ell with [] => Some 0%nat | x :: ell' => match class_of ell' with Some rest => class_before W rest x | None => None end end.

Lemma class_before_spec rest x s : class_before W rest x = Some s -> In (rest, x, s) (s_before (e_suffixes C)).
Proof.
  unfold class_before. destruct (find _ _) as [[[r y] s']|] eqn:F0; [|easy]. intros [= <-]. apply find_some in F0 as [F0 E]. peek F0.
  apply having_In in F0 as [F0 Er]. apply Nat.eqb_eq in E. cbn in E, Er. now subst.
Qed.

Lemma able_class ell : forall u p, In p (having_letters ell u) -> exists r, class_of ell = Some r /\ In u (able_of W r).
Proof.
  destruct parts as (_ & _ & _ & HA & _). unfold check_able in HA. apply andb_true_iff in HA as [A0 AN]. rewrite forallb_forall in A0, AN.
  induction ell as [|x ell IH]; intros u p.
  - simpl. destruct (accepts C u) eqn:Au; [|easy]. intros _. exists 0%nat. split; [easy|]. apply mem_In, A0. now apply mem_In.
  - rewrite having_cons. intros (i & v & p' & -> & E & Hp). destruct (IH v p' Hp) as (r & Cr & Hv). cbn [class_of]. rewrite Cr.
    apply edge_by_spec in E as (_ & _ & _ & _ & _ & e & He & <- & <- & _ & <-).
    assert (Hr : In r (numbers (s_able (e_suffixes C)))).
    { apply in_seq. destruct (Nat.lt_ge_cases r (length (s_able (e_suffixes C)))); [lia|]. peek Hv. now rewrite nth_overflow in Hv. }
    specialize (AN r Hr). rewrite forallb_forall in AN. specialize (AN e He). rewrite (proj2 (mem_In _ _) Hv) in AN. cbn [negb orb] in AN.
    destruct (class_before W r (m_letter e)) as [s|]; [|easy]. exists s. split; [easy|]. now apply mem_In.
Qed.

(* What is not 0 has letters of a class, and leads on to an able state. *)
Lemma F_able w ell u s a : F w ell u s a <> 0 -> exists r, class_of ell = Some r /\ In u (able_of W r).
Proof.
  intros H. destruct (having_letters ell u) as [|p l] eqn:E; [exfalso; apply H; unfold F; now rewrite E|]. apply (able_class ell u p). rewrite E. now left.
Qed.

Lemma first_inv q l s a k z : first N A l k q a (leaving A q) s z <> 0 -> exists i, In i (leaving A q) /\ enabled (tr A i) s z = true /\
  first N A l k q a (leaving A q) s z = shows N A q (input A q a) (out (tr A i)) l s z * k i (upd s (tr A i) z) (rest A q i a) /\
  k i (upd s (tr A i) z) (rest A q i a) <> 0.
Proof.
  unfold first. destruct (find _ _) as [i|] eqn:E; [|easy]. apply find_some in E as [Hi Ei]. intros H. exists i. repeat split; auto.
  intros H'. rewrite H' in H. lra.
Qed.
Lemma first_enabled q l s a k z i : In i (leaving A q) -> enabled (tr A i) s z = true ->
  exists j, In j (leaving A q) /\ enabled (tr A j) s z = true /\
  first N A l k q a (leaving A q) s z = shows N A q (input A q a) (out (tr A j)) l s z * k j (upd s (tr A j) z) (rest A q j a).
Proof.
  intros Hi Ei. unfold first. destruct (find _ _) as [j|] eqn:E.
  - apply find_some in E as [Hj Ej]. eauto.
  - apply (find_none _ _ E) in Hi. simpl in Hi. congruence.
Qed.

(* What a step with this letter and without numbers shows does not depend on the sample. *)
Lemma shows_symbols q q' m m' s z s' z' l : forall o o', forallb is_symbol (map sight_of o) = true -> map sight_of o = map sight_of o' ->
  shows N A q m o l s z = shows N A q' m' o' l s' z'.
Proof.
  induction l as [|b l IH]; intros [|i o] [|i' o']; simpl; try easy. rewrite andb_true_iff. intros [H1 H2] [= E1 E2].
  rewrite (IH o o' H2 E2). f_equal. destruct i, i'; try easy. cbn in E1. inversion E1. now destruct b.
Qed.

(* suffix-sure: whatever the other copy is. *)
Lemma sure_more ell : forall w r u v s a s' b, good_word N w -> class_of ell = Some r -> In v (sure_of W r) ->
  whole_store s' -> whole_feed b -> F w ell u s a <= F w ell v s' b.
Proof.
  destruct parts as (_ & _ & _ & _ & HS & _). unfold check_sure in HS. apply andb_true_iff in HS as [S0 SN]. rewrite forallb_forall in S0, SN.
  induction ell as [|x ell IH]; intros w r u v s a s' b Gw Cl Hv Gs Gb.
  - simpl in Cl. inversion Cl. subst r. unfold F. simpl. rewrite (S0 v Hv). destruct w; destruct (accepts C u); simpl; lra.
  - destruct w as [|l w].
    { pose proof (F_unit [] Gw (x :: ell) v s' b). unfold F at 1. rewrite sum_0; [lra|]. intros p Hp. apply having_cons in Hp as (i & v' & p' & -> & _). reflexivity. }
    inversion_clear Gw as [|? ? Gl Gw']. cbn [class_of] in Cl. destruct (class_of ell) as [rest|] eqn:Cr; [|easy].
    apply class_before_spec in Cl. specialize (SN _ Cl). cbn [b_letter b_rest b_class fst snd] in SN. rewrite forallb_forall in SN.
    specialize (SN v Hv). unfold check_sure_state in SN. rewrite !andb_true_iff in SN. destruct SN as [[Sy Go] Ed]. rewrite forallb_forall in Ed.
    destruct (F_step l w x ell u Gl Gw' (F_fine w Gw' ell)) as (U & G & ->). destruct (F_step l w x ell v Gl Gw' (F_fine w Gw' ell)) as (U' & G' & ->).
    pose proof (good_J eps N _ s (G a)) as Gu. pose proof (good_J eps N _ s' (G' b)) as Gv. cbv beta in Gu, Gv.
    rewrite <- (Rmult_1_l (E N _ _ _ (stepping l w x ell v s' b))). apply (E_untied N _ _ _ _ _ _ s s'); auto; [lra|]. intros z z' _ Ty'. rewrite Rmult_1_l.
    destruct (Req_dec (stepping l w x ell u s a z) 0) as [->|H0]; [apply U'|].
    unfold stepping in H0. apply first_inv in H0 as (i & Hi & Ei & E0 & K0). unfold stepping. rewrite E0. clear E0.
    unfold onward in K0. destruct (edge_by W u x i) as [u'|] eqn:Eu; [|easy].
    destruct (can_go_on_spec s z s' z' v b _ _ Gs Gb (unknown_possible _ _) Ty' (all2_refl _ _ guard_eqb_refl) Go) as (j & Hj & Et).
    destruct (first_enabled (control v) l s' b (onward w x ell v) z' j Hj Et) as (j' & Hj' & Ej' & ->).
    specialize (Ed j' Hj'). unfold onward. rewrite Eu. destruct (edge_by W v x j') as [v'|] eqn:Ev; [|easy].
    apply edge_by_spec in Eu as (_ & _ & _ & _ & Su & _). apply edge_by_spec in Ev as (_ & _ & _ & _ & Sv & _).
    rewrite (shows_symbols (control u) (control v) (input A (control u) a) (input A (control v) b) s z s' z' l (out (tr A i)) (out (tr A j'))) by congruence.
    apply Rmult_le_compat_l; [now apply shows_unit|]. apply (IH w rest); auto; [now apply mem_In|apply whole_upd; [easy|now apply (whole_sample v b s')]|now apply whole_rest].
Qed.

(* ---- Nodes ---- *)

Definition agree (n : rnode) (s s' : store) : Prop :=
  forall f, In f (n_facts n) -> forall z z', obeys (at_spot s z s' z') (f_low f) (f_high f) (f_limit f).
Definition beside (a b : feed) : Prop := proper N (e_claim C) (fun n => fst a n - fst b n).

Lemma node_in k : In (node_at W k) (e_nodes C) \/ n_first (node_at W k) = [].
Proof. peek_goal. destruct (nth_in_or_default k (e_nodes C) rnode0) as [H|H]; [now left|right; now rewrite H]. Qed.

Lemma beside_rest q q' i j a b : beside a b -> reads (st A q) = reads (st A q') -> beside (rest A q i a) (rest A q' j b).
Proof.
  intros H E. unfold beside, rest. cbn [fst]. rewrite E. destruct (reads (st A q')); [|exact H]. intros n. exact (H (S n)).
Qed.
Lemma beside_entry q q' a b x : beside a b -> reads (st A q) = prompted (letter_at W x) -> reads (st A q') = prompted (letter_at W x) ->
  Q2R (fst (differences C W x)) <= entry A q a - entry A q' b <= Q2R (snd (differences C W x)) /\ ok N (entry A q a - entry A q' b).
Proof.
  intros H E E'. unfold entry, differences. rewrite E, E'. destruct (prompted _); cbn [entry_of fst snd]; [exact (H 0%nat)|].
  rewrite Q2R_0, Rminus_0_r. split; [lra|apply ok_0].
Qed.

(* What states do: each transition is noted with where it leads. *)
Definition noted (t : trans) (v : option nat) (l : doings) : Prop := exists t' vs, In (t', vs) l /\ effect_eqb g V t t' = true /\ In v vs.

Lemma note_new t v l : noted t v (note g V t v l).
Proof.
  induction l as [|[t' vs] l IH]; simpl.
  - exists t, [v]. split; [now left|]. split; [apply effect_eqb_refl|now left].
  - destruct (effect_eqb g V t t') eqn:E.
    + exists t', (v :: vs). split; [now left|]. split; [easy|now left].
    + destruct IH as (t1 & us & H & H'). exists t1, us. split; [now right|easy].
Qed.
Lemma note_old t v l t0 v0 : noted t0 v0 l -> noted t0 v0 (note g V t v l).
Proof.
  induction l as [|[t' vs] l IH]; intros (t1 & us & H & E & I); [easy|]. simpl. destruct H as [[= -> ->]|H].
  - destruct (effect_eqb g V t t1); [exists t1, (v :: us)|exists t1, us]; (split; [now left|]; split; [easy|]); [now right|easy].
  - destruct (effect_eqb g V t t').
    + exists t1, us. split; [now right|easy].
    + destruct IH as (t2 & ws & H2 & H2'); [now exists t1, us|]. exists t2, ws. split; [now right|easy].
Qed.
Lemma doings_spec us x u i : In u us -> In i (leaving A (control u)) -> noted (tr A i) (edge_by W u x i) (doings_of g V W us x).
Proof.
  intros Hu Hi. unfold doings_of. peek_goal.
  assert (Old : forall is u0 l t0 v0, noted t0 v0 l -> noted t0 v0 (fold_right (fun i l => note g V (tr A i) (edge_by W u0 x i) l) l is)).
  { induction is as [|j is IH]; simpl; auto using note_old. }
  induction us as [|u0 us IH]; [easy|]. simpl. destruct Hu as [->|Hu]; [|now apply Old, IH].
  clear IH. match goal with |- noted _ _ (fold_right _ ?l _) => generalize l end. intros l.
  assert (G : forall is, In i is -> noted (tr A i) (edge_by W u x i) (fold_right (fun i l => note g V (tr A i) (edge_by W u x i) l) l is)); [|now apply G].
  induction is as [|j is IH]; [easy|]. simpl. intros [->|H]; [apply note_new|now apply note_old, IH].
Qed.

(* The numbers that two items show are the same. *)
Definition alike (s : store) (z : R) (s' : store) (z' : R) (i i' : item) : Prop :=
  match i, i' with
  | Number a b, Number a' b' => value s z a - value s z b = value s' z' a' - value s' z' b'
  | Number _ _, _ | _, Number _ _ => False
  | _, _ => True
  end.
Lemma numbers_alike s z s' z' M : obeyed (at_spot s z s' z') M -> forall o o1 o2 o', all2 number_eqb o o1 = true -> all2 (same_item M) o1 o2 = true ->
  all2 number_eqb o' o2 = true -> Forall2 (alike s z s' z') o o'.
Proof.
  intros H. induction o as [|i o IH]; intros [|i1 o1] [|i2 o2] [|i' o']; simpl; try easy. rewrite !andb_true_iff. intros [E1 L1] [E2 L2] [E3 L3].
  constructor; [|now apply (IH o1 o2)].
  destruct i as [|a b|], i1 as [|a1 b1|], i2 as [|a2 b2|], i' as [|a' b'|]; try easy.
  apply (same_item_spec _ _ _ _ _ _ _ _ _ H) in E2. cbn [number_eqb] in E1, E3. apply andb_true_iff in E1 as [T1 T1'], E3 as [T3 T3'].
  cbn [alike]. rewrite (term_eqb_spec s z _ _ T1), (term_eqb_spec s z _ _ T1'), (term_eqb_spec s' z' _ _ T3), (term_eqb_spec s' z' _ _ T3'). exact E2.
Qed.

Lemma shows_both q q' m m' s z s' z' K : 0 <= K -> forall o o', Forall2 (alike s z s' z') o o' -> map sight_of o = map sight_of o' ->
  (length (filter is_other o) <= 1)%nat ->
  (existsb is_other o = true -> forall B, good_set N B ->
    shows_item N A q m Other (LReal B) s z <= K * shows_item N A q' m' Other (LReal B) s' z') ->
  forall l, Forall (good_letter N) l ->
  shows N A q m o l s z <= (if existsb is_other o then K else 1) * shows N A q' m' o' l s' z'.
Proof.
  intros HK. induction o as [|i o IH]; intros o' Al Si Len Oth l Gl.
  - inversion Al. simpl. destruct l; simpl; lra.
  - inversion Al as [|? i' ? o1 Ai Ao]. subst. cbn in Si. inversion Si as [[S1 S2]]. destruct l as [|b l]; [simpl; destruct (existsb _ _); lra|].
    inversion_clear Gl as [|? ? Gb Gl']. cbn [shows existsb].
    pose proof (item_unit N A q m i b s z Gb) as U. pose proof (item_unit N A q' m' i' b s' z' Gb) as U'.
    pose proof (shows_unit N A q m o l s z Gl') as Us. pose proof (shows_unit N A q' m' o1 l s' z' Gl') as Us'.
    destruct (is_other i) eqn:Oi; cbn [orb].
    + (* no other one *)
      assert (E : existsb is_other o = false).
      { cbn [filter] in Len. rewrite Oi in Len. cbn [length] in Len. destruct (existsb is_other o) eqn:E; [|easy]. exfalso.
        apply existsb_exists in E as (j & Hj & Oj). assert (In j (filter is_other o)) as H by now apply filter_In.
        destruct (filter is_other o); [easy|]. simpl in Len. lia. }
      assert (Ho : shows N A q m o l s z <= 1 * shows N A q' m' o1 l s' z').
      { pose proof (IH o1 Ao S2) as Ho. rewrite E in Ho. apply Ho; auto; [|easy].
        cbn [filter] in Len. rewrite Oi in Len. simpl in Len. lia. }
      destruct i; try easy. destruct i'; try easy.
      destruct b as [y|B]; [simpl; lra|]. assert (Hb := Oth eq_refl B Gb).
      rewrite Rmult_1_l in Ho. rewrite <- Rmult_assoc. apply Rmult_le_compat; try easy; lra.
    + assert (Ei : shows_item N A q m i b s z = shows_item N A q' m' i' b s' z').
      { destruct i as [x|a c|], i' as [x'|a' c'|]; try easy; cbn in S1.
        - inversion S1. now destruct b.
        - cbn [alike] in Ai. destruct b; simpl; [easy|]. now rewrite Ai. }
      rewrite Ei. assert (Ho : shows N A q m o l s z <= (if existsb is_other o then K else 1) * shows N A q' m' o1 l s' z').
      { apply (IH o1 Ao S2); [|intros E; apply Oth; cbn [existsb]; now rewrite Oi|easy]. cbn [filter] in Len. now rewrite Oi in Len. }
      replace ((if existsb is_other o then K else 1) * (shows_item N A q' m' i' b s' z' * shows N A q' m' o1 l s' z'))
        with (shows_item N A q' m' i' b s' z' * ((if existsb is_other o then K else 1) * shows N A q' m' o1 l s' z')) by ring.
      apply Rmult_le_compat_l; [apply U'|exact Ho].
Qed.

(* ---- A move ---- *)

Lemma stat_eqb_spec s s' : stat_eqb s s' = true -> reads s = reads s' /\ law_of s = law_of s' /\ Q2R (d s) = Q2R (d s') /\ Q2R (mu s) = Q2R (mu s') /\
  law_of' s = law_of' s' /\ Q2R (d' s) = Q2R (d' s') /\ Q2R (mu' s) = Q2R (mu' s').
Proof.
  unfold stat_eqb. rewrite !andb_true_iff. intros [[[[[[H0 H1] H2] H3] H4] H5] H6]. apply Bool.eqb_prop in H0. apply law_eqb_spec in H1, H4.
  apply Qeq_R in H2, H3, H5, H6. tauto.
Qed.
Lemma stats_spec us u : In u us -> exists s, In s (stats_of V W us) /\ stat_eqb s (st A (control u)) = true.
Proof.
  intros Hu. unfold stats_of. apply different_spec.
  - intros y. unfold stat_eqb. rewrite !Qeq_bool_refl, eqb_reflx. now destruct (law_of y), (law_of' y).
  - peek_goal. now apply (in_map (fun u => st A (control u))).
Qed.

Section Move.
Variables (n : rnode) (x r : nat) (mv : move) (firsts seconds : list nat).
Hypothesis Hmove : check_move g V C W n x r mv firsts seconds = true.
Variables (u v : nat) (s s' : store) (a b : feed).
Hypothesis Hu : In u firsts.
Hypothesis Hv : In v seconds.
Hypothesis Hfacts : agree n s s'.
Hypothesis Hfeeds : beside a b.
Hypothesis Hgrid : whole_store s /\ whole_store s' /\ whole_feed a /\ whole_feed b.
Local Notation q := (control u).
Local Notation q' := (control v).

(* Samples that are tied as the move says. *)
Definition tie (z z' : R) : Prop := forall lo hi, mv_shift mv = Some (lo, hi) -> Q2R lo <= z' - z <= Q2R hi.

Local Lemma both z z' i u' : tie z z' -> typically N A q a s z -> typically N A q' b s' z' -> In i (leaving A q) -> enabled (tr A i) s z = true -> edge_by W u x i = Some u' -> In u' (able_of W r) ->
  (exists j, In j (leaving A q') /\ enabled (tr A j) s' z' = true) /\
  forall j, In j (leaving A q') -> enabled (tr A j) s' z' = true -> exists v' k, edge_by W v x j = Some v' /\ In k (mv_after mv) /\
    n_suffix (node_at W k) = r /\ In u' (n_first (node_at W k)) /\ In v' (n_second (node_at W k)) /\
    agree (node_at W k) (upd s (tr A i) z) (upd s' (tr A j) z') /\ Forall2 (alike s z s' z') (out (tr A i)) (out (tr A j)).
Proof.
  intros Ht Ty Ty' Hi Ei Eu Hu'. destruct Hgrid as (Gs & Gs' & Ga & Gb).
  pose proof (whole_first s z s' z' Gs (whole_sample u a s z Ga Ty)) as Wh. pose proof (whole_second s z s' z' Gs' (whole_sample v b s' z' Gb Ty')) as Wh'.
  pose proof Hmove as H. unfold check_move in H. apply andb_true_iff in H as [_ H]. cbv zeta in H.
  set (M := tied (mv_shift mv) (learn_facts (n_facts n) (unknown (spots V W n firsts seconds)))) in *.
  rewrite forallb_forall in H. destruct (doings_spec firsts x u i Hu Hi) as (t & us & Hd & Ef & Iu). specialize (H _ Hd). cbn [fst snd] in H.
  rewrite Eu in Iu. assert (Iu' : In u' (filter (fun w => mem w (able_of W r)) (targets us))).
  { apply filter_In. split; [|now apply mem_In]. unfold targets. apply in_flat_map. exists (Some u'). split; [easy|now left]. }
  destruct (filter _ _) as [|w ws] eqn:Fl; [easy|]. rewrite <- Fl in *. clear Fl w ws. apply andb_true_iff in H as [HG HB].
  pose proof Ef as Gf. unfold effect_eqb in Gf. rewrite !andb_true_iff in Gf. destruct Gf as [[[Gf _] _] Of].
  assert (PM : possible (at_spot s z s' z') M).
  { apply (tied_possible s z s' z'); [|exact Ht]. apply (facts_possible s z s' z'); [apply unknown_possible|]. intros f Hf. now apply Hfacts. }
  assert (PM1 : possible (at_spot s z s' z') (learn_atoms g false (sure g V t) M)).
  { apply (atoms_possible N g okq_ok whole_ok s z s' z' false); [easy|easy|]. unfold guard_eqb in Gf. rewrite !andb_true_iff in Gf. destruct Gf as [[[_ Gf] _] _].
    apply (same_atoms_spec s z s' z' false _ _ Gf). intros k Hk. apply (sure_true N g A (e_hints C) smooth_ok (tr A i) a); auto. now apply (typical_src u). }
  split.
  - rewrite forallb_forall in HG. destruct (different_spec (guards_eqb g V) (map (fun v => map (tr A) (leaving A (control v))) seconds) (map (tr A) (leaving A q'))) as (l & Hl & El).
    + intros l. apply all2_refl, guard_eqb_refl.
    + now apply (in_map (fun v => map (tr A) (leaving A (control v)))).
    + exact (can_go_on_spec s z s' z' v b l _ Gs' Gb PM1 Ty' El (HG l Hl)).
  - intros j Hj Ej. rewrite forallb_forall in HB. destruct (doings_spec seconds x v j Hv Hj) as (t' & vs & Hd' & Ef' & Iv). specialize (HB _ Hd').
    unfold check_both in HB. cbn [fst snd] in HB. pose proof Ef' as Gf'. unfold effect_eqb in Gf'. rewrite !andb_true_iff in Gf'. destruct Gf' as [[[Gf' _] _] Of'].
    assert (PM2 : possible (at_spot s z s' z') (learn_atoms g true (sure g V t') (learn_atoms g false (sure g V t) M))).
    { apply (atoms_possible N g okq_ok whole_ok s z s' z' true); [easy|easy|]. unfold guard_eqb in Gf'. rewrite !andb_true_iff in Gf'. destruct Gf' as [[[_ Gf'] _] _].
      apply (same_atoms_spec s z s' z' true _ _ Gf'). intros k Hk. apply (sure_true N g A (e_hints C) smooth_ok (tr A j) b); auto. now apply (typical_src v). }
    destruct (learn_atoms g true (sure g V t') _) as [M2|]; [|easy]. cbn in PM2. rewrite !andb_true_iff in HB. destruct HB as [[Sm Nm] Ex].
    rewrite forallb_forall in Sm. specialize (Sm _ Iv). destruct (edge_by W v x j) as [v'|] eqn:Ev; [|easy].
    apply existsb_exists in Ex as (k & Hk & Ex). cbv zeta in Ex. rewrite !andb_true_iff in Ex. destruct Ex as [[[Xs Xf] Xv] Xa].
    exists v', k. split; [easy|]. split; [easy|]. split; [now apply Nat.eqb_eq in Xs|].
    split; [now apply (subset_spec _ _ Xf)|]. split; [|split].
    + apply (subset_spec _ _ Xv). apply in_flat_map. exists (Some v'). split; [easy|now left].
    + intros f Hf z1 z1'. rewrite forallb_forall in Xa. pose proof (fact_follows_spec s z s' z' M2 t t' f PM2 (Xa f Hf) z1 z1') as O.
      assert (Sp : forall y, at_spot (upd s (tr A i) z) z1 (upd s' (tr A j) z') z1' y = at_spot (upd s t z) z1 (upd s' t' z') z1' y).
      { intros [[] []]; unfold at_spot; cbn [fst snd store_of sample_of held]; try easy.
        - exact (upd_eqb g s z s' z' V (tr A j) t' true x0 Ef').
        - exact (upd_eqb g s z s' z' V (tr A i) t false x0 Ef). }
      unfold obeys. rewrite !Sp. exact O.
    + exact (numbers_alike _ _ _ _ _ PM2 _ _ _ _ Of Nm Of').
Qed.

Local Lemma priced : exists t t' p p', stat_eqb t (st A q) = true /\ stat_eqb t' (st A q') = true /\ reads (st A q') = prompted (letter_at W x) /\
  price_of_tie g t t' (differences C W x) (mv_shift mv) = Some p /\
  price_of_other g t t' (differences C W x) (shows_other_number W x) = Some p' /\
  forall k, In k (mv_after mv) -> Q2R p + Q2R p' + Q2R (n_pot (node_at W k)) <= Q2R (n_pot n).
Proof.
  pose proof Hmove as H. unfold check_move in H. apply andb_true_iff in H as [H _]. unfold check_paid in H. rewrite forallb_forall in H.
  destruct (stats_spec firsts u Hu) as (t & Ht & Et). destruct (stats_spec seconds v Hv) as (t' & Ht' & Et').
  specialize (H t Ht). rewrite forallb_forall in H. specialize (H t' Ht'). apply andb_true_iff in H as [R H]. apply Bool.eqb_prop in R.
  pose proof (stat_eqb_spec _ _ Et') as (R' & _). rewrite R' in R. unfold paid in H.
  destruct (price_of_tie _ _ _ _ _) as [p|] eqn:P; [|easy]. destruct (price_of_other _ _ _ _ _) as [p'|] eqn:P'; [|easy].
  exists t, t', p, p'. repeat split; auto. intros k Hk. rewrite forallb_forall in H. specialize (H k Hk). apply Qle_R in H. now rewrite !Q2R_plus in H.
Qed.

(* The means of both copies, and how much the second one is larger. *)
Local Lemma means_apart (f : stat -> Q) t t' : Q2R (f t) = Q2R (f (st A q)) -> Q2R (f t') = Q2R (f (st A q')) ->
  input A q a + Q2R (f (st A q)) = input A q' b + Q2R (f (st A q')) - (Q2R (f t' - f t) - (entry A q a - entry A q' b)).
Proof. intros E E'. rewrite !input_entry, Q2R_minus, E, E'. lra. Qed.

(* A second sample that is shown costs what it costs not to shift it. *)
Local Lemma other_priced t t' p' s0 z0 s1 z1 : stat_eqb t (st A q) = true -> stat_eqb t' (st A q') = true -> 
  reads (st A q) = prompted (letter_at W x) -> reads (st A q') = prompted (letter_at W x) ->
  price_of_other g t t' (differences C W x) true = Some p' -> forall B, good_set N B ->
  shows_item N A q (input A q a) Other (LReal B) s0 z0 <= exp (eps * Q2R p') * shows_item N A q' (input A q' b) Other (LReal B) s1 z1.
Proof.
  intros Et Et' R R' HP B GB. apply stat_eqb_spec in Et as (_ & _ & _ & _ & L & D & M), Et' as (_ & _ & _ & _ & L' & D' & M').
  unfold price_of_other in HP. destruct (law_eqb (law_of' t) (law_of' t')) eqn:LL; [|easy]. destruct (Qeq_bool (d' t) (d' t')) eqn:DD; [|easy].
  destruct (is_live (law_of' t) (d' t)) eqn:Li; [|easy]. destruct (shift_ok g (mu' t' - mu' t)) eqn:Ok; [|easy]. cbn [andb] in HP.
  apply law_eqb_spec in LL. apply Qeq_R in DD. apply live_spec in Li.
  destruct (beside_entry q q' a b x Hfeeds R R') as [Delta OkD].
  destruct (price_spec _ _ _ _ _ _ (entry A q a - entry A q' b) HP Li) as (S & Al & Co); [cbn [fst snd]; lra|exact Delta|].
  cbv zeta in S, Al, Co. cbn [fst snd] in S, Al, Co. set (free := Q2R (mu' t' - mu' t) - (entry A q a - entry A q' b)) in *.
  set (sh := nearest [Q2R 0] [Q2R 0] free) in *. rewrite Q2R_0 in S. assert (sh = 0) as E0 by lra. clearbody sh. subst sh.
  cbn [shows_item]. rewrite <- L, <- D, <- L', <- D', <- LL, <- DD.
  assert (Fr : (input A q' b + Q2R (mu' (st A q'))) - (input A q a + Q2R (mu' (st A q))) = free) by (rewrite (means_apart mu' t t' M M'); fold free; ring).
  assert (Ub : unit_fun (fun y => ind (B y))) by (intros y; apply ind_unit).
  eapply Rle_trans.
  - apply (E_tied N (law_of' t) (Q2R (d' t)) _ (input A q' b + Q2R (mu' (st A q'))) (fun _ => 0) (fun _ => 0) 0 (fun y => ind (B y)) (fun y => ind (B y)) 1);
      auto using ok_0, good_ind; rewrite ?Fr; auto.
    + apply (ok_plus eps N _ (- _)); [now apply okq_ok|now apply ok_opp].
    + lra.
    + intros y _ _. rewrite Rplus_0_r. lra.
  - rewrite Rmult_1_l, Fr. apply Rmult_le_compat_r; [apply E_unit; auto using good_ind|]. apply exp_mono. apply Rmult_le_compat_l; [lra|exact Co].
Qed.

Variables (l : list letter) (w : list (list letter)) (ell : list nat).
Hypothesis Gl : Forall (good_letter N) l.
Hypothesis Gw : good_word N w.
Hypothesis Cl : class_of ell = Some r.
Hypothesis Below : forall k u v s a s' b, In k (mv_after mv) -> n_suffix (node_at W k) = r -> In u (n_first (node_at W k)) -> In v (n_second (node_at W k)) ->
  agree (node_at W k) s s' -> beside a b -> whole_store s /\ whole_store s' /\ whole_feed a /\ whole_feed b ->
  F w ell u s a <= exp (eps * Q2R (n_pot (node_at W k))) * F w ell v s' b.

Local Lemma moved t t' p p' z z' : stat_eqb t (st A q) = true -> stat_eqb t' (st A q') = true -> reads (st A q') = prompted (letter_at W x) ->
  price_of_other g t t' (differences C W x) (shows_other_number W x) = Some p' ->
  (forall k, In k (mv_after mv) -> Q2R p + Q2R p' + Q2R (n_pot (node_at W k)) <= Q2R (n_pot n)) -> tie z z' ->
  typically N A q a s z -> typically N A q' b s' z' ->
  stepping l w x ell u s a z <= exp (eps * (Q2R (n_pot n) - Q2R p)) * stepping l w x ell v s' b z'.
Proof.
  intros Et Et' R' Po Pay T Ty Ty'. destruct (F_step l w x ell v Gl Gw (F_fine w Gw ell)) as (U' & _ & _).
  pose proof (exp_pos (eps * (Q2R (n_pot n) - Q2R p))) as Pos.
  destruct (Req_dec (stepping l w x ell u s a z) 0) as [->|H0]; [apply Rmult_le_pos; [lra|apply U']|].
  unfold stepping in H0. apply first_inv in H0 as (i & Hi & Ei & E0 & K0). unfold stepping. rewrite E0. clear E0.
  unfold onward in K0. destruct (edge_by W u x i) as [u'|] eqn:Eu; [|easy].
  destruct (F_able _ _ _ _ _ K0) as (r' & Cl' & Hu'). rewrite Cl in Cl'. inversion Cl'. subst r'.
  destruct (both z z' i u' T Ty Ty' Hi Ei Eu Hu') as [(j0 & Hj0 & Ej0) Next].
  destruct (first_enabled q' l s' b (onward w x ell v) z' j0 Hj0 Ej0) as (j & Hj & Ej & ->).
  destruct (Next j Hj Ej) as (v' & k & Ev & Hk & Sk & Fk & Vk & Ag & Al). unfold onward. rewrite Eu, Ev.
  pose proof (edge_by_spec _ _ _ _ Eu) as (_ & _ & _ & Ru & Su & _). pose proof (edge_by_spec _ _ _ _ Ev) as (_ & _ & _ & Rv & Sv & _).
  pose proof (Below k u' v' _ (rest A q i a) _ (rest A q' j b) Hk Sk Fk Vk Ag) as IH.
  specialize (IH ltac:(apply beside_rest; [exact Hfeeds|congruence])). destruct Hgrid as (Gs & Gs' & Ga & Gb).
  specialize (IH (conj (whole_upd s z i Gs (whole_sample u a s z Ga Ty)) (conj (whole_upd s' z' j Gs' (whole_sample v b s' z' Gb Ty'))
    (conj (whole_rest q i a Ga) (whole_rest q' j b Gb))))). specialize (Pay k Hk).
  assert (Oth : existsb is_other (out (tr A i)) = shows_other_number W x).
  { unfold shows_other_number. rewrite <- Su. clear. induction (out (tr A i)) as [|[] o IH]; simpl; auto. }
  pose proof (shows_both q q' (input A q a) (input A q' b) s z s' z' (exp (eps * Q2R p')) (Rlt_le _ _ (exp_pos _)) _ _ Al ltac:(congruence)) as Sh.
  assert (One : (length (filter is_other (out (tr A i))) <= 1)%nat) by (eapply (one_other g A (e_hints C)); [apply parts|exact Hi]).
  specialize (Sh One).
  assert (Sh' : shows N A q (input A q a) (out (tr A i)) l s z <= exp (eps * Q2R p') * shows N A q' (input A q' b) (out (tr A j)) l s' z').
  { destruct (existsb is_other (out (tr A i))) eqn:Ex.
    - apply Sh; auto. intros _ B GB. rewrite <- Oth in Po. now apply (other_priced t t' p' s z s' z' Et Et' Ru R' Po).
    - rewrite <- Oth in Po. inversion Po. rewrite Q2R_0, Rmult_0_r, exp_0. apply Sh; auto. easy. }
  pose proof (shows_unit N A q (input A q a) (out (tr A i)) l s z Gl) as Us. pose proof (shows_unit N A q' (input A q' b) (out (tr A j)) l s' z' Gl) as Us'.
  pose proof (F_unit w Gw ell u' (upd s (tr A i) z) (rest A q i a)) as Fu. pose proof (F_unit w Gw ell v' (upd s' (tr A j) z') (rest A q' j b)) as Fv.
  eapply Rle_trans; [apply Rmult_le_compat; [apply Us|apply Fu|exact Sh'|exact IH]|].
  replace (exp (eps * Q2R p') * shows N A q' (input A q' b) (out (tr A j)) l s' z' * (exp (eps * Q2R (n_pot (node_at W k))) * F w ell v' (upd s' (tr A j) z') (rest A q' j b)))
    with (exp (eps * Q2R p') * exp (eps * Q2R (n_pot (node_at W k))) * (shows N A q' (input A q' b) (out (tr A j)) l s' z' * F w ell v' (upd s' (tr A j) z') (rest A q' j b))) by ring.
  apply Rmult_le_compat_r; [apply Rmult_le_pos; [apply Us'|apply Fv]|]. rewrite <- exp_plus. apply exp_mono. rewrite <- Rmult_plus_distr_l.
  apply Rmult_le_compat_l; lra.
Qed.

Lemma move_below : reads (st A q) = prompted (letter_at W x) ->
  F (l :: w) (x :: ell) u s a <= exp (eps * Q2R (n_pot n)) * F (l :: w) (x :: ell) v s' b.
Proof.
  intros R. destruct priced as (t & t' & p & p' & Et & Et' & R' & Pt & Po & Pay).
  destruct (F_step l w x ell u Gl Gw (F_fine w Gw ell)) as (U & G & ->). destruct (F_step l w x ell v Gl Gw (F_fine w Gw ell)) as (U' & G' & ->).
  pose proof (good_J eps N _ s (G a)) as Gu. pose proof (good_J eps N _ s' (G' b)) as Gv. cbv beta in Gu, Gv.
  pose proof (fun z z' => moved t t' p p' z z' Et Et' R' Po Pay) as Mv. unfold tie in Mv.
  unfold price_of_tie in Pt. destruct (mv_shift mv) as [[lo hi]|].
  - destruct (Qle_bool lo hi) eqn:Lh; [|easy]. destruct (law_eqb (law_of t) (law_of t')) eqn:LL; [|easy]. destruct (Qeq_bool (d t) (d t')) eqn:DD; [|easy].
    destruct (is_live (law_of t) (d t)) eqn:Li; [|easy]. destruct (shift_ok g lo) eqn:OkL; [|easy]. destruct (shift_ok g hi) eqn:OkH; [|easy].
    destruct (shift_ok g (mu t' - mu t)) eqn:OkM; [|easy]. cbn [andb] in Pt. apply Qle_R in Lh. apply law_eqb_spec in LL. apply Qeq_R in DD. apply live_spec in Li.
    apply stat_eqb_spec in Et as (_ & L & D & M & _), Et' as (_ & L' & D' & M' & _).
    destruct (beside_entry q q' a b x Hfeeds R R') as [Delta OkD].
    destruct (price_spec _ _ _ _ _ _ (entry A q a - entry A q' b) Pt Li Lh Delta) as (S & Al & Co). cbv zeta in S, Al, Co. cbn [fst snd] in S, Al, Co.
    set (free := Q2R (mu t' - mu t) - (entry A q a - entry A q' b)) in *.
    assert (OkF : ok N free) by (apply (ok_plus eps N _ (- _)); [now apply okq_ok|now apply ok_opp]).
    set (sh := nearest [Q2R lo] [Q2R hi] free) in *.
    assert (OkS : ok N sh) by (apply nearest_ok; [easy| |]; intros y [<-|[]]; now apply okq_ok).
    unfold typically in Mv. rewrite <- L, <- D, <- L', <- D', <- LL, <- DD in Mv |- *.
    assert (Fr : (input A q' b + Q2R (mu (st A q'))) - (input A q a + Q2R (mu (st A q))) = free) by (rewrite (means_apart mu t t' M M'); fold free; ring).
    eapply Rle_trans.
    + apply (E_tied N (law_of t) (Q2R (d t)) _ (input A q' b + Q2R (mu (st A q'))) s s' sh (stepping l w x ell u s a) (stepping l w x ell v s' b)
        (exp (eps * (Q2R (n_pot n) - Q2R p)))); rewrite ?Fr; auto.
      * apply Rlt_le, exp_pos.
      * intros z Tz Tz'. apply Mv; auto. intros lo' hi' [= <- <-]. lra.
    + rewrite Fr, <- exp_plus. apply Rmult_le_compat_r; [apply E_unit; auto|]. apply exp_mono.
      rewrite <- Rmult_plus_distr_l. apply Rmult_le_compat_l; lra.
  - inversion Pt. subst p. rewrite Q2R_0, Rminus_0_r in Mv. apply (E_untied N _ _ _ _ _ _ s s'); auto; [apply exp_pos|]. intros z z' Tz Tz'. now apply Mv.
Qed.
End Move.

(* ---- All moves ---- *)

Lemma F_cut w ell u s a : length w <> length ell -> F w ell u s a = 0.
Proof.
  intros H. unfold F. apply sum_0. intros p Hp. apply having_paths in Hp.
  assert (Len : length p = length ell).
  { clear - Hp. revert p Hp. generalize (control u). induction ell as [|x ell IH]; intros q p; simpl; [now intros [<-|[]]|].
    rewrite in_flat_map. intros (i & _ & Hp). apply in_map_iff in Hp as (p' & <- & Hp). simpl. f_equal. eauto. }
  rewrite <- Len in H. clear - H. revert w H. generalize (control u). revert s a.
  assert (G : forall p w q s a, length w <> length p -> Pp N A p w q s a = 0).
  { clear. induction p as [|i p IH]; intros [|l w] q s a; simpl; try easy. intros H. unfold step. apply E_zero. intros z. unfold after_step.
    destruct (enabled _ _ _); [|easy]. rewrite IH by lia. lra. }
  intros s a q w H. now apply G.
Qed.

Lemma all_below w : good_word N w -> forall n ell u v s a s' b, In n (e_nodes C) -> class_of ell = Some (n_suffix n) -> In u (n_first n) -> In v (n_second n) ->
  agree n s s' -> beside a b -> whole_store s /\ whole_store s' /\ whole_feed a /\ whole_feed b ->
  F w ell u s a <= exp (eps * Q2R (n_pot n)) * F w ell v s' b.
Proof.
  destruct parts as (_ & _ & _ & _ & _ & HN & _). rewrite forallb_forall in HN.
  induction w as [|l w IH]; intros Gw n ell u v s a s' b Hn Cl Hu Hv Ag Be Gr.
  all: pose proof (HN n Hn) as H; unfold check_rnode in H; apply andb_true_iff in H as [P H]; apply Qle_R in P; rewrite Q2R_0 in P.
  all: assert (E1 : 1 <= exp (eps * Q2R (n_pot n))) by (rewrite <- exp_0; apply exp_mono; now apply Rmult_le_pos; [lra|]).
  all: pose proof (fun w Gw => F_unit w Gw ell v s' b) as Uv.
  all: destruct (mem v (sure_of W (n_suffix n))) eqn:Sv; [apply mem_In in Sv; eapply Rle_trans; [apply (sure_more ell _ _ u v s a s' b Gw Cl Sv); apply Gr|];
    specialize (Uv _ Gw); rewrite <- (Rmult_1_l (F _ _ v s' b)) at 1; apply Rmult_le_compat_r; lra|].
  all: apply mem_false in Sv; assert (Hs : In v (without (n_second n) (sure_of W (n_suffix n)))) by now apply without_spec.
  all: destruct (without (n_second n) (sure_of W (n_suffix n))) as [|v0 vs] eqn:Ew; [easy|]; rewrite <- Ew in *; clear Ew v0 vs;
    apply andb_true_iff in H as [He Hm].
  - specialize (Uv _ Gw). destruct ell as [|x ell]; [|rewrite (F_cut [] (x :: ell) u) by easy; apply Rmult_le_pos; lra].
    unfold F in *. simpl in *. inversion Cl as [E0]. rewrite (proj2 (Nat.eqb_eq (n_suffix n) 0) (eq_sym E0)) in He. cbn [negb orb] in He.
    destruct (accepts C u) eqn:Au; [|destruct (accepts C v); simpl; lra]. rewrite !orb_true_iff in He. destruct He as [He|He].
    + apply negb_true_iff in He. exfalso. assert (existsb (accepts C) (n_first n) = true) by (apply existsb_exists; eauto). congruence.
    + rewrite forallb_forall in He. rewrite (He v Hs). simpl. lra.
  - inversion_clear Gw as [|? ? Gl Gw']. specialize (Uv (l :: w) ltac:(now constructor)).
    destruct ell as [|x ell]; [rewrite (F_cut (l :: w) [] u) by easy; apply Rmult_le_pos; lra|].
    cbn [class_of] in Cl. destruct (class_of ell) as [r|] eqn:Cr; [|easy]. apply class_before_spec in Cl.
    rewrite forallb_forall in Hm. assert (Hb : In (r, x, n_suffix n) (made_of W (n_suffix n))) by (apply having_In; easy).
    specialize (Hm _ Hb). cbn [b_letter b_rest b_class fst snd] in Hm. cbv zeta in Hm.
    destruct (in_dec Nat.eq_dec u (filter (can_show W x r) (n_first n))) as [Hf|Hf].
    + destruct (filter (can_show W x r) (n_first n)) as [|u0 us] eqn:Ef; [easy|]. rewrite <- Ef in *. clear Ef u0 us.
      destruct (find _ _) as [mv|]; [|easy].
      assert (R : reads (st A (control u)) = prompted (letter_at W x)).
      { apply filter_In in Hf as [_ Hf]. unfold can_show in Hf. apply existsb_exists in Hf as (e & He' & Hx). apply andb_true_iff in Hx as [Hx _].
        apply Nat.eqb_eq in Hx. apply having_In in He' as [He' <-]. rewrite <- Hx. now apply edge_spec. }
      apply (move_below n x r mv _ _ Hm u v s s' a b Hf Hs Ag Be Gr l w ell Gl Gw' Cr); [|exact R].
      intros k u1 v1 s1 a1 s1' b1 Hk Sk Fk Vk. destruct (node_in k) as [Ik|Ik]; [|now rewrite Ik in Fk].
      apply (IH Gw' (node_at W k) ell u1 v1); auto. now rewrite Sk.
    + destruct (F_step l w x ell u Gl Gw' (F_fine w Gw' ell)) as (_ & _ & ->). rewrite E_zero; [apply Rmult_le_pos; lra|].
      intros z. destruct (Req_dec (stepping l w x ell u s a z) 0) as [H0|H0]; [easy|]. exfalso. apply Hf.
      unfold stepping in H0. apply first_inv in H0 as (i & Hi & _ & _ & K0). unfold onward in K0. destruct (edge_by W u x i) as [u'|] eqn:Eu; [|easy].
      destruct (F_able _ _ _ _ _ K0) as (r' & Cl' & Hu'). rewrite Cr in Cl'. inversion Cl'. subst r'.
      apply edge_by_spec in Eu as (_ & _ & _ & _ & _ & e & He' & <- & <- & _ & <-).
      apply filter_In. split; [easy|]. unfold can_show. apply existsb_exists. exists e. split; [now apply having_In|].
      rewrite Nat.eqb_refl. now apply mem_In.
Qed.

Theorem paired a b w : good_word N w -> proper N (e_claim C) (fun n => a n - b n) -> (whole g = true -> forall n, ok N (a n)) ->
  prob N A a w <= exp (eps * Q2R (c_D (e_claim C))) * prob N A b w.
Proof.
  destruct parts as (_ & _ & _ & _ & _ & _ & HI). unfold check_initial in HI. rewrite forallb_forall in HI. intros Gw Be Wa.
  rewrite !prob_letters by easy. rewrite <- sum_scal. apply sum_le. intros ell _. cbv beta.
  set (s0 := fun _ : nat => 0). pose proof (F_unit w Gw ell 0%nat s0 (b, s0)) as U.
  pose proof (exp_pos (eps * Q2R (c_D (e_claim C)))) as Pos.
  destruct (Req_dec (F w ell 0%nat s0 (a, s0)) 0) as [H0|H0]; [apply (Rle_trans _ _ _ (Req_le _ _ H0)), Rmult_le_pos; [lra|apply U]|].
  destruct (F_able _ _ _ _ _ H0) as (s & Cl & Hs).
  assert (Hr : In s (numbers (s_able (e_suffixes C)))).
  { apply in_seq. destruct (Nat.lt_ge_cases s (length (s_able (e_suffixes C)))); [lia|]. peek Hs. now rewrite nth_overflow in Hs. }
  specialize (HI s Hr). rewrite (proj2 (mem_In _ _) Hs) in HI. cbn [negb orb] in HI. apply existsb_exists in HI as (k & _ & HI).
  unfold is_start in HI. rewrite !andb_true_iff in HI. destruct HI as [[[[Sf H1] H2] Hf] HD]. apply Nat.eqb_eq in Sf. apply mem_In in H1, H2.
  apply negb_true_iff, nonempty_false in Hf. apply Qle_R in HD.
  destruct (node_in k) as [Ik|Ik]; [|now rewrite Ik in H1].
  eapply Rle_trans.
  - apply (all_below w Gw (node_at W k) ell 0%nat 0%nat s0 (a, s0) s0 (b, s0)); auto.
    + now rewrite Sf.
    + intros f. now rewrite Hf.
    + split; [|split; [|split]]; intros Hw n; cbn [fst]; try apply ok_0; [now apply Wa|].
      replace (b n) with (a n + - (a n - b n)) by ring. apply ok_plus; [now apply Wa|apply ok_opp, Be].
  - apply Rmult_le_compat_r; [apply U|]. apply exp_mono. apply Rmult_le_compat_l; lra.
Qed.
End Coupled.
