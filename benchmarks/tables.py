"""`python -m benchmarks.tables OUT`: ten tables as people have them, with wrong labels planted, through the whole way.

Every table is written to a file as somebody would have it (units in cells, gaps, identifiers, dates, remarks, a column
that copies the label), then audited by the command line and by `LabelAudit().fit(frame, "label")`. Precision and recall
of the flags are those of planted errors; both ways must agree to the last digit.
"""

import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn import datasets

from benchmarks import measured
from benchmarks.measured import Measured

FIELDS = ["table", "errors", "rows", "columns", "wrong", "stated", "low", "high", "flagged", "precision", "recall",
          "same in Python"]  # fmt: skip

Planted = tuple[pa.Table, str, np.ndarray, str]
"""A table, its label column, the true labels, and the kind of errors."""


def _uniform(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    names, given = np.unique(y), y.copy()
    for i in np.flatnonzero(rng.random(len(y)) < share):
        given[i] = rng.choice(names[names != y[i]])
    return given


def _one_way(y: np.ndarray, source: Any, target: Any, share: float, rng: np.random.Generator) -> np.ndarray:
    chosen = (y == source) & (rng.random(len(y)) < share)
    return np.where(chosen, target, y)


def _gaps(values: Any, share: float, rng: np.random.Generator, gap: Any = None) -> list[Any]:
    return [gap if rng.random() < share else v for v in np.asarray(values).tolist()]


def penguins(rng: np.random.Generator) -> Planted:
    """Birds in three species: grams in cells, islands, sexes with gaps, dates; errors uniform."""
    n = 344
    y = rng.choice(["Adelie", "Chinstrap", "Gentoo"], n, p=[0.44, 0.2, 0.36])
    k = np.searchsorted(["Adelie", "Chinstrap", "Gentoo"], y)
    sex = rng.choice(["female", "male"], n)
    larger = np.where(sex == "male", 1.0, 0.0)
    bill = np.array([38.8, 48.8, 47.5])[k] + 1.8 * larger + rng.normal(0, 1.6, n)
    depth = np.array([18.3, 18.4, 15.0])[k] + 0.8 * larger + rng.normal(0, 0.7, n)
    flipper = np.array([190, 196, 217])[k] + 4 * larger + rng.normal(0, 5, n)
    mass = np.array([3400, 3500, 4700])[k] + 500 * larger + rng.normal(0, 250, n)
    given = _uniform(y, 0.06, rng).astype(object)
    spelled = [v.upper() if rng.random() < 0.02 else v + " " if rng.random() < 0.02 else v for v in given]
    return pa.table({
        "studyName": rng.choice(["PAL0708", "PAL0809", "PAL0910"], n),
        "Sample Number": np.arange(1, n + 1),
        "species": spelled,
        "Island": np.where(rng.random(n) < 0.8, np.array(["Torgersen", "Dream", "Biscoe"])[k], "Dream"),
        "Date Egg": np.datetime64("2007-11-01") + rng.integers(0, 900, n),
        "Culmen Length (mm)": _gaps(bill.round(1), 0.02, rng),
        "Culmen Depth (mm)": _gaps(depth.round(1), 0.02, rng),
        "Flipper Length": flipper.round(),
        "Body Mass": [f"{m:,.0f} g" if rng.random() > 0.03 else "?" for m in mass],
        "Sex": _gaps(sex, 0.05, rng),
    }), "species", y, "uniform 6 %"  # fmt: skip


def wines(rng: np.random.Generator) -> Planted:
    """Measurements with a column that repeats another; errors uniform."""
    X, k = datasets.load_wine(return_X_y=True)
    y = np.array(["Barolo", "Grignolino", "Barbera"])[k]
    names = [name.replace("_", " ") for name in datasets.load_wine().feature_names]
    columns: dict[str, Any] = {name: X[:, j] for j, name in enumerate(names)}
    columns["proline again"] = X[:, 12]
    return pa.table({**columns, "kind": _uniform(y, 0.1, rng)}), "kind", y, "uniform 10 %"


def biopsies(rng: np.random.Generator) -> Planted:
    """A diagnosis that is missed: one way, malignant called benign."""
    data = datasets.load_breast_cancer()
    y = np.array(["malignant", "benign"])[data.target]
    columns: dict[str, Any] = {name: data.data[:, j] for j, name in enumerate(data.feature_names)}
    columns["patient id"] = rng.permutation(10**6)[: len(y)]
    return pa.table({**columns, "diagnosis": _one_way(y, "malignant", "benign", 0.15, rng)}), "diagnosis", y, (
        "one way 15 %"
    )  # fmt: skip


def sensors(rng: np.random.Generator) -> Planted:
    """36 columns that are all positive, as pixels are; errors uniform."""
    n, d = 1500, 36
    k = rng.integers(0, 5, n)
    X = np.exp(0.4 * rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(5, d))[k]) * 10.0 ** rng.integers(-2, 4, d)
    y = np.array(["idle", "low", "mid", "high", "fault"])[k]
    return pa.table({**{f"s{j:02d} [/min]": X[:, j] for j in range(d)}, "state": _uniform(y, 0.11, rng)}), "state", y, (
        "uniform 11 %"
    )  # fmt: skip


def credit(rng: np.random.Generator) -> Planted:
    """Few defaults, some of which were never recorded: imbalanced, one way."""
    n = 4000
    bad = rng.random(n) < 0.08
    y = np.where(bad, "default", "paid")
    income = np.exp(rng.normal(10.4 - 0.5 * bad, 0.35))
    columns = {
        "account no": rng.permutation(10**7)[:n],
        "zip": [f"0{z}" for z in rng.integers(1000, 9999, n)],
        "income": [f"${v:,.0f}" for v in income],
        "utilization": np.clip(rng.normal(0.3 + 0.45 * bad, 0.12), 0, 1.3),
        "late payments": rng.poisson(0.4 + 3.5 * bad),
        "age": rng.integers(19, 80, n),
        "employment": np.where(rng.random(n) < 0.35 * bad, "none", rng.choice(["full", "part", "self"], n)),
        "opened": np.datetime64("2015-01-01") + rng.integers(0, 3000, n),
    }
    return pa.table({**columns, "outcome": _one_way(y, "default", "paid", 0.2, rng)}), "outcome", y, (
        "imbalanced, one way 20 %"
    )  # fmt: skip


def machines(rng: np.random.Generator) -> Planted:
    """A rare failure, labels wrong both ways: imbalanced."""
    n = 3000
    bad = rng.random(n) < 0.05
    y = np.where(bad, "failed", "ok")
    flip = (bad & (rng.random(n) < 0.2)) | (~bad & (rng.random(n) < 0.01))
    columns = {
        "serial": [f"M-{i:06d}" for i in rng.permutation(n)],
        "temperature": rng.normal(70 + 18 * bad, 4),
        "vibration": np.exp(rng.normal(0.2 + 1.3 * bad, 0.25)),
        "pressure": _gaps(rng.normal(5 - 1.2 * bad, 0.4), 0.08, rng),
        "hours": rng.integers(0, 20_000, n),
        "line": rng.choice(list("ABCD"), n),
        "firmware": ["7.2.1"] * n,
    }
    return pa.table({**columns, "status": np.where(flip, np.where(bad, "ok", "failed"), y)}), "status", y, (
        "imbalanced, both ways"
    )  # fmt: skip


def tickets(rng: np.random.Generator) -> Planted:
    """Short texts of four departments; errors to the neighboring department only."""
    topics = {
        "billing": "invoice refund charge payment card receipt amount twice overdue",
        "shipping": "parcel delivery tracking courier address late lost box warehouse",
        "account": "password login email reset locked username profile verify settings",
        "returns": "return label exchange damaged defective wrong size item replace",
    }
    names = list(topics)
    n = 1200
    y = rng.choice(names, n)
    filler = [
        "the",
        "my",
        "please",
        "and",
        "is",
        "was",
        "have",
        "to",
        "for",
        "with",
        "order",
        "today",
        "help",
        "me",
        "it",
        "not",
    ]
    texts = [" ".join(rng.permutation([*rng.choice(topics[t].split(), 5), *rng.choice(filler, 6)])) for t in y]
    hours = rng.normal(np.searchsorted(sorted(names), y) * 3 + 5, 2).clip(0.2).round(1)
    given = _one_way(_one_way(y, "shipping", "returns", 0.2, rng), "billing", "account", 0.15, rng)
    columns = {"ticket": [f"T{i:07d}" for i in rng.permutation(n)], "message": texts, "hours open": hours,
               "priority": rng.choice(["low", "normal", "high"], n)}  # fmt: skip
    return pa.table({**columns, "department": given}), "department", y, "one way 15 and 20 %"


def survey(rng: np.random.Generator) -> Planted:
    """Answers on a scale of five, three groups, a leak that copies the label; errors uniform."""
    n, d = 900, 14
    k = rng.integers(0, 3, n)
    X = np.clip(np.rint(3 + 1.1 * rng.normal(size=(3, d))[k] + rng.normal(size=(n, d))), 1, 5)
    y = np.array(["urban", "suburban", "rural"])[k]
    given = _uniform(y, 0.1, rng)
    columns: dict[str, Any] = {f"q{j + 1}": _gaps(X[:, j], 0.03, rng) for j in range(d)}
    columns["group code"] = np.searchsorted(["rural", "suburban", "urban"], given)
    return pa.table({**columns, "remark": _gaps(["" for _ in range(n)], 1, rng), "area": given}), "area", y, (
        "uniform 10 %"
    )  # fmt: skip


def plants(rng: np.random.Generator) -> Planted:
    """Decimal commas, and a third of one kind called like its neighbor."""
    X, k = datasets.load_iris(return_X_y=True)
    rows = np.repeat(np.arange(150), 4)
    X, k = X[rows] + 0.08 * rng.normal(size=(600, 4)), k[rows]
    y = np.array(["setosa", "versicolor", "virginica"])[k]
    names = ["Kelchblatt Länge", "Kelchblatt Breite", "Blütenblatt Länge", "Blütenblatt Breite"]
    columns = {name: [f"{v:.2f}".replace(".", ",") for v in X[:, j]] for j, name in enumerate(names)}
    return pa.table({**columns, "Art": _one_way(y, "virginica", "versicolor", 0.3, rng)}), "Art", y, "one way 30 %"


def digits(rng: np.random.Generator) -> Planted:
    """Many columns of one kind, ten classes; errors uniform."""
    X, k = datasets.load_digits(return_X_y=True)
    y = np.array([f"digit {v}" for v in k])
    columns = {f"p{j}": X[:, j].astype(int) for j in range(64)}
    return pa.table({**columns, "label": _uniform(y, 0.2, rng)}), "label", y, "uniform 20 %"


TABLES: dict[str, Callable[[np.random.Generator], Planted]] = {
    f.__name__: f for f in (penguins, wines, biopsies, sensors, credit, machines, tickets, survey, plants, digits)
}


def write_csv(table: pa.Table, path: Path, name: str) -> None:
    """The file as somebody would have it: with semicolons where decimals have commas."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";" if name == "plants" else ",")
        writer.writerow(table.column_names)
        for row in zip(*(table[c].to_pylist() for c in table.column_names), strict=True):
            writer.writerow(["" if v is None else v for v in row])


def measure(name: str, seed: int, folder: Path) -> dict[str, str]:
    """One table through both ways."""
    from robustlda import LabelAudit
    from robustlda.tables.reading import read_table

    table, label, true, errors = TABLES[name](np.random.default_rng([seed, list(TABLES).index(name)]))
    path, out = folder / f"{name}.csv", folder / f"{name}-{seed}"
    write_csv(table, path, name)
    command = [sys.executable, "-m", "robustlda", "audit", str(path), "--label", label, "--out", str(out), "--force"]
    subprocess.run(command, check=True, capture_output=True)
    found = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    with (out / "suspects.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    flags = np.zeros(len(true), bool)
    flags[[int(line["id"]) for line in lines if line["finding"] == "mislabeled"]] = True
    audit = LabelAudit().fit(read_table(path).data, label)
    wrong = audit.given_ != true
    same = audit.noise_rate_ == _exact(found, audit) and bool((flags == (audit.finding_ == "mislabeled")).all())
    hits = (flags & wrong).sum()
    low, high = found["noise_interval"]
    return {
        "table": name, "errors": errors, "rows": str(len(true)), "columns": str(table.num_columns),
        "wrong": f"{wrong.mean():.4f}", "stated": f"{found['noise_rate']:.4f}", "low": f"{low:.4f}",
        "high": f"{high:.4f}", "flagged": str(flags.sum()),
        "precision": f"{hits / max(flags.sum(), 1):.3f}", "recall": f"{hits / max(wrong.sum(), 1):.3f}",
        "same in Python": "yes" if same else "no",
    }  # fmt: skip


def _exact(found: dict[str, Any], audit: Any) -> float:
    """The rate in full, if the rounded one in the file is that rate."""
    return audit.noise_rate_ if round(audit.noise_rate_, 6) == found["noise_rate"] else float("nan")


def summarize(lines: list[dict[str, str]]) -> str:
    """A row for each table and seed, and what they come to."""
    lines = sorted(lines, key=lambda line: (int(line["seed"]), list(TABLES).index(line["table"])))
    text = ["| table | errors | wrong | stated | interval | flagged | precision | recall |", "|---" * 8 + "|"]
    for line in lines:
        wrong, stated, low, high = (f"{float(line[name]):.3f}" for name in ("wrong", "stated", "low", "high"))
        cells = (line["errors"], wrong, stated, f"{low}–{high}", line["flagged"], line["precision"], line["recall"])
        text.append(f"| {line['table']}, seed {line['seed']} | {' | '.join(cells)} |")
    precision, recall = (fmean(float(line[name]) for line in lines) for name in ("precision", "recall"))
    covered = sum(float(line["low"]) <= float(line["wrong"]) <= float(line["high"]) for line in lines)
    lowest = (min(lines, key=lambda line: float(line[name])) for name in ("precision", "recall"))
    false, missed = (f"{line['table']} with seed {line['seed']}" for line in lowest)
    text += [
        "",
        f"Mean precision {precision:.3f}, mean recall {recall:.3f}; {covered} of {len(lines)} intervals cover the",
        f"share of wrong labels. The lowest precision is that of {false}, the lowest recall that of {missed}.",
    ]
    return "\n".join(text) + "\n"


def main() -> None:
    parser = measured.parser("tables", __doc__)
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--tables", default=",".join(TABLES))
    options = measured.read(parser)
    found = Measured(options.out / "tables.csv", ["seed", *FIELDS], ("seed", "table"))
    found.forget("table", options.again)
    with tempfile.TemporaryDirectory() as folder:
        for seed, name in product(options.seeds.split(","), options.tables.split(",")):
            if (seed, name) not in found:
                line = {"seed": seed, **measure(name, int(seed), Path(folder))}
                found.keep(line)
                print(*line.values(), flush=True)
    measured.write_tables(options.out, "Ten tables as people have them", summarize(found.lines))


if __name__ == "__main__":
    main()
