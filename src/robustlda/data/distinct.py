"""Which samples are copies of others, and an order of them that storage, units and the order of rows do not change.

Rows are told apart by two coordinates in fixed random directions of feature space, every feature counting in units of
its own spread. A copy has the same coordinates up to rounding, two different rows practically never. Dense or sparse,
in other units, shifted, or in another order, the coordinates are the same to some twelve digits, so that what is
decided by eight of them is decided alike; a hash of the bytes of a row would not be.

The digits in between are as good as random, and serve where only some of the samples can be learned from.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from robustlda.data import columns
from robustlda.data.centered import CenteredBlock
from robustlda.data.samples import Samples
from robustlda.data.store import Statistic
from robustlda.data.weights import Weights
from robustlda.linalg import Array

_SAME = 1e-8  # in units of the spread of a coordinate: farther apart than any rounding error, nearer than any two rows
_OFFSET = 0.4142  # as good as random, so that no coordinate is where rounding decides
_SHUFFLE = 1e3 * 2**0.5  # the digits of a coordinate behind this one make the order; rows of whole numbers have some
_BEFORE = -1.0  # in order, of those taken in any case
_LEAST = 1e-300
_TURN = (5**0.5 - 1) / 2  # by which the order of copies is shifted that are told apart, again and again


@dataclass(frozen=True)
class Distinct:
    """Groups of copies: one sample of each in `first`, the group of every sample in `group`, an `order` key of each."""

    first: Array
    group: Array
    order: Array

    def __len__(self) -> int:
        return len(self.first)

    def dealt(self, labels: Array, n_folds: int) -> Array:
        """A fold for every sample: copies share one, and every class is spread over all, in the random order."""
        return np.asarray((_rank_in_class(labels[self.first], self.order) % n_folds)[self.group])


@dataclass(frozen=True)
class Sample:
    """Some of many samples, with the weights with which they stand for all of them.

    `n_distinct` is about how many distinct samples there are, exactly where they are few. `place` says of every sample
    of all which one here it is, or is a copy of; −1 if none.
    """

    index: Array
    weights: Weights
    n_distinct: int
    place: Any


_KEY = [("label", np.int64), ("one", np.float64), ("two", np.float64), ("apart", np.int64)]
_ENTRY = [("key", _KEY), ("order", np.float64), ("row", np.int64), ("weight", np.float64)]


def find(samples: Samples) -> Distinct:
    """Samples with the same features and the same label, taken together."""
    one, two = _coordinates(samples)
    _, first, group = np.unique(_keys(samples.labels, one, two), return_index=True, return_inverse=True)
    return Distinct(first, group, _order(one[first]))


def sample(samples: Samples, most: int, least: int, apart: Any = 0) -> Sample:
    """At most about `most` distinct samples, in their random order.

    Every class keeps its share, and a small one `least` samples, or all. The first `most` of each class, in that order,
    are found part by part, so that it does not matter how many there are and how they are divided. How many there are
    is known where they are fewer, and else by how far the order got.

    Copies of which something else is known are told apart by whole numbers, `apart`. Those below zero are taken in any
    case, and stand for nothing but themselves.
    """
    c, one, two = samples.n_classes, *_coordinates(samples)
    told = (samples.labels, one, two, apart)
    first = columns.fold(
        partial(_first_entries, most),
        lambda left, right: _merged(np.concatenate([left, right]), most),
        *told,
        samples.weights.given,
        columns.positions(samples.labels),
    )
    labels, chosen = first["key"]["label"], first["key"]["apart"] < 0
    counts = np.array([_how_many(first["order"][(labels == k) & ~chosen], most) for k in range(c)])
    quota = np.minimum(counts, np.maximum(least, counts * most // max(counts.sum(), 1)))
    quota += np.bincount(labels[chosen], minlength=c)
    entries = first[_rank_in_class(labels, first["order"]) < quota[labels]]
    entries = entries[np.argsort(entries["row"])]
    index, labels, chosen = entries["row"], entries["key"]["label"], entries["key"]["apart"] < 0
    given = columns.class_totals(samples.labels, samples.weights.given, c)
    # Classes have their shares of all samples. Together the chosen ones weigh what they weigh themselves: they stand
    # for others, but what they know is what so few can know.
    weight = entries["weight"]
    themselves, others = (np.bincount(labels[some], weight[some], c) for some in (chosen, ~chosen))
    scale = np.where(chosen, 1.0, (np.maximum(given - themselves, others) / np.maximum(others, _LEAST))[labels])
    scale *= weight.sum() / given.sum()
    weights = Weights(weight * scale, samples.weights.trust[index], samples.weights.one[index] * scale)
    known = np.argsort(entries["key"])
    place = columns.apply(partial(_places, entries["key"][known], known), *told)
    n_found = len(np.unique(first["key"][["label", "one", "two"]]))
    return Sample(index, weights, n_found if n_found < most else int(counts.sum()), place)


def everything(samples: Samples) -> Sample:
    """All samples, as one would take some of them."""
    index = np.arange(samples.n_samples)
    return Sample(index, samples.weights.take(index), samples.n_samples, columns.positions(samples.labels))


def at_most(samples: Samples, most: int, least: int) -> Samples:
    """The samples in memory, or a sample of them where they are more."""
    few = samples.n_samples <= most
    if few and isinstance(samples.labels, np.ndarray):
        return samples
    some = everything(samples) if few else sample(samples, most, least)
    return samples.take(some.index, some.weights)


def _first_entries(most: int, labels: Array, one: Array, two: Array, apart: Array, weight: Array, rows: Array) -> Array:
    entries = np.empty(len(labels), _ENTRY)
    entries["key"] = _keys(labels, one, two, apart)
    entries["order"] = np.where(np.less(apart, 0), _BEFORE, (_order(one) + _TURN * apart) % 1.0)
    entries["row"], entries["weight"] = rows, weight
    return _merged(entries, most)


def _merged(entries: Array, most: int) -> Array:
    """Copies taken together, and the first `most` of every class, beside those that are taken in any case."""
    _, first, group = np.unique(entries["key"], return_index=True, return_inverse=True)
    merged = entries[first]
    merged["weight"] = np.bincount(group, entries["weight"])
    labels = merged["key"]["label"]
    most_in_class = most + np.bincount(labels[merged["key"]["apart"] < 0], minlength=labels.max() + 1)
    return merged[_rank_in_class(labels, merged["order"]) < most_in_class[labels]]


def _how_many(order: Array, most: int) -> int:
    """Of numbers spread evenly between 0 and 1, how many there are, if these are the `most` smallest."""
    return len(order) if len(order) < most else max(most, round((most - 1) / order.max()))


def _places(keys: Array, places: Array, labels: Array, one: Array, two: Array, apart: Array) -> Array:
    """Where every sample is among some keys in ascending order, by their `places`; −1 if it is not."""
    asked = _keys(labels, one, two, apart)
    at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[at] == asked, places[at], -1)


def _coordinates(samples: Samples) -> tuple[Any, Any]:
    """Two coordinates of every sample, each about its median and in units of what is usual."""
    directions = samples.feature_columns(_directions(samples))
    one, two = samples.collect(lambda block: tuple(block.exactly_times(directions).T), outputs=2)
    weight = samples.weight
    middles = columns.quantiles(weight, (one, 0.5), (two, 0.5))
    one, two = one - middles[0], two - middles[1]
    asked = [(coordinate**2, share) for coordinate in (one, two) for share in (0.5, 0.9)]
    found = columns.quantiles(weight, *asked)
    # About the median, in units of what is usual, neither of which one far sample moves.
    units = [columns.typical_of(asked[k][0], weight, *found[k : k + 2]) for k in (0, 2)]
    return one / np.sqrt(units[0]), two / np.sqrt(units[1])


def _keys(labels: Array, one: Array, two: Array, apart: Array | int = 0) -> Array:
    """The same for copies, different for others."""
    keys = np.empty(len(labels), _KEY)
    keys["apart"] = apart
    # Rounded to multiples of a number, with an offset, as rows of whole numbers may lie on such multiples.
    keys["label"], keys["one"], keys["two"] = labels, np.rint(one / _SAME + _OFFSET), np.rint(two / _SAME + _OFFSET)
    return keys


def _order(coordinate: Array) -> Array:
    # With an offset: the coordinate of the median is 0, and a rounding error below it would be the last in order.
    return np.asarray((_SHUFFLE * coordinate + _OFFSET) % 1.0)


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

    return np.asarray(samples.reduce(_weighted_squares, samples.weight)[0])


def _weighted_squares(block: CenteredBlock, weight: Array) -> Statistic:
    return (block.column_squares(weight),)


def _squares_by_basis(samples: Samples) -> Array:
    basis, scatter = samples.space.basis, samples.total_scatter
    assert basis is not None
    return np.maximum(np.einsum("ij,ij->i", basis @ scatter, basis), 0)


def _rank_in_class(labels: Array, order: Array) -> Array:
    """Place of every sample among those of its class."""
    sorted_ = np.lexsort((order, labels))
    counts = np.bincount(labels)
    rank = np.empty(len(labels), int)
    rank[sorted_] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rank
