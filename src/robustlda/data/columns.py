"""One value for every row, in memory or where the rows are.

In memory a column is an array. Of rows that are somewhere else, a `Column` keeps the values in the same parts, next to
the rows, and arithmetic with it is written down rather than done: it happens in the task that needs the result. So a
weight that depends on ten numbers of a row takes no memory and no pass of its own, and nothing of the size of the rows
ever comes to the client. Columns are added up like any statistic, in a fixed order.

Order statistics are exact. The bits of a number, read from the highest on, are its digits: four histograms of 16 bits
each find the value that a given share of the weight does not exceed, however the rows are divided.
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from robustlda.data.journal import Journal
from robustlda.linalg import EVEN, Array, weighted_quantile

_DIGIT = 16  # bits
_BINS = 1 << _DIGIT


class Parts(Protocol):
    """Where columns are kept, and who computes with them: one value for every part of the rows."""

    sizes: list[int]
    journal: Journal

    def map(self, function: Callable[..., Any], *columns: Any) -> Any:
        """The results for all parts, kept where they are; `function` is given the values of the columns there."""
        ...

    def fold(self, function: Callable[..., Any], combine: Callable[[Any, Any], Any], *columns: Any) -> Any:
        """The results combined in a fixed pairwise order; known from the journal if that has been done before."""
        ...

    def combined(self, function: Callable[..., Any], combine: Callable[[Any, Any], Any], *columns: Any) -> Any:
        """The same without the journal, for what has to be done again."""
        ...

    def given_back(self, column: "Column", like: Array) -> Any:
        """The values in the form that whoever gave the rows expects."""
        ...


@dataclass(frozen=True)
class Kept:
    """Values that were computed: `item` of what a task of every part returned."""

    results: Any
    item: int | None = None


class Column(NDArrayOperatorsMixin):
    """A function of what is kept in the same part, or that itself."""

    def __init__(self, parts: Parts, function: Callable[..., Any] | None, inputs: tuple[Any, ...]) -> None:
        self.parts, self.function, self.inputs = parts, function, inputs

    @classmethod
    def kept(cls, parts: Parts, results: Any, item: int | None = None) -> "Column":
        return cls(parts, None, (Kept(results, item),))

    def __len__(self) -> int:
        return int(sum(self.parts.sizes))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> "Column":
        if method != "__call__" or settings:
            return NotImplemented
        return Column(self.parts, ufunc, inputs)

    def apply(self, function: Callable[..., Any], *others: Any) -> "Column":
        """A function of the values of a part, and of other columns or fixed values."""
        return Column(self.parts, function, (self, *others))

    def astype(self, dtype: Any) -> "Column":
        return self.apply(_astype, np.dtype(dtype))

    def sum(self) -> float:
        return float(self.parts.fold(np.sum, operator.add, self))

    def mean(self) -> float:
        return self.sum() / len(self)

    def all(self) -> bool:
        return bool(self.parts.fold(np.all, np.logical_and, self))

    def any(self) -> bool:
        return bool(self.parts.fold(np.any, np.logical_or, self))

    def max(self) -> float:
        return float(self.parts.fold(np.max, np.maximum, self))

    def __matmul__(self, other: Any) -> float:
        return (self * other).sum()

    def __getitem__(self, index: Array) -> Array:
        """The values of some rows, which are few."""
        return taken(self.parts, index, _rows_of, self)

    def keep(self) -> "Column":
        """The same, computed once."""
        return Column.kept(self.parts, self.parts.map(itself, self))

    def keep_parts(self, function: Callable[..., tuple[Any, ...]], *others: Any, outputs: int) -> "list[Column]":
        """Several columns that a function makes of this one and others, computed together and once."""
        results = self.parts.map(function, self, *others)
        return [Column.kept(self.parts, results, item) for item in range(outputs)]


def itself(values: Any) -> Any:
    return values


def _astype(values: Array, dtype: np.dtype[Any]) -> Array:
    return values.astype(dtype)


def _rows_of(values: Array, index: Array) -> Array:
    return np.asarray(values)[index]


class Recipe:
    """What a task does: a function of columns, each worked out from what is kept in the task's part.

    `slots` are the kept results that have to be handed to the task, in this order. Nothing of the client's columns is
    in a recipe, so that it is small wherever it is sent.
    """

    def __init__(self, function: Callable[..., Any], columns: Sequence[Any]) -> None:
        self._function = function
        self._steps: list[Any] = []
        self._places: dict[int, int] = {}
        self.slots: list[Any] = []
        self._arguments = [self._written(column) for column in columns]

    def _written(self, column: Any) -> Any:
        """The place of a column among the steps, or a fixed value."""
        if not isinstance(column, Column):
            return _Fixed(column)
        if id(column) not in self._places:
            step: Any = column.function, [self._written(each) for each in column.inputs if column.function]
            if column.function is None:
                step = self._slot(column.inputs[0])
            self._places[id(column)] = len(self._steps)
            self._steps.append(step)
        return self._places[id(column)]

    def _slot(self, kept: Kept) -> "_Slot":
        known = [id(results) for results in self.slots]
        if id(kept.results) not in known:
            self.slots.append(kept.results)
            known.append(id(kept.results))
        return _Slot(known.index(id(kept.results)), kept.item)

    def __getstate__(self) -> dict[str, Any]:
        return {"_function": self._function, "_steps": self._steps, "_arguments": self._arguments}

    def __call__(self, *values: Any) -> Any:
        found: list[Any] = []

        def value(place: Any) -> Any:
            return place.value if isinstance(place, _Fixed) else found[place]

        for step in self._steps:
            if isinstance(step, _Slot):
                whole = values[step.number]
                found.append(whole if step.item is None else whole[step.item])
            else:
                function, inputs = step
                found.append(function(*map(value, inputs)))
        return self._function(*map(value, self._arguments))


@dataclass(frozen=True)
class _Fixed:
    value: Any


@dataclass(frozen=True)
class _Slot:
    number: int
    item: int | None


def taken(
    parts: Parts,
    index: Array,
    function: Callable[..., Any],
    *columns: Column,
    join: Callable[..., Any] = np.concatenate,
) -> Any:
    """What `function` makes of the values and of places in a part, for rows anywhere in any order."""
    index = np.asarray(index)
    order = np.argsort(index, kind="stable")
    ends = np.cumsum(parts.sizes)
    starts = ends - np.asarray(parts.sizes)
    bounds = np.searchsorted(index[order], np.append(starts, ends[-1]))
    places = [index[order[a:b]] - start for a, b, start in zip(bounds[:-1], bounds[1:], starts, strict=True)]
    wanted = Column.kept(parts, places)
    found = parts.fold(lambda *values: [function(*values)], operator.add, *columns, wanted)
    back = np.empty(len(order), int)
    back[order] = np.arange(len(order))
    return join(found)[back]


# Functions of columns, in memory or not


def class_totals(labels: Any, weight: Any, n_classes: int) -> Array:
    """Σ w_j over each class."""
    if isinstance(labels, Column):
        return np.asarray(labels.parts.fold(_bincount, operator.add, labels, weight, n_classes))
    return np.bincount(labels, weight, n_classes)


def _bincount(labels: Array, weight: Array, n_classes: int) -> Array:
    return np.bincount(labels, weight, n_classes)


def fold(function: Callable[..., Any], combine: Callable[[Any, Any], Any], *columns: Any) -> Any:
    """What a function makes of the values in every part, combined; in memory all values are one part."""
    first = next((column for column in columns if isinstance(column, Column)), None)
    return function(*columns) if first is None else first.parts.fold(function, combine, *columns)


def positions(column: Any) -> Any:
    """The number of every row."""
    if not isinstance(column, Column):
        return np.arange(len(column))
    starts = np.cumsum(column.parts.sizes) - np.asarray(column.parts.sizes)
    return Column.kept(column.parts, starts.tolist()).apply(_from, column)


def _from(start: int, values: Array) -> Array:
    return np.arange(start, start + len(values))


def apply(function: Callable[..., Array], *columns: Any) -> Any:
    """A function of each row's values."""
    first = next((column for column in columns if isinstance(column, Column)), None)
    return function(*columns) if first is None else Column(first.parts, function, columns)


def given_back(column: Any, like: Array) -> Any:
    """A column in the form that people who gave the rows expect; `like` has the type and width of its values."""
    return column.parts.given_back(column, like) if isinstance(column, Column) else column


def quantiles(weight: Any, *asked: tuple[Any, float]) -> list[float]:
    """For every column and share asked for, the smallest value with at least that share of the weight up to it."""
    columns, shares = [values for values, _ in asked], [share for _, share in asked]
    if not isinstance(columns[0], Column):
        return [weighted_quantile(values, weight, share) for values, share in asked]
    fold, prefixes = columns[0].parts.fold, [0] * len(asked)
    below, targets = np.zeros(len(asked)), np.zeros(len(asked))
    for place in range(64 // _DIGIT):
        counts = fold(partial(_histograms, prefixes, place), operator.add, weight, *columns)
        cumulative = below[:, None] + np.cumsum(counts, axis=1)
        if place == 0:
            targets = np.array(shares) * cumulative[:, -1] * (1 - EVEN)
        for k in range(len(asked)):
            digit = min(int(np.searchsorted(cumulative[k], targets[k])), int(np.flatnonzero(counts[k])[-1]))
            below[k] = cumulative[k, digit] - counts[k, digit]
            prefixes[k] = prefixes[k] << _DIGIT | digit
    return [float(number) for number in _numbers(np.array(prefixes, np.uint64))]


def median(values: Any, weight: Any) -> float:
    """Smallest value with at least half of the weight at or below it."""
    return quantiles(weight, (values, 0.5))[0]


def typical_square(squared_lengths: Any, weight: Any) -> float:
    """Median squared length, which outliers do not stretch, or a longer one where most samples all but coincide.

    In a table of few distinct rows more than half of the lengths may vanish, or would but for rounding; then it is the
    squared length that one in ten exceeds, the mean where not even one in ten does, and 1 where all are alike.
    """
    return typical_of(squared_lengths, weight, *quantiles(weight, (squared_lengths, 0.5), (squared_lengths, 0.9)))


def typical_of(squared_lengths: Any, weight: Any, middle: float, tenth: float) -> float:
    """The same, where the median and what one in ten exceeds are known."""
    if middle > 1e-4 * tenth:
        return middle
    return tenth or float(weight @ squared_lengths / weight.sum()) or 1.0


def _digits(values: Array) -> Array:
    """Whole numbers in the same order as floating-point numbers."""
    bits = (np.ascontiguousarray(values, np.float64) + 0.0).view(np.uint64)  # −0 becomes 0
    negative = bits >> np.uint64(63) == 1
    return np.where(negative, ~bits, bits | np.uint64(1 << 63))


def _numbers(digits: Array) -> Array:
    negative = digits >> np.uint64(63) == 0
    return np.where(negative, ~digits, digits & np.uint64((1 << 63) - 1)).view(np.float64)


def _histograms(prefixes: list[int], place: int, weight: Array, *columns: Array) -> Array:
    return np.array([_histogram(v, weight, np.uint64(p), place) for v, p in zip(columns, prefixes, strict=True)])


def _histogram(values: Array, weight: Array, prefix: Any, place: int) -> Array:
    """Weight for each value of the next 16 bits, among numbers that begin with `prefix`."""
    digits, left = _digits(values), 64 - _DIGIT * place
    if place:
        among = digits >> np.uint64(left) == prefix
        digits, weight = digits[among], weight[among]
    digit = (digits >> np.uint64(left - _DIGIT)) & np.uint64(_BINS - 1)
    return np.bincount(digit.astype(np.int64), weight, _BINS)
