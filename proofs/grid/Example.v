(* One automaton, its certificate, and the theorem that the checker makes of them, all inside Coq. *)
From Coq Require Import Reals QArith Qreals ZArith List Bool Lra Lia.
From Symdipa.Core Require Import Model Pattern Lookup Checker.
From Symdipa.Above Require Import Sound Guide.
From Symdipa.Grid Require Import Laplace Grid.
Import ListNotations.
Open Scope R_scope.

(* The sparse vector technique with the certificate that symdipa wrote. *)
Definition svt : automaton := {|
  initial := 0%nat;
  states := [{| reads := false; law_of := Laplace; d := 1 # 4; mu := 0; law_of' := Laplace; d' := 0; mu' := 0; factors := [] |};
             {| reads := true; law_of := Laplace; d := 1 # 2; mu := 0; law_of' := Laplace; d' := 0; mu' := 0; factors := [] |};
             {| reads := true; law_of := Laplace; d := 0; mu := 0; law_of' := Laplace; d' := 0; mu' := 0; factors := [] |}];
  transitions := [{| src := 0; tgt := 1; t_ge := []; t_lt := []; others := []; asg := [0%nat]; copies := []; sets := []; out := [Sym 0] |};
                  {| src := 1; tgt := 1; t_ge := []; t_lt := [0%nat]; others := []; asg := []; copies := []; sets := []; out := [Sym 1] |};
                  {| src := 1; tgt := 2; t_ge := [0%nat]; t_lt := []; others := []; asg := []; copies := []; sets := []; out := [Sym 2] |}];
  differ := every_entry |}.
Definition svt_cert : cert := {|
  c_claim := {| c_low := -1; c_high := 1; c_sens := 1; c_D := 5 # 4 |};
  c_ground := {|
  b_nodes := [{| b_state := 0; b_facts := []; b_distinct := []; b_apart := 0; b_known := [] |}; {| b_state := 1; b_facts := []; b_distinct := []; b_apart := 0; b_known := [] |};
              {| b_state := 2; b_facts := []; b_distinct := []; b_apart := 0; b_known := [] |}];
  b_edges := [(0, (0, Same), 1); (1, (1, Any), 1); (1, (2, Any), 2)]%nat;
  forward := true; everywhere := [(0%nat, Some (-1, -1)%Q)];
  l_nodes := [{| l_base := 0; l_pot := 5 # 4; l_own := [] |}; {| l_base := 1; l_pot := 1; l_own := [] |};
              {| l_base := 2; l_pot := 0; l_own := [] |}];
  l_edges := [(0, (0, Same), 1); (1, (1, Any), 1); (1, (2, Any), 2)]%nat |};
  c_parts := []; c_layer := [];
  c_hints := {| stored := [[]; [0]; [0]]%nat; lesser := []; why := fun _ _ => []; between := fun _ => [] |} |}.

(* Integer noise and integer inputs, in full: *)
Theorem svt_private eps (Heps : 0 < eps) (alpha beta : nat -> Z) :
  (forall i, (-1 <= alpha i - beta i <= 1)%Z) ->
  forall w, prob (noise_on 1 eps Heps) svt (fun i => IZR (alpha i)) w <=
            exp (eps * (5 / 4)) * prob (noise_on 1 eps Heps) svt (fun i => IZR (beta i)) w.
Proof.
  intros Adj w. replace (5 / 4) with (Q2R (c_D (c_claim svt_cert))) by (unfold Q2R; simpl; lra).
  apply checked_private; [vm_compute; reflexivity| |apply every_entry_spec].
  intros i. destruct (Adj i) as [H1 H2]. apply IZR_le in H1, H2. split.
  - rewrite <- minus_IZR. unfold Q2R; simpl in *. lra.
  - exists (alpha i - beta i)%Z. unfold width. rewrite minus_IZR. lra.
Qed.
