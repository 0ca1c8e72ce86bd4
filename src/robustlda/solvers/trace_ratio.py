"""Trace-ratio LDA: Algorithm 1 with an eigenproblem inside.

    minimize  tr(WᵀS_wW) / tr(WᵀS_tW)   over W with WᵀW = I

This is maximizing tr(WᵀS_bW)/tr(WᵀS_wW), since S_t = S_w + S_b. The inner problem, min tr(Wᵀ(S_w − λS_t)W), is
solved exactly by the eigenvectors of the m smallest eigenvalues, so the limit is the global optimum and the
rate is quadratic when the eigenvalues m and m + 1 differ. Usually 4 to 8 eigenproblems; the scatters are
formed once.

It is also Algorithm 2 with squared lengths, so in many dimensions `subspace` solves it without any d × d eigenproblem.
Most of W are then directions of very little scatter, and a nearly unshifted inverse of S_t finds them in few cycles.
"""

import numpy as np

from robustlda.data import Samples
from robustlda.linalg import Array, extension
from robustlda.losses import Squared
from robustlda.solvers import eigen, subspace
from robustlda.solvers.preconditioner import Inverse, inverse_scatter
from robustlda.solvers.ratio import minimize_ratio
from robustlda.solvers.result import SolverResult, Stop


def scatters(samples: Samples) -> tuple[Array, Array, Array]:
    """Within-class scatter, total scatter and class means."""
    totals, sums = samples.class_sums(samples.weight)
    means = sums / totals[:, None]
    St = samples.total_scatter
    return St - (means.T * totals) @ means, St, means


def solve(samples: Samples, n_components: int, *, tol: float = 1e-12, max_iter: int = 100) -> SolverResult:
    """The globally optimal frame; `history` holds tr(WᵀS_wW)/tr(WᵀS_tW), which lies between 0 and 1."""
    if samples.plan.only_subspaces(samples, n_components):
        return _solve_in_subspaces(samples, n_components, tol, max_iter)
    Sw, St, means = scatters(samples)
    # Principal axes capture the most total scatter, so the first ratio is finite whatever the data.
    W0 = eigen.smallest(-St, n_components)
    # Below it a trace is rounding error, of either sign; a frame that captures no more than that is as bad as any.
    noise = 16 * np.finfo(float).eps * np.trace(St)
    result = minimize_ratio(
        lambda W: max(np.vdot(W, Sw @ W), 0.0 if np.vdot(W, St @ W) > noise else noise),
        lambda W: max(np.vdot(W, St @ W), noise),
        lambda ratio, W: eigen.smallest(Sw - ratio * St, n_components),
        W0,
        tol=tol,
        max_iter=max_iter,
    )
    W = result.v
    if n_components == samples.dim:
        # The ratio of the whole space is what it is; which rotation of it is found must not hang on rounding.
        W = eigen.smallest(Sw - result.ratio * St, n_components)
    A = (Sw - result.ratio * St) @ W
    scale = np.vdot(W, Sw @ W) + result.ratio * np.vdot(W, St @ W)
    residual = np.linalg.norm(A - W @ (W.T @ A)) * np.sqrt(n_components) / scale if scale > 0 else 0.0
    stop = Stop(True, "the ratio stopped falling") if result.converged else Stop.limit(max_iter)
    return SolverResult(W, means, result.history, float(residual), stop)


def approximate(samples: Samples, n_components: int, inverse: Inverse | None = None) -> Array:
    """A frame near the optimum, good enough to start from; an inverse of the scatter is used where it saves time."""
    if samples.plan.use_subspace(samples, n_components):
        return _solve_in_subspaces(samples, n_components, tol=1e-4, max_iter=15, inverse=inverse).W
    return solve(samples, n_components, tol=1e-8).W


def _solve_in_subspaces(
    samples: Samples, m: int, tol: float, max_iter: int, inverse: Inverse | None = None
) -> SolverResult:
    inverse = inverse or inverse_scatter(samples, samples.plan.little)
    omega = samples.weight
    _, sums = samples.class_sums(omega)
    # Scatter times its inverse: a random block, taken into the row space without favouring its large directions.
    block, centers = samples.apply(omega, subspace.random_block(samples, m)), sums.T
    if inverse is not None:
        block, centers = inverse(block, omega), inverse(centers, omega)
    discriminant = extension(np.zeros((samples.dim, 0)), centers)
    W = np.hstack([discriminant, extension(discriminant, block)])[:, :m]
    return subspace.solve(samples, W, Squared(), tol=tol, max_iter=max_iter, inverse=inverse, finish=False)
