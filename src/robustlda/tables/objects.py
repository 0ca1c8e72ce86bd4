"""Columns of Python objects, as JSON and Excel give them, into columns of one type each."""

import json
import math
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any

import pyarrow as pa

from robustlda.tables.values import parsed

_EXACT = 2**53


def from_objects(columns: Sequence[list[Any]], names: list[str], decimal: str | None) -> tuple[pa.Table, list[str]]:
    """A table of these columns, and notes. A column of several types is read as one of a text file is."""
    found = [_exact(values) for values in columns]
    mixed = [k for k, array in enumerate(found) if array is None]
    texts = [pa.chunked_array([pa.array(map(as_text, columns[k]), pa.string())]) for k in mixed]
    read, notes = parsed(pa.table(texts, [names[k] for k in mixed]), decimal, ",")
    for place, k in enumerate(mixed):
        found[k] = read.column(place)
    return pa.table(found, names), notes


def _exact(values: list[Any]) -> pa.Array | None:
    """An array of these values if they are of one type and no digit is lost; otherwise None."""
    kinds = {type(value) for value in values if value is not None}
    try:
        if kinds and kinds <= {int, float}:
            return _numbers(values, kinds)
        if len(kinds) > 1 or kinds & {time} or (kinds == {str} and _iso_dates(values)):
            return None
        return pa.array(values) if kinds else pa.array([None] * len(values), pa.string())
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None


def _numbers(values: list[Any], kinds: set[type]) -> pa.Array | None:
    if float not in kinds:
        return pa.array(values, pa.int64())
    if any(type(value) is int and abs(value) > _EXACT for value in values):
        return None
    return pa.array([None if value is None or math.isnan(value) else float(value) for value in values], pa.float64())


def _iso_dates(values: list[Any]) -> bool:
    head = [value for value in values if value][:100]
    return bool(head) and all(value[:4].isdigit() and value[4:5] == "-" and len(value) >= 10 for value in head)


def as_text(value: Any) -> str | None:
    """A value of any type as a text file would spell it."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    if isinstance(value, datetime):
        return value.isoformat(" ") if value.time() != time() else value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)
