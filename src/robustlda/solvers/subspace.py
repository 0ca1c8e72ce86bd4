"""Algorithm 2 for many dimensions: solve it in a small subspace, enlarge the subspace by the gradient, repeat.

Let Q be an orthonormal basis of k directions, k a few times m. On frames W = QU the objective needs the coordinates
XQ and the lengths ‖x_j‖ alone, so `reweighted.solve` minimises it inside the subspace at the cost of k dimensions
instead of d, exactly as it would in the whole space. At that point the surrogate's matrix A touches J, and

    R = (I − QQᵀ) A W

is the gradient of J that the subspace cannot follow. If it vanishes, W is stationary in the whole space. Otherwise
the subspace grows by T R, with T ≈ (S_t + τI)⁻¹ to balance directions of large and of small scatter, and the next
minimum cannot be higher, since W stays in reach. A full subspace is cut back to W and the lowest eigenvectors of A
in it. No d × d matrix is needed: a cycle costs a few products A·V, of 4·nnz·m operations each, beside work in k
dimensions. This is block Davidson with the eigenproblem replaced by the whole nonlinear problem.

Where d is moderate the last digits, which lie in many directions of almost no scatter, come cheaper from the whole
eigenproblem: `plan` decides, and `reweighted.solve` takes over.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from robustlda.linalg import Array, enlarge
from robustlda.losses import Loss
from robustlda.samples import RestrictedSamples, Samples
from robustlda.solvers import eigen, plan, reweighted
from robustlda.solvers._result import SolverResult

Preconditioner = Callable[[Array], Array]

_INNER = 10  # steps of Algorithm 2 inside a subspace, which changes before more would pay


def solve(
    samples: Samples,
    W: Array,
    loss: Loss,
    *,
    exponent: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 200,
    precondition: Preconditioner | None = None,
    finish: bool = True,
) -> SolverResult:
    """Descend from W until a cycle lowers J by no more than `tol`, relative to J.

    With `finish`, the whole space takes over where that is cheaper for the last digits.
    """
    m, depth = W.shape[1], 1 if finish and plan.finish_in_whole_space(samples) else 2
    T = precondition or preconditioner(samples, plan.shift(samples))
    objective = reweighted.Objective(samples, loss, exponent)
    totals, sums = samples.class_sums(samples.weight)
    Q = enlarge(enlarge(W, sums.T), principal_directions(samples, m))
    Y = samples.project(Q)
    U, M = np.eye(Q.shape[1], m), sums / totals[:, None] @ Q
    history = [reweighted.Objective(RestrictedSamples(samples, Y), loss, exponent).at(U, M).J]
    fall, reason = 1.0, f"max_iter={max_iter} was reached"
    while len(history) <= max_iter:
        inside = RestrictedSamples(samples, Y)
        inner_tol = max(0.1 * tol, min(1e-3, 0.1 * fall))
        inner = reweighted.solve(
            inside, U, loss, exponent=exponent, tol=inner_tol, max_iter=_INNER, centers=M, accelerate=False
        )
        point = reweighted.Objective(inside, loss, exponent).at(inner.W, inner.centers)
        history.append(min(point.J, history[-1]))  # a change of basis may cost the last digit
        fall = (history[-2] - history[-1]) / point.J
        whole = reweighted.Point(
            Q @ inner.W, inner.centers @ Q.T, point.within, point.residual, point.N, point.g, point.J
        )
        if fall <= tol:
            reason = f"J changed by less than tol={tol:g}"
            break
        if finish and fall <= plan.HANDOVER and plan.finish_in_whole_space(samples):
            rest = reweighted.solve(
                samples,
                whole.W,
                loss,
                exponent=exponent,
                tol=tol,
                max_iter=max_iter - len(history) + 1,
                centers=whole.centers,
            )
            return _joined(history, rest)
        Q, Y, U, M = _next_subspace(objective, inside, whole, inner.W, Q, Y, T, depth)
    converged = not reason.startswith("max_iter")
    return SolverResult(whole.W, whole.centers, np.array(history), objective.stationarity(whole), converged, reason)


def _next_subspace(
    objective: reweighted.Objective,
    inside: RestrictedSamples,
    point: reweighted.Point,
    U: Array,
    Q: Array,
    Y: Array,
    T: Preconditioner,
    depth: int,
) -> tuple[Array, Array, Array, Array]:
    """The subspace with the gradient added, the coordinates of samples, frame and centres in it."""
    m = U.shape[1]
    surrogate = objective.surrogate(point)
    if Q.shape[1] + depth * m > plan.largest_subspace(m):
        M = surrogate.centers @ Q
        A = inside.gram(surrogate.w - surrogate.pull) - (M.T * surrogate.totals) @ M
        keep = enlarge(U, eigen.smallest(A, 2 * m)[:, m:])
        Q, Y, U = Q @ keep, Y @ keep, keep.T @ U
    basis, block = Q, point.W
    for _ in range(depth):
        gradient = objective.apply(surrogate, block)
        outside = gradient - basis @ (basis.T @ gradient)
        # Rounding errors of the product know no row space, outside of which every direction costs nothing; they must
        # stay far below what is kept.
        noise = plan.real_gradient(objective.samples) * np.linalg.norm(gradient, axis=0).max()
        real = np.linalg.norm(outside, axis=0) > noise
        if not real.any():
            break
        block = enlarge(basis, T(outside[:, real]))[:, basis.shape[1] :]
        basis = np.hstack([basis, block])
    new = basis[:, Q.shape[1] :]
    Y = np.hstack([Y, objective.samples.project(new)])
    U = np.vstack([U, np.zeros((new.shape[1], m))])
    return basis, Y, U, surrogate.centers @ basis


def preconditioner(samples: Samples, shift: float) -> Preconditioner:
    """T = (S_t + τI)⁻¹ with τ a multiple of the largest eigenvalue; the identity where the matrix is out of reach."""
    if not plan.factorise_total_scatter(samples):
        # Anything else that is cheap, such as a scaling of features, would lead out of the row space.
        return lambda R: R
    St = samples.gram(samples.weight)
    size = _largest(St)
    factor = cho_factor(St + shift * size * np.eye(len(St)), lower=True, overwrite_a=True, check_finite=False)
    return lambda R: cho_solve(factor, R, check_finite=False)


def principal_directions(samples: Samples, m: int) -> Array:
    """Orthonormal directions of large scatter: two steps of the power method from a fixed random block."""
    V = np.random.RandomState(0).standard_normal((samples.dim, m))
    for _ in range(2):
        V = samples.apply(samples.weight, np.linalg.qr(V)[0])
    return np.linalg.qr(V)[0]


def _largest(S: Array) -> float:
    """The largest eigenvalue to a digit, which is all a shift needs."""
    v = np.sqrt(np.diag(S))
    for _ in range(10):
        v = S @ (v / np.linalg.norm(v))
    return float(np.linalg.norm(v))


def _joined(history: list[float], rest: SolverResult) -> SolverResult:
    path = np.concatenate([history, rest.history[1:]])
    return SolverResult(rest.W, rest.centers, path, rest.stationarity, rest.converged, rest.reason)
