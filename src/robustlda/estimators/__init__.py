"""The estimators: validation, scikit-learn's conventions, and the composition of samples, solver and rule."""

from robustlda.estimators._base import DiscriminantProjection, fit_decision, fit_parts, labels_and_answers
from robustlda.estimators._validation import (
    answer_table,
    check_labels,
    check_seed,
    check_whole,
    class_indices,
    has_answers,
    in_numpy,
    is_missing,
    is_truth,
    read_parts,
    verified_labels,
)

__all__ = [
    "DiscriminantProjection",
    "answer_table",
    "check_labels",
    "check_seed",
    "check_whole",
    "class_indices",
    "fit_decision",
    "fit_parts",
    "has_answers",
    "in_numpy",
    "is_missing",
    "is_truth",
    "labels_and_answers",
    "read_parts",
    "verified_labels",
]
