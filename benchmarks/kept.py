"""What a benchmark measures, line by line in a CSV file to which a run adds what it lacks, and its README."""

import argparse
import csv
import os
import warnings
from collections.abc import Sequence
from pathlib import Path

from robustlda.datasets import catalogue

_MARK = "<!-- tables -->"


def parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """Of the command line, with the folders of results and of data."""
    found = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    found.add_argument("out", type=Path)
    found.add_argument("--data-dir", type=Path)
    return found


def arguments(of: argparse.ArgumentParser) -> argparse.Namespace:
    """Those that were given, with everything in place to begin."""
    given = of.parse_args()
    if given.data_dir:
        os.environ[catalogue.FOLDER_VARIABLE] = str(given.data_dir)
    warnings.simplefilter("ignore")
    given.out.mkdir(parents=True, exist_ok=True)
    return given


class Lines(list[dict[str, str]]):
    """All lines of a file, those of earlier runs included; `keep` adds some to both."""

    def __init__(self, path: Path, fields: Sequence[str]) -> None:
        self._path, self._fields = path, fields
        if not path.exists():
            with path.open("w", newline="") as file:
                csv.DictWriter(file, fields).writeheader()
        with path.open(newline="") as file:
            super().__init__(csv.DictReader(file))

    def keep(self, *new: dict[str, str]) -> None:
        whole = [dict.fromkeys(self._fields, "") | line for line in new]
        with self._path.open("a", newline="") as file:
            csv.DictWriter(file, self._fields).writerows(whole)
        self += whole


def tell(folder: Path, title: str, tables: str) -> None:
    """Replace what is below the mark in the README; above it stands what was written by hand."""
    readme = folder / "README.md"
    head = readme.read_text(encoding="utf-8") if readme.exists() else f"# {title}\n\n{_MARK}\n"
    readme.write_text(head[: head.index(_MARK)] + f"{_MARK}\n\n" + tables, encoding="utf-8")
