"""The point the samples are measured from: their mean, or their geometric median."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from robustlda.linalg import Array, weighted_median


def mean(X: Any, weight: Array) -> Array:
    """Weighted mean of the rows, added up in double precision."""
    if issparse(X):
        total = X.T @ weight
    else:
        total = np.zeros(X.shape[1])
        for rows in _blocks(X):
            total += weight[rows] @ X[rows]
    return (total / weight.sum()).astype(X.dtype)


def geometric_median(X: Any, weight: Array, *, tol: float = 1e-8, max_iter: int = 500) -> Array:
    """The point with the smallest weighted sum of distances to the rows, by Weiszfeld's iteration.

    Half of the weight can be moved anywhere without carrying it away. Distances are smoothed by 1e-8 of
    their typical size, so that an iterate may sit on a sample.
    """
    center = mean(X, weight).astype(float)
    for _ in range(max_iter):
        distance = _distances(X, center)
        typical = weighted_median(distance, weight)
        if typical == 0:
            break
        previous = center
        center = mean(X, weight / np.hypot(distance, 1e-8 * typical)).astype(float)
        if np.linalg.norm(center - previous) <= tol * typical:
            break
    return center.astype(X.dtype)


def _distances(X: Any, center: Array) -> Array:
    if issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=1), float).ravel()
        return np.sqrt(np.maximum(squares - 2 * (X @ center) + center @ center, 0))
    return np.concatenate([np.linalg.norm(X[rows] - center, axis=1) for rows in _blocks(X)])


def _blocks(X: Any) -> list[slice]:
    return [slice(start, start + 4096) for start in range(0, X.shape[0], 4096)]


CENTERS = {"mean": mean, "median": geometric_median}
