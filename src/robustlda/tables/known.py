"""Tables with columns that are known: whether they are there, hold what they held, and have words that are new.

Where a few cells decide what a column is, it may be of another type than the one that was learned from: sizes such as
7.0, 7.5 and "One size" were words, and are numbers in a table in which all have a number. So categories go by what they
say, and not by how a type spells it. Numbers in text are read with the decimal sign that they show themselves.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from robustlda.linalg import Array
from robustlda.tables import columns as kinds
from robustlda.tables import dates
from robustlda.tables.columns import Reading
from robustlda.tables.frames import as_arrow
from robustlda.tables.names import listed


def check_there(table: pa.Table, names: Iterable[str]) -> None:
    """Refuse a table that lacks a column."""
    there = set(table.column_names)
    missing = [name for name in names if name not in there]
    if missing:
        raise ValueError(f"The table lacks {'the column' if len(missing) == 1 else 'columns'} {listed(missing)}.")


def check_columns(table: pa.Table, readings: Mapping[str, Reading]) -> None:
    """Refuse a table that lacks a column, or has words where numbers were learned from."""
    check_there(table, readings)
    for name, reading in readings.items():
        given = kinds.plain(table[name])
        text = _is_text(given)
        if not _fits(given, reading):
            held = "numbers" if reading.kind == "number" else "words"
            here = f"here it is of type {given.type}"
            raise ValueError(f"The column {name!r} held {held} when the model was made; {here}.")
        if reading.kind == "date" and not kinds.holds_dates(given, reading):
            here = "text that is none, or could be several: write 2024-12-31" if text else f"of type {given.type}"
            raise ValueError(f"The column {name!r} held dates when the model was made; here it is {here}.")
        if reading.kind != "number" or not text or given.null_count == len(given):
            continue
        if _share_of_numbers(given, reading) < kinds.MOSTLY:
            raise ValueError(f"The column {name!r} held numbers when the model was made; here it holds text.")


def _share_of_numbers(column: pa.ChunkedArray, reading: Reading) -> float:
    """How many of the texts that do not stand for missing values are numbers."""
    counts = column.drop_null().value_counts()
    texts, times = counts.field("values"), counts.field("counts").to_numpy()
    solid = np.array([not kinds.spells_missing(text) for text in texts.to_pylist()], bool)
    read = np.isfinite(kinds.numbers(pa.chunked_array([texts]), reading))
    return float((read * times)[solid].sum() / times[solid].sum()) if solid.any() else 1.0


def _fits(column: pa.ChunkedArray, reading: Reading) -> bool:
    """Whether numbers, or words, can be made of values of this type; dates are looked at one by one."""
    if reading.kind == "number":
        return kinds.could_be_numbers(column)
    return reading.kind == "date" or not pa.types.is_nested(column.type)


def words(column: pa.ChunkedArray, known: Iterable[str]) -> Array:
    """The words of a category; what is no text here goes by the known word that says the same."""
    found, column, known = kinds.words(column), kinds.plain(column), list(map(str, known))
    new = sorted({*found} - {*known, kinds.MISSING})
    if _is_text(column) or not new:
        return found
    said = {meaning: word for word, meaning in zip(known, _meanings(known, column.type), strict=True)}
    known_as = {word: said.get(meaning, word) for word, meaning in zip(new, _meanings(new, column.type), strict=True)}
    return np.array([*(known_as.get(word, word) for word in found), None], object)[:-1]


def _meanings(texts: list[str], kind: pa.DataType) -> list[Hashable]:
    """What texts say as values of a type, or, where they say nothing, the texts."""
    column = pa.chunked_array([pa.array(texts, pa.string())])
    if pa.types.is_boolean(kind):
        return [text.casefold() if text.casefold() in ("true", "false") else text for text in texts]
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        dated = [text for text in texts if dates.dates(pa.array([text]), "", [], day_first=True) is not None]
        moments = kinds.moments(pa.chunked_array([pa.array(dated, pa.string())]))
        at = {} if moments is None else dict(zip(dated, moments.to_pylist(), strict=True))
        return [at.get(text, text) for text in texts]
    values = kinds.numbers(column, Reading("number")).tolist()
    return [text if value != value else value for text, value in zip(texts, values, strict=True)]


def unseen_words(
    table: pa.Table, known: Mapping[str, Iterable[str]], readings: Mapping[str, Reading]
) -> dict[str, list[str]]:
    """By column, words of categories that are not among the known ones, and what is no number where numbers are."""
    found = {name: {*words(table[name], those)} - {*those, kinds.MISSING} for name, those in known.items()}
    found |= {name: _no_numbers(table[name], reading) for name, reading in readings.items() if reading.kind == "number"}
    return {name: sorted(map(str, new)) for name, new in found.items() if new}


def told(X: Any, readings: Mapping[str, Reading]) -> list[str]:
    """What is to be said of how a table is read: of dates that only the one before tells how to, and decimal signs."""
    table = as_arrow(X)
    return [*_settled_dates(table, readings), *_other_signs(table, readings)]


def _other_signs(table: pa.Table, readings: Mapping[str, Reading]) -> list[str]:
    """That numbers in text have another decimal sign than those that were learned from."""
    said = []
    for name, reading in readings.items():
        if reading.kind == "number" and _is_text(table[name]):
            sign = kinds.decimal_here(table[name], reading)
            if sign != (reading.decimal or "."):
                mark = "comma" if sign == "," else "point"
                other = ", unlike those that the model was made of" if reading.decimal else ""
                said.append(f"Numbers in {name!r} were read with a decimal {mark}{other}.")
    return said


def _settled_dates(table: pa.Table, readings: Mapping[str, Reading]) -> list[str]:
    """That dates are read in the order of day and month that the table before had."""
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
    return {word for word in kinds.words(column)[unread] if not (word == kinds.MISSING or kinds.spells_missing(word))}
