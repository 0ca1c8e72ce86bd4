"""The point the samples are measured from, their mean or their geometric median; and which of them are too far off."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from robustlda.linalg import Array, class_indicator, weighted_median


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
        distance = np.sqrt(squared_distances(X, center))
        typical = weighted_median(distance, weight)
        if typical == 0:
            break
        previous = center
        center = mean(X, weight / np.hypot(distance, 1e-8 * typical)).astype(float)
        if np.linalg.norm(center - previous) <= tol * typical:
            break
    return center.astype(X.dtype)


def nearness(X: Any, labels: Array, weight: Array, n_classes: int) -> Array:
    """One for samples at usual distances from their class; beyond three times the median it falls with its 4th power.

    ℓ1,2-norms bound what a residual counts, not how far a single sample can turn the projection towards itself. Class
    means and what is far from them are found in turns, as one far sample moves the mean of its class.
    """
    factor = np.ones(len(labels))
    for _ in range(4):
        squared = _squared_distances_from_class(X, labels, weight * factor, n_classes)
        limit = 9 * weighted_median(squared, weight)
        if limit == 0:
            return np.ones(len(labels))
        factor = (limit / np.maximum(squared, limit)) ** 2
    return factor


def _squared_distances_from_class(X: Any, labels: Array, weight: Array, n_classes: int) -> Array:
    n = len(labels)
    one_per_row = class_indicator(labels, weight, n_classes)
    totals = np.bincount(labels, weight, n_classes)[:, None]
    if issparse(X):
        means = (one_per_row @ X).toarray() / totals
        squares = np.asarray(X.multiply(X).sum(axis=1), float).ravel()
        products = (X @ means.T)[np.arange(n), labels]
        return np.maximum(squares - 2 * products + np.einsum("ij,ij->i", means, means)[labels], 0)
    means = sum(one_per_row[:, rows] @ X[rows] for rows in _blocks(X)) / totals
    parts = (X[rows] - means[labels[rows]] for rows in _blocks(X))
    return np.concatenate([np.einsum("ij,ij->i", R, R) for R in parts])


def squared_distances(X: Any, center: Array) -> Array:
    """‖x − center‖² for every row."""
    if issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=1), float).ravel()
        return np.maximum(squares - 2 * (X @ center) + center @ center, 0)
    parts = (X[rows] - center for rows in _blocks(X))
    return np.concatenate([np.einsum("ij,ij->i", R, R) for R in parts])


def _blocks(X: Any) -> list[slice]:
    return [slice(start, start + 4096) for start in range(0, X.shape[0], 4096)]


CENTERS = {"mean": mean, "median": geometric_median}
