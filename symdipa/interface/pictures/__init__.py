"""Pictures of automata and witnesses as SVG, drawn without any other program."""
