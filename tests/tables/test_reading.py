"""Every awkward file is read rightly or refused in one sentence."""

import bz2
import csv
import gzip
import hashlib
import io
import os
import struct
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet as pq

from robustlda.tables import opening
from robustlda.tables.reading import read_table
from tests.tables.corpus import COMMA, PLAIN, PLAIN_COLUMNS, TEXT_FILES, zipped
from tests.tables.drawn import drawn
from tests.tables.formats import OTHER_FILES, PLAIN_ROWS, RECORDS, TABLE, arrow, lines, npz, parquet, xlsx
from tests.tables.office import xls


def same(found, expected):
    """Equal in type, too: 1, 1.0, True and "1" are different values."""
    return len(found) == len(expected) and all(
        type(a) is type(b) and a == b for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("case", TEXT_FILES + OTHER_FILES, ids=lambda case: case.id)
def test_read_rightly_or_refused_in_a_sentence(case, tmp_path):
    path = case.write(tmp_path)
    if case.refused:
        with pytest.raises(ValueError, match=case.refused) as refusal:
            read_table(path, **case.options)
        check_sentence(str(refusal.value))
        assert refusal.value.__cause__ is None
        return
    table = read_table(path, **case.options)
    assert table.data.column_names == list(case.columns)
    for name, expected in case.columns.items():
        found = table.data[name].to_pylist()
        assert same(found, expected), (name, found[:20], expected[:20])
    assert table.first_row == case.first_row, table.notes
    notes = " ".join(table.notes).lower()
    for piece in case.said:
        assert piece.lower() in notes
    assert case.said or not table.notes, notes
    assert len(table.fingerprint) == 64


def check_sentence(text):
    assert "\n" not in text
    assert text[0].isupper() or text.startswith(("/", "'", "sep=", "decimal="))
    assert text.endswith(".")
    assert len(text) < 500


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_drawn_tables_in_drawn_layouts(start, tmp_path):
    for seed in range(start, start + 50):
        case = drawn(seed)
        table = read_table(case.write(tmp_path))
        assert table.data.column_names == list(case.columns), seed
        assert table.first_row == case.first_row, seed
        for name, expected in case.columns.items():
            assert same(table.data[name].to_pylist(), expected), (seed, name)


def refusal(source, **options):
    with pytest.raises(ValueError, match=r".\.$") as refused:
        read_table(source, **options)
    check_sentence(str(refused.value))
    return str(refused.value)


def test_every_difference_counts_in_these_tests():
    assert same([1, "a", None], [1, "a", None])
    assert not any([same([1], [1.0]), same([True], [1]), same(["1"], [1]), same([], [None]), same([1, 2], [1])])


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        (PLAIN.encode(), PLAIN_COLUMNS),
        (gzip.compress(COMMA.encode("utf-16")), PLAIN_COLUMNS),
        (parquet(TABLE), PLAIN_COLUMNS),
        (arrow(TABLE, stream=True), PLAIN_COLUMNS),
        (xlsx(S=PLAIN_ROWS), PLAIN_COLUMNS),
        (lines(RECORDS).encode(), PLAIN_COLUMNS),
        (npz(X=np.eye(2), y=np.arange(2)), {"x0": [1.0, 0.0], "x1": [0.0, 1.0], "y": [0, 1]}),
    ],
    ids=["csv", "gz", "parquet", "arrow", "xlsx", "json", "npz"],
)
def test_standard_input_is_recognized_by_its_content(content, columns, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    table = read_table("-")
    assert table.data.to_pydict() == columns
    assert table.name == "Standard input"
    assert table.fingerprint == hashlib.sha256(content).hexdigest()


def test_standard_input_without_anything(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    assert "Standard input is empty" in refusal("-")
    monkeypatch.setattr("sys.stdin", None)
    assert "Nothing is piped" in refusal("-")


def test_what_is_no_file(tmp_path):
    assert "no file" in refusal(tmp_path / "missing.csv")
    (tmp_path / "file").touch()
    assert "no file" in refusal(tmp_path / "file" / "inside.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    assert "pipe or a device" in refusal(tmp_path / "pipe.csv")
    assert "pipe or a device" in refusal("/dev/null")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "loop" in refusal(tmp_path / "loop")
    refusal("x" * 5000)
    refusal("zero\0byte.csv")
    refusal("")
    assert "No file matches" in refusal(str(tmp_path / "*.parquet"))
    (tmp_path / "a.csv").write_text(PLAIN)
    assert "only Parquet" in refusal(str(tmp_path / "*.csv"))
    assert "no Parquet files" in refusal(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    (tmp_path / "a.csv").write_text(PLAIN)
    (tmp_path / "a.csv").chmod(0)
    assert "permission" in refusal(tmp_path / "a.csv")


def test_globs_and_relative_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b", "a"):
        pq.write_table(pa.table({"x": [name]}), f"{name}.parquet")
    whole = read_table("*.parquet")
    assert whole.data.to_pydict() == {"x": ["a", "b"]}
    assert whole.fingerprint == read_table(".").fingerprint == read_table(tmp_path).fingerprint
    assert read_table("a.parquet").data.to_pydict() == {"x": ["a"]}
    pq.write_table(pa.table({"x": ["c"]}), "a.parquet")
    changed = read_table(".").fingerprint
    Path("a.parquet").rename("c.parquet")
    assert len({whole.fingerprint, changed, read_table(".").fingerprint}) == 3
    Path("[1].csv").write_text(PLAIN)  # a file of this name, not a glob
    assert read_table("[1].csv").data.to_pydict() == PLAIN_COLUMNS


@pytest.mark.parametrize("name", ["bomb.csv.gz", "bomb.csv.zst", "bomb.csv.bz2", "bomb.zip", "bomb.npz", "bomb.xlsx"])
def test_a_decompression_bomb_is_not_unpacked(name, tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "MAX_BYTES", 10_000)
    long = "a,b\n" + "1,2\n" * 100_000
    packed = {
        "bomb.csv.gz": gzip.compress(long.encode()),
        "bomb.csv.zst": pa.compress(long.encode(), "zstd", asbytes=True),
        "bomb.csv.bz2": bz2.compress(long.encode()),
        "bomb.zip": zipped(table_csv=long),
        "bomb.npz": npz(X=np.zeros((1000, 10)), y=np.arange(1000)),
        "bomb.xlsx": xlsx(S=[["a" * 50] * 50] * 50),
    }
    (tmp_path / name).write_bytes(packed[name])
    assert "unpacks to more than 9.77 KB" in refusal(tmp_path / name)


def test_an_archive_that_lies_about_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "MAX_BYTES", 100_000)
    content = bytearray(zipped(**{"xl/workbook.xml": "x" * 10_000_000}))
    for at in (content.index(b"PK\3\4") + 22, content.index(b"PK\1\2") + 24):
        content[at : at + 4] = struct.pack("<I", 10)
    (tmp_path / "a.xlsx").write_bytes(content)
    assert "unpacks to more than" in refusal(tmp_path / "a.xlsx")


def test_a_member_without_a_name(tmp_path):
    (tmp_path / "a.zip").write_bytes(zipped(table_csv=PLAIN).replace(b"table.csv", b"\0" * 9))
    assert read_table(tmp_path / "a.zip").data.num_rows == 3


def test_too_large_for_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "MAX_BYTES", 100)
    pq.write_table(pa.table({"x": range(1000)}), tmp_path / "a.parquet")
    assert "in parts" in refusal(tmp_path / "a.parquet")
    assert "in parts" in refusal(tmp_path)
    (tmp_path / "a.csv").write_text(PLAIN * 10)
    assert "convert it to Parquet" in refusal(tmp_path / "a.csv")


def test_nothing_is_left_behind_and_nothing_changed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(COMMA.encode("utf-16")))
    before, limit = path.read_bytes(), csv.field_size_limit()
    table = read_table(path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv.gz"]
    assert path.read_bytes() == before
    assert csv.field_size_limit() == limit
    assert table.fingerprint == hashlib.sha256(before).hexdigest()
    assert table.name == "a.csv.gz"


@given(content=st.one_of(st.binary(max_size=300), st.text(alphabet="ab1 ,;\t\"'\n\r.-#é\\|", max_size=200)))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(content, tmp_path):
    path = tmp_path / "any.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        table = read_table(path)
    except ValueError as refused:
        check_sentence(str(refused))
    else:
        assert table.data.num_rows > 0
        assert len(set(table.data.column_names)) == table.data.num_columns > 0


def test_damage_that_libraries_report_in_their_own_words(tmp_path):
    """Text that is no text in an Arrow file, a name that is none and a version yet to come in zip archives."""
    names, archive, version = arrow(TABLE), npz(X=np.eye(2), y=np.arange(2)), bytearray(xlsx(S=PLAIN_ROWS))
    version[version.index(b"PK\1\2") + 6] = 145
    damaged = {
        "names.feather": names.replace(b"width", b"w\xf3dth"),
        "values.feather": names.replace(b"catdogcat", b"cat\xf3ogcat"),
        "archive.npz": archive[:30] + archive[30:].replace(b"X.npy", b"X\xefnpy", 1),
        "member.npz": zipped(**{"X.npy": "no array", "y.npy": "neither"}),
        "version.xlsx": bytes(version),
    }
    for name, content in damaged.items():
        (tmp_path / name).write_bytes(content)
        assert name in refusal(tmp_path / name)


def test_a_workbook_that_would_take_all_memory_is_refused(tmp_path, monkeypatch):
    """A chain of sectors that leads back to its beginning, and one cell in the last corner of the sheet."""
    monkeypatch.setattr("robustlda.tables.excel._memory", lambda: 2**29)
    circle = bytearray(xls("S", PLAIN_ROWS))
    chain = len(circle) - 512
    directory = struct.unpack_from("<I", circle, 48)[0]
    struct.pack_into("<I", circle, chain + 4 * directory, directory)
    corner = zipfile.ZipFile(io.BytesIO(xlsx(S=PLAIN_ROWS)))
    members = {name: corner.read(name).decode() for name in corner.namelist()}
    members["xl/worksheets/sheet1.xml"] = members["xl/worksheets/sheet1.xml"].replace(
        "</sheetData>", '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    )
    for name, content in {"circle.xls": bytes(circle), "corner.xlsx": zipped(**members)}.items():
        (tmp_path / name).write_bytes(content)
        assert "not a complete Excel or OpenDocument sheet, or takes more memory than" in refusal(tmp_path / name)


@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damage_is_read_or_refused(data, tmp_path):
    """A byte changed or the end cut off: never an error of a library."""
    case = data.draw(st.sampled_from([c for c in OTHER_FILES if isinstance(c.content, bytes) and c.columns]))
    content = bytearray(case.content)
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path = tmp_path / case.name
    path.write_bytes(content)
    try:
        read_table(path)
    except ValueError as refused:
        check_sentence(str(refused))


@pytest.mark.parametrize(
    ("days", "order", "example"),
    [
        (["01/02/2024", "05/05/2024", "13/02/2024", "14/02/2024"], "day", "13/02/2024"),
        (["01/02/2024", "02/28/2024"], "month", "02/28/2024"),
        (["01.02.2024", "13.02.2024"], "day", "01.02.2024"),
    ],
)
def test_the_date_that_shows_an_order_does_show_it(tmp_path, days, order, example):
    (tmp_path / "t.csv").write_text("when,x\n" + "".join(f"{day},{i}\n" for i, day in enumerate(days)))
    assert f"Dates in 'when' begin with the {order}, as {example} shows." in read_table(tmp_path / "t.csv").notes
