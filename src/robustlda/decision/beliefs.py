"""Classes of samples, from what is believed of them; wherever that is kept."""

from functools import partial
from typing import Any

import numpy as np

from robustlda.data.columns import Column, apply, class_totals, positions
from robustlda.decision.labels import most_probable
from robustlda.linalg import Array


def believed_classes(R: Any, n_classes: int) -> tuple[Any, Any]:
    """The most probable class of every sample, and how probable it is; no class is left without one."""
    if not isinstance(R, Column):
        most = most_probable(R)
        return most, R[np.arange(len(most)), most]
    classes, belief = R.keep_parts(_most_probable_and_how, outputs=2)
    lost = np.flatnonzero(class_totals(classes, 1.0 + 0.0 * belief, n_classes) == 0)
    if not len(lost):
        return classes, belief
    # The sample for which a lost class is most probable stands for it.
    rows = positions(belief)
    peaks = R.parts.fold(partial(_peaks, lost), _larger, R, rows)
    chosen = np.array([row for _, row in peaks])
    return apply(partial(_replaced, chosen, lost), classes, rows), belief


def _most_probable_and_how(R: Array) -> tuple[Array, Array]:
    return R.argmax(axis=1), R.max(axis=1)


def _peaks(classes: Array, R: Array, rows: Array) -> list[tuple[float, int]]:
    """The largest belief in each of some classes, and whose it is."""
    return [(float(R[:, k].max()), int(rows[R[:, k].argmax()])) for k in classes]


def _larger(left: list[tuple[float, int]], right: list[tuple[float, int]]) -> list[tuple[float, int]]:
    return [b if b[0] > a[0] else a for a, b in zip(left, right, strict=True)]


def _replaced(chosen: Array, classes: Array, labels: Array, rows: Array) -> Array:
    labels = labels.copy()
    for row, k in zip(chosen, classes, strict=True):
        labels[rows == row] = k
    return labels
