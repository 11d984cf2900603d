(* What bounds from below ask of noise besides the axioms of Model: large values are as rare as the density says, and
   near a value that it can have it has probability. *)
From Coq Require Import Reals Lra.
From Symdipa.Core Require Import Model.
Open Scope R_scope.

(* How steeply something may grow against the density. *)
Definition within (l : law) (d k : R) : Prop :=
  match l with Laplace => - d <= k <= d | Exponential => - d <= k | Exact => True end.

(* Values that the noise can have. *)
Definition can_be {eps} (N : noise eps) (l : law) (d m z : R) : Prop :=
  match l with
  | Laplace => if Rlt_dec 0 d then ok N (z - m) else z = m
  | Exponential => if Rlt_dec 0 d then ok N (z - m) /\ m <= z else z = m
  | Exact => z = m
  end.

(* Whether there are several. *)
Definition noisy (l : law) (d : R) : Prop := match l with Exact => False | _ => 0 < d end.

(* The numbers that are no farther than r from z. *)
Definition around (z r y : R) : bool := le_b (z - r) y && le_b y (z + r).

Lemma around_iff z r y : around z r y = true <-> Rabs (y - z) <= r.
Proof.
  unfold around, le_b. destruct (Rle_dec (z - r) y), (Rle_dec y (z + r)); cbn [andb]; split; try easy; intros H.
  - apply Rabs_le. lra.
  - pose proof (Rle_abs (y - z)). lra.
  - pose proof (Rle_abs (- (y - z))) as H'. rewrite Rabs_Ropp in H'. lra.
  - pose proof (Rle_abs (y - z)). lra.
Qed.

Lemma min_exp_unit B r : 0 <= B -> unit_fun (fun z => Rmin 1 (B * exp (r z))).
Proof.
  intros HB z. pose proof (exp_pos (r z)). assert (0 <= B * exp (r z)) by (apply Rmult_le_pos; lra).
  unfold Rmin. destruct (Rle_dec _ _); lra.
Qed.

Record tails {eps} (N : noise eps) := {
  (* the mean of an exponential that grows less steeply than the density falls *)
  E_tail : forall l d k th, 0 <= th < 1 -> (0 < d -> within l d k) ->
    exists M, 0 < M /\ forall m B, 0 <= B -> E N l d m (fun z => Rmin 1 (B * exp (- (th * eps * k) * (z - m)))) <= M * B;
  good_exp : forall B k m, good N (fun z => Rmin 1 (B * exp (k * (z - m))));
  good_around : forall z r, good_set N (around z r);
  E_scale : forall l d m c h, 0 <= c <= 1 -> good N h -> unit_fun h -> E N l d m (fun z => c * h z) = c * E N l d m h;
  E_still : forall l d m h, ~ noisy l d -> E N l d m h = h m;
  points : Prop;     (* single values have probabilities *)
  E_around : forall l d m z r, noisy l d -> can_be N l d m z -> 0 < r \/ r = 0 /\ points -> 0 < E N l d m (fun y => ind (around z r y))
}.

(* What does not grow at all may be taken as often as one likes. *)
Lemma tail_flat {eps} (N : noise eps) (T : tails N) l d k th : 0 <= th -> within l 0 k ->
  exists M, 0 < M /\ forall m B, 0 <= B -> E N l d m (fun z => Rmin 1 (B * exp (- (th * eps * k) * (z - m)))) <= M * B.
Proof.
  intros Hth Hk. destruct (E_tail N T l d (2 * th * k) (1 / 2)) as (M & HM & H); [lra| |].
  - intros Hd. destruct l; simpl in *; auto.
    + assert (k = 0) by lra. subst. lra.
    + assert (0 <= th * k) by (apply Rmult_le_pos; lra). lra.
  - exists M. split; [easy|]. intros m B HB. replace (th * eps * k) with (1 / 2 * eps * (2 * th * k)) by field. now apply H.
Qed.
