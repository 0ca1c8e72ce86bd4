"""Where samples lie: how far from their class and from every class, and a plane to draw them in.

A `RobustLDA` measures that. Where labels were judged by another classifier, one is fitted for the purpose to the
classes that are believed (`ruler`), and only if the features are finite numbers: without, nothing is said.
"""

from dataclasses import astuple, dataclass
from typing import Any, cast

import numpy as np
from sklearn.utils import check_array

from robustlda.audit import farness
from robustlda.data.store import Block, Rows, is_read_in_blocks
from robustlda.decision.labels import most_probable
from robustlda.decision.rule import Distances, Measuring
from robustlda.estimators import DiscriminantProjection
from robustlda.estimators.robust import RobustLDA
from robustlda.linalg import Array

OUTLYING = 4.0
"""Robust z-value of the distance from the nearest class beyond which a sample belongs to none: one in 30 000."""


@dataclass(frozen=True)
class Plane:
    """Coordinates of samples (n × 2), what to write at their axes, and the features' correlations with them (2 × d)."""

    points: Array
    axes: tuple[str, str]
    loadings: Array


@dataclass(frozen=True)
class Picture:
    """Farness from the given class and from every class, the robust z-value behind the latter, and the plane."""

    farness: Array
    farness_any: Array
    outlyingness: Array
    plane: Plane | None


def empty(n: int) -> Picture:
    """Nothing is known of where samples lie."""
    unknown = np.full(n, np.nan)
    return Picture(unknown, unknown.copy(), unknown.copy(), None)


def draw(model: DiscriminantProjection, X: Any, labels: Array, wrong: Array) -> Picture:
    """Distances are measured by the samples whose labels (class indices) are believed."""
    found, rows = distances(model, X), farness.looked_at(len(labels))
    scales = farness.scales(found.squared[rows], found.outside[rows], labels[rows], wrong[rows] < 0.5)
    outlyingness = scales.anywhere(found.squared, found.outside)
    return Picture(
        farness.probability(scales.own(found.squared[np.arange(len(labels)), labels], labels)),
        farness.probability(outlyingness),
        outlyingness,
        plane(model, X, found.plane),
    )


def distances(model: DiscriminantProjection, X: Any) -> Distances:
    """How far all samples are from every class, block by block."""
    rule = cast(Measuring, model.rule_)
    return Distances(*model.rule_rows(X).collect(lambda block: astuple(rule.measure(block)), outputs=3))


def plane(model: DiscriminantProjection, X: Any, otherwise: Array) -> Plane:
    """The two directions that separate the believed classes best."""
    Z, shares = model.transform(X), getattr(model, "explained_variance_ratio_", None)
    names = [f"{place} direction between classes" for place in ("first", "second")]
    points, known = np.array(otherwise, float), 0
    if shares is not None and getattr(Z, "shape", (0,))[0] == len(points):
        Z = np.asarray(Z, float)
        known = min(2, Z.shape[1])
        points[:, :known] = Z[:, :known]
        names[:known] = [f"{names[k]} ({shares[k]:.0%} of their separation)" for k in range(known)]
        if known < 2:  # two classes differ in one direction only
            names[1] = "another direction"
    loadings = _correlations(model, X, points)
    # Nothing says which side of other directions is which: it is the one of the feature that goes with them most.
    strongest = loadings[[0, 1], np.abs(loadings).argmax(axis=1)]
    signs = np.where((np.arange(2) >= known) & (strongest < 0), -1.0, 1.0)
    return Plane(points * signs, (names[0], names[1]), loadings * signs[:, None])


def _correlations(model: DiscriminantProjection, X: Any, plane: Array) -> Array:
    """Of all features with the coordinates of a plane; 0 for one that does not vary."""
    store, n = model.validated_store(X), len(plane)
    rows = Rows(store, model.plan.block_rows(store.shape[1]))
    plane = plane - plane.mean(axis=0)
    center = model.center_.astype(float)

    def statistic(block: Block, plane: Array) -> tuple[Array, Array, Array]:
        ones = np.ones(len(plane))
        sums = block.combine(np.column_stack([plane, ones])).astype(float)
        return sums[:, :2], sums[:, 2], block.column_squares(ones, center)

    products, sums, squares = rows.reduce(statistic, plane)
    spread = np.sqrt(np.maximum(squares / n - (sums / n - center) ** 2, 0))
    lengths = spread[:, None] * plane.std(axis=0) * n
    small = lengths <= 1e-9 * np.maximum(np.abs(center)[:, None] + spread[:, None], 1e-300) * plane.std(axis=0) * n
    return np.where(small, 0, products / np.where(small, 1, lengths)).T


def ruler(X: Any, beliefs: Array) -> DiscriminantProjection | None:
    """A model that measures distances from the believed classes; none if X holds anything but finite numbers."""
    if not is_read_in_blocks(X):
        try:
            check_array(X, accept_sparse="csr", dtype=np.float64)
        except (TypeError, ValueError):
            return None
    believed = most_probable(beliefs)
    if len(np.unique(believed)) < beliefs.shape[1]:  # more classes than rows
        return None
    try:
        return RobustLDA().fit(X, believed)
    except ValueError:  # all rows are alike, or numbers beyond what can be squared
        return None


def feature_names(features: Any, known: Any, measuring: Any) -> tuple[Array, bool]:
    """What features are called, and whether somebody has called them so."""
    known = known if features is None else list(features)
    if measuring is None:
        return np.array([] if known is None else list(known), object), known is not None
    d = measuring.n_features_in_
    names = np.array([f"x{j}" for j in range(d)] if known is None else list(known), object)
    if len(names) != d:
        raise ValueError(f"There are {len(names)} names for {d} features; give one for each.")
    return names, known is not None
