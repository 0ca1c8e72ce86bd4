"""Classes as clouds around a centre, with the true label of every sample unknown.

In the projected space class k is a Student-t cloud around z̄_k with a scatter Σ common to all. A sample's true class
t_j is latent; the given one is right with probability 1 − ε and otherwise any other. Expectation: the belief

    r_jk ∝ π_k · p(z_j | k) · P(given label of j | k),        u_jk = (ν + m) / (ν + δ_jk²),

with δ² the squared Mahalanobis distance. Maximisation: z̄_k and Σ are the mean and the scatter under the weights
r·u, Σ then moved by a share towards a multiple of the identity, and π_k the mean belief. So a wrong label costs its
class nothing once the sample is believed to be another's, and an outlier counts little wherever it belongs.

ε is not estimated here. Where classes overlap or are not round the likelihood prefers clusters to classes and explains
the difference by wrong labels: on overlapping classes it ends at twice the true rate. Held at a moderate value ε
leaves every label a pull on its sample; how many labels are wrong is judged by `noise_aware`, from held-out samples.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky
from scipy.linalg.blas import dtrmm
from scipy.special import softmax

from robustlda.linalg import Array, weighted_median, weighted_medians

_STEPS = 20
_SETTLED = 1e-3  # mean change of a sample's beliefs at which more steps change no decision


@dataclass(frozen=True)
class Latent:
    """How much the fit believes: the flip rate ε, the tails ν of the clouds, and the share of Σ made spherical."""

    flip_rate: float
    degrees: float
    shrinkage: float


@dataclass(frozen=True)
class LatentClasses:
    """Centres (c × m), inverse scatter (m × m) and shares (c), in units of `unit`."""

    centers: Array
    precision: Array
    shares: Array
    unit: float
    degrees: float

    def distances(self, Z: Array) -> Array:
        """Squared Mahalanobis distances from every centre."""
        return _squared_distances(Z / self.unit, self.centers, self.precision)

    def plane(self, Z: Array) -> Array:
        """Two coordinates in which the clouds are round and their centres farthest apart."""
        root = cholesky(self.precision, lower=True, check_finite=False)
        M = (self.centers - self.shares @ self.centers / self.shares.sum()) @ root
        axes = np.linalg.svd(np.sqrt(self.shares)[:, None] * M, full_matrices=False)[2][:2]
        P = Z / self.unit @ root @ axes.T
        return P if P.shape[1] == 2 else np.column_stack([P, np.zeros(len(P))])

    def probabilities(self, Z: Array) -> Array:
        return softmax(_log_density(self.distances(Z), self.degrees, Z.shape[1]) + _log(self.shares), axis=1)


def fit(Z: Array, labels: Array, weight: Array, n_classes: int, belief: Latent) -> LatentClasses:
    """Expectation and maximisation from the class medians."""
    unit = float(np.abs(Z).max()) or 1.0
    Z = Z / unit
    m, total = Z.shape[1], weight.sum()
    given = np.full((len(Z), n_classes), np.log(belief.flip_rate / (n_classes - 1)))
    given[np.arange(len(Z)), labels] = np.log1p(-belief.flip_rate)
    centers = _medians(Z, labels, weight, n_classes)
    scatter = _bounded_scatter(Z - centers[labels], weight)
    floor = 1e-6 * np.trace(_bounded_scatter(Z - weighted_medians(Z, weight), weight)) / m or 1.0
    shares = np.bincount(labels, weight, n_classes) / total
    belief_before = None
    for _ in range(_STEPS):
        precision = _precision(scatter, belief.shrinkage, floor)
        distances = _squared_distances(Z, centers, precision)
        r = softmax(_log_density(distances, belief.degrees, m) + _log(shares) + given, axis=1)
        if belief_before is not None and np.abs(r - belief_before).sum() <= _SETTLED * len(r):
            break
        belief_before = r
        r = r * weight[:, None]
        w = r * ((belief.degrees + m) / (belief.degrees + distances))
        totals, shares = w.sum(axis=0), (r.sum(axis=0) + 1) / (total + n_classes)
        alive = totals > 1e-9 * total
        centers = np.where(alive[:, None], w.T @ Z / np.where(alive, totals, 1)[:, None], centers)
        weighted = Z * np.sqrt(w.sum(axis=1))[:, None]  # a product with its own transpose costs half
        scatter = (weighted.T @ weighted - (centers.T * totals) @ centers) / total
    # A class without a sample has a centre nowhere, and must not be predicted.
    shares = np.where(np.bincount(labels, weight, n_classes) > 0, shares, 0)
    return LatentClasses(centers, _precision(scatter, belief.shrinkage, floor), shares, unit, belief.degrees)


def _precision(scatter: Array, shrinkage: float, floor: float) -> Array:
    """Inverse of the scatter, moved towards a multiple of the identity."""
    m = len(scatter)
    level = max(np.trace(scatter) / m, 0)
    spherical = (shrinkage * level + floor) * np.eye(m)
    factor = cho_factor((1 - shrinkage) * (scatter + scatter.T) / 2 + spherical, lower=True, check_finite=False)
    return cho_solve(factor, np.eye(m), check_finite=False)


def _squared_distances(Z: Array, centers: Array, precision: Array) -> Array:
    root = cholesky(precision, lower=True, check_finite=False)
    # A product with a triangle costs half of one with a square; BLAS wants columns, which the rows are when transposed.
    Y, M = dtrmm(1.0, root, Z.T, lower=1, trans_a=1), root.T @ centers.T
    lengths = np.einsum("ij,ij->j", Y, Y)[:, None] + np.einsum("ij,ij->j", M, M)
    return np.maximum(lengths - 2 * (Y.T @ M), 0)


def _log_density(squared: Array, degrees: float, m: int) -> Array:
    return -0.5 * (degrees + m) * np.log1p(squared / degrees)


def _log(shares: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(shares)


def _medians(Z: Array, labels: Array, weight: Array, n_classes: int) -> Array:
    """Weighted median of every coordinate in every class; the mean of all where a class is empty."""
    medians = np.tile(weight @ Z / weight.sum(), (n_classes, 1))
    for k in np.unique(labels):
        members = labels == k
        medians[k] = weighted_medians(Z[members], weight[members])
    return medians


def _bounded_scatter(R: Array, weight: Array) -> Array:
    """Scatter of residuals none of which counts for longer than three times the median one."""
    squared = np.einsum("ij,ij->i", R, R)
    limit = 9 * weighted_median(squared, weight)
    bounded = weight * np.minimum(1, limit / np.maximum(squared, limit or 1.0))
    return (R.T * bounded) @ R / weight.sum()
