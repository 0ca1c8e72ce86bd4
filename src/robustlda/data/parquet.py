"""Rows in Parquet files, a few row groups at a time.

Row groups are what a file can be read in. Consecutive ones of a file make a part, as many as fit into some megabytes.
Which rows a part has is known from the footers of the files, before anything is read.
"""

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from robustlda.linalg import Array

_ENDINGS = (".parquet", ".pq")
_PART = 1 << 22  # numbers in a part, if its row groups are not larger: 16 MB in single precision


@dataclass(frozen=True)
class Fragment:
    """Some row groups of a file, of which `first` is the number of the first row in the table.

    Rows that are `left_out`, by their places among these, are in none of the answers, and not counted in `size`.
    """

    path: str
    groups: tuple[int, ...]
    size: int
    first: int = 0
    left_out: tuple[int, ...] = ()

    def numbers(self) -> Array:
        """What the rows are called where no column says so."""
        rows = np.arange(self.first, self.first + self.size + len(self.left_out))
        return np.delete(rows, list(self.left_out))

    def without(self, numbers: Sequence[int]) -> "Fragment":
        """The same rows but those of these numbers in the table."""
        places = np.flatnonzero(np.isin(self.numbers(), numbers))
        return replace(self, size=self.size - len(places), left_out=tuple(places.tolist()))

    def column(self, name: str, kind: pa.DataType | None = None) -> Array:
        """The values of a column, of a type that those of other files have, too."""
        column = _decoded(self.table([name]).column(0))
        return np.asarray((column if kind is None else column.cast(kind)).to_numpy())

    def table(self, names: Sequence[str]) -> pa.Table:
        footer = _footer(*states([self.path])[0])
        with _blamed_on(self.path), pq.ParquetFile(self.path, memory_map=True, metadata=footer) as file:
            table = _flattened(file.read_row_groups(list(self.groups), list(names), use_threads=False))
        return table.take(np.delete(np.arange(table.num_rows), list(self.left_out))) if self.left_out else table

    def rows(self, names: Sequence[str], dtype: Any) -> Array:
        """The columns side by side; what is missing is NaN."""
        table = self.table(names)
        rows = np.empty((table.num_rows, len(names)), dtype)
        for j, name in enumerate(names):
            rows[:, j] = _decoded(table.column(name)).to_numpy()
        return rows


class ParquetTable:
    """A table in one or many Parquet files, for data that do not fit into memory.

    Parameters
    ----------
    files : str, Path or list of these
        A file, a folder, or a pattern such as ``"part-*.parquet"``. All files have the same columns.
    label : str
        The column that holds the labels.
    features : list of str, default=None
        The columns to use; all others that hold numbers if None.
    id : str, default=None
        The column that says what rows are called in the results of an audit; their numbers if None.
    verified : str, default=None
        The column that holds what a person has found: right labels, missing where nobody has looked, or truth values
        that say whether the label is right. It is no feature.
    preparation : transformer, default=None
        What makes features of the columns, already fitted, such as a `robustlda.tables.TablePreparation`. It gets an
        Arrow table of some rows at a time. If None, columns that hold numbers are taken as they are.

    Attributes
    ----------
    features : list of str
        The columns that are used.
    left_out : list of str
        Columns that are not, as they hold no numbers.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> import pyarrow.parquet as pq
    >>> from sklearn.datasets import load_iris
    >>> from robustlda import RobustLDA
    >>> from robustlda.data import ParquetTable
    >>> X, y = load_iris(return_X_y=True)
    >>> columns = {"length": X[:, 2], "width": X[:, 3], "kind": y, "note": ["seen"] * 150}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table(columns), Path(folder) / "part-0.parquet")
    ...     table = ParquetTable(f"{folder}/part-*.parquet", "kind")
    ...     model = RobustLDA().fit(table, None)
    >>> table.features, table.left_out, model.components_.shape
    (['length', 'width'], ['note'], (2, 2))
    """

    def __init__(
        self,
        files: Any,
        label: str,
        *,
        features: Sequence[str] | None = None,
        id: str | None = None,
        verified: str | None = None,
        preparation: Any = None,
    ) -> None:
        self.files, self.label, self.id, self.verified = parquet_files(files), label, id, verified
        self.preparation = preparation
        schema = schema_of(self.files[0])
        asked = [name for name in (label, id, verified, *(features or [])) if name is not None]
        missing = [name for name in asked if name not in schema.names]
        if missing:
            raise ValueError(
                f"{Path(self.files[0]).name} has no column {missing[0]!r}; it has {_listed(schema.names)}."
            )
        # Names of rows stand in one column of the results.
        self.id_type = None if id is None else common_types(self.files, [id])[id]
        self._columns, self.features, self.dtype, self.left_out = self._read_as(schema, features)
        found = [f for path in self.files for f in self._fragments(path)]
        if not found:
            raise ValueError(f"There are no rows in {len(self.files)} Parquet files.")
        firsts = np.cumsum([0, *(fragment.size for fragment in found)])
        self.fragments = [replace(f, first=int(first)) for f, first in zip(found, firsts[:-1], strict=True)]
        self.is_whole = True

    def _read_as(
        self, schema: pa.Schema, features: Sequence[str] | None
    ) -> tuple[list[str], list[str], np.dtype[Any], list[str]]:
        """The columns that are read, the features that they become, their type, and columns without numbers."""
        if self.preparation is not None:
            names = [str(name) for name in self.preparation.get_feature_names_out()]
            return list(self.preparation.columns_in_use()), names, np.dtype(float), []
        label = self.label
        others = [name for name in schema.names if name not in (label, self.id, self.verified)]
        numeric = [name for name in others if _is_number(schema.field(name).type)]
        used = list(numeric if features is None else features)
        words = [name for name in used if name not in numeric]
        if words:
            raise ValueError(f"The column {words[0]!r} holds no numbers; encode it first, or leave it out.")
        if not used:
            raise ValueError(f"{Path(self.files[0]).name} has no column of numbers besides {label!r}.")
        left_out = [name for name in others if name not in used] if features is None else []
        single = all(schema.field(name).type == pa.float32() for name in used)
        return used, used, np.dtype(np.float32 if single else np.float64), left_out

    def _fragments(self, path: str) -> list[Fragment]:
        here, name, first = schema_of(path), Path(path).name, Path(self.files[0]).name
        needed = [each for each in (self.label, self.id, self.verified, *self._columns) if each is not None]
        different = [each for each in needed if each not in here.names]
        if different:
            raise ValueError(f"{name} has no column {different[0]!r}, which {first} has.")
        for each in self._columns if self.preparation is None else ():
            kind = here.field(each).type
            if not (_is_number(kind) or pa.types.is_null(kind)):
                raise ValueError(
                    f"The column {each!r} holds numbers in {first}, but {kind} in {name}; give it one type."
                )
        return fragments(path, len(self.features))

    def without(self, numbers: Sequence[int]) -> "ParquetTable":
        """The same table without the rows of these numbers, of which there are few; others keep theirs."""
        table = copy(self)
        table.fragments = [each for each in (f.without(numbers) for f in self.fragments) if each.size]
        table.is_whole = False
        return table

    def identity(self) -> tuple[Any, ...]:
        """What makes this table this one: its files as they are now, and what is read of them."""
        return states(self.files), self.sizes, self.label, self.features, self._columns, self.id, self.verified

    @property
    def sizes(self) -> list[int]:
        return [fragment.size for fragment in self.fragments]

    def rows(self, fragment: Fragment) -> Array:
        """The features of some rows."""
        if self.preparation is None:
            return fragment.rows(self._columns, self.dtype)
        return np.asarray(self.preparation.transform(fragment.table(self._columns)))


def schema_of(path: str) -> pa.Schema:
    """The columns of a file, nested fields by the path to them."""
    with _blamed_on(path):
        return _flattened(pq.read_schema(path).empty_table()).schema


def common_types(files: Sequence[str], names: Sequence[str] | None = None) -> dict[str, pa.DataType]:
    """The types that columns have in all files, of all columns if no names are given; a ValueError if one has none."""
    known: dict[str, tuple[pa.Field, str]] = {}
    for path in files:
        for field in (field for field in schema_of(path) if names is None or field.name in names):
            before, where = known.get(field.name, (field, path))
            try:
                (both,) = pa.unify_schemas([pa.schema([before]), pa.schema([field])], promote_options="permissive")
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                raise ValueError(
                    f"The column {field.name!r} is of type {before.type} in {Path(where).name}, but {field.type} in "
                    f"{Path(path).name}; give it one type."
                ) from None
            known[field.name] = both, where
    return {name: field.type for name, (field, _) in known.items()}


@contextmanager
def _blamed_on(path: str) -> Iterator[None]:
    """Errors of Arrow, which do not say in which file something is damaged."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if getattr(error, "errno", None) is not None:  # of the system, which knows its files
            raise
        raise ValueError(
            f"{path} is not a complete Parquet file (damaged, truncated or encrypted); copy or write it anew."
        ) from error


def _flattened(table: pa.Table) -> pa.Table:
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values in place of their places in a dictionary: Arrow makes of a missing one there the last of them."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


@lru_cache(maxsize=64)
def _footer(path: str, size: int, changed: int) -> pq.FileMetaData:
    """What a file says about itself, which takes as long to read as some of its rows."""
    with _blamed_on(path):
        return pq.read_metadata(path)


def fragments(path: str, width: int) -> list[Fragment]:
    """The parts of a file of which every row becomes so many numbers."""
    found: list[Fragment] = []
    groups: list[int] = []
    size, metadata = 0, _footer(*states([path])[0])
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group).num_rows
        if groups and (size + rows) * width > _PART:
            found.append(Fragment(path, tuple(groups), size))
            groups, size = [], 0
        groups.append(group)
        size += rows
    return [f for f in [*found, Fragment(path, tuple(groups), size)] if f.size]


def states(files: Sequence[str | Path]) -> list[tuple[str, int, int]]:
    """Files as they are now, by which it is known later whether they have changed."""
    return [(str(path), os.stat(path).st_size, os.stat(path).st_mtime_ns) for path in files]


def parquet_files(files: Any) -> list[str]:
    """Paths of the files, in the order of their names; from the root, as workers may be in another folder."""
    if isinstance(files, list | tuple):
        return [path for each in files for path in parquet_files(each)]
    if Path(files).is_dir():
        paths = sorted(str(path) for path in Path(files).rglob("*") if _is_part_of(path, Path(files)))
    else:
        paths = sorted(glob.glob(str(files)))
    if not paths:
        raise FileNotFoundError(f"There is no Parquet file at {files}.")
    return [os.path.abspath(path) for path in paths]


def _is_part_of(path: Path, folder: Path) -> bool:
    """Whether a file holds rows of a folder; what is hidden, or begins with _, does not, by convention."""
    shown = not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    return path.suffix.lower() in _ENDINGS and shown and path.is_file()


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)


def _listed(names: Sequence[str], most: int = 10) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
