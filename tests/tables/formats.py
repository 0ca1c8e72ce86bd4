"""Awkward tables in formats other than delimited text, in the manner of `corpus`."""

import gzip
import io
import json
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from openpyxl import Workbook
from pyarrow import feather, ipc
from pyarrow import parquet as pq

from tests.tables.corpus import COMMA, PLAIN, PLAIN_COLUMNS, Awkward, bad, text, zipped
from tests.tables.office import ods, ole, xls

TABLE = pa.table(PLAIN_COLUMNS)
NESTED = {
    "list": pa.array([[1, 2], None]),
    "struct": pa.array([{"a": 1}, {"a": 2}]),
    "map": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
    "bytes": pa.array([b"x", b"\xff"]),
    "kind": pa.array(["a", "b"]).dictionary_encode(),
}
PLAIN_ROWS = [["length", "width", "species"], [1.5, 2, "cat"], [2.5, 3, "dog"], [3.25, 4, "cat"]]
RECORDS = [dict(zip(PLAIN_ROWS[0], row, strict=True)) for row in PLAIN_ROWS[1:]]


def parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def arrow(table: pa.Table, stream: bool = False) -> bytes:
    buffer = io.BytesIO()
    with (ipc.new_stream if stream else ipc.new_file)(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def xlsx(**sheets: list[list[Any]]) -> bytes:
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def folder(**files: bytes) -> Callable[[Path], None]:
    """Writes files to a folder; `__` in their names stands for a folder inside it and `_eq_` for an equals sign."""

    def write(path: Path) -> None:
        path.mkdir()
        for name, content in files.items():
            place = path / (name.replace("__", "/").replace("_eq_", "=") + ".parquet")
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(content)

    return write


def lines(records: list[Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def twice(table: pa.Table) -> dict[str, list[Any]]:
    return {name: column * 2 for name, column in table.to_pydict().items()}


COLUMNAR = [
    text("plain.parquet", parquet(TABLE), PLAIN_COLUMNS),
    text("UPPER.PARQUET", parquet(TABLE), PLAIN_COLUMNS),
    text("nested.pq", parquet(pa.table(NESTED)), pa.table(NESTED).to_pydict()),
    text(
        "twice.parquet",
        parquet(pa.table([[1], [2], [3]], ["a", "a", ""])),
        {"a": [1], "a (2)": [2], "column 3": [3]},
        "'a (2)'",
        "'column 3'",
    ),
    text("parquet.csv", parquet(TABLE), PLAIN_COLUMNS, "Parquet"),
    text("parquet.gz", gzip.compress(parquet(TABLE)), PLAIN_COLUMNS, "gzip"),
    text("csv.parquet", PLAIN, PLAIN_COLUMNS, "text"),
    text("plain.feather", arrow(TABLE), PLAIN_COLUMNS),
    text("plain.arrow", arrow(TABLE, stream=True), PLAIN_COLUMNS),
    Awkward("compressed.feather", lambda path: feather.write_feather(TABLE, path, "zstd"), PLAIN_COLUMNS),
    Awkward("folder", folder(a=parquet(TABLE), b=parquet(TABLE), _ignored=b""), twice(TABLE), said=("2 Parquet",)),
    Awkward(
        "hive",
        folder(year_eq_2023__a=parquet(pa.table({"x": [1]})), year_eq_2024__a=parquet(pa.table({"x": [2.5]}))),
        {"x": [1.0, 2.5], "year": [2023, 2024]},
        said=("2 Parquet",),
    ),
    text(
        "arrays.npz",
        npz(X=np.array([[1.5, 2], [3, 4]]), y=np.array(["a", "b"])),
        {"x0": [1.5, 3.0], "x1": [2.0, 4.0], "y": ["a", "b"]},
        first_row=1,
    ),
    bad("truncated.parquet", parquet(TABLE)[:-40], "not a complete Parquet file"),
    bad(
        "damaged.parquet", parquet(TABLE)[:4] + b"\0" * 50 + parquet(TABLE)[60:-100] + b"PAR1", "not a complete Parquet"
    ),
    bad("only_magic.parquet", b"PAR1", "not a complete Parquet"),
    bad("encrypted.parquet", b"PARE" + bytes(100), "encrypted Parquet"),
    bad("truncated.feather", arrow(TABLE)[:-100], "not a complete Arrow"),
    bad("no_rows.parquet", parquet(TABLE.slice(0, 0)), "0 rows"),
    bad("no_columns.parquet", parquet(pa.table({})), "0 columns"),
    bad("mixed_types", folder(a=parquet(pa.table({"x": [1]})), b=parquet(pa.table({"x": ["a"]}))), "different types"),
    bad("one_damaged", folder(a=parquet(TABLE), b=b"PAR1"), "b.parquet is not a complete"),
    bad("empty_folder", lambda path: path.mkdir(), "no Parquet files"),
    bad("no_y.npz", npz(X=np.eye(2), z=np.eye(2)), "X and y, but holds X, z"),
    bad("shapes.npz", npz(X=np.eye(2), y=np.eye(2)), r"shape \(2, 2\)"),
    bad("pickled.npz", npz(X=np.eye(2), y=np.array([{}, []], object)), "objects"),
    bad("truncated.npz", npz(X=np.eye(2), y=np.arange(2))[:-30], "damaged"),
    bad("complex.npz", npz(X=np.eye(2) * 1j, y=np.arange(2)), "complex128"),
    bad("one.npy", b"\x93NUMPY\x01\0" + bytes(90), "NumPy"),
]

JSON = [
    text("lines.jsonl", lines(RECORDS), PLAIN_COLUMNS, first_row=1),
    text("lines.JSON", lines(RECORDS), PLAIN_COLUMNS, first_row=1),
    text("array.json", json.dumps(RECORDS, indent=2), PLAIN_COLUMNS, first_row=1),
    text("lines.ndjson.gz", gzip.compress(lines(RECORDS).encode()), PLAIN_COLUMNS, "gzip", first_row=1),
    text("utf16.json", json.dumps(RECORDS).encode("utf-16"), PLAIN_COLUMNS, "UTF-16", first_row=1),
    text("one_object.json", json.dumps({"a": 1, "b": "x"}, indent=1), {"a": [1], "b": ["x"]}, first_row=1),
    text(
        "gaps.jsonl",
        lines([{"a": 1}, {"b": "x"}, {"a": None, "b": "y"}]),
        {"a": [1, None, None], "b": [None, "x", "y"]},
        first_row=1,
    ),
    text("mixed.jsonl", lines([{"a": 1}, {"a": "?"}, {"a": 2.5}]), {"a": [1.0, None, 2.5]}, "'a'", first_row=1),
    text("mixed_text.jsonl", lines([{"a": 1}, {"a": "x"}, {"a": True}]), {"a": ["1", "x", "True"]}, first_row=1),
    text("codes.jsonl", lines([{"a": "01234"}, {"a": "12345"}]), {"a": ["01234", "12345"]}, first_row=1),
    text("case.jsonl", lines([{"a": 1, "A": 2}]), {"a": [1], "A": [2]}, first_row=1),
    text("large.jsonl", lines([{"a": 2**70}, {"a": 1}]), {"a": [str(2**70), "1"]}, "'a'", first_row=1),
    text("nested.jsonl", lines([{"a": {"b": 1}, "c": [1, 2]}]), {"a": [{"b": 1}], "c": [[1, 2]]}, first_row=1),
    text("dates.json", json.dumps([{"d": "2024-01-31"}, {"d": None}]), {"d": [date(2024, 1, 31), None]}, first_row=1),
    text("dates.jsonl", lines([{"d": "2024-01-31"}, {"d": None}]), {"d": [date(2024, 1, 31), None]}, first_row=1),
    text("nan.json", '[{"a": NaN}, {"a": 1.5}]', {"a": [None, 1.5]}, first_row=1),
    text(
        "large_and_real.json",
        json.dumps([{"a": 2**60 + 1}, {"a": 1.5}]),
        {"a": [str(2**60 + 1), "1.5"]},
        "'a'",
        first_row=1,
    ),
    text("columns.json", '{"a": [1, 2], "b": ["x", "y"]}', {"a": [1, 2], "b": ["x", "y"]}, "inside", first_row=1),
    text(
        "pandas.json",
        '{"a": {"0": 1, "1": 2}, "b": {"0": "x", "1": "y"}}',
        {"a": [1, 2], "b": ["x", "y"]},
        "inside",
        first_row=1,
    ),
    text("wrapped.json", '{"rows": [{"a": 1}, {"a": 2}]}', {"a": [1, 2]}, "inside", first_row=1),
    bad("list.json", "[1, 2, 3]", "Entry 1"),
    bad("no_json.json", "{a, b}", "not JSON"),
    text("brackets.csv", "[1],{2}\n1,x\n2,y\n", {"[1]": [1, 2], "{2}": ["x", "y"]}),
    bad("truncated.json", json.dumps(RECORDS)[:-10], "not JSON"),
    bad("truncated.jsonl", lines(RECORDS)[:-10], "Line 3 .* not JSON"),
    bad("numbers.json", "[{}, 1]", "Entry 2"),
    bad("nothing.json", "[]", "no objects"),
    bad("deep.json", '[{"a":' + "[" * 100_000, "nested too deeply|not JSON"),
]

EXCEL = [
    text("plain.xlsx", xlsx(S=PLAIN_ROWS), PLAIN_COLUMNS),
    text("plain.xls", xls("S", PLAIN_ROWS), PLAIN_COLUMNS),
    text("plain.ods", ods({"S": PLAIN_ROWS}), PLAIN_COLUMNS),
    text("EXCEL.CSV", xlsx(S=PLAIN_ROWS), PLAIN_COLUMNS, "Excel"),
    text("sheets.xlsx", xlsx(Info=[], Data=PLAIN_ROWS, More=[["a"], [1]]), PLAIN_COLUMNS, "'Data'"),
    text("told.xlsx", xlsx(Other=[["a"], [1]], Data=PLAIN_ROWS), PLAIN_COLUMNS, options={"sheet": "Data"}),
    text("title.xlsx", xlsx(S=[["Report 2024"], [], *PLAIN_ROWS]), PLAIN_COLUMNS, "skipped", first_row=4),
    text(
        "no_header.xlsx",
        xlsx(S=[[1.5, "a"], [2.5, "b"]]),
        {"column 1": [1.5, 2.5], "column 2": ["a", "b"]},
        "no header",
        first_row=1,
    ),
    text(
        "names.xlsx",
        xlsx(S=[["a", "a", None, "b"], [1, 2, 3, "x"], [4, 5, 6, "y"]]),
        {"a": [1, 4], "a (2)": [2, 5], "column 3": [3, 6], "b": ["x", "y"]},
        "'a (2)'",
        "'column 3'",
    ),
    text(
        "kinds.xlsx",
        xlsx(
            S=[
                ["d", "t", "b", "z"],
                [date(2024, 1, 31), datetime(2024, 1, 31, 12, 30), True, "01234"],
                [date(2024, 2, 1), datetime(2024, 2, 1), False, "12345"],
            ]
        ),
        {
            "d": [date(2024, 1, 31), date(2024, 2, 1)],
            "t": [datetime(2024, 1, 31, 12, 30), datetime(2024, 2, 1)],
            "b": [True, False],
            "z": ["01234", "12345"],
        },
    ),
    text(
        "missing.xlsx",
        xlsx(S=[["x", "y"], [1.5, "a"], ["NA", None], [None, "b"], [2.5, "None"]]),
        {"x": [1.5, None, None, 2.5], "y": ["a", None, "b", "None"]},
        "'x'",
    ),
    text("mixed.xlsx", xlsx(S=[["x", "y"], [1, "a"], ["one", "b"]]), {"x": ["1", "one"], "y": ["a", "b"]}),
    bad("unknown_sheet.xlsx", xlsx(S=PLAIN_ROWS), "no sheet 'T'; its sheets are 'S'", options={"sheet": "T"}),
    bad("no_excel.csv", PLAIN, "--sheet", options={"sheet": "T"}),
    bad("empty.xlsx", xlsx(S=[]), "empty"),
    bad("header_only.xlsx", xlsx(S=[["a", "b"]]), "no rows"),
    bad("truncated.xlsx", xlsx(S=PLAIN_ROWS)[:-200], "damaged"),
    bad("hollow.xlsx", zipped(**{"xl/workbook.xml": "<workbook"}), "not a complete Excel"),
    bad("damaged.xls", xls("S", PLAIN_ROWS)[:700], "not a complete Excel"),
    bad("protected.xlsx", ole({"EncryptedPackage": b"", "EncryptionInfo": b""}), "password"),
    bad("letter.docx", zipped(**{"word/document.xml": "<w/>"}), "office document"),
]

OTHER_FILES = COLUMNAR + JSON + EXCEL
COMMA_FILE = COMMA.encode()
