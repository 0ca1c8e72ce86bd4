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
    rows, sizes = positions(belief), class_totals(classes, 1.0 + 0.0 * belief, n_classes)
    for k in np.flatnonzero(sizes == 0).tolist():
        # The sample for which a lost class is most probable stands for it, if it is not the only one of another class.
        value, row, was = R.parts.fold(partial(_peak, k, sizes > 1), _higher, R, classes, rows)
        if value < 0:
            break
        classes, belief = (
            apply(partial(_replaced, row, other), column, rows) for column, other in ((classes, k), (belief, value))
        )
        sizes[was], sizes[k] = sizes[was] - 1, 1
    return classes, belief


def _most_probable_and_how(R: Array) -> tuple[Array, Array]:
    return R.argmax(axis=1), R.max(axis=1)


def _peak(k: int, several: Array, R: Array, classes: Array, rows: Array) -> tuple[float, int, int]:
    """The largest belief in a class among samples of classes with several, whose it is, and of which class."""
    if not several[classes].any():
        return -1.0, -1, -1
    row = int(np.where(several[classes], R[:, k], -1).argmax())
    return float(R[row, k]), int(rows[row]), int(classes[row])


def _higher(left: tuple[float, int, int], right: tuple[float, int, int]) -> tuple[float, int, int]:
    return right if right[0] > left[0] else left


def _replaced(row: int, other: Any, values: Array, rows: Array) -> Array:
    return np.where(rows == row, other, values)
