"""Rows of an experiment as CSV and as means."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from statistics import fmean

from robustlda.experiments.protocol import Row
from robustlda.report.files import replacing


def write_csv(rows: Iterable[Row], path: Path) -> None:
    """Tidy CSV, one line per unit, in a fixed order."""
    ordered = sorted(rows, key=lambda row: (row.dataset, row.noise, row.fold, row.method))
    with replacing(path) as target, target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)])
        writer.writeheader()
        writer.writerows({**asdict(r), "accuracy": f"{r.accuracy:.6f}", "seconds": f"{r.seconds:.4f}"} for r in ordered)


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
