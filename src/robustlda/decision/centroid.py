"""Robust class centers with one shared scatter: the discriminant rule in the projected space.

Class i is taken to be an elliptical cloud around z̄_i with a scatter Σ common to all classes. Both are the
maximum-likelihood estimate of a Student-t distribution with ν degrees of freedom, found by reweighting,

    u_j = (ν + m) / (ν + δ_j²),   δ_j² = (z_j − z̄_{y_j})ᵀ Σ⁻¹ (z_j − z̄_{y_j}),
    z̄_i = Σ_{j∈i} ω_j u_j z_j / Σ_{j∈i} ω_j u_j,   Σ = Σ_j ω_j u_j (z_j − z̄)(z_j − z̄)ᵀ / n,

so that a far sample counts little, in the center of its class and in the scatter of all. Σ is shrunk towards a
multiple of the identity by the oracle-approximating rule of [CWEH10]_, which keeps it invertible when there are
fewer samples than components, and scaled so that half of the samples lie within the median Mahalanobis
distance of a Gaussian. Prediction is the Gaussian rule with those centers, that scatter and the class priors:
linear in z, with probabilities.

.. [CWEH10] Chen, Wiesel, Eldar, Hero, "Shrinkage algorithms for MMSE covariance estimation", IEEE Transactions
   on Signal Processing 58(10), 2010.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import gammaincinv

from robustlda.data import distinct
from robustlda.data.centered import CenteredBlock
from robustlda.data.columns import class_totals
from robustlda.decision.rule import FittedDecision, Training
from robustlda.linalg import Array, weighted_median, weighted_medians

_POINT = 1e-60  # variance, in units of the longest coordinate squared, at which a class is a point


@dataclass(frozen=True)
class Ellipses:
    """Centers (c × m) and the shared scatter (m × m, in squared units)."""

    centers: Array
    scatter: Array
    unit: float

    def log_density(self) -> tuple[Array, Array]:
        """Logarithm of the density of every class, up to a term common to all: slopes (m × c), and what is added."""
        centers = self.centers / self.unit
        directions = cho_solve(cho_factor(self.scatter), centers.T)
        return directions / self.unit, -0.5 * np.einsum("ij,ji->i", centers, directions)


@dataclass(frozen=True)
class CentroidRule:
    """Ellipses in the space of the rows of `axes`, and priors."""

    axes: Array
    ellipses: Ellipses
    priors: Array

    @classmethod
    def fit(cls, training: Training) -> FittedDecision:
        """The rule in the projection."""
        samples, axes = training.samples, training.projection
        # A far sample says little about the shape of its class, and as much as any other about its share.
        shares = class_totals(samples.labels, samples.weights.given, samples.n_classes) / samples.weights.given.sum()
        samples = distinct.at_most(samples, samples.plan.ellipse_samples, samples.plan.min_class_samples)
        Z = samples.project_features(axes.T)
        ellipses = fit_ellipses(Z, samples.labels, samples.weight, samples.n_classes)
        return FittedDecision(cls(axes, ellipses, shares if training.priors is None else training.priors))

    def scores(self, rows: CenteredBlock) -> Array:
        slopes, offset = self._in_projection()
        return rows.times(self.axes.T) @ slopes + offset

    def linear_scores(self) -> tuple[Array, Array]:
        slopes, offset = self._in_projection()
        return (self.axes.T @ slopes).T, offset

    def _in_projection(self) -> tuple[Array, Array]:
        slopes, offset = self.ellipses.log_density()
        with np.errstate(divide="ignore"):  # a prior of zero means: never
            return slopes, offset + np.log(self.priors)


def fit_ellipses(
    Z: Array,
    labels: Array,
    weight: Array,
    n_classes: int,
    *,
    degrees: float = 5.0,
    max_iter: int = 100,
    tol: float = 1e-6,
) -> Ellipses:
    """Centers and scatter of the projected samples Z by reweighting, starting from the class means."""
    # Fourth powers of Z follow, so its unit must be its own size.
    unit = float(np.abs(Z).max()) or 1.0
    Z = Z.astype(float) / unit
    n, m = weight.sum(), Z.shape[1]
    # Where classes collapse to points, a thousandth of the usual spread stands for "close".
    spread = ((Z - weighted_medians(Z, weight)) ** 2).sum(axis=1)
    floor = 1e-6 * (weighted_median(spread, weight) or float(weight @ spread) / n) / m or 1.0
    floor = max(floor, _POINT)
    u = np.ones(len(Z))
    scatter = np.eye(m)
    for _ in range(max_iter):
        centers = _class_means(Z, labels, weight * u, n_classes)
        R = Z - centers[labels]
        previous, scatter = scatter, _shrunk(R.T @ (R * (weight * u)[:, None]) / n, n - n_classes, floor)
        squared = np.einsum("ij,ij->i", R, cho_solve(cho_factor(scatter), R.T).T)
        u = (degrees + m) / (degrees + squared)
        if np.linalg.norm(scatter - previous) <= tol * np.linalg.norm(scatter):
            break
    scatter *= _consistency(squared, weight, m)
    return Ellipses(centers * unit, scatter, unit)


def _class_means(Z: Array, labels: Array, weight: Array, n_classes: int) -> Array:
    sums = np.zeros((n_classes, Z.shape[1]))
    np.add.at(sums, labels, Z * weight[:, None])
    return sums / np.bincount(labels, weight, n_classes)[:, None]


def _shrunk(S: Array, freedom: float, floor: float) -> Array:
    """S moved towards a multiple of the identity, and never singular."""
    m = len(S)
    level = np.trace(S) / m
    square = np.vdot(S, S)
    distance = square - m * level**2
    numerator = (1 - 2 / m) * square + (m * level) ** 2
    denominator = (max(freedom, 1) + 1 - 2 / m) * distance
    share = min(1.0, numerator / denominator) if denominator > 0 else 1.0
    return (1 - share) * S + (share * level + floor) * np.eye(m)


def _consistency(squared: Array, weight: Array, m: int) -> float:
    """The factor that makes the scatter agree with a Gaussian at the median distance."""
    # Kept within bounds: where classes are points, distances are rounding errors and say nothing about scale.
    expected = 2 * gammaincinv(m / 2, 0.5)  # the median of χ²
    return float(np.clip(weighted_median(squared, weight) / expected, 0.05, 20))
