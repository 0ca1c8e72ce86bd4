"""Classes as clouds around a center, with the true label of every sample unknown.

In the projected space class k is a Student-t cloud around z̄_k with a scatter Σ common to all. A sample's true class
t_j is latent; the given one is right with probability 1 − ε and otherwise any other. Expectation: the belief

    r_jk ∝ π_k · p(z_j | k) · P(given label of j | k),        u_jk = (ν + m) / (ν + δ_jk²),

with δ² the squared Mahalanobis distance. Maximization: z̄_k and Σ are the mean and the scatter under the weights
w = r·u, Σ then moved by a share γ towards a multiple of the identity, and π_k the mean belief. So a wrong label costs
its class nothing once the sample is believed to be another's, and an outlier counts little wherever it belongs.

ε is not estimated here. Where classes overlap or are not round the likelihood prefers clusters to classes and explains
the difference by wrong labels: on overlapping classes it ends at twice the true rate. Held at a moderate value ε
leaves every label a pull on its sample; `label_noise` judges how many are wrong, from samples the clouds have not seen.

**Without the sample itself.** What sample j gave to the clouds can be taken back in closed form. With s_k = Σ_j w_jk,
and φ w_jk the part of it that goes, the center of class k moves away from z_j, and the scatter shrinks:

    z_j − z̄_k' = (z_j − z̄_k) s_k / (s_k − φ w_jk),
    nΣ' = nΣ − Σ_k a_k (z_j − z̄_k)(z_j − z̄_k)ᵀ,    a_k = φ w_jk s_k / (s_k − φ w_jk).

Beside what z_j differs from all centers those differ little among themselves, so the sum is taken as one term along
z_j minus the a-weighted mean of the centers, and Σ'⁻¹ follows from Sherman and Morrison. All distances of all samples
cost a few products. That others' beliefs would change as well is left out; fits without the sample say how little that
is (tests). A sample that stands for several, or for a fraction of one, gives back one.

With few samples for many dimensions it can be much: a sample whose label draws its neighbors to its class leaves them
there. Clouds that say nothing then seem to know the labels. So there, clouds of folds (`by_others`) have to confirm
what is said.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.linalg.blas import dtrmm

from robustlda.data import Weights
from robustlda.data.columns import typical_square
from robustlda.linalg import Array, followed_by, softmax, weighted_medians

_STEPS = 20
_SETTLED = 1e-3  # mean change of a sample's beliefs at which more steps change no decision
_ROUNDING = 1e-14  # of a second moment that a scatter may be wrong by
_POINT = 1e-60  # squared length, in units of the longest one, at which clouds are points
_SAME_CENTER = 1e-9  # of the largest distance of centers, below which it is rounding that tells them apart
_ALONE = 1e-6  # share of a class's weight that must be left for it to have a center


@dataclass(frozen=True)
class CloudSettings:
    """How much the fit believes: the flip rate ε, the tails ν of the clouds, and the share γ of Σ made spherical."""

    flip_rate: float
    degrees: float
    shrinkage: float


@dataclass(frozen=True)
class Clouds:
    """Centers (c × m), inverse scatter (m × m) and shares (c), in units of `unit`."""

    centers: Array
    precision: Array
    shares: Array
    unit: float
    settings: CloudSettings

    def distances(self, Z: Array) -> Array:
        """Squared Mahalanobis distances from every center."""
        return _squared_distances(Z / self.unit, self.centers, self.precision)

    def plane(self, Z: Array) -> Array:
        """Two coordinates in which the clouds are round and their centers farthest apart.

        The centers of two classes differ in one direction only; the other is that of the first axis of Z that adds one.
        """
        root = cholesky(self.precision, lower=True, check_finite=False)
        M = (self.centers - self.shares @ self.centers / self.shares.sum()) @ root
        _, singular, Vt = np.linalg.svd(np.sqrt(self.shares)[:, None] * M, full_matrices=False)
        V = Vt[singular > _SAME_CENTER * max(singular[0], 1e-300)][:2].T
        V = followed_by(V, solve_triangular(root, np.eye(len(root)), lower=True), 2)
        P = Z / self.unit @ root @ V
        return P if P.shape[1] == 2 else np.column_stack([P, np.zeros(len(P))])

    def probabilities(self, Z: Array) -> Array:
        """Probability of every class."""
        log_density = _log_density(self.distances(Z), self.settings.degrees, Z.shape[1])
        return softmax(log_density + _log(self.shares))

    def draw(self, directions: Array) -> Array:
        """Points spread over the clouds: standard normal directions (points × m) become members of classes by turns.

        Classes come one after the other along the first direction: their names must not matter.
        """
        eigenvalues, V = np.linalg.eigh(self.precision)
        root = (V / np.sqrt(eigenvalues)) @ V.T
        place = (np.arange(len(directions)) + 0.5) / len(directions)
        order = np.argsort(self.centers @ directions[0], kind="stable")
        k = order[np.searchsorted(np.cumsum(self.shares[order]) / self.shares.sum(), place)]
        return (self.centers[k] + directions @ root) * self.unit


@dataclass(frozen=True)
class Start:
    """Samples in a unit of their own, where their classes seem to be, and the smallest scatter that is one."""

    Z: Array
    unit: float
    labels: Array
    weights: Weights
    centers: Array
    scatter: Array
    floor: float


def start_from(Z: Array, labels: Array, weights: Weights, n_classes: int) -> Start:
    """From class medians, whatever the settings."""
    weight = weights.trusted
    unit = float(np.abs(Z).max()) or 1.0
    Z = Z / unit
    centers = _medians(Z, labels, weight, n_classes)
    scatter = _bounded_scatter(Z - centers[labels], weight)
    whole = np.trace(_bounded_scatter(Z - weighted_medians(Z, weight), weight))
    floor = max(1e-6 * whole / Z.shape[1], _POINT) or 1.0
    return Start(Z, unit, labels, weights, centers, scatter, floor)


def fit(start: Start, settings: CloudSettings) -> tuple[Clouds, Array]:
    """Expectation and maximization; and the probabilities of samples without themselves."""
    found, given = _fit(start, settings)
    return found, _without_itself(found, start.Z, given, start.weights)


def _fit(start: Start, settings: CloudSettings) -> tuple[Clouds, Array]:
    """Clouds, and the logarithm of the probability of the given label for every class."""
    Z, labels, weights, centers, scatter = start.Z, start.labels, start.weights, start.centers, start.scatter
    weight, unit, floor, n_classes = weights.trusted, start.unit, start.floor, len(centers)
    m, total = Z.shape[1], weight.sum()
    given = np.full((len(Z), n_classes), np.log(settings.flip_rate / (n_classes - 1)))
    given[np.arange(len(Z)), labels] = np.log1p(-settings.flip_rate)
    moment = 0.0
    shares = np.bincount(labels, weight, n_classes) / total
    before = None
    for _ in range(_STEPS):
        precision = _precision(scatter, settings.shrinkage, max(floor, _ROUNDING * moment))
        distances = _squared_distances(Z, centers, precision)
        r = softmax(_log_density(distances, settings.degrees, m) + _log(shares) + given)
        if before is not None and weight @ np.abs(r - before).sum(axis=1) <= _SETTLED * total:
            break
        before = r
        r = r * weight[:, None]
        w = r * ((settings.degrees + m) / (settings.degrees + distances))
        totals, shares = w.sum(axis=0), (r.sum(axis=0) + 1) / (total + n_classes)
        alive = totals > 1e-9 * total
        centers = np.where(alive[:, None], w.T @ Z / np.where(alive, totals, 1)[:, None], centers)
        weighted = Z * np.sqrt(w.sum(axis=1))[:, None]  # a product with its own transpose costs half
        second = weighted.T @ weighted
        scatter = (second - (centers.T * totals) @ centers) / total
        moment = np.trace(second) / total  # of which rounding leaves a part, where the centers take off nearly all
    precision = _precision(scatter, settings.shrinkage, max(floor, _ROUNDING * moment))
    # A class without a sample has a center nowhere, and must not be predicted.
    shares = np.where(np.bincount(labels, weight, n_classes) > 0, shares, 0)
    return Clouds(centers, precision, shares, unit, settings), given


def by_others(start: Start, out: Array, settings: CloudSettings) -> Array:
    """Probabilities of some samples, given by a mask, by clouds of the others."""
    Z, others = start.Z * start.unit, ~out
    there = start_from(Z[others], start.labels[others], start.weights.take(others), len(start.centers))
    return _fit(there, settings)[0].probabilities(Z[out])


def _without_itself(clouds: Clouds, Z: Array, given: Array, weights: Weights) -> Array:
    """Probabilities of samples by clouds to which they have not contributed; Z in units of the clouds."""
    weight = weights.trusted
    degrees, m, total = clouds.settings.degrees, Z.shape[1], weight.sum()
    distances = _squared_distances(Z, clouds.centers, clouds.precision)
    r = softmax(_log_density(distances, degrees, m) + _log(clouds.shares) + given) * weight[:, None]
    w = r * ((degrees + m) / (degrees + distances))
    phi = (weights.one / weights.given)[:, None]
    s = w.sum(axis=0)
    rest = s - phi * w
    alone = rest <= _ALONE * s
    away = s / np.where(alone, 1, rest)
    a = np.where(alone, 0, (1 - clouds.settings.shrinkage) * phi * w * away / total)
    left = total - weights.one_trusted[:, None]
    squared = _downdated(clouds, Z, distances, a) * away**2 * left / total
    shares = np.where(clouds.shares > 0, (r.sum(axis=0) - phi * r + 1) / (left + len(s)), 0)
    scores = np.where(alone, -np.inf, _log_density(squared, degrees, m) + _log(shares))
    # Where no class would be left there is nothing to say.
    return softmax(np.where(np.isfinite(scores).any(axis=1, keepdims=True), scores, 0))


def _downdated(clouds: Clouds, Z: Array, distances: Array, a: Array) -> Array:
    """Squared distances with Σ_k a_k (z − z̄_k)(z − z̄_k)ᵀ taken out of the scatter of each sample."""
    root = cholesky(clouds.precision, lower=True, check_finite=False)
    Y, M = Z @ root, clouds.centers @ root
    products, lengths = Y @ M.T, np.einsum("ij,ij->i", Y, Y)[:, None]
    size = a.sum(axis=1, keepdims=True)
    mean = a / np.where(size > 0, size, 1)
    toward = np.einsum("ij,ij->i", mean, products)[:, None]
    between = mean @ (M @ M.T)
    along = lengths - toward - products + between
    itself = lengths - 2 * toward + np.einsum("ij,ij->i", between, mean)[:, None]
    return distances + size * along**2 / np.maximum(1 - size * itself, 1e-6)


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
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=n_classes))
    for k, (start, end) in enumerate(zip(np.append(0, ends[:-1]), ends, strict=True)):
        if start < end:
            members = order[start:end]
            medians[k] = weighted_medians(Z[members], weight[members])
    return medians


def _bounded_scatter(R: Array, weight: Array) -> Array:
    """Scatter of residuals none of which counts for longer than three times the median one."""
    squared = np.einsum("ij,ij->i", R, R)
    limit = 9 * typical_square(squared, weight)
    bounded = weight * (limit / np.maximum(squared, limit))
    return (R.T * bounded) @ R / weight.sum()
