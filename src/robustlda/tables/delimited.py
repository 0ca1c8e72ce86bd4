"""Delimited text into columns of text, by pyarrow's parser, which is fast and insists on rows of equal length.

Rows that are too long only by empty cells, columns separated by runs of spaces, and quotes after spaces are not what it
expects: such files are first rewritten with Python's own parser, which also finds the line to blame for a refusal.
"""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow

from robustlda.tables.dialects import Dialect, WrongHeader, find, is_value
from robustlda.tables.encodings import Text, as_utf8
from robustlda.tables.labeled import RawTable
from robustlda.tables.names import column_names, without_empty
from robustlda.tables.opening import OpenFile
from robustlda.tables.values import parsed

_BLOCK = 2**22
_MAX_BLOCK = 2**30
_CALLED = {"\t": "a tab", " ": "spaces"}


def read_delimited(
    file: OpenFile, folder: Path, sep: str | None, decimal: str | None, encoding: str | None
) -> RawTable:
    """The table in a text file, with a note on everything that is not ordinary."""
    text = as_utf8(file, encoding, folder)
    try:
        dialect = find(text.path, sep)
    except WrongHeader as header:
        line, names, width = header.args
        raise ValueError(
            f"Line {line} of {file.name} has {_cells_in(names)}, but the rows below it have {width}; give every column "
            "a name, or remove the line."
        ) from None
    columns, blank, repaired = _cells(text, dialect, file.name, folder)
    if columns.num_rows == 0:
        raise ValueError(f"{file.name} has no rows, only {_columns(dialect.width)}; there is nothing to read.")
    columns, given, dropped = without_empty(columns, dialect.names or [""] * dialect.width)
    names, said = column_names(given, header=dialect.names is not None)
    columns = columns.rename_columns(names)
    values, about = parsed(columns, decimal, dialect.sep)
    notes = [*text.notes, *_about(dialect, sep, file), *said, *dropped, *repaired, *blank, *about]
    return RawTable(values, file.name, tuple(notes), dialect.start + (2 if dialect.names is not None else 1))


def _columns(number: int) -> str:
    return f"{number} column name{'s' if number > 1 else ''}"


def _cells_in(number: int) -> str:
    return f"{number} cell{'s' if number > 1 else ''}"


def _about(dialect: Dialect, sep: str | None, file: OpenFile) -> list[str]:
    """What is not ordinary in the layout of the file."""
    notes = []
    ordinary = "\t" if "tsv" in file.endings or "tab" in file.endings else ","
    if sep is None and dialect.sep != ordinary and dialect.width > 1:
        shown = _CALLED.get(dialect.sep, repr(dialect.sep))
        named = f", as the line sep={dialect.sep} says" if dialect.marked else ""
        notes.append(f"Columns are separated by {shown}{named}; use --sep to cut them elsewhere.")
    if sep is not None and dialect.width == 1:
        notes.append(f"The separator {sep!r} does not occur; the file was read as one column.")
    if dialect.names and sum(map(is_value, dialect.names)):
        notes.append("The numbers in the first row were taken for names of columns.")
    if dialect.quote != '"':
        notes.append(f"Text is quoted with {dialect.quote} (the quote is not part of it).")
    if dialect.escape:
        notes.append("A quote within quoted text is marked by a backslash.")
    if dialect.start and not (dialect.marked and dialect.start == 1):
        lines = "1 line" if dialect.start == 1 else f"{dialect.start} lines"
        notes.append(f"{lines} before the table {'was' if dialect.start == 1 else 'were'} skipped.")
    return notes


def _cells(text: Text, dialect: Dialect, name: str, folder: Path) -> tuple[pa.Table, list[str], list[str]]:
    """All cells as text, a note on blank lines and one on repairs."""
    limit = csv.field_size_limit(_MAX_BLOCK)
    try:
        repairs: list[str] = []
        path, lines = text.path, dialect.lines
        if dialect.skip_space:
            path, _ = _rewritten(path, dialect, name, folder)
            lines, dialect = 0, _simple(dialect)
        table = _parsed(path, dialect, lines)
        if table is None:
            path, count = _rewritten(path, replace(dialect, lines=lines), name, folder)
            repairs = [f"Empty cells beyond the last column were left out (rows: {count})."] if count else []
            dialect = _simple(dialect)
            table = _parsed(path, dialect, 0)
        if table is None:
            raise ValueError(f"{name} cannot be cut into columns by {dialect.sep!r}; name the separator with --sep.")
        if text.quoted or dialect.quote != '"':
            _check_quotes(table, path, dialect, name)
        return table, _blank_lines(text, table, path, lines), repairs
    finally:
        csv.field_size_limit(limit)


def _simple(dialect: Dialect) -> Dialect:
    return replace(dialect, sep=",", quote='"', escape="", skip_space=False)


def _parsed(path: Path, dialect: Dialect, lines: int) -> pa.Table | None:
    """The cells after the first lines, or None if some row has more or fewer than the others."""
    names = [str(k) for k in range(dialect.width)]
    block = _BLOCK
    while True:
        odd: list[Any] = []
        try:
            table = arrow.read_csv(
                pa.OSFile(str(path)),  # a path would be unpacked if its name ends in .gz, whatever it holds
                arrow.ReadOptions(block_size=block, skip_rows=lines, column_names=names),
                arrow.ParseOptions(
                    delimiter=dialect.sep,
                    quote_char=dialect.quote,
                    escape_char=dialect.escape or False,
                    newlines_in_values=True,
                    invalid_row_handler=lambda row, odd=odd: odd.append(row) or "error",
                ),
                arrow.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    null_values=[""],
                    strings_can_be_null=True,
                    check_utf8=False,
                ),
            )
        except pa.ArrowInvalid as error:
            if "straddling" in str(error) and block < _MAX_BLOCK:
                block *= 16
            elif odd or "column" in str(error).lower():
                return None
            elif "empty" in str(error).lower():
                return pa.table(dict.fromkeys(names, pa.array([], pa.string())))
            else:
                return None
        else:
            return table


def _rewritten(path: Path, dialect: Dialect, name: str, folder: Path) -> tuple[Path, int]:
    """The rows as an ordinary CSV file, and from how many of them empty cells were cut.

    Raises ValueError for the first row that has too many or too few cells.
    """
    target, cut = folder / "rewritten", 0
    with (
        path.open(encoding="utf-8-sig", newline="") as source,
        target.open("w", encoding="utf-8", newline="") as copy,
    ):
        for _ in range(dialect.lines):
            source.readline()
        reader, writer = csv.reader(source, strict=True, **dialect.reader), csv.writer(copy)  # type: ignore[arg-type]
        begin = dialect.lines + 1
        try:
            for cells in reader:
                if len(cells) != dialect.width and any(map(str.strip, cells)):
                    cut += len(cells) > dialect.width and dialect.sep != " "
                    cells = _fitted(cells, dialect, name, begin)
                if len(cells) > 1 or any(map(str.strip, cells)):
                    writer.writerow(cells)
                begin = dialect.lines + reader.line_num + 1
        except csv.Error as error:
            raise _bad_quote(name, begin, error) from None
    return target, cut


def _fitted(cells: list[str], dialect: Dialect, name: str, line: int) -> list[str]:
    if dialect.filled <= len(cells) <= dialect.width:
        return cells + [""] * (dialect.width - len(cells))
    if len(cells) > dialect.width and not any(map(str.strip, cells[dialect.width :])):
        return cells[: dialect.width]
    more = len(cells) > dialect.width
    raise ValueError(
        f"Line {line} of {name} has {_cells_in(len(cells))} instead of {dialect.filled}; "
        + ("put quotes around text that contains the separator" if more else "complete or remove the line")
        + f", or name the separator with --sep if it is not {_CALLED.get(dialect.sep, repr(dialect.sep))}."
    )


def _bad_quote(name: str, line: int, error: csv.Error) -> ValueError:
    what = "a quote that is never closed" if "end of data" in str(error) else "text after a closing quote"
    return ValueError(f"Line {line} of {name} has {what}; double the quotes inside quoted text or remove the quote.")


def _check_quotes(table: pa.Table, path: Path, dialect: Dialect, name: str) -> None:
    """Refuse a quote that is never closed, which swallows all lines after it, and text after one that is.

    pyarrow accepts both. Both leave a trace, a quote in a cell or a line break in the last row, and only then the file
    is parsed once more.
    """
    last = [column[-1].as_py() or "" for column in table.columns if table.num_rows]
    traces = any("\n" in cell or "\r" in cell for cell in last) or _odd_end(path, dialect)
    if not traces and not any(_contains(column, dialect.quote) for column in table.columns):
        return
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True, **dialect.reader)  # type: ignore[arg-type]
        begin = 1
        try:
            for _ in reader:
                begin = reader.line_num + 1
        except csv.Error as error:
            raise _bad_quote(name, begin, error) from None


def _contains(column: Any, piece: str) -> bool:
    return bool(pc.any(pc.match_substring(column, piece)).as_py())


def _odd_end(path: Path, dialect: Dialect) -> bool:
    with path.open("rb") as file:
        file.seek(max(file.seek(0, io.SEEK_END) - 4096, 0))
        return file.read().rstrip().rpartition(b"\n")[2].count(dialect.quote.encode()) % 2 == 1


def _blank_lines(text: Text, table: pa.Table, path: Path, lines: int) -> list[str]:
    """A note if there are blank lines between rows, after which the rows of a spreadsheet are numbered differently."""
    if path != text.path:
        return []
    with path.open("rb") as file:
        file.seek(max(file.seek(0, io.SEEK_END) - 4096, 0))
        end = file.read()
    blank = text.lines - end[len(end.rstrip()) :].count(b"\n") + 1 - lines - table.num_rows
    if blank > 0:
        blank -= sum(pc.sum(pc.count_substring(column, "\n")).as_py() or 0 for column in table.columns)
    if blank <= 0:
        return []
    return [f"Blank lines between rows were skipped ({blank}); row numbers after them do not count them."]
