"""Tables with columns that are known: whether they are there, hold what they held, and have words that are new."""

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from robustlda.tables import columns as kinds
from robustlda.tables import dates
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
        text = _is_text(given)
        if reading.kind == "date" and not kinds.holds_dates(given, reading):
            here = "text that is none, or could be several: write 2024-12-31" if text else f"of type {given.type}"
            raise ValueError(f"The column {name!r} held dates when the model was made; here it is {here}.")
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


def settled_dates(table: pa.Table, readings: Mapping[str, Reading]) -> list[str]:
    """What is to be said of dates that only the table which the model was made of tells how to read."""
    said = []
    for name, reading in readings.items():
        if reading.kind == "date" and reading.day_first is not None and _is_text(table[name]):
            words = [word.strip() for word in table[name].unique().drop_null().to_pylist()]
            if dates.could_begin_with_either(words):
                first = "day" if reading.day_first else "month"
                said.append(f"Dates in {name!r} were read with the {first} first, as those that the model was made of.")
    return said


def _is_text(column: pa.ChunkedArray) -> bool:
    kind = kinds.plain(column).type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _no_numbers(column: pa.ChunkedArray, reading: Reading) -> set[str]:
    """Texts that cannot be read as numbers of the unit that is known."""
    column = kinds.plain(column)
    if not _is_text(column):
        return set()
    unread = np.isnan(kinds.numbers(column, reading))
    return set(kinds.words(column)[unread]) - {kinds.MISSING, ""}
