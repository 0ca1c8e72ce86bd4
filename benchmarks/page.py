"""The benchmark's figure and page, from its CSV files alone."""

import csv
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from benchmarks.datasets import DATA
from benchmarks.solvers import SOLVERS
from robustlda.report.document import Block, Document, Heading, Picture, ReportTable, Text, save, svg

COLORS = {"robustlda": "#c0143c", "robustlda, plain steps": "#1f6fb2", "textbook NumPy": "#777777"}


def write(out: Path) -> None:
    """`curves.svg` and `report.html` from the CSV files in a folder."""
    cases, curves, roofline = (read(out / f"{name}.csv") for name in ("benchmarks", "curves", "roofline"))
    blocks: list[Block] = [
        Text(
            "One BLAS thread, medians, every run in a process of its own, competitors taking turns; from the principal "
            "axes to a relative change of 1e-6 unless stated otherwise. *Textbook NumPy* is Algorithm 2 written down "
            "directly; *plain steps* are the same steps with this package's kernels. J is computed afterwards by the "
            "same function for all."
        )
    ]
    for title, field in (("Seconds for a whole fit", "seconds"), ("Iterations", "iterations"), ("Final J", "J")):
        blocks += [Heading(title), _table(cases, field)]
    drawings = {}
    if curves:
        drawing = _figure(curves)
        drawings["curves"] = svg(drawing)
        save(out / "curves.svg", drawings["curves"].encode())
        caption = "J above the best value found, against seconds."
        blocks += [Heading("J against time"), Picture("curves", drawing, caption)]
    peers, growth = (read(out / f"{name}.csv") for name in ("peers", "growth"))
    if peers:
        names = ["data", "method", "CPU seconds", "in units of RobustLDA()", "spread over turns"]
        text = "A whole fit; one BLAS thread, competitors taking turns in one process."
        blocks += [
            Heading("Beside other classifiers"),
            Text(text),
            ReportTable(names, [list(r.values()) for r in peers]),
        ]
    if growth:
        drawing = _growth(growth)
        drawings["growth"] = svg(drawing)
        save(out / "growth.svg", drawings["growth"].encode())
        caption = (
            "CPU seconds and memory of a default fit and of LDA. Slopes over the last three doublings: "
            + "; ".join(f"{what}, {method}: {slope:.2f}" for (what, method), slope in slopes(growth).items())
        )
        blocks += [Heading("Growth with the data"), Picture("growth", drawing, caption + ".")]
    if roofline:
        columns = [name.replace("_", " ") for name in roofline[0]]
        rows = [list(row.values()) for row in roofline]
        blocks += [Heading("Relative to the machine's limit"), ReportTable(columns, rows)]
    save(out / "report.html", Document("Speed of robustlda", blocks).html(drawings).encode())


def _table(cases: list[dict[str, str]], field: str) -> ReportTable:
    solvers = [solver for solver in SOLVERS if any(row["solver"] == solver and row.get(field) for row in cases)]
    values = {(row["data"], row["solver"]): row for row in cases}
    lines = []
    for data in (name for name in DATA if any(row["data"] == name for row in cases)):
        rows = [values.get((data, solver), {}) for solver in solvers]
        size = next(f"{row['n']} × {row['d']}" for row in cases if row["data"] == data)
        lines.append([f"{data} ({size})", *(_shown(row, field) for row in rows)])
    return ReportTable(["data", *solvers], lines)


def _shown(row: dict[str, str], field: str) -> str:
    if field == "seconds" and row.get(field):
        seconds = float(row[field])
        return f"{seconds:.3g}" if seconds < 100 else f"{seconds:.0f}"
    return row.get(field) or row.get("note") or "–"


def _figure(curves: list[dict[str, str]]) -> Figure:
    names = list(dict.fromkeys(row["data"] for row in curves))
    figure = Figure(figsize=(4.2 * len(names), 3.6), layout="constrained")
    for ax, data in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        rows = [row for row in curves if row["data"] == data]
        best = min(float(row["J"]) for row in rows)
        for solver in dict.fromkeys(row["solver"] for row in rows):
            path = [row for row in rows if row["solver"] == solver]
            gap = [max(float(row["J"]) / best - 1, 1e-8) for row in path]
            seconds = [float(row["seconds"]) for row in path]
            ax.loglog(seconds, gap, "o-", color=COLORS.get(solver), label=solver, markersize=4)
        ax.set_title(data)
        ax.set_xlabel("seconds, including the start")
        ax.grid(color="#dddddd", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("J above the best value found, relative")
    figure.axes[0].legend(frameon=False, fontsize=9)
    return figure


def slopes(growth: list[dict[str, str]], field: str = "cpu_seconds") -> dict[tuple[str, str], float]:
    """Slope of time against size in the log-log plot, over the last three doublings."""
    found = {}
    for case in dict.fromkeys((row["what"], row["method"]) for row in growth):
        path = [(float(row["size"]), float(row[field])) for row in growth if (row["what"], row["method"]) == case]
        sizes, values = np.log(np.array(path[-4:])).T
        found[case] = float(np.polyfit(sizes, values, 1)[0])
    return found


def _growth(growth: list[dict[str, str]]) -> Figure:
    kinds = list(dict.fromkeys(row["what"] for row in growth))
    figure = Figure(figsize=(4.2 * len(kinds), 6), layout="constrained")
    grid = figure.subplots(2, len(kinds), squeeze=False)
    for column, what in zip(grid.T, kinds, strict=True):
        for ax, field in zip(column, ("cpu_seconds", "peak_mb"), strict=True):
            for method, color in zip(
                dict.fromkeys(row["method"] for row in growth), ("#c0143c", "#1f6fb2"), strict=True
            ):
                path = [row for row in growth if (row["what"], row["method"]) == (what, method)]
                size, value = ([float(row[name]) for row in path] for name in ("size", field))
                ax.loglog(size, value, "o-", color=color, label=method, markersize=4)
            ax.set_xlabel(what)
            ax.grid(color="#dddddd", linewidth=0.6)
            ax.spines[["top", "right"]].set_visible(False)
    grid[0, 0].set_ylabel("CPU seconds")
    grid[1, 0].set_ylabel("peak memory, MB")
    grid[0, 0].legend(frameon=False, fontsize=9)
    return figure


def read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
