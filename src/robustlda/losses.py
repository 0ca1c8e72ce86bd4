"""How much a length counts: the loss ρ of the three sums of the objective.

Every sum of the objective adds up h(v) = ρ(‖v‖). A loss here is written as a function of the *squared*
length t, φ(t) = ρ(√t), with its derivative as the weight of the reweighted quadratic problem:

    φ concave in t   ⇒   φ(t) ≤ φ(s) + φ'(s)(t − s)   for all s, t ≥ 0,

which is the one inequality the monotone descent of Algorithm 2 rests on. All members satisfy it, so all of
them run in the same engine. Squared lengths arrive in units of the data's scale (the median squared length of
the centered samples), so smoothing, caps and scales are pure numbers and nothing depends on units.

The exponent q of N^q/g asks for more: (Σ φ(t_j))^q must be concave in (t_j). If φ = u^{p/2} with u concave in t
that holds for q ≤ 2/p, since (Σ u_j^{p/2})^{2/p} is concave and rising in u; so up to q = 2 for `l12` and `capped`
(u is t + ε, cut off at cap²), up to 2/p for `lp`, and for q = 1 only where φ is linear near zero. `max_exponent`
says which.

| name      | φ(t)                  | use                                                                   |
|-----------|-----------------------|-----------------------------------------------------------------------|
| `squared` | t                     | trace-ratio LDA                                                       |
| `l12`     | √(t + ε)              | the paper's norm                                                      |
| `lp`      | (t + ε)^{p/2}         | p < 1 distrusts long residuals more, p → 2 approaches `squared`       |
| `capped`  | min(√(t + ε), cap)    | beyond the cap a sample has no influence at all                       |
| `welsch`  | s²(1 − exp(−t/s²))    | smooth rejection                                                      |
| `cauchy`  | s² log(1 + t/s²)      | between `l12` and rejection                                           |
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from robustlda.linalg import Array


class Loss(Protocol):
    """A non-decreasing function of the squared length, concave, and its derivative.

    `max_exponent` is the largest exponent q for which N^q, N the sum of the loss, is concave in the squared lengths.

    Examples
    --------
    >>> from robustlda.losses import LOSSES
    >>> sorted(LOSSES)
    ['capped', 'cauchy', 'l12', 'lp', 'squared', 'welsch']
    >>> {name: loss().max_exponent for name, loss in LOSSES.items()}
    {'squared': 1.0, 'l12': 2.0, 'lp': 4.0, 'capped': 2.0, 'welsch': 1.0, 'cauchy': 1.0}
    """

    @property
    def max_exponent(self) -> float: ...
    def value(self, t: Array) -> Array: ...
    def weight(self, t: Array) -> Array: ...


SMALLEST, LARGEST = 1e-30, 1e30
"""Bounds of every setting that is a length or the square of one: squares of it, and of what is compared with it, must
be numbers. Beyond them a loss is another one, the squared length or none at all."""


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _require_size(name: str, value: float, usual: str) -> None:
    _require(
        SMALLEST <= value <= LARGEST, f"{name}={value} must be positive, from {SMALLEST:g} to {LARGEST:g}; {usual}."
    )


@dataclass(frozen=True)
class Squared:
    """φ(t) = t: the objective of trace-ratio LDA.

    Examples
    --------
    >>> import numpy as np
    >>> from robustlda.losses import Squared
    >>> Squared().value(np.array([0.0, 1.0, 9.0])).tolist()
    [0.0, 1.0, 9.0]
    """

    @property
    def max_exponent(self) -> float:
        return 1.0

    def value(self, t: Array) -> Array:
        return t

    def weight(self, t: Array) -> Array:
        return np.ones_like(t)


@dataclass(frozen=True)
class Lp:
    """φ(t) = (t + ε)^{p/2} with 0 < p ≤ 2: distrusts long residuals the more, the smaller p is.

    Parameters
    ----------
    p : float, default=0.5
        The power of a length.
    smoothing : float, default=1e-6
        The ε, in units of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from robustlda.losses import Lp
    >>> Lp(p=1.0).value(np.array([1.0, 9.0])).round(3).tolist()
    [1.0, 3.0]
    """

    p: float = 0.5
    smoothing: float = 1e-6

    def __post_init__(self) -> None:
        _require(0 < self.p <= 2, f"p={self.p} must lie in (0, 2]; above 2 the descent proof fails.")
        _require_size("smoothing", self.smoothing, "1e-6 is usual")

    @property
    def max_exponent(self) -> float:
        return 2 / self.p

    def value(self, t: Array) -> Array:
        return (t + self.smoothing) ** (self.p / 2)

    def weight(self, t: Array) -> Array:
        return self.p / 2 * (t + self.smoothing) ** (self.p / 2 - 1)


@dataclass(frozen=True)
class L12:
    """φ(t) = √(t + ε), the smoothed length of the paper.

    Parameters
    ----------
    smoothing : float, default=1e-6
        The ε, in units of the data.

    Examples
    --------
    A sample three times as far away counts three times as much, and its square has a third of the weight:

    >>> import numpy as np
    >>> from robustlda.losses import L12
    >>> t = np.array([1.0, 9.0])
    >>> L12().value(t).round(3).tolist(), L12().weight(t).round(3).tolist()
    ([1.0, 3.0], [0.5, 0.167])
    """

    smoothing: float = 1e-6

    def __post_init__(self) -> None:
        _require_size("smoothing", self.smoothing, "1e-6 is usual")

    @property
    def max_exponent(self) -> float:
        return 2.0

    def value(self, t: Array) -> Array:
        return np.sqrt(t + self.smoothing)

    def weight(self, t: Array) -> Array:
        return 0.5 / np.sqrt(t + self.smoothing)


@dataclass(frozen=True)
class Capped:
    """φ(t) = min(√(t + ε), cap): beyond the cap a sample has no influence at all.

    Parameters
    ----------
    cap : float, default=2.0
        The length from which on a sample counts no more, in units of the median length.
    smoothing : float, default=1e-6
        The ε, in units of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from robustlda.losses import Capped
    >>> Capped(cap=2.0).weight(np.array([1.0, 9.0])).round(3).tolist()
    [0.5, 0.0]
    """

    cap: float = 2.0
    smoothing: float = 1e-6

    def __post_init__(self) -> None:
        _require_size("cap", self.cap, "2 is twice the median length")
        _require_size("smoothing", self.smoothing, "1e-6 is usual")

    @property
    def max_exponent(self) -> float:
        return 2.0

    def value(self, t: Array) -> Array:
        return np.minimum(np.sqrt(t + self.smoothing), self.cap)

    def weight(self, t: Array) -> Array:
        length = np.sqrt(t + self.smoothing)
        return np.where(length < self.cap, 0.5 / length, 0.0)


@dataclass(frozen=True)
class Welsch:
    """φ(t) = s²(1 − exp(−t/s²)): rejects far samples smoothly.

    Parameters
    ----------
    scale : float, default=2.0
        The s, in units of the median length.

    Examples
    --------
    >>> import numpy as np
    >>> from robustlda.losses import Welsch
    >>> Welsch(scale=2.0).weight(np.array([0.0, 4.0, 36.0])).round(3).tolist()
    [1.0, 0.368, 0.0]
    """

    scale: float = 2.0

    def __post_init__(self) -> None:
        _require_size("scale", self.scale, "2 is twice the median length")

    @property
    def max_exponent(self) -> float:
        return 1.0

    def value(self, t: Array) -> Array:
        return -(self.scale**2) * np.expm1(-t / self.scale**2)

    def weight(self, t: Array) -> Array:
        return np.exp(-t / self.scale**2)


@dataclass(frozen=True)
class Cauchy:
    """φ(t) = s² log(1 + t/s²): between a length and rejection.

    Parameters
    ----------
    scale : float, default=1.0
        The s, in units of the median length.

    Examples
    --------
    >>> import numpy as np
    >>> from robustlda.losses import Cauchy
    >>> Cauchy().weight(np.array([0.0, 1.0, 9.0])).tolist()
    [1.0, 0.5, 0.1]
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        _require_size("scale", self.scale, "1 is the median length")

    @property
    def max_exponent(self) -> float:
        return 1.0

    def value(self, t: Array) -> Array:
        return self.scale**2 * np.log1p(t / self.scale**2)

    def weight(self, t: Array) -> Array:
        return 1 / (1 + t / self.scale**2)


LOSSES = {"squared": Squared, "l12": L12, "lp": Lp, "capped": Capped, "welsch": Welsch, "cauchy": Cauchy}


def resolve(loss: str | Loss) -> Loss:
    """The loss of that name with its usual settings, or the object itself.

    Parameters
    ----------
    loss : str or Loss
        A name in `LOSSES`, or an object with `value`, `weight` and `max_exponent`.

    Returns
    -------
    loss : Loss

    Examples
    --------
    >>> from robustlda.losses import Capped, resolve
    >>> resolve("capped")
    Capped(cap=2.0, smoothing=1e-06)
    >>> resolve(Capped(cap=3.0))
    Capped(cap=3.0, smoothing=1e-06)
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(
                f"loss={loss!r} is not one of {', '.join(map(repr, LOSSES))}; "
                "for other settings pass an object such as robustlda.losses.Lp(p=0.7)."
            )
        return LOSSES[loss]()
    if not all(hasattr(loss, name) for name in ("value", "weight", "max_exponent")):
        raise ValueError(f"loss={loss!r} must be a name or an object with value(t), weight(t) and max_exponent.")
    return loss
