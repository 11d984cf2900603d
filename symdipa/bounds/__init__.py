"""How large ``D`` is: bounds from above and from below."""
