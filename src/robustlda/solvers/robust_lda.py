"""Robust LDA from samples to a frame: start, preconditioner, descent."""

from dataclasses import dataclass

import numpy as np

from robustlda.data import Samples
from robustlda.linalg import Array
from robustlda.losses import Loss
from robustlda.plan import Plan
from robustlda.solvers import reweighted, starts, subspace
from robustlda.solvers.preconditioner import Inverse, inverse_scatter
from robustlda.solvers.result import SolverResult

Start = str | Array
"""The name of a start, or a frame with its directions in the rows, in feature space."""


@dataclass(frozen=True)
class Descent:
    """How J is minimized: what a length counts for, and when to stop. Without `accelerate`, the paper's plain steps."""

    loss: Loss
    exponent: float = 1.0
    tol: float = 1e-6
    max_iter: int = 200
    accelerate: bool = True


def solve(samples: Samples, m: int, begin: tuple[Start, ...], how: Descent, rng: np.random.RandomState) -> SolverResult:
    """The lowest stationary point that is reached from one of several starts."""
    results = []
    for start in begin:
        inverse = _inverse(samples, start, m)
        W = starts.frame(start, samples, m, rng, inverse)
        results.append(_descend(samples, W, how, inverse))
    return min(results, key=lambda result: result.history[-1])


def least_shift(plan: Plan, begin: tuple[Start, ...]) -> float:
    """The smallest τ a preconditioner will be asked for, on which memory depends."""
    return plan.little if any(_is_trace_ratio(start) for start in begin) else 1.0


def _is_trace_ratio(start: Start) -> bool:
    return isinstance(start, str) and start == "trace_ratio"


def _inverse(samples: Samples, start: Start, m: int) -> Inverse | None:
    """What finds trace-ratio LDA among directions of little scatter, and then goes on from there."""
    wanted = samples.plan.only_subspaces(samples, m) and _is_trace_ratio(start)
    return inverse_scatter(samples, samples.plan.little) if wanted else None


def _descend(samples: Samples, W: Array, how: Descent, inverse: Inverse | None) -> SolverResult:
    plan = samples.plan
    if how.accelerate and plan.use_subspace(samples, W.shape[1]):
        return subspace.solve(
            samples, W, how.loss, exponent=how.exponent, tol=how.tol, max_iter=how.max_iter, inverse=inverse
        )
    return reweighted.solve(
        samples,
        W,
        how.loss,
        exponent=how.exponent,
        tol=how.tol,
        max_iter=how.max_iter,
        accelerate=how.accelerate,
        single_above=plan.single_above(samples) if how.accelerate else np.inf,
    )
