"""Accuracies of an experiment by data set, method and noise."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isnan
from statistics import fmean

from robustlda.experiments.protocol import Row


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Rows in the order of a tidy file."""
    return sorted(rows, key=lambda row: (row.dataset, row.kind, row.noise, row.seed, row.fold, row.method))


def with_reference(rows: Iterable[Row], reference: str) -> list[Row]:
    """The rows with the accuracy for these reference labels of 1-NN, noisy or clean."""
    if reference == "noisy":
        return list(rows)
    return [row if isnan(row.clean_reference) else replace(row, accuracy=row.clean_reference) for row in rows]


def accuracies(rows: Sequence[Row]) -> dict[tuple[str, str], dict[float, list[float]]]:
    """Accuracies over the folds, by (data set, method) and noise; only units that succeeded."""
    table: dict[tuple[str, str], dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(rows, key=lambda row: (row.noise, row.fold)):
        if row.succeeded:
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
