"""Tables as CSV or Parquet files: as they are, or with texts that no spreadsheet takes for formulas."""

import json
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from robustlda.output import replacing
from robustlda.report.texts import spreadsheet_safe
from robustlda.tables.columns import plain


def write_table(table: pa.Table, path: Path) -> None:
    """A table as Parquet or CSV, by the ending of the file."""
    with replacing(path) as target:
        if path.suffix == ".parquet":
            pq.write_table(table, target)
        else:
            with target.open("wb") as file:
                csv.write_csv(_flat(table), file)


class TableWriter:
    """A CSV or Parquet file, by its ending, that is written piece by piece and is there when all of it is."""

    def __init__(self, path: Path) -> None:
        if path.suffix.lower() not in (".csv", ".parquet"):
            raise ValueError(f"{path}: results are written as .csv or .parquet.")
        self._path = path
        self._writer: Any = None
        self._replacing = replacing(path)

    def __enter__(self) -> Self:
        self._target = self._replacing.__enter__()
        return self

    def write(self, table: pa.Table) -> None:
        columnar = self._path.suffix.lower() == ".parquet"
        table = table if columnar else _safe(table)
        if self._writer is None:
            self._writer = (pq.ParquetWriter if columnar else csv.CSVWriter)(str(self._target), table.schema)
        self._writer.write_table(table)

    def __exit__(self, *error: Any) -> None:
        try:
            if self._writer is not None:
                self._writer.close()
        except BaseException as failure:  # the disk is full, for example
            self._replacing.__exit__(type(failure), failure, failure.__traceback__)
            raise
        self._replacing.__exit__(*error)


def _safe(table: pa.Table) -> pa.Table:
    """The table with texts that no spreadsheet interprets as formulas; what has no form in CSV is a text, too."""
    for k, name in enumerate(table.column_names):
        column = plain(table.column(k))
        if not any(is_kind(column.type) for is_kind in _NUMBERS):
            cells = [None if v is None else spreadsheet_safe(_text(v)) for v in column.to_pylist()]
            column = pa.array(cells, pa.string())
        table = table.set_column(k, name, column)
    return table


_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_temporal, pa.types.is_null)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _flat(table: pa.Table) -> pa.Table:
    """The table with columns that CSV has no form for as texts."""
    for k, name in enumerate(table.column_names):
        column = plain(table[name])
        if pa.types.is_nested(column.type):
            column = pa.array([None if v is None else json.dumps(v, default=str) for v in column.to_pylist()])
        table = table.set_column(k, name, column)
    return table
