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

import numpy as np
from scipy.stats import norm

from robustlda.linalg import Array


def robust_z(squared: Array, reference: Array) -> Array:
    """Robust z-values of cube roots of squared distances; zero if the reference samples do not differ."""
    roots, usual = np.cbrt(squared), np.cbrt(reference)
    middle = np.median(usual)
    # The upper tail may be longer than the lower one; its quantile resists up to a fifth of arbitrary samples.
    width = max(1.4826 * np.median(np.abs(usual - middle)), (np.quantile(usual, 0.8) - middle) / norm.ppf(0.8))
    return (roots - middle) / width if width > 1e-9 * max(middle, 1e-300) else np.zeros_like(roots)


def probability(z: Array) -> Array:
    """Farness: the normal probability of a smaller z-value."""
    return norm.cdf(z)
