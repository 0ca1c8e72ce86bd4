"""The worst data there is, by name, and what becomes of it: `docs/extremes.md` is made of this table.

    python -m tests.extremes

writes the page. Every row is a test of every estimator it names (`tests/estimators/test_extremes.py`): a sound model
(`tests/oracle.py`), or a sentence that begins with the given words or holds them.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array, csr_array

from robustlda import DLE, MMC, RatioLDA, RobustLDA, SupervisedLPP, TraceRatioLDA
from robustlda.losses import Capped, Welsch

ALL = (RobustLDA, RatioLDA, TraceRatioLDA, MMC, SupervisedLPP, DLE)
WEIGHTED = ALL[:-1]  # DLE takes no weights
FAST = ALL[1:]  # whose decision does not model wrong labels, and takes no time for many classes
PAGE = Path(__file__).parents[1] / "docs" / "extremes.md"


@dataclass(frozen=True)
class Extreme:
    """A case: how it is made, and its outcome.

    `make` returns X, y and further arguments of `fit`. With `says` it is refused with these words; otherwise there is
    a sound model, which gets at least the share `right` of its own training labels.
    """

    group: str
    name: str
    make: Callable[[], tuple]
    says: str = ""
    right: float = 0.0
    note: str = ""
    kinds: tuple = ALL
    settings: dict = field(default_factory=dict)
    others: Callable[[], object] | None = None


def blobs(n=40, d=5, c=2, gap=4.0):
    y = np.arange(n) % c
    always = np.random.Generator(np.random.PCG64(0))  # with any seed the classes are apart
    always.normal(size=(n, d))
    return np.random.default_rng(0).normal(size=(n, d)) + gap * always.normal(size=(c, d))[y], y


def of_blobs(change, **sizes):
    """A case made of the rows of two or more classes that are well apart."""

    def make():
        X, y = blobs(**sizes)
        return change(X), y

    return make


def labeled(name):
    """Rows as they are, with other labels."""

    def make():
        X, y = blobs()
        return X, name(y)

    return make


def weighted(weight):
    def make():
        X, y = blobs(c=3, n=60)
        return X, y, {"sample_weight": weight(y)}

    return make


def rng():
    return np.random.default_rng(1)


def with_column(X, values):
    return np.column_stack([X, values])


def replaced(X, rows, values):
    X = X.copy()
    X[rows] = values
    return X


def read_only(X):
    X.flags.writeable = False
    return X


def with_duplicates(X):
    """Every entry in two halves, unsorted, which SciPy would add up in place."""
    row, column = np.nonzero(np.ones_like(X))
    order = rng().permutation(2 * len(row))
    halves = np.tile(X.ravel() / 2, 2)[order], (np.tile(row, 2)[order], np.tile(column, 2)[order])
    entries = coo_array(halves, shape=X.shape)
    order = np.argsort(entries.row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(entries.row, minlength=len(X)))])
    return csr_array((entries.data[order], entries.col[order], indptr), shape=X.shape)


def mapped(X):
    with tempfile.NamedTemporaryFile() as file:  # whose contents live as long as they are mapped
        rows = np.memmap(file.name, X.dtype, "w+", shape=X.shape)
    rows[:] = X
    return rows


UNITS, SHAPES, RANKS, OUTLIERS = "Units and number types", "Shapes", "Rank and copies", "Outliers and coincidence"
WEIGHTS, VALUES, LABELS, STORAGE = "Weights", "Values", "Labels", "Storage"
SETTINGS, ASKED = "Settings", "Rows to predict"

EXTREMES = [
    # Units
    Extreme(UNITS, "all numbers times 1e70", of_blobs(lambda X: X * 1e70), right=0.9),
    Extreme(UNITS, "all numbers times 1e-70", of_blobs(lambda X: X * 1e-70), right=0.9),
    Extreme(UNITS, "all numbers times 1e150", of_blobs(lambda X: X * 1e150), "The largest number in X is"),
    Extreme(UNITS, "all numbers times 1e-150", of_blobs(lambda X: X * 1e-150), "The largest number in X is"),
    Extreme(UNITS, "subnormal numbers", of_blobs(lambda X: X * 1e-310), "The largest number in X is"),
    Extreme(UNITS, "one column of subnormal numbers", of_blobs(lambda X: with_column(X, X[:, 0] * 1e-310)), right=0.9),
    Extreme(UNITS, "columns from 1e-8 to 1e8", of_blobs(lambda X: X * 10.0 ** np.arange(-8, 9, 4))),
    Extreme(UNITS, "columns from 1e-70 to 1e70", of_blobs(lambda X: X * 10.0 ** np.linspace(-70, 70, 5))),
    Extreme(
        UNITS,
        "scales from 1e-70 to 1e70 within columns",
        of_blobs(lambda X: X * 10.0 ** rng().uniform(-70, 70, X.shape)),
    ),
    Extreme(UNITS, "shifted by a million standard deviations", of_blobs(lambda X: X + 1e6), right=0.9),
    Extreme(UNITS, "shifted by 1e12", of_blobs(lambda X: X + 1e12), right=0.9, note="four digits are left"),
    Extreme(UNITS, "float16", of_blobs(lambda X: X.astype(np.float16)), right=0.9),
    Extreme(
        UNITS,
        "float16, overflown",
        of_blobs(lambda X: replaced(X.astype(np.float16), 3, np.inf)),
        "Input X contains infinity",
    ),
    Extreme(UNITS, "float32 of 1e14", of_blobs(lambda X: (X * 1e14 / 20).astype(np.float32)), right=0.9),
    Extreme(UNITS, "float32 of 1e17", of_blobs(lambda X: (X * 1e17).astype(np.float32)), "The largest number in X is"),
    Extreme(
        UNITS,
        "float32, overflown",
        of_blobs(lambda X: replaced(X.astype(np.float32), 3, np.inf)),
        "Input X contains infinity",
    ),
    Extreme(UNITS, "extended precision", of_blobs(lambda X: X.astype(np.longdouble)), right=0.9),
    Extreme(UNITS, "big-endian numbers", of_blobs(lambda X: X.astype(">f8")), right=0.9),
    Extreme(UNITS, "int8", of_blobs(lambda X: np.rint(5 * X).astype(np.int8)), right=0.9),
    Extreme(UNITS, "uint64 up to 2⁶⁴", of_blobs(lambda X: (2.0**63 * (1 + X / 50)).astype(np.uint64)), right=0.9),
    Extreme(UNITS, "true and false", of_blobs(lambda X: X > 0)),
    # Shapes
    Extreme(SHAPES, "one feature", of_blobs(lambda X: X[:, :1] + 9 * (np.arange(40) % 2)[:, None]), right=0.9),
    Extreme(SHAPES, "two samples", lambda: ([[0.0, 1], [1, 0]], ["a", "b"]), right=1),
    Extreme(SHAPES, "as many samples as classes", lambda: (rng().normal(size=(6, 4)), np.arange(6))),
    Extreme(
        SHAPES,
        "one class of a single sample",
        lambda: (np.vstack([blobs()[0], np.full((1, 5), 30)]), np.append(blobs()[1], 7)),
        right=0.9,
    ),
    Extreme(
        SHAPES, "1000 classes of 3 samples", of_blobs(lambda X: X, n=3000, d=8, c=1000, gap=9.0), right=0.9, kinds=FAST
    ),
    Extreme(SHAPES, "100 000 features, 10 samples", of_blobs(lambda X: X, n=10, d=100_000), right=0.9),
    Extreme(SHAPES, "a single sample", lambda: ([[0.0, 1]], ["a"]), "Found array with 1 sample(s)"),
    Extreme(SHAPES, "no samples", lambda: (np.empty((0, 3)), []), "Found array with 0 sample(s)"),
    Extreme(SHAPES, "no features", lambda: (np.empty((8, 0)), np.arange(8) % 2), "Found array with 0 feature(s)"),
    Extreme(SHAPES, "a vector", lambda: (np.arange(8.0), np.arange(8) % 2), "Expected 2D array, got 1D array instead"),
    Extreme(SHAPES, "three dimensions", lambda: (np.zeros((4, 3, 2)), np.arange(4) % 2), "Found array with dim 3"),
    Extreme(SHAPES, "a single class", labeled(lambda y: y * 0), "needs at least 2 classes, but y holds only one class"),
    # Rank
    Extreme(
        RANKS,
        "rows on a line",
        of_blobs(lambda X: np.outer(X[:, 0] + 9 * (np.arange(40) % 2), [1, 2, 3])),
        right=0.9,
    ),
    Extreme(RANKS, "every column three times", of_blobs(lambda X: np.hstack([X, X, X])), right=0.9),
    Extreme(RANKS, "every row three times", lambda: (np.vstack([blobs()[0]] * 3), np.tile(blobs()[1], 3)), right=0.9),
    Extreme(RANKS, "constant columns", of_blobs(lambda X: np.insert(X, [0, 3], 1e6 / 3, axis=1)), right=0.9),
    Extreme(
        RANKS,
        "collinear columns, shifted by 1e4",
        of_blobs(lambda X: np.hstack([X, X @ rng().normal(size=(5, 5)) + 1e4])),
        right=0.9,
    ),
    Extreme(RANKS, "identical samples", of_blobs(lambda X: X * 0 + 0.1), "All samples are identical"),
    Extreme(RANKS, "half of the rows zero", of_blobs(lambda X: replaced(X, slice(0, 20), 0))),
    Extreme(RANKS, "nine of ten rows zero", of_blobs(lambda X: replaced(X, slice(0, 36), 0))),
    Extreme(RANKS, "a sample at the center", of_blobs(lambda X: replaced(X, 0, X[1:].mean(axis=0)))),
    Extreme(RANKS, "two identical classes", lambda: (np.vstack([blobs()[0]] * 2), np.repeat([0, 1], 40))),
    Extreme(
        RANKS,
        "classes that are points",
        lambda: (np.repeat(rng().normal(size=(3, 4)), 5, axis=0), np.repeat([0, 1, 2], 5)),
        right=1,
    ),
    Extreme(
        RANKS,
        "features that are the labels",
        lambda: (np.column_stack([blobs()[1]] * 3).astype(float), blobs()[1]),
        right=1,
    ),
    # Outliers
    Extreme(OUTLIERS, "one sample a trillion times too far", of_blobs(lambda X: replaced(X, 0, 1e12))),
    Extreme(OUTLIERS, "one sample 1e60 times too far", of_blobs(lambda X: replaced(X, 0, 1e60))),
    Extreme(
        OUTLIERS,
        "half of the samples a billion times too far",
        of_blobs(lambda X: replaced(X, slice(0, 20), 1e9 * X[:20])),
    ),
    Extreme(OUTLIERS, "all but one coincide but for 1e-9", lambda: ([[0.0], [1e-9], [1.0]], [0, 1, 2])),
    Extreme(
        OUTLIERS,
        "two of three rows coincide but for 1e-12",
        of_blobs(lambda X: replaced(X, slice(0, 27), X[0] + 1e-12 * X[:27])),
    ),
    Extreme(
        OUTLIERS,
        "all rows coincide but for rounding",
        of_blobs(lambda X: 1 + 2e-16 * np.rint(X)),
        "All samples are identical",
    ),
    Extreme(
        OUTLIERS,
        "all but one coincide, in single precision",
        lambda: (
            np.array([[50], [0], [0], [0], [0]], np.float32),
            [0, 0, 0, 1, 1],
            {"sample_weight": [1.34, 3.14, 3.7, 3.38, 3.84]},
        ),
        kinds=WEIGHTED,
        settings={"leverage": "bounded"},
    ),
    Extreme(
        OUTLIERS,
        "two of seven at 1e48, all others at zero",
        lambda: (np.array([[2e48], [3e48], [0], [0], [0], [0], [0]]), np.arange(7)),
        settings={"center": "median"},
    ),
    Extreme(
        OUTLIERS,
        "samples of lengths from 1e-27 to 1e68",
        lambda: (
            np.array(
                [
                    [8e-37, -5e-31, 3e-28],
                    [0, 0, 0],
                    [-4e-41, 4e12, -6e13],
                    [2e-31, -2e54, 3e-13],
                    [0, 0, 0],
                    [-2e-45, -1e68, 1e36],
                ]
            ),
            [1, 0, 2, 1, 2, 0],
        ),
        settings={
            "loss": "squared",
            "center": "median",
            "leverage": "bounded",
            "init": "random",
            "random_state": 0,
            "n_components": 1,
            "solver": "plain",
        },
    ),
    Extreme(
        OUTLIERS,
        "one class 1e60 times smaller than the other",
        lambda: (np.where(blobs()[1][:, None] == 0, 1e-60, 1) * blobs()[0], blobs()[1]),
    ),
    # Weights
    Extreme(WEIGHTS, "some weights zero", weighted(lambda y: np.arange(len(y)) % 4), right=0.9, kinds=WEIGHTED),
    Extreme(
        WEIGHTS,
        "a class of weight zero",
        weighted(lambda y: (y > 0).astype(float)),
        kinds=WEIGHTED,
        note="the class is unknown to the model",
    ),
    Extreme(
        WEIGHTS,
        "weights that add up to 1",
        weighted(lambda y: np.full(len(y), 1 / len(y))),
        right=0.9,
        kinds=WEIGHTED,
        note="the same model as without",
    ),
    Extreme(
        WEIGHTS,
        "all weights 1e300",
        weighted(lambda y: np.full(len(y), 1e300)),
        right=0.9,
        kinds=WEIGHTED,
        note="the same model as without",
    ),
    Extreme(
        WEIGHTS,
        "all weights 1e-300",
        weighted(lambda y: np.full(len(y), 1e-300)),
        right=0.9,
        kinds=WEIGHTED,
        note="the same model as without",
    ),
    Extreme(
        WEIGHTS,
        "weights 1e12 apart",
        weighted(lambda y: np.where(np.arange(len(y)) % 5 == 0, 1e12, 1.0)),
        kinds=WEIGHTED,
    ),
    Extreme(
        WEIGHTS,
        "weights 1e600 apart",
        weighted(lambda y: np.where(np.arange(len(y)) % 5 == 0, 1e300, 1e-300)),
        "sample_weight holds positive weights from 1e-300 to 1e+300",
        kinds=WEIGHTED,
    ),
    Extreme(
        WEIGHTS,
        "a negative weight",
        weighted(lambda y: 1.0 - 2 * (np.arange(len(y)) == 3)),
        "sample_weight holds -1; a weight must not be negative",
        kinds=WEIGHTED,
    ),
    Extreme(
        WEIGHTS,
        "NaN as a weight",
        weighted(lambda y: np.where(np.arange(len(y)) == 3, np.nan, 1)),
        "Input sample_weight contains NaN",
        kinds=WEIGHTED,
    ),
    Extreme(WEIGHTS, "all weights zero", weighted(lambda y: 0.0 * y), "All sample weights are zero", kinds=WEIGHTED),
    Extreme(
        WEIGHTS,
        "all weight on one class",
        weighted(lambda y: (y == 1).astype(float)),
        "needs at least 2 classes, but y holds only one class",
        kinds=WEIGHTED,
    ),
    # Values
    Extreme(VALUES, "NaN", of_blobs(lambda X: replaced(X, 3, np.nan)), "Input X contains NaN"),
    Extreme(
        VALUES,
        "infinity of both signs",
        of_blobs(lambda X: replaced(replaced(X, 3, np.inf), 4, -np.inf)),
        "Input X contains infinity",
    ),
    Extreme(VALUES, "numbers as objects", of_blobs(lambda X: X.astype(object)), right=0.9),
    Extreme(
        VALUES,
        "words as objects",
        of_blobs(lambda X: replaced(X.astype(object), 3, "high")),
        "could not convert string to float",
    ),
    Extreme(
        VALUES, "words", of_blobs(lambda X: replaced(X.astype("U8"), 3, "high")), "could not convert string to float"
    ),
    Extreme(VALUES, "complex numbers", of_blobs(lambda X: X + 1j), "Complex data not supported"),
    # Labels
    Extreme(
        LABELS,
        "bytes",
        labeled(lambda y: np.array([b"yes", b"no"])[y]),
        "Support for labels represented as bytes is not supported",
    ),
    Extreme(LABELS, "true and false", labeled(lambda y: y == 1), right=0.9),
    Extreme(LABELS, "negative numbers", labeled(lambda y: y - 5), right=0.9),
    Extreme(LABELS, "names in any script", labeled(lambda y: np.array(["да", "いいえ"])[y]), right=0.9),
    Extreme(
        LABELS,
        "names among numbers",
        labeled(lambda y: np.array([1, "one"], object)[y]),
        "y holds labels of several types, number and str",
    ),
    Extreme(LABELS, "None", labeled(lambda y: np.array([1, None], object)[y]), "y has 20 missing labels"),
    Extreme(LABELS, "NaN", labeled(lambda y: np.where(y, 1, np.nan)), "Input y contains NaN"),
    Extreme(
        LABELS, "measurements", labeled(lambda y: y + np.linspace(0, 0.5, len(y))), "Unknown label type: continuous"
    ),
    Extreme(LABELS, "complex numbers", labeled(lambda y: y + 1j), "Complex data not supported"),
    Extreme(
        LABELS, "one too few", labeled(lambda y: y[1:]), "Found input variables with inconsistent numbers of samples"
    ),
    Extreme(
        LABELS,
        "indicators of classes",
        labeled(lambda y: np.eye(2, dtype=int)[y]),
        "indicators of classes rather than answers of people",
        kinds=ALL,
    ),
    # Storage
    Extreme(STORAGE, "read-only", of_blobs(read_only), right=0.9),
    Extreme(
        STORAGE,
        "every second row and column of an array",
        of_blobs(lambda X: np.repeat(np.repeat(X, 2, 0), 2, 1)[::2, ::2]),
        right=0.9,
    ),
    Extreme(STORAGE, "columns first", of_blobs(np.asfortranarray), right=0.9),
    Extreme(STORAGE, "memory-mapped", of_blobs(mapped), right=0.9),
    Extreme(STORAGE, "sparse", of_blobs(lambda X: csr_array(np.where(X > 0, X, 0)), d=12)),
    Extreme(STORAGE, "sparse, entries twice and unsorted", of_blobs(with_duplicates), right=0.9),
    Extreme(STORAGE, "sparse without an entry", of_blobs(lambda X: csr_array(X.shape)), "All samples are identical"),
    # Settings
    Extreme(
        SETTINGS,
        "median of few distinct points",
        lambda: ([[0.0, 0], [0, 0], [0, 0], [1, 0], [0, 2]], [0, 0, 1, 1, 0]),
        settings={"center": "median"},
    ),
    Extreme(
        SETTINGS,
        "a loss that rejects nothing",
        of_blobs(lambda X: X),
        settings={"loss": Welsch(1e30)},
        right=0.9,
        kinds=(RatioLDA,),
    ),
    Extreme(
        SETTINGS,
        "a loss that rejects everything",
        of_blobs(lambda X: X),
        settings={"loss": Capped(1e-30)},
        says="At the starting projection the loss sees no difference",
        kinds=(RatioLDA,),
    ),
    Extreme(SETTINGS, "a prior of zero", of_blobs(lambda X: X, c=3), settings={"priors": [0.0, 0.5, 0.5]}),
    Extreme(
        SETTINGS,
        "too many components",
        of_blobs(lambda X: X),
        settings={"n_components": 99},
        says="n_components=99 must be",
    ),
    # Predictions
    Extreme(ASKED, "rows of 1e300", of_blobs(lambda X: X), right=0.9, others=lambda: 1e300 * blobs()[0]),
    Extreme(
        ASKED,
        "rows of 1e300 in units of 1e-70",
        of_blobs(lambda X: 1e-70 * X),
        right=0.9,
        others=lambda: 1e300 * blobs()[0],
    ),
    Extreme(
        ASKED,
        "float32 rows of 1e38",
        of_blobs(lambda X: X.astype(np.float32)),
        right=0.9,
        others=lambda: (1e37 * blobs()[0]).astype(np.float32),
    ),
    Extreme(
        ASKED, "sparse rows of 1e300", of_blobs(lambda X: X), right=0.9, others=lambda: csr_array(1e300 * blobs()[0])
    ),
]


def page():
    """The table as a page."""
    lines = [
        "# Extremes",
        "",
        "What becomes of the worst data there is. A *model* keeps all promises: its attributes are finite,",
        "probabilities sum to one, components are orthonormal where that is promised, J never rises, nothing warns,",
        "and X is as it was. Otherwise there is one sentence, and an estimator that was fitted before stays as it was.",
        "Every row is a test; `python -m tests.extremes` writes this page.",
    ]
    for group in dict.fromkeys(case.group for case in EXTREMES):
        lines += ["", f"## {group}", "", "| Input | Outcome |", "|---|---|"]
        lines += [f"| {case.name} | {_outcome(case)} |" for case in EXTREMES if case.group == group]
    return "\n".join(lines) + "\n"


def _outcome(case):
    outcome = f"“{case.says} …”" if case.says else "a model"
    if case.right:
        outcome += (
            f", at least {case.right:.0%} of its training labels right" if case.right < 1 else ", all labels right"
        )
    note = f"; {case.note}" if case.note else ""
    only = "" if case.kinds == ALL else f" ({', '.join(kind.__name__ for kind in case.kinds)})"
    return outcome + note + only


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
