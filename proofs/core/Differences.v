(* Bounds on differences of values, with all that follow.  Two copies of an automaton run side by side, so a value is what
   a place of one of them holds. *)
From Coq Require Import Reals QArith Qreals List Bool Arith Lra Lia.
From Symdipa.Core Require Import Model Lookup Checker.
Import ListNotations.
Open Scope bool_scope.

(* false: the first copy, true: the second.  The number 0 is the same in both. *)
Definition spot := (bool * place)%type.
Definition spot_of (c : bool) (p : place) : spot := match p with Zero => (false, Zero) | _ => (c, p) end.
Definition spot_eqb (x y : spot) : bool := Bool.eqb (fst x) (fst y) && place_eqb (snd x) (snd y).

(* A difference is at most [most], or below it. *)
Record limit := Limit { most : Q; unreached : bool }.
Definition nothing_apart := Limit 0 false.

(* Numerators and denominators stay small. *)
Definition sum_of (x y : Q) : Q := if Pos.eqb (Qden x) (Qden y) then Qmake (Qnum x + Qnum y) (Qden x) else Qred (x + y).
Definition after (b b' : limit) : limit := Limit (sum_of (most b) (most b')) (unreached b || unreached b').
Definition at_most (b b' : limit) : bool :=
  Qle_bool (most b) (most b') && (negb (Qle_bool (most b') (most b)) || unreached b || negb (unreached b')).

(* For each value the bounds on its differences from all values, in the order of these. *)
Definition row := list (option limit).
Definition matrix := list (spot * row).

Definition least (o o' : option limit) : option limit :=
  match o, o' with
  | Some b, Some b' => if at_most b b' then o else o'
  | None, _ => o'
  | _, None => o
  end.
Fixpoint pick (xs : list spot) (r : row) (y : spot) : option limit :=
  match xs, r with
  | x :: xs', o :: r' => if spot_eqb x y then o else pick xs' r' y
  | _, _ => None
  end.
Definition row_of (M : matrix) (x : spot) : row := match find (fun p => spot_eqb (fst p) x) M with Some p => snd p | None => [] end.
Definition between (M : matrix) (x y : spot) : option limit :=
  if spot_eqb x y then Some nothing_apart else pick (map fst M) (row_of M x) y.

(* The bounds of a row, and those by way of another value that is as far away as a bound says. *)
Fixpoint by_way (b : limit) (r through : row) : row :=
  match r, through with
  | o :: r', o' :: through' => least o (option_map (after b) o') :: by_way b r' through'
  | _, _ => r
  end.

(* One more bound, and all that follows; None: the bounds contradict each other. *)
Definition learn (x y : spot) (b : limit) (M : option matrix) : option matrix :=
  match M with
  | None => None
  | Some M =>
      let close o := match o with Some b' => negb (at_most nothing_apart (after b b')) | None => false end in
      let known o := match o with Some b' => at_most b' b | None => false end in
      if close (between M y x) then None
      else if known (between M x y) then Some M
      else let xs := map fst M in let last := row_of M y in
           Some (map (fun p => match pick xs (snd p) x with
                               | Some first => (fst p, by_way (after first b) (snd p) last)
                               | None => p end) M)
  end.

(* One for each of those that are the same. *)
Definition different {X} (eqb : X -> X -> bool) (l : list X) : list X :=
  fold_right (fun x m => if existsb (fun y => eqb y x) m then m else x :: m) [] l.
(* Nothing is known of some values but that each is itself. *)
Definition unknown (xs : list spot) : option matrix :=
  let xs := different spot_eqb xs in
  Some (map (fun x => (x, map (fun y => if spot_eqb x y then Some nothing_apart else None) xs)) xs).

(* ---- What that means ---- *)

Lemma different_spec {X} (eqb : X -> X -> bool) l x : (forall y, eqb y y = true) -> In x l -> exists y, In y (different eqb l) /\ eqb y x = true.
Proof.
  intros Same. induction l as [|z l IH]; simpl; [easy|]. intros [->|H].
  - destruct (existsb _ _) eqn:F; [now apply existsb_exists|]. exists x. split; [now left|easy].
  - destruct (IH H) as (y & Hy & E). exists y. split; [|easy]. destruct (existsb _ _); [easy|now right].
Qed.

Section Meaning.
Open Scope R_scope.
Variable v : spot -> R.

Definition obeys (x y : spot) (b : limit) : Prop :=
  if unreached b then v x - v y < Q2R (most b) else v x - v y <= Q2R (most b).
Definition obeys_if (x y : spot) (o : option limit) : Prop := match o with Some b => obeys x y b | None => True end.
Definition obeyed (M : matrix) : Prop := forall x r, In (x, r) M -> Forall2 (obeys_if x) (map fst M) r.
Definition possible (M : option matrix) : Prop := match M with Some M => obeyed M | None => False end.

Local Lemma le_R x y : Qle_bool x y = true -> Q2R x <= Q2R y.
Proof. intros. now apply Qle_Rle, Qle_bool_iff. Qed.
Local Lemma lt_R x y : Qle_bool x y = false -> Q2R y < Q2R x.
Proof. intros H. apply Qlt_Rlt, Qnot_le_lt. intros L. apply Qle_bool_iff in L. congruence. Qed.
Local Lemma zero_R : Q2R 0 = 0.
Proof. unfold Q2R. simpl. lra. Qed.

Lemma sum_of_R x y : Q2R (sum_of x y) = Q2R x + Q2R y.
Proof.
  unfold sum_of. rewrite <- Q2R_plus. destruct (Pos.eqb_spec (Qden x) (Qden y)) as [E|_]; apply Qeq_eqR.
  - destruct x as [a p], y as [b q]. simpl in E. subst q. unfold Qeq, Qplus. simpl. rewrite Pos2Z.inj_mul. ring.
  - apply Qred_correct.
Qed.

Lemma spot_eqb_spec x y : spot_eqb x y = true -> x = y.
Proof.
  unfold spot_eqb. destruct x as [c p], y as [c' p']. simpl. rewrite andb_true_iff. intros [H1 H2].
  apply Bool.eqb_prop in H1. subst. f_equal. destruct p, p'; simpl in H2; try easy. now apply Nat.eqb_eq in H2 as ->.
Qed.

Lemma obeys_after x y z b b' : obeys x y b -> obeys y z b' -> obeys x z (after b b').
Proof. unfold obeys, after. cbn [most unreached]. rewrite sum_of_R. destruct (unreached b), (unreached b'); cbn [orb]; lra. Qed.
Lemma obeys_more x y b b' : at_most b b' = true -> obeys x y b -> obeys x y b'.
Proof.
  unfold at_most, obeys. rewrite andb_true_iff, !orb_true_iff. intros [H1 H2]. apply le_R in H1.
  destruct H2 as [[H2|H2]|H2].
  - apply negb_true_iff, lt_R in H2. destruct (unreached b), (unreached b'); lra.
  - rewrite H2. destruct (unreached b'); lra.
  - apply negb_true_iff in H2. rewrite H2. destruct (unreached b); lra.
Qed.
Lemma obeys_itself x b : obeys x x b -> at_most nothing_apart b = true.
Proof.
  unfold obeys, at_most, nothing_apart. cbn [most unreached].
  destruct (Qle_bool 0 (most b)) eqn:L; [|apply lt_R in L; rewrite zero_R in L; destruct (unreached b); lra].
  destruct (Qle_bool (most b) 0) eqn:G; [|reflexivity]. apply le_R in G. rewrite zero_R in G.
  destruct (unreached b); simpl; [lra|reflexivity].
Qed.
Lemma obeys_least x y o o' : obeys_if x y o -> obeys_if x y o' -> obeys_if x y (least o o').
Proof. destruct o, o'; simpl; auto. now destruct (at_most _ _). Qed.

Lemma pick_obeyed x xs r y : Forall2 (obeys_if x) xs r -> obeys_if x y (pick xs r y).
Proof.
  induction 1 as [|y' o xs r H F IH]; simpl; [easy|]. destruct (spot_eqb y' y) eqn:E; [|easy]. now apply spot_eqb_spec in E as ->.
Qed.
Lemma row_of_obeyed M x : obeyed M -> row_of M x = [] \/ Forall2 (obeys_if x) (map fst M) (row_of M x).
Proof.
  intros H. unfold row_of. destruct (find _ _) as [[x' r]|] eqn:F; [right|now left].
  apply find_some in F as [F E]. simpl in E. apply spot_eqb_spec in E as ->. now apply H.
Qed.
Lemma between_obeyed M x y : obeyed M -> obeys_if x y (between M x y).
Proof.
  intros H. unfold between. destruct (spot_eqb x y) eqn:E.
  - apply spot_eqb_spec in E as ->. unfold obeys_if, obeys. simpl. rewrite zero_R. lra.
  - destruct (row_of_obeyed M x H) as [R| R]; [rewrite R; now destruct (map fst M)|]. now apply pick_obeyed.
Qed.

Lemma by_way_obeyed x y b xs : forall r through, obeys x y b -> Forall2 (obeys_if x) xs r -> Forall2 (obeys_if y) xs through ->
  Forall2 (obeys_if x) xs (by_way b r through).
Proof.
  induction xs as [|z xs IH]; intros r through B; inversion 1; inversion 1; subst; simpl; constructor; auto.
  apply obeys_least; [easy|]. match goal with |- obeys_if x z (option_map _ ?o) => destruct o end; simpl; [|easy]. now apply (obeys_after x y z).
Qed.

Lemma learn_obeyed x y b M : possible M -> obeys x y b -> possible (learn x y b M).
Proof.
  destruct M as [M|]; [|easy]. intros H B. unfold learn. cbv zeta.
  match goal with |- context [Some (map ?f M)] => assert (W : obeyed (map f M)) end.
  { intros z r Hr. rewrite map_map. rewrite (map_ext _ fst) by (intros p; now destruct (pick _ _ _)).
    apply in_map_iff in Hr as ([z' r'] & E & Hr). cbn [fst snd] in E. pose proof (H z' r' Hr) as R.
    pose proof (pick_obeyed z' _ _ x R) as P. destruct (pick (map fst M) r' x) as [first|]; inversion E; subst; [|easy].
    destruct (row_of_obeyed M y H) as [N|N]; [rewrite N; now destruct r'|].
    apply (by_way_obeyed z y); auto. now apply (obeys_after z x y). }
  pose proof (between_obeyed M y x H) as Back. destruct (between M y x) as [b'|].
  - rewrite (obeys_itself x (after b b')) by (now apply (obeys_after x y x)). cbn [negb]. match goal with |- possible (if ?b then _ else _) => destruct b end; [exact H|exact W].
  - match goal with |- possible (if ?b then _ else _) => destruct b end; [exact H|exact W].
Qed.

Lemma unknown_possible xs : possible (unknown xs).
Proof.
  unfold unknown, possible. set (ys := different spot_eqb xs). intros x r H. rewrite map_map. cbn [fst]. rewrite map_id.
  apply in_map_iff in H as (x' & E & _). inversion E. subst. clear E. clearbody ys. induction ys as [|y ys IH]; simpl; constructor; auto.
  destruct (spot_eqb x y) eqn:E; simpl; [|easy]. apply spot_eqb_spec in E as ->. unfold obeys. simpl. rewrite zero_R. lra.
Qed.
End Meaning.
