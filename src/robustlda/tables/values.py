"""Columns of text into numbers, dates and truth values, decided by the whole column, and never at the cost of a digit.

A column is numeric if all its cells are numbers or spellings of a missing value. Otherwise it is text and keeps every
cell, `None` and `NA` included, since these may well be classes; only an empty cell is missing everywhere. Numbers with
leading zeros and whole numbers that float64 cannot hold are codes, and the column stays text.

A number such as 1,234 can be read with a decimal comma or a separator of thousands. If other numbers of the column do
not decide, other columns do; if these do not either, it is a decimal comma in files separated by semicolons, and a
separator of thousands elsewhere. A note says so.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from robustlda.tables.dates import dates, field_of
from robustlda.tables.dialects import MISSING, is_value
from robustlda.tables.names import listed

_HEAD = 500
_EXACT = 2.0**53
_SPACES = r" '’\x{00A0}\x{202F}"
_TEMPLATE = (
    r"^[+−-]?([0-9]+|[0-9]{1,3}([GROUP][0-9]{3})+)?(\DECIMAL[0-9]*)?([eE][+-]?[0-9]+)?$|^[+-]?(?i:inf|infinity)$"
)
_GROUPS = {".": "," + _SPACES, ",": "." + _SPACES}
NUMBERS = {mark: _TEMPLATE.replace("GROUP", group).replace("DECIMAL", mark) for mark, group in _GROUPS.items()}
_CODE = r"^[+-]?0[0-9]+$"
_SPELLINGS = pa.array(sorted({spelling for mark in MISSING for spelling in (mark, mark.upper(), mark.title(), "NaN")}))
_GROUPED = {",": r"^[+-]?[0-9]{1,3}(\.[0-9]{3})+$", ".": r"^[+-]?[0-9]{1,3}(,[0-9]{3})+$"}


@dataclass
class Remarks:
    """Which columns were read in a way that has to be said."""

    missing: dict[str, list[str]] = field(default_factory=dict)
    comma: list[str] = field(default_factory=list)
    thousands: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    def sentences(self) -> list[str]:
        """One sentence for each kind of remark."""
        notes = []
        if self.comma:
            notes.append(f"Numbers with a decimal comma in {listed(self.comma)}; use --decimal . if they are not.")
        if self.thousands:
            notes.append(f"Numbers with separators of thousands in {listed(self.thousands)}.")
        if self.codes:
            notes.append(f"{listed(self.codes)} kept as text: leading zeros or more digits than a number can hold.")
        if self.missing:
            marks = sorted({mark for found in self.missing.values() for mark in found})
            notes.append(f"{listed(marks)} in {listed(list(self.missing))} taken for missing values.")
        return notes + self.others


def parsed(table: pa.Table, decimal: str | None, sep: str) -> tuple[pa.Table, list[str]]:
    """Columns of text with the values they spell, and notes on what is not ordinary."""
    remarks = Remarks()
    columns: dict[str, Any] = {}
    waiting: dict[str, Cells] = {}
    evidence: set[str] = {decimal} if decimal else set()
    for name in table.column_names:
        quick = _plain_numbers(table[name], name, remarks)
        if quick is not None:
            columns[name] = quick
            evidence |= {"."} if not decimal and pa.types.is_floating(quick.type) and _has_point(table[name]) else set()
        elif _may_be_values(table[name]):
            waiting[name] = _cells(table[name], decimal)
            evidence |= set() if decimal else waiting[name].decisive
        else:
            columns[name] = _text(table[name])
    floats = [name for name, column in columns.items() if pa.types.is_floating(column.type)]
    if "," in evidence or (not evidence and sep == ";"):  # 1.234 may be 1234 after all
        grouped = [name for name in floats if _all(table[name], _GROUPED[","])]
        if "," in evidence:
            waiting |= {name: _cells(table[name], decimal) for name in grouped}
        else:
            remarks.others += [_unclear(table[name], name) for name in grouped]
    for name in floats if decimal == "," else ():
        if name not in waiting and _contains(table[name], "."):
            columns[name] = table[name]
            remarks.others.append(f"{name!r} kept as text: no numbers if the decimal mark is a comma.")
    for name, cells in waiting.items():
        columns[name] = _values(table[name], name, cells, _preferred(evidence, sep), remarks)
    texts = {name: cells.solid for name, cells in waiting.items()}
    fields = [field_of(name, columns[name], texts.get(name)) for name in table.column_names]
    return pa.table([columns[field.name] for field in fields], pa.schema(fields)), remarks.sentences()


def _unclear(column: Any, name: str) -> str:
    return (
        f"{column.drop_null()[0].as_py()} in {name!r} was read with a decimal point, though it could be a separator of "
        "thousands; use --decimal , if it is."
    )


def _preferred(evidence: set[str], sep: str) -> str:
    """The decimal mark for numbers that can be read either way."""
    if len(evidence) == 1:
        return next(iter(evidence))
    return "," if sep == ";" else "."


def _cast(column: Any, kind: pa.DataType) -> Any:
    try:
        return pc.cast(column, kind)
    except pa.ArrowInvalid:
        return None


def _all(column: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, pattern)).as_py())


def _any(column: Any, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(column, pattern)).as_py())


def _contains(column: Any, piece: str) -> bool:
    return bool(pc.any(pc.match_substring(column, piece)).as_py())


def _number_cast(column: Any) -> Any:
    """Whole numbers if all are, otherwise floats, or None."""
    whole = _cast(column, pa.int64())
    return whole if whole is not None else _cast(column, pa.float64())


def _has_point(column: Any) -> bool:
    """Whether a column has a decimal point that cannot be a separator of thousands."""
    head = [cell for cell in column.slice(0, _HEAD).drop_null().to_pylist() if "." in cell]
    return any(not re.fullmatch(_GROUPED[","], cell) for cell in head)


def _plain_numbers(column: Any, name: str, remarks: Remarks) -> Any:
    """A column of numbers as most files spell them, or None."""
    if column.null_count == len(column):
        return column
    whole = _cast(column, pa.int64())
    numbers = whole if whole is not None else _cast(column, pa.float64())
    if numbers is None:
        return None
    if _any(column, "^[+-]?0[xX]") if whole is not None else pc.any(pc.is_nan(numbers)).as_py():
        return None  # hexadecimal numbers are codes, and NaN is a missing value
    if _is_code(column, numbers):
        remarks.codes.append(name)
        return column
    return numbers


def _is_code(column: Any, numbers: Any) -> bool:
    """Whether digits would be lost: leading zeros, or whole numbers beyond what float64 holds exactly."""
    if pa.types.is_floating(numbers.type):
        size = pc.max(pc.abs(numbers)).as_py()
        if size is not None and size >= _EXACT and _any(column, r"^[+-]?[0-9]{16,}$"):
            return True
    return _any(column, _CODE)


def _may_be_values(column: Any) -> bool:
    """Whether the first cells look like values or missing ones, and at least one like a value."""
    head = {cell.strip() for cell in column.slice(0, _HEAD).drop_null().to_pylist()}
    solid = {cell for cell in head if cell.lower() not in MISSING}
    if not all(is_value(cell) or cell.lower() in ("inf", "-inf") for cell in solid):
        return False
    return bool(solid) or column.length() > _HEAD


@dataclass(frozen=True)
class Cells:
    """Cells with null for missing ones, how these are spelled, and the decimal marks that fit all others."""

    solid: Any
    marks: list[str]
    conventions: set[str]

    @property
    def decisive(self) -> set[str]:
        """The decimal mark if only one is possible and some number has it, or the other as a separator."""
        marked = _contains(self.solid, ".") or _contains(self.solid, ",")
        return self.conventions if len(self.conventions) == 1 and marked else set()


def _cells(column: Any, decimal: str | None) -> Cells:
    trimmed = pc.utf8_trim_whitespace(column)
    missing = pc.is_in(trimmed, _SPELLINGS)
    marks = [mark for mark in pc.unique(trimmed.filter(missing)).to_pylist() if mark]
    solid = pc.if_else(missing, pa.scalar(None, pa.string()), trimmed)
    head = solid.slice(0, _HEAD)
    fitting = [mark for mark in ([decimal] if decimal else NUMBERS) if _all(head, NUMBERS[mark])]
    return Cells(solid, marks, {mark for mark in fitting if _all(solid, NUMBERS[mark])})


def _values(column: Any, name: str, cells: Cells, preferred: str, remarks: Remarks) -> Any:
    """A column by the first kind of value that all its cells are, or as text."""
    solid = cells.solid
    if solid.null_count == len(solid):
        return _text(column)
    values = _numbers(solid, name, cells.conventions, preferred, remarks) if cells.conventions else None
    if values is None and _all(solid, "^(?i:true|false)$"):
        values = _cast(solid, pa.bool_())
    if values is None:
        values = dates(solid, name, remarks.others)
    if values is None:
        return _text(column)
    if cells.marks:
        remarks.missing[name] = cells.marks
    return values


def _numbers(solid: Any, name: str, found: set[str], preferred: str, remarks: Remarks) -> Any:
    """Cells as numbers, or None if they are codes or not numbers."""
    mark = preferred if preferred in found else next(iter(found))
    other = "." if mark == "," else ","
    plain = pc.replace_substring(solid, ",", ".") if mark == "," else solid
    numbers = None if _contains(solid, other) else _number_cast(plain)
    separated = False
    if numbers is None:
        bare = pc.replace_substring_regex(solid, f"[{_GROUPS[mark]}]", "")
        separated = not pc.all(pc.equal(bare, solid)).as_py()
        plain = pc.replace_substring(pc.replace_substring(bare, ",", "."), "−", "-")
        numbers = _number_cast(pc.utf8_ltrim(plain, "+"))
    if numbers is None:
        return None
    if _is_code(plain, numbers):
        remarks.codes.append(name)
        return None
    ambiguous = len(found) > 1 and (_contains(solid, ".") or _contains(solid, ","))
    decimals = mark == "," and _contains(solid, ",")
    if ambiguous and (separated or decimals):
        example = solid.filter(pc.match_substring_regex(solid, "[.,]"))[0].as_py()
        value = numbers[pc.index(solid, pa.scalar(example, pa.string())).as_py()].as_py()
        sort = "thousands" if separated else "decimal comma"
        remarks.others.append(
            f"{example} in {name!r} was read as {value} ({sort}), though it could be otherwise; use --decimal {other} "
            "if it is."
        )
    elif decimals:
        remarks.comma.append(name)
    if separated and not ambiguous:
        remarks.thousands.append(name)
    return numbers


def _text(column: Any) -> Any:
    """Text as it is, but without the space that follows every separator, and with blank cells as missing."""
    column = pc.if_else(pc.match_substring_regex(column, r"^\s+$"), pa.scalar(None, pa.string()), column)
    if column.null_count < len(column) and pc.all(pc.starts_with(column, " ")).as_py():
        return pc.utf8_ltrim_whitespace(column)
    return column
