"""`python -m benchmarks.readers OUT`: which reader understands awkward text files by itself.

The corpus of the tests (`tests/tables/corpus.py`) without the cases in which the reader is told something, and tables
drawn at random in random layouts (`tests/tables/drawn.py`). A file is understood if every column has its name and
values; where a name has to be invented any will do, and whole numbers may be floats. A file that has to be refused is
understood if any exception is raised. pyarrow and polars do not look for a separator, so they also compete with the one
that `csv.Sniffer` finds. Since encodings, types and names can be added to any of them, the last two readers are
robustlda with the layout (separator, quotes, first line, header) that DuckDB or `csv.Sniffer` finds.
"""

import argparse
import csv
import math
import re
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa

from robustlda.output import replacing
from tests.tables import corpus
from tests.tables.drawn import drawn

_MARK = "<!-- tables -->"
INVENTED = re.compile(r"column \d+|.* \(\d+\)")
GROUPS = ("SEPARATORS", "QUOTES", "ENCODINGS", "LINES", "HEADERS", "NUMBERS", "MISSING", "KINDS", "PACKED", "NO_TABLES")
DRAWN, RANDOM = 200, "drawn at random"
Table = list[tuple[str, list[Any]]]


def _of_arrow(table: pa.Table) -> Table:
    return [(name, column.to_pylist()) for name, column in zip(table.column_names, table.columns, strict=True)]


def _sniffed(path: Path) -> csv.Dialect | type[csv.Dialect]:
    try:
        return csv.Sniffer().sniff(path.read_bytes()[:20_000].decode("utf-8", "replace"))
    except csv.Error:
        return csv.excel


def with_duckdb(path: Path) -> Table:
    import duckdb

    settings = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    with duckdb.connect(config=settings) as connection:
        return _of_arrow(connection.sql("FROM read_csv(?)", params=[str(path)]).to_arrow_table())


def with_pyarrow(path: Path, sniff: bool = False) -> Table:
    from pyarrow import csv as arrow

    dialect = _sniffed(path) if sniff else csv.excel
    options = arrow.ParseOptions(
        delimiter=dialect.delimiter, quote_char=dialect.quotechar or '"', newlines_in_values=True
    )
    return _of_arrow(arrow.read_csv(path, parse_options=options))


def with_polars(path: Path, sniff: bool = False) -> Table:
    import polars as pl

    dialect = _sniffed(path) if sniff else csv.excel
    frame = pl.read_csv(
        path,
        separator=dialect.delimiter,
        quote_char=dialect.quotechar,
        infer_schema_length=None,
        try_parse_dates=True,
        glob=False,
    )
    return [(name, frame[name].to_list()) for name in frame.columns]


def with_pandas(path: Path) -> Table:
    import pandas as pd

    frame = pd.read_csv(path, sep=None, engine="python", dtype_backend="pyarrow")
    return [(str(name), frame[name].array.__arrow_array__().to_pylist()) for name in frame.columns]


def with_robustlda(path: Path) -> Table:
    from robustlda.tables.reading import read_table

    return _of_arrow(read_table(path).data)


def _duckdb_layout(path: Path, sep: str | None) -> Any:
    """Separator, quotes, first line and header as DuckDB's sniffer finds them."""
    import duckdb

    from robustlda.tables.dialects import Dialect

    with duckdb.connect() as connection:
        query = "SELECT Delimiter, Quote, Escape, SkipRows, HasHeader, Columns FROM sniff_csv(?)"
        sep, quote, escape, skipped, header, columns = connection.execute(query, [str(path)]).fetchall()[0]
    names = tuple(column["name"] for column in columns) if header else None
    other = escape if escape not in ("(empty)", "", "\0", quote) else ""
    quote = quote if len(quote) == 1 and quote != "\0" else '"'
    width = len(columns)
    return Dialect(sep, quote, other, False, width, width, skipped, skipped + header, names)


def _sniffer_layout(path: Path, sep: str | None) -> Any:
    """The same by Python's `csv.Sniffer`."""
    from robustlda.tables.dialects import Dialect

    text = path.read_text(encoding="utf-8-sig")[:20_000]
    dialect = _sniffed(path)
    first = next(csv.reader([text.partition("\n")[0]], dialect))
    try:
        header = csv.Sniffer().has_header(text)
    except csv.Error:
        header = True
    width, names = len(first), tuple(first) if header else None
    return Dialect(dialect.delimiter, dialect.quotechar or '"', "", False, width, width, 0, int(header), names)


def _with_layout(find: Callable[[Path, str | None], Any]) -> Callable[[Path], Table]:
    def read(path: Path) -> Table:
        with mock.patch("robustlda.tables.delimited.find", find):
            return with_robustlda(path)

    return read


READERS: dict[str, Callable[[Path], Table]] = {
    "robustlda": with_robustlda,
    "DuckDB": with_duckdb,
    "pyarrow": with_pyarrow,
    "pyarrow, csv.Sniffer": lambda path: with_pyarrow(path, sniff=True),
    "polars": with_polars,
    "polars, csv.Sniffer": lambda path: with_polars(path, sniff=True),
    "pandas, sep=None": with_pandas,
    "layout by DuckDB": _with_layout(_duckdb_layout),
    "layout by csv.Sniffer": _with_layout(_sniffer_layout),
}


def same_value(found: Any, expected: Any) -> bool:
    """Whether a value was read as it should have been; dates may be midnights, and NaN may be null."""
    if expected is None or found is None:
        return expected is None and (found is None or (isinstance(found, float) and math.isnan(found)))
    if isinstance(found, datetime) and isinstance(expected, date) and not isinstance(expected, datetime):
        return found == datetime(expected.year, expected.month, expected.day)
    kinds = {kind for kind in (str, bool) if isinstance(found, kind) or isinstance(expected, kind)}
    if any(not isinstance(value, kind) for kind in kinds for value in (found, expected)):
        return False
    return bool(found == expected)


def understood(case: corpus.Awkward, reader: Callable[[Path], Table]) -> str:
    """`read` or `refused`, as it should be; otherwise `misread` or `failed`."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = case.write(Path(folder))
        try:
            found = reader(path)
        except Exception:
            return "refused" if case.refused else "failed"
        except BaseException as error:  # a panic of polars is not an exception
            return "failed" if type(error).__name__ == "PanicException" else _again(error)
    if case.columns is None:
        return "misread"
    for column, expected in zip_longest(found, case.columns.items()):
        if column is None or expected is None or len(column[1]) != len(expected[1]):
            return "misread"
        if column[0] != expected[0] and not INVENTED.fullmatch(expected[0]):
            return "misread"
        if not all(map(same_value, column[1], expected[1])):
            return "misread"
    return "read"


def _again(error: BaseException) -> str:
    raise error


def large(path: Path, n: int = 300_000, d: int = 20) -> None:
    """A table of n rows: d - 2 numbers, a category and a class."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d - 2))
    words, classes = rng.choice(["north", "south", "east", "west"], n), rng.choice(["a", "b", "c"], n)
    with path.open("w") as file:
        file.write(",".join([*(f"x{j}" for j in range(d - 2)), "region", "label"]) + "\n")
        for row, word, label in zip(X, words, classes, strict=True):
            file.write(",".join([*(f"{v:.6f}" for v in row), word, label]) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.readers", description=__doc__)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    cases = [(group.lower().replace("_", " "), case) for group in GROUPS for case in getattr(corpus, group)]
    cases += [(RANDOM, drawn(seed)) for seed in range(DRAWN)]
    rows = []
    for group, case in cases:
        if not case.options:
            outcome = {name: understood(case, reader) for name, reader in READERS.items()}
            rows.append({"group": group, "file": case.id, **outcome})
    with replacing(out / "readers.csv") as target, target.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    page = out / "README.md"
    text = page.read_text(encoding="utf-8").split(_MARK)[0] if page.exists() else ""
    with replacing(page) as target:
        target.write_text(text + _MARK + "\n\n" + _tables(rows), encoding="utf-8")


def _tables(rows: list[dict[str, str]]) -> str:
    """Counts by kind of file, with sums over the corpus, which drawn tables are no part of."""
    right = Counter((row["group"], name) for row in rows for name in READERS if row[name] in ("read", "refused"))
    sizes = Counter(row["group"] for row in rows)
    groups = [group for group in sizes if group != RANDOM]
    ours = [row for row in rows if row["group"] != RANDOM]
    lines = ["| files | number | " + " | ".join(READERS) + " |", "|---" * (len(READERS) + 2) + "|"]
    lines += [_line(group, sizes[group], [right[group, name] for name in READERS]) for group in groups]
    lines.append(_line("**corpus**", len(ours), [sum(right[group, name] for group in groups) for name in READERS]))
    lines.append(_line("misread without a word", "", [_misread(ours, name) for name in READERS]))
    lines.append(_line(f"**{RANDOM}**", sizes[RANDOM], [right[RANDOM, name] for name in READERS]))
    drawn_rows = [row for row in rows if row["group"] == RANDOM]
    lines.append(_line("misread without a word", "", [_misread(drawn_rows, name) for name in READERS]))
    seconds = _seconds()
    lines.append(_line("CPU seconds for 300 000 × 20", "", [seconds.get(name, "") for name in READERS]))
    return "\n".join(lines) + "\n"


def _line(title: str, number: object, values: list[Any]) -> str:
    return f"| {title} | {number} | " + " | ".join(map(str, values)) + " |"


def _misread(rows: list[dict[str, str]], name: str) -> int:
    return sum(row[name] == "misread" for row in rows)


def _seconds() -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        large(path)
        return {name: f"{min(_timed(call, path) for _ in range(2)):.1f}" for name, call in _timed_calls().items()}


def _timed_calls() -> dict[str, Callable[[Path], Any]]:
    """Every reader without the conversion to Python objects, which only the comparison needs."""
    import duckdb
    import pandas as pd
    import polars as pl
    from pyarrow import csv as arrow

    from robustlda.tables.reading import read_table

    def duck(path: Path) -> Any:
        with duckdb.connect() as connection:
            return connection.sql("FROM read_csv(?)", params=[str(path)]).to_arrow_table()

    return {
        "robustlda": read_table,
        "DuckDB": duck,
        "pyarrow": arrow.read_csv,
        "polars": pl.read_csv,
        "pandas, sep=None": lambda path: pd.read_csv(path, sep=None, engine="python"),
    }


def _timed(call: Callable[[Path], Any], path: Path) -> float:
    begin = time.process_time()
    call(path)
    return time.process_time() - begin


if __name__ == "__main__":
    main()
