"""Results as text and as JSON."""
