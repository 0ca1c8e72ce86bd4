"""Deliberately wrong labels and corrupted samples: every function returns a copy and a mask of what it changed."""

from typing import Any

import numpy as np

from robustlda.linalg import Array


def flip_labels(y: Array, share: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Uniform noise: exactly round(share · n) labels are replaced, each by one of the other classes at random."""
    classes, labels = _classes_to_flip(y, share)
    flipped = _some(len(y), share, rng)
    labels[flipped] = (labels[flipped] + rng.integers(1, max(len(classes), 2), flipped.sum())) % len(classes)
    return classes[labels], flipped


def flip_into_next_class(y: Array, share: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Class-dependent noise: exactly round(share · n_class) labels of every other class become the next class."""
    classes, labels = _classes_to_flip(y, share)
    flipped = np.zeros(len(y), bool)
    for i in range(0, len(classes), 2):
        members = np.flatnonzero(labels == i)
        flipped[members[_some(len(members), share, rng)]] = True
    labels[flipped] = (labels[flipped] + 1) % len(classes)
    return classes[labels], flipped


def flip_into_nearest_class(X: Any, y: Array, share: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Errors between neighbors: round(share · n_class) labels of every other class become the class nearest to it."""
    classes, labels = _classes_to_flip(y, share)
    centers = np.array([np.asarray(X[labels == k].mean(axis=0)).ravel() for k in range(len(classes))])
    distances = ((centers[:, None] - centers) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    flipped, target = np.zeros(len(y), bool), labels.copy()
    for k in range(0, len(classes), 2):
        members = rng.permutation(np.flatnonzero(labels == k))[: round(share * int((labels == k).sum()))]
        flipped[members], target[members] = True, distances[k].argmin()
    return classes[target], flipped


def gross_rows(X: Array, share: float, rng: np.random.Generator, distance: float = 10.0) -> tuple[Array, Array]:
    """round(share · n) rows are replaced by Gaussian ones around the median, `distance` times as wide as the data."""
    changed = _some(len(X), share, rng)
    median = np.median(X, axis=0)
    width = distance * X.std(axis=0)
    corrupted = X.copy()
    corrupted[changed] = median + width * rng.standard_normal((changed.sum(), X.shape[1]))
    return corrupted, changed


def salt_and_pepper(X: Array, share: float, rng: np.random.Generator, density: float = 0.3) -> tuple[Array, Array]:
    """In round(share · n) images, every pixel turns black or white with probability `density`."""
    changed = _some(len(X), share, rng)
    corrupted = X.copy()
    pixels = rng.random((changed.sum(), X.shape[1]))
    rows = np.where(pixels < density / 2, X.min(), np.where(pixels < density, X.max(), X[changed]))
    corrupted[changed] = rows
    return corrupted, changed


def occlude(X: Array, share: float, rng: np.random.Generator, size: float = 0.4) -> tuple[Array, Array]:
    """In round(share · n) square images, a randomly placed block of `size` times the side is replaced by noise."""
    side = round(X.shape[1] ** 0.5)
    if side**2 != X.shape[1]:
        raise ValueError(f"{X.shape[1]} features do not form a square image, so no block can be covered.")
    changed = _some(len(X), share, rng)
    corrupted = X.copy()
    block = max(1, round(size * side))
    for row in np.flatnonzero(changed):
        top, left = rng.integers(0, side - block + 1, 2)
        noise = rng.uniform(X.min(), X.max(), (block, block))
        corrupted[row].reshape(side, side)[top : top + block, left : left + block] = noise
    return corrupted, changed


def _some(n: int, share: float, rng: np.random.Generator) -> Array:
    """A mask that is true at exactly round(share · n) of n positions."""
    if not 0 <= share <= 1:
        raise ValueError(f"share={share} must lie between 0 and 1.")
    chosen = np.zeros(n, bool)
    chosen[rng.choice(n, round(share * n), replace=False)] = True
    return chosen


def _classes_to_flip(y: Array, share: float) -> tuple[Array, Array]:
    classes, labels = np.unique(y, return_inverse=True)
    if len(classes) < 2 and share > 0:
        raise ValueError("Labels can only be flipped between at least two classes.")
    return classes, labels


LABELS = {"uniform": flip_labels, "next_class": flip_into_next_class}
BY_FEATURES = {"nearest_class": flip_into_nearest_class}
FEATURES = {"gross_rows": gross_rows, "salt_and_pepper": salt_and_pepper, "occlude": occlude}
KINDS = (*LABELS, *BY_FEATURES, *FEATURES)


def contaminate(X: Array, y: Array, kind: str, share: float, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """X and y with a share of the labels or of the samples corrupted, and a mask of the affected rows."""
    if kind in LABELS:
        noisy, changed = LABELS[kind](y, share, rng)
        return X, noisy, changed
    if kind in BY_FEATURES:
        return X, *BY_FEATURES[kind](X, y, share, rng)
    corrupted, changed = FEATURES[kind](X, share, rng)
    return corrupted, y, changed
