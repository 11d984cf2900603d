(* What is proved for real Laplace noise, and on what it rests. *)
From Coq Require Import Reals QArith Qreals.
From Symdipa.Core Require Import Model Pattern Lookup Checker Relational.
From Symdipa.Above Require Import Sound Guide.
From Symdipa.Real Require Import RealNoise RealNorm RealClosed RealBounds.
Print near_real.
Print differ_as.
Print allows.
Print leads.
Print is_private_real.
Print cert.
Print is_tight_real.
Print is_leaking_real.
Check checked_private_real.
Check checked_relational_real.
Check checked_lower_real.
Check checked_growth_real.
Print Assumptions checked_private_real.
Print Assumptions checked_relational_real.
Print Assumptions checked_lower_real.
Print Assumptions checked_growth_real.
