"""Powers that make the numbers of a column about as long-tailed to one side as to the other.

Incomes, concentrations and counts have a long tail to the right. In it samples of one class lie far apart, and what
tells classes apart near zero is next to nothing beside it. Yeo and Johnson's power λ of a number z about the median,

    f(z) = ((1 + z)^λ − 1) / λ  for z ≥ 0,      f(z) = −((1 − z)^(2 − λ) − 1) / (2 − λ)  for z < 0,

and the unit of z are chosen for every column so that values become as likely as they can under a normal density: the
smaller the unit, the nearer to the median f begins to bend. λ = 1 changes nothing, and stays where another gains
little. The outermost values have no say in it, and λ stays away from 0 and 2, where f becomes a logarithm and would
take even a gross error for an ordinary value. Errors of any size, such as 1e40 for a missing number, end at a distance
that can be computed with.
"""

import numpy as np

from robustlda.linalg import Array

GAIN = 0.05
"""Log-likelihood for each value that a power must gain."""

FARTHEST = 1e9
"""Quartile distances, about, beyond which nothing is farther away: squares of features are numbers, too."""

_POWERS = np.linspace(0.1, 1.9, 19)
_UNITS = (1.0, 0.3, 0.1, 0.03)  # of quartile distances
_OUTERMOST = 0.01  # share of values at either end that have no say
_ENOUGH = 2_000  # values, to choose a power by


def fit_powers(Z: Array) -> tuple[Array, Array]:
    """λ and unit for each column of numbers about their median, in quartile distances; NaN where they are missing."""
    found = [_fit_power(z[~np.isnan(z)]) for z in Z[:: 1 + len(Z) // _ENOUGH].T]
    power, unit = np.array(found).reshape(-1, 2).T
    return power, unit


def _fit_power(z: Array) -> tuple[float, float]:
    as_it_is = (1.0, 1.0)
    if not len(z):
        return as_it_is
    z = np.clip(z, -FARTHEST, FARTHEST)
    z = np.clip(z, *np.quantile(z, [_OUTERMOST, 1 - _OUTERMOST]))
    if len(np.unique(z)) < 3:  # two values have no tail
        return as_it_is
    tried = [(power, unit) for unit in _UNITS for power in _POWERS]
    likelihoods = np.concatenate([_log_likelihoods(z / unit, _POWERS) - np.log(unit) for unit in _UNITS])
    best = int(likelihoods.argmax())
    return tried[best] if likelihoods[best] > _log_likelihoods(z, np.ones(1))[0] + GAIN else as_it_is


def _log_likelihoods(z: Array, powers: Array) -> Array:
    """Of each power, for each value, but for a constant: a normal density of f(z), times the slope of f."""
    slope = (powers - 1) * (np.sign(z) * np.log1p(np.abs(z))).mean()
    return slope - np.log(np.var(raised(z[:, None], powers), axis=0)) / 2


def raised(Z: Array, powers: Array) -> Array:
    """f of all columns; beyond `FARTHEST`, of that."""
    Z = np.clip(Z, -FARTHEST, FARTHEST)
    sign = np.sign(Z)
    exponent = 1 + sign * (powers - 1)
    return np.where(powers == 1, Z, sign * np.expm1(exponent * np.log1p(np.abs(Z))) / exponent)
