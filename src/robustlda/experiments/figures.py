"""Figures of an experiment, drawn from its rows alone."""

from collections.abc import Sequence
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
    "gross_rows": "training samples replaced by outliers",
    "salt_and_pepper": "training images with salt and pepper",
    "occlude": "training images partly covered",
}
"""What is on the horizontal axis, in per cent, for every kind of contamination."""

GROUPS = {True: "1-NN votes, with {reference} reference labels", False: "the method decides by itself"}


def accuracy_against_noise(
    rows: Sequence[Row], *, reference: str = "noisy", columns: int | None = None, apart: bool = True
) -> Figure:
    """Mean accuracy over the folds, with its standard error as a band: a panel per data set, all on one scale.

    Methods that let 1-NN vote and methods with a rule of their own have rows of panels of their own, unless they are
    not to be kept `apart`. With `columns`, the data sets are broken into lines.
    """
    kind = _only({row.kind for row in rows})
    table = accuracies(with_reference(rows, reference))
    names = list(dict.fromkeys(row.dataset for row in rows))
    known = {**methods.METHODS, **methods.VARIANTS}
    ran = [method for name, method in known.items() if any((d, name) in table for d in names)]
    groups = [(GROUPS[votes].format(reference=reference), [m for m in ran if m.votes == votes]) for votes in GROUPS]
    if not apart:
        labels = f"1-NN has {reference} reference labels;\n" if kind in ("uniform", "next_class") else ""
        groups = [(f"{labels}dashed: the method decides by itself", ran)]
    groups = [(title, group) for title, group in groups if group]
    wide = min(columns or len(names), len(names))
    lines = [names[i : i + wide] for i in range(0, len(names), wide)]
    height = len(groups) * len(lines)
    figure = Figure(figsize=(3.6 * wide + 2.6, 3.1 * height + 0.4), layout="constrained")
    axes = figure.subplots(height, wide, sharey=True, sharex=True, squeeze=False)
    for i, (line, ((title, group), shown)) in enumerate(zip(axes, product(groups, lines), strict=True)):
        for ax, dataset in zip(line, shown, strict=False):
            for method in group:
                if (dataset, method.name) in table:
                    _draw(ax, table[dataset, method.name], method, not apart)
            plain_axes(ax, catalogue.CATALOGUE[dataset].title)
            ax.tick_params(labelbottom=True)
            if i + 1 == height or wide * i + len(shown) < len(names):
                ax.set_xlabel(f"{CONTAMINATION[kind]}, %")
        for ax in line[len(shown) :]:
            ax.set_visible(False)
        line[0].set_ylabel("accuracy on clean test data\n(mean over folds ± standard error)")
        if i % len(lines) == 0:
            place = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5), "alignment": "left", "frameon": False}
            handles = legend_entries(axes[i : i + len(lines)].ravel())
            line[len(shown) - 1].legend(*handles, title=title, fontsize=9, title_fontsize=9, **place)
    return figure


def plain_axes(ax: Any, title: str) -> None:
    """A titled panel with a faint grid and two spines."""
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(title)


def legend_entries(axes: Any) -> tuple[list[Any], list[str]]:
    """Handles and labels of a row of panels, each label once: a method may have failed on one data set."""
    found: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)


def _draw(ax: Any, by_noise: dict[float, list[float]], method: methods.Method, mixed: bool) -> None:
    """One method; dashed if it decides by itself among others that let 1-NN vote."""
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
        linestyle="-" if method.votes or not mixed else "--",
        zorder=3 if method.emphasized else 2,
        label=method.label,
    )


def _only(values: set[str]) -> str:
    """The one value; two in one figure would compare what cannot be compared."""
    if len(values) != 1:
        raise ValueError(f"A figure shows one kind of contamination, but these rows hold {', '.join(sorted(values))}.")
    return values.pop()
