"""Text as UTF-8.

The encoding is found from a mark at the start, from the zeros of UTF-16, or by trying UTF-8 on the whole file. What is
not UTF-8 is taken for Windows' Western European encoding, a superset of Latin-1, and that is said.
"""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from robustlda.tables.opening import OpenFile

_CHUNK = 2**20
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Control characters that no text contains: all but tab, line feed, vertical tab, form feed, return, and the old end of
# file of DOS.
_CONTROLS = bytes(set(range(32)) - {9, 10, 11, 12, 13, 26, 27})
_SIGNS = (
    (re.compile(rb"\s*(<!doctype html|<html)", re.IGNORECASE), "an HTML page, not a table; download the file itself"),
    (re.compile(rb"version https://git-lfs"), "a pointer of Git LFS; run `git lfs pull` to get the table itself"),
    (re.compile(rb"\s*<\?xml"), "an XML file; save it as CSV, JSON or Excel (.xlsx)"),
    (re.compile(rb"%!PS"), "a PostScript document, not a table"),
    (re.compile(rb"@relation", re.IGNORECASE), "an ARFF file; save it as CSV"),
)


@dataclass(frozen=True)
class Text:
    """A file in UTF-8, how many lines it has, whether there are quotes, and a note if it was written differently."""

    path: Path
    lines: int
    quoted: bool
    notes: tuple[str, ...] = ()


def as_utf8(file: OpenFile, encoding: str | None, folder: Path) -> Text:
    """The file itself if it is UTF-8, or a copy that is."""
    with file.path.open("rb") as stream:
        head = stream.read(4096)
    for sign, what in _SIGNS:
        if sign.match(head.removeprefix(codecs.BOM_UTF8)):
            raise ValueError(f"{file.name} is {what}.")
    found = _given(encoding) if encoding else _from_head(head)
    if not found:
        counts = _decoded(file, "utf-8")
        if counts is not None:
            return Text(file.path, *counts)
        found = "cp1252" if _decoded(file, "cp1252") is not None else "latin-1"
    target = folder / "text"
    with target.open("w", encoding="utf-8", newline="") as copy:
        counts = _decoded(file, found, copy.write)
    if counts is None:
        raise ValueError(
            f"{file.name} is not text in the encoding {encoding or found!r}; name the right one, for example "
            "--encoding cp1252, or save the file as UTF-8."
        )
    ordinary = encoding or found == "utf-8-sig"
    said = f"The encoding is {_called(found)}; use --encoding to read it differently."
    return Text(target, *counts, () if ordinary else (said,))


def _given(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)
    except LookupError:
        raise ValueError(
            f"The encoding {encoding!r} is not known; use for example utf-8, utf-16, latin-1 or cp1252."
        ) from None
    return "utf-8-sig" if name == "utf-8" else name


def _called(encoding: str) -> str:
    return encoding.upper() if encoding.startswith("utf") else encoding + " (Western European)"


def _from_head(head: bytes) -> str:
    """The encoding that a mark tells, or the zeros that UTF-16 has in every second place; otherwise nothing."""
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding
    zeros = [head[k::2].count(0) / max(len(head[k::2]), 1) for k in (0, 1)]
    if max(zeros) > 0.3 and min(zeros) < 0.01 and len(head) >= 4:
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    return ""


def _decoded(file: OpenFile, encoding: str, write: Callable[[str], object] | None = None) -> tuple[int, bool] | None:
    """The number of lines and whether there are quotes, or None if the file is not in this encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    wide = encoding.startswith(("utf-16", "utf-32"))
    lines, size, quoted = 0, 0, False
    with file.path.open("rb") as stream:
        while True:
            chunk = stream.read(_CHUNK)
            if not wide:
                _check_controls(file, chunk)
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeError:
                return None
            if wide:
                _check_controls(file, text.encode("utf-8", "replace"))
            lines += text.count("\n")
            size += len(text)
            quoted = quoted or '"' in text
            if write:
                write(text)
            if not chunk:
                break
    if size == 0:
        raise ValueError(f"{file.name} is empty; there is no table in it.")
    return lines, quoted


def _check_controls(file: OpenFile, chunk: bytes) -> None:
    if len(chunk.translate(None, _CONTROLS)) != len(chunk):
        raise ValueError(
            f"{file.name} is a damaged or unknown binary file; use CSV, Parquet, Feather, JSON, Excel or npz."
        )
