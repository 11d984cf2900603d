"""Boolean transition systems, the solvers, and the check of an invariant."""
