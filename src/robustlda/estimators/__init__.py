"""The estimators: validation, scikit-learn's conventions, and the composition of samples, solver and rule."""

from robustlda.estimators._base import DiscriminantProjection, fit_decision

__all__ = ["DiscriminantProjection", "fit_decision"]
