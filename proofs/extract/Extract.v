(* The checker as OCaml.  Numbers of states, nodes and variables become machine integers. *)
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt.
From Coq Require Import ZArith.
From Symdipa.Core Require Import Model Pattern Lookup Checker Runs Patterns Differences Relational.
Extraction Language OCaml.
Extract Inlined Constant half => "(fun n -> n / 2)".
Extract Inlined Constant is_odd => "(fun n -> n land 1 = 1)".
Extraction NoInline by_trees by_gtrees at_place with_key.
Extraction "checker.ml" check check_lower check_growth check_pattern check_relational advance loose shifted_by stored_in set_in getQ alone_in
  real_numbers multiples integers every_entry entries window plain lifted is_sample by_trees grow by_gtrees ggrow check_claim check_model check_base check_shifts
  check_cover check_graph check_bound for_parts read gets atoms learn_atoms unknown spot_in support denials Z.add Z.mul Z.opp.
