"""Spreadsheets written byte by byte, since no library that writes them is needed otherwise."""

import io
import struct
import zipfile
from collections.abc import Sequence


def ods(sheets: dict[str, Sequence[Sequence[object]]]) -> bytes:
    """An OpenDocument spreadsheet of text and numbers."""

    def cell(value: object) -> str:
        if isinstance(value, int | float):
            return f'<table:table-cell office:value-type="float" office:value="{value}"/>'
        return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'

    tables = "".join(
        f'<table:table table:name="{name}">'
        + "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows in sheets.items()
    )
    spaces = "".join(
        f' xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{short}:1.0"' for short in ("office", "table", "text")
    )
    content = f'<?xml version="1.0"?><office:document-content{spaces}><office:body><office:spreadsheet>{tables}'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content + "</office:spreadsheet></office:body></office:document-content>")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
    return buffer.getvalue()


def xls(name: str, rows: Sequence[Sequence[object]]) -> bytes:
    """A workbook of Excel 97 with one sheet of text and numbers."""

    def record(kind: int, data: bytes) -> bytes:
        return struct.pack("<HH", kind, len(data)) + data

    def cell(i: int, j: int, value: object) -> bytes:
        if isinstance(value, int | float):
            return record(0x0203, struct.pack("<HHHd", i, j, 0, value))
        text = str(value).encode("utf-16-le")
        return record(0x0204, struct.pack("<HHHHB", i, j, 0, len(text) // 2, 1) + text)

    def start(kind: int) -> bytes:
        return record(0x0809, struct.pack("<HHHHII", 0x0600, kind, 0, 0, 0, 0))

    end = record(0x000A, b"")
    title = name.encode("latin-1")
    length = len(start(5)) + 4 + 8 + len(title) + len(end)
    sheet = record(0x0085, struct.pack("<IHBB", length, 0, len(title), 0) + title)
    body = start(0x10) + b"".join(cell(i, j, v) for i, row in enumerate(rows) for j, v in enumerate(row)) + end
    return ole({"Workbook": start(5) + sheet + end + body})


def ole(streams: dict[str, bytes]) -> bytes:
    """A compound file: a header, streams in sectors of 512 bytes, their chains, and a directory."""
    chain, entries, data = [], [], b""
    for name, content in streams.items():
        padded = content + bytes(max(4096 - len(content), -len(content) % 512))
        first, count = len(chain), len(padded) // 512
        chain += [*range(first + 1, first + count), 0xFFFFFFFE]
        entries.append(_entry(name, 2, first, len(padded)))
        data += padded
    directory, table = len(chain), len(chain) + 1
    chain += [0xFFFFFFFE, 0xFFFFFFFD]
    chain += [0xFFFFFFFF] * (128 - len(chain))
    root = _entry("Root Entry", 5, 0xFFFFFFFE, 0, child=1)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, directory, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    header += struct.pack("<I", table) + b"\xff" * 4 * 108
    listing = (root + b"".join(entries)).ljust(512, b"\0")
    return header + data + listing + struct.pack("<128I", *chain)


def _entry(name: str, kind: int, first: int, size: int, child: int = 0xFFFFFFFF) -> bytes:
    text = name.encode("utf-16-le") + b"\0\0"
    links = struct.pack("<III", 0xFFFFFFFF, 0xFFFFFFFF, child)
    return (
        text.ljust(64, b"\0") + struct.pack("<HBB", len(text), kind, 1) + links + bytes(36)
        + struct.pack("<IQ", first, size)
    )  # fmt: skip
