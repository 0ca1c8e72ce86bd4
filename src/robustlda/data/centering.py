"""The point that lengths are measured from, and which rows are too far from their class to be trusted with a lever."""

from typing import Any

import numpy as np

from robustlda.data.columns import median, quantiles, typical_of
from robustlda.data.store import Block, Rows, Statistic
from robustlda.linalg import Array

_NEAR = 1e-3  # squared distance from the center of a class that is always near, in units of the typical one from all
_ROUNDS_APART = 1e-24  # of the limit of the first round, below which none falls
_LEAST = 1e-150  # trust that a row keeps, so that products with it are numbers


def mean(rows: Rows, weight: Array) -> Array:
    """Weighted mean of the rows, added up in double precision."""
    (total,) = rows.reduce(_weighted_sum, weight)
    return (total / weight.sum()).astype(rows.store.dtype)


def _weighted_sum(block: Block, weight: Array) -> Statistic:
    return (block.class_sums(np.zeros(len(weight), int), weight, 1)[0],)


def geometric_median(rows: Rows, weight: Array, *, tol: float = 1e-8, max_iter: int = 500) -> Array:
    """The point with the smallest weighted sum of distances to the rows, by Weiszfeld's iteration.

    Half of the weight can be moved anywhere without carrying it away. Distances are smoothed by 1e-8 of
    their typical size, so that an iterate may sit on a row.
    """
    center = mean(rows, weight).astype(float)
    for _ in range(max_iter):
        distance = np.sqrt(squared_distances(rows, center))
        typical = median(distance, weight)
        if typical == 0:
            break
        previous = center
        center = mean(rows, weight / np.hypot(distance, 1e-8 * typical)).astype(float)
        if np.linalg.norm(center - previous) <= tol * typical:
            break
    return center.astype(rows.store.dtype)


def squared_distances(rows: Rows, center: Array) -> Array:
    """‖x − center‖² for every row."""
    return rows.collect(lambda block: (block.squares(center),))[0]


def leverage_weights(rows: Rows, labels: Any, weight: Any, n_classes: int) -> Any:
    """One for rows at usual distances from their class; beyond three times the median it falls with its 4th power.

    ℓ1,2-norms bound what a residual counts, not how far a single row can turn the projection towards itself. Class
    means and what is far from them are found in turns, as one far row moves the mean of its class.
    """
    factor: Any = 1.0
    least = counted = 0.0
    for _ in range(4):
        squared, from_all = _squared_distances(rows, labels, weight * factor, n_classes)
        # Where most of a class is a single point, any other row would be infinitely far: a part of the spread of all
        # rows is near in any case.
        middle, *usual = quantiles(weight, (squared, 0.5), (from_all, 0.5), (from_all, 0.9))
        limit = 9 * max(middle, _NEAR * typical_of(from_all, weight, *usual))
        # Where nearly all rows coincide, each round would find the others farther away than the one before.
        least = least or _ROUNDS_APART * limit
        # What a row adds to a scatter is a number in the precision of the rows: it may be the only one that varies.
        counted = counted or float(np.finfo(rows.store.dtype).tiny) ** 0.8 * limit
        limit = max(limit, least)
        far = np.maximum(squared, limit)
        before, factor = factor, np.maximum((limit / far) ** 2, np.maximum(np.minimum(counted / far, 1), _LEAST))
        if isinstance(factor, np.ndarray) and (factor == before).all():
            break  # so would be all that follows
    return factor


def _squared_distances(rows: Rows, labels: Any, weight: Any, n_classes: int) -> tuple[Any, Any]:
    """From the mean of the row's class, and from the mean of all."""
    sums, totals = rows.reduce(
        lambda block, labels, w: (block.class_sums(labels, w, n_classes), np.bincount(labels, w, n_classes)),
        labels,
        weight,
    )
    totals = totals[:, None]
    means, center = sums / totals, sums.sum(axis=0) / totals.sum()
    of_class, of_all = rows.collect(
        lambda block, labels: (block.class_squares(labels, means), block.squares(center)), labels, outputs=2
    )
    return of_class, of_all


CENTERS = {"mean": mean, "median": geometric_median}
