(* Parts of a run that are repeated: the more rounds, the less of a flow goes through each of them. *)
From Coq Require Import Reals QArith Qreals ZArith List Bool Arith Lra Lia Classical FunctionalExtensionality.
From Symdipa.Core Require Import Model Lookup Checker Rivals Runs.
From Symdipa.Above Require Import Paths Cover Ways Guide.
From Symdipa.Below Require Import Rare Below.
Import ListNotations.

(* ---- Runs with numbers that grow ---- *)

(* So many times. *)
Definition so_many (k : nat) : Q := inject_Z (Z.of_nat k).
(* Shifts that the noise allows may be added up. *)
Definition adds_up (gr : grade) : Prop := forall x y z k, (z == x + so_many k * y)%Q -> shift_ok gr x = true -> shift_ok gr y = true -> shift_ok gr z = true.

Section Along.
Open Scope Q_scope.
Variables (gr : grade) (Sum : adds_up gr) (A : automaton) (V : view).
Local Notation B := (loose V).

Lemma so_many_0 k : 0 <= so_many k.
Proof. unfold so_many, inject_Z, Qle. simpl. lia. Qed.
Lemma so_many_S k : so_many (S k) == so_many k + 1.
Proof. unfold so_many. rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite inject_Z_plus. reflexivity. Qed.

Definition along (k : nat) (p : rstep * slopes_of) : rstep :=
  let (c, x) := p in {|
  taken := taken c; entry_at := entry_at c + so_many k * of_entry x; more := more c;
  drawn := drawn c + so_many k * of_drawn x; drawn' := drawn' c + so_many k * of_drawn' x; weights := weights c; pulls := pulls c |}.
Definition slope (p : rstep * slopes_of) : rstep := with_numbers (fst p) (snd p).

Definition grown (k : nat) (s s1 s' : numbers_of) := forall x, getQ s' x == getQ s x + so_many k * getQ s1 x.

Lemma lookup_renew {X} x f (l : list (nat * X)) l' :
  lookup x (l ++ filter (fun p => negb (f (fst p))) l') = match lookup x l with Some v => Some v | None => if f x then None else lookup x l' end.
Proof.
  rewrite lookup_app. destruct (lookup x l); [easy|]. induction l' as [|[y v] l' IH]; simpl; [now destruct (f x)|].
  destruct (f y) eqn:F; simpl; destruct (Nat.eqb_spec x y) as [->|]; rewrite ?F; auto. rewrite IH. now rewrite F.
Qed.

Lemma value_grown k s s1 s' z z1 z' v : grown k s s1 s' -> z' == z + so_many k * z1 ->
  valueQ s' z' v == valueQ s z v + so_many k * valueQ s1 z1 (loose_term v).
Proof.
  intros G Hz. unfold valueQ, loose_term. cbn [negative whence plus].
  assert (H : heldQ s' z' (whence v) == heldQ s z (whence v) + so_many k * heldQ s1 z1 (whence v)).
  { unfold heldQ. destruct (whence v); [ring|easy|apply G]. }
  destruct (negative v); rewrite H; ring.
Qed.

Lemma get_upd s t z x : getQ (updQ s t z) x = if mem x (asg t) then z else match lookup x (copies t) with Some v => valueQ s z v | None => getQ s x end.
Proof.
  unfold getQ at 1, updQ. rewrite lookup_app, lookup_same. destruct (mem x (asg t)) eqn:M; [easy|].
  rewrite (lookup_renew x (fun y => mem y (gets t))), (lookup_map x (fun p => valueQ s z (snd p))).
  destruct (lookup x (copies t)) as [v|] eqn:C; [easy|]. assert (Hm : mem x (gets t) = false).
  { apply mem_false. unfold gets. rewrite in_app_iff. intros [H|H]; [apply mem_In in H; congruence|now apply lookup_None in C]. }
  now rewrite Hm.
Qed.
Lemma lookup_loose x (l : list (nat * term)) : lookup x (map (fun p => (fst p, loose_term (snd p))) l) =
  match lookup x l with Some v => Some (loose_term v) | None => None end.
Proof. exact (lookup_map x (fun p => loose_term (snd p)) l). Qed.
Lemma upd_grown k s s1 s' t z z1 z' : grown k s s1 s' -> z' == z + so_many k * z1 ->
  grown k (updQ s t z) (updQ s1 (loose_trans t) z1) (updQ s' t z').
Proof.
  intros G Hz x. rewrite !get_upd. cbn [loose_trans asg copies]. rewrite lookup_loose.
  destruct (mem x (asg t)); [easy|]. destruct (lookup x (copies t)); [now apply value_grown|apply G].
Qed.
Lemma get_set l e r x : getQ (setQ l e r) x == match lookup x l with
  | Some u => match from u with Some y => getQ r y | None => 0 end + (if adds u then e else 0) | None => getQ r x end.
Proof.
  unfold getQ at 1, setQ. rewrite (lookup_renew x (fun y => mem y (map fst l))).
  rewrite (lookup_map x (fun p => Qred (match from (snd p) with Some y => getQ r y | None => 0 end + (if adds (snd p) then e else 0)))).
  destruct (lookup x l) as [u|] eqn:C; [apply Qred_correct|].
  assert (Hm : mem x (map fst l) = false) by (apply mem_false; now apply lookup_None). rewrite Hm. reflexivity.
Qed.
Lemma set_grown k l e e1 e' r r1 r' : grown k r r1 r' -> e' == e + so_many k * e1 -> grown k (setQ l e r) (setQ l e1 r1) (setQ l e' r').
Proof.
  intros G He x. rewrite !get_set. destruct (lookup x l) as [u|]; [|apply G].
  destruct (from u) as [y|]; [rewrite (G y)|]; destruct (adds u); rewrite ?He; ring.
Qed.
Lemma weighed_red l r : weighedQ l r == fold_right (fun p m => snd p * getQ r (fst p) + m) 0 l.
Proof. induction l as [|p l IH]; cbn [weighedQ fold_right]; [reflexivity|]. fold (weighedQ l r). rewrite Qred_correct, IH. reflexivity. Qed.
Lemma weighed_grown k l r r1 r' : grown k r r1 r' -> weighedQ l r' == weighedQ l r + so_many k * weighedQ l r1.
Proof.
  intros G. rewrite !weighed_red. induction l as [|p l IH]; cbn [fold_right]; [ring|]. rewrite IH, (G (fst p)). ring.
Qed.

Lemma Qle_bool_along (x y x1 y1 x' y' : Q) k : x' == x + so_many k * x1 -> y' == y + so_many k * y1 ->
  Qle_bool x y = true -> Qle_bool x1 y1 = true -> Qle_bool x' y' = true.
Proof.
  intros E1 E2 H H1. apply Qle_bool_iff in H, H1. apply Qle_bool_iff. rewrite E1, E2. apply Qplus_le_compat; [easy|].
  rewrite !(Qmult_comm (so_many k)). apply Qmult_le_compat_r; [easy|apply so_many_0].
Qed.
Lemma Qlt_bool_iff x y : Qlt_bool x y = true <-> x < y.
Proof.
  unfold Qlt_bool. rewrite negb_true_iff. split.
  - intros H. apply Qnot_le_lt. intros L. apply Qle_bool_iff in L. congruence.
  - intros H. destruct (Qle_bool y x) eqn:E; [|easy]. apply Qle_bool_iff in E. exfalso. now apply (Qlt_not_le x y).
Qed.
Lemma Qlt_bool_along (x y x1 y1 x' y' : Q) k : x' == x + so_many k * x1 -> y' == y + so_many k * y1 ->
  Qlt_bool x y = true -> Qle_bool x1 y1 = true -> Qlt_bool x' y' = true.
Proof.
  intros E1 E2 H H1. apply Qlt_bool_iff in H. apply Qle_bool_iff in H1. apply Qlt_bool_iff. rewrite E1, E2. apply Qplus_lt_le_compat; [easy|].
  rewrite !(Qmult_comm (so_many k)). apply Qmult_le_compat_r; [easy|apply so_many_0].
Qed.
Lemma Qeq_bool_along (x y x1 y1 x' y' : Q) k : x' == x + so_many k * x1 -> y' == y + so_many k * y1 ->
  Qeq_bool x y = true -> Qeq_bool x1 y1 = true -> Qeq_bool x' y' = true.
Proof. rewrite !Qeq_bool_iff. intros -> -> -> ->. reflexivity. Qed.
Lemma can_be_along l dd m m1 m' z z1 z' k : m' == m + so_many k * m1 -> z' == z + so_many k * z1 ->
  can_beQ gr l dd m z = true -> can_beQ gr l dd m1 z1 = true -> can_beQ gr l dd m' z' = true.
Proof.
  intros Em Ez. assert (Ed : z' - m' == (z - m) + so_many k * (z1 - m1)) by (rewrite Em, Ez; ring).
  unfold can_beQ. pose proof (Qeq_bool_along z m z1 m1 z' m' k Ez Em) as Same. pose proof (Sum _ _ _ k Ed) as Grid.
  destruct l; [destruct (Qle_bool dd 0); auto..|auto]. rewrite !andb_true_iff. intros [H1 H2] [H3 H4].
  split; [auto|eapply Qle_bool_along; eauto].
Qed.

Lemma atoms_loose t : atoms (loose_trans t) = map (fun a => {| low := loose_term (low a); high := loose_term (high a); strict := false |}) (atoms t).
Proof. reflexivity. Qed.
Lemma atom_along s s1 s' z z1 z' k t : grown k s s1 s' -> z' == z + so_many k * z1 ->
  forallb (atom_holds s z) (atoms t) = true -> forallb (atom_holds s1 z1) (atoms (loose_trans t)) = true -> forallb (atom_holds s' z') (atoms t) = true.
Proof.
  intros G Hz H H1. rewrite atoms_loose in H1. rewrite forallb_forall in *. intros a Ha. specialize (H a Ha).
  specialize (H1 _ (in_map _ _ _ Ha)). unfold atom_holds in *. cbn [strict low high] in H1.
  pose proof (value_grown k s s1 s' z z1 z' (low a) G Hz). pose proof (value_grown k s s1 s' z z1 z' (high a) G Hz).
  destruct (strict a); [eapply Qlt_bool_along; eauto|eapply Qle_bool_along; eauto].
Qed.

Lemma read_along k c x (f : rstep -> Q) e e1 e' : e' == e + so_many k * e1 ->
  read_of V (along k (c, x)) e' == read_of V c e + so_many k * read_of B (with_numbers c x) e1.
Proof. unfold read_of. cbn. intros H. destruct (reads _); [easy|ring]. Qed.

Lemma possible_along k run : forall q s r s1 r1 s' r', grown k s s1 s' -> grown k r r1 r' ->
  possible gr A V (map fst run) q s r = true -> possible gr A B (map slope run) q s1 r1 = true ->
  possible gr A V (map (along k) run) q s' r' = true.
Proof.
  induction run as [|[c x] run IH]; intros q s r s1 r1 s' r' Gs Gr; cbn [map possible]; [easy|]. cbv zeta.
  change (taken (along k (c, x))) with (taken c). change (taken (slope (c, x))) with (taken c). cbn [fst snd].
  change (tr_of B (taken c)) with (loose_trans (tr_of V (taken c))). set (t := tr_of V (taken c)). set (i := taken c).
  cbn [st_of loose loose_trans src tgt sets]. set (s0 := st_of V q).
  rewrite !andb_true_iff. intros [[[[[H1 H2] H3] H4] H5] H6] [[[[[_ _] L3] L4] L5] L6].
  assert (Ee : read_of V (along k (c, x)) (entry_at (along k (c, x))) == read_of V c (entry_at c) + so_many k * read_of B (slope (c, x)) (entry_at (slope (c, x)))).
  { apply (read_along k c x entry_at). reflexivity. }
  assert (Em : Qred (read_of V (along k (c, x)) (entry_at (along k (c, x))) + weighedQ (factors (st_of V (src t))) r') ==
    Qred (read_of V c (entry_at c) + weighedQ (factors (st_of V (src t))) r) +
    so_many k * Qred (read_of B (slope (c, x)) (entry_at (slope (c, x))) + weighedQ (factors (loose_stat (st_of V (src t)))) r1)).
  { rewrite !Qred_correct, Ee. change (factors (loose_stat (st_of V (src t)))) with (factors (st_of V (src t))).
    rewrite (weighed_grown k _ r r1 r' Gr). ring. }
  assert (Ez : drawn (along k (c, x)) == drawn c + so_many k * drawn (slope (c, x))) by reflexivity.
  assert (Ez' : drawn' (along k (c, x)) == drawn' c + so_many k * drawn' (slope (c, x))) by reflexivity.
  repeat split; auto.
  - eapply can_be_along; [..|exact H3|exact L3]; [|exact Ez]. rewrite Em. cbn [loose_stat mu]. ring.
  - change (shows_other (loose_trans t)) with (shows_other t) in L4. destruct (shows_other t); [|easy]. cbn [negb orb] in *.
    eapply can_be_along; [..|exact H4|exact L4]; [|exact Ez']. rewrite Em. cbn [loose_stat mu']. ring.
  - eapply atom_along; eauto.
  - eapply IH; [| |exact H6|exact L6]; [now apply upd_grown|now apply set_grown].
Qed.

Definition state_of (x : nat * numbers_of * numbers_of) := fst (fst x).
Lemma advance_along k run : forall q s r s1 r1 s' r', grown k s s1 s' -> grown k r r1 r' ->
  let '(q1, t, u) := advance V (map fst run) q s r in let '(_, t1, u1) := advance B (map slope run) q s1 r1 in
  let '(q2, t', u') := advance V (map (along k) run) q s' r' in q1 = q2 /\ grown k t t1 t' /\ grown k u u1 u'.
Proof.
  induction run as [|[c x] run IH]; intros q s r s1 r1 s' r' Gs Gr; cbn [map advance]; [easy|]. cbv zeta.
  change (taken (along k (c, x))) with (taken c). change (taken (slope (c, x))) with (taken c). cbn [fst].
  change (tr_of B (taken c)) with (loose_trans (tr_of V (taken c))). cbn [loose_trans tgt sets].
  apply IH; [apply upd_grown; [easy|reflexivity]|apply set_grown; [easy|]]. apply (read_along k c x entry_at). reflexivity.
Qed.
End Along.

(* ---- Runs written out, with so many rounds ---- *)

Section Written.
Open Scope Q_scope.
Variables (gr : grade) (Sum : adds_up gr) (A : automaton) (V : view).
Local Notation B := (loose V).

Definition once (k : nat) (g : segment) : list rstep := map (fun c => along k (base c, ahead c)) (steps g).
Definition round (k j : nat) (g : segment) : list rstep := map (fun c => along (k - j) (along j (base c, behind c), ahead c)) (steps g).
Fixpoint written (k : nat) (run : list segment) : list rstep :=
  match run with
  | [] => []
  | g :: run' => (if again g then flat_map (fun j => round k j g) (seq 0 k) else once k g) ++ written k run'
  end.

Lemma possible_app run1 run2 : forall q s r, possible gr A V (run1 ++ run2) q s r =
  possible gr A V run1 q s r && (let '(q', s', r') := advance V run1 q s r in possible gr A V run2 q' s' r').
Proof.
  induction run1 as [|c run1 IH]; intros q s r; cbn [app possible advance]; [easy|]. cbv zeta. rewrite IH, !andb_assoc. reflexivity.
Qed.

Lemma advance_app run1 run2 : forall q s r, advance V (run1 ++ run2) q s r = (let '(q', s', r') := advance V run1 q s r in advance V run2 q' s' r').
Proof. induction run1 as [|c run1 IH]; intros q s r; cbn [app advance]; [easy|]. apply IH. Qed.

Lemma grown_exists k s s1 : exists s', grown k s s1 s'.
Proof.
  exists (map (fun x => (x, getQ s x + so_many k * getQ s1 x)) (map fst s ++ map fst s1)). intros x. unfold getQ at 1.
  assert (H : forall l, lookup x (map (fun y => (y, getQ s y + so_many k * getQ s1 y)) l) = if mem x l then Some (getQ s x + so_many k * getQ s1 x) else None).
  { induction l as [|y l IH]; simpl; [easy|]. unfold mem. simpl. destruct (Nat.eqb_spec x y) as [->|]; simpl; auto. }
  rewrite H. destruct (mem x _) eqn:M; [reflexivity|]. apply mem_false in M. rewrite in_app_iff in M. unfold getQ.
  rewrite !lookup_not by tauto. ring.
Qed.

(* What a run does not store it leaves as it is. *)
Lemma advance_stored W x run : forall q s r, ~ In x (flat_map (fun c => gets (tr_of W (taken c))) run) ->
  getQ (snd (fst (advance W run q s r))) x = getQ s x.
Proof.
  induction run as [|c run IH]; intros q s r H; cbn [advance flat_map] in *; [easy|]. rewrite in_app_iff in H. cbv zeta. rewrite IH by tauto.
  rewrite get_upd. unfold gets in H. rewrite in_app_iff in H. destruct (mem x (asg (tr_of W (taken c)))) eqn:M; [apply mem_In in M; tauto|].
  rewrite lookup_not; [easy|tauto].
Qed.
Lemma advance_set W x run : forall q s r, ~ In x (flat_map (fun c => map fst (sets (tr_of W (taken c)))) run) ->
  getQ (snd (advance W run q s r)) x == getQ r x.
Proof.
  induction run as [|c run IH]; intros q s r H; cbn [advance flat_map] in *; [easy|]. rewrite in_app_iff in H. cbv zeta. rewrite IH by tauto.
  rewrite get_set. rewrite lookup_not; [easy|tauto].
Qed.

(* In the round with j before it. *)
Definition between (k j : nat) (s s1 s2 s' : numbers_of) := forall x, getQ s' x == getQ s x + so_many (k - j) * getQ s1 x + so_many j * getQ s2 x.

Lemma so_many_less k j : (j < k)%nat -> so_many (k - j) == so_many (k - S j) + 1.
Proof. intros H. replace (k - j)%nat with (S (k - S j)) by lia. apply so_many_S. Qed.
Lemma in_step_between xs l s s1 s2 t t1 t2 t' k j : (j < k)%nat -> in_step (map fst l ++ xs) s s1 s2 t t1 t2 = true -> s2 = shifted_by l s1 ->
  between k j t t1 t2 t' -> forall s', between k j s s1 s2 s' -> (forall x, ~ In x xs -> getQ t' x == getQ s' x) -> between k (S j) s s1 s2 t'.
Proof.
  intros Hj HK E Ht s' Hs Out x. unfold in_step in HK. rewrite forallb_forall in HK.
  destruct (mem x (map fst l ++ xs)) eqn:M.
  - apply mem_In in M. specialize (HK x M). rewrite !andb_true_iff, !Qeq_bool_iff in HK. destruct HK as [[K0 K1] K2].
    rewrite (Ht x), K0, K1, K2, (so_many_less k j Hj), so_many_S. ring.
  - apply mem_false in M. rewrite in_app_iff in M. rewrite (Out x) by tauto. rewrite (Hs x).
    assert (E2 : getQ s2 x = getQ s1 x).
    { rewrite E. unfold getQ, shifted_by. rewrite (lookup_renew x (fun y => mem y (map fst l))). rewrite lookup_not by tauto.
      assert (Hm : mem x (map fst l) = false) by (apply mem_false; tauto). now rewrite Hm. }
    rewrite E2, (so_many_less k j Hj), so_many_S. ring.
Qed.

Lemma shape_stored f l : (forall c : lstep, taken (f c) = taken (base c)) ->
  flat_map (fun c => gets (tr_of V (taken c))) (map f l) = flat_map (fun c => gets (tr_of V (taken c))) (map base l).
Proof. intros H. induction l as [|c l IH]; simpl; [easy|]. now rewrite H, IH. Qed.
Lemma shape_set f l : (forall c : lstep, taken (f c) = taken (base c)) ->
  flat_map (fun c => map fst (sets (tr_of V (taken c)))) (map f l) = flat_map (fun c => map fst (sets (tr_of V (taken c)))) (map base l).
Proof. intros H. induction l as [|c l IH]; simpl; [easy|]. now rewrite H, IH. Qed.

Section One.
Variables (k : nat) (g : segment) (q : nat) (s r s1 r1 : numbers_of).
Let s2 := shifted_by (drift g) s1.
Let r2 := shifted_by (drift_r g) r1.
Hypothesis Hpos : possible gr A V (bases g) q s r = true /\ possible gr A B (aheads g) q s1 r1 = true /\ possible gr A B (behinds g) q s2 r2 = true.
Hypothesis Hkeep : let '(q', t, u) := advance V (bases g) q s r in let '(_, t1, u1) := advance B (aheads g) q s1 r1 in
  let '(_, t2, u2) := advance B (behinds g) q s2 r2 in
  Nat.eqb q q' = true /\ in_step (map fst (drift g) ++ stored_in V (bases g)) s s1 s2 t t1 t2 = true /\
  in_step (map fst (drift_r g) ++ set_in V (bases g)) r r1 r2 u u1 u2 = true.

Lemma a_round j s' r' : (j < k)%nat -> between k j s s1 s2 s' -> between k j r r1 r2 r' ->
  possible gr A V (round k j g) q s' r' = true /\
  exists t u, advance V (round k j g) q s' r' = (q, t, u) /\ between k (S j) s s1 s2 t /\ between k (S j) r r1 r2 u.
Proof.
  intros Hj Gs Gr. destruct Hpos as (P0 & P1 & P2).
  destruct (grown_exists j s s2) as [sm Sm]. destruct (grown_exists j r r2) as [rm Rm].
  set (inner := map (fun c => (base c, behind c)) (steps g)). set (outer := map (fun c => (along j (base c, behind c), ahead c)) (steps g)).
  assert (E0 : map fst inner = bases g) by (unfold inner, bases; now rewrite map_map).
  assert (E1 : map slope inner = behinds g) by (unfold inner, behinds; now rewrite map_map).
  assert (E2 : map (along j) inner = map fst outer) by (unfold inner, outer; now rewrite !map_map).
  assert (E3 : map slope outer = aheads g) by (unfold outer, aheads; now rewrite map_map).
  assert (E4 : map (along (k - j)) outer = round k j g) by (unfold outer, round; now rewrite map_map).
  assert (Gs' : grown (k - j) sm s1 s') by (intros x; rewrite (Gs x), (Sm x); ring).
  assert (Gr' : grown (k - j) rm r1 r') by (intros x; rewrite (Gr x), (Rm x); ring).
  rewrite <- E0 in P0. rewrite <- E1 in P2. rewrite <- E3 in P1.
  pose proof (possible_along gr Sum A V j inner q s r s2 r2 sm rm Sm Rm P0 P2) as Pm. rewrite E2 in Pm.
  pose proof (possible_along gr Sum A V (k - j) outer q sm rm s1 r1 s' r' Gs' Gr' Pm P1) as P'. rewrite E4 in P'. split; [exact P'|].
  pose proof (advance_along V j inner q s r s2 r2 sm rm Sm Rm) as A1. rewrite E0, E1, E2 in A1.
  pose proof (advance_along V (k - j) outer q sm rm s1 r1 s' r' Gs' Gr') as A2. rewrite E3, E4 in A2.
  assert (Sh : forall c : lstep, taken (along (k - j) (along j (base c, behind c), ahead c)) = taken (base c)) by reflexivity.
  assert (Out : forall x, ~ In x (stored_in V (bases g)) -> getQ (snd (fst (advance V (round k j g) q s' r'))) x == getQ s' x).
  { intros x Hx. rewrite advance_stored; [reflexivity|]. unfold round. now rewrite (shape_stored _ _ Sh). }
  assert (Out' : forall x, ~ In x (set_in V (bases g)) -> getQ (snd (advance V (round k j g) q s' r')) x == getQ r' x).
  { intros x Hx. apply advance_set. unfold round. now rewrite (shape_set _ _ Sh). }
  destruct (advance V (bases g) q s r) as [[q0 t] u]. destruct (advance B (aheads g) q s1 r1) as [[qa t1] u1].
  destruct (advance B (behinds g) q s2 r2) as [[qb t2] u2]. destruct (advance V (map fst outer) q sm rm) as [[qm tm] um].
  destruct (advance V (round k j g) q s' r') as [[qn tn] un]. destruct A1 as (-> & Tm & Um). destruct A2 as (-> & Tn & Un).
  destruct Hkeep as (Hq & K & K'). apply Nat.eqb_eq in Hq. subst qn. exists tn, un. split; [easy|]. cbn [fst snd] in *. split.
  - apply (in_step_between (stored_in V (bases g)) (drift g) s s1 s2 t t1 t2 tn k j Hj K eq_refl) with (s' := s'); [|exact Gs|exact Out].
    intros x. rewrite (Tn x), (Tm x). ring.
  - apply (in_step_between (set_in V (bases g)) (drift_r g) r r1 r2 u u1 u2 un k j Hj K' eq_refl) with (s' := r'); [|exact Gr|exact Out'].
    intros x. rewrite (Un x), (Um x). ring.
Qed.

Lemma all_rounds m : forall j s' r', (j + m = k)%nat -> between k j s s1 s2 s' -> between k j r r1 r2 r' ->
  possible gr A V (flat_map (fun j => round k j g) (seq j m)) q s' r' = true /\
  exists t u, advance V (flat_map (fun j => round k j g) (seq j m)) q s' r' = (q, t, u) /\ between k k s s1 s2 t /\ between k k r r1 r2 u.
Proof.
  induction m as [|m IH]; intros j s' r' E Gs Gr; cbn [seq flat_map].
  - replace j with k in * by lia. split; [easy|]. exists s', r'. easy.
  - destruct (a_round j s' r' ltac:(lia) Gs Gr) as (P & t & u & Ad & Gt & Gu). destruct (IH (S j) t u ltac:(lia) Gt Gu) as (P' & t' & u' & Ad' & Gt' & Gu').
    rewrite possible_app, P, Ad. split; [exact P'|]. exists t', u'. split; [|easy]. now rewrite advance_app, Ad.
Qed.
End One.

Lemma possible_written k run : forall q s r s1 r1 s' r' O, grown k s s1 s' -> grown k r r1 r' ->
  possible_in gr A V run q s r s1 r1 O = true -> possible gr A V (written k run) q s' r' = true.
Proof.
  induction run as [|g run IH]; intros q s r s1 r1 s' r' O Gs Gr; cbn [possible_in written]; [easy|].
  set (inner := map (fun c => (base c, ahead c)) (steps g)).
  assert (E0 : map fst inner = bases g) by (unfold inner, bases; now rewrite map_map).
  assert (E1 : map slope inner = aheads g) by (unfold inner, aheads; now rewrite map_map).
  assert (E2 : map (along k) inner = once k g) by (unfold inner, once; now rewrite !map_map).
  pose proof (advance_along V k inner q s r s1 r1 s' r' Gs Gr) as A1. rewrite E0, E1, E2 in A1.
  pose proof (all_rounds k g q s r s1 r1) as AR. cbv zeta in AR.
  destruct (advance V (bases g) q s r) as [[q0 t] u] eqn:Ad0. destruct (advance B (aheads g) q s1 r1) as [[qa t1] u1] eqn:Ad1.
  cbv zeta. set (s2 := shifted_by (drift g) s1) in *. set (r2 := shifted_by (drift_r g) r1) in *.
  destruct (advance B (behinds g) q s2 r2) as [[qb t2] u2] eqn:Ad2. rewrite !andb_true_iff. intros [[[P0 _] P1] H].
  rewrite possible_app. destruct (again g).
  - rewrite !andb_true_iff in H. destruct H as [[[[[P2 Hq] _] K] K'] H].
    assert (Gs' : between k 0 s s1 s2 s').
    { intros x. rewrite (Gs x), Nat.sub_0_r. change (so_many 0) with 0. ring. }
    assert (Gr' : between k 0 r r1 r2 r').
    { intros x. rewrite (Gr x), Nat.sub_0_r. change (so_many 0) with 0. ring. }
    destruct (AR (conj P0 (conj P1 P2)) (conj Hq (conj K K')) k 0%nat s' r' ltac:(lia) Gs' Gr') as (P & t' & u' & Ad & Gt & Gu).
    rewrite P, Ad. cbn [andb]. apply (IH q s r s2 r2) with (O := O); auto.
    + intros x. rewrite (Gt x), Nat.sub_diag. change (so_many 0) with 0. ring.
    + intros x. rewrite (Gu x), Nat.sub_diag. change (so_many 0) with 0. ring.
  - rewrite <- E0 in P0. rewrite <- E1 in P1. rewrite <- E2 in *. rewrite (possible_along gr Sum A V k inner q s r s1 r1 s' r' Gs Gr P0 P1). cbn [andb].
    destruct (advance V (map (along k) inner) q s' r') as [[qn tn] un]. destruct A1 as (-> & Gt & Gu). eapply (IH qn t u t1 u1); eauto.
Qed.
End Written.

(* ---- Nothing less, or nothing at all ---- *)

Open Scope R_scope.

(* So many times. *)
Fixpoint repeated {X} (k : nat) (l : list X) : list X := match k with O => [] | S k' => l ++ repeated k' l end.

Lemma total_app l l' s : total (l ++ l') s = total l s + total l' s.
Proof.
  induction l as [|[x w] l IH]; [symmetry; apply Rplus_0_l|].
  change (Q2R w * s x + total (l ++ l') s = Q2R w * s x + total l s + total l' s). rewrite IH. lra.
Qed.

Lemma total_plus_all l' l s : total (fold_right (fun p => plus_at (fst p) (snd p)) l l') s = total l' s + total l s.
Proof.
  induction l' as [|[x w] l' IH]; cbn [fold_right fst snd]; [simpl; ring|]. rewrite total_plus, IH.
  change (total ((x, w) :: l') s) with (Q2R w * s x + total l' s). ring.
Qed.
Section Rounds.
Context {eps : R} (Heps : 0 < eps) (N : noise eps) (T : tails N) (gr : grade) (Sum : adds_up gr).
Hypothesis okq_ok : forall q, shift_ok gr q = true -> ok N (Q2R q).
Hypothesis smooth_ok : smooth gr = true -> atomless N.
Hypothesis points_ok : mixes gr = false -> points N T.
Variables (A : automaton) (H0 : hints).
Local Notation V := (plain A H0).

(* -- what the checker looks at, of runs one after the other -- *)

Lemma follows_after size run1 run2 : forall k, follows V size (run1 ++ run2) k =
  match pattern_after V run1 k with Some k' => follows V size run2 k' | None => false end.
Proof.
  induction run1 as [|c run1 IH]; intros k; cbn [app follows pattern_after]; [easy|].
  destruct (reads _); [|apply IH]. destruct (if Qeq_bool _ _ then _ else _); [apply IH|easy].
Qed.

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

(* -- what does not depend on numbers -- *)

Section Shape.
Variable f : lstep -> rstep.
Hypothesis Hf : forall c, taken (f c) = taken (base c) /\ more (f c) = more (base c) /\ weights (f c) = weights (base c) /\ pulls (f c) = pulls (base c).
Let one (c : lstep) : taken (f c) = taken (base c) := proj1 (Hf c).

Lemma shape_back l : forall l0, back V (map f l) l0 = back V (map base l) l0.
Proof.
  induction l as [|c l IH]; intros l0; cbn [map back]; [easy|]. rewrite IH. destruct (back V (map base l) l0) as [l1 ks].
  destruct (Hf c) as (E1 & E2 & E3 & E4). unfold stepped, steep'. now rewrite E1, E3, E4.
Qed.
Lemma shape_worth l : forall ks r, worth V (map f l) ks r = worth V (map base l) ks r.
Proof.
  induction l as [|c l IH]; intros [|k ks] r; cbn [map worth]; try easy. destruct (Hf c) as (E1 & E2 & E3 & E4). unfold read_of.
  now rewrite E1, E2, IH.
Qed.
Lemma shape_differing l : forall r, differing_after V (map f l) r = differing_after V (map base l) r.
Proof.
  induction l as [|c l IH]; intros r; cbn [map differing_after]; [easy|]. destruct (Hf c) as (E1 & E2 & E3 & E4). unfold read_of. now rewrite E1, E2, IH.
Qed.
Lemma shape_pattern l : forall k, pattern_after V (map f l) k = pattern_after V (map base l) k.
Proof.
  induction l as [|c l IH]; intros k; cbn [map pattern_after]; [easy|]. destruct (Hf c) as (E1 & E2 & E3 & E4). rewrite E1, E2.
  destruct (reads _); [|apply IH]. destruct (if Qeq_bool _ _ then _ else _); [apply IH|easy].
Qed.
Lemma shape_falls te x l ks : (forall p, In p (combine (map base l) ks) -> step_falls N A te x p) ->
  forall p, In p (combine (map f l) ks) -> step_falls N A te x p.
Proof.
  revert ks. induction l as [|c l IH]; intros [|k ks] H p; cbn [map combine In]; try easy. destruct (Hf c) as (E1 & E2 & E3 & E4).
  intros [<-|Hp].
  - specialize (H (base c, k) ltac:(now left)). unfold step_falls in *. cbn [fst snd] in *. now rewrite E1, E3.
  - apply (IH ks); [|easy]. intros p' Hp'. apply H. now right.
Qed.
Lemma shape_mem l c : In c (map f l) -> exists c', In c' (map base l) /\ taken c' = taken c.
Proof.
  rewrite in_map_iff. intros (x & <- & Hx). exists (base x). split; [now apply in_map|]. now destruct (Hf x).
Qed.
End Shape.

Lemma once_shape k : forall c, let c' := along k (base c, ahead c) in
  taken c' = taken (base c) /\ more c' = more (base c) /\ weights c' = weights (base c) /\ pulls c' = pulls (base c).
Proof. easy. Qed.
Lemma round_shape k j : forall c, let c' := along (k - j) (along j (base c, behind c), ahead c) in
  taken c' = taken (base c) /\ more c' = more (base c) /\ weights c' = weights (base c) /\ pulls c' = pulls (base c).
Proof. easy. Qed.

Lemma worth_once k g ks e : worth V (once k g) ks e = worth V (bases g) ks e.
Proof. exact (shape_worth _ (once_shape k) (steps g) ks e). Qed.
Lemma worth_round k j g ks e : worth V (round k j g) ks e = worth V (bases g) ks e.
Proof. exact (shape_worth _ (round_shape k j) (steps g) ks e). Qed.
Lemma differing_once k g e : differing_after V (once k g) e = differing_after V (bases g) e.
Proof. exact (shape_differing _ (once_shape k) (steps g) e). Qed.
Lemma differing_round k j g e : differing_after V (round k j g) e = differing_after V (bases g) e.
Proof. exact (shape_differing _ (round_shape k j) (steps g) e). Qed.
Lemma pattern_once k g i : pattern_after V (once k g) i = pattern_after V (bases g) i.
Proof. exact (shape_pattern _ (once_shape k) (steps g) i). Qed.
Lemma pattern_round k j g i : pattern_after V (round k j g) i = pattern_after V (bases g) i.
Proof. exact (shape_pattern _ (round_shape k j) (steps g) i). Qed.
Lemma taken_once k g : map taken (once k g) = map taken (bases g).
Proof. unfold once, bases. now rewrite !map_map. Qed.
Lemma taken_round k j g : map taken (round k j g) = map taken (bases g).
Proof. unfold round, bases. now rewrite !map_map. Qed.

(* -- what a round leaves alone -- *)

Lemma total_untouched run l : untouched V run l = true -> forall c f z, In c run -> total l (upd f (tr A (taken c)) z) = total l f.
Proof.
  intros Hu c f z Hc. unfold untouched in Hu. rewrite forallb_forall in Hu. specialize (Hu c Hc). see Hu.
  induction l as [|[x w] l IH]; [reflexivity|]. cbn [forallb fst snd] in Hu. apply andb_true_iff in Hu as [H1 H2].
  change (Q2R w * upd f (tr A (taken c)) z x + total l (upd f (tr A (taken c)) z) = Q2R w * f x + total l f). rewrite (IH H2). f_equal.
  apply orb_true_iff in H1 as [H1|H1]; [apply Qeq_bool_iff, Qeq_eqR in H1; rewrite Q2R_0 in H1; rewrite H1; ring|]. f_equal.
  apply negb_true_iff in H1. unfold upd. unfold gets in H1.
  destruct (mem x (asg (tr A (taken c)))) eqn:M.
  { apply mem_In in M. apply mem_false in H1. exfalso. apply H1. apply in_or_app. now left. }
  rewrite lookup_not; [easy|]. apply mem_false in H1. intros H. apply H1. apply in_or_app. now right.
Qed.
Lemma untouched_app run l l' : untouched V run (l ++ l') = true -> untouched V run l = true /\ untouched V run l' = true.
Proof.
  unfold untouched. rewrite !forallb_forall. intros H. split; intros c Hc; specialize (H c Hc); rewrite forallb_app in H; now apply andb_true_iff in H.
Qed.

(* Of what is the same before and after each round there may be any number. *)
Lemma round_by_round (g : segment) (P : list rstep -> Prop) k : P [] -> (forall j run, P run -> P (round k j g ++ run)) ->
  forall m j, P (flat_map (fun j => round k j g) (seq j m)).
Proof. intros P0 PS. induction m as [|m IH]; intros j; cbn [seq flat_map]; auto. Qed.

Lemma follows_written k run : forall i, follows_in A V run i = true -> follows V (length (differ A)) (written k run) i = true.
Proof.
  induction run as [|g run IH]; intros i; cbn [follows_in written]; [easy|]. destruct (pattern_after V (bases g) i) as [i'|] eqn:Pa; [|easy].
  rewrite andb_true_iff. intros [Ha Hi]. rewrite follows_after. destruct (again g).
  - apply Nat.eqb_eq in Ha. subst i'. assert (E : forall m j, pattern_after V (flat_map (fun j => round k j g) (seq j m)) i = Some i).
    { induction m as [|m IHm]; intros j; cbn [seq flat_map]; [easy|].
      assert (App : forall r1 r2 i0, pattern_after V (r1 ++ r2) i0 = match pattern_after V r1 i0 with Some i1 => pattern_after V r2 i1 | None => None end).
      { clear. induction r1 as [|c r1 IHr]; intros r2 i0; cbn [app pattern_after]; [easy|]. destruct (reads _); [|apply IHr].
        destruct (if Qeq_bool _ _ then _ else _); [apply IHr|easy]. }
      rewrite App, pattern_round. now rewrite Pa. }
    rewrite E. auto.
  - rewrite pattern_once, Pa. auto.
Qed.

Lemma clear_written W k run : forall x, alone_in V W run x = true -> clear N A (written k run) x.
Proof.
  induction run as [|g run IH]; intros x; cbn [alone_in written].
  - intros H. apply negb_true_iff in H. now apply clear_end.
  - destruct (again g).
    + rewrite andb_true_iff. intros [S H]. set (l := spread W V 50 (map taken (bases g)) (fst x) (snd x)) in *.
      destruct x as [r rivals]. cbn [fst snd] in *. apply (clear_more N A _ r rivals l); [apply spread_covers|].
      assert (All : forall m j, clear N A (flat_map (fun j => round k j g) (seq j m) ++ written k run) (r, l)); [|apply All].
      induction m as [|m IHm]; intros j; cbn [seq flat_map]; [now apply IH|]. rewrite <- app_assoc. apply (clear_run N A H0 W). rewrite taken_round. apply (clear_settled N A _ (r, l)); [exact S|]. apply IHm.
    + intros H. apply (clear_run N A H0 W). rewrite taken_once. now apply IH.
Qed.

Lemma more_along k c x cl : check_more gr V cl c = true -> check_more gr V cl (with_numbers c x) = true -> check_more gr V cl (along k (c, x)) = true.
Proof.
  unfold check_more. cbn [taken along with_numbers more entry_at]. destruct (reads _); [|easy]. cbn [negb orb].
  rewrite !andb_true_iff. intros [[[H1 H2] H3] H4] [_ H5]. repeat split; auto.
  exact (Sum _ _ _ k (Qeq_refl _) H4 H5).
Qed.
Lemma mores_written k c run : forallb (check_mores gr V c) run = true -> forallb (check_more gr V c) (written k run) = true.
Proof.
  rewrite !forallb_forall. intros H x Hx. induction run as [|g run IH]; cbn [written] in Hx; [easy|].
  apply in_app_or in Hx as [Hx|Hx]; [|apply IH; auto; intros; apply H; now right]. specialize (H g ltac:(now left)).
  unfold check_mores in H. rewrite !andb_true_iff, !forallb_forall in H. destruct H as [[M0 M1] M2].
  assert (M : forall c0, In c0 (steps g) -> check_more gr V c (base c0) = true /\ check_more gr V c (with_numbers (base c0) (ahead c0)) = true /\
    check_more gr V c (with_numbers (base c0) (behind c0)) = true).
  { intros c0 Hc. split; [|split]; [apply M0|apply M1|apply M2]; now apply in_map_iff; exists c0. }
  destruct (again g).
  - apply in_flat_map in Hx as (j & _ & Hx). unfold round in Hx. apply in_map_iff in Hx as (c0 & <- & Hc). destruct (M c0 Hc) as (N0 & N1 & N2).
    apply more_along; [now apply more_along|exact N1].
  - unfold once in Hx. apply in_map_iff in Hx as (c0 & <- & Hc). destruct (M c0 Hc) as (N0 & N1 & N2). now apply more_along.
Qed.

(* -- what it is worth -- *)

Lemma differing_set x run : forall r, ~ In x (set_in V run) -> getQ (differing_after V run r) x == getQ r x.
Proof.
  induction run as [|c run IH]; intros r H; cbn [differing_after set_in flat_map] in *; [reflexivity|]. rewrite in_app_iff in H.
  rewrite IH by (unfold set_in; tauto). rewrite get_set, lookup_not; [reflexivity|tauto].
Qed.
Lemma differing_steady run e : forallb (fun x => Qeq_bool (getQ (differing_after V run e) x) (getQ e x)) (set_in V run) = true ->
  real (differing_after V run e) = real e.
Proof.
  intros H. apply functional_extensionality. intros x. unfold real. apply Qeq_eqR. rewrite forallb_forall in H.
  destruct (in_dec Nat.eq_dec x (set_in V run)) as [Hi|Hi]; [now apply Qeq_bool_iff, H|now apply differing_set].
Qed.

Definition pulls_of (k : nat) (g : segment) (ks : list (Q * Q)) : list (R * R) := if again g then repeated k (times (/ INR k) ks) else times 1 ks.
Fixpoint pulls_written (k : nat) (run : list segment) (ks : list (numbers_of * list (Q * Q))) : list (R * R) :=
  match run, ks with g :: run', l :: ks' => pulls_of k g (snd l) ++ pulls_written k run' ks' | _, _ => [] end.

Lemma worth_real run : forall ks r r', real r = real r' -> Q2R (worth V run ks r) = Q2R (worth V run ks r').
Proof.
  intros ks r r' E. pose proof (pulling_worth A H0 1 run ks r) as W1. pose proof (pulling_worth A H0 1 run ks r') as W2. rewrite E in W1. lra.
Qed.
Lemma worth_written k run : (1 <= k)%nat -> forall l lks e r, back_in V run = (l, lks) -> steady_in V run e = true -> r = real e ->
  pulling A (written k run) (pulls_written k run lks) (stream_of A more (written k run), r) = Q2R (worth_in V run lks e).
Proof.
  intros Hk. assert (J0 : 0 < INR k) by (apply lt_0_INR; lia).
  induction run as [|g run IH]; intros l lks e r; cbn [back_in written steady_in worth_in pulls_written].
  { intros E. inversion E. intros _ _. cbn [pulling]. now rewrite Q2R_0. }
  destruct (back_in V run) as [l1 lks1] eqn:B.
  destruct (again g) eqn:Ag; destruct (back V (bases g) _) as [l2 ks] eqn:Bg; intros E; inversion E; subst lks; clear E; intros St Er;
  cbn [pulls_written worth_in snd]; unfold pulls_of; rewrite ?Ag, Q2R_red, Q2R_plus;
  assert (Len : length ks = length (steps g)) by (rewrite (back_length _ _ _ _ Bg); unfold bases; now rewrite map_length); clear Bg.
  - apply andb_true_iff in St as [Se St]. pose proof (differing_steady _ _ Se) as Re.
    set (x := / INR k) in *. subst r.
    assert (Rounds : forall m j, pulling A (flat_map (fun j => round k j g) (seq j m) ++ written k run) (repeated m (times x ks) ++ pulls_written k run lks1)
      (stream_of A more (flat_map (fun j => round k j g) (seq j m) ++ written k run), real e) =
      INR m * (x * Q2R (worth V (bases g) ks e)) + Q2R (worth_in V run lks1 e)).
    { induction m as [|m IHm]; intros j; cbn [seq flat_map repeated].
      - cbn [app]. rewrite (IH l1 lks1 e _ eq_refl St eq_refl). simpl. ring.
      - rewrite <- !app_assoc, pulling_app by (rewrite times_length; unfold round; now rewrite map_length).
        rewrite pulling_on, gone_more, worth_round, differing_round, Re, IHm, S_INR. ring. }
    rewrite Rounds. unfold x. field. lra.
  - subst r. rewrite pulling_app by (rewrite times_length; unfold once; now rewrite map_length).
    rewrite pulling_on, gone_more, worth_once, differing_once.
    rewrite (IH l1 lks1 _ _ eq_refl St eq_refl). ring.
Qed.

(* -- how rare it is -- *)

Lemma rounds_sloped te x X g l l' ks k : 0 <= x -> untouched V (bases g) (l' ++ l) = true ->
  X = total l -> back V (bases g) [] = (l', ks) -> (forall p, In p (combine (bases g) ks) -> step_falls N A te x p) ->
  forall m j, sloped N A te (flat_map (fun j => round k j g) (seq j m)) (repeated m (times x ks)) (fun f => X f + INR m * (x * total l' f)) X.
Proof.
  intros Hx Un EX Hb HF. apply untouched_app in Un as [U2 U1].
  pose proof (total_untouched (bases g) l U1) as T1. pose proof (total_untouched (bases g) l' U2) as T2.
  induction m as [|m IH]; intros j; cbn [seq flat_map repeated].
  - cbn [sloped]. intros f. simpl. lra.
  - apply (sloped_app N A te _ _ _ _ (fun f => X f + INR m * (x * total l' f))); [|exact (IH (S j))].
    pose proof (back_sloped N A H0 te x (fun f => X f + INR m * (x * total l' f)) (round k j g) Hx) as S.
    specialize (S ltac:(intros c f z Hc; destruct (shape_mem _ (round_shape k j) _ _ Hc) as (c' & Hc' & <-); cbv beta; now rewrite EX, T1, T2) []).
    unfold round at 1 in S. rewrite (shape_back _ (round_shape k j)) in S. fold (bases g) in S.
    specialize (S l' ks Hb (shape_falls _ (round_shape k j) te x (steps g) ks HF)). cbn [total fold_right] in S.
    replace (fun f : store => X f + INR m * (x * total l' f) + x * 0) with (fun f : store => X f + INR m * (x * total l' f)) in S
      by (apply functional_extensionality; intros f; ring).
    replace (fun f : store => X f + INR (Datatypes.S m) * (x * total l' f)) with (fun f : store => X f + INR m * (x * total l' f) + x * total l' f)
      by (apply functional_extensionality; intros f; rewrite S_INR; ring).
    exact S.
Qed.

Lemma sloped_written share th k run : rate share th -> (1 <= k)%nat -> forall l lks, back_in V run = (l, lks) ->
  forallb (fun p => steep_in V share (fst p) (snd p)) (combine run lks) = true ->
  (forall g lk p, In (g, lk) (combine run lks) -> again g = true -> In p (combine (bases g) (snd lk)) -> step_falls N A (th * eps) (/ INR k) p) ->
  sloped N A (th * eps) (written k run) (pulls_written k run lks) (total l) (fun _ => 0).
Proof.
  intros Rt Hk. assert (J0 : 0 < INR k) by (apply lt_0_INR; lia).
  induction run as [|g run IH]; intros l lks; cbn [back_in written].
  { intros E. inversion E. intros _ _. cbn [pulls_written sloped]. easy. }
  destruct (back_in V run) as [l1 lks1] eqn:B.
  destruct (again g) eqn:Ag; destruct (back V (bases g) _) as [l2 ks] eqn:Bg; intros E; inversion E; subst l lks; clear E;
  cbn [combine forallb fst snd pulls_written]; rewrite andb_true_iff; intros [Sg Sr] HF;
  (apply (sloped_app N A (th * eps) _ _ _ _ (total l1)); [|apply (IH l1 lks1 eq_refl Sr); intros g' lk p Hg; apply HF; now right]);
  unfold steep_in in Sg; unfold pulls_of; rewrite Ag in *; cbn [fst snd] in Sg.
  - apply andb_true_iff in Sg as [_ Un].
    pose proof (rounds_sloped (th * eps) (/ INR k) (total l1) g l1 l2 ks k ltac:(left; now apply Rinv_0_lt_compat) Un eq_refl Bg) as RS.
    specialize (RS ltac:(intros p Hp; exact (HF g _ p ltac:(now left) Ag Hp)) k 0%nat).
    replace (fun f : store => total l1 f + INR k * (/ INR k * total l2 f)) with (total (fold_right (fun p => plus_at (fst p) (snd p)) l1 l2)) in RS.
    2: { apply functional_extensionality. intros f. rewrite total_plus_all. field. lra. }
    exact RS.
  - pose proof (back_sloped N A H0 (th * eps) 1 (fun _ => 0) (once k g) ltac:(lra) ltac:(easy) l1) as S.
    unfold once at 1 in S. rewrite (shape_back _ (once_shape k)) in S. fold (bases g) in S.
    specialize (S l2 ks Bg (shape_falls _ (once_shape k) (th * eps) 1 (steps g) ks (steep_falls N T A H0 share th _ _ Rt Sg))).
    replace (total l2) with (fun f : store => 0 + 1 * total l2 f) by (apply functional_extensionality; intros f; ring).
    replace (total l1) with (fun f : store => 0 + 1 * total l1 f) by (apply functional_extensionality; intros f; ring). exact S.
Qed.

(* -- room -- *)

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

Lemma back_near r0 r s O O' f : small gr r0 r -> negb (mixes gr) || comes_back O O' = true -> near_store r s O' f -> near_store r s O f.
Proof.
  intros Sm Ro. destruct (orb_true_iff (negb (mixes gr)) (comes_back O O')) as [D _]. destruct (D Ro) as [M|B]; [|now apply comes_back_near].
  apply negb_true_iff in M. unfold small in Sm. rewrite M in Sm. subst r.
  intros (e & Be & He). exists (fun _ => 0). split; [intros _; rewrite Rabs_R0; lra|].
  intros y. rewrite He. pose proof (off_bound e 0 (origin_of O' y) ltac:(lra) Be) as B.
  pose proof (Rle_abs (off e (origin_of O' y))). pose proof (Rle_abs (- off e (origin_of O' y))) as B'. rewrite Rabs_Ropp in B'.
  destruct (origin_of O y) as [[[] i]|]; simpl; lra.
Qed.

(* Room at the bases is room wherever numbers grow to. *)
Lemma roomy_along k s s1 s' z z1 z' O o t : grown k s s1 s' -> (z' == z + so_many k * z1)%Q ->
  forallb (roomy s O z o) (atoms t) = true -> forallb (atom_holds s1 z1) (atoms (loose_trans t)) = true -> forallb (roomy s' O z' o) (atoms t) = true.
Proof.
  intros G Hz H H1. rewrite atoms_loose in H1. rewrite forallb_forall in *. intros a Ha. specialize (H a Ha).
  specialize (H1 _ (in_map _ _ _ Ha)). unfold roomy in *. unfold atom_holds in H1. cbn [strict low high] in H1.
  apply orb_true_iff in H as [H|H]; [now rewrite H|]. apply orb_true_iff. right.
  exact (Qlt_bool_along _ _ _ _ _ _ k (value_grown k s s1 s' z z1 z' (low a) G Hz) (value_grown k s s1 s' z z1 z' (high a) G Hz) H H1).
Qed.
Lemma room_along k run : forall q s s1 r1 s' O, grown k s s1 s' -> possible gr A (loose V) (map slope run) q s1 r1 = true ->
  has_room V (map fst run) s O = true -> has_room V (map (along k) run) s' O = true.
Proof.
  induction run as [|[c x] run IH]; intros q s s1 r1 s' O Gs; cbn [map possible has_room]; [easy|]. cbv zeta.
  change (taken (along k (c, x))) with (taken c). change (taken (slope (c, x))) with (taken c). cbn [fst snd].
  change (tr_of (loose V) (taken c)) with (loose_trans (tr_of V (taken c))). set (t := tr_of V (taken c)).
  cbn [loose_trans tgt sets]. rewrite !andb_true_iff. intros [[[[[_ _] _] _] L5] L6] [R1 R2].
  assert (Ez : (drawn (along k (c, x)) == drawn c + so_many k * drawn (slope (c, x)))%Q) by reflexivity.
  change (drawn_from V (along k (c, x)) O) with (drawn_from V c O). split; [exact (roomy_along k s s1 s' _ _ _ O _ t Gs Ez R1 L5)|].
  eapply IH; [|exact L6|exact R2]; auto. now apply upd_grown.
Qed.
Lemma enough_along k run q s s1 r1 s' O : grown k s s1 s' -> possible gr A (loose V) (map slope run) q s1 r1 = true ->
  near_enough gr V (map fst run) s O = true -> near_enough gr V (map (along k) run) s' O = true.
Proof.
  intros G P. unfold near_enough. destruct (mixes gr); [|easy]. simpl. now apply (room_along k run q s s1 r1).
Qed.
Lemma origins_shape f l : (forall c : lstep, taken (f c) = taken (base c)) -> forall O, origins_after V (map f l) O = origins_after V (map base l) O.
Proof.
  intros Hf. induction l as [|c l IH]; intros O; cbn [map origins_after]; [easy|]. rewrite IH. unfold drawn_from. now rewrite Hf.
Qed.

Lemma pass_on run1 run2 q s r O q' s' r' (S1 : R -> store -> Prop) : advance V run1 q s r = (q', s', r') ->
  (exists r1, 0 < r1 /\ forall x, small gr r1 x -> passes A x run1 s (near_store x s O)) ->
  (forall x r0 f, small gr r0 x -> near_store x s' (origins_after V run1 O) f -> S1 x f) ->
  (exists r2, 0 < r2 /\ forall x, small gr r2 x -> passes A x run2 s' (S1 x)) ->
  exists r3, 0 < r3 /\ forall x, small gr r3 x -> passes A x (run1 ++ run2) s (near_store x s O).
Proof.
  intros Ad (r1 & P1 & H1) HS (r2 & P2 & H2). exists (Rmin r1 r2). split; [now apply Rmin_pos|]. intros x Sm. apply small_least in Sm as [Sm1 Sm2]; [|easy].
  apply (passes_app x run1 run2 q s r q' s' r'); auto. apply (passes_mono A _ _ _ _ (S1 x)); [|auto].
  intros f Hf. apply (HS x r1); auto. exact (after_near x run1 _ _ _ _ _ _ _ Ad f Hf).
Qed.

Lemma once_passes k g q s r s1 r1 s' r' O : grown k s s1 s' -> grown k r r1 r' -> possible gr A V (bases g) q s r = true ->
  near_enough gr V (bases g) s O = true -> possible gr A (loose V) (aheads g) q s1 r1 = true ->
  exists r0, 0 < r0 /\ forall x, small gr r0 x -> passes A x (once k g) s' (near_store x s' O).
Proof.
  intros Gs Gr P0 Ne P1. set (inner := map (fun c => (base c, ahead c)) (steps g)).
  assert (E0 : map fst inner = bases g) by (unfold inner, bases; now rewrite map_map).
  assert (E1 : map slope inner = aheads g) by (unfold inner, aheads; now rewrite map_map).
  assert (E2 : map (along k) inner = once k g) by (unfold inner, once; now rewrite !map_map).
  rewrite <- E0 in P0, Ne. rewrite <- E1 in P1. rewrite <- E2.
  exact (near_passes gr A H0 _ q s' r' O (possible_along gr Sum A V k inner q s r s1 r1 s' r' Gs Gr P0 P1) (enough_along k inner q s s1 r1 s' O Gs P1 Ne)).
Qed.
Lemma a_round_passes k j g q s r s1 r1 s2 r2 s' r' O : between k j s s1 s2 s' -> between k j r r1 r2 r' -> possible gr A V (bases g) q s r = true ->
  near_enough gr V (bases g) s O = true -> possible gr A (loose V) (aheads g) q s1 r1 = true -> possible gr A (loose V) (behinds g) q s2 r2 = true ->
  exists r0, 0 < r0 /\ forall x, small gr r0 x -> passes A x (round k j g) s' (near_store x s' O).
Proof.
  intros Gs Gr P0 Ne P1 P2. destruct (grown_exists j s s2) as [sm Sm]. destruct (grown_exists j r r2) as [rm Rm].
  set (inner := map (fun c => (base c, behind c)) (steps g)). set (outer := map (fun c => (along j (base c, behind c), ahead c)) (steps g)).
  assert (E0 : map fst inner = bases g) by (unfold inner, bases; now rewrite map_map).
  assert (E1 : map slope inner = behinds g) by (unfold inner, behinds; now rewrite map_map).
  assert (E2 : map (along j) inner = map fst outer) by (unfold inner, outer; now rewrite !map_map).
  assert (E3 : map slope outer = aheads g) by (unfold outer, aheads; now rewrite map_map).
  assert (E4 : map (along (k - j)) outer = round k j g) by (unfold outer, round; now rewrite map_map).
  assert (Gs' : grown (k - j) sm s1 s') by (intros x; rewrite (Gs x), (Sm x); ring).
  assert (Gr' : grown (k - j) rm r1 r') by (intros x; rewrite (Gr x), (Rm x); ring).
  rewrite <- E0 in P0, Ne. rewrite <- E1 in P2. rewrite <- E3 in P1.
  pose proof (possible_along gr Sum A V j inner q s r s2 r2 sm rm Sm Rm P0 P2) as Pm. rewrite E2 in Pm.
  pose proof (enough_along j inner q s s2 r2 sm O Sm P2 Ne) as Nm. rewrite E2 in Nm. rewrite <- E4.
  exact (near_passes gr A H0 _ q s' r' O (possible_along gr Sum A V (k - j) outer q sm rm s1 r1 s' r' Gs' Gr' Pm P1)
    (enough_along (k - j) outer q sm s1 r1 s' O Gs' P1 Nm)).
Qed.

Lemma passes_written k run : forall q s r s1 r1 s' r' O, grown k s s1 s' -> grown k r r1 r' -> possible_in gr A V run q s r s1 r1 O = true ->
  exists r0, 0 < r0 /\ forall x, small gr r0 x -> passes A x (written k run) s' (near_store x s' O).
Proof.
  induction run as [|g run IH]; intros q s r s1 r1 s' r' O Gs Gr; cbn [possible_in written]; [intros _; exists 1; split; [lra|easy]|].
  set (inner := map (fun c => (base c, ahead c)) (steps g)).
  assert (E0 : map fst inner = bases g) by (unfold inner, bases; now rewrite map_map).
  assert (E1 : map slope inner = aheads g) by (unfold inner, aheads; now rewrite map_map).
  assert (E2 : map (along k) inner = once k g) by (unfold inner, once; now rewrite !map_map).
  pose proof (advance_along V k inner q s r s1 r1 s' r' Gs Gr) as A1. rewrite E0, E1, E2 in A1.
  pose proof (a_round gr Sum A V k g q s r s1 r1) as AR. cbv zeta in AR.
  destruct (advance V (bases g) q s r) as [[q0 t] u] eqn:Ad0. destruct (advance (loose V) (aheads g) q s1 r1) as [[qa t1] u1] eqn:Ad1.
  cbv zeta. set (s2 := shifted_by (drift g) s1) in *. set (r2 := shifted_by (drift_r g) r1) in *.
  destruct (advance (loose V) (behinds g) q s2 r2) as [[qb t2] u2] eqn:Ad2. rewrite !andb_true_iff. intros [[[P0 Ne] P1] H].
  destruct (again g).
  - rewrite !andb_true_iff in H. destruct H as [[[[[P2 Hq] CB] K] K'] H].
    assert (All : forall m j s' r', (j + m = k)%nat -> between k j s s1 s2 s' -> between k j r r1 r2 r' ->
      exists r0, 0 < r0 /\ forall x, small gr r0 x -> passes A x (flat_map (fun j => round k j g) (seq j m) ++ written k run) s' (near_store x s' O)).
    { clear s' r' Gs Gr A1. induction m as [|m IHm]; intros j s' r' E Gs Gr; cbn [seq flat_map].
      - apply (IH q s r s2 r2 s' r'); auto; intros x; [rewrite (Gs x)|rewrite (Gr x)]; replace j with k by lia; rewrite Nat.sub_diag;
        change (so_many 0) with 0%Q; ring.
      - destruct (AR (conj P0 (conj P1 P2)) (conj Hq (conj K K')) j s' r' ltac:(lia) Gs Gr) as (_ & t' & u' & Ad & Gt & Gu).
        destruct (IHm (Datatypes.S j) t' u' ltac:(lia) Gt Gu) as (r3 & P3 & H3). rewrite <- app_assoc.
        apply (pass_on _ _ _ _ _ _ _ _ _ (fun x => near_store x t' O) Ad); [|..|eauto].
        + now apply (a_round_passes k j g q s r s1 r1 s2 r2 s' r' O).
        + intros x r0 f Sm. unfold round. rewrite origins_shape by reflexivity. now apply (back_near r0 x). }
    apply (All k 0%nat s' r'); [lia|..]; intros x; [rewrite (Gs x)|rewrite (Gr x)]; rewrite Nat.sub_0_r; change (so_many 0) with 0%Q; ring.
  - destruct (advance V (once k g) q s' r') as [[qn tn] un] eqn:Ad. destruct A1 as (-> & Gt & Gu).
    apply (pass_on _ _ _ _ _ _ _ _ _ (fun x => near_store x tn (origins_after V (bases g) O)) Ad).
    + now apply (once_passes k g q s r s1 r1 s' r' O).
    + intros x r0 f Sm. unfold once. now rewrite origins_shape by reflexivity.
    + now apply (IH qn t u t1 u1 tn un).
Qed.

(* -- the theorem -- *)

Lemma beyond C D' share enough : r_hints C = H0 -> check_run gr A V share enough C = true ->
  (forall w, enough w = true -> exists th, rate share th /\ D' < th * Q2R w) -> differ_by N A (r_claim C) D'.
Proof.
  intros Eh Hc Rate. unfold check_run in Hc. set (run := r_run C) in *. destruct (back_in V run) as [l lks] eqn:Bk. cbn [snd] in Hc.
  rewrite !andb_true_iff in Hc. destruct Hc as [[[[[[[[Cc HM] Po] St] Mo] Se] Fo] Al] Wo].
  destruct (Rate _ Wo) as (th & Rt & Hr). destruct Rt as [Hth Rt']. assert (Rt : rate share th) by easy.
  destruct (enough_rounds th (flat_map (fun p => if again (fst p) then combine (bases (fst p)) (snd (snd p)) else []) (combine run lks)) Hth) as (k & K1 & Hk).
  { intros p Hp. apply in_flat_map in Hp as ([g lk] & Hg & Hp). cbn [fst snd] in Hp. rewrite forallb_forall in St. specialize (St _ Hg).
    unfold steep_in in St. cbn [fst snd] in St. destruct (again g); [|easy]. apply andb_true_iff in St as [W _]. rewrite forallb_forall in W.
    destruct p as [c ks]. apply in_combine_l in Hp. now apply W. }
  assert (Nil : grown k [] [] []) by (intros x; unfold getQ; simpl; ring).
  pose proof (sloped_written share th k run Rt K1 l lks Bk St) as Sl.
  specialize (Sl ltac:(intros g lk p Hg Ag Hp; apply Hk; apply in_flat_map; exists (g, lk); split; [easy|]; cbn [fst snd]; now rewrite Ag)).
  destruct (passes_written k run _ _ _ _ _ _ _ _ Nil Nil Po) as (r0 & P0 & Pa).
  assert (Sm : small gr r0 (if mixes gr then r0 else 0)) by (unfold small; destruct (mixes gr); lra).
  apply (neighbours Heps N T gr okq_ok smooth_ok A H0 (r_claim C) (written k run) _ _ th (Q2R (worth_in V run lks [])) D' _ _ Cc HM
    (possible_written gr Sum A V k run _ _ _ _ _ _ _ _ Nil Nil Po) (small_has _ _ _ points_ok _ _ Sm) (Pa _ Sm) (nothing_near _ _ _ Sm)
    (mores_written k _ run Mo) (follows_written k run _ Fo) (clear_written _ k run _ Al) Sl); [|exact Hth|exact Hr].
  apply (worth_written k run K1 l lks [] _ Bk Se). reflexivity.
Qed.

Theorem below C D' : r_hints C = H0 -> check_lower gr A C = true -> D' < Q2R (c_D (r_claim C)) -> differ_by N A (r_claim C) D'.
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

Theorem growing C D' : r_hints C = H0 -> check_growth gr A C = true -> differ_by N A (r_claim C) D'.
Proof.
  intros Eh Hc. rewrite check_growth_plain, Eh in Hc. apply (beyond C D' 0 (Qlt_bool 0) Eh Hc).
  intros q Hq. apply Qlt_R in Hq. rewrite Q2R_0 in Hq. exists ((Rabs D' + 1) / Q2R q). pose proof (Rabs_pos D'). pose proof (Rle_abs D').
  split; [split; [apply Rdiv_lt_0_compat; lra|now right]|]. replace ((Rabs D' + 1) / Q2R q * Q2R q) with (Rabs D' + 1) by (field; lra). lra.
Qed.
End Rounds.
