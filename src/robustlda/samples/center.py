"""The point the samples are measured from: their mean, or their geometric median."""

import numpy as np

from robustlda.linalg import Array, weighted_median


def mean(X: Array, weight: Array) -> Array:
    """Weighted mean of the rows, added up in double precision."""
    total = np.zeros(X.shape[1])
    for start in range(0, len(X), 4096):
        total += weight[start : start + 4096] @ X[start : start + 4096]
    return (total / weight.sum()).astype(X.dtype)


def geometric_median(X: Array, weight: Array, *, tol: float = 1e-8, max_iter: int = 500) -> Array:
    """The point with the smallest weighted sum of distances to the rows, by Weiszfeld's iteration.

    Half of the weight can be moved anywhere without carrying it away. Distances are smoothed by 1e-8 of
    their typical size, so that an iterate may sit on a sample.
    """
    center = mean(X, weight).astype(float)
    for _ in range(max_iter):
        distance = np.concatenate(
            [np.linalg.norm(X[start : start + 4096] - center, axis=1) for start in range(0, len(X), 4096)]
        )
        typical = weighted_median(distance, weight)
        if typical == 0:
            break
        previous = center
        center = mean(X, weight / np.hypot(distance, 1e-8 * typical)).astype(float)
        if np.linalg.norm(center - previous) <= tol * typical:
            break
    return center.astype(X.dtype)


CENTERS = {"mean": mean, "median": geometric_median}
