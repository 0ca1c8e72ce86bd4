"""How far a sample lies from its own class and from every class, as a probability.

For a roughly elliptical class, the cube root of the squared distance d² is nearly normal (Wilson and Hilferty). Its
center and width are the median and the median absolute deviation over the samples whose labels are trusted, so neither
a wrong label nor an outlier sets the scale. Farness is the normal probability of being nearer: 0.5 for a typical
sample, close to 1 for a far one. A sample that is far from its own class but not from another is probably mislabelled;
one that is far from every class is an outlier, whatever its label (the class map of Raymaekers, Rousseeuw and Hubert,
2021, draws that distinction).

Distances within the projection capture what separates the classes. What lies outside it is the residual ‖x − WWᵀx‖,
which has a farness of its own; the larger of the two is the farness from every class.
"""

from typing import Any

import numpy as np
from scipy.stats import norm

from robustlda.data.columns import quantiles
from robustlda.linalg import Array

Scale = tuple[float, float]
"""Center and width of cube roots of squared distances; a width of 0 where the reference samples do not differ."""


def scales(believed: Any, *squared: Any) -> list[Scale]:
    """What is usual for each of some squared distances; `believed` is 1 for samples to measure by, and 0 for others."""
    roots = [np.cbrt(each) for each in squared]
    asked = [(root, share) for root in roots for share in (0.5, 0.8)]
    found = quantiles(believed, *asked)
    middles, upper = found[::2], found[1::2]
    deviations = [np.abs(root - middle) for root, middle in zip(roots, middles, strict=True)]
    usual = quantiles(believed, *((deviation, 0.5) for deviation in deviations))
    # The upper tail may be longer than the lower one; its quantile resists up to a fifth of arbitrary samples.
    widths = [max(1.4826 * u, (q - m) / norm.ppf(0.8)) for u, q, m in zip(usual, upper, middles, strict=True)]
    return [(m, float(w) if w > 1e-9 * max(m, 1e-300) else 0.0) for m, w in zip(middles, widths, strict=True)]


def z_value(scale: Scale, squared: Array) -> Array:
    """Robust z-values of cube roots of squared distances."""
    middle, width = scale
    roots = np.cbrt(squared)
    return np.asarray((roots - middle) / width if width else np.zeros_like(roots))


def probability(z: Array) -> Array:
    """Farness: the normal probability of a smaller z-value."""
    return norm.cdf(z)
