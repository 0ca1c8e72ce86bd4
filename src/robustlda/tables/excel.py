"""Excel and OpenDocument sheets, by python-calamine in a process of its own (`sheets`)."""

import contextlib
import json
import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from typing import Any, cast

from robustlda.tables import sheets
from robustlda.tables.dialects import is_header
from robustlda.tables.labeled import RawTable
from robustlda.tables.limits import limit
from robustlda.tables.names import column_names
from robustlda.tables.objects import as_text, from_objects
from robustlda.tables.opening import OpenFile, check_archive


def read_excel(file: OpenFile, sheet: str | None, decimal: str | None) -> RawTable:
    """The first sheet that is not empty, or the one named."""
    with _workbook(file) as book:
        if sheet is not None and sheet not in book.sheets:
            names = ", ".join(map(repr, book.sheets[:12]))
            raise ValueError(f"{file.name} has no sheet {sheet!r}; its sheets are {names}.")
        for name in [sheet] if sheet is not None else book.sheets:
            rows = book.rows(name)
            if any(map(_filled, rows)):
                break
        else:
            which = f"The sheet {sheet!r} of {file.name}" if sheet else file.name
            raise ValueError(f"{which} is empty; there is no table in it.")
    notes = []
    if sheet is None and len(book.sheets) > 1:
        notes.append(f"The sheet {name!r} was read, one of {len(book.sheets)}; use --sheet to read another.")
    return _table(rows, file.name, notes, decimal)


@contextmanager
def _workbook(file: OpenFile) -> Iterator["_Workbook"]:
    """The file with a process that reads it, which ends here."""
    with file.path.open("rb") as stream:
        ole = stream.read(4) == b"\xd0\xcf\x11\xe0"
        stream.seek(0)
        if ole and "EncryptedPackage".encode("utf-16-le") in stream.read(2**26):
            raise _protected(file)
    if not ole:
        check_archive(file)
    seconds = 60 + file.path.stat().st_size // 10_000
    # What the library says when it gives up is no sentence for anybody.
    with subprocess.Popen(
        [sys.executable, "-P", sheets.__file__, str(file.path.resolve()), str(_memory()), str(seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield _Workbook(file, process)
        finally:
            process.kill()


class _Workbook:
    """Sheets as another process reads them."""

    def __init__(self, file: OpenFile, process: "subprocess.Popen[bytes]") -> None:
        self._file, self._process = file, process
        self.sheets: list[str] = self._answer()

    def rows(self, name: str) -> list[list[Any]]:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, and there is no answer
            self._process.stdin.write(json.dumps(name).encode() + b"\n")
            self._process.stdin.flush()
        return cast(list[list[Any]], self._answer())

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        try:
            found = pickle.load(self._process.stdout)  # written by `sheets`, not by whoever has made the file
        except (EOFError, pickle.UnpicklingError):
            raise ValueError(
                f"{self._file.name} is not a complete Excel or OpenDocument sheet, or takes more memory than the "
                f"{_memory() / 1e9:.1f} GB it may; save it anew, or as CSV."
            ) from None
        if found is None:
            raise _protected(self._file)
        return found


def _memory() -> int:
    """Bytes that reading a workbook may take: half of what the machine has, and no more than a table, or 1 GB."""
    try:
        half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # not every system tells
        half = sys.maxsize
    return min(half, max(limit("bytes"), 2**30))


def _protected(file: OpenFile) -> ValueError:
    return ValueError(f"{file.name} is protected by a password; save it without one.")


def _filled(row: list[Any]) -> int:
    """The number of cells up to the last that is not empty."""
    return max((k + 1 for k, cell in enumerate(row) if not _is_empty(cell)), default=0)


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _table(rows: list[list[Any]], name: str, notes: list[str], decimal: str | None) -> RawTable:
    widths = Counter(filled for filled in map(_filled, rows) if filled)
    usual = max(widths, key=lambda width: (widths[width], width))
    start = next(k for k, row in enumerate(rows) if _filled(row) >= usual)
    if start:
        notes.append(
            f"{start} row{'s' if start > 1 else ''} before the table {'were' if start > 1 else 'was'} skipped."
        )
    texts = [[as_text(cell) or "" for cell in row] for row in rows[start : start + 200]]
    header = is_header(texts[0], [row for row in texts[1:] if any(row)])
    first = start + header
    while len(rows) > first and not _filled(rows[-1]):
        rows.pop()
    if len(rows) <= first:
        raise ValueError(f"{name} has no rows, only names of columns; there is nothing to read.")
    given = texts[0] if header else [""] * len(texts[0])
    kept = [k for k in range(len(given)) if given[k] or not all(_is_empty(row[k]) for row in rows[first:])]
    names, said = column_names([given[k] for k in kept], header)
    cells, about = from_objects([_cells(row[k] for row in rows[first:]) for k in kept], names, decimal)
    return RawTable(cells, name, (*notes, *said, *about), first + 1)


def _cells(column: Iterable[Any]) -> list[Any]:
    """Cells with None for empty ones; whole numbers, which a sheet stores as floats, and days without a time."""
    cells = [None if _is_empty(cell) else cell for cell in column]
    filled = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53 for cell in filled):
        return [None if cell is None else int(cell) for cell in cells]
    if all(isinstance(cell, date) and (not isinstance(cell, datetime) or cell.time() == time()) for cell in filled):
        return [cell.date() if isinstance(cell, datetime) else cell for cell in cells]
    if any(isinstance(cell, datetime) for cell in filled):
        return [_moment(cell) for cell in cells]
    return cells


def _moment(cell: Any) -> Any:
    return datetime.combine(cell, time()) if isinstance(cell, date) and not isinstance(cell, datetime) else cell
