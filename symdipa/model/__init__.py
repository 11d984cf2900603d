"""What is a mechanism, and what may be answered about it: values without algorithms."""
