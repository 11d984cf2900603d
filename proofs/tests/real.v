(* What is proved for real Laplace noise, and on what it rests. *)
From Coq Require Import Reals QArith Qreals.
From Symdipa.Core Require Import Model Pattern Lookup Checker Sound Guide.
From Symdipa.Real Require Import RealNoise RealNorm RealClosed.
Print near_real.
Print differ_as.
Print allows.
Print leads.
Print is_private_real.
Print cert.
Check checked_private_real.
Print Assumptions checked_private_real.
