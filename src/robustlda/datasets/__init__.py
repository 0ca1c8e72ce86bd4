"""Data sets for experiments, and ways to corrupt them."""
