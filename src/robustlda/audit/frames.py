"""Results as a DataFrame of the kind that was given."""

from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from robustlda.linalg import Array


def kind_of(X: Any) -> str | None:
    """The library that a DataFrame is from, by name, as a module could not be pickled; None for anything else."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return str(frame.implementation.value) if isinstance(frame, nw.DataFrame) else None


def index_of(X: Any) -> Array | None:
    """The index of a pandas DataFrame, if it has one of its own that tells rows apart; None for anything else."""
    if kind_of(X) != "pandas" or not X.index.is_unique or X.index.nlevels > 1:
        return None
    index = np.asarray(X.index)
    return None if np.array_equal(index, np.arange(len(index))) else index


def without_ids(X: Any, name: str) -> tuple[Any, Array]:
    """A DataFrame without the column that names its rows, and that column."""
    table = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(table, nw.DataFrame) or name not in table.columns:
        raise ValueError(f"ids={name!r} names no column of X; give the name of one, or an id for each sample.")
    return table.drop(name).to_native(), np.array([*table[name].to_list(), None], object)[:-1]


def needs_preparation(X: Any) -> bool:
    """Whether X is a DataFrame with columns that are no numbers."""
    table = nw.from_native(X, eager_only=True, pass_through=True)
    return isinstance(table, nw.DataFrame) and not all(
        kind.is_numeric() or kind == nw.Boolean for kind in table.schema.values()
    )


def are_columns(y: Any, X: Any) -> bool:
    """Whether y is a list of columns of the DataFrame X, and not one of as many labels as it has rows."""
    if not (isinstance(y, list) and y and all(isinstance(name, str) for name in y)):
        return False
    table = nw.from_native(X, eager_only=True, pass_through=True)
    return isinstance(table, nw.DataFrame) and len(y) != len(table) and set(y) <= set(table.columns)


def frame(columns: dict[str, Array], order: Array, kind: str | None) -> Any:
    """Columns with their rows in some order; without a kind, a pandas DataFrame if it is there, or an Arrow table."""
    data = {name: values[order].tolist() for name, values in columns.items()}
    backend: Any = kind
    if kind is None:
        backend = "pandas" if find_spec("pandas") else "pyarrow"
    return pa.table(data) if backend == "pyarrow" else nw.from_dict(data, backend=backend).to_native()
