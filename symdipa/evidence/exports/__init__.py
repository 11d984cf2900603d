"""The symbolic queries for other tools: SMT-LIB, AIGER, BTOR2, Horn clauses."""
