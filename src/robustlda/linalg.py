"""Small dense linear algebra shared by every layer."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array

Array = npt.NDArray[Any]


def principal_angles(U: Array, V: Array) -> Array:
    """Angles in radians, ascending, between the spans of the orthonormal columns of U and V."""
    # Sines from the residual are accurate for small angles, cosines for large ones: each serves its half.
    Q, R = (U, V) if U.shape[1] >= V.shape[1] else (V, U)
    C = Q.T @ R
    cosines = np.linalg.svd(C, compute_uv=False)
    sines = np.linalg.svd(R - Q @ C, compute_uv=False)[::-1]
    return np.where(cosines**2 < 0.5, np.arccos(np.clip(cosines, 0, 1)), np.arcsin(np.clip(sines, 0, 1)))


def orthonormalise(V: Array) -> Array:
    """Orthonormal basis of the span of V's columns; a ValueError if they are dependent."""
    Q, R = np.linalg.qr(V)
    lengths = np.abs(np.diag(R))
    if not lengths.size or lengths.min() <= 1e-10 * max(lengths.max(), np.finfo(V.dtype).tiny):
        raise ValueError("the rows of the starting projection are linearly dependent on this data's span")
    return Q


def extension(Q: Array, V: Array) -> Array:
    """Orthonormal basis of what V adds to the span of the orthonormal Q; what adds nothing is dropped.

    Rounding errors of V must not pass for directions: a column counts only if it is longer than 1e-10 of the longest
    one, and a direction only if it is longer than 1e-6 of the columns it comes from.
    """
    lengths = np.linalg.norm(V, axis=0)
    V = V[:, lengths > 1e-10 * lengths.max(initial=0)]
    V = V / np.linalg.norm(V, axis=0)
    for _ in range(2):  # the first pass leaves rounding errors where V nearly lies in Q or is nearly dependent
        V = V - Q @ (Q.T @ V)
        # Through the Gram matrix every new direction is a combination of columns of V, however small what it adds.
        squares, U = np.linalg.eigh(V.T @ V)
        keep = squares > 1e-12
        V = V @ (U[:, keep] / np.sqrt(squares[keep]))
    return V


def fix_signs(components: Array) -> Array:
    """Rows turned so that the entry of largest magnitude is positive: the same answer on every machine."""
    peak = np.abs(components).argmax(axis=1)
    signs = np.sign(components[np.arange(len(components)), peak])
    signs[signs == 0] = 1
    return components * signs[:, None]


def weighted_median(values: Array, weight: Array) -> float:
    """Smallest value with at least half of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(cumulative, cumulative[-1] / 2)]])


def weighted_medians(V: Array, weight: Array) -> Array:
    """Median of every column, halfway between the two middle values where the weight splits evenly."""
    order = np.argsort(V, axis=0, kind="stable")
    cumulative = np.cumsum(weight[order], axis=0)
    half = cumulative[-1] / 2
    middle = [(cumulative >= half * (1 - 1e-12)).argmax(axis=0), (cumulative > half * (1 + 1e-12)).argmax(axis=0)]
    return np.take_along_axis(V, np.take_along_axis(order, np.array(middle), axis=0), axis=0).mean(axis=0)


def class_indicator(labels: Array, weight: Array, n_classes: int) -> csc_array:
    """Sparse classes × samples matrix with each sample's weight in the row of its class; times rows it adds them up."""
    n = len(labels)
    return csc_array((weight, labels, np.arange(n + 1)), shape=(n_classes, n))
