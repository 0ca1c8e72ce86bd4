"""Tables of any kind as Arrow tables."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robustlda.tables.columns import plain


def as_arrow(X: Any) -> pa.Table:
    """A table of any kind as an Arrow table with names that are texts."""
    if isinstance(X, pa.Table):
        table = X
    elif hasattr(X, "columns") and type(X).__module__.split(".")[0] == "pandas":
        table = _from_pandas(X)
    else:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        table = frame.to_arrow() if isinstance(frame, nw.DataFrame) else _from_array(X)
    table = flattened(table)
    twice = [name for name, times in Counter(table.column_names).items() if times > 1]
    if twice:
        raise ValueError(f"Two columns have the name {min(twice)!r}; give every column a name of its own.")
    for j, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        workable = _workable(column)
        table = table if workable is column else table.set_column(j, name, workable)
    return table


def flattened(table: pa.Table) -> pa.Table:
    """The table with nested fields as columns of their own, called by the path to them."""
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table


def _workable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column in a type that can be computed with, and without dates that Python has none for."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_float16(kind):
        return column.cast(kind).cast(pa.float32())
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if pa.types.is_binary_view(kind):
        return column.cast(pa.large_binary())
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _of_known_years(column)
    return column


def _of_known_years(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates; what is not in the years 1 to 9999 is missing."""
    dates = plain(column)
    kind = dates.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":  # of few centuries
        return column
    zone = getattr(kind, "tz", None)
    margin = timedelta(days=zone is not None)  # it may be another day there
    ends = pa.array([datetime(1, 1, 1) + margin, datetime(9999, 12, 31) - margin], pa.timestamp("s"))
    first, last = ends.cast(pa.timestamp("s", zone)).cast(kind)
    outside = pc.or_(pc.less(dates, first), pc.greater(dates, last))
    return pc.if_else(outside, pa.scalar(None, kind), dates) if pc.any(outside).as_py() else column


def _from_pandas(frame: Any) -> pa.Table:
    arrays = [_array_of(frame.iloc[:, j]) for j in range(frame.shape[1])]
    return pa.Table.from_arrays(arrays, names=[str(name) for name in frame.columns])


def _array_of(series: Any) -> pa.Array:
    try:
        found = pa.Array.from_pandas(series)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        found = None  # values of several types, or whole numbers of more than 64 bits
    kind = None if found is None else found.type.value_type if pa.types.is_dictionary(found.type) else found.type
    if found is not None and not isinstance(kind, pa.BaseExtensionType):
        return found
    return pa.array([None if missing else str(v) for v, missing in zip(series, series.isna(), strict=True)])


def _from_array(X: Any) -> pa.Table:
    values = np.asarray(X)
    if values.ndim != 2:
        raise ValueError(f"A table has rows and columns; this is an array of {values.ndim} dimensions.")
    if values.dtype == object:
        return pa.table({f"x{j}": _mixed(column) for j, column in enumerate(values.T.tolist())})
    return pa.table({f"x{j}": values[:, j] for j in range(values.shape[1])})


def _mixed(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values, from_pandas=True)  # to which NaN, NaT and NA are missing values
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if _is_missing(v) else str(v) for v in values])


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT or pandas.NA, which is neither equal to itself nor different."""
    same = value == value
    return value is None or not (isinstance(same, bool | np.bool_) and bool(same))
