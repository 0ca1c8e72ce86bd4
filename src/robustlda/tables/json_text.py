"""JSON: one object per line, or an array of objects.

pyarrow reads lines of objects that agree in their types. Everything else goes through Python's parser, and a column of
mixed types is treated as a column of a text file is.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from robustlda.tables.encodings import as_utf8
from robustlda.tables.labeled import RawTable
from robustlda.tables.names import column_names
from robustlda.tables.objects import from_objects
from robustlda.tables.opening import OpenFile


def is_json(file: OpenFile, encoding: str | None) -> bool:
    """Whether a file starts as an object or an array of objects does."""
    with file.path.open("rb") as stream:
        head = stream.read(4096)
    wide = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        start = "".join(head.decode(encoding or wide, "ignore").split())
    except LookupError:
        return False
    named = any(ending in ("json", "jsonl", "ndjson") for ending in file.endings)
    return start.startswith(("{", "[") if named else ('{"', '[{"', "[]", "{}", "[{}"))


def read_json(file: OpenFile, folder: Path, encoding: str | None, decimal: str | None) -> RawTable:
    """The objects as rows, their keys as columns."""
    text = as_utf8(file, encoding, folder)
    table = _by_arrow(text.path)
    notes: list[str] = []
    if table is None:
        table, notes = _by_python(text.path, file.name, decimal)
    if table.num_rows == 0 or table.num_columns == 0:
        raise ValueError(f"{file.name} holds no objects with values; there is no table in it.")
    names, said = column_names(table.column_names)
    return RawTable(table.rename_columns(names), file.name, (*text.notes, *said, *notes), 1)


def _by_arrow(path: Path) -> pa.Table | None:
    from pyarrow import json as arrow

    with path.open("rb") as file:
        if file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
            return None
    try:
        table = arrow.read_json(pa.OSFile(str(path)))
    except (pa.ArrowException, ValueError):
        return None
    if table.num_rows == 1 and any(pa.types.is_nested(column.type) for column in table.columns):
        return None  # perhaps the columns of a table
    # Days would be midnights, and whole numbers beyond int64 would lose digits.
    return None if any(map(_is_doubtful, table.columns)) else table


def _is_doubtful(column: pa.ChunkedArray) -> bool:
    if pa.types.is_floating(column.type):
        return (pc.max(pc.abs(column)).as_py() or 0) >= 2**53
    return bool(pa.types.is_temporal(column.type))


def _by_python(path: Path, name: str, decimal: str | None) -> tuple[pa.Table, list[str]]:
    found = _objects(path, name)
    note = ""
    if len(found) == 1 and (rows := _inside(found[0])):
        found, note = rows, "The rows were found inside a single object."
    keys = list(dict.fromkeys(key for item in found for key in item))
    table, notes = from_objects([[item.get(key) for item in found] for key in keys], keys, decimal)
    return table, [note, *notes] if note else notes


def _inside(item: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table written as one object: of columns, as pandas does, or with one list of rows; else none."""
    inner = list(item.values())
    if len(inner) == 1 and isinstance(inner[0], list) and inner[0] and all(isinstance(row, dict) for row in inner[0]):
        return inner[0]
    if inner and all(isinstance(column, dict) for column in inner) and len({tuple(column) for column in inner}) == 1:
        return [{key: column[k] for key, column in item.items()} for k in inner[0]]
    if len(inner) > 1 and all(isinstance(c, list) for c in inner) and len({len(c) for c in inner}) == 1:
        return [dict(zip(item, row, strict=True)) for row in zip(*inner, strict=True)]
    return []


def _objects(path: Path, name: str) -> list[dict[str, Any]]:
    """All objects of the file."""
    with path.open(encoding="utf-8-sig") as file:
        first = file.read(1)
        while first.isspace():
            first = file.read(1)
        file.seek(0)
        try:
            found = json.load(file) if first == "[" else _lines(file)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"Line {error.lineno} of {name} is not JSON ({error.msg.lower()}); write one object per line."
            ) from None
        except RecursionError:
            raise ValueError(f"{name} is nested too deeply; write one object per line or an array of them.") from None
    for k, item in enumerate(found):
        if not isinstance(item, dict):
            raise ValueError(f"Entry {k + 1} of {name} is not an object; write one object per row, such as {{'x': 1}}.")
    return found


def _lines(file: Any) -> list[Any]:
    """One object per line, or a single object over several lines."""
    found = []
    for k, line in enumerate(file, 1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError as error:
                if not found:
                    file.seek(0)
                    return [json.load(file)]
                error.lineno = k
                raise
    return found
