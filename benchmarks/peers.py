"""`python -m benchmarks.peers`: a default fit beside those of other classifiers, and how it grows with the data.

All in one process with one BLAS thread, in CPU seconds, competitors taking turns; ratios to `RobustLDA()` in the same
turn have a median and a spread. Growth is measured by doubling rows, features or classes; the slope of the last
doublings in the log-log plot is 1 where time doubles with the data. Memory is the peak of what NumPy asks for in a fit.
Writes `peers.csv` and `growth.csv`, and with them `growth.svg` and `report.html`.
"""

import argparse
import csv
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as LDA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.page import write
from robustlda import RobustLDA
from robustlda.experiments import baselines
from robustlda.output import replacing

OURS = "RobustLDA()"
PEERS: dict[str, Callable[[], Any]] = {
    OURS: RobustLDA,
    "RobustLDA(decision=None)": lambda: RobustLDA(decision=None),
    "LDA, svd": LDA,
    "LDA, lsqr": lambda: LDA(solver="lsqr"),
    "LDA, eigen": lambda: LDA(solver="eigen", shrinkage=1e-6),
    "LDA, shrunk": lambda: LDA(solver="lsqr", shrinkage="auto"),
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "SVM, tuned": lambda: make_pipeline(StandardScaler(), baselines.TunedSVM()),
    "forest of 300 trees": baselines.forest,
    "confident learning": lambda: make_pipeline(StandardScaler(), baselines.ConfidentFilter()),
}
GROWING = (OURS, "LDA, svd")


def blobs(n: int, d: int, c: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes that overlap a little, with a tenth of the labels wrong."""
    rng, y = np.random.default_rng(0), np.arange(n) % c
    X = rng.normal(size=(n, d)) + 5 / np.sqrt(2 * d) * rng.normal(size=(c, d))[y]
    wrong = rng.random(n) < 0.1
    return X, np.where(wrong, rng.integers(0, c, n), y)


def peers(turns: int) -> Iterator[dict[str, str]]:
    """CPU seconds of every competitor, and its ratio to ours in the same turn."""
    for data, (X, y) in {"digits": load_digits(return_X_y=True), "table of 6000 × 36": blobs(6000, 36, 6)}.items():
        names = [name for name in PEERS if name != "confident learning" or find_spec("cleanlab")]
        seconds = np.array([[_seconds(PEERS[name], X, y) for name in names] for _ in range(turns)])
        ratios = seconds / seconds[:, [names.index(OURS)]]
        for k, name in enumerate(names):
            low, middle, high = np.quantile(ratios[:, k], (0, 0.5, 1))
            values = f"{np.median(seconds[:, k]):.4f}", f"{middle:.2f}", f"{low:.2f} to {high:.2f}"
            yield {"data": data, "method": name, **dict(zip(("cpu_seconds", "ratio", "spread"), values, strict=True))}


def growth(doublings: int) -> Iterator[dict[str, str]]:
    """Seconds and memory of fits to more and more rows, features and classes."""
    sizes = 2 ** np.arange(doublings + 1)
    cases = {
        "rows": [(k, (k, 20, 5)) for k in 1000 * sizes],
        "features": [(k, (2000, k, 5)) for k in 10 * sizes],
        "classes": [(k, (2000, 20, k)) for k in 5 * sizes],
    }
    for what, steps in cases.items():
        for size, shape in steps:
            X, y = blobs(*map(int, shape))
            for name in GROWING:
                taken = min(_seconds(PEERS[name], X, y) for _ in range(3))
                yield {
                    "what": what,
                    "size": str(size),
                    "method": name,
                    "cpu_seconds": f"{taken:.4f}",
                    "peak_mb": f"{_peak(PEERS[name], X, y):.1f}",
                }


def _seconds(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> float:
    begin = time.process_time()
    make().fit(X, y)
    return time.process_time() - begin


def _peak(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> float:
    tracemalloc.start()
    make().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def save(path: Path, rows: Iterator[dict[str, str]]) -> None:
    """A CSV file that is never incomplete."""
    found = []
    for row in rows:
        print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
        found.append(row)
    with replacing(path) as target, target.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]))
        writer.writeheader()
        writer.writerows(found)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks"))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--doublings", type=int, default=5)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        save(arguments.out / "peers.csv", peers(arguments.turns))
        save(arguments.out / "growth.csv", growth(arguments.doublings))
    write(arguments.out)


if __name__ == "__main__":
    main()
