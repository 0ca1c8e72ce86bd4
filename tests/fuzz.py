"""Random small fits, half of them ordinary and half extreme, each of which has to end well.

    python -m tests.fuzz --count 1000 --seed 0
    python -m tests.fuzz --of tables --count 1000      (or models, or options: `tests/fuzz_files.py`)

A fit ends well with a sound model or with one sentence (`tests/oracle.py`), within a time limit. What does not is
shrunk, row by row and column by column, and printed with the lines that repeat it, one example for each kind. Case k of
seed S is the same on every machine, and the same whether or not other cases are run before it.
"""

import argparse
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from robustlda import DLE, MMC, RatioLDA, RobustLDA, SupervisedLPP, TraceRatioLDA
from robustlda.losses import L12, LOSSES, Capped, Cauchy, Lp, Welsch
from tests.fuzz_files import draw_model, draw_options, draw_table
from tests.oracle import Unsound, checked_fit

SECONDS = 60
"""Time that a single fit may take: two hundred times the usual one, as machines may be busy."""


@dataclass(frozen=True)
class Case:
    """A fit: rows and labels as arrays, how the rows are stored, and rows to predict."""

    estimator: object
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None
    storage: str = "dense"
    others: np.ndarray | None = None

    def check(self):
        with tempfile.TemporaryDirectory() as folder:
            checked_fit(self.estimator, _stored(self, folder), self.y, self.weight, self.others)

    def smaller(self):
        return _smaller(self)

    def lines(self):
        """Python that repeats it."""
        stored = {"dense": "X", "csr": "csr_array(X)", "fortran": "np.asfortranarray(X)", "memmap": "memmap of X"}
        weight = "" if self.weight is None else f", sample_weight={_written(self.weight)}"
        return [
            f"X = {_written(self.X)}",
            f"y = {_written(self.y)}",
            *([] if self.others is None else [f"others = {_written(self.others)}"]),
            f"checked_fit({self.estimator!r}, {stored[self.storage]}, y{weight}"
            f"{'' if self.others is None else ', others=others'})",
        ]


def _written(array):
    text = f"np.array({array.tolist()!r}, {array.dtype.str!r})"
    return text.replace("nan", "np.nan").replace("inf", "np.inf")


def run(case):
    """The kind of failure, or None; and what there is to say about it."""
    try:
        with time_limit(SECONDS):
            case.check()
    except Exception as error:
        return kind_of(error), error
    return None, None


def kind_of(error):
    """What went wrong and where: the innermost line of the package."""
    if isinstance(error, Unsound):
        return f"Unsound: {error}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "robustlda" in Path(frame.filename).parts]
    where = f"{Path(frames[-1].filename).name}, {frames[-1].name}" if frames else "outside"
    return f"{type(error).__name__} in {where}: {str(error).splitlines()[0][:80] if str(error) else ''}"


class TooSlow(Exception):
    """A fit that does not end."""


@contextmanager
def time_limit(seconds):
    def stop(signum, frame):
        raise TooSlow(f"more than {seconds} s")

    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _stored(case, folder):
    if case.storage == "csr":
        return csr_array(case.X)
    if case.storage == "fortran":
        return np.asfortranarray(case.X)
    if case.storage == "memmap":
        mapped = np.memmap(Path(folder) / "rows", case.X.dtype, "w+", shape=case.X.shape)
        mapped[:] = case.X
        return mapped
    return case.X


# Cases


def draw(seed, number):
    """Case `number` of a seed; every other one is extreme."""
    rng = np.random.default_rng([seed, number])
    extreme = number % 2 == 1
    X, labels = _rows(rng, extreme)
    weight = _weight(rng, len(labels), extreme)
    others = None
    if extreme:
        for change in rng.choice(CHANGES, rng.integers(1, 4)):
            with np.errstate(all="ignore"):
                X, labels = change(rng, X, labels)
        if rng.random() < 0.2:
            with np.errstate(all="ignore"):
                others = rng.normal(size=(3, X.shape[1])) * 10.0 ** rng.uniform(-300, 300, (3, 1))
    y = _names(rng, labels, extreme)
    X = _typed(rng, X, extreme)
    storages = ["dense", "dense", "csr", "fortran", "memmap"]
    storage = str(rng.choice(storages)) if X.dtype in (np.float64, np.float32) else "dense"
    estimator = _estimator(rng, X.shape, len(np.unique(labels)), extreme)
    if isinstance(estimator, DLE):
        weight = None
    return Case(estimator, X, y, weight, storage, others)


def _rows(rng, extreme):
    c, d = int(rng.integers(2, 6)), int(rng.integers(1, 13))
    if rng.random() < 0.1:
        d = int(rng.integers(30, 80))
    n = int(rng.integers(c if extreme else 2 * c, 45))
    labels = rng.permutation(np.concatenate([np.arange(c), rng.integers(0, c, n - c)]))
    X = rng.normal(size=(n, d)) + rng.choice([0, 1, 3, 10]) * rng.normal(size=(c, d))[labels]
    X = X * 10.0 ** rng.uniform(-3, 3) + rng.choice([0, 0, 1, 100]) * rng.normal(size=d)
    if rng.random() < 0.3:
        X = np.round(X)
    if rng.random() < 0.2:
        X[rng.random(X.shape) < 0.7] = 0
    return X, labels


def _weight(rng, n, extreme):
    if rng.random() < 0.5:
        return None
    kinds = [
        lambda: rng.integers(0, 4, n).astype(float),
        lambda: rng.uniform(0.1, 5, n),
        lambda: np.full(n, 1 / n),
    ]
    if extreme:
        kinds += [
            lambda: 10.0 ** rng.uniform(-6, 6, n),
            lambda: 10.0 ** rng.uniform(-300, 300, n),
            lambda: rng.choice([1e-300, 1e300, 0.0, 1.0], n),
            lambda: np.full(n, rng.choice([1e-300, 1e300, 5e-324, 1e12])),
            lambda: rng.choice([1.0, 1e12], n),
            lambda: (rng.random(n) < 0.3).astype(float),
            lambda: rng.normal(size=n),
            lambda: np.where(rng.random(n) < 0.1, np.nan, 1.0),
        ]
    return kinds[rng.integers(len(kinds))]()


def _scaled(rng, X, labels):
    return X * 10.0 ** rng.uniform(-80, 80), labels


def _far_scaled(rng, X, labels):
    return X * 10.0 ** rng.uniform(-320, 300), labels


def _graded(rng, X, labels):
    return X * 10.0 ** rng.uniform(-70, 70, X.shape[1]), labels


def _mixed(rng, X, labels):
    return X * 10.0 ** rng.uniform(-70, 70, X.shape), labels


def _rank_one(rng, X, labels):
    return np.outer(X[:, 0], rng.normal(size=X.shape[1])), labels


def _copied_columns(rng, X, labels):
    return X[:, rng.integers(0, X.shape[1], X.shape[1] + 2)], labels


def _collinear_far(rng, X, labels):
    mixed = X @ rng.normal(size=(X.shape[1], 2)) + 10.0 ** rng.uniform(0, 12)
    return np.hstack([X, mixed]), labels


def _copied_rows(rng, X, labels):
    return X[rng.integers(0, rng.integers(1, len(X) + 1), len(X))], labels


def _constant_columns(rng, X, labels):
    X[:, rng.random(X.shape[1]) < 0.5] = 10.0 ** rng.uniform(-70, 70)
    return X, labels


def _nearly_coincident(rng, X, labels):
    few = rng.random(len(X)) < rng.choice([0.5, 0.7, 0.95])
    X[few] = X[0] + 10.0 ** rng.uniform(-18, -3) * rng.normal(size=X.shape)[few]
    return X, labels


def _far_rows(rng, X, labels):
    X[rng.integers(0, len(X), rng.integers(1, 3))] *= 10.0 ** rng.uniform(3, 70)
    return X, labels


def _zero_rows(rng, X, labels):
    X[rng.random(len(X)) < rng.choice([0.3, 0.9])] = 0
    return X, labels


def _subnormal(rng, X, labels):
    return X * 1e-310, labels


def _missing(rng, X, labels):
    X[rng.integers(0, len(X)), rng.integers(0, X.shape[1])] = rng.choice([np.nan, np.inf, -np.inf])
    return X, labels


def _identical_classes(rng, X, labels):
    half = len(X) // 2
    X[half : 2 * half] = X[:half]
    return X, labels


def _one_each(rng, X, labels):
    return X, np.arange(len(X))


def _few_rows(rng, X, labels):
    keep = rng.integers(1, 5)
    return X[:keep], np.arange(len(X))[:keep]


def _offset(rng, X, labels):
    return X + 10.0 ** rng.uniform(3, 16), labels


def _by_label(rng, X, labels):
    return X * 0 + labels[:, None], labels


def _shrunken_class(rng, X, labels):
    X[labels == 0] = X[labels == 0] * 10.0 ** rng.uniform(-60, 0)
    return X, labels


def _same_labels(rng, X, labels):
    return X, labels * 0


CHANGES = [
    _scaled,
    _far_scaled,
    _graded,
    _mixed,
    _rank_one,
    _copied_columns,
    _collinear_far,
    _copied_rows,
    _constant_columns,
    _nearly_coincident,
    _nearly_coincident,
    _far_rows,
    _far_rows,
    _zero_rows,
    _subnormal,
    _missing,
    _identical_classes,
    _one_each,
    _few_rows,
    _offset,
    _by_label,
    _shrunken_class,
    _same_labels,
]


def _names(rng, labels, extreme):
    """Labels of some type."""
    kinds = [
        lambda: labels,
        lambda: np.array([f"class {k}" for k in labels]),
        lambda: labels - 2,
        lambda: labels.astype(float),
        lambda: np.array([f"class {k}" for k in labels], object),
    ]
    if extreme and rng.random() < 0.3:
        kinds = [
            lambda: np.array([k if k % 2 else str(k) for k in labels.tolist()], object),
            lambda: np.array([None if k == 0 else k for k in labels.tolist()], object),
            lambda: np.array([str(k).encode() for k in labels.tolist()]),
            lambda: labels == 0,
            lambda: labels.astype(complex),
            lambda: labels + 0.5,
            lambda: np.where(labels == 0, np.nan, labels),
            lambda: np.array([(k, k) for k in labels.tolist()]),
            lambda: np.where(rng.random((len(labels), 3)) < 0.3, -1, labels[:, None]),
            lambda: labels[:-1],
            lambda: np.array([[k] for k in labels.tolist()]),
        ]
    return kinds[rng.integers(len(kinds))]()


def _typed(rng, X, extreme):
    if rng.random() < 0.6:
        return X
    types = [np.float32, np.float32, np.int64, ">f8"]
    if extreme:
        types += [np.float16, np.int8, bool, object, complex, "U10", np.longdouble]
    with np.errstate(all="ignore"):
        return X.astype(types[rng.integers(len(types))])


def _estimator(rng, shape, c, extreme):
    def one_of(*values):
        return values[rng.integers(len(values))]

    most = max(min(c - 1, shape[1] - 1), 1)
    n_components = one_of(None, None, None, 1, 1, most, int(rng.integers(1, shape[1] + 2)))
    decision = one_of("centroid", "centroid", "noise_aware", None)
    common = {"n_components": n_components, "decision": decision}
    if rng.random() < 0.1 and c > 1:
        priors = rng.random(c) * (rng.random(c) < 0.8)
        common["priors"] = (priors / priors.sum()).tolist() if priors.sum() else [1.0] + [0.0] * (c - 1)
    kind = one_of(RobustLDA, RatioLDA, RatioLDA, TraceRatioLDA, TraceRatioLDA, MMC, SupervisedLPP, DLE)
    center, leverage = one_of("mean", "median"), one_of("bounded", "free")
    if kind is RobustLDA:
        common["decision"] = one_of("noise_aware", "centroid", None)
        return RobustLDA(center=center, leverage=leverage, store_covariance=one_of(True, False), **common)
    if kind is RatioLDA:
        loss = one_of(*LOSSES) if not extreme else one_of(*LOSSES, *_odd_losses(rng))
        exponent = one_of(1.0, 2.0) if loss in ("l12", "capped") else 1.0
        init = one_of("trace_ratio", "pca", "random", "best")
        solver, max_iter = one_of("auto", "plain"), one_of(200, 200, 3)
        return RatioLDA(
            loss=loss,
            exponent=exponent,
            init=init,
            center=center,
            leverage=leverage,
            solver=solver,
            max_iter=max_iter,
            random_state=0,
            **common,
        )
    if kind is TraceRatioLDA:
        return TraceRatioLDA(center=center, **common)
    if kind is SupervisedLPP:
        return SupervisedLPP(graph=one_of("heat", "binary", "balanced"), ridge=one_of(1e-3, 0.0, 1e6), **common)
    if kind is DLE:
        return DLE(n_neighbors=one_of(5, 1, 100), ridge=one_of(1e-3, 1e-12), **common)
    return kind(**common)


def _odd_losses(rng):
    losses = []
    for make in (Welsch, Cauchy, Capped, lambda s: Lp(p=min(s, 2.0)), lambda s: L12(smoothing=s)):
        try:
            losses.append(make(float(10.0 ** rng.choice([-300, -160, -30, -3, 3, 30, 160, 300]))))
        except ValueError:  # which is one sentence
            continue
    return losses


# Shrinking


def shrunk(case, kind, tries=150):
    """A smaller case that fails in the same way."""
    left = tries
    again = True
    while again and left > 0:
        again = False
        for smaller in case.smaller():
            left -= 1
            if left <= 0:
                break
            try:
                same = run(smaller)[0] == kind
            except Exception:  # a case that cannot even be put together
                continue
            if same:
                case, again = smaller, True
                break
    return case


def _smaller(case):
    n, d = case.X.shape
    if case.weight is not None:
        yield replace(case, weight=None)
    if case.storage != "dense":
        yield replace(case, storage="dense")
    if case.others is not None:
        yield replace(case, others=None)
    for size in (n // 2, n // 4, 1):
        for start in range(0, n, size) if size else ():
            keep = np.setdiff1d(np.arange(n), np.arange(start, start + size))
            if len(keep) and len(case.y) == n:
                weight = None if case.weight is None else case.weight[keep]
                yield replace(case, X=case.X[keep], y=case.y[keep], weight=weight)
    for size in (d // 2, 1):
        for start in range(0, d, size) if size else ():
            keep = np.setdiff1d(np.arange(d), np.arange(start, start + size))
            if len(keep):
                others = None if case.others is None else case.others[:, keep]
                yield replace(case, X=case.X[:, keep], others=others)


KINDS = {"fits": draw, "tables": draw_table, "models": draw_model, "options": draw_options}


def fuzz(count, seed, start=0, progress=None, of="fits"):
    """Failures by kind: the numbers of the cases."""
    failures = defaultdict(list)
    for number in range(start, start + count):
        kind, _ = run(KINDS[of](seed, number))
        if kind is not None:
            failures[kind].append(number)
        if progress is not None:
            progress(number - start + 1, failures)
    return dict(failures)


def report(failures, seed, *, shrinking=True, of="fits"):
    """One example for each kind, the most frequent first."""
    for kind, numbers in sorted(failures.items(), key=lambda item: -len(item[1])):
        yield f"{len(numbers)} × {kind}   (seed {seed}, cases {', '.join(map(str, numbers[:8]))})"
        case = KINDS[of](seed, numbers[0])
        yield from (f"    {line}" for line in (shrunk(case, kind) if shrinking else case).lines())


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--of", choices=list(KINDS), default="fits", help="what is drawn")
    parser.add_argument("--count", type=int, default=1000, help="how many of them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    parser.add_argument("--no-shrinking", action="store_true", help="print failures as they are")
    options = parser.parse_args(arguments)
    began = time.perf_counter()

    def progress(done, failures):
        if done % 500 == 0:
            print(f"{done} {options.of}, {sum(map(len, failures.values()))} failures", file=sys.stderr, flush=True)

    failures = fuzz(options.count, options.seed, options.start, progress, options.of)
    for line in report(failures, options.seed, shrinking=not options.no_shrinking, of=options.of):
        print(line)
    seconds = time.perf_counter() - began
    found = sum(map(len, failures.values()))
    print(f"{options.count} {options.of} in {seconds:.0f} s, seed {options.seed}: {found} failures.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
