"""Tables of any kind as Arrow tables."""

from collections import Counter
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa


def as_arrow(X: Any) -> pa.Table:
    """A table of any kind as an Arrow table with names that are texts."""
    if isinstance(X, pa.Table):
        table = X
    elif hasattr(X, "columns") and type(X).__module__.split(".")[0] == "pandas":
        table = _from_pandas(X)
    else:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        table = frame.to_arrow() if isinstance(frame, nw.DataFrame) else _from_array(X)
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()  # columns of their own, called by the path to them
    twice = [name for name, times in Counter(table.column_names).items() if times > 1]
    if twice:
        raise ValueError(f"Two columns have the name {min(twice)!r}; give every column a name of its own.")
    return table


def _from_pandas(frame: Any) -> pa.Table:
    arrays = [_array_of(frame.iloc[:, j]) for j in range(frame.shape[1])]
    return pa.Table.from_arrays(arrays, names=[str(name) for name in frame.columns])


def _array_of(series: Any) -> pa.Array:
    try:
        return pa.Array.from_pandas(series)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):  # values of several types
        return pa.array([None if missing else str(v) for v, missing in zip(series, series.isna(), strict=True)])


def _from_array(X: Any) -> pa.Table:
    values = np.asarray(X)
    if values.ndim != 2:
        raise ValueError(f"A table has rows and columns; this is an array of {values.ndim} dimensions.")
    if values.dtype == object:
        listed = [[None if v is None or v != v else v for v in column] for column in values.T]
        return pa.table({f"x{j}": _mixed(column) for j, column in enumerate(listed)})
    return pa.table({f"x{j}": values[:, j] for j in range(values.shape[1])})


def _mixed(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if v is None else str(v) for v in values])
