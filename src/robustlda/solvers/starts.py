"""Where Algorithm 2 begins. It finds the stationary point of the basin it starts in."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from robustlda.data import Samples
from robustlda.linalg import Array, orthonormalize
from robustlda.solvers import eigen, subspace, trace_ratio
from robustlda.solvers.preconditioner import Inverse


def frame(
    start: str | Array,
    samples: Samples,
    n_components: int,
    rng: np.random.RandomState,
    inverse: Inverse | None = None,
) -> Array:
    """A dim × m frame: `trace_ratio`, for which an inverse of the scatter may be given, `pca`, `random`, or an array.

    The rows of an array are directions in feature space.
    """
    if not isinstance(start, str):
        return orthonormalize(samples.space.lower(start.T))
    if start == "trace_ratio":
        return trace_ratio.approximate(samples, n_components, inverse)
    if start == "pca":
        return principal_axes(samples, n_components, single=True)
    # Drawn in feature space, so that the same seed means the same start however the samples are stored.
    return orthonormalize(samples.space.lower(rng.standard_normal((samples.space.n_features, n_components))))


NAMED = ("trace_ratio", "pca", "random")


def principal_axes(samples: Samples, m: int, *, single: bool = False) -> Array:
    """Orthonormal directions of largest scatter; in `single` precision, which is enough to start from, if faster."""
    if not samples.plan.only_subspaces(samples, m):
        S = samples.total_scatter
        single = single and np.isfinite(samples.plan.single_above(samples))
        return eigen.smallest(-S.astype(np.float32) if single else -S, m)
    total = LinearOperator(
        (samples.dim, samples.dim),
        matmat=lambda V: samples.apply(samples.weight, V),
        matvec=lambda v: samples.apply(samples.weight, v.reshape(-1, 1)).ravel(),
        dtype=float,
    )
    _, V = eigsh(total, m, v0=subspace.random_block(samples, 1).ravel(), tol=1e-8)
    return V[:, ::-1]
