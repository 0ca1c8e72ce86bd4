"""Figures of an experiment, drawn from its rows alone."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
from matplotlib.figure import Figure

from robustlda.datasets import catalogue
from robustlda.experiments import methods
from robustlda.experiments.protocol import Row
from robustlda.experiments.tables import accuracies
from robustlda.report.files import replacing

AXIS = {
    "uniform": "wrong training labels, %",
    "next_class": "wrong labels in every other class, %",
    "gross_rows": "training samples replaced by outliers, %",
    "salt_and_pepper": "training images with salt and pepper, %",
    "occlude": "training images partly covered, %",
}


def accuracy_against_noise(rows: Sequence[Row], path: Path) -> None:
    """One panel per data set: mean accuracy over the folds, with its standard error as a band."""
    kind, reference = _only({row.kind for row in rows}), _only({row.reference for row in rows})
    table = accuracies(rows)
    names = list(dict.fromkeys(dataset for dataset, _ in table))
    shown = [m for m in methods.METHODS if any((dataset, m) in table for dataset in names)]
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.6 * lines + 0.9), layout="constrained")
    axes = np.atleast_1d(figure.subplots(lines, columns, sharey=True, sharex=True, squeeze=False)).ravel()
    for ax, dataset in zip(axes, names, strict=False):
        for name in shown:
            if (dataset, name) in table:
                _draw(ax, table[dataset, name], methods.METHODS[name])
        ax.set_title(catalogue.find(dataset).title)
        ax.grid(color="#dddddd", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_xlabel(AXIS[kind])
    for ax in axes[len(names) :]:
        ax.set_visible(False)
    for ax in axes[::columns]:
        ax.set_ylabel("accuracy on clean test labels")
    handles = {line.get_label(): line for ax in axes for line in ax.get_lines()}
    order = [methods.METHODS[name].label for name in shown]
    figure.legend(
        [handles[label] for label in order],
        order,
        loc="outside lower center",
        ncols=min(len(order), 3 * columns - 2 if columns > 1 else 2),
        frameon=False,
        handlelength=2.6,
    )
    figure.suptitle(f"1-NN votes with {reference} reference labels; dashed methods decide by themselves", fontsize=10)
    with replacing(path) as target:
        figure.savefig(target, dpi=150, format=path.suffix[1:])


def _draw(ax, by_noise: dict[float, list[float]], method: methods.Method) -> None:  # type: ignore[no-untyped-def]
    x = [100 * noise for noise in by_noise]
    mean = np.array([fmean(values) for values in by_noise.values()])
    error = np.array([stdev(v) / len(v) ** 0.5 if len(v) > 1 else 0 for v in by_noise.values()])
    ax.fill_between(x, mean - error, mean + error, color=method.colour, alpha=0.10, linewidth=0)
    ax.plot(
        x,
        mean,
        color=method.colour,
        linestyle="-" if method.votes else (0, (4, 1.5)),
        marker="o" if method.votes else "s",
        markersize=3.5,
        linewidth=1.6,
        label=method.label,
    )


def _only(values: set[str]) -> str:
    """The one value; two protocols in one figure would compare what cannot be compared."""
    if len(values) != 1:
        raise ValueError(f"A figure shows one protocol, but these rows hold {', '.join(sorted(values))}.")
    return values.pop()
