"""Comparisons of methods on data sets under contamination, with the same folds and flips for every method."""
