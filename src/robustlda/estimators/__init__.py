"""The estimators: validation, scikit-learn's conventions, and the composition of samples, solver and rule."""

from robustlda.estimators._base import DiscriminantProjection, fit_decision
from robustlda.estimators._validation import check_whole, verified_labels

__all__ = ["DiscriminantProjection", "check_whole", "fit_decision", "verified_labels"]
