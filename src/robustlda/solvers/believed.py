"""Discriminant directions of believed classes, measured in lengths that are not squared.

Classes with centers μ_k and one scatter Σ, lengths ‖v‖_Σ = √(vᵀΣ⁻¹v), weights ω with sum n, a target D for Σ and its
share λ: minimize

    L(μ, Σ) = 2ℓ Σ_j ω_j ‖x_j − μ_k(j)‖_Σ + n λ tr(Σ⁻¹D) + n (1 + λ) log det D⁻¹Σ.

With squared lengths this is the likelihood of normal classes and leads to linear discriminant analysis, shrunk. Lengths
leave a sample far from its class less of a say, as in the paper's objective; ℓ is a typical length, so that a usual
sample counts as before.

The root is concave: 2ℓ√δ ≤ ℓ(δ/√δ' + √δ') with equality at δ = δ', the squared length at the point reached. With
u_j = ℓ/√δ'_j the bound is a weighted sum of squares, which

    μ_k = Σ ωu x / Σ ωu over the class,     Σ = (Σ_j ω_j u_j (x_j − μ_k)(x_j − μ_k)ᵀ / n + λD) / (1 + λ)

minimize exactly, first μ and then Σ. So L never rises. (In code δ has a small number added, which changes nothing.)

W holds the directions in which the centers differ most in units of Σ, the columns of largest separation first, with
WᵀΣW = I. Fisher's are the eigenvectors of Σ⁻¹ Σ_ij n_i n_j (μ_i − μ_j)(μ_i − μ_j)ᵀ over pairs of classes. There a pair
that is far apart counts most, though nobody confuses it; so every pair counts with

    ω(Δ) = erf(Δ / 2√2) / 2Δ²,     Δ = ‖μ_i − μ_j‖_Σ,

by which its part of the trace is the share of the pair that a line between the two gets right, beyond half of it
(Loog, Duin and Haeb-Umbach 2001). All directions together, c − 1 at most, span the same space either way; the first few
are better. Where more are asked for, principal axes follow, as far as they are new in the same metric.

D has the variances of the features, so that their units do not matter, or with more features than samples a multiple of
the identity, for which no basis is special. λ is Ledoit and Wolf's. A common scatter of c classes is as sure as all n
samples make it where the classes are right. Where they are in doubt, what is believed wrongly widens the classes
towards each other, and n / c samples, those of a class, are taken for the number that λ rests on; in between with the
share of labels in doubt. D and λ come from samples weighted by u already, as lengths in units of plain variances give
it: fourth powers of a few far samples would make λ so large that long classes are taken for round ones. For the same
reason a sample that is trusted to the share t does not count as t samples there. It adds t times its square to the
scatter, and so t² times its fourth power to the variance of that; a class is as sure as (Σt)² / Σt² samples make it.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cholesky
from scipy.linalg.lapack import dtrtri
from scipy.special import erf, gammaincinv, gammaln

from robustlda.data import Samples, Weights, distinct
from robustlda.data.columns import class_totals, median
from robustlda.linalg import Array, followed_by
from robustlda.solvers import starts, subspace
from robustlda.solvers.result import SolverResult, Stop

TOO_MUCH = 0.4
"""Share of labels in doubt from which on a common scatter is no surer than that of a single class."""

_MOST_SHRUNK = 0.95
_ROWS = 400  # distinct ones of a class from which its shrinkage is estimated
_SMOOTHING = 1e-3  # of ℓ², added to squared lengths
_TINY = 1e-9  # of the mean variance of all samples, added to that within classes, which may be zero


@dataclass(frozen=True)
class Discriminants(SolverResult):
    """`separation` is what each direction adds to telling pairs of classes apart.

    `covariance` is the scatter within classes, not shrunk, in the columns of `basis`.
    """

    separation: Array
    covariance: Array
    basis: Array


def solve(samples: Samples, m: int, *, doubt: float = 0.0, tol: float = 1e-4, max_iter: int = 20) -> Discriminants:
    """The m directions that separate the classes best; labels of the samples are what is believed.

    `doubt` is the share of labels that were given otherwise.
    """
    plan, some = samples.plan, _some_of_each_class(samples)
    if samples.dim > plan.linear_rule_dim:
        V = subspace.principal_directions(samples, max(m, plan.principal_subspace(samples)))
        found = _solve(samples.restricted_to(V), some, m, doubt, tol, max_iter)
        return replace(found, W=V @ found.W, centers=found.centers @ V.T, basis=V)
    return _solve(samples, some, m, doubt, tol, max_iter)


_Some = tuple[Array, Weights]  # rows, and what they count


def _some_of_each_class(samples: Samples) -> _Some:
    """All rows; where a class has many, some of each, which are the same in any order of the rows."""
    ones, rows = 1.0 + 0.0 * samples.weight, np.arange(samples.n_samples)
    if class_totals(samples.labels, ones, samples.n_classes).max() <= _ROWS:
        return rows, samples.weights.take(rows)
    found = distinct.sample(samples, _ROWS, _ROWS)
    return found.index, found.weights


def _solve(samples: Samples, some: _Some, m: int, doubt: float, tol: float, max_iter: int) -> Discriminants:
    n = samples.weight.sum()
    metric, means = _usual_distances(samples)
    lengths = samples.within_lengths(metric, means)
    typical = _typical(samples, lengths)
    _, means, S = _reweighted(samples, metric, means, typical, lengths)
    D = _target(samples, S / n)
    unit = _inverse_root(D)
    share = _shrinkage(samples, some, means, unit, doubt, metric, typical)
    root = _inverse_root(_drawn_to(D, S / n, share))
    lengths = samples.within_lengths(root, means)
    typical = _typical(samples, lengths)
    history: list[float] = []
    before = means, S, root
    while True:
        fit, next_means, next_S = _reweighted(samples, root, means, typical, lengths)
        determinant = _log_determinant(unit) - _log_determinant(root)  # of Σ in units of D
        history.append(float(fit / n + share * _trace(root, D) + 2 * (1 + share) * determinant))
        samples.tell(history[-1])
        done = len(history) > 1 and history[-2] - history[-1] <= tol * len(D)
        if done and history[-1] > history[-2]:
            # Where classes are all but points, what keeps Σ from being singular is more than they are themselves.
            history.pop()
            means, S, root = before
        if done or len(history) > max_iter:
            break
        before = means, S, root
        means, S, lengths = next_means, next_S, None
        root = _inverse_root(_drawn_to(D, S / n, share))
    W, separation = _directions(samples, means, root, m)
    stop = Stop(True, "the objective stopped falling") if done else Stop.limit(max_iter)
    covariance = S / n / _fewer(len(S)) * (_typical(samples, samples.within_lengths(root, means)) / typical)
    # No gradient is computed.
    return Discriminants(W, means, np.array(history), np.nan, stop, separation, covariance, np.eye(len(S)))


def _typical(samples: Samples, lengths: Any) -> float:
    """The median of lengths, which are given squared."""
    return float(np.sqrt(median(lengths, samples.weight))) or 1.0


def _usual_distances(samples: Samples) -> tuple[Array, Array]:
    """A metric and centers to begin with: D as plain variances make it, and means."""
    totals, sums, S = samples.moments(samples.weight, samples.weight)
    means, S = _within(totals, sums, S, samples.store.dtype)
    return _inverse_root(_target(samples, S / samples.weight.sum())), means


def _reweighted(
    samples: Samples, root: Array, means: Array, typical: float, known: Any = None
) -> tuple[float, Array, Array]:
    """2ℓ Σ ω‖·‖ at a point, and what follows from it: centers, and the scatter about them with weights u.

    Squared lengths at the point may be known already.
    """
    smoothing = _SMOOTHING * typical**2

    def factor(squares: Array) -> tuple[Array, Array]:
        lengths = np.sqrt(squares + smoothing)
        return 2 * typical * lengths, typical / lengths

    fit, totals, sums, S = samples.reweighted_moments(root, means, factor, known)
    return fit, *_within(totals, sums, S, samples.store.dtype)


def _within(totals: Array, sums: Array, S: Array, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Centers of the classes and the scatter about them, of rows in some precision."""
    means = sums / totals[:, None]
    known = np.finfo(dtype)
    least = max(_TINY, 8 * known.eps) * np.trace(S) / len(S) + known.tiny  # below which numbers have no digits
    return means, S.astype(float) - (means.T * totals) @ means + least * np.eye(len(S))


def _fewer(p: int) -> float:
    """By what weights u = median(√δ) / √δ make the scatter of normal samples smaller: E[uδ] / E[δ], with δ ~ χ²."""
    log_mean_length = 0.5 * np.log(2) + gammaln((p + 1) / 2) - gammaln(p / 2)
    middle = 2 * gammaincinv(p / 2, 0.5)
    return float(np.sqrt(middle) * np.exp(log_mean_length) / p)


def _target(samples: Samples, S: Array) -> Array:
    """The matrix D that Σ is drawn to; a diagonal one as its diagonal."""
    if samples.space.n_features >= (samples.weights.given / samples.weights.one).sum():
        return np.full(len(S), np.trace(S) / len(S))
    basis = samples.space.basis
    if basis is None:
        return np.diag(S).copy()
    variances = np.einsum("ij,ij->i", basis @ S, basis)
    return np.asarray((basis.T * variances) @ basis)


def _shrinkage(
    samples: Samples, some: _Some, means: Array, unit: Array, doubt: float, metric: Array, typical: float
) -> float:
    """λ for the mean of what classes ask for; the columns of `unit` take samples into units of D.

    Far samples weigh as little as they do in D: by their lengths in the metric that D comes from.
    """
    weights = samples.weights
    copies, trust = weights.given / weights.one, weights.trust
    sizes = class_totals(samples.labels, copies * trust, samples.n_classes) ** 2
    sizes /= class_totals(samples.labels, copies * trust**2, samples.n_classes)
    shares = class_totals(samples.labels, samples.weight, samples.n_classes) / samples.weight.sum()
    index, weights = some
    labels, rows, copies, trust = samples.labels[index], samples.rows(index), weights.given / weights.one, weights.trust
    rho = 0.0
    for k, mean in enumerate(means):
        own = labels == k
        R, size = rows[own] - mean, sizes[k] * samples.n_classes ** max(0.0, 1 - doubt / TOO_MUCH)
        measured = _times(R, metric)
        u = typical / np.sqrt(np.einsum("ij,ij->i", measured, measured) + _SMOOTHING * typical**2)
        rho += shares[k] * _intensity(np.sqrt(u)[:, None] * _times(R, unit), copies[own], trust[own], size)
    rho = min(rho, _MOST_SHRUNK)
    return rho / (1 - rho)


def _intensity(R: Array, copies: Array, trust: Array, n: float) -> float:
    """Ledoit and Wolf's share of the identity in the covariance of rows R, from moments without bias."""
    weight, again = copies * trust, copies @ trust**2
    total, p = weight.sum(), R.shape[1]
    pairs = total**2 - again
    squares = np.einsum("ij,ij->i", R, R)
    # A single sample, copies of one, or others that are not trusted.
    if pairs <= 1e-9 * total**2 or weight @ squares <= 1e-9 * total * p:
        return 1.0
    fourth = copies @ (trust * squares) ** 2
    size = max(float(weight @ (R @ R.T) ** 2 @ weight - fourth) / pairs, 0.0)  # ‖Σ‖²
    error = max(fourth / again - size, 0.0) / n
    spread = size + error - float(weight @ squares / total) ** 2 / p
    return float(min(error / spread, 1.0)) if spread > 0 else 1.0


def _times(R: Array, root: Array) -> Array:
    """Rows times columns, which may be those of a diagonal matrix."""
    return R * root if root.ndim == 1 else R @ root


def _drawn_to(D: Array, S: Array, share: float) -> Array:
    """(S + λD) / (1 + λ)."""
    if D.ndim == 2:
        return np.asarray((S + share * D) / (1 + share))
    drawn = S / (1 + share)
    drawn[np.diag_indices(len(S))] += share / (1 + share) * D
    return np.asarray(drawn)


def _trace(root: Array, D: Array) -> float:
    """tr(Σ⁻¹D) with Σ⁻¹ = RRᵀ."""
    return float(D @ np.einsum("ij,ij->i", root, root) if D.ndim == 1 else np.vdot(root, D @ root))


def _inverse_root(S: Array) -> Array:
    """Columns R with RᵀSR = I; of a diagonal matrix, given by its diagonal, the diagonal."""
    if S.ndim == 1:
        return np.asarray(1 / np.sqrt(S))
    inverse, _ = dtrtri(cholesky(S, lower=True), lower=1, overwrite_c=1)
    return np.asarray(inverse.T)


def _log_determinant(root: Array) -> float:
    return float(np.log(root if root.ndim == 1 else np.diag(root)).sum())


def _directions(samples: Samples, means: Array, root: Array, m: int) -> tuple[Array, Array]:
    """W and the separation of its columns."""
    shares = class_totals(samples.labels, samples.weight, samples.n_classes) / samples.weight.sum()
    _, singular, Vt = np.linalg.svd(_between(means @ root, shares), full_matrices=False)
    V = Vt[singular > 1e-9 * max(singular[0], 1e-300)][:m].T
    separation = np.zeros(m)
    separation[: V.shape[1]] = singular[: V.shape[1]] ** 2
    if V.shape[1] < m:
        V = followed_by(V, np.linalg.solve(root, starts.principal_axes(samples, m)), m)
    return root @ V, separation


def _between(Y: Array, shares: Array) -> Array:
    """Rows whose scatter is that of weighted pairs of centers Y, in units of Σ: L^½Y with the pairs' Laplacian L."""
    squares = np.einsum("ij,ij->i", Y, Y)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * Y @ Y.T, 1e-12))
    weights = erf(distances / np.sqrt(8)) / (2 * distances**2) * np.outer(shares, shares)
    np.fill_diagonal(weights, 0)
    values, U = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)
    return np.sqrt(np.maximum(values, 0))[:, None] * (U.T @ Y)
