"""Algorithm 2: robust LDA by reweighting, one eigenproblem per step.

    J(W, μ) = N^q / g,   N = Σ_j ω_j φ(‖Wᵀ(x_j − μ_{y_j})‖²),
                         g = Σ_j ω_j [φ(‖x_j‖²) − φ(‖x_j − WWᵀx_j‖²)],   WᵀW = I          (1)

with sample weights ω and a loss φ that is concave in the squared length (`losses`). At the current point put
w_j = ω_j φ'(within length²) and D_j = ω_j φ'(residual length²). Concavity bounds N from above and g from below by
quadratics that touch at the current point; so does concavity of N^q in the squared lengths, which holds for q > 1 with
some losses (`Loss.max_exponent`). Dinkelbach's argument then leaves

    minimize tr(WᵀAW),   A = Σ_i Σ_{j∈i} w_j (x_j − m_i)(x_j − m_i)ᵀ − (λ/q) Σ_j D_j x_j x_jᵀ,   λ = N/g,

where m_i is the w-weighted mean of class i, the optimal center whatever W. Written as one signed Gram matrix with
a correction of rank c, A = Σ_j (w_j − (λ/q)D_j) x_j x_jᵀ − Σ_i s_i m_i m_iᵀ. The m smallest eigenvectors of A are the
next W, and J cannot rise. With φ(t) = t and q = 1 this is Algorithm 1 on trace ratio. The limit is stationary, not
global; the rate is linear; the start decides the basin.

A step reads the rows twice: for the lengths at the new point, and for A. As the weights of a sample depend on its own
lengths, one pass can do both; as λ is not known before its end, that takes the Gram matrices of w and of D apart, and
twice the arithmetic. So rows that have to be fetched are read once, and rows in memory twice.

q = 1 is the paper. Its N grows like a length and its g faster than one, which tilts W towards the principal axes;
q = 2 undoes most of that tilt and follows the labels, right or wrong, more closely.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import norm

from robustlda.data import Samples
from robustlda.data.centered import CenteredBlock
from robustlda.data.samples import block_lengths
from robustlda.data.store import Statistic, pairwise_sum
from robustlda.linalg import Array, weighted_median
from robustlda.losses import Loss
from robustlda.solvers import eigen
from robustlda.solvers.result import SolverResult, Stop

_SMALLEST = 1e-6  # squared length below which lengths are alike to every loss, in units of the data's scale
_SHORTEST = 1e-200  # of the longest sample, which the unit of lengths is not below, so that its length is a number
_RELAXATION = 2.0  # length of an accelerated step, in steps of the plain algorithm
_SETTLED = 3e-2  # relative fall of J above which the iteration still chooses its basin, and is left to do so
_NEAR = 10.0  # multiple of the tolerance below which plain steps settle whether J still falls
_DIGITS = 8.0  # of the last digit that a coordinate may be wrong by


@dataclass(frozen=True)
class Point:
    """A frame with its class centers and all that one pass over the data says about it."""

    W: Array
    centers: Array
    within: Array  # ‖Wᵀ(x_j − μ)‖², in units of the data's scale
    residual: Array  # ‖x_j − WWᵀx_j‖², likewise
    N: float
    g: float
    J: float
    moments: "Moments | None" = None


@dataclass(frozen=True)
class Moments:
    """What A is made of, for the weights at a point."""

    totals: Array  # Σ w over each class
    sums: Array  # Σ w x over each class
    within: Array  # Σ w x xᵀ
    residual: Array  # Σ D x xᵀ


@dataclass(frozen=True)
class Surrogate:
    """The quadratic that bounds the objective at a point: tr(WᵀAW), A = gram(w − pull) − Σ s_i m_i m_iᵀ."""

    w: Array
    pull: Array  # (λ/q)D
    totals: Array
    centers: Array

    def matrix(self, samples: Samples, *, single: bool = False) -> Array:
        """A itself, on the samples it comes from, or in a subspace on coordinates of samples and centers in it."""
        A = samples.gram(self.w - self.pull, single=single)
        return _about_centers(A, self.totals, self.centers)


def _about_centers(A: Array, totals: Array, centers: Array) -> Array:
    """A − Σ s_i m_i m_iᵀ, in the place of A."""
    M = centers.astype(A.dtype)
    A -= (M.T * totals.astype(A.dtype)) @ M
    return A


class Objective:
    """J of (1) on given samples, and its surrogates."""

    def __init__(self, samples: Samples, loss: Loss, exponent: float = 1.0) -> None:
        self.samples, self.loss, self.exponent = samples, loss, exponent
        norms = samples.squared_norms
        # The median, not the mean: one sample a million times too far must not set the smoothing of all others.
        self.unit = max(weighted_median(norms[norms > 0], samples.weight[norms > 0]), _SHORTEST * float(norms.max()))
        self._total = loss.value(norms / self.unit)

    def at(self, W: Array, centers: Array, *, with_moments: bool = False) -> Point:
        """The point, and in the same pass what the plain step from there needs, if that is asked for."""
        moments = None
        if with_moments:
            within, residual, moments = self._measured(W, centers)
        else:
            within, residual = (length / self.unit for length in self.samples.lengths(W, centers))
        N = float(self.samples.weight @ self.loss.value(within))
        g = float(self.samples.weight @ (self._total - self.loss.value(residual)))
        J = N**self.exponent / g if g > 0 else np.inf
        return Point(W, centers, within, residual, N, g, J, moments)

    def _measured(self, W: Array, centers: Array) -> tuple[Array, Array, Moments]:
        """Squared lengths and moments in one pass."""
        samples, c = self.samples, self.samples.n_classes
        within, residual = np.empty(samples.n_samples), np.empty(samples.n_samples)
        V, projected = samples.into_rows(W), centers @ W

        def statistic(rows: slice, block: CenteredBlock) -> Statistic:
            labels, weight = samples.labels[rows], samples.weight[rows]
            inside, outside = block_lengths(block, labels, samples.squared_norms[rows], V=V, projected=projected)
            within[rows], residual[rows] = inside / self.unit, outside / self.unit
            w, D = weight * self.loss.weight(within[rows]), weight * self.loss.weight(residual[rows])
            return np.bincount(labels, w, c), block.class_sums(labels, w, c), block.gram(w), block.gram(D)

        totals, sums, Gw, GD = pairwise_sum(statistic(rows, block) for rows, block in samples.blocks())
        grams = samples.gram_from_rows(Gw), samples.gram_from_rows(GD)
        return within, residual, Moments(totals, samples.from_rows(sums.T).T, *grams)

    def start(self, W: Array) -> Point:
        """W with the class means, as the paper begins."""
        totals, sums = self.samples.class_sums(self.samples.weight)
        return self.at(W, sums / totals[:, None])

    def _weights(self, point: Point, lengths: tuple[Array, Array] | None) -> tuple[Array, Array]:
        """w and (λ/q)D at the point, or at other squared lengths."""
        weight = self.samples.weight
        within, residual = (point.within, point.residual) if lengths is None else lengths
        return weight * self.loss.weight(within), self._pull(point) * weight * self.loss.weight(residual)

    def _pull(self, point: Point) -> float:
        return point.N / (self.exponent * point.g)

    def surrogate(self, point: Point) -> Surrogate:
        """The surrogate that touches J at the point."""
        w, pull = self._weights(point, None)
        totals, sums = self.samples.class_sums(w)
        return Surrogate(w, pull, totals, _weighted_means(totals, sums, point))

    def quadratic(
        self, point: Point, lengths: tuple[Array, Array] | None = None, *, single: bool = False
    ) -> tuple[Array, Array]:
        """A and the centers of the surrogate at a point; with other squared lengths, of one that may do better."""
        if lengths is None and point.moments is not None:
            found = point.moments
            totals, sums, A = found.totals, found.sums, found.within - self._pull(point) * found.residual
            A = A.astype(np.float32) if single else A
        else:
            w, pull = self._weights(point, lengths)
            totals, sums, A = self.samples.moments(w, w - pull, single=single)
        centers = _weighted_means(totals, sums, point)
        return _about_centers(A, totals, centers), centers

    def apply(self, surrogate: Surrogate, V: Array) -> Array:
        """A·V in one pass, without A."""
        M, signed = surrogate.centers, surrogate.w - surrogate.pull
        peak = float(np.abs(signed).max()) or 1.0  # beyond single precision where nearly all samples coincide
        return peak * self.samples.apply(signed / peak, V) - M.T @ (surrogate.totals[:, None] * (M @ V))

    def stationarity(self, point: Point) -> float:
        """Relative length of the gradient of J in (W, μ), from the surrogate that touches J there."""
        surrogate, W = self.surrogate(point), point.W
        AW = self.apply(surrogate, W) / self.unit
        tangent = norm((AW - W @ (W.T @ AW)).ravel())  # by BLAS, whose squares do not overflow
        # The two traces that balance in A are free, and positive even where their difference vanishes.
        captured = self.samples.squared_norms / self.unit - point.residual
        spread = float(surrogate.w @ point.within)
        traces = spread + float(surrogate.pull @ captured)
        if not spread > 0 or self._are_points(point, captured):
            return 0.0
        moved = np.linalg.norm((surrogate.centers - point.centers) @ W, axis=1) ** 2 / self.unit
        in_W, in_centers = tangent * np.sqrt(W.shape[1]) / traces, surrogate.totals @ moved / spread
        return float(np.sqrt(in_W**2 + in_centers))

    def _are_points(self, point: Point, captured: Array) -> bool:
        """Whether classes are points in W, but for rounding: how far samples are from centers then means nothing."""
        eps, weight = np.finfo(self.samples.store.dtype).eps, self.samples.weight
        return bool(weight @ point.within <= (_DIGITS * eps) ** 2 * (weight @ np.maximum(captured, 0)))


def solve(
    samples: Samples,
    W: Array,
    loss: Loss,
    *,
    exponent: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 200,
    accelerate: bool = True,
    single_above: float = np.inf,
    centers: Array | None = None,
) -> SolverResult:
    """Descend from W until a plain step lowers J by no more than `tol`, relative to J.

    With `accelerate`, the logarithms of the squared lengths go on as far again as the last step took them before they
    are turned into weights: surrogates bound J from one side, so their steps are short. Any positive lengths give a
    valid matrix A; a step that does not lower J is dropped, at the cost of the iteration (`history` repeats J there),
    and a plain one taken instead, after which the stride is shorter.

    While a step lowers J by more than `single_above`, relative to J, its eigenproblem is solved in single precision: as
    W is nearly optimal for A, an error of W shows only squared in J, which itself is always in double precision.
    """
    objective = Objective(samples, loss, exponent)
    here = objective.start(W) if centers is None else objective.at(W, centers)
    here, history, stop = descend(
        objective, here, tol=tol, max_iter=max_iter, accelerate=accelerate, single_above=single_above
    )
    return SolverResult(here.W, here.centers, np.array(history), objective.stationarity(here), stop)


def descend(
    objective: Objective,
    here: Point,
    *,
    tol: float,
    max_iter: int,
    accelerate: bool = True,
    single_above: float = np.inf,
) -> tuple[Point, list[float], Stop]:
    """The point where `solve` ends, J on the way there, and why it ends."""
    if not np.isfinite(here.J):
        raise ValueError(
            "At the starting projection the loss sees no difference between the data and nothing, so that J has no "
            "value. Choose another `init`, or a `loss` with a larger scale or cap."
        )
    history, stop = [here.J], Stop.limit(max_iter)
    single, relaxation = np.isfinite(single_above), _RELAXATION if accelerate else 1.0
    ahead: tuple[Array, Array] | None = None
    while len(history) <= max_iter:
        there = _step(objective, here, ahead, single)
        if there.J <= here.J:
            history.append(there.J)
            fall = (here.J - there.J) / there.J if there.J > 0 else 0.0
            if fall <= tol and ahead is None and (not single or tol >= single_above):
                here, stop = there, settled(tol)
                break
            settling = _NEAR * tol < fall <= _SETTLED
            ahead = _beyond(here, there, relaxation) if settling and relaxation > 1 else None
            single = single and fall > single_above
            here = there
        elif ahead is not None:
            history.append(here.J)
            ahead, relaxation = None, max(1.0, 0.8 * relaxation)
        elif single:
            single = False
        else:
            stop = Stop(True, "no further descent in working precision")
            break
    return here, history, stop


def settled(tol: float) -> Stop:
    return Stop(True, f"J changed by less than tol={tol:g}")


def _weighted_means(totals: Array, sums: Array, point: Point) -> Array:
    """Class centers; a class whose every sample a redescending loss rejects keeps the one it had."""
    alive = totals > 0
    return np.where(alive[:, None], sums / np.where(alive, totals, 1)[:, None], point.centers)


def _step(objective: Objective, here: Point, lengths: tuple[Array, Array] | None, single: bool) -> Point:
    A, centers = objective.quadratic(here, lengths, single=single)
    # After a plain step another one is likely; after a longer one what it would need is not known yet.
    fetched = lengths is None and not objective.samples.store.in_memory
    return objective.at(eigen.smallest(A, here.W.shape[1]), centers, with_moments=fetched)


def _beyond(here: Point, there: Point, stride: float) -> tuple[Array, Array]:
    """The squared lengths that lie on the way from here to there, `stride` times as far."""
    within, residual = (
        # The logarithm is kept finite where a length vanishes.
        (after + _SMALLEST) * ((after + _SMALLEST) / (before + _SMALLEST)) ** (stride - 1)
        for before, after in ((here.within, there.within), (here.residual, there.residual))
    )
    return np.maximum(within - _SMALLEST, 0), np.maximum(residual - _SMALLEST, 0)
