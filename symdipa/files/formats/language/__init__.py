"""The parser of the text language ``.dipa``: words, and what they say of guards, parameters and steps."""
