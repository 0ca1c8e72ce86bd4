"""What a benchmark has measured: a CSV file that grows with every case, and the tables in the README beside it.

A run that was interrupted goes on where it ended, as cases in the file are not measured again. After a change of the
code, `--again NAME` forgets what a method was measured at before.
"""

import argparse
import csv
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from robustlda.datasets.catalogue import FOLDER_VARIABLE
from robustlda.output import replacing

MARK = "<!-- tables -->"
"""What is below it in a README is written anew; what is above it, people write."""

Line = dict[str, str]


def parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """The options of every such benchmark."""
    found = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}", description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    found.add_argument("out", type=Path, help="folder of the results")
    found.add_argument("--data-dir", type=Path, help=f"folder of the data; {FOLDER_VARIABLE} by default")
    found.add_argument("--again", default="", help="comma-separated names of methods to be measured again")
    return found


def read(options: argparse.ArgumentParser) -> argparse.Namespace:
    """What was given, with the folders in place."""
    given = options.parse_args()
    if given.data_dir:
        os.environ[FOLDER_VARIABLE] = str(given.data_dir)
    warnings.simplefilter("ignore")
    given.out.mkdir(parents=True, exist_ok=True)
    given.again = tuple(name for name in given.again.split(",") if name)
    return given


class Measured:
    """The lines of a file; `key` are the columns that say which case a line is of."""

    def __init__(self, path: Path, fields: Sequence[str], key: Sequence[str]) -> None:
        self._path, self._fields, self._key = path, fields, key
        self.lines: list[Line] = []
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                self.lines = list(csv.DictReader(file))
        self._done = {self._case(line) for line in self.lines}

    def _case(self, line: Line) -> tuple[str, ...]:
        return tuple(line[name] for name in self._key)

    def __contains__(self, case: tuple[str, ...]) -> bool:
        return case in self._done

    def forget(self, column: str, names: Sequence[str]) -> None:
        """Remove the lines that have one of these names in a column."""
        if not names:
            return
        self.lines = [line for line in self.lines if line[column] not in names]
        self._done = {self._case(line) for line in self.lines}
        with replacing(self._path) as target, target.open("w", newline="", encoding="utf-8") as file:
            self._writer(file, header=True).writerows(self.lines)

    def keep(self, *lines: Line) -> None:
        """Append lines to the file; a column that one of them lacks is empty."""
        new = [dict.fromkeys(self._fields, "") | line for line in lines]
        header = not self._path.exists()
        with self._path.open("a", newline="", encoding="utf-8") as file:
            self._writer(file, header).writerows(new)
        self.lines += new
        self._done.update(map(self._case, new))

    def _writer(self, file: TextIO, header: bool) -> "csv.DictWriter[str]":
        writer = csv.DictWriter(file, self._fields)
        if header:
            writer.writeheader()
        return writer


def write_tables(folder: Path, title: str, tables: str) -> None:
    """Put tables into the README of a folder, in place of those that it has."""
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.exists() else f"# {title}\n\n{MARK}\n"
    with replacing(readme) as target:
        target.write_text(f"{text.split(MARK)[0]}{MARK}\n\n{tables}", encoding="utf-8")
