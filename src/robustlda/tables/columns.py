"""What a column of a table is: numbers, categories, dates, text, a name for the row, or nothing to learn from.

A column is judged by its values, and by its name only where values cannot tell: an integer may be a count or the number
of an invoice. Whatever is left out is left out for a reason that can be read, and comes back when it is asked for.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from robustlda.linalg import Array
from robustlda.tables import dates as in_text
from robustlda.tables.dialects import MISSING as SPELLINGS

MAX_CATEGORIES = 50
"""Distinct words beyond which a column is text rather than a category."""

MOSTLY = 0.9
"""Share of the values that must read as numbers for the others to be taken for missing ones."""

MISSING = "(missing)"
"""The word for a missing one."""

UNIQUE = 0.95
"""Share of distinct values from which on words name rows rather than describe them."""

_MAX_MARKERS = 5  # different words in a column of numbers that may stand for a missing value
_NAMES_ROWS = re.compile(
    r"(^|[^a-z])(id|ids|uuid|guid|key|index|idx|no|nr|num|number|row|record|serial|account|invoice|barcode|isbn|ssn)"
    r"($|[^a-z])|id$",
    re.IGNORECASE,
)
_CODES = re.compile(
    r"(^|[^a-z])(zip|zipcode|zip_code|postal|postcode|postal_code|plz|phone|fax|mobile|code)($|[^a-z])", re.IGNORECASE
)
_NUMBER = re.compile(r"^([$€£¥₹₩]|[A-Z]{3}(?= )|)\s*([+-]?(?:\d[\d.,'\u00a0\u202f ]*\d|\d)(?:[eE][+-]?\d+)?)\s*(\D*)$")
_GROUPING = ".,'\u00a0\u202f "
_SECONDS_IN_A_DAY = 86400.0
_OF_NUMBERS = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_boolean,
    pa.types.is_null,
    pa.types.is_string,
    pa.types.is_large_string,
)


@dataclass(frozen=True)
class Reading:
    """How the values of a column become numbers or words.

    `kind` is number, category, date or text if something is learned from the column; otherwise it says what the column
    is (id, code, constant, empty, other). `unit` and `decimal` are those of numbers that were found in text, and
    `day_first` is how dates in text begin, if not with the year.
    """

    kind: str
    note: str = ""
    unit: str = ""
    decimal: str = ""
    day_first: bool | None = None

    @property
    def used(self) -> bool:
        return self.kind in ("number", "category", "date", "text")


def understand(column: pa.ChunkedArray, name: str, *, asked: bool = False) -> Reading:
    """What a column is; one that was asked for is used if that is possible at all."""
    column = plain(column)
    kind, present = column.type, len(column) - column.null_count
    if present == 0:
        return Reading("empty", "It has no values.")
    if pa.types.is_boolean(kind):
        return _unless_constant(column, Reading("number"))
    if pa.types.is_integer(kind) and not asked and (reason := _names_rows(column, name)):
        return Reading("id", reason)
    if pa.types.is_integer(kind) and not asked and _CODES.search(name):
        return _words(column.cast(pa.string()), asked=asked, code=True)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _unless_constant(column, Reading("number"))
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _unless_constant(column, Reading("date"))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _words(column, asked=asked, code=bool(_CODES.search(name)))
    return Reading("other", f"Values of type {kind} are not supported.")


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column with dictionaries and views made plain."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    return column


def _unless_constant(column: pa.ChunkedArray, otherwise: Reading) -> Reading:
    ends = pc.min_max(column)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low == high and column.null_count == 0:
        return Reading("constant", f"It has the value {low} in every row.")
    return otherwise


def _names_rows(column: pa.ChunkedArray, name: str) -> str:
    """Why whole numbers name the rows; empty if they do not."""
    if column.null_count or len(column) < 3:
        return ""
    values = column.to_numpy()
    steps = np.diff(values.astype(np.int64)) if values.dtype.kind == "i" else np.diff(values.astype(float))
    if (steps == 1).all():
        return "It is just a row number."
    if _NAMES_ROWS.search(name) and len(np.unique(values)) >= UNIQUE * len(values):
        return "By its name and its values it identifies rows."
    return ""


def _words(column: pa.ChunkedArray, *, asked: bool, code: bool) -> Reading:
    """What a column of words is."""
    counts = pc.value_counts(column.drop_null())
    words, times = counts.field("values").to_pylist(), counts.field("counts").to_numpy()
    n = int(times.sum())
    if len(words) == 1 and column.null_count == 0:
        return Reading("constant", f"It has the value {_short(words[0])!r} in every row.")
    if not code and (found := _hidden_numbers(words, times)) is not None:
        return found
    if not code and len(words) > 1 and any(map(str.strip, words)) and moments(column) is not None:
        return Reading("date", day_first=in_text.begins_with_day([word.strip() for word in words]))
    if len(words) <= min(MAX_CATEGORIES, max(2, n // 10)):
        return Reading("category", "Its numbers are codes, and taken as categories." if code else "")
    if asked and len(words) <= MAX_CATEGORIES:
        return Reading("category")
    if code:
        return Reading("code", f"It holds codes, {len(words):,} different ones: neither amounts nor categories.")
    spaced = sum(int(t) for w, t in zip(words, times, strict=True) if " " in w.strip()) / n
    if len(words) >= UNIQUE * n and spaced < 0.5 and not asked:
        return Reading("id", f"{len(words):,} of {n:,} values are different: it identifies rows.")
    return Reading("text", f"Free text ({len(words):,} different values), compared by the letter sequences they share.")


def _hidden_numbers(words: list[str], times: Array) -> Reading | None:
    """Numbers in text, such as 3,750 g; None if there are too few, or if they are codes."""
    matches = [_number_match(w) for w in words]
    if any(m is not None and _is_code(m.group(2)) for m in matches):
        return None
    solid = sum(int(t) for w, t in zip(words, times, strict=True) if not spells_missing(w))
    share = sum(int(t) for m, t in zip(matches, times, strict=True) if m is not None) / max(solid, 1)
    others = [w for w, m in zip(words, matches, strict=True) if m is None]
    if share < MOSTLY or sum(not spells_missing(w) for w in others) > _MAX_MARKERS:
        return None
    units = [_unit(m) for m in matches if m is not None]
    unit = max(set(units), key=lambda u: (units.count(u), u))
    odd = [w for w, m in zip(words, matches, strict=True) if m is not None and _unit(m) != unit]
    if len(odd) > _MAX_MARKERS:
        return None
    decimal = _decimal_sign([m.group(2) for m in matches if m is not None])
    parts = [f"Numbers were extracted from text{f' (unit: {unit})' if unit else ''}"]
    if others or odd:
        shown = ", ".join(repr(_short(w)) for w in sorted(others + odd)[:_MAX_MARKERS])
        parts.append(f"{shown} counted as missing")
    return Reading("number", "; ".join(parts) + ".", unit, decimal)


def spells_missing(word: str) -> bool:
    """Whether a cell says that a value is missing, as "?" and "n/a" do among numbers."""
    return word.strip().lower() in SPELLINGS


def _number_match(word: str) -> re.Match[str] | None:
    """Sign of money, digits and unit; None for what has groups of digits that no number has, as 21.10.2023."""
    match = _NUMBER.match(word.strip())
    if match is None:
        return None
    for sign in _GROUPING:
        _, *groups = match.group(2).split(sign)
        thousands = rf"(\d{{2,3}}{re.escape(sign)})*\d{{3}}([^\d{re.escape(sign)}].*)?"  # or lakhs and crores
        if len(groups) > 1 and not re.fullmatch(thousands, sign.join(groups)):
            return None
    return match


def _unit(match: re.Match[str]) -> str:
    return f"{match.group(1)} {match.group(3)}".strip()


def _is_code(digits: str) -> bool:
    return len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()


def _decimal_sign(texts: list[str]) -> str:
    """The sign before the decimals that most numbers show by themselves; a point if none does."""
    shown = Counter(map(_shown_sign, texts))
    return "," if shown[","] > shown["."] else "."


def _shown_sign(digits: str) -> str:
    """The sign before the decimals that a number shows by itself; none if it could be one of thousands, as in 1,234."""
    digits = re.sub("[eE].*", "", digits)
    last, other = sorted(".,", key=digits.rfind, reverse=True)
    if last not in digits:
        return ""
    if other not in digits and digits.count(last) > 1:
        return other
    return "" if re.fullmatch(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", digits) else last


def decimal_here(column: pa.ChunkedArray, reading: Reading) -> str:
    """The sign before the decimals in a column of text: the one that its numbers show, or that of the table before."""
    matches = map(_number_match, plain(column).unique().drop_null().to_pylist())
    shown = {_shown_sign(match.group(2)) for match in matches if match is not None and _unit(match) == reading.unit}
    shown.discard("")
    return shown.pop() if len(shown) == 1 else reading.decimal or "."


def could_be_numbers(column: pa.ChunkedArray) -> bool:
    """Whether a column is of a type that numbers come in, be it as text."""
    kind = plain(column).type
    return any(is_kind(kind) for is_kind in _OF_NUMBERS)


def numbers(column: pa.ChunkedArray, reading: Reading) -> Array:
    """The values of a column of numbers; what is missing, infinite or no number is NaN."""
    column = plain(column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        values = _numbers_in_text(column, replace(reading, decimal=decimal_here(column, reading)))
    else:
        values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(float)
    return np.where(np.isfinite(values), values, np.nan)


def _numbers_in_text(column: pa.ChunkedArray, reading: Reading) -> Array:
    encoded = column.combine_chunks().dictionary_encode()
    known = np.array([_number_in(word, reading) for word in encoded.dictionary.to_pylist()] + [np.nan])
    codes = pc.fill_null(encoded.indices, len(known) - 1).to_numpy(zero_copy_only=False)
    return known[codes]


def _number_in(word: str, reading: Reading) -> float:
    match = _number_match(word)
    if match is None or _unit(match) != reading.unit:
        return float("nan")
    sign = _shown_sign(match.group(2)) or reading.decimal
    digits = re.sub("['\u00a0\u202f ]", "", match.group(2))
    digits = digits.replace(".", "").replace(",", ".") if sign == "," else digits.replace(",", "")
    try:
        return float(digits)
    except ValueError:
        return float("nan")


def words(column: pa.ChunkedArray) -> Array:
    """The values of a column of words, stripped of spaces around them; missing ones are "(missing)"."""
    column = plain(column)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        column = column.cast(pa.string())
    stripped = pc.fill_null(pc.utf8_trim_whitespace(column), MISSING)
    return np.asarray(stripped.to_numpy(zero_copy_only=False), object)


def dates(column: pa.ChunkedArray, reading: Reading) -> tuple[list[str], Array]:
    """Features of dates: days since 1970, month, day of the week, and hour; and their names."""
    when = moments(column, reading.day_first)
    assert when is not None  # as `holds_dates` has said
    missing = when.is_null().to_numpy()

    def feature(values: Any) -> Array:
        return np.where(missing, np.nan, pc.fill_null(values, 0).to_numpy(zero_copy_only=False).astype(float))

    seconds = feature(when.cast(pa.int64())) / 1e6
    parts = [seconds / _SECONDS_IN_A_DAY, feature(pc.month(when)), feature(pc.day_of_week(when))]
    return ["days", "month", "weekday", "hour"], np.column_stack([*parts, feature(pc.hour(when))])


def holds_dates(column: pa.ChunkedArray, reading: Reading) -> bool:
    """Whether all values are dates, be it in text."""
    return moments(column, reading.day_first) is not None


def moments(column: pa.ChunkedArray, day_first: bool | None = None) -> pa.ChunkedArray | None:
    """The values as moments; None if they are not dates, or texts that could be several."""
    column = plain(column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.utf8_trim_whitespace(column.cast(pa.string()))
        column = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
        column = in_text.dates(column, "", [], day_first)
    elif not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type) or pa.types.is_null(column.type)):
        return None
    return None if column is None else column.cast(pa.timestamp("us"), safe=False)


def _short(text: str, most: int = 30) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
