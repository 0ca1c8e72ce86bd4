"""Where Algorithm 2 begins. It finds the stationary point of the basin it starts in."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from robustlda.linalg import Array, orthonormalise
from robustlda.samples import Samples
from robustlda.solvers import eigen, plan, subspace, trace_ratio


def frame(
    start: str | Array,
    samples: Samples,
    n_components: int,
    rng: np.random.RandomState,
    inverse: subspace.Inverse | None = None,
) -> Array:
    """A dim × m frame: `trace_ratio`, for which an inverse of the scatter may be at hand, `pca`, `random`, or the rows
    of an array in feature space."""
    if not isinstance(start, str):
        return orthonormalise(samples.lower(start.T))
    if start == "trace_ratio":
        return trace_ratio.approximate(samples, n_components, inverse)
    if start == "pca":
        return _principal_axes(samples, n_components)
    # Drawn in feature space, so that the same seed means the same start however the samples are held.
    return orthonormalise(samples.lower(rng.standard_normal((samples.n_features, n_components))))


NAMED = ("trace_ratio", "pca", "random")


def _principal_axes(samples: Samples, m: int) -> Array:
    if not plan.use_subspace(samples, m) or plan.finish_in_whole_space(samples):
        S = samples.total_scatter
        return eigen.smallest(-S if np.isinf(plan.single_above(samples)) else -S.astype(np.float32), m)
    total = LinearOperator(
        (samples.dim, samples.dim),
        matmat=lambda V: samples.apply(samples.weight, V),
        matvec=lambda v: samples.apply(samples.weight, v.reshape(-1, 1)).ravel(),
        dtype=float,
    )
    _, V = eigsh(total, m, v0=np.ones(samples.dim), tol=1e-8)
    return V[:, ::-1]
