"""Rules weighed into one, together with how often labels are wrong: the maxima of `likelihood`.

Newton's method finds them, and where there are very many parameters a quasi-Newton method.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import minimize

from robustlda.decision import newton
from robustlda.decision.likelihood import (
    Point,
    Pool,
    Scores,
    Slopes,
    WithLikelihood,
    WithOneRate,
    WithoutErrors,
    WithRates,
)
from robustlda.linalg import Array

STARTS = (8.0, 1.0)
"""Sharpness of a pool to begin with. With one rate for all there may be two maxima: sharp with more wrong labels, and
blunt with fewer. Which of them a start leads to may hang on the last digits, so there are two. Of 158 problems a third
one, 3, leads to a maximum of larger evidence in one, by .2."""

COUNTED = 100
"""Classes above which transitions are counted with the pool of one rate for all.

A gradient by all of them, and thirty like it that a quasi-Newton method remembers, would have a million numbers for a
thousand classes. What goes one way is counted all the same.
"""

_ROUNDS = 30  # of counting
_SAME_RATE = 1e-9  # a difference of rates that is none
_SAME = 1e-2  # a difference of maxima that is none
_NEAR = 1e-2  # gain of a step, from which on it is clear which maximum is ahead
_STEPS_LIKE_IT = 100  # that would not reach a value, so that nothing will
_LOWEST, _HIGHEST = -8.0, np.log(4)  # log β: four rules that do not know of each other are this much sharper
_FARTHEST = 10.0  # b
_BLUNT, _FAINTEST = 0.3, 0.05  # where a blunt pool begins: with all its rules, and with the one that counts least
_ROUNDING = 1e-15  # of the logarithm of a probability
_RAREST = -14.0  # logarithm of a rate, relative to that of right labels


@dataclass(frozen=True)
class FittedPool:
    """The point of a maximum, and how likely labels became, step by step."""

    point: WithOneRate | WithRates
    path: Array

    @property
    def log_width(self) -> float:
        """Logarithm of the volume of a normal density of the same curvature, but for a constant; 0 if unknown."""
        if not self.point.has_hessian:
            return 0.0
        return float(-np.linalg.slogdet(-self.point.hessian())[1] / 2)


def fit_pools(scores: Scores, *, uniform: bool, near: WithOneRate | WithRates | None = None) -> list[FittedPool]:
    """Most probable pools and transitions, one for each maximum that is found.

    No wrong label is more frequent in a class than its own: else classes could change their names. Where there are so
    many classes that nobody could remember gradients by all transitions, these are counted with the pool of `near`, a
    maximum with one rate for all.
    """
    e, c = scores.e, scores.c
    if not uniform and c > COUNTED:
        return [_counted(scores, near or fit_pools(scores, uniform=True)[0].point)]
    n_cells = 1 if uniform else c * (c - 1)
    cells = np.full(n_cells, np.log(0.1 / (c - 1) / 0.9))
    bounds = _bounds(e, c, np.full(n_cells, _RAREST), np.zeros(n_cells))
    kind = WithOneRate if uniform else WithRates

    def at(v: Array) -> WithOneRate | WithRates:
        return kind(scores, v)

    found: list[FittedPool] = []
    for sharpness in STARTS if uniform else STARTS[-1:]:
        start = np.concatenate([np.full(e, np.log(sharpness / e)), np.zeros(c), cells])
        values = [each.point.value for each in found]
        best = _highest(at, start, bounds, partial(_leads_to, values))
        if best is not None:  # and not where another start has led
            found.append(FittedPool(at(best.at), best.path))
    return found


def _counted(scores: Scores, near: WithOneRate | WithRates) -> FittedPool:
    """Transitions as beliefs count them, which are those that the transitions lead to."""
    v = near.at[: scores.e + scores.c]
    T, path = near.transition, [-np.inf]
    for _ in range(_ROUNDS):
        point = WithRates(scores, np.concatenate([v, _logits(T)]))
        path.append(max(point.value, path[-1]))
        before, T = T, point.counted()
        if np.abs(T - before).max() <= _SAME_RATE:
            break
    return FittedPool(point, np.array(path[1:]))


def _logits(T: Array) -> Array:
    """Logarithms of the rates, relative to those of right labels."""
    logs = np.clip(np.log(T) - np.log(np.diag(T))[:, None], _RAREST, 0)
    return np.asarray(logs[~np.eye(len(T), dtype=bool)])


def _leads_to(values: list[float], point: Point, gain: float) -> bool:
    """Whether a step is about to reach one of some maxima."""
    return gain <= _NEAR and any(abs(point.value + gain - other) <= _SAME for other in values)


def _stays_below(least: float, point: Point, gain: float) -> bool:
    """Whether labels will clearly stay less likely than that."""
    return point.likelihood + _STEPS_LIKE_IT * gain < least


def refit_pool(scores: Scores, likelihood: Array, pool: Pool, overlap: Array) -> Pool:
    """The pool that suits the likelihood of what was given; classes that overlap get slopes of their own."""
    freedom = overlap + np.diag(overlap.max(axis=1))
    slopes, known = Slopes(scores, freedom), scores.sorted(likelihood)

    def at(v: Array) -> WithLikelihood:
        return WithLikelihood(scores, v, known, slopes)

    farthest = np.full(len(slopes), _FARTHEST)
    start = np.concatenate([np.log(pool.weights), pool.offset, np.zeros(len(slopes))])
    bounds = _bounds(scores.e, scores.c, -farthest, farthest)
    best = _highest(at, start, bounds)
    assert best is not None
    return at(best.at).pool


def pool_without_errors(
    scores: Scores, likelihood: Array, pool: Pool, least: float = -np.inf
) -> tuple[Pool, float] | None:
    """The pool if next to no labels are wrong, which may be blunter than its rules, and their log-likelihood.

    `likelihood` is that of labels of which next to none are wrong. None where theirs is clearly below some `least`.
    """
    slopes, known = Slopes(scores, np.zeros((scores.c, scores.c))), scores.sorted(likelihood)

    def at(v: Array) -> WithoutErrors:
        return WithoutErrors(scores, v, known, slopes)

    weights = np.maximum(pool.weights / pool.weights.sum(), _FAINTEST) * _BLUNT
    start = np.concatenate([np.log(weights), np.zeros(scores.c)])
    bounds = _bounds(scores.e, scores.c, np.zeros(0), np.zeros(0))
    best = _highest(at, start, bounds, partial(_stays_below, least))
    if best is None:
        return None
    point = at(best.at)
    return point.pool, point.likelihood


def _bounds(e: int, c: int, low: Array, high: Array) -> tuple[Array, Array]:
    """Of log β, b, and what else there is."""
    return (
        np.concatenate([np.full(e, _LOWEST), np.full(c, -_FARTHEST), low]),
        np.concatenate([np.full(e, _HIGHEST), np.full(c, _FARTHEST), high]),
    )


def _highest(
    at: Callable[[Array], "Point"],
    start: Array,
    bounds: tuple[Array, Array],
    leave: Callable[[Point, float], bool] = lambda point, gain: False,
) -> newton.Maximum | None:
    """The maximum that a start leads to."""
    here = at(start)
    if here.has_hessian:
        rounding = _ROUNDING * float(here.scores.weight.sum())
        return newton.maximum(at, start, bounds, leave, rounding, logs=here.scores.e)
    path: list[float] = [-np.inf]

    def negative(v: Array) -> tuple[float, Array]:
        point = at(v)
        path.append(max(point.value, path[-1]))
        return -point.value, -point.gradient()

    # So accurate that the last digits of the data, which depend on how they are stored, change no answer.
    options: dict[str, float] = {"maxiter": 1000, "maxfun": 2000, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-8}
    pairs: Sequence[tuple[float, float]] = list(zip(*bounds, strict=True))
    found = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=pairs, options=options)
    return newton.Maximum(np.asarray(found.x), np.array(path[1:]))
