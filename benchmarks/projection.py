"""`python -m benchmarks.projection OUT --data-dir FOLDER`: how discriminant a projection is that saw wrong labels.

Projections of all kinds are learned from training labels some of which were flipped. In the space of m dimensions, 2 or
classes − 1, k neighbors then vote with the right training labels (the paper's protocol B), so that only the projection
has seen wrong ones. Same folds, same flips and same scaling for all. Cases already in the file are not computed again.
"""

from collections.abc import Callable
from statistics import fmean
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline

from benchmarks import kept
from robustlda import DLE, MMC, RatioLDA, RobustLDA, SupervisedLPP, TraceRatioLDA
from robustlda.datasets import catalogue
from robustlda.datasets.contaminate import contaminate
from robustlda.experiments.baselines import classical_lda

SETS = ("vehicle", "dermatology", "wine", "digits", "yale", "orl", "coil20")
LEVELS = (0.0, 0.2, 0.4)
FIELDS = ["data", "fold", "seed", "noise", "method", "dimensions", "1-NN", "5-NN"]


class _First:
    """The first m coordinates of a projection."""

    def __init__(self, projection: Any, m: int) -> None:
        self._projection, self._m = projection, m

    def fit(self, X: np.ndarray, y: np.ndarray) -> "_First":
        self._projection.fit(X, y)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self._projection.transform(X))[:, : self._m]


def _nca(m: int) -> Any:
    # It has a matrix of features × m to learn by gradients; faces are reduced to what it can take in minutes.
    return make_pipeline(PCA(0.99, svd_solver="full"), NeighborhoodComponentsAnalysis(m, max_iter=50, random_state=0))


METHODS: dict[str, Callable[[int], Any]] = {
    "RobustLDA": lambda m: RobustLDA(m, decision=None),
    "rLDA (the paper)": lambda m: RatioLDA(m, decision=None),
    "PCA": lambda m: PCA(m),
    "LDA": lambda m: _First(classical_lda(), m),
    "shrunk LDA": lambda m: _First(LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"), m),
    "trLDA": lambda m: TraceRatioLDA(m, decision=None),
    "MMC": lambda m: MMC(m, decision=None),
    "supervised LPP": lambda m: SupervisedLPP(m, decision=None),
    "DLE": lambda m: DLE(m, decision=None),
    "NCA": _nca,
}


def run(data: str, seed: int, done: set[tuple[str, ...]], methods: list[str], keep: Callable[[dict], None]) -> None:
    """All cases of one data set that are not done yet."""
    dataset = catalogue.dataset_named(data)
    X, y = dataset.load()
    _, y = np.unique(y, return_inverse=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    for fold, (train, test) in enumerate(folds.split(X, y)):
        scaling = dataset.scaling().fit(X[train])
        A, B = (np.asarray(scaling.transform(part), float) for part in (X[train], X[test]))
        for noise in LEVELS:
            rng = np.random.default_rng([seed, fold, round(100 * noise)])
            given = contaminate(A, y[train], "uniform", noise, rng)[1] if noise else y[train]
            for method in methods:
                for dimensions in ("2", "classes - 1"):
                    case = (data, str(fold), str(seed), str(noise), method, dimensions)
                    m = 2 if dimensions == "2" else int(y.max())
                    if case in done or m > y.max():
                        continue
                    projection = METHODS[method](m).fit(A, given)
                    Z, T = projection.transform(A), projection.transform(B)
                    line = dict(zip(FIELDS, case, strict=False))
                    for k in (1, 5):
                        line[f"{k}-NN"] = f"{KNeighborsClassifier(k).fit(Z, y[train]).score(T, y[test]):.4f}"
                    keep(line)


def summarize(lines: list[dict[str, str]]) -> str:
    """A table of means for each number of dimensions and neighbors."""
    text = []
    for dimensions in ("classes - 1", "2"):
        for k in ("5-NN", "1-NN"):
            text += [f"### {dimensions.replace('-', '−')} dimensions, {k}", ""]
            text += ["| projection | all correct | 20 % flipped | 40 % flipped |", "|---" * 4 + "|"]
            rows = {m: [_mean(lines, m, dimensions, k, noise) for noise in LEVELS] for m in METHODS}
            best = [max(column) for column in zip(*rows.values(), strict=True)]
            for method, values in sorted(rows.items(), key=lambda row: -row[1][-1]):
                shown = (f"{v:.3f}".lstrip("0") for v in values)
                cells = (f"**{s}**" if v == b else s for s, v, b in zip(shown, values, best, strict=True))
                text.append(f"| {method} | " + " | ".join(cells) + " |")
            text.append("")
    return "\n".join(text)


def _mean(lines: list[dict[str, str]], method: str, dimensions: str, k: str, noise: float) -> float:
    """Mean over data sets of the mean over folds."""
    chosen = [n for n in lines if (n["method"], n["dimensions"], float(n["noise"])) == (method, dimensions, noise)]
    sets = {n["data"] for n in chosen}
    return fmean(fmean(float(n[k]) for n in chosen if n["data"] == data) for data in sets) if sets else float("nan")


def main() -> None:
    parser = kept.parser("projection", __doc__)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--methods", default=",".join(METHODS))
    arguments = kept.arguments(parser)
    found = kept.Lines(arguments.out / "projection.csv", FIELDS)
    done = {tuple(line[name] for name in FIELDS[:6]) for line in found}

    def keep(line: dict[str, str]) -> None:
        found.keep(line)
        print(*line.values(), flush=True)

    for data in arguments.sets.split(","):
        run(data, arguments.seed, done, arguments.methods.split(","), keep)
    kept.tell(arguments.out, "The projection alone", summarize(found))


if __name__ == "__main__":
    main()
