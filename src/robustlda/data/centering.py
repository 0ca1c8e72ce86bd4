"""The point that lengths are measured from, and which rows are too far from their class to be trusted with a lever."""

import numpy as np

from robustlda.data.store import Rows
from robustlda.linalg import Array, typical_square, weighted_median

_NEAR = 1e-3  # squared distance from the center of a class that is always near, in units of the typical one from all


def mean(rows: Rows, weight: Array) -> Array:
    """Weighted mean of the rows, added up in double precision."""
    one_class = np.zeros(len(weight), int)
    (total,) = rows.reduce(lambda part, block: (block.class_sums(one_class[part], weight[part], 1)[0],))
    return (total / weight.sum()).astype(rows.store.dtype)


def geometric_median(rows: Rows, weight: Array, *, tol: float = 1e-8, max_iter: int = 500) -> Array:
    """The point with the smallest weighted sum of distances to the rows, by Weiszfeld's iteration.

    Half of the weight can be moved anywhere without carrying it away. Distances are smoothed by 1e-8 of
    their typical size, so that an iterate may sit on a row.
    """
    center = mean(rows, weight).astype(float)
    for _ in range(max_iter):
        distance = np.sqrt(squared_distances(rows, center))
        typical = weighted_median(distance, weight)
        if typical == 0:
            break
        previous = center
        center = mean(rows, weight / np.hypot(distance, 1e-8 * typical)).astype(float)
        if np.linalg.norm(center - previous) <= tol * typical:
            break
    return center.astype(rows.store.dtype)


def squared_distances(rows: Rows, center: Array) -> Array:
    """‖x − center‖² for every row."""
    return rows.collect(lambda part, block: (block.squares(center),))[0]


def leverage_weights(rows: Rows, labels: Array, weight: Array, n_classes: int) -> Array:
    """One for rows at usual distances from their class; beyond three times the median it falls with its 4th power.

    ℓ1,2-norms bound what a residual counts, not how far a single row can turn the projection towards itself. Class
    means and what is far from them are found in turns, as one far row moves the mean of its class.
    """
    factor = np.ones(len(labels))
    for _ in range(4):
        squared, from_all = _squared_distances(rows, labels, weight * factor, n_classes)
        # Where most of a class is a single point, any other row would be infinitely far: a part of the spread of all
        # rows is near in any case.
        limit = 9 * max(weighted_median(squared, weight), _NEAR * typical_square(from_all, weight))
        factor = (limit / np.maximum(squared, limit)) ** 2
    return factor


def _squared_distances(rows: Rows, labels: Array, weight: Array, n_classes: int) -> tuple[Array, Array]:
    """From the mean of the row's class, and from the mean of all."""
    (sums,) = rows.reduce(lambda part, block: (block.class_sums(labels[part], weight[part], n_classes),))
    totals = np.bincount(labels, weight, n_classes)[:, None]
    means, center = sums / totals, sums.sum(axis=0) / totals.sum()
    of_class, of_all = rows.collect(
        lambda part, block: (block.class_squares(labels[part], means), block.squares(center))
    )
    return of_class, of_all


CENTERS = {"mean": mean, "median": geometric_median}
