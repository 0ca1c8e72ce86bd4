"""Rows and labels in parts, as people have them: Dask collections, Parquet files, or blocks from a source of their own.

Whatever they are, they become a `PartedStore` and columns. What has to be known of all parts before anything else, such
as how many rows each of them has, is asked in one pass.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array

from robustlda.data.chunked import Blocks, LocalParts, SameBlocks
from robustlda.data.columns import Column
from robustlda.data.given import as_given
from robustlda.data.journal import Journal
from robustlda.data.parquet import Fragment, ParquetTable
from robustlda.data.parted import PartedStore
from robustlda.data.store import as_rows, is_sparse
from robustlda.linalg import Array

MAX_LABELS = 10_000
"""Distinct labels beyond which a column does not hold classes."""

ONE_ANSWER = (
    "Several answers about every row need rows in memory. Give one label for each, such as the one most people gave, "
    "or fit to some of the rows in memory, and predict the others."
)


@dataclass(frozen=True)
class PartedInput:
    """Rows in parts; labels and weights as they were given, if they were; names of features, if they have any.

    `verified` holds what a person has found, as `fit` takes it.
    """

    store: PartedStore
    labels: Column | None
    weight: Column | None
    names: list[str] | None
    ids: Column | None = None
    verified: Column | None = None

    @property
    def journal(self) -> Journal:
        return self.store.rows.parts.journal


def is_parted(X: Any) -> bool:
    """Whether X is in parts, which are read or computed when they are needed."""
    return isinstance(X, Blocks | PartedStore | ParquetTable | PartedInput) or is_dask(X)


def is_dask(X: Any) -> bool:
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


def read(
    X: Any, y: Any = None, weight: Any = None, journal: Journal | None = None, *, verified: Any = None, ids: Any = None
) -> PartedInput:
    """The parts of X, and what belongs to their rows; `verified` and `ids` have a value for each of them."""
    if is_dask(X):
        return _from_dask(X, journal, {"y": y, "sample_weight": weight, "verified": verified, "ids": ids})
    if isinstance(X, PartedInput):
        found = X
    elif isinstance(X, ParquetTable):
        found = _from_parquet(X, journal)
    elif isinstance(X, PartedStore):
        raise TypeError("Rows in parts that were read already have no labels; give what they were read from.")
    else:
        found = _from_blocks(X, journal)
    if y is not None:
        _check_alone(found.labels, "y", "labels")
        found = replace(found, labels=_divided(y, found, "y", "an array", "one label each"))
    if weight is not None:
        _check_alone(found.weight, "sample_weight", "weights")
        column = _divided(weight, found, "sample_weight", "an array", "one number each")
        found = replace(found, weight=column.apply(_numbers))
    if ids is not None:
        _check_alone(found.ids, "ids", "ids")
        found = replace(found, ids=_divided(ids, found, "ids", "an array", "one for each"))
    if verified is None:
        return found
    if found.verified is not None:
        raise ValueError("The table names a column with verified labels, and verified is given as well; give one.")
    forms = "a mask, a dict from row to label, or one label each with None where nobody has looked"
    column = _divided(verified, found, "verified", "an array or a dict from row to right label", forms)
    return replace(found, verified=column)


def _check_alone(there: Column | None, name: str, what: str) -> None:
    if there is not None:
        raise ValueError(f"X comes with its own {what}, and {name} is given as well; pass {name}=None.")


def _divided(values: Any, found: PartedInput, name: str, beside: str, wanted: str) -> Column:
    """One value for every row, in the parts of the rows."""
    if is_dask(values):
        raise TypeError(f"{name} is a Dask collection, but X is not: give {beside}.")
    values, n = as_given(values), found.store.shape[0]
    if values.shape != (n,):
        raise ValueError(f"{name} has shape {values.shape}, but there are {n} samples: give {wanted}.")
    parts = found.store.rows.parts
    return Column.kept(parts, np.split(values, np.cumsum(parts.sizes)[:-1]))


def rows_to_predict(X: Any) -> PartedStore:
    """The parts of X, of which nothing is asked before they are needed."""
    if isinstance(X, PartedStore):
        return X
    if not is_dask(X):
        found = read(X)
        store, names = found.store, found.names
        rows = store.rows.apply(partial(finite_rows, store.dtype))
        return PartedStore(rows, store.shape[1], store.dtype, sparse=store.sparse, names=names)
    from robustlda.data import dask_parts

    tasks, sizes, d, dtype, names = dask_parts.rows_and_sizes(X)
    parts = dask_parts.DaskParts([cast(int, size) if np.isnan(size) else int(size) for size in sizes])
    dtype = np.dtype(np.float32 if dtype == np.float32 else np.float64)
    rows = Column.kept(parts, tasks).apply(partial(finite_rows, dtype))
    return PartedStore(rows, d, dtype, sparse=False, names=names)


def finite_rows(dtype: Any, part: Any) -> Any:
    """Rows of a part, all of whose numbers are finite."""
    rows = as_rows(part, dtype)
    values = getattr(rows, "data", rows) if not isinstance(rows, np.ndarray) else rows
    if not np.isfinite(values).all():
        raise ValueError("X contains NaN or infinity; impute or drop these rows.")
    return rows


def _from_dask(X: Any, journal: Journal | None, beside: dict[str, Any]) -> PartedInput:
    """The parts of a Dask collection, with what is beside its rows by the name of the parameter."""
    from robustlda.data import dask_parts

    tasks, sizes, d, _, names = dask_parts.rows_and_sizes(X)
    kept: list[Any] = [tasks]
    given = [(name, values) for name, values in beside.items() if values is not None]
    parts = dask_parts.DaskParts([0] * len(tasks), journal)
    if np.isnan(sizes).any() and any(not hasattr(values, "to_delayed") for _, values in given):
        sizes = [part.rows for part in parts.fold(_counted, _joined, Column.kept(parts, tasks))]
    for name, values in given:
        split = dask_parts.values_of(values, sizes, name)
        if len(split) != len(tasks):
            raise ValueError(
                f"X has {len(tasks)} partitions and {name} {len(split)}, of which it is not known how many rows they "
                f"have: call X = {_counting('X', X)} and {name} = {_counting(name, values)} first."
            )
        kept.append(split)
    counted = parts.fold(_counted, _joined, *(Column.kept(parts, results) for results in kept))
    for item, (name, _) in enumerate(given):
        _check_beside(counted, item, name)
    some = [k for k, part in enumerate(counted) if part.rows]
    whole = dask_parts.DaskParts([counted[k].rows for k in some], parts.journal)
    columns = [Column.kept(whole, [results[k] for k in some]) for results in kept]
    by_name = dict(zip([name for name, _ in given], columns[1:], strict=True))
    found = _input(columns[0], [counted[k] for k in some], d, by_name.get("y"), by_name.get("sample_weight"), names)
    verified, ids = (by_name[name].apply(_one_column) if name in by_name else None for name in ("verified", "ids"))
    return replace(found, verified=verified, ids=ids)


def _counting(name: str, values: Any) -> str:
    """How Dask is asked to count the rows of a collection."""
    return f"{name}.compute_chunk_sizes()" if hasattr(values, "chunks") else f"{name}.to_dask_array(lengths=True)"


def _from_parquet(table: ParquetTable, journal: Journal | None) -> PartedInput:
    parts = parts_of(table.sizes, journal)
    # What reads a part is a step of every task that needs it: rows are nowhere kept between tasks.
    fragments = Column.kept(parts, table.fragments)
    store = PartedStore(fragments.apply(table.rows), len(table.features), table.dtype, sparse=False)
    labels = fragments.apply(partial(_column_of, table.label))
    ids = None if table.is_whole else fragments.apply(Fragment.numbers)
    if table.id is not None:
        ids = fragments.apply(Fragment.column, table.id, table.id_type)
    verified = None if table.verified is None else fragments.apply(partial(_column_of, table.verified))
    return PartedInput(store, labels, None, table.features, ids, verified)


def _column_of(name: str, fragment: Fragment) -> Array:
    return fragment.column(name)


def parts_of(sizes: list[int], journal: Journal | None = None) -> Any:
    """Parts of so many rows each, which are read by a cluster if there is one, and by this process if not."""
    if not _has_cluster():
        return LocalParts(sizes, journal)
    from robustlda.data.dask_parts import DaskParts, together

    return DaskParts(sizes, journal, together=together(len(sizes)))


def _has_cluster() -> bool:
    """Whether there is a cluster that work goes to."""
    if "distributed" not in sys.modules:
        return False
    distributed: Any = sys.modules["distributed"]

    try:
        distributed.default_client()
    except ValueError:
        return False
    return True


def _from_blocks(blocks: Blocks, journal: Journal | None) -> PartedInput:
    first, unknown = LocalParts([], journal), SameBlocks(blocks)
    counted = first.fold(_counted, _joined, *(Column.kept(first, unknown, item) for item in range(3)))
    labeled, weighted = _check_beside(counted, 0, "y"), _check_beside(counted, 1, "sample_weight")
    parts = LocalParts([part.rows for part in counted], first.journal)
    again = SameBlocks(blocks, parts.sizes)
    rows, labels, weight = (Column.kept(parts, again, item) for item in range(3))
    names = next((list(part.names) for part in counted if part.names is not None), None)
    return _input(rows, counted, counted[0].features, labels if labeled else None, weight if weighted else None, names)


def _input(
    rows: Column, counted: "Sequence[_Counted]", d: int, labels: Any, weight: Any, names: list[str] | None
) -> PartedInput:
    wrong = [part for part in counted if part.features != d]
    if wrong:
        raise ValueError(f"Some parts of X have {d} features, others {wrong[0].features}; all need the same.")
    for k, part in enumerate(counted):
        here = () if names is None or part.names is None else zip(part.names, names, strict=True)
        other = next(((name, expected) for name, expected in here if name != expected), None)
        if other is not None:
            raise ValueError(
                f"Part {k} of X has the column {other[0]!r} where others have {other[1]!r}: give all parts the same "
                "columns in the same order."
            )
    kinds = {part.kind for part in counted}
    sparse = bool(kinds & {"sparse float32", "sparse float64"})
    dtype = np.dtype(np.float32 if kinds <= {"float32", "sparse float32"} else np.float64)
    store = PartedStore(rows.apply(partial(_rows_of_type, dtype, sparse)), d, dtype, sparse=sparse)
    labels = None if labels is None else labels.apply(_one_column)
    weight = None if weight is None else weight.apply(_numbers)
    return PartedInput(store, labels, weight, names)


def _rows_of_type(dtype: Any, sparse: bool, part: Any) -> Any:
    rows = as_rows(part, dtype)
    return csr_array(rows) if sparse else rows  # some parts may be arrays where others are not


def _one_column(values: Any) -> Array:
    values = as_given(values)
    if values.ndim == 2 and values.shape[1] > 1:
        raise ValueError(ONE_ANSWER)
    return values[:, 0] if values.ndim == 2 else values


def _numbers(values: Any) -> Array:
    try:
        return np.asarray(values, float).ravel()
    except (TypeError, ValueError):
        kind = np.asarray(values).dtype
        raise ValueError(
            f"sample_weight holds values that are no numbers (type {kind}); give one number each."
        ) from None


@dataclass(frozen=True)
class _Counted:
    """What is known of a part: its rows and features, their type and names, and how many values are beside them."""

    rows: int
    features: int
    kind: str
    names: tuple[Any, ...] | None
    beside: tuple[int | None, ...]


def _counted(rows: Any, *others: Any) -> list[_Counted]:
    found = as_rows(rows if is_sparse(rows) else rows[:1], None)
    kind = ("" if isinstance(found, np.ndarray) else "sparse ") + str(found.dtype)
    names = getattr(rows, "column_names", getattr(rows, "columns", None))  # of Arrow tables and of other ones
    beside = tuple(None if values is None else len(values) for values in others)
    return [_Counted(rows.shape[0], found.shape[1], kind, None if names is None else tuple(names), beside)]


def _joined(left: list[_Counted], right: list[_Counted]) -> list[_Counted]:
    """One list; names that are the same are there once."""
    names = left[0].names
    return left + [replace(part, names=names) if part.names == names else part for part in right]


def _check_beside(counted: Sequence[_Counted], item: int, name: str) -> bool:
    """Whether there are labels, or weights; then every part needs one for each of its rows."""
    lengths = [part.beside[item] for part in counted]
    if all(values is None for values in lengths):
        return False
    for k, (part, values) in enumerate(zip(counted, lengths, strict=True)):
        if part.rows != values:
            raise ValueError(
                f"Part {k} of X has {part.rows} rows, but {name} has {values or 0} values there: give one each."
            )
    return True
