"""Figures of an experiment, drawn from its rows alone."""

from collections.abc import Mapping, Sequence
from itertools import product
from statistics import fmean, stdev
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from robustlda.datasets import catalogue
from robustlda.experiments import methods
from robustlda.experiments.protocol import Row
from robustlda.experiments.tables import accuracies, with_reference

CONTAMINATION = {
    "uniform": "wrong training labels",
    "next_class": "wrong labels in every other class",
    "nearest_class": "labels of the nearest class in every other class",
    "gross_rows": "training samples replaced by outliers",
    "salt_and_pepper": "training images with salt and pepper",
    "occlude": "training images partly covered",
}
"""What is on the horizontal axis, in per cent, for every kind of contamination."""

LABEL_NOISE = ("uniform", "next_class", "nearest_class")


def accuracy_against_noise(
    rows: Sequence[Row], *, reference: str = "noisy", columns: int | None = None, apart: bool = True
) -> Figure:
    """Mean accuracy over the folds, with its standard error as a band: a panel per data set, all on one scale.

    Methods that use 1-NN and methods with a decision rule of their own get separate rows of panels if `apart`.
    With `columns`, the data sets are wrapped into rows of that many.
    """
    kind = _only({row.kind for row in rows})
    table = accuracies(with_reference(rows, reference))
    names = list(dict.fromkeys(row.dataset for row in rows))
    groups = _groups(names, table, reference if kind in LABEL_NOISE else None, apart)
    wide = min(columns or len(names), len(names))
    lines = [names[i : i + wide] for i in range(0, len(names), wide)]
    high = len(groups) * len(lines)
    figure = Figure(figsize=(3.6 * wide + 2.6, 3.1 * high + 0.4), layout="constrained")
    axes = figure.subplots(high, wide, sharey=True, sharex=True, squeeze=False)
    for i, (line, ((_, group), shown)) in enumerate(zip(axes, product(groups, lines), strict=True)):
        _draw_line(line, shown, group, table, not apart)
        for ax in line[: len(shown)]:
            if i + 1 == high or wide * i + len(shown) < len(names):
                ax.set_xlabel(f"{CONTAMINATION[kind]}, %")
    for i, (title, _) in zip(range(0, high, len(lines)), groups, strict=True):
        place = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5), "alignment": "left", "frameon": False}
        handles = legend_entries(axes[i : i + len(lines)].ravel())
        axes[i, len(lines[0]) - 1].legend(*handles, title=title, fontsize=9, title_fontsize=9, **place)
    return figure


def _groups(
    names: Sequence[str], table: Mapping[tuple[str, str], Any], reference: str | None, apart: bool
) -> list[tuple[str, list[methods.Method]]]:
    """The methods that were run, in groups with a title each."""
    ran = [method for name, method in methods.known().items() if any((d, name) in table for d in names)]
    labels = f" with {reference} reference labels" if reference else ""
    if not apart:
        return [((f"1-NN{labels};\n" if reference else "") + "dashed: own decision rule", ran)]
    groups = [
        (f"1-NN{labels}", [method for method in ran if method.uses_1nn]),
        ("own decision rule", [method for method in ran if not method.uses_1nn]),
    ]
    return [(title, group) for title, group in groups if group]


def _draw_line(
    line: Any, shown: Sequence[str], group: Sequence[methods.Method], table: Mapping[tuple[str, str], Any], mixed: bool
) -> None:
    """One row of panels."""
    for ax, dataset in zip(line, shown, strict=False):
        for method in group:
            if (dataset, method.name) in table:
                _draw(ax, table[dataset, method.name], method, mixed)
        plain_axes(ax, catalogue.CATALOGUE[dataset].title)
        ax.tick_params(labelbottom=True)
        ax.xaxis.get_major_locator().set_params(integer=True)
    for ax in line[len(shown) :]:
        ax.set_visible(False)
    line[0].set_ylabel("accuracy on clean test data\n(mean over folds ± standard error)")


def plain_axes(ax: Any, title: str) -> None:
    """A titled panel with a faint grid and two spines."""
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(title)


def legend_entries(axes: Any) -> tuple[list[Any], list[str]]:
    """Handles and labels of several panels, each label once: a method may have failed on some data sets."""
    found: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)


def _draw(ax: Any, by_noise: dict[float, list[float]], method: methods.Method, mixed: bool) -> None:
    """One method; dashed if it has a decision rule of its own among others that use 1-NN."""
    x = [100 * noise for noise in by_noise]
    mean = np.array([fmean(values) for values in by_noise.values()])
    error = np.array([stdev(v) / len(v) ** 0.5 if len(v) > 1 else 0 for v in by_noise.values()])
    ax.fill_between(x, mean - error, mean + error, color=method.color, alpha=0.08, linewidth=0)
    ax.plot(
        x,
        mean,
        color=method.color,
        marker="o" if method.emphasized else ".",
        markersize=4.5,
        linewidth=2.4 if method.emphasized else 1.3,
        linestyle="-" if method.uses_1nn or not mixed else "--",
        zorder=3 if method.emphasized else 2,
        label=method.label,
    )


def _only(values: set[str]) -> str:
    """The only value; two kinds of contamination in one figure could not be compared."""
    if len(values) != 1:
        raise ValueError(f"A figure shows one kind of contamination, but these rows hold {', '.join(sorted(values))}.")
    return values.pop()
