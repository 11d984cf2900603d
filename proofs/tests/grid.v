(* What is proved for noise on a grid, and on what it rests. *)
From Coq Require Import Reals QArith Qreals.
From Symdipa.Core Require Import Model Pattern Lookup Checker Sound Guide.
From Symdipa.Grid Require Import Laplace Grid Fine Below Rounds Example.
Print near.
Print differ_as.
Print allows.
Print leads.
Print is_private.
Print is_private_on_integers.
Print on_multiples.
Print is_tight.
Print is_leaking.
Print cert.
Check checked_private.
Check checked_private_on_integers.
Check checked_private_fine.
Check checked_lower.
Check checked_growth.
Check checked_growth_in_rounds.
Check svt_private.
Check every_entry_spec.
Check entries_spec.
Check window_spec.
Print Assumptions checked_private.
Print Assumptions checked_private_on_integers.
Print Assumptions checked_private_fine.
Print Assumptions checked_lower.
Print Assumptions checked_growth.
Print Assumptions checked_growth_in_rounds.
Print Assumptions svt_private.
Print Assumptions every_entry_spec.
Print Assumptions entries_spec.
Print Assumptions window_spec.
