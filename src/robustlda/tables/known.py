"""Tables with columns that are known: whether they are there, hold what they held, and have words that are new."""

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from robustlda.tables import columns as kinds
from robustlda.tables.columns import Reading


def check_columns(table: pa.Table, readings: Mapping[str, Reading]) -> None:
    """Refuse a table that lacks a column, or has words where numbers were learned from."""
    names = set(table.column_names)
    missing = [name for name in readings if name not in names]
    if missing:
        shown = ", ".join(repr(name) for name in missing[:5]) + (", …" if len(missing) > 5 else "")
        raise ValueError(f"The table lacks {'the column' if len(missing) == 1 else 'columns'} {shown}.")
    for name, reading in readings.items():
        given = kinds.plain(table[name])
        text = pa.types.is_string(given.type) or pa.types.is_large_string(given.type)
        if reading.kind == "date" and not kinds.holds_dates(given, reading):
            raise ValueError(f"The column {name!r} held dates when the model was made; here it is {given.type}.")
        if reading.kind != "number" or not text or given.null_count == len(given):
            continue
        if np.isnan(kinds.numbers(given, reading)).sum() > (1 - kinds.MOSTLY) * len(given) + given.null_count:
            raise ValueError(f"The column {name!r} held numbers when the model was made; here it holds text.")


def unseen_words(
    table: pa.Table, words: Mapping[str, Iterable[str]], readings: Mapping[str, Reading]
) -> dict[str, list[str]]:
    """By column, words of categories that are not among the known ones, and what is no number where numbers are."""
    found = {name: set(kinds.words(table[name])) - set(known) - {kinds.MISSING} for name, known in words.items()}
    found |= {name: _no_numbers(table[name], reading) for name, reading in readings.items() if reading.kind == "number"}
    return {name: sorted(map(str, new)) for name, new in found.items() if new}


def _no_numbers(column: pa.ChunkedArray, reading: Reading) -> set[str]:
    """Texts that cannot be read as numbers of the unit that is known."""
    column = kinds.plain(column)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return set()
    unread = np.isnan(kinds.numbers(column, reading))
    return set(kinds.words(column)[unread]) - {kinds.MISSING, ""}
