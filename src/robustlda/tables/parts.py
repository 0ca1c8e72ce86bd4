"""Tables in parts: what features are made of is found out from rows at equal distances, and done to every part."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from robustlda.tables.frames import flattened
from robustlda.tables.preparation import TablePreparation
from robustlda.tables.understanding import check_columns, check_roles, has_label

SAMPLE = 50_000
"""Rows from which the kinds of columns, their scales and their categories are learned."""

_GROUPS = 200  # row groups that are looked at, at most, at equal distances


def fitted_to_some(files: list[str], label: str, id: str | None, preparation: TablePreparation) -> TablePreparation:
    """The preparation fitted to some rows of Parquet files, the same ones whoever asks."""
    check_columns(flattened(pq.read_schema(files[0]).empty_table()), [label, *([id] if id else [])], rows=False)
    check_roles([label], id, preparation)
    sample = flattened(_some_rows(files))
    labeled = np.flatnonzero(has_label(sample[label]).to_numpy(zero_copy_only=False))
    if not len(labeled):
        raise ValueError(f"No row has a label in column {label!r}.")
    sample = sample.take(pa.array(labeled))
    y = np.array([str(value) for value in sample[label].to_pylist()])
    return preparation.fit(sample.drop_columns([label, *([id] if id else [])]), y)


def _some_rows(files: list[str]) -> pa.Table:
    """Rows at equal distances, of row groups at equal distances."""
    groups: list[tuple[Any, int]] = []
    for path in files:
        groups += [(path, group) for group in range(pq.read_metadata(path).num_row_groups)]
    if not groups:
        raise ValueError(f"There are no rows in {len(files)} Parquet files.")
    chosen = [groups[k] for k in np.unique(np.linspace(0, len(groups) - 1, min(len(groups), _GROUPS)).astype(int))]
    most = -(-SAMPLE // len(chosen))
    found = []
    for path, group in chosen:
        with pq.ParquetFile(path) as file:
            table = file.read_row_group(group)
        rows = np.unique(np.linspace(0, table.num_rows - 1, min(table.num_rows, most)).astype(int))
        found.append(table.take(pa.array(rows)))
    return pa.concat_tables(found, promote_options="permissive")
