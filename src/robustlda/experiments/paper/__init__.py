"""The experiments of the paper: what is run, what its claims say, and what was measured."""
