"""Rows of an experiment as CSV and as means."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any

from robustlda.experiments.protocol import Row, Unit
from robustlda.report.files import replacing


def write_csv(rows: Iterable[Row], path: Path) -> None:
    """Tidy CSV, one line per unit, in a fixed order."""
    ordered = sorted(rows, key=lambda row: (row.dataset, row.kind, row.noise, row.seed, row.fold, row.method))
    with replacing(path) as target, target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _COLUMNS)
        writer.writeheader()
        writer.writerows(map(_line, ordered))


def append_csv(row: Row, path: Path) -> None:
    """One more line, in a file that is made if need be: what is finished stays, whatever happens next."""
    begun = path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _COLUMNS)
        if not begun:
            writer.writeheader()
        writer.writerow(_line(row))


def read_csv(path: Path) -> list[Row]:
    """The rows of a file, but for a last line that was cut off; none if there is no file."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    lines = list(csv.DictReader(text[: text.rfind("\n") + 1].splitlines()))
    if lines and set(lines[0]) != set(_COLUMNS):
        raise ValueError(f"{path} has other columns than a comparison; move it away, or write into another folder.")
    return [Row(**{name: _TYPES[name](line[name]) for name in _COLUMNS}) for line in lines]


def latest(rows: Iterable[Row]) -> dict[Unit, Row]:
    """The last row of every unit: one that was run again, after a failure say, counts as it came out then."""
    return {row.unit: row for row in rows}


_COLUMNS = [field.name for field in fields(Row)]
_TYPES: dict[str, Any] = {field.name: field.type for field in fields(Row)}


def _line(row: Row) -> dict[str, object]:
    numbers = ("accuracy", "clean_reference", "seconds", "noise_rate", "calibration")
    return {**asdict(row), **{name: f"{getattr(row, name):.6g}" for name in numbers}}


def with_reference(rows: Iterable[Row], reference: str) -> list[Row]:
    """The rows with the accuracy that holds for these reference labels of 1-NN, noisy or clean."""
    if reference == "noisy":
        return list(rows)
    return [row if isnan(row.clean_reference) else replace(row, accuracy=row.clean_reference) for row in rows]


def accuracies(rows: Sequence[Row]) -> dict[tuple[str, str], dict[float, list[float]]]:
    """Accuracies over the folds, by (data set, method) and noise; failed units are left out."""
    table: dict[tuple[str, str], dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(rows, key=lambda row: (row.noise, row.fold)):
        if not row.error:
            table[row.dataset, row.method][row.noise].append(row.accuracy)
    return table


def means(rows: Sequence[Row]) -> dict[tuple[str, str], dict[float, float]]:
    """Mean accuracy by (data set, method) and noise."""
    return {
        key: {noise: fmean(values) for noise, values in by_noise.items()} for key, by_noise in accuracies(rows).items()
    }


def failures(rows: Sequence[Row]) -> dict[tuple[str, str], str]:
    """The first error of every (data set, method) that had one."""
    return {(row.dataset, row.method): row.error for row in reversed(rows) if row.error}
