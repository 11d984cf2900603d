"""Runs in numbers: what they ask of samples, whether that is possible, and what shifting samples costs."""
