"""The benchmark's figure and page, from its CSV files alone."""

import csv
from html import escape
from io import StringIO
from pathlib import Path

from matplotlib.figure import Figure

from robustlda.report.files import replacing

COLORS = {"robustlda": "#c0143c", "robustlda, plain steps": "#1f6fb2", "textbook NumPy": "#777777"}

_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #8884 }
th:first-child, td:first-child { text-align: left }
td.best { font-weight: 700 }
.scroll { overflow-x: auto }
figure { margin: 1.5rem 0 } svg { max-width: 100%; height: auto; background: #fff }
"""


def write(out: Path) -> None:
    """`curves.svg` and `report.html` from the CSV files in a folder."""
    cases, curves, roofline = (read(out / f"{name}.csv") for name in ("benchmarks", "curves", "roofline"))
    figure = _figure(curves) if curves else ""
    if figure:
        with replacing(out / "curves.svg") as target:
            target.write_text(figure)
    parts = [
        "<h1>Speed of robustlda</h1>",
        "<p>One BLAS thread, medians, every case in a process of its own, all from the principal axes to a relative "
        "change of 1e-6. <i>Textbook NumPy</i> is Algorithm 2 as one would write it down; <i>plain steps</i> are the "
        "same steps with this package's kernels. J is computed afterwards by one function for all.</p>",
        "<h2>Seconds for a whole fit</h2>",
        _table(cases, "seconds"),
        "<h2>Iterations</h2>",
        _table(cases, "iterations"),
        "<h2>Final J</h2>",
        _table(cases, "J"),
        "<h2>J against time</h2>",
        f"<figure>{figure[figure.find('<svg') :]}</figure>",
        "<h2>Against the machine's limit</h2>",
        _plain_table(roofline),
    ]
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Speed of robustlda</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style><body>{''.join(parts)}</body></html>"
    )
    with replacing(out / "report.html") as target:
        target.write_text(page)


def _table(cases: list[dict[str, str]], field: str) -> str:
    solvers = list(dict.fromkeys(row["solver"] for row in cases if row.get(field)))
    values = {(row["data"], row["solver"]): row for row in cases}
    lines = ["<tr><th>data</th>" + "".join(f"<th>{escape(solver)}</th>" for solver in solvers) + "</tr>"]
    for data in dict.fromkeys(row["data"] for row in cases):
        rows = [values.get((data, solver), {}) for solver in solvers]
        size = next(f"{row['n']} × {row['d']}" for row in cases if row["data"] == data)
        cells = [f"<td>{escape(row.get(field) or row.get('note') or '–')}</td>" for row in rows]
        lines.append(f"<tr><td>{escape(data)} <small>({size})</small></td>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def _plain_table(rows: list[dict[str, str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{escape(value)}</td>" for value in row.values()) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def _figure(curves: list[dict[str, str]]) -> str:
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
        ax.set_xlabel("seconds, start included")
        ax.grid(color="#dddddd", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("J above the best found, relative")
    figure.axes[0].legend(frameon=False, fontsize=9)
    text = StringIO()
    figure.savefig(text, format="svg")
    return text.getvalue()


def read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
