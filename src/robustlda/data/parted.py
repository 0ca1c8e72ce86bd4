"""Rows in parts that are somewhere else: on other workers, or on disk and read one part at a time.

A statistic goes to the parts, is computed there block by block like in memory, and its results are added up in a fixed
pairwise order. So the answer does not depend on who computed which part, nor on when, nor on how often.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from robustlda.data.columns import Column, taken
from robustlda.data.dense import DenseStore
from robustlda.data.scaled import BoundedStore, ScaledStore
from robustlda.data.store import Block, BlockReader, Statistic, Store, as_store, stacked
from robustlda.linalg import Array

_LARGEST = {"d": 2.0**500, "f": 2.0**100}
"""Numbers of each precision whose sums and squares, the latter in double precision, are numbers."""


class _Seen(BlockReader[Any]):
    """Rows of one part, seen as a reader of all parts sees them."""

    def __init__(self, rows: Any, view: Callable[[Block], Any], step: int) -> None:
        self.store = as_store(rows)
        self.n_samples = self.store.shape[0]
        self._view, self._step = view, step

    @property
    def view(self) -> Callable[[Block], Any]:
        return self._view

    @property
    def step(self) -> int:
        return self._step


class PartedStore:
    """Rows in parts, somewhere else: what is computed of them is computed where they are.

    `rows` holds an array or a CSR matrix for every part. Only sums of statistics come here, and rows that were asked
    for by number. `names` are those of the features, where rows came with any.
    """

    in_memory = False

    def __init__(self, rows: Column, d: int, dtype: Any, *, sparse: bool, names: Sequence[Any] | None = None) -> None:
        self.rows, self.sparse, self.dtype, self.names = rows, sparse, np.dtype(dtype), names
        self.shape = sum(rows.parts.sizes), d  # not a number, where nobody has counted the rows

    def tell(self, objective: float) -> None:
        """Let whoever watches know how far a solver is."""
        self.rows.parts.journal.objective = objective

    def mapped(self, function: Callable[[Any], Any], *, sparse: bool) -> "PartedStore":
        """Rows of the same size, made of every part's."""
        return PartedStore(self.rows.apply(function), self.shape[1], self.dtype, sparse=sparse)

    def block(self, rows: slice) -> Block:
        return self.take(np.arange(rows.start, rows.stop)).block(slice(0, rows.stop - rows.start))

    def take(self, index: Array) -> Store:
        return as_store(taken(self.rows.parts, index, _some_rows, self.rows, join=stacked))

    def reduce(
        self, view: Callable[[Block], Any], step: int, statistic: Callable[..., Statistic], columns: tuple[Any, ...]
    ) -> Statistic:
        def of_part(rows: Any, *values: Any) -> Any:
            return packed(_Seen(rows, view, step).reduce(statistic, *values))

        return unpacked(self.rows.parts.fold(of_part, _plus, self.rows, *columns))

    def collect(
        self,
        view: Callable[[Block], Any],
        step: int,
        function: Callable[..., tuple[Array, ...]],
        columns: tuple[Any, ...],
        outputs: int,
    ) -> tuple[Column, ...]:
        def of_part(rows: Any, *values: Any) -> tuple[Array, ...]:
            return _Seen(rows, view, step).collect(function, *values, outputs=outputs)

        parts = self.rows.parts
        results = parts.map(of_part, self.rows, *columns)
        return tuple(Column.kept(parts, results, item) for item in range(outputs))

    def lazily(
        self, view: Callable[[Block], Any], step: int, function: Callable[..., Any], columns: tuple[Any, ...]
    ) -> Column:
        return self.rows.apply(lambda rows, *values: _Seen(rows, view, step).collect(function, *values)[0], *columns)

    def fold(
        self,
        view: Callable[[Block], Any],
        step: int,
        function: Callable[[Iterator[tuple[slice, Any]]], Any],
        combine: Callable[[Any, Any], Any],
    ) -> Any:
        """A function of the blocks of every part, combined in a fixed pairwise order."""
        return self.rows.parts.fold(lambda rows: function(_Seen(rows, view, step).blocks()), combine, self.rows)

    def seen(self, view: Callable[[Block], Any], step: int, function: Callable[[Any], Array], d: int) -> "PartedStore":
        """The rows as a function makes them of every block: d numbers each, in double precision."""

        def of_block(block: Any) -> tuple[Array]:
            return (np.ascontiguousarray(function(block), float),)

        return PartedStore(self.lazily(view, step, of_block, ()), d, float, sparse=False)


def densified(store: Store) -> Store:
    """The same rows as arrays."""
    if isinstance(store, PartedStore):
        return store.mapped(_dense_rows, sparse=False)
    return DenseStore(store.block(slice(0, store.shape[0])).rows())


def scaled(store: Store, factors: Array) -> Store:
    """The same rows with every feature times a factor."""
    if isinstance(store, PartedStore):
        return store.mapped(partial(_scaled_rows, factors.astype(store.dtype)), sparse=store.sparse)
    return ScaledStore(store, factors)


def bounded(store: Store, limits: Array) -> Store:
    """The same rows, shortened where a feature is beyond its limit."""
    limits = within_reach(limits, store.dtype)
    if isinstance(store, PartedStore):
        return store.mapped(partial(_bounded_rows, limits), sparse=store.sparse)
    return BoundedStore(store, limits)


def within_reach(limits: Array, dtype: "np.dtype[Any]") -> Array:
    """Limits beyond none of which a number has a square that is not a number."""
    return np.minimum(limits, _LARGEST[dtype.char])


def _dense_rows(rows: Any) -> Array:
    return rows.toarray()


def _scaled_rows(factors: Array, rows: Any) -> Any:
    store = as_store(rows)
    return store.block(slice(0, store.shape[0])).scaled(factors).compact()


def _bounded_rows(limits: Array, rows: Any) -> Any:
    store = as_store(rows)
    return store.block(slice(0, store.shape[0])).drawn_in(limits).compact()


def _some_rows(rows: Any, index: Array) -> Any:
    return rows[index]


@dataclass(frozen=True)
class _Triangle:
    """A symmetric matrix without its lower half: half of the bytes to keep and to send."""

    values: Array
    size: int


def packed(statistic: Statistic) -> Statistic:
    """The same with the lower halves of large symmetric matrices left out."""
    return tuple(_triangle(part) if _is_symmetric(part) else part for part in statistic)


def unpacked(statistic: Statistic) -> Statistic:
    """The symmetric matrices made whole again."""
    return tuple(_square(part) if isinstance(part, _Triangle) else part for part in statistic)


def _is_symmetric(part: Any) -> bool:
    if not (isinstance(part, np.ndarray) and part.ndim == 2 and part.shape[0] == part.shape[1] >= 16):
        return False
    return bool((part == part.T).all())


def _triangle(S: Array) -> _Triangle:
    return _Triangle(np.concatenate([S[i, i:] for i in range(len(S))]), len(S))


def _square(triangle: _Triangle) -> Array:
    n = triangle.size
    S, start = np.empty((n, n), triangle.values.dtype), 0
    for i in range(n):
        S[i, i:] = S[i:, i] = triangle.values[start : start + n - i]
        start += n - i
    return S


def _plus(left: Statistic, right: Statistic) -> Statistic:
    """The sum as something new: the summands may be needed again."""
    return tuple(_sum(a, b) for a, b in zip(left, right, strict=True))


def _sum(a: Any, b: Any) -> Any:
    if isinstance(a, _Triangle) and isinstance(b, _Triangle):
        return _Triangle(a.values + b.values, a.size)
    return _whole(a) + _whole(b)


def _whole(part: Any) -> Any:
    return _square(part) if isinstance(part, _Triangle) else part
