"""How far a sample lies from its own class and from every class, as a probability.

For a roughly elliptical class, the cube root of the squared distance d² is nearly normal (Wilson and Hilferty). Its
center and width are the median and the median absolute deviation over the samples whose labels are trusted, so neither
a wrong label nor an outlier sets the scale. Farness is the normal probability of being nearer: 0.5 for a typical
sample, close to 1 for a far one. A sample that is far from its own class but not from another is probably mislabeled;
one that is far from every class is an outlier, whatever its label (the class map of Raymaekers, Rousseeuw and Hubert,
2021, draws that distinction).

Distances within the projection capture what separates the classes. What lies outside it is the residual ‖x − WWᵀx‖,
which has a farness of its own; the larger of the two is the farness from a class. Every class is measured by its own
members: where a rare class is wider than the others, one scale for all would call most of its members outliers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from robustlda.linalg import Array

SAMPLE = 50_000
"""Rows at equal distances in the data, by which is measured what is usual, where there are more."""

_PRIOR = 20  # believed samples of a class that weigh as much as those of all classes together


@dataclass(frozen=True)
class Usual:
    """Center and width of cube roots of squared distances, for every class; a width of 0 if members do not differ."""

    middle: Array
    width: Array

    def z(self, squared: Array, classes: Any = slice(None)) -> Array:
        """Robust z-values, for a column of each class or for the classes of the rows."""
        middle, width = self.middle[classes], self.width[classes]
        return np.where(width > 0, (np.cbrt(squared) - middle) / np.where(width > 0, width, 1.0), 0.0)


@dataclass(frozen=True)
class Scales:
    """What is usual for members of each class: how far they are from its center, and outside of the projection."""

    within: Usual
    outside: Usual

    def own(self, squared: Array, labels: Array) -> Array:
        """z-values of squared distances from the classes of some labels (class indices)."""
        return self.within.z(squared, labels)

    def anywhere(self, squared: Array, outside: Array) -> Array:
        """z-values for the class of which a row is the most usual member, within the projection and outside."""
        return np.maximum(self.within.z(squared), self.outside.z(outside[:, None])).min(axis=1)


def scales(squared: Array, outside: Array, labels: Array, believed: Array) -> Scales:
    """What is usual, of samples with labels (class indices) that are `believed`, or not; squared distances are n × c.

    Classes have scales of their own, as one may be wider than another, or lie elsewhere outside of the projection:
    members of a rare class that is twice as wide are no outliers. The fewer believed samples a class has, the nearer
    its scale is to that of all.
    """
    believed = believed if believed.any() else ~believed
    labels, c = labels[believed], squared.shape[1]
    own = squared[believed][np.arange(len(labels)), labels]
    return Scales(_by_class(np.cbrt(own), labels, c), _by_class(np.cbrt(outside[believed]), labels, c))


def _by_class(roots: Array, labels: Array, c: int) -> Usual:
    together = _usual(roots)
    middle, width = (np.full(c, x) for x in together)
    for k in np.unique(labels):
        members = roots[labels == k]
        share = len(members) / (len(members) + _PRIOR)
        middle[k], width[k] = (share * a + (1 - share) * b for a, b in zip(_usual(members), together, strict=True))
    return Usual(middle, width)


def _usual(roots: Array) -> tuple[float, float]:
    """Median, and the median absolute deviation or the upper tail, whichever is wider."""
    middle, upper = np.quantile(roots, [0.5, 0.8])
    # The upper tail may be longer than the lower one; its quantile resists up to a fifth of arbitrary samples.
    width = max(1.4826 * float(np.median(np.abs(roots - middle))), float(upper - middle) / norm.ppf(0.8))
    return float(middle), width if width > 1e-9 * max(middle, 1e-300) else 0.0


def looked_at(n: int, most: int = SAMPLE) -> Array:
    """Rows at equal distances, of n, all or as many as given; by default those that tell what is usual."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))


def probability(z: Array) -> Array:
    """Farness: the normal probability of a smaller z-value."""
    return norm.cdf(z)
