"""Data sets for experiments, and ways to spoil them."""
