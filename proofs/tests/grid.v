(* What is proved for noise on a grid, and on what it rests. *)
From Coq Require Import Reals QArith Qreals.
From Symdipa.Core Require Import Model Pattern Lookup Checker Relational Patterns.
From Symdipa.Above Require Import Sound Guide.
From Symdipa.Below Require Import Occurs.
From Symdipa.Grid Require Import Laplace Grid Fine Bounds Example.
Print near.
Print differ_as.
Print allows.
Print leads.
Print is_private.
Print is_private_on_integers.
Print on_multiples.
Print is_tight.
Print is_leaking.
Print last_to_assign.
Print forced.
Print forced_far.
Print chained.
Print feasible.
Print is_cycle.
Print non_leaking.
Print assigned.
Print used.
Print round_of.
Print on.
Print path_on.
Print is_path.
Print leaves.
Print enters.
Print shows_sample.
Print leaking_cycle.
Print leaking_pair.
Print disclosing_cycle.
Print violating_path.
Print of_the_paper.
Print occurs.
Print cert.
Check checked_private.
Check checked_private_on_integers.
Check checked_private_fine.
Check checked_relational.
Check checked_relational_on_integers.
Check checked_relational_fine.
Check checked_lower.
Check checked_growth.
Check checked_pattern.
Check svt_private.
Check every_entry_spec.
Check entries_spec.
Check window_spec.
Print Assumptions checked_private.
Print Assumptions checked_private_on_integers.
Print Assumptions checked_private_fine.
Print Assumptions checked_relational.
Print Assumptions checked_relational_on_integers.
Print Assumptions checked_relational_fine.
Print Assumptions checked_lower.
Print Assumptions checked_growth.
Print Assumptions checked_pattern.
Print Assumptions svt_private.
Print Assumptions every_entry_spec.
Print Assumptions entries_spec.
Print Assumptions window_spec.
