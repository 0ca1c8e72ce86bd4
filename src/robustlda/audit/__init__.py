"""Who is probably mislabeled, who is an outlier, and how noisy the labels are."""
