"""What an automaton can do: runs, order states, the control graph and the augmentation."""
