"""The paper's protocol: data sets × noise × methods, the same folds and the same flips for every method."""
