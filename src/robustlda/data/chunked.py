"""Rows that are not in memory and come when asked: mapped into it, or read part by part as often as needed.

`Blocks` is for whoever can read rows in parts, again and again, and has no cluster: everything is computed here, one
part after the other. Dask does the same with many workers (`dask_parts`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustlda.data.columns import Column, Recipe, itself
from robustlda.data.dense import DenseBlock, DenseStore
from robustlda.data.journal import Journal
from robustlda.data.store import pairwise
from robustlda.linalg import Array


class MappedStore:
    """A memory-mapped array of any number type; only the blocks in use are in memory."""

    in_memory, sparse = False, False

    def __init__(self, X: np.memmap[Any, Any]) -> None:
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead; samples are the rows of X.")
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X is a memory-mapped array of type {X.dtype}; real numbers are needed.")
        self._X = X
        self._dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)

    @property
    def shape(self) -> tuple[int, int]:
        return self._X.shape[0], self._X.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype

    def block(self, rows: slice) -> DenseBlock:
        # Read once, then used by several products; a block of the mapping itself would be paged in by each of them.
        return DenseBlock(np.array(self._X[rows], self._dtype, order="C"))

    def take(self, index: Array) -> DenseStore:
        return DenseStore(np.array(self._X[index], self._dtype))


class LocalParts:
    """Parts that are computed in this process, in their order."""

    def __init__(self, sizes: list[int], journal: Journal | None = None) -> None:
        self.sizes, self.journal = sizes, journal or Journal()

    def map(self, function: Callable[..., Any], *columns: Any) -> list[Any]:
        return list(self._each(function, columns))

    def fold(self, function: Callable[..., Any], combine: Callable[[Any, Any], Any], *columns: Any) -> Any:
        return self.journal.recalled(lambda: self.combined(function, combine, *columns))

    def combined(self, function: Callable[..., Any], combine: Callable[[Any, Any], Any], *columns: Any) -> Any:
        return pairwise(self._each(function, columns), combine)

    def _each(self, function: Callable[..., Any], columns: tuple[Any, ...]) -> Iterator[Any]:
        recipe = Recipe(function, columns)
        for values in zip(*recipe.slots, strict=True):
            yield recipe(*values)

    def given_back(self, column: Column, like: Array) -> Array:
        return np.concatenate(self.map(itself, column))


class Blocks:
    """Rows with their labels that are read in parts, as often as they are asked for.

    Parameters
    ----------
    source : callable or iterable
        What can be iterated over again and again, or returns a new iterator when it is called. It yields pairs of rows
        and labels, or triples with weights: an array, a DataFrame or a sparse matrix of some rows, then one label and
        one number for each. Always the same ones, in the same order.

    Examples
    --------
    >>> import numpy as np
    >>> from robustlda import RobustLDA
    >>> from robustlda.data import Blocks
    >>> def source():
    ...     for seed in range(3):
    ...         X = np.random.default_rng(seed).normal(size=(100, 4))
    ...         yield X, X[:, 0] > 0
    >>> RobustLDA().fit_blocks(source).components_.shape
    (1, 4)
    """

    def __init__(self, source: Callable[[], Iterable[Any]] | Iterable[Any]) -> None:
        if isinstance(source, Iterator):
            raise TypeError(_once(source))
        self._source = source
        self._read: Any = None  # the iterator that the source returned last

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        parts = self._source() if callable(self._source) else self._source
        if not isinstance(parts, Iterable):
            raise TypeError(f"A source yields pairs of rows and labels; {type(parts).__name__} yields nothing.")
        if isinstance(parts, Iterator):
            if parts is self._read:
                raise TypeError(_once(parts))
            self._read = parts  # of which nothing is left when it was read; a list would stay in memory
        for part in parts:
            if not (isinstance(part, tuple) and len(part) in (2, 3)):
                raise TypeError(
                    f"A source yields (rows, labels) or (rows, labels, weights), not {type(part).__name__}."
                )
            rows, labels, weights = part if len(part) == 3 else (*part, None)
            if not hasattr(rows, "shape"):
                raise TypeError(
                    f"Rows are an array, a DataFrame or a sparse matrix, not {type(rows).__name__}: np.array(rows)."
                )
            if rows.shape[0]:
                yield rows, labels, weights


def _once(source: Any) -> str:
    return (
        f"{type(source).__name__} can be read only once, and several passes are needed: give a function that "
        "returns a new iterator, or something that can be iterated over again, such as a list."
    )


@dataclass(frozen=True)
class SameBlocks:
    """Blocks of so many rows each, which have to be those in every pass; if it is not known yet, of some rows."""

    blocks: Blocks
    sizes: Sequence[int] | None = None

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        found: list[int] = []
        for part in self.blocks:
            found.append(part[0].shape[0])
            if self.sizes is not None and list(self.sizes[: len(found)]) != found:
                raise ValueError(self._changed(found))
            yield part
        if self.sizes is None and not found:
            raise ValueError("The source yields no rows.")
        if self.sizes is not None and len(found) < len(self.sizes):
            raise ValueError(self._changed(found))

    def _changed(self, found: list[int]) -> str:
        last, expected = len(found), list(self.sizes or ())
        if found == expected[:last] or last > len(expected):
            what = f"{len(expected)} blocks in the first pass, and {'more' if last > len(expected) else last} now"
        else:
            what = f"{expected[last - 1]} rows in block {last - 1} in the first pass, and {found[-1]} now"
        return f"The source yielded {what}: it has to yield the same blocks in the same order every time."
