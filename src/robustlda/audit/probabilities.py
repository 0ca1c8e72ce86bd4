"""Checks of probabilities that a user brings along, and of the labels that go with them."""

from collections.abc import Mapping, Set
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils import check_array

from robustlda.data.given import as_given
from robustlda.decision.rule import Checks
from robustlda.estimators import (
    answer_table,
    check_labels,
    has_answers,
    is_missing,
    labels_and_answers,
    verified_labels,
)
from robustlda.estimators import class_indices as indices_of
from robustlda.linalg import Array

_OFF = 1e-3  # by which a sum may miss 1, as those of float16 do


def checked(P: Any, y: Any, classes: Any, verified: Any) -> tuple[Array, Array, Checks]:
    """Probabilities with columns in the order of the classes, the classes in ascending order, and labels as indices."""
    labels = answer_table(y) if has_answers(y) else _labels(y)
    names = _column_names(P) if classes is None else _in_order(classes)
    present = np.unique([label for label in labels.ravel().tolist() if label is not None])
    columns = present if names is None else np.asarray(names)
    probabilities = _checked_numbers(P, len(labels), columns, len(present), named=names is not None)
    order = np.argsort(columns, kind="stable")
    columns = columns[order]
    if (columns[1:] == columns[:-1]).any():
        raise ValueError("classes names a class twice; give every column of P a class of its own.")
    lost = present[~np.isin(present, columns)].tolist()
    if lost:
        raise ValueError(
            f"y holds the label {lost[0]!r}, which is none of the classes of P: {', '.join(map(str, columns[:10]))}."
        )
    if len(columns) < 2:
        raise ValueError(f"An audit needs at least 2 classes, but P has {len(columns)} column.")
    return probabilities[:, order], columns, understood(labels, columns, verified)


def understood(labels: Array, classes: Array, verified: Any) -> Checks:
    """Labels, or answers of several people, as indices of known classes, and what a person has checked."""
    given, answers = labels_and_answers(labels, classes)
    known = np.full(len(labels), -1)
    if verified is not None:
        known = indices_of(verified_labels(verified, classes[given]), classes)
    return Checks(given, known, answers)


def without_lost(y: Array, verified: Any) -> Array:
    """Labels to learn from: the right ones where checks leave no row in a class, such as one that was misspelled.

    Nobody is in such a class, so it is none. At least two others must be left; otherwise labels stay as they are.
    """
    if verified is None:
        return y
    known = verified_labels(verified, y)
    classes = np.unique(y)
    indices_of(known, classes)  # refuses labels that y does not hold
    right = [label if check is None else check for label, check in zip(y.tolist(), known.tolist(), strict=True)]
    left = set(right)
    lost = np.array([label not in left for label in y.tolist()], bool)
    if not lost.any() or len(left) < 2:
        return y
    found = y.copy()
    found[lost] = known[lost].tolist()
    return found


def one_for_each(y: Any, rows: str) -> Array:
    """Labels as an array, one for each of some rows."""
    labels = as_given(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}; give one label for each row of {rows}.")
    return labels


def _labels(y: Any) -> Array:
    labels = one_for_each(y, "P")
    missing = sum(map(is_missing, labels.tolist()))
    if missing:
        raise ValueError(f"y has {missing} missing labels; leave out these rows of y and P.")
    check_labels(labels)
    return labels


def _in_order(classes: Any) -> list[Any]:
    """Classes as they were given, if they are classes and have an order."""
    names = list(classes)
    if isinstance(classes, Set | Mapping):
        raise ValueError(
            f"classes is a {type(classes).__name__}, which has no order; give a list, as P has its columns."
        )
    if any(map(is_missing, names)):
        raise ValueError("classes holds a missing value; give every column of P a class.")
    return names


def _column_names(P: Any) -> list[Any] | None:
    """Classes, where P is a DataFrame whose columns have names rather than numbers."""
    frame = nw.from_native(P, eager_only=True, pass_through=True)
    names: list[Any] | None = list(frame.columns) if isinstance(frame, nw.DataFrame) else None
    return None if names is None or names == list(range(len(names))) else names


def _checked_numbers(P: Any, n: int, columns: Array, n_present: int, *, named: bool) -> Array:
    try:
        P = check_array(P, dtype=np.float64, ensure_all_finite=False, input_name="P")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"P must be a table of numbers, a row for each label and a column for each class: {error}"
        ) from None
    if P.shape[0] != n:
        raise ValueError(f"P has {P.shape[0]} rows, but there are {n} labels; give a row for each.")
    if P.shape[1] != len(columns):
        known = f"{len(columns)} classes are given" if named else f"y holds {n_present} different labels"
        raise ValueError(f"P has {P.shape[1]} columns, but {known}; name the class of every column with classes=.")
    wrong = ~np.isfinite(P).all(axis=1)
    if wrong.any():
        raise ValueError(f"Row {wrong.argmax()} of P holds NaN or infinity; leave out rows without a prediction.")
    if P.min() < 0:
        raise ValueError(f"Row {(P < 0).any(axis=1).argmax()} of P holds {P.min():.3g}; a probability is not negative.")
    sums = P.sum(axis=1)
    off = np.abs(sums - 1) > _OFF
    if off.any():
        row = off.argmax()
        raise ValueError(f"Row {row} of P sums to {sums[row]:.4g}, not to 1; turn scores into probabilities first.")
    return np.asarray(P / sums[:, None])
