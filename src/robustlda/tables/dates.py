"""Dates and times from text, if there is only one way to read all of them."""

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_DAY_MONTH_YEAR = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[ T]+(\d.*))?")
_YEAR_MONTH_DAY = re.compile(r"(\d{4})([./-])(\d{1,2})\2(\d{1,2})(?:[ T]+(\d.*))?")
_DAY_FIRST = b"robustlda.day_first"  # in the metadata of a column
_KINDS = (pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"))


def dates(column: Any, name: str, notes: list[str], day_first: bool | None = None) -> Any:
    """Dates or times (in UTC if they tell their zone), or None if these cells are none or could be several.

    `day_first` is known if others of the same column have told.
    """
    found = _cast(column)
    if found is not None:
        return found
    distinct = pc.unique(column.drop_null())
    values = _of_words(distinct.to_pylist(), name, notes, day_first)
    if values is None:
        return None
    return pc.take(values, pc.index_in(column, distinct, skip_nulls=True))


def begins_with_day(words: list[str]) -> bool | None:
    """Whether dates begin with the day, or with the month; None if they begin with the year, or do not tell."""
    parts = [match.groups() for match in map(_DAY_MONTH_YEAR.fullmatch, words) if match]
    if {part[1] for part in parts} == {"."} or any(int(part[0]) > 12 for part in parts):
        return True
    return False if any(int(part[2]) > 12 for part in parts) else None


def could_begin_with_either(words: list[str]) -> bool:
    """Whether these are dates of which none tells if the day or the month comes first."""
    return any(map(_DAY_MONTH_YEAR.fullmatch, words)) and begins_with_day(words) is None


def field_of(name: str, column: Any, texts: Any) -> pa.Field:
    """The field of a column that was read from texts; one of dates keeps the order of day and month."""
    temporal = pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)
    order = begins_with_day(pc.unique(texts.drop_null()).to_pylist()) if temporal else None
    return pa.field(name, column.type, metadata=None if order is None else {_DAY_FIRST: str(order)})


def order_of(field: pa.Field) -> bool | None:
    """Whether dates began with the day, or with the month, when a column was read; None if it is not known."""
    said = (field.metadata or {}).get(_DAY_FIRST)
    return None if said is None else said == b"True"


def _of_words(cells: list[str], name: str, notes: list[str], day_first: bool | None) -> Any:
    parts = [match.groups() for match in map(_YEAR_MONTH_DAY.fullmatch, cells) if match]
    if len(parts) == len(cells):
        return _cast(pa.array([_iso(year, month, day, time) for year, _, month, day, time in parts]))
    parts = [match.groups() for match in map(_DAY_MONTH_YEAR.fullmatch, cells) if match]
    if len(parts) < len(cells):
        return None
    told = begins_with_day(cells)
    day_first = day_first if told is None else told
    if day_first is None:
        notes.append(f"{name!r} kept as text: {cells[0]} may begin with the day or the month; write {'2024-12-31'!r}.")
        return None
    order = (0, 2) if day_first else (2, 0)
    found = _cast(pa.array([_iso(part[3], part[order[1]], part[order[0]], part[4]) for part in parts]))
    if found is not None:
        notes.append(f"Dates in {name!r} begin with the {'day' if day_first else 'month'}, as {_telling(cells)} shows.")
    return found


def _telling(cells: list[str]) -> str:
    """The first date that alone would tell its order; one with points does."""
    return next((cell for cell in cells if begins_with_day([cell]) is not None), cells[0])


def _iso(year: str, month: str, day: str, time: str | None) -> str:
    hours = f" {time:0>{len(time) + 1 if time[1:2] == ':' else 0}}" if time else ""
    return f"{year}-{month:0>2}-{day:0>2}{hours}"


def _cast(words: Any) -> Any:
    for kind in _KINDS:
        try:
            return pc.cast(words, kind)
        except pa.ArrowInvalid:
            continue
    return None
