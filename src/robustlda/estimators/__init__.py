"""The estimators: validation, scikit-learn's conventions, and the composition of samples, solver and rule."""
