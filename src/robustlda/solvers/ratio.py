"""Algorithm 1: the minimum of a ratio.

    minimize  f(v) / g(v)   over v ∈ C,   g > 0 on C                                      (1)

Let h(λ) = min_v f(v) − λ g(v). It is concave and decreasing, and its root is the minimum of (1). Newton's step
on h is the ratio attained by the current minimizer, because h'(λ) = −g(v): there is no step size, the ratio
never rises, and near the root the error is squared at every step when the minimizer is unique. If the inner
problem is solved only to stationarity, what is reached is a stationary point of (1).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from robustlda.linalg import Array

V = TypeVar("V")


@dataclass(frozen=True)
class RatioResult(Generic[V]):
    """The minimizer `v`, the ratio there, the ratio after each step, and whether it stopped falling."""

    v: V
    ratio: float
    history: Array
    converged: bool


def minimize_ratio(
    f: Callable[[V], float],
    g: Callable[[V], float],
    argmin: Callable[[float, V], V],
    v0: V,
    *,
    tol: float = 1e-12,
    max_iter: int = 100,
) -> RatioResult[V]:
    r"""Minimize :math:`f(v)/g(v)` where :math:`f - \lambda g` is easy to minimize.

    Parameters
    ----------
    f, g : callable
        Functions of `v`; `g` must be positive wherever it is evaluated.
    argmin : callable
        ``argmin(ratio, v)`` returns a minimizer of ``f - ratio * g``; `v` is the current point, from which an
        iterative inner solver may start.
    v0 : object
        Where to start; any feasible point.
    tol : float, default=1e-12
        Stop when a step lowers the ratio by no more than this, relative to its size.
    max_iter : int, default=100
        Most steps to take.

    Returns
    -------
    RatioResult
        With `v`, `ratio`, `history` (the ratio at the start and after every step) and `converged`.

    Examples
    --------
    The point of the interval [0, 4] with the smallest ratio of x² + 3 to x + 1, which is x = 1:

    >>> from robustlda import minimize_ratio
    >>> result = minimize_ratio(
    ...     f=lambda x: x**2 + 3, g=lambda x: x + 1, argmin=lambda ratio, x: min(max(ratio / 2, 0), 4), v0=4.0
    ... )
    >>> round(result.v, 6), round(result.ratio, 6)
    (1.0, 2.0)
    """
    v, history, converged = v0, [_ratio(f, g, v0)], False
    while not converged and len(history) <= max_iter:
        candidate = argmin(history[-1], v)
        ratio = _ratio(f, g, candidate)
        # Rounding can lift the ratio by a last digit at the optimum; the better point is kept.
        if ratio <= history[-1]:
            v = candidate
            converged = history[-1] - ratio <= tol * abs(ratio)
            history.append(ratio)
        else:
            converged = True
    return RatioResult(v, history[-1], np.array(history), converged)


def _ratio(f: Callable[[V], float], g: Callable[[V], float], v: V) -> float:
    denominator = float(g(v))
    if not denominator > 0:
        raise ValueError(f"g must be positive where it is evaluated, but g(v) = {denominator}.")
    ratio = float(f(v)) / denominator
    if np.isnan(ratio):
        raise ValueError("f must be a number where it is evaluated, but f(v) is NaN.")
    return ratio
