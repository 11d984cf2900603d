"""Where automata come from: formats, families, templates, and making them smaller."""
