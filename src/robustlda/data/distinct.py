"""Which samples are copies of others, and an order of them that storage, units and the order of rows do not change.

Rows are told apart by two coordinates in fixed random directions of feature space, every feature counting in units of
its own spread. A copy has the same coordinates up to rounding, two different rows practically never. Dense or sparse,
in other units, shifted, or in another order, the coordinates are the same to some twelve digits, so that what is
decided by eight of them is decided alike; a hash of the bytes of a row would not be.

The digits in between are as good as random, and serve where only some of the samples can be learned from.
"""

from dataclasses import dataclass

import numpy as np

from robustlda.data.centered import CenteredBlock
from robustlda.data.samples import Samples
from robustlda.data.store import Statistic
from robustlda.data.weights import Weights
from robustlda.linalg import Array, typical_square, weighted_median

_SAME = 1e-8  # in units of the spread of a coordinate: farther apart than any rounding error, nearer than any two rows
_SHUFFLE = 1e3  # the digits of a coordinate behind this one make the order


@dataclass(frozen=True)
class Distinct:
    """Groups of copies: one sample of each in `first`, the group of every sample in `group`, an `order` key of each."""

    first: Array
    group: Array
    order: Array

    def __len__(self) -> int:
        return len(self.first)


def find(samples: Samples) -> Distinct:
    """Samples with the same features and the same label, taken together."""
    T = samples.project_features(_directions(samples)).astype(float)
    T = np.column_stack([_standardized(column, samples.weight) for column in T.T])
    keys = np.empty(samples.n_samples, [("label", np.int64), ("one", np.float64), ("two", np.float64)])
    # Rounded to multiples of a number, with a random offset, as rows of whole numbers may lie on such multiples.
    keys["one"], keys["two"] = np.rint(T.T / _SAME + 0.4142)
    keys["label"] = samples.labels
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return Distinct(first, group, (_SHUFFLE * T[first, 0]) % 1.0)


def _standardized(coordinate: Array, weight: Array) -> Array:
    """About the median, in units of what is usual, neither of which one far sample moves."""
    coordinate = coordinate - weighted_median(coordinate, weight)
    return coordinate / np.sqrt(typical_square(coordinate**2, weight))


def _directions(samples: Samples) -> Array:
    """Two random directions of feature space, in units of the spread of each feature."""
    spread = np.sqrt(_column_squares(samples) / samples.weight.sum())
    # Features that do not vary are left out: what rounding makes of them must not tell copies apart.
    scale = np.where(spread > 1e-10 * spread.max(initial=0), spread, np.inf)
    directions = np.random.RandomState(0).standard_normal((len(scale), 2))
    return directions / scale[:, None]


def _column_squares(samples: Samples) -> Array:
    """Σ ω_j x̃_j² for every feature."""
    if samples.store.shape[1] != samples.space.n_features:
        # Coordinates of the row space: their squares by way of its basis, a block of features at a time.
        return _squares_by_basis(samples)

    def statistic(rows: slice, block: CenteredBlock) -> Statistic:
        return (block.column_squares(samples.weight[rows]),)

    return np.asarray(samples.reduce(statistic)[0])


def _squares_by_basis(samples: Samples) -> Array:
    basis, scatter = samples.space.basis, samples.total_scatter
    assert basis is not None
    return np.maximum(np.einsum("ij,ij->i", basis @ scatter, basis), 0)


def subset(samples: Samples, distinct: Distinct, most: int, least: int) -> tuple[Array, Weights]:
    """At most about `most` distinct samples, in their random order, and the weights with which they stand for all.

    Every class keeps its share, and a small one `least` samples, or all.
    """
    c, labels = samples.n_classes, samples.labels[distinct.first]
    given = np.bincount(distinct.group, samples.weights.given)
    counts = np.bincount(labels, minlength=c)
    quota = np.minimum(counts, np.maximum(least, counts * most // len(distinct)))
    taken = _rank_in_class(labels, distinct.order) < quota[labels]
    index, labels_taken = distinct.first[taken], labels[taken]
    lost = np.bincount(labels, given, c) / np.bincount(labels_taken, given[taken], c)
    # One of those that are left stands for several, and takes them all along when it is left out.
    scale = lost[labels_taken]
    return index, Weights(given[taken] * scale, samples.weights.trust[index], samples.weights.one[index] * scale)


def _rank_in_class(labels: Array, order: Array) -> Array:
    """Place of every sample among those of its class."""
    sorted_ = np.lexsort((order, labels))
    counts = np.bincount(labels)
    rank = np.empty(len(labels), int)
    rank[sorted_] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rank
