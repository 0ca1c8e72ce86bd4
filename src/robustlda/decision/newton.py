"""The maximum of a smooth function of a few variables within bounds, by Newton's method.

Far from a maximum the function may curve upwards in some directions. There the step goes up the slope as far as the
size of the curvature says (Dauphin et al. 2014); it is damped until no variable changes too much (Levenberg 1944), and
halved until the function rises. Near a maximum these are Newton's steps, and each doubles the number of digits: the
last digits of the data, which depend on how they are stored, change no answer. A variable at its bound stays there
while the slope points outwards.

Some variables may be logarithms u = log β of weights. In u a function may curve upwards that is concave in β, and a
weight on its way to nothing would lose no more than a factor of e with each step. So steps are those of β, in units of
what it is: with slopes s and curvatures H by u, those by relative changes of β are s and H − diag s, and a change r
moves u along log(1 + t r).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg.lapack import dposv

from robustlda.linalg import Array

_STEPS = 100
_HALVINGS = 30
_LONGEST = 1.0  # that a variable may change in a step
_LONGEST_DOWN = 2.0  # the same, where the function curves downwards in all directions
_LEFT = 0.2  # of a weight, after a step
_DAMPINGS = np.append(0, 4.0 ** np.arange(-14, 1))  # of a step, the last of which is always enough
_FLAT = 1e-10  # of the largest curvature, below which there is none
_ROUNDING = 1e-13  # of a value, that it may seem to fall by; a step that gains no more is the last


class Point(Protocol):
    """A point of the function: its value, and if asked for its gradient and Hessian."""

    @property
    def value(self) -> float: ...
    def gradient(self) -> Array: ...
    def hessian(self) -> Array: ...


@dataclass(frozen=True)
class Maximum:
    """Where it is, and the values on the way to it, which never fall."""

    at: Array
    path: Array


def maximum(
    function: Callable[[Array], Point],
    start: Array,
    bounds: tuple[Array, Array],
    leave: Callable[[Any, float], bool] = lambda point, gain: False,
    rounding: float = 0.0,
    logs: int = 0,
) -> Maximum | None:
    """The maximum that a start leads to; None if there was reason to `leave` a point, given the gain of the next step.

    A value may be wrong by `rounding`, beside what is relative to its size. The first variables may be `logs` of
    weights.
    """
    low, high = bounds
    v = np.clip(start, low, high)
    point: Point | None = function(v)
    assert point is not None
    path = [point.value]
    for _ in range(_STEPS):
        if point is None:  # no step leads up any more
            break
        gradient, hessian = point.gradient(), point.hessian()
        np.einsum("ii->i", hessian)[:logs] -= gradient[:logs]  # a view of its diagonal
        free = ~(((v <= low) & (gradient <= 0)) | ((v >= high) & (gradient >= 0)))
        if free.all():
            step = _uphill(gradient, hessian)
        else:
            step = np.zeros(len(v))
            step[free] = _uphill(gradient[free], hessian[free][:, free])
        gain = float(gradient @ step) / 2
        if leave(point, gain):
            return None
        error = _ROUNDING * (1 + abs(point.value)) + rounding
        settled = gain <= error
        v, point = _reached(function, point.value - error, v, step, bounds, logs)
        path.append(path[-1] if point is None else max(point.value, path[-1]))
        if settled:
            break
    return Maximum(v, np.array(path))


def _uphill(gradient: Array, hessian: Array) -> Array:
    """The step that Newton's method takes where the function curves downwards, with no variable changing too much."""
    if not len(gradient):
        return gradient
    # LAPACK without its wrappers: they would take longer than the few equations.
    _, step, failed = dposv(-hessian, gradient)
    if not failed and np.abs(step).max() <= _LONGEST_DOWN:
        return np.asarray(step)
    curvature, U = np.linalg.eigh(hessian)
    size = np.abs(curvature)
    return _damped(U, np.maximum(size, max(_FLAT * size.max(), 1e-300)), U.T @ gradient)


def _damped(U: Array, size: Array, slope: Array) -> Array:
    """U (size + μ)⁻¹ slope with μ so large that no entry is larger than `_LONGEST`, and hardly larger than that.

    A variable that hardly matters is held back in this way, and others are not held back with it. Between two of the
    dampings that are tried the step is the mean of the two that is as long as allowed.
    """
    enough = float(np.linalg.norm(slope)) / _LONGEST
    steps = U @ (slope[:, None] / (size[:, None] + enough * _DAMPINGS))
    first = int(np.argmax(np.abs(steps).max(axis=0) <= _LONGEST))
    short = steps[:, first]
    if first == 0:
        return np.asarray(short)
    more = steps[:, first - 1] - short
    room = np.where(more > 0, _LONGEST - short, -_LONGEST - short)
    return np.asarray(short + min(1.0, float((room[more != 0] / more[more != 0]).min())) * more)


def _reached(
    function: Callable[[Array], Point], least: float, v: Array, step: Array, bounds: tuple[Array, Array], logs: int
) -> tuple[Array, Point | None]:
    """Where a step leads that does not fall below a value; None and where it was if there is no such step."""
    for _ in range(_HALVINGS):
        change = step.copy()
        change[:logs] = np.log(np.maximum(1 + step[:logs], _LEFT))
        there = np.minimum(np.maximum(v + change, bounds[0]), bounds[1])
        point = function(there)
        if point.value >= least:
            return there, point
        step = step / 2
    return v, None
