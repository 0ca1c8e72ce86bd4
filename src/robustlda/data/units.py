"""A unit for every feature, taken from the feature itself.

For deviations d_j of a feature from its median the unit is their mean, each counted by its own size,

    s = Σ ω_j d_j² / Σ ω_j d_j.

That is about the standard deviation where a feature varies in all samples. Where it varies in a few only, as a pixel at
the rim of an image does, it is what these few differ by, so that nothing is blown up that hardly ever happens.
Deviations count as ten times the usual one at most, so that one far sample changes no unit. The usual one is the
median, or where most samples have the same value, jitter aside, one that a tenth or a hundredth of them exceed.
"""

import numpy as np

from robustlda.data.store import Store
from robustlda.linalg import Array, weighted_medians, weighted_quantiles
from robustlda.plan import Plan

_FAR = 10.0  # times the usual deviation, beyond which all are alike
_JITTER = 1e-2  # of the deviation of others, which does not make a value another one


def feature_units(store: Store, weight: Array, plan: Plan) -> Array:
    """The unit of every feature, 1 for one that does not vary; from some of the rows where there are very many.

    What varies by numbers without a square does not vary.
    """
    n, d = store.shape
    index = np.unique(np.linspace(0, n - 1, min(n, plan.unit_rows(d))).round().astype(int))
    rows, weight = store.take(index).block(slice(0, len(index))).rows().astype(float), weight[index]
    D = np.abs(rows - weighted_medians(rows, weight))
    D = np.minimum(D, _FAR * _usual(D, weight))
    total = weight @ D
    units = weight @ D**2 / np.where(total > 0, total, 1)
    return np.where(units > np.sqrt(np.finfo(store.dtype).tiny), units, 1.0)


def _usual(D: Array, weight: Array) -> Array:
    """The usual deviation in every column."""
    half, tenth, hundredth = weighted_quantiles(D, weight, (0.5, 0.9, 0.99))
    usual = np.where(half > _JITTER * tenth, half, tenth)
    usual = np.where(tenth > _JITTER * hundredth, usual, hundredth)
    return np.where(usual > 0, usual, D.max(axis=0))
