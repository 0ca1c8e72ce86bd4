"""`python -m benchmarks.crossovers`: both sides of every threshold of `robustlda.plan`, timed at sizes around it.

Each row has the seconds of a computation planned either way; the side that the default plan takes is marked. Medians of
repeats in turns, one BLAS thread, synthetic data. Writes crossovers.csv and crossovers.md. Thresholds that only bound
memory (`factor_features`, `factor_samples`, `factor_samples_double`, `max_samples`, `predict_rows`) are in the table of
`Plan` and not here.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from robustlda import RatioLDA, RobustLDA
from robustlda.data import Weights, as_samples, as_store
from robustlda.losses import L12
from robustlda.output import replacing
from robustlda.plan import Plan
from robustlda.solvers import eigen, starts
from robustlda.solvers.reweighted import Objective

FIELDS = ["threshold", "value", "size", "below", "seconds_below", "above", "seconds_above", "default_takes"]
NEVER = 1 << 62


@dataclass(frozen=True)
class Case:
    """A computation at one size, planned as below and as above a threshold."""

    threshold: str
    size: int
    labels: tuple[str, str]
    runs: tuple[Callable[[], object], Callable[[], object]]
    default: int  # which side the default plan takes


def table(n: int, d: int, c: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Classes in a space whose scatter falls off, as in images."""
    rng, y = np.random.default_rng(0), np.arange(n) % c
    X = rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(c, d))[y]
    return X * np.maximum(0.99 ** np.arange(d), 1e-2), y


def fit(X: Any, y: np.ndarray, **settings: Any) -> Callable[[], object]:
    def run() -> object:
        model = RatioLDA(decision=None, init="pca", leverage="bounded", max_iter=30)
        model.plan = Plan(**settings)
        return model.fit(X, y)

    return run


def densify() -> Iterator[Case]:
    for n in (2000, 20_000, 80_000):
        rng = np.random.default_rng(0)
        X, y = csr_array(np.where(rng.random((n, 200)) < 0.05, rng.random((n, 200)), 0)), np.arange(n) % 5
        runs = fit(X, y, densify=NEVER), fit(X, y, densify=0)
        yield Case("densify", n * 200, ("dense", "sparse"), runs, int(n * 200 > Plan().densify))


def single_dim() -> Iterator[Case]:
    for d in (150, 500, 1000):
        X, y = table(2000, d)
        runs = fit(X, y, single_dim=NEVER), fit(X, y, single_dim=0)
        yield Case("single_dim", d, ("double precision", "single first"), runs, int(d >= Plan().single_dim))


def subspace_dim() -> Iterator[Case]:
    for d in (250, 500, 1000):
        X, y = table(2000, d)
        runs = fit(X, y, subspace_dim=NEVER), fit(X, y, subspace_dim=0)
        yield Case("subspace_dim", d, ("Gram matrices", "subspaces first"), runs, int(d >= Plan().subspace_dim))


def whole_space_dim() -> Iterator[Case]:
    for d in (1000, 2000, 3000):
        X, y = table(4000, d)
        runs = fit(X, y, whole_space_dim=NEVER), fit(X, y, whole_space_dim=0)
        labels = "last digits in the whole space", "subspaces to the end"
        yield Case("whole_space_dim", d, labels, runs, int(d > Plan().whole_space_dim))


def lanczos_dim() -> Iterator[Case]:
    for d in (500, 1000, 2000):
        rng = np.random.default_rng(0)
        R = rng.normal(size=(2 * d, d))
        B, A = R.T @ R, R[:20].T @ R[:20]
        runs = tuple(lambda A=A, B=B, at=at: eigen.largest_generalized(A, B, 10, at) for at in (NEVER, 0))
        yield Case("lanczos_dim", d, ("all eigenvectors", "Lanczos"), (runs[0], runs[1]), int(d >= Plan().lanczos_dim))


def block() -> Iterator[Case]:
    X, y = table(100_000, 100)
    for size in (1 << 18, 1 << 22, 1 << 24):
        runs = fit(X, y, block=size), fit(X, y, block=Plan().block)
        yield Case("block", size, (f"blocks of {size}", "the default"), runs, 1)


def passes() -> Iterator[Case]:
    """Rows in memory: lengths and matrix in two passes, or in one that takes two Gram matrices."""
    for d in (20, 100, 400):
        X, y = table(20_000, d)
        samples = as_samples(as_store(X), y, Weights.of(np.ones(len(y))), X.mean(axis=0), 5)
        W = starts.principal_axes(samples, 15)
        objective = Objective(samples, L12())
        centers = objective.start(W).centers

        def step(once: bool, objective: Objective = objective, W: np.ndarray = W, M: np.ndarray = centers) -> object:
            return objective.quadratic(objective.at(W, M, with_moments=once))

        runs = (lambda step=step: step(False)), (lambda step=step: step(True))
        yield Case("passes", d, ("two passes", "one pass"), runs, 0)


def landmarks() -> Iterator[Case]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)

    def run(n: int) -> Callable[[], object]:
        def fitted() -> object:
            model = RobustLDA()
            model.plan = Plan(landmarks=n)
            return model.fit(X, y)

        return fitted

    for n in (125, 250, 1000):
        yield Case("landmarks", n, (f"{n} landmarks", "the default"), (run(n), run(Plan().landmarks)), 1)


CASES = (densify, single_dim, subspace_dim, whole_space_dim, lanczos_dim, block, passes, landmarks)


def measure(case: Case, repeats: int) -> dict[str, str]:
    """Median seconds of both sides, in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for run, seconds in zip(case.runs, times, strict=True):
            begin = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - begin)
    value = str(getattr(Plan(), case.threshold, ""))
    seconds_below, seconds_above = (f"{median(seconds):.3f}" for seconds in times)
    below, above = case.labels
    takes = case.labels[case.default]
    cells = (case.threshold, value, str(case.size), below, seconds_below, above, seconds_above, takes)
    return dict(zip(FIELDS, cells, strict=True))


def page(rows: list[dict[str, str]]) -> str:
    """The table, the side that the default plan takes in bold."""
    lines = ["| threshold | size | one side | other side |", "|---|---|---|---|"]
    for row in rows:
        cells = []
        for side in ("below", "above"):
            text = f"{row[side]}: {row[f'seconds_{side}']} s"
            cells.append(f"**{text}**" if row[side] == row["default_takes"] else text)
        name = f"`{row['threshold']}` = {row['value']}" if row["value"] else f"`{row['threshold']}`"
        lines.append(f"| {name} | {row['size']} | {cells[0]} | {cells[1]} |")
    return "# Crossovers\n\n" + (__doc__ or "") + "\n" + "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crossovers", description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", help="one threshold")
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows = []
    with threadpool_limits(1):
        for cases in CASES:
            for case in cases() if arguments.only in (None, cases.__name__) else ():
                rows.append(measure(case, arguments.repeats))
                print(", ".join(rows[-1].values()), flush=True)
    with replacing(arguments.out / "crossovers.csv") as target, target.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    with replacing(arguments.out / "crossovers.md") as target:
        target.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
