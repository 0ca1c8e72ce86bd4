"""Wrong labels, made on purpose and known."""

import numpy as np

from robustlda.linalg import Array


def flip_labels(y: Array, share: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """A copy of y with exactly round(share · n) wrong labels, and a mask of where they are.

    Rows are drawn without replacement, and each wrong label uniformly from the other classes present in y.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"A share of {share} wrong labels is not possible; it must lie between 0 and 1.")
    classes, labels = np.unique(y, return_inverse=True)
    if len(classes) < 2 and share > 0:
        raise ValueError("Labels can only be flipped between at least two classes.")
    flipped = np.zeros(len(y), bool)
    flipped[rng.choice(len(y), round(share * len(y)), replace=False)] = True
    labels[flipped] = (labels[flipped] + rng.integers(1, max(len(classes), 2), flipped.sum())) % len(classes)
    return classes[labels], flipped
