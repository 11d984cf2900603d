(* Other paths that show what may look like a run: which there are, as far as comparisons of what is stored tell. *)
From Coq Require Import QArith List Bool Arith.
From Symdipa.Core Require Import Model Lookup Checker.
Import ListNotations.
Open Scope bool_scope.

(* ---- The order of what is in places ---- *)

(* Pairs of places: what is in the first is at most what is in the second. *)
Definition order := list (place * place).
Definition pair_eqb (r r' : place * place) : bool := place_eqb (fst r) (fst r') && place_eqb (snd r) (snd r').
Definition listed (F : order) (r : place * place) : bool := existsb (pair_eqb r) F.
Definition at_most (F : order) (p q : place) : bool := place_eqb p q || listed F (p, q).

(* What a comparison says of two places; constants must not weaken it. *)
Definition ends_of (a : atom) : option (place * place) :=
  if Bool.eqb (negative (low a)) (negative (high a)) && Qle_bool (plus (high a)) (plus (low a)) then
    Some (if negative (low a) then (whence (high a), whence (low a)) else (whence (low a), whence (high a)))
  else None.
Definition is_strict (a : atom) : bool := strict a || Qlt_bool (plus (high a)) (plus (low a)).
Definition said (t : trans) : order := flat_map (fun a => match ends_of a with Some r => [r] | None => [] end) (atoms t).

Definition once_each (F : order) : order := fold_right (fun r l => if listed l r then l else r :: l) [] F.
Definition composed (F : order) : order :=
  once_each (F ++ flat_map (fun r => map (fun r' => (fst r, snd r')) (filter (fun r' => place_eqb (snd r) (fst r')) F)) F).
(* What holds before a step with what its guard says. *)
Definition told (F : order) (t : trans) : order := composed (composed (said t ++ F)).
Definition contradicts_order (F : order) (t : trans) : bool :=
  let K := told F t in
  existsb (fun a => match ends_of a with Some (p, q) => is_strict a && at_most K q p | None => false end) (atoms t).

(* Where what is in a place after a step was before it. *)
Definition came (t : trans) (p : place) : option place :=
  match p with
  | Zero => Some Zero
  | Insample => None
  | Held x =>
      if mem x (asg t) then Some Insample
      else match lookup x (copies t) with
           | Some v => if negb (negative v) && Qeq_bool (plus v) 0 then Some (whence v) else None
           | None => Some p
           end
  end.
Definition order_after (W : list place) (F : order) (t : trans) : order :=
  let K := told F t in
  flat_map (fun p => flat_map (fun q =>
    match came t p, came t q with
    | Some p', Some q' => if negb (place_eqb p q) && at_most K p' q' then [(p, q)] else []
    | _, _ => []
    end) W) W.

(* ---- Rivals ---- *)

(* Outputs that may look alike. *)
Fixpoint alike (o o' : list item) : bool :=
  match o, o' with
  | [], [] => true
  | i :: o, i' :: o' => (match i, i' with Sym x, Sym y => Nat.eqb x y | Sym _, _ | _, Sym _ => false | _, _ => true end) && alike o o'
  | _, _ => false
  end.

(* A state where a path may be, and what holds there. *)
Definition rival := (nat * order)%type.
Definition covers (r r' : rival) : bool := Nat.eqb (fst r) (fst r') && forallb (listed (snd r')) (snd r).
Definition add_rival (r : rival) (l : list rival) : list rival := if existsb (fun r' => covers r' r) l then l else r :: l.

Section Rivals.
Variables (W : list place) (V : view).      (* W: the places whose order is looked at *)

(* Where paths are led by transitions that look like i. *)
Definition led (i : nat) (r : rival) (among : list nat) : list rival :=
  flat_map (fun j =>
    let t := tr_of V j in
    if alike (out t) (out (tr_of V i)) && negb (contradicts_order (snd r) t) then [(tgt t, order_after W (snd r) t)] else []) among.

(* The run itself, which is nowhere without its order, and the others. *)
Definition pursued := (rival * list rival)%type.
Definition pursue_step (i : nat) (x : pursued) : pursued :=
  let (r, rivals) := x in
  let t := tr_of V i in
  ((tgt t, order_after W (snd r) t),
   fold_right add_rival [] (led i r (filter (fun j => negb (Nat.eqb j i)) (leaving_of V (fst r))) ++
                            flat_map (fun r' => led i r' (leaving_of V (fst r'))) rivals)).
Definition pursue (run : list nat) (x : pursued) : pursued := fold_left (fun x i => pursue_step i x) run x.

(* The rivals that there are after any number of rounds, if so many are enough to find them. *)
Fixpoint spread (fuel : nat) (round : list nat) (r : rival) (rivals : list rival) : list rival :=
  match fuel with
  | O => rivals
  | S fuel' =>
      let more := snd (pursue round (r, rivals)) in
      if forallb (fun r' => existsb (fun r'' => covers r'' r') rivals) more then rivals
      else spread fuel' round r (fold_right add_rival rivals more)
  end.
Definition settled (x y : pursued) : bool :=
  covers (fst x) (fst y) && forallb (fun r' => existsb (fun r'' => covers r'' r') (snd x)) (snd y).
End Rivals.
