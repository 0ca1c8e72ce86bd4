"""The score of a competitor: the objective that its projection attains, and the relative gradient."""

from typing import Any

import numpy as np

from robustlda.data import Weights, as_samples, as_store
from robustlda.data.centering import mean
from robustlda.data.store import Rows
from robustlda.losses import L12
from robustlda.solvers.reweighted import Objective


def score(X: Any, y: np.ndarray, components: np.ndarray) -> tuple[float, float]:
    """J with the best centers for these components, and the relative gradient; no solver scores its own result."""
    classes, labels = np.unique(y, return_inverse=True)
    weight = np.ones(len(y))
    store = as_store(X)
    samples = as_samples(store, labels, Weights.of(weight), mean(Rows(store, 4096), weight), len(classes))
    objective = Objective(samples, L12())
    # In feature space already where nothing narrower was found; `lower` would only polish away rounding errors.
    point = objective.start(components if samples.dim == samples.space.n_features else samples.space.lower(components))
    for _ in range(200):
        better = objective.at(point.W, objective.surrogate(point).centers)
        if point.J - better.J <= 1e-10 * point.J:
            break
        point = better
    return point.J, objective.stationarity(point)
