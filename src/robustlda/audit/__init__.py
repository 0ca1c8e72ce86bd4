"""Who is probably mislabelled, who is an outlier, and how noisy the labels are."""
