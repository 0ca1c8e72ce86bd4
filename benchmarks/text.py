"""`python -m benchmarks.text OUT --data-dir FOLDER`: text, where terms are many and rare ones matter.

Accuracy on clean test labels of `RobustLDA()`, logistic regression and a linear SVM, the latter two tuned inside the
training fold on its labels: 20 Newsgroups and Reuters-21578 (one fold in five, labels correct, 20 and 40 % flipped) and
sentiment (its own test sentences; also with the labels that people gave: the majority of several answers, or one). All
see the same tf-idf terms. Cases already in the file are not computed again.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.svm import LinearSVC

from benchmarks import kept
from robustlda import RobustLDA
from robustlda.datasets import catalogue
from robustlda.datasets.contaminate import contaminate
from robustlda.experiments.baselines import Tuned

FIELDS = ["data", "labels", "method", "accuracy", "seconds"]
LABELS = ("correct", "20 % flipped", "40 % flipped", "majority", "one answer")
SEED = 3
METHODS: dict[str, Callable[[], Any]] = {
    "RobustLDA": RobustLDA,
    "logistic regression": lambda: Tuned(LogisticRegression(max_iter=300), {"C": [1, 10, 100]}),
    "linear SVM": lambda: Tuned(LinearSVC(), {"C": [0.03, 0.1, 0.3, 1]}),
}
Problem = tuple[Any, Any, np.ndarray, dict[str, np.ndarray]]


def _collection(name: str) -> Problem:
    """Training and test documents of one fold, test labels, and all kinds of training labels."""
    dataset = catalogue.dataset_named(name)
    X, y = dataset.load()
    train, test = next(KFold(5, shuffle=True, random_state=SEED).split(X))
    scaling = dataset.scaling().fit(X[train])
    A, B = (sp.csr_array(scaling.transform(X[part])) for part in (train, test))
    return A, B, y[test], _flipped(A, y[train])


def _sentiment() -> Problem:
    folder = catalogue.folder()
    stored = np.load(folder / "sentiment.labels.npz")
    train = stored["is_train"].astype(bool)
    X = sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(sp.load_npz(folder / "sentiment.X.npz")))
    y = np.load(folder / "sentiment.y.npy").astype(int)
    people = {"majority": stored["y_majority"][train].astype(int), "one answer": stored["y_one"][train].astype(int)}
    A, B = X[np.flatnonzero(train)], X[np.flatnonzero(~train)]
    return A, B, y[~train], _flipped(A, y[train]) | people


def _flipped(X: Any, y: np.ndarray) -> dict[str, np.ndarray]:
    found = {"correct": y}
    for share in (20, 40):
        found[f"{share} % flipped"] = contaminate(X, y, "uniform", share / 100, np.random.default_rng(SEED))[1]
    return found


SETS: dict[str, Callable[[], Problem]] = {
    "sentiment": _sentiment,
    "Reuters-21578": lambda: _collection("reuters21578"),
    "20 Newsgroups": lambda: _collection("20newsgroups"),
}


def cases(done: set[tuple[str, ...]]) -> Iterator[dict[str, str]]:
    """Results of what is not done yet."""
    for data, load in SETS.items():
        if all((data, labels, method) in done for labels in LABELS[:3] for method in METHODS):
            continue
        A, B, truth, by_labels = load()
        for labels, given in by_labels.items():
            for method, build in METHODS.items():
                if (data, labels, method) not in done:
                    begin = time.perf_counter()
                    accuracy = float((build().fit(A, given).predict(B) == truth).mean())
                    values = (data, labels, method, f"{accuracy:.4f}", f"{time.perf_counter() - begin:.1f}")
                    yield dict(zip(FIELDS, values, strict=True))


def summarize(lines: list[dict[str, str]]) -> str:
    """One table for each data set."""
    text = []
    for data in dict.fromkeys(line["data"] for line in lines):
        found = {(n["labels"], n["method"]): float(n["accuracy"]) for n in lines if n["data"] == data}
        shown = [labels for labels in LABELS if any(key[0] == labels for key in found)]
        text += [f"### {data}", "", f"| method | {' | '.join(shown)} |", "|---" * (len(shown) + 1) + "|"]
        best = {labels: max(v for key, v in found.items() if key[0] == labels) for labels in shown}
        for method in METHODS:
            cells = (_cell(found.get((labels, method)), best[labels]) for labels in shown)
            text.append(f"| {method} | {' | '.join(cells)} |")
        text.append("")
    return "\n".join(text)


def _cell(value: float | None, best: float) -> str:
    if value is None:
        return "–"
    shown = f"{value:.3f}".lstrip("0")
    return f"**{shown}**" if value == best else shown


def main() -> None:
    arguments = kept.arguments(kept.parser("text", __doc__))
    found = kept.Lines(arguments.out / "text.csv", FIELDS)
    for line in cases({(n["data"], n["labels"], n["method"]) for n in found}):
        found.keep(line)
        print(*line.values(), flush=True)
    kept.tell(arguments.out, "Text", summarize(found))


if __name__ == "__main__":
    main()
