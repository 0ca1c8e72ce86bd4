"""What every feature adds, in steps: least squares on which of some cuts a feature lies above.

A linear rule takes it that more of a feature always means more of a class. In tables it often does not: a blood
pressure is too low or too high, a code has no order. With cuts q_1 < q_2 < … of each feature, at its quantiles, the
features

    [x > q_1], [x > q_2], …

make scores a sum of one step function for each feature, whose jumps are coefficients; a penalty keeps them small, so
that neighboring steps differ little unless labels say so. As for all least squares, the answer that every sample would
get without itself is known (`ridge`). Steps depend on the order of values only: no unit, no tail and no outlier
matters.

Cuts lie in the widest gaps there are near the quantiles, so that no rounding moves a sample across.
"""

from dataclasses import astuple, dataclass

import numpy as np

from robustlda.data import Samples
from robustlda.data.store import row_slices
from robustlda.linalg import Array

STEPS = 8
"""Steps of every feature."""

MAX_CUTS = 500
"""Cuts of all features together; where there are many features, each has fewer."""

_AT_ONCE = 1 << 18  # numbers that are sorted at a time
_GOLDEN = (np.sqrt(5) - 1) / 2  # of a gap: a value with few digits, of a row to predict, is never there
_NO_GAP = 1e-5  # of the mean deviation of a feature, that is none
_SAME = 1e-3  # a difference of gaps, relative to them, that is none: decimals in single precision are not exact


@dataclass(frozen=True)
class Steps:
    """Cuts: of which feature each is, and where."""

    feature: Array
    cut: Array

    def of(self, rows: Array) -> Array:
        """1 where a row is above a cut, and 0 elsewhere."""
        return (rows[:, self.feature] > self.cut).astype(float)


def steps_of(samples: Samples) -> tuple[Steps, Array] | None:
    """Steps of the features of a table, and those of its samples; None where there are too many features for that."""
    d, weights = samples.space.n_features, samples.weights
    copies = (weights.given / weights.one).sum()
    if samples.store.shape[1] != d or d > MAX_CUTS or not samples.plan.is_table(round(copies), d):
        return None
    (rows,) = samples.collect(lambda block: (block.rows(),))
    n = min(STEPS, MAX_CUTS // d + 1)
    found = []
    for some in row_slices(d, max(1, _AT_ONCE // len(rows))):
        feature, cut = cuts(rows[:, some], weights.given, n)
        found.append(Steps(some.start + feature, cut))
    steps = Steps(*(np.concatenate(each) for each in zip(*map(astuple, found), strict=True)))
    return (steps, steps.of(rows)) if len(steps.cut) else None


def cuts(rows: Array, weight: Array, n: int) -> tuple[Array, Array]:
    """Features and places of cuts that divide each feature into n steps of like weight, or fewer where values repeat.

    Near each quantile the widest gap between two values is cut: between levels, if there are some, however they jitter.
    """
    order = np.argsort(rows, axis=0)
    values, weight = np.take_along_axis(rows, order, axis=0).astype(float), weight[order]
    gaps, shares = np.diff(values, axis=0), np.cumsum(weight, axis=0)[:-1] / weight.sum(axis=0)
    spread = np.einsum("ij,ij->j", weight, np.abs(values - np.einsum("ij,ij->j", weight, values) / weight.sum(axis=0)))
    gaps[gaps <= _NO_GAP * spread / weight.sum(axis=0)] = 0
    near, features, places = np.rint(n * shares), [], []
    for k in range(1, n):
        there = np.where(near == k, gaps, 0)
        widest = there.max(axis=0, initial=0)
        off = np.abs(shares - k / n)
        at = np.where(there >= (1 - _SAME) * np.maximum(widest, 1e-300), np.round(off, 9), np.inf).argmin(axis=0)
        some = np.flatnonzero(widest > 0)
        features.append(some)
        low, high = values[at[some], some], values[at[some] + 1, some]
        places.append(low + _GOLDEN * (high - low))
    return np.concatenate(features), np.concatenate(places)
