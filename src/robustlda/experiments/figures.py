"""Figures of an experiment, drawn from its rows alone."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from robustlda.datasets import catalogue
from robustlda.experiments import methods
from robustlda.experiments.protocol import Row
from robustlda.experiments.tables import accuracies, with_reference
from robustlda.report.files import replacing

AXIS = {
    "uniform": "wrong training labels, %",
    "next_class": "wrong labels in every other class, %",
    "gross_rows": "training samples replaced by outliers, %",
    "salt_and_pepper": "training images with salt and pepper, %",
    "occlude": "training images partly covered, %",
}


GROUPS = {True: "1-NN votes, with {reference} reference labels", False: "the method decides by itself"}


def accuracy_against_noise(
    rows: Sequence[Row], path: Path, *, reference: str = "noisy", columns: int | None = None
) -> None:
    """Mean accuracy over the folds, with its standard error as a band: a panel per data set.

    Methods that let 1-NN vote and methods with a rule of their own have rows of panels of their own, on one scale.
    With `columns`, the data sets are broken into lines.
    """
    kind = _only({row.kind for row in rows})
    table = accuracies(with_reference(rows, reference))
    names = list(dict.fromkeys(row.dataset for row in rows))
    known = {**methods.METHODS, **methods.VARIANTS}
    ran = [method for name, method in known.items() if any((d, name) in table for d in names)]
    groups = [(votes, [m for m in ran if m.votes == votes]) for votes in GROUPS if any(m.votes == votes for m in ran)]
    wide = min(columns or len(names), len(names))
    lines = [names[i : i + wide] for i in range(0, len(names), wide)]
    height = len(groups) * len(lines)
    figure = Figure(figsize=(3.6 * wide + 2.6, 3.1 * height + 0.4), layout="constrained")
    axes = figure.subplots(height, wide, sharey=True, sharex=True, squeeze=False)
    for line, ((votes, group), shown) in zip(axes, product(groups, lines), strict=True):
        for ax, dataset in zip(line, shown, strict=False):
            for method in group:
                if (dataset, method.name) in table:
                    _draw(ax, table[dataset, method.name], method)
            ax.grid(color="#dddddd", linewidth=0.6)
            ax.spines[["top", "right"]].set_visible(False)
            ax.set_title(catalogue.CATALOGUE[dataset].title)
            ax.set_xlabel(AXIS[kind])
        for ax in line[len(shown) :]:
            ax.set_visible(False)
        title = GROUPS[votes].format(reference=reference)
        place = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5), "alignment": "left", "frameon": False}
        line[len(shown) - 1].legend(*_first_of_each(line), title=title, fontsize=9, title_fontsize=9, **place)
        line[0].set_ylabel("accuracy on clean test data\n(mean over folds ± standard error)")
    with replacing(path) as target:
        figure.savefig(target, dpi=150, format=path.suffix[1:])


def _first_of_each(axes: Any) -> tuple[list[Any], list[str]]:
    """Handles and labels of a row of panels, each label once: a method may have failed on one data set."""
    found: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)


def _draw(ax: Any, by_noise: dict[float, list[float]], method: methods.Method) -> None:
    x = [100 * noise for noise in by_noise]
    mean = np.array([fmean(values) for values in by_noise.values()])
    error = np.array([stdev(v) / len(v) ** 0.5 if len(v) > 1 else 0 for v in by_noise.values()])
    ours = method.name.startswith("rlda")
    ax.fill_between(x, mean - error, mean + error, color=method.colour, alpha=0.08, linewidth=0)
    ax.plot(
        x,
        mean,
        color=method.colour,
        marker="o" if ours else ".",
        markersize=4.5,
        linewidth=2.4 if ours else 1.3,
        zorder=3 if ours else 2,
        label=method.label,
    )


def _only(values: set[str]) -> str:
    """The one value; two in one figure would compare what cannot be compared."""
    if len(values) != 1:
        raise ValueError(f"A figure shows one kind of contamination, but these rows hold {', '.join(sorted(values))}.")
    return values.pop()
