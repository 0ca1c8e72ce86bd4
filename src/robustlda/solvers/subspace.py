"""Algorithm 2 for many dimensions: solve it in a small subspace, enlarge the subspace by the gradient, repeat.

Let Q be an orthonormal basis of k directions, k a few times m. On frames W = QU the objective needs the coordinates
XQ and the lengths ‖x_j‖ alone, so `reweighted.solve` minimizes it inside the subspace at the cost of k dimensions
instead of d, exactly as it would in the whole space. At that point the surrogate's matrix A touches J, and

    R = (I − QQᵀ) A W

is the gradient of J that the subspace cannot follow. If it vanishes, W is stationary in the whole space. Otherwise
the subspace grows by T R, with T an inverse of the scatter to balance directions of large and of small scatter, and
the next minimum cannot be higher, since W stays in reach. A full subspace is cut back to W and the lowest eigenvectors
of A in it. No d × d matrix is needed: a cycle costs a few products A·V, of 4·nnz·m operations each, beside work in k
dimensions. This is block Davidson with the eigenproblem replaced by the whole nonlinear problem.

T comes from `preconditioner`. Directions in which hardly any sample varies are found by T alone, and those of large
scatter sooner without it, so R itself enters beside T R. With too many features and samples to factorize anything there
is only R.

Where d is moderate the last digits, which lie in many directions of almost no scatter, come cheaper from the whole
eigenproblem: the plan decides, and `reweighted.solve` takes over.
"""

from dataclasses import replace

import numpy as np

from robustlda.data import Samples
from robustlda.linalg import Array, extension
from robustlda.losses import Loss
from robustlda.solvers import eigen, reweighted
from robustlda.solvers.preconditioner import Inverse, inverse_scatter
from robustlda.solvers.result import SolverResult, Stop

_INNER = 10  # steps of Algorithm 2 inside a subspace, which changes before more would pay


class _Subspace:
    """A basis Q and the coordinates Y = XQ of the samples in it, in buffers to which columns are appended."""

    def __init__(self, samples: Samples, capacity: int) -> None:
        self._samples, self.k, self._capacity = samples, 0, capacity
        self._Q = np.empty((samples.dim, capacity), order="F")
        self._Y = np.empty((samples.n_samples, capacity))

    @property
    def Q(self) -> Array:
        return self._Q[:, : self.k]

    def inside(self) -> Samples:
        return self._samples.restrict(self._Y[:, : self.k])

    def add(self, V: Array) -> Array:
        """Take the span of V in, as far as there is room; the new basis vectors are returned."""
        new = extension(self.Q, V)[:, : self._capacity - self.k]
        columns = slice(self.k, self.k + new.shape[1])
        self._Q[:, columns], self._Y[:, columns] = new, self._samples.project(new)
        self.k += new.shape[1]
        return new

    def reduce(self, keep: Array) -> None:
        """Leave the span of Q·keep, with orthonormal columns, only."""
        k = keep.shape[1]
        self._Q[:, :k], self._Y[:, :k] = self.Q @ keep, self._Y[:, : self.k] @ keep
        self.k = k


def solve(
    samples: Samples,
    W: Array,
    loss: Loss,
    *,
    exponent: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 200,
    inverse: Inverse | None = None,
    finish: bool = True,
) -> SolverResult:
    """Descend from W until a cycle lowers J by no more than `tol`, relative to J.

    With `finish`, the whole space takes over where that is cheaper for the last digits.
    """
    m, plan = W.shape[1], samples.plan
    finish = finish and plan.finish_in_whole_space(samples)
    inverse = inverse or inverse_scatter(samples, plan.shift(samples))
    objective = reweighted.Objective(samples, loss, exponent)
    totals, sums = samples.class_sums(samples.weight)
    space = _Subspace(samples, min(plan.largest_subspace(m) + len(sums), samples.dim))
    for block in (W, sums.T, principal_directions(samples, m)):
        space.add(block)
    U, M = np.eye(space.k, m), sums / totals[:, None] @ space.Q
    history = [reweighted.Objective(space.inside(), loss, exponent).at(U, M).J]
    fall, stop = 1.0, Stop.limit(max_iter)
    while len(history) <= max_iter:
        inside = reweighted.Objective(space.inside(), loss, exponent)
        point, _, _ = reweighted.descend(
            inside,
            inside.at(U, M),
            tol=max(0.1 * tol, min(1e-3, 0.1 * fall)),
            max_iter=_INNER,
            single_above=plan.single_above(inside.samples),
        )
        history.append(min(point.J, history[-1]))  # a change of basis may cost the last digit
        fall = (history[-2] - history[-1]) / point.J if point.J > 0 else 0.0
        whole = replace(point, W=space.Q @ point.W, centers=point.centers @ space.Q.T)
        if fall <= tol:
            stop = reweighted.settled(tol)
            break
        if finish and fall <= plan.handover:
            rest = reweighted.solve(
                samples,
                whole.W,
                loss,
                centers=whole.centers,
                tol=tol,
                max_iter=max_iter - len(history) + 1,
                single_above=plan.single_above(samples),
                exponent=exponent,
            )
            return _joined(history, rest)
        U, M = _grow(space, objective, whole, point.W, inverse, 1 if finish else 2)
    return SolverResult(whole.W, whole.centers, np.array(history), objective.stationarity(whole), stop)


def _grow(
    space: _Subspace,
    objective: reweighted.Objective,
    point: reweighted.Point,
    U: Array,
    inverse: Inverse | None,
    blocks: int,
) -> tuple[Array, Array]:
    """Add one or two blocks of m directions to the subspace; the coordinates of frame and centers in it are returned.

    One is T R. Two are R and T R, or, without T, R and A R: what a second step would find.
    """
    m, samples, plan = U.shape[1], objective.samples, objective.samples.plan
    surrogate = objective.surrogate(point)
    if space.k + blocks * m > plan.largest_subspace(m):
        # What else is worth keeping need not be known to more than a few digits.
        A = replace(surrogate, centers=surrogate.centers @ space.Q).matrix(space.inside(), single=True)
        keep = np.hstack([U, extension(U, eigen.smallest(A, 2 * m)[:, m:])])
        space.reduce(keep)
        U = np.eye(space.k, m)  # exactly: keepᵀU would double what U lacks in orthonormality at every restart
    block = point.W
    for _ in range(blocks if inverse is None else 1):
        gradient = objective.apply(surrogate, block)
        outside = gradient - space.Q @ (space.Q.T @ gradient)
        # Rounding errors of the product know no row space, outside of which every direction costs nothing; they must
        # stay far below what is kept.
        noise = plan.real_gradient(samples) * np.linalg.norm(gradient, axis=0).max()
        real = np.linalg.norm(outside, axis=0) > noise
        if not real.any():
            break
        outside = outside[:, real]
        balanced = [] if inverse is None else [inverse(outside, surrogate.w)]
        unbalanced = [outside] if inverse is None or blocks == 2 else []
        block = space.add(np.hstack(unbalanced + balanced))
    return np.vstack([U, np.zeros((space.k - len(U), m))]), surrogate.centers @ space.Q


def principal_directions(samples: Samples, m: int) -> Array:
    """Orthonormal directions of large scatter: two steps of the power method from a fixed random block."""
    V = random_block(samples, m)
    for _ in range(2):
        V = samples.apply(samples.weight, np.linalg.qr(V)[0])
    return np.linalg.qr(V)[0]


def random_block(samples: Samples, m: int) -> Array:
    """Columns drawn in feature space, so that they are the same whatever basis the working space has."""
    F = np.random.RandomState(0).standard_normal((samples.space.n_features, m))
    return samples.space.basis.T @ F if samples.space.basis is not None else F


def _joined(history: list[float], rest: SolverResult) -> SolverResult:
    path = np.concatenate([history, rest.history[1:]])
    return SolverResult(rest.W, rest.centers, path, rest.stationarity, rest.stop)
