"""Where Algorithm 2 begins. It finds the stationary point of the basin it starts in."""

import numpy as np

from robustlda.linalg import Array, orthonormalise
from robustlda.samples import Samples
from robustlda.solvers import eigen, trace_ratio


def frame(start: str | Array, samples: Samples, n_components: int, rng: np.random.RandomState) -> Array:
    """A dim × m frame: `trace_ratio`, `pca`, `random`, or the rows of an array in feature space."""
    if not isinstance(start, str):
        return orthonormalise(samples.lower(start.T))
    if start == "trace_ratio":
        return trace_ratio.solve(samples, n_components, tol=1e-8).W
    if start == "pca":
        return eigen.smallest(-samples.gram(samples.weight), n_components)
    # Drawn in feature space, so that the same seed means the same start however the samples are held.
    return orthonormalise(samples.lower(rng.standard_normal((samples.n_features, n_components))))


NAMED = ("trace_ratio", "pca", "random")
