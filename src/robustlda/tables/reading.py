"""Any table from any file: delimited text, Parquet, Arrow, JSON, Excel, npz, compressed or not, or standard input.

What a file is follows from its content. Everything that is not ordinary (UTF-8, commas, decimal points, a header in the
first row) is found and said in a note; `sep`, `decimal`, `encoding` and `sheet` overrule what would be found. A file
that cannot be read without guessing is refused in one sentence that names the cause and the remedy.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

from robustlda.tables.labeled import RawTable
from robustlda.tables.opening import OpenFile, opened


def read_table(
    source: Path | str,
    *,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> RawTable:
    """The table in a file, in a folder or glob of Parquet files, or in standard input if the source is "-".

    Raises ValueError with one sentence if there is none.
    """
    _check(sep, decimal)
    from robustlda.tables.columnar import parquet_files, read_parquets

    if (files := parquet_files(source)) is not None:
        return read_parquets(files, Path(source))
    with tempfile.TemporaryDirectory(prefix="robustlda-") as name, opened(source, Path(name)) as file:
        table = _read(file, Path(name), sep, decimal, encoding, sheet)
    called = file.name if str(source) == "-" else Path(source).name
    return replace(table, name=called, notes=(*file.notes, *table.notes), fingerprint=file.fingerprint)


def _read(
    file: OpenFile, folder: Path, sep: str | None, decimal: str | None, encoding: str | None, sheet: str | None
) -> RawTable:
    from robustlda.tables import columnar, delimited, excel, json_text

    if file.kind == "excel":
        return excel.read_excel(file, sheet, decimal)
    if sheet is not None:
        raise ValueError(f"{file.name} is not an Excel file and has no sheet {sheet!r}; leave out --sheet.")
    if file.kind != "text":
        return columnar.READERS[file.kind](file)
    if sep is None and json_text.is_json(file, encoding):
        return json_text.read_json(file, folder, encoding, decimal)
    return delimited.read_delimited(file, folder, sep, decimal, encoding)


def _check(sep: str | None, decimal: str | None) -> None:
    if sep is not None and (len(sep) != 1 or sep in "\r\n\"'" or ord(sep) > 127):
        raise ValueError(
            f"sep={sep!r} must be one character, for example ',' or ';' or a tab; leave it out to find it."
        )
    if decimal is not None and decimal not in (".", ","):
        raise ValueError(f"decimal={decimal!r} must be '.' or ','; leave it out to find it.")
    if sep is not None and sep == decimal:
        raise ValueError(f"sep={sep!r} cannot be the decimal mark as well; name only one of them.")
