"""How far a sample lies from its class and from every class, as a probability.

Squared distances d² of a class that is roughly elliptical have a cube root that is nearly normal (Wilson and Hilferty).
Its centre and width are taken from the median and the median absolute deviation over the samples whose labels are
believed, so neither a wrong label nor an outlier sets the scale. Farness is the normal probability of being nearer:
0.5 for a typical sample, close to 1 for a far one. A sample that is far from its own class but not from another is
probably mislabelled; one that is far from every class is an outlier, whatever its label (the class map of Raymaekers,
Rousseeuw and Hubert, 2021, draws that distinction).

Distances inside the projection see what separates classes. What lies outside of it is the residual ‖x − WWᵀx‖, which
has a farness of its own; a sample is as far from every class as the larger of the two says.
"""

import numpy as np
from scipy.stats import norm

from robustlda.linalg import Array


def robust_z(squared: Array, reference: Array) -> Array:
    """Robust z-values of cube roots of squared distances; zero where the reference samples do not differ."""
    roots, usual = np.cbrt(squared), np.cbrt(reference)
    middle = np.median(usual)
    # Tails may be longer above than below; up to a fifth of the samples may lie anywhere without stretching them.
    width = max(1.4826 * np.median(np.abs(usual - middle)), (np.quantile(usual, 0.8) - middle) / norm.ppf(0.8))
    return (roots - middle) / width if width > 1e-9 * max(middle, 1e-300) else np.zeros_like(roots)


def probability(z: Array) -> Array:
    return norm.cdf(z)
