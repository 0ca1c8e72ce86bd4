"""Rows, wherever they are, and the one operation on them that matters.

A `Store` hands out blocks of consecutive rows. A statistic is a pure function of a block and of what it closes over,
whose small results are added up in a fixed pairwise order: the sum depends on where the blocks begin, which shape and
`Plan` decide, and not on how the rows are stored or on who computed which block first.

A new kind of storage is a class with `shape`, `dtype`, `sparse`, `in_memory`, `block` and `take`; its blocks may be
those of `dense` or `sparse`. Pass instances to `fit` and `predict` directly; a line in `KINDS` makes one of something
else.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from scipy.sparse import issparse, vstack

from robustlda.linalg import Array

B = TypeVar("B")


class Block(Protocol):
    """Some rows x_j and the products that can be had of them.

    Examples
    --------
    >>> import numpy as np
    >>> from robustlda.data import as_store
    >>> block = as_store(np.arange(6.0).reshape(3, 2)).block(slice(1, 3))
    >>> block.times(np.array([[1.0], [1.0]])).ravel().tolist()
    [5.0, 9.0]
    """

    @property
    def dtype(self) -> np.dtype[Any]: ...

    def times(self, V: Array) -> Array:
        """x_jᵀV, one row for every row; a new array that the caller may write to."""
        ...

    def exactly_times(self, V: Array) -> Array:
        """The same in double precision, whatever that of the rows."""
        ...

    def combine(self, Z: Array) -> Array:
        """Σ_j x_j z_jᵀ: combinations of the rows, one for every column of Z."""
        ...

    def class_sums(self, labels: Array, w: Array, n_classes: int) -> Array:
        """Σ w_j x_j over each class, one row for every class."""
        ...

    def squares(self, center: Array) -> Array:
        """‖x_j − center‖²."""
        ...

    def class_squares(self, labels: Array, centers: Array) -> Array:
        """‖x_j − centers of the class of j‖²."""
        ...

    def column_squares(self, s: Array, center: Array) -> Array:
        """Σ_j s_j (x_j − center)², feature by feature."""
        ...

    def gram(self, s: Array, center: Array, *, single: bool = False) -> Array:
        """Σ_j s_j (x_j − center)(x_j − center)ᵀ; s may have either sign."""
        ...

    def centered(self, center: Array) -> "Block | None":
        """The rows minus `center` as a block of their own, or None where that would not be sparse any more."""
        ...

    def scaled(self, factors: Array) -> "Block":
        """The rows with every feature times a factor."""
        ...

    def drawn_in(self, limits: Array) -> "Block":
        """The rows, those with a feature beyond its limit times the power of two that brings them within."""
        ...

    def peak(self) -> float:
        """The largest size of an entry; NaN if there is one."""
        ...

    def inner(self, other: Any) -> Array:
        """x_iᵀz_j with the rows z_j of another block of the same kind."""
        ...

    def rows(self) -> Array:
        """The rows as a dense array, which must not be written to."""
        ...

    def compact(self) -> Any:
        """The rows as an array or a CSR matrix, whichever they are, not to be written to either."""
        ...


class Store(Protocol):
    """Rows that can be had block by block.

    `dtype` is float64 or float32, and so are the blocks. The ends of a slice given to `block` are whole numbers within
    the rows; an index given to `take` may be in any order. Blocks are never written to.

    Examples
    --------
    Random numbers that are drawn when they are asked for, and nowhere kept:

    >>> import numpy as np
    >>> from robustlda import RobustLDA
    >>> from robustlda.data.dense import DenseBlock, DenseStore
    >>> class Drawn:
    ...     shape, dtype, sparse, in_memory = (200, 3), np.dtype(float), False, False
    ...     def block(self, rows):
    ...         return DenseBlock(np.random.default_rng(0).normal(size=self.shape)[rows])
    ...     def take(self, index):
    ...         return DenseStore(self.block(slice(0, 200)).rows()[index])
    >>> store = Drawn()
    >>> y = store.block(slice(0, 200)).rows()[:, 0] > 0
    >>> RobustLDA().fit(store, y).transform(store).shape
    (200, 1)
    """

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def sparse(self) -> bool:
        """Whether rows are mostly zeros, and blocks of them cannot be centered."""
        ...

    @property
    def in_memory(self) -> bool:
        """Whether the rows are in memory, so that another pass over them costs no reading."""
        ...

    def block(self, rows: slice) -> Block:
        """Consecutive rows."""
        ...

    def take(self, index: Array) -> "Store":
        """Some rows, in memory."""
        ...


@runtime_checkable
class Elsewhere(Protocol):
    """What a store has besides, if its rows are somewhere else and statistics of them are computed there."""

    def reduce(
        self, view: Callable[[Block], Any], step: int, statistic: Callable[..., Any], columns: tuple[Any, ...]
    ) -> Any: ...

    def collect(
        self,
        view: Callable[[Block], Any],
        step: int,
        function: Callable[..., Any],
        columns: tuple[Any, ...],
        outputs: int,
    ) -> Any: ...

    def lazily(
        self, view: Callable[[Block], Any], step: int, function: Callable[..., Any], columns: tuple[Any, ...]
    ) -> Any: ...


@dataclass(frozen=True)
class Kind:
    """A kind of data: how it is recognized, and the store that reads it.

    With `own_form`, the data are not given to scikit-learn, which would turn them into an array.
    """

    recognizes: Callable[[Any], bool]
    build: Callable[[Any], "Store"]
    own_form: bool = False


def _sparse(X: Any) -> Store:
    from robustlda.data.sparse import SparseStore

    return SparseStore(X)


def _is_parted(X: Any) -> bool:
    from robustlda.data.parted_input import is_parted

    return is_parted(X)


def _parted(X: Any) -> Store:
    from robustlda.data.parted_input import rows_to_predict

    return rows_to_predict(X)


def _mapped(X: Any) -> Store:
    from robustlda.data.chunked import MappedStore

    return MappedStore(X)


def _dense(X: Any) -> Store:
    from robustlda.data.dense import DenseStore

    return DenseStore(X)


def _is_foreign(X: Any) -> bool:
    from robustlda.data.device import is_foreign

    return is_foreign(X)


def _on_device(X: Any) -> Store:
    from robustlda.data.device import DeviceStore

    return DeviceStore(X)


_NEEDED = ("shape", "dtype", "sparse", "in_memory", "block", "take")


def _is_store(X: Any) -> bool:
    missing = [name for name in _NEEDED if not hasattr(X, name)]
    if missing and hasattr(X, "block") and hasattr(X, "shape"):
        raise TypeError(f"{type(X).__name__} has no {' and no '.join(missing)}; a store needs {', '.join(_NEEDED)}.")
    return not missing


KINDS = (
    Kind(issparse, _sparse),
    Kind(lambda X: isinstance(X, np.memmap), _mapped, own_form=True),
    Kind(lambda X: isinstance(X, np.ndarray), _dense),
    Kind(_is_foreign, _on_device),
    Kind(_is_parted, _parted, own_form=True),
    Kind(_is_store, lambda X: cast(Store, X), own_form=True),
)
"""Every kind of data that rows can be read from; the only place that asks how data are stored."""


def as_store(X: Any) -> Store:
    """The store that suits how the data are stored.

    Parameters
    ----------
    X : {array, sparse matrix, memory-mapped array, Dask collection, ParquetTable, Blocks, store}
        Rows; an array may be NumPy's or, like one of PyTorch or CuPy, follow the array API.

    Returns
    -------
    store : Store

    Examples
    --------
    >>> import numpy as np
    >>> from robustlda.data import as_store
    >>> store = as_store(np.eye(3))
    >>> store.shape, store.sparse, store.in_memory
    ((3, 3), False, True)
    """
    for kind in KINDS:
        if kind.recognizes(X):
            return kind.build(X)
    raise TypeError(f"X is of type {type(X).__name__}, which robustlda does not know how to read rows from.")


def is_read_in_blocks(X: Any) -> bool:
    """Whether X stays in a form of its own, in memory or not, and must not be turned into an array."""
    return next((kind.own_form for kind in KINDS if kind.recognizes(X)), False)


def is_sparse(X: Any) -> bool:
    """Whether X, a store or what one can be made of, has rows that are mostly zeros."""
    return issparse(X) or (_is_store(X) and bool(X.sparse))


def as_rows(part: Any, dtype: Any) -> Any:
    """Some rows as an array or a CSR matrix of a floating-point type; that of single precision stays, if None."""
    if issparse(part):
        from robustlda.data.sparse import canonical

        rows = canonical(part)
    else:
        rows = part.to_numpy() if hasattr(part, "to_numpy") else np.asarray(part)
    if rows.ndim != 2:
        raise ValueError(f"Rows came as an array of {rows.ndim} dimensions; samples are the rows of an array of 2.")
    if rows.dtype.kind == "c":
        raise ValueError(f"X holds complex numbers (type {rows.dtype}); real ones are needed.")
    dtype = dtype or (np.float32 if rows.dtype == np.float32 else np.float64)
    try:
        return rows.astype(dtype, copy=False)
    except (TypeError, ValueError):
        raise ValueError(f"X holds values that are no numbers (type {rows.dtype}); leave out or encode them.") from None


def stacked(parts: list[Any]) -> Any:
    """Arrays or sparse matrices of rows below each other."""
    return vstack(parts, format="csr") if issparse(parts[0]) else np.concatenate(parts)


def row_slices(n: int, step: int) -> Iterator[slice]:
    """Consecutive blocks of at most `step` rows."""
    for start in range(0, n, max(1, step)):
        yield slice(start, min(start + max(1, step), n))


Statistic = tuple[Any, ...]
"""Arrays and numbers."""


def pairwise(parts: Iterable[Any], combine: Callable[[Any, Any], Any]) -> Any:
    """The parts combined, neighbors first, then pairs of neighbors, and so on.

    The order is that of a tree over the parts, so several workers can work on its branches; rounding errors grow with
    its depth only. At most one partial result for each level of the tree is kept.
    """
    levels: list[Any] = []
    for part in parts:
        carry = part
        for depth, waiting in enumerate(levels):
            if waiting is _NOTHING:
                levels[depth] = carry
                break
            carry, levels[depth] = combine(waiting, carry), _NOTHING
        else:
            levels.append(carry)
    waiting_parts = [level for level in levels if level is not _NOTHING]
    total = waiting_parts[0]
    for earlier in waiting_parts[1:]:
        total = combine(earlier, total)
    return total


_NOTHING = object()


def pairwise_sum(parts: Iterable[Statistic]) -> Statistic:
    """The parts added up member by member, in pairwise order."""
    return cast(Statistic, pairwise(parts, _add))


class BlockReader(Generic[B]):
    """Something that is read block by block: a subclass says what its blocks are, and how they are seen.

    A statistic is a function of a block and of what columns hold for its rows. It must not hold on to anything large,
    as it may be sent to where the rows are.
    """

    store: Store
    n_samples: int

    @property
    def view(self) -> Callable[[Block], B]:
        """How a stored block is seen."""
        raise NotImplementedError

    @property
    def step(self) -> int:
        """Rows in a block."""
        raise NotImplementedError

    def blocks(self) -> Iterator[tuple[slice, B]]:
        """Consecutive rows: which ones, and the block."""
        view = self.view
        for rows in row_slices(self.n_samples, self.step):
            yield rows, view(self.store.block(rows))

    def reduce(self, statistic: Callable[..., Statistic], *columns: Any) -> Statistic:
        """Sums of a statistic over blocks, in a fixed order."""
        if isinstance(self.store, Elsewhere):
            return self.store.reduce(self.view, self.step, statistic, columns)
        return pairwise_sum(statistic(block, *(column[rows] for column in columns)) for rows, block in self.blocks())

    def collect(self, function: Callable[..., tuple[Array, ...]], *columns: Any, outputs: int = 1) -> tuple[Any, ...]:
        """Values for every row, in the order of the rows: as many columns as there are `outputs`."""
        if isinstance(self.store, Elsewhere):
            return self.store.collect(self.view, self.step, function, columns, outputs)
        values: tuple[Array, ...] = ()
        for rows, block in self.blocks():
            parts = function(block, *(column[rows] for column in columns))
            if rows == slice(0, self.n_samples):
                return parts
            values = values or tuple(np.empty((self.n_samples, *part.shape[1:]), part.dtype) for part in parts)
            for value, part in zip(values, parts, strict=True):
                value[rows] = part
        return values

    def lazily(self, function: Callable[..., tuple[Array]], *columns: Any) -> Any:
        """The same column as `collect` would give; of rows somewhere else it is computed only where it is used."""
        if isinstance(self.store, Elsewhere):
            return self.store.lazily(self.view, self.step, function, columns)
        return self.collect(function, *columns)[0]


class Rows(BlockReader[Block]):
    """A store read `step` rows at a time."""

    def __init__(self, store: Store, step: int) -> None:
        self.store, self._step, self.n_samples = store, step, store.shape[0]

    @property
    def view(self) -> Callable[[Block], Block]:
        return as_stored

    @property
    def step(self) -> int:
        return self._step


def as_stored(block: Block) -> Block:
    """The view of blocks that changes nothing."""
    return block


def _add(left: Statistic, right: Statistic) -> Statistic:
    """The sum, in the place of the left summand where that is an array."""
    return tuple(np.add(a, b, out=a) if isinstance(a, np.ndarray) else a + b for a, b in zip(left, right, strict=True))
