"""`python -m benchmarks.robustness FOLDER [--people DATA]`: the tables of results/robustness from its comparison.csv.

With `--people` and the folder of the data, methods are first trained with labels that people gave (labelme, sentiment:
the majority of several answers, or one) and tested on the true ones; results are kept in people.csv, and what is there
is not computed again.
"""

import argparse
import csv
import os
import warnings
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD

from benchmarks.judgement import people_split
from robustlda.datasets.catalogue import CATALOGUE, FOLDER_VARIABLE
from robustlda.experiments import figures, records
from robustlda.experiments.methods import ENSEMBLES, METHODS, VARIANTS, method_named
from robustlda.experiments.protocol import Row
from robustlda.report.document import png, save

EIGHT = ("iris", "wine", "vehicle", "dermatology", "breast_cancer", "digits", "yale", "orl")
TITLES = {
    ("uniform", 0.0): "Correct labels",
    ("uniform", 0.2): "20 % of the training labels flipped",
    ("uniform", 0.4): "40 % of the training labels flipped",
    ("next_class", 0.3): "30 % of every other class labeled as the next",
    ("nearest_class", 0.3): "30 % of every other class labeled as the nearest",
    ("gross_rows", 0.1): "10 % of the training rows replaced by gross outliers",
}


def main(folder: Path) -> None:
    rows = [row for row in records.read(folder / "comparison.csv", Row) if row.succeeded]
    parts = []
    lost = []
    for (kind, noise), title in TITLES.items():
        chosen = _same_folds([r for r in rows if (r.kind, r.noise) == (kind, noise) and r.method in METHODS])
        parts += [f"### {title}", "", *_table(chosen), ""]
        lost.append(f"- {title}: {_losses(chosen)}.")
    parts += ["## Where another method is ahead of `RobustLDA()` by half a point or more", "", *lost, ""]
    parts += ["## Labels by people", "", *_people(folder / "people.csv"), ""]
    parts += ["## Trees, tuned inside the fold", "", *_trees(rows), ""]
    parts += ["## One setting changed", "", *_variants(rows), ""]
    parts += ["## Estimated noise and calibration", "", *_noise(rows), ""]
    text = (folder / "README.md").read_text(encoding="utf-8")
    head = text[: text.index("<!-- tables -->")]
    (folder / "README.md").write_text(head + "<!-- tables -->\n\n" + "\n".join(parts), encoding="utf-8")
    panels = [r for r in rows if r.kind == "uniform" and r.method in METHODS and r.dataset in EIGHT]
    save(folder / "accuracy.png", png(figures.accuracy_against_noise(panels, columns=4)))


def _same_folds(rows: list[Row]) -> list[Row]:
    """The rows of those folds of a data set that every method was run on."""
    folds: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        folds[row.dataset][row.method].add(row.fold)
    common = {dataset: set.intersection(*by_method.values()) for dataset, by_method in folds.items()}
    return [row for row in rows if row.fold in common[row.dataset]]


def _losses(rows: list[Row]) -> str:
    mean = _means(rows)
    peers = [m for m in mean if m not in ("rlda", "pca_rule", "rlda_centroid")]
    found = []
    for dataset, ours in mean["rlda"].items():
        best = max(peers, key=lambda m: mean[m].get(dataset, 0))
        behind = mean[best].get(dataset, 0) - ours
        if behind >= 0.005:
            found.append(f"{CATALOGUE[dataset].title} {100 * behind:.1f} ({method_named(best).label})")
    return ", ".join(found) or "nowhere"


def _means(rows: list[Row]) -> dict[str, dict[str, float]]:
    """Mean accuracy by method and data set."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        values[row.method][row.dataset].append(row.accuracy)
    return {m: {d: fmean(v) for d, v in by_set.items()} for m, by_set in values.items()}


def _table(rows: list[Row]) -> list[str]:
    mean = _means(rows)
    sets = [name for name in CATALOGUE if any(name in by_set for by_set in mean.values())]
    sets.sort(key=lambda name: (name not in EIGHT, list(CATALOGUE).index(name)))
    complete = [d for d in sets if all(d in by_set for by_set in mean.values())]
    lines = ["| method | " + " | ".join(CATALOGUE[d].title for d in sets) + " | mean of 8 | mean of all |"]
    lines += ["|---" * (len(sets) + 3) + "|"]

    def average(method: str, over: list[str]) -> float:
        return fmean(mean[method].get(d, np.nan) for d in over)

    eight = [d for d in EIGHT if d in sets]
    best = {d: max(by_set.get(d, 0) for by_set in mean.values()) for d in sets}
    for method in sorted(mean, key=lambda m: -average(m, eight)):
        cells = " | ".join(_cell(mean[method].get(d), best[d]) for d in sets)
        means = f"{average(method, eight):.3f} | {average(method, complete):.3f}"
        lines.append(f"| {method_named(method).label} | {cells} | {means} |")
    if len(complete) < len(sets):
        lacking = ", ".join(CATALOGUE[d].title for d in sets if d not in complete)
        lines.append(f"\nNot in the mean of all, because some methods were not run there: {lacking}.")
    return lines


def _cell(value: float | None, best: float) -> str:
    if value is None:
        return "–"
    text = f"{value:.3f}".lstrip("0")
    return f"**{text}**" if value >= best - 5e-4 else text


def _variants(rows: list[Row]) -> list[str]:
    lines = ["| RobustLDA with | " + " | ".join(TITLES.values()) + " |", "|---" * (len(TITLES) + 1) + "|"]
    for method in ("rlda", *VARIANTS, "rlda_centroid"):
        if not any(row.method == method for row in rows):
            continue
        cells = []
        for kind, noise in TITLES:
            chosen = [r for r in rows if (r.kind, r.noise, r.method) == (kind, noise, method) and r.dataset in EIGHT]
            mean = _means(chosen).get(method, {})
            cells.append(f"{fmean(mean.values()):.3f}".lstrip("0") if len(mean) == len(EIGHT) else "–")
        label = "the defaults" if method == "rlda" else method_named(method).label
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return lines


def _trees(rows: list[Row]) -> list[str]:
    """Forests and boosting are run on tables only."""
    sets = ("vehicle", "digits", "breast_cancer", "dermatology")
    levels = (0.0, 0.2, 0.4)
    heads = [f"{CATALOGUE[name].title}, {level:.0%}" for name in sets for level in levels]
    lines = ["| method | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for method in ("rlda", *ENSEMBLES):
        found = {lv: _means([r for r in rows if (r.kind, r.noise) == ("uniform", lv)]).get(method, {}) for lv in levels}
        cells = [f"{found[lv][name]:.3f}".lstrip("0") if name in found[lv] else "–" for name in sets for lv in levels]
        lines.append(f"| {method_named(method).label} | " + " | ".join(cells) + " |")
    return lines


PEOPLE = ("labelme majority", "labelme one", "sentiment majority", "sentiment one")
ON_PEOPLE = ("rlda", "rlda_centroid", "pca_rule", "svm", "shrunk_lda", "logistic", "confident", "knn_tuned")


def run_people(path: Path) -> None:
    """Append to people.csv what it lacks."""
    done = {tuple(line[:2]) for line in _read(path)}
    for case in PEOPLE:
        data, which = case.split()
        X, given, Z, truth = people_split(data, which)
        for name in ON_PEOPLE:
            if (case, name) in done:
                continue
            method = method_named(name)
            A, B = (X, Z) if method.sparse or not hasattr(X, "toarray") else _latent(X, Z)
            accuracy = float((method.build().fit(A, given).predict(B) == truth).mean())
            with path.open("a", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow([case, name, f"{accuracy:.4f}"])
            print(case, name, f"{accuracy:.4f}", flush=True)


def _latent(X: Any, Z: Any) -> tuple[np.ndarray, np.ndarray]:
    reduction = TruncatedSVD(300, random_state=0).fit(X)
    return reduction.transform(X), reduction.transform(Z)


def _read(path: Path) -> list[list[str]]:
    if not path.exists():
        return []
    with path.open() as file:
        return list(csv.reader(file))


def _people(path: Path) -> list[str]:
    found = {(case, method): value for case, method, value in _read(path)}
    lines = ["| method | " + " | ".join(PEOPLE) + " |", "|---" * (len(PEOPLE) + 1) + "|"]
    for method in ON_PEOPLE:
        cells = [found.get((case, method), "–").lstrip("0") for case in PEOPLE]
        lines.append(f"| {method_named(method).label} | " + " | ".join(cells) + " |")
    return lines


def _noise(rows: list[Row]) -> list[str]:
    levels = [0.0, 0.2, 0.4]
    lines = ["| data set | " + " | ".join(f"{p:.0%}: estimate, calibration error" for p in levels) + " |"]
    lines += ["|---" * (len(levels) + 1) + "|"]
    for name, dataset in CATALOGUE.items():
        cells = []
        for level in levels:
            chosen = [r for r in rows if (r.dataset, r.kind, r.noise, r.method) == (name, "uniform", level, "rlda")]
            pair = [fmean(getattr(r, key) for r in chosen) for key in ("noise_rate", "calibration")] if chosen else []
            cells.append(f"{pair[0]:.3f}, {pair[1]:.3f}" if pair else "–")
        lines.append(f"| {dataset.title} | " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robustness", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--people", type=Path, help="Folder of the data.")
    arguments = parser.parse_args()
    if arguments.people:
        os.environ[FOLDER_VARIABLE] = str(arguments.people)
        warnings.simplefilter("ignore")
        run_people(arguments.folder / "people.csv")
    main(arguments.folder)
