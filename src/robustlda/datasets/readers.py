"""Tables from files: numeric features, labels, ids, and a note on everything that was left out or changed."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robustlda.linalg import Array

MAX_CATEGORIES = 50
MAX_CLASSES = 1000


@dataclass(frozen=True)
class LabeledTable:
    """Numeric features with their names, labels, ids, and notes on how they were obtained."""

    X: Array
    y: Array
    ids: Array
    names: list[str]
    notes: list[str] = field(default_factory=list)


def read(path: Path, label: str | None, id: str | None = None, features: list[str] | None = None) -> LabeledTable:
    """Features, labels and ids of a CSV, TSV, Parquet, Feather or .npz file (arrays `X` and `y`)."""
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    if path.suffix == ".npz":
        return _arrays(path)
    if label is None:
        raise ValueError("Specify the column that holds the labels: --label COLUMN.")
    table = _table(path)
    return from_arrow(table, label, id, features)


def _table(path: Path) -> pa.Table:
    from pyarrow import csv, feather, parquet

    try:
        if path.suffix in (".parquet", ".pq"):
            return parquet.read_table(path)
        if path.suffix in (".feather", ".arrow"):
            return feather.read_table(path)
        if path.suffix in (".csv", ".tsv", ".txt"):
            options = csv.ParseOptions(delimiter="," if path.suffix == ".csv" else "\t")
            return csv.read_csv(
                path, parse_options=options, convert_options=csv.ConvertOptions(strings_can_be_null=True)
            )
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    ending = path.suffix or "a file name without extension"
    raise ValueError(f"{path}: {ending} is not supported; use CSV, TSV, Parquet, Feather or npz.")


def _arrays(path: Path) -> LabeledTable:
    try:
        with np.load(path, allow_pickle=False) as archive:
            X, y = archive["X"], archive["y"]
    except KeyError:
        raise ValueError(f"{path} must contain the arrays X and y.") from None
    except Exception as error:  # a damaged archive may raise anything
        raise ValueError(f"{path} cannot be read as an archive of arrays ({type(error).__name__}).") from None
    if X.ndim != 2 or y.shape != (len(X),):
        raise ValueError(f"{path} holds X of shape {X.shape} and y of shape {y.shape}; they must be (n, d) and (n,).")
    X, notes = _imputed(X.astype(float), [f"x{j}" for j in range(X.shape[1])])
    return LabeledTable(X, y, np.arange(len(y)), [f"x{j}" for j in range(X.shape[1])], notes)


def from_arrow(table: pa.Table, label: str, id: str | None, features: list[str] | None) -> LabeledTable:
    """The same from an Arrow table."""
    _check_columns(table, [label, *([id] if id else []), *(features or [])])
    others = [name for name in table.column_names if name not in (label, id)]
    # Asked of all rows: a numbering has gaps once rows without a label are gone.
    numbering = [name for name in others if _numbers_rows(table[name])] if not features else []
    labeled = pc.is_valid(table[label])
    row_numbers = np.flatnonzero(labeled.to_numpy())
    notes = [f"{lost} rows have no label and were left out."] if (lost := table.num_rows - len(row_numbers)) else []
    table = table.filter(labeled)
    if table.num_rows == 0:
        raise ValueError(f"No row has a label in column {label!r}.")
    y = _labels(table[label], label)
    ids = np.array(table[id].to_pylist(), object) if id else row_numbers
    notes += [f"Column {c!r} only numbers the rows and was left out; use --features to keep it." for c in numbering]
    X, names, more = _features(table, features or [name for name in others if name not in numbering])
    return LabeledTable(X, y, ids, names, notes + more)


def _check_columns(table: pa.Table, needed: list[str]) -> None:
    for column in needed:
        if column not in table.column_names:
            shown = ", ".join(table.column_names[:12]) + (", …" if len(table.column_names) > 12 else "")
            raise ValueError(f"There is no column {column!r}; the columns are {shown}.")
    if table.num_rows == 0:
        raise ValueError("The table has no rows.")


def _features(table: pa.Table, chosen: list[str]) -> tuple[Array, list[str], list[str]]:
    """The features as numbers, their names, and notes on what was left out or imputed."""
    parts, names, notes = [], [], []
    for name in chosen:
        values, columns, note = _numbers(table[name], name)
        notes += [note] if note else []
        parts += values
        names += columns
    if not parts:
        raise ValueError("No column contains usable features: numbers or categories.")
    X, more = _imputed(np.column_stack(parts), names)
    return X, names, notes + more


def _labels(column: pa.ChunkedArray, name: str) -> Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    distinct = pc.count_distinct(column).as_py()
    if distinct > MAX_CLASSES or (pa.types.is_floating(column.type) and distinct > 100):
        raise ValueError(
            f"Column {name!r} holds {distinct} different values; class labels are needed, not measurements."
        )
    if distinct == len(column):
        raise ValueError(f"Column {name!r} holds a different value in every row; class labels are needed.")
    if distinct < 2:
        raise ValueError(f"Column {name!r} holds only one class, {column[0].as_py()!r}; at least two are needed.")
    values = column.to_pylist()
    return np.array(values) if not isinstance(values[0], str) else np.array([str(v) for v in values])


def _numbers_rows(column: pa.ChunkedArray) -> bool:
    """Whether a column holds consecutive integers, which would reveal the class in a sorted table."""
    if not pa.types.is_integer(column.type) or column.null_count or len(column) < 3:
        return False
    return bool((np.diff(column.to_numpy().astype(np.int64)) == 1).all())


def _numbers(column: pa.ChunkedArray, name: str) -> tuple[list[Array], list[str], str]:
    """Numeric columns for one column of a table, their names, and a note if it had to be left out."""
    kind = column.type
    if pa.types.is_null(kind) or column.null_count == len(column):
        return [], [], f"Column {name!r} is empty and was left out."
    if (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    ):
        return [column.cast(pa.float64()).to_numpy(zero_copy_only=False).astype(float)], [name], ""
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        categories = pc.unique(column.drop_null()).to_pylist()
        if len(categories) <= min(MAX_CATEGORIES, max(2, len(column) // 10)):
            values = np.array(column.to_pylist(), object)
            return [(values == c).astype(float) for c in categories], [f"{name}={c}" for c in categories], ""
        return [], [], f"Column {name!r} holds text ({len(categories)} different values) and was left out."
    return [], [], f"Column {name!r} is of type {kind} and was left out."


def _imputed(X: Array, names: list[str]) -> tuple[Array, list[str]]:
    """X with missing values replaced by the median of their column, and a note."""
    X = np.where(np.isfinite(X), X, np.nan)
    missing = np.isnan(X)
    if not missing.any():
        return X, []
    columns = np.flatnonzero(missing.any(axis=0))
    empty = missing.all(axis=0)
    if empty.all():
        raise ValueError("All features are missing in every row.")
    with np.errstate(all="ignore"):
        medians = np.where(empty, 0, np.nanmedian(np.where(empty, 0, X), axis=0))
    shown = ", ".join(names[j] for j in columns[:5]) + (", …" if len(columns) > 5 else "")
    return np.where(missing, medians, X), [f"{missing.sum()} missing values in {shown} were replaced by medians."]


def robust_scale(X: Array) -> Array:
    """Features centered at their median, in units of their median absolute deviation, which resists outliers."""
    middle = np.median(X, axis=0)
    spread = np.median(np.abs(X - middle), axis=0) * 1.4826
    spread = np.where(spread > 0, spread, np.abs(X - middle).mean(axis=0))
    return (X - middle) / np.where(spread > 0, spread, 1)


def square_images(table: LabeledTable) -> Array | None:
    """The features as gray levels in [0, 1] if they look like square images, side × side; otherwise None."""
    side = round(table.X.shape[1] ** 0.5)
    if side < 6 or side**2 != table.X.shape[1] or table.X.min() < 0 or table.X.max() == 0:
        return None
    return table.X / table.X.max()


def demonstration() -> tuple[LabeledTable, Any]:
    """Scikit-learn's digits with a fifth of the labels flipped, and a mask of the flipped ones."""
    from sklearn.datasets import load_digits

    from robustlda.datasets.contaminate import flip_labels

    X, y = load_digits(return_X_y=True)
    noisy, flipped = flip_labels(y, 0.2, np.random.default_rng(0))
    return LabeledTable(X, noisy, np.arange(len(y)), [f"pixel {j}" for j in range(64)]), flipped
