"""How a text file is laid out: separator, quotes, lines before the table, header.

Every separator and quote is tried on the start of the file with Python's own CSV parser. The one wins under which rows
have the same number of cells and cells look like values: a cell that still contains another separator and is not a
number speaks against it, as in `5;2` when `1,5;2,5` is cut at commas. The most frequent width is the table's; a few
rows of another width are an error to be reported and not a reason to cut elsewhere, and what comes before the first row
of full width is a preamble.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

SEPARATORS = (",", ";", "\t", "|", "^", "~")
NUMBER = re.compile(r" *[+−-]?(\d[\d.,'’ \u00a0\u202f]*|[.,]\d+)([eE][+-]?\d+)? *")
MISSING = frozenset(
    ["", "na", "n/a", "#n/a", "nan", "null", "none", "-", "--", "?", ".", "#div/0!", "#value!", "#num!"]
)
_DATE = re.compile(r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]\d.*)?")
_UNCUT = re.compile(r"[;\t|^~]|,(?! )")
_SAMPLE = 2**18
_MAX_SAMPLE = 2**24
_ROWS = 500
_STARTS = [[number] for number in (0, *range(1900, 2100))]

Rows = list[tuple[int, list[str]]]  # cells, and the number of the last line they come from


class WrongHeader(Exception):
    """A line above the rows has neither as many names as these have cells, nor is it a comment."""


@dataclass(frozen=True)
class Dialect:
    """How to cut a text file into cells.

    The table starts at the row `start`, counted from 0 with blank lines; `lines` is the number of lines up to its
    header, or before its first row if there is none. Rows have `width` cells, of which those from `filled` on are
    always empty.
    """

    sep: str
    quote: str = '"'
    escape: str = ""
    skip_space: bool = False
    width: int = 1
    filled: int = 1
    start: int = 0
    lines: int = 0
    names: tuple[str, ...] | None = None
    marked: bool = False  # a line such as sep=; names the separator

    @property
    def reader(self) -> dict[str, object]:
        """Arguments for `csv.reader`."""
        return {
            "delimiter": self.sep,
            "quotechar": self.quote,
            "escapechar": self.escape or None,
            "skipinitialspace": self.skip_space,
        }


def find(path: Path, sep: str | None) -> Dialect:
    """The dialect of a UTF-8 file, with this separator if one is given."""
    size, marked = _SAMPLE, False
    while True:
        sample, whole = _start_of(path, size)
        named = re.match(r'"?sep=(.)"?[ \t]*(\r\n|\r|\n)', sample)
        marked = bool(named) and sep is None
        tried = (sep,) if sep else (named[1],) if named else SEPARATORS
        dialects = [_measured(sample, whole, dialect) for dialect in _candidates(sample, tried)]
        score, rows, dialect = max(dialects, key=lambda found: found[0])
        if sep is None and not named and dialect.width == 1:
            score, rows, dialect = _by_spaces(sample, whole) or (score, rows, dialect)
        if len(rows) > 2 or whole or size >= _MAX_SAMPLE:
            return _with_header(rows, dialect, marked)
        size *= 8


def _start_of(path: Path, size: int) -> tuple[str, bool]:
    with path.open(encoding="utf-8-sig", errors="ignore", newline="") as file:
        sample = file.read(size)
        return sample, not file.read(1)


def _candidates(sample: str, separators: Sequence[str]) -> list[Dialect]:
    """Every separator with each kind of quote; the ordinary ones first, since the first of equals wins."""
    found = []
    for sep in separators:
        skip = sep == " " or re.search(re.escape(sep) + ' +["]', sample) is not None
        inner = re.search(rf'\\"(?!{re.escape(sep)}|[\r\n]|$)', sample) is not None
        found.append(Dialect(sep, '"', "\\" if inner else "", skip))
        if re.search(rf"(^|{re.escape(sep)}|\n)'", sample):
            found.append(Dialect(sep, "'", "", skip))
    return found


def _measured(sample: str, whole: bool, dialect: Dialect) -> tuple[float, Rows, Dialect]:
    """How well a dialect fits, its rows, and the dialect with the width and start of the table."""
    rows = _rows(sample, whole, dialect)
    widths = Counter(len(cells) for _, cells in rows if cells)
    if not widths:
        return 0.0, rows, dialect
    width = max(widths, key=lambda w: (widths[w], w))
    full = [cells for _, cells in rows if len(cells) == width]
    filled = max((k + 1 for cells in full for k, cell in enumerate(cells) if cell.strip()), default=width)
    start = next(i for i, (_, cells) in enumerate(rows) if filled <= len(cells) <= width)
    start = _after_comments(rows, start, width)
    after = [cells for _, cells in rows[start:] if cells]
    fitting = sum(filled <= len(cells) <= width for cells in after) / len(after)
    cells = [cell for row in after for cell in row if cell.strip()]
    clean = sum(map(_is_clean, cells)) / max(len(cells), 1)
    before = sum(1 for _, cells in rows[:start] if cells)
    score = fitting * clean * (1 - before / (before + len(after)) / 2) * (1 if width > 1 else 0.1)
    return score, rows, replace(dialect, width=width, filled=filled, start=start)


def _rows(sample: str, whole: bool, dialect: Dialect) -> Rows:
    limit = csv.field_size_limit(_MAX_SAMPLE)
    rows: Rows = []
    try:
        reader = csv.reader(io.StringIO(sample, newline=""), **dialect.reader)  # type: ignore[arg-type]
        for cells in reader:
            blank = not any(map(str.strip, cells)) and len(cells) <= 1
            rows.append((reader.line_num, [] if blank else _trimmed(cells, dialect)))
            if len(rows) > _ROWS:
                return rows
    except csv.Error:
        return rows
    finally:
        csv.field_size_limit(limit)
    return rows if whole else rows[:-1]


def _trimmed(cells: list[str], dialect: Dialect) -> list[str]:
    """Cells without the empty one that spaces at the end of a line make."""
    return cells[:-1] if dialect.sep == " " and not cells[-1] else cells


def _is_clean(cell: str) -> bool:
    quoted = len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "'\""
    return NUMBER.fullmatch(cell) is not None or not (quoted or _UNCUT.search(cell))


def _after_comments(rows: Rows, start: int, width: int) -> int:
    """The row after lines marked # that happen to have the right width, if what follows can be a header."""
    while (
        start + 2 < len(rows)
        and _is_comment(rows[start][1])
        and len(rows[start + 1][1]) == width
        and is_header(rows[start + 1][1], [cells for _, cells in rows[start + 2 :] if len(cells) == width])
        and any(is_value(cell) for cell in rows[start + 2][1])
    ):
        start += 1
    return start


def _is_comment(cells: list[str]) -> bool:
    return cells[0].lstrip().startswith(("#", "%"))


def _by_spaces(sample: str, whole: bool) -> tuple[float, Rows, Dialect] | None:
    """Columns separated by spaces, however many, if every row has as many."""
    score, rows, dialect = _measured(sample, whole, Dialect(" ", skip_space=True))
    widths = {len(cells) for _, cells in rows[dialect.start :] if cells}
    quiet = all(_is_comment(cells) for _, cells in rows[: dialect.start] if cells)
    return (score, rows, dialect) if len(widths) == 1 and dialect.width > 1 and len(rows) > 1 and quiet else None


def _with_header(rows: Rows, dialect: Dialect, marked: bool) -> Dialect:
    """The dialect with the names of the columns, if there is a header."""
    if not rows:
        return dialect
    start = dialect.start + (1 if marked and dialect.start == 0 and rows[0][1][0].startswith("sep=") else 0)
    start = min(start, len(rows) - 1)
    first = rows[start][1]
    if len(first) > dialect.width:  # a line sep=; has been measured as well
        raise WrongHeader(rows[start][0], len(first), dialect.width)
    first = first + [""] * (dialect.width - len(first))
    body = [cells for _, cells in rows[start + 1 :] if len(cells) == dialect.width]
    header = is_header(first, body)
    lines = rows[start][0] if header else rows[start - 1][0] if start else 0
    names = (re.sub("^# +", "", first[0]), *first[1:]) if header else None  # as NumPy marks a header
    above = rows[start - 1][1] if start and not header else []
    if above and not _is_comment(above) and not marked:
        if len(above) != dialect.width - 1 or dialect.width < 3 or any(map(is_value, above)):
            raise WrongHeader(start, len(above), dialect.width)
        names, start = ("", *above), start - 1  # R leaves out the name of the column of row names
    return replace(dialect, start=start, lines=lines, names=names, marked=marked)


def is_value(cell: str) -> bool:
    """Whether a cell holds a number, a date or a truth value, as names of columns do not."""
    return bool(NUMBER.fullmatch(cell) or _DATE.fullmatch(cell)) or cell.strip().lower() in ("true", "false")


def _numbers_columns(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether a row numbers the columns from 0, as pandas does, or by successive years, and the next row does not."""
    numbers = [[int(cell) for cell in row if re.fullmatch(r"\d{1,4}", cell.strip())] for row in (first, *body[:1])]
    if len(numbers) < 2 or len(numbers[0]) < max(sum(map(is_value, first)), 2):
        return False
    rising = [row[:1] in _STARTS and row == list(range(row[0], row[0] + len(row))) for row in numbers]
    return rising[0] and not (rising[1] and len(numbers[1]) == len(numbers[0]))


def is_header(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether a row names the columns: words above values speak for it, values above values and repetitions against."""
    if _numbers_columns(first, body):
        return True
    votes = 0
    for k, cell in enumerate(first):
        if not cell.strip():
            continue
        below = [row[k] for row in body if row[k].strip().lower() not in MISSING]
        if below and all(map(is_value, below)):
            votes += -1 if is_value(cell) or cell.strip() in ("?", "NA") else 1
        elif cell in below:
            votes -= 1
    return votes > 0 or (votes == 0 and not any(map(is_value, first)))
