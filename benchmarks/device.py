"""`python -m benchmarks.device --library torch --device cuda`: rows on a device, against the same rows in memory.

One synthetic problem, some of its labels wrong. First the passes that a fit consists of, each with the operations that
its formula takes on a device and the bytes it has to move: rows that are read where they are, and numbers that cross to
the device and back. Divided by the seconds, they say how near a pass comes to what the device can do. Then whole fits,
projections and predictions. Times are medians of turns that NumPy and the library take one after the other; the ratio
is NumPy's time divided by the library's. `--threads` is for both where they compute on the processor.
"""

import argparse
import importlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

CLASSES, WRONG = 10, 0.1


@dataclass(frozen=True)
class Side:
    """The rows in one place, samples made of them, and a model fitted to them."""

    X: Any
    samples: Any
    model: Any


@dataclass(frozen=True)
class Work:
    """Something to time on both sides, and what it takes where that can be said: operations, and bytes."""

    name: str
    run: Callable[[Side], object]
    operations: float | None = None
    read: float | None = None
    crossing: float | None = None


def problem(n: int, d: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Normal classes, a tenth of the labels wrong."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, CLASSES, n)
    centers = (8 / np.sqrt(d) * rng.normal(size=(CLASSES, d))).astype(dtype)
    X = rng.standard_normal((n, d), np.float32).astype(dtype) + centers[true]
    return X, np.where(rng.random(n) < WRONG, rng.integers(0, CLASSES, n), true)


def side(X: Any, y: np.ndarray) -> Side:
    """Everything that is timed, made of rows in one place."""
    from robustlda import RobustLDA
    from robustlda.data import Weights, as_samples, as_store

    center = np.zeros(X.shape[1], as_store(X).dtype)
    samples = as_samples(as_store(X), y, Weights.of(np.ones(len(y))), center, CLASSES)
    return Side(X, samples, RobustLDA().fit(X, y))


def passes(n: int, d: int, itemsize: int, m: int = CLASSES - 1) -> list[Work]:
    """The passes of a fit."""
    rng, rows = np.random.default_rng(1), n * d * itemsize
    W, M, s = np.linalg.qr(rng.normal(size=(d, m)))[0], np.zeros((CLASSES, d)), rng.random(n)
    # Classes are added up in double precision, as a product with their indicators.
    coordinates, sums, scatter = 2 * n * d * m, 2 * n * d * CLASSES, 2 * n * d * d
    weights = n * itemsize

    def iteration(side: Side) -> object:
        return side.samples.reweighted_moments(W, M, lambda t: (np.sqrt(t + 1e-3), 1 / np.sqrt(t + 1e-3)))

    everything = coordinates + sums + scatter
    return [
        Work("coordinates", lambda side: side.samples.project(W), coordinates, rows, n * m * itemsize),
        Work("class sums", lambda side: side.samples.class_sums(s), sums, rows, 16 * n),
        Work("scatter", lambda side: side.samples.gram(s), scatter, rows, weights),
        Work("one iteration", iteration, everything, 3 * rows, 40 * n + weights),
    ]


def whole(n: int, d: int, itemsize: int, y: np.ndarray) -> list[Work]:
    """Fits and answers."""
    from robustlda import MMC, RobustLDA, TraceRatioLDA
    from robustlda.data.device import is_foreign, to_numpy

    def finished(answer: Any) -> object:
        return (
            to_numpy(answer[:1, ...]) if is_foreign(answer) else answer
        )  # a device may still be at work on the others

    m = CLASSES - 1
    return [
        Work("transform", lambda side: finished(side.model.transform(side.X)), 2 * n * d * m, n * d * itemsize, 0),
        Work("predict", lambda side: finished(side.model.predict(side.X))),
        Work("fit MMC(decision=None)", lambda side: MMC(decision=None).fit(side.X, y)),
        Work("fit TraceRatioLDA(decision=None)", lambda side: TraceRatioLDA(decision=None).fit(side.X, y)),
        Work("fit RobustLDA()", lambda side: RobustLDA().fit(side.X, y)),
    ]


def measured(work: Work, sides: tuple[Side, Side], repeats: int) -> tuple[float, float]:
    """Seconds in NumPy and on the device, medians of turns."""
    work.run(sides[1])  # whatever a library does once, such as choosing a kernel
    seconds = np.median([[_seconds(work, side) for side in sides] for _ in range(repeats)], axis=0)
    return float(seconds[0]), float(seconds[1])


def _seconds(work: Work, side: Side) -> float:
    begin = time.perf_counter()
    work.run(side)
    return time.perf_counter() - begin


def line(work: Work, numpy: float, device: float) -> str:
    """One line of the table."""
    amounts = [_amount(value, unit) for value, unit in ((work.operations, 1e9), (work.read, 1e9), (work.crossing, 1e6))]
    rates = [_amount(value and value / device, 1e9) for value in (work.operations, work.read)]
    numbers = [f"{numpy:.4f}", f"{device:.4f}", f"{numpy / device:.2f}", *amounts, *rates]
    return f"{work.name:<33}" + "".join(f"{number:>11}" for number in numbers)


def _amount(value: float | None, unit: float) -> str:
    return "–" if value is None else f"{value / unit:.2f}"


HEAD = ["NumPy s", "device s", "ratio", "GFLOP", "GB read", "MB across", "GFLOP/s", "GB/s"]


def on_device(X: np.ndarray, library: str, device: str) -> Any:
    """The rows as an array of the library, on the device."""
    xp = importlib.import_module(library)
    if library == "cupy":
        with xp.cuda.Device(int(device.partition(":")[2] or 0)):
            return xp.asarray(X)
    return xp.asarray(X, device=device)


def run(library: str, device: str, n: int, d: int, dtype: str, repeats: int) -> None:
    """Print the table."""
    from sklearn import config_context

    X, y = problem(n, d, dtype)
    there, itemsize = on_device(X, library, device), X.dtype.itemsize
    print(f"{n} rows of {d} features, {CLASSES} classes, {dtype}; {library} on {device}")
    print(f"{'':<33}" + "".join(f"{name:>11}" for name in HEAD))
    with config_context(array_api_dispatch=True):
        sides = side(X, y), side(there, y)
        for work in [*passes(n, d, itemsize), *whole(n, d, itemsize, y)]:
            print(line(work, *measured(work, sides, repeats)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="torch", help="torch or cupy")
    parser.add_argument("--device", default="cpu", help="as the library calls it: cpu, cuda, cuda:1")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--precision", choices=["float32", "float64"], default="float32")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    os.environ["SCIPY_ARRAY_API"] = "1"  # which SciPy reads when it is imported
    if arguments.library == "torch":
        importlib.import_module("torch").set_num_threads(arguments.threads)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(arguments.threads):
        run(
            arguments.library,
            arguments.device,
            arguments.rows,
            arguments.features,
            arguments.precision,
            arguments.repeats,
        )


if __name__ == "__main__":
    main()
