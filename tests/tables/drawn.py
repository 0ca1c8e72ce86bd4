"""Tables drawn at random and written in a random layout, which nobody had in mind when the reader was written."""

import csv
import io
from datetime import date, timedelta
from random import Random
from typing import Any

from tests.tables.corpus import Awkward

WORDS = [
    "cat",
    "dog",
    "red fox",
    "owl",
    "O'Neil",
    "naïve",
    "été",
    "a-b",
    "x_1",
    "New York",
    "No. 5",
    "B12",
    "ok!",
    "#7",
]
ROUGH = ["a, b", "semi;colon", 'say "hi"', "two\nlines", "pipe|pipe", "tab\tbed", "50%", "<5", "(none)", "3 kg", "1/2"]
NAMES = [
    "length",
    "Width (mm)",
    "x1",
    "species",
    "rate [/min]",
    "date",
    "größe",
    "a.b",
    "n_obs",
    "class",
    "y",
    "temp °C",
]


def column(random: Random, n: int, mark: str) -> tuple[list[str], list[Any], bool]:
    """Cells, the values they stand for, and whether these are values that no header has."""
    kind = random.choice(["whole", "real", "real", "word", "rough", "date", "code", "gaps"])
    if kind == "whole":
        whole = [random.randint(-50, 5000) for _ in range(n)]
        return [str(v) for v in whole], whole, True
    if kind in ("real", "gaps"):
        places = random.choice([1, 2, 4, 6])
        real: list[Any] = [round(random.gauss(0, 50), places) for _ in range(n)]
        cells = [f"{v:.{places}f}".replace(".", mark) for v in real]
        if kind == "gaps":
            for k in range(1, n, 3):
                cells[k], real[k] = random.choice(["", "NA", "?", "nan"]), None
        return cells, real, True
    if kind == "date":
        days = [date(2020, 1, 1) + timedelta(random.randint(0, 2000)) for _ in range(n)]
        return [d.isoformat() for d in days], days, True
    if kind == "code":
        codes = [f"{random.randint(0, 9999):05d}" for _ in range(n)]
        return codes, codes, True
    words = [random.choice(WORDS if kind == "word" else WORDS + ROUGH) for _ in range(n)]
    return words, words, False


def drawn(seed: int) -> Awkward:
    """A table by its seed. One without a header has a column of values, or else nobody could tell."""
    random = Random(seed)
    sep = random.choice([",", ",", ";", ";", "\t", "|"])
    mark = "," if sep != "," and random.random() < 0.4 else "."
    n, d = random.randint(4, 60), random.randint(2, 9)
    columns = [column(random, n, mark) for _ in range(d)]
    header = random.random() < 0.75 or not any(values for _, _, values in columns)
    names = random.sample(NAMES, d)
    buffer = io.StringIO()
    quoting = random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    ending = random.choice(["\n", "\r\n"])
    writer = csv.writer(buffer, delimiter=sep, quoting=quoting, lineterminator=ending)
    writer.writerows(([names] if header else []) + [list(row) for row in zip(*(c for c, _, _ in columns), strict=True)])
    skipped = random.choice([0, 0, 0, 1, 2]) if header and d > 2 else 0
    preamble = "".join(f"Exported by station {k}{ending}" for k in range(skipped))
    text = preamble + buffer.getvalue()
    encoding = random.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"])
    expected = {name if header else f"column {k + 1}": columns[k][1] for k, name in enumerate(names)}
    return Awkward(f"{seed}.csv", text.encode(encoding), expected, first_row=1 + header + skipped)
