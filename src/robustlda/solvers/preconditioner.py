"""An inverse of the scatter, as far as one is affordable, to balance directions of large and of small scatter.

With few features it is T = (S_t + τI)⁻¹. With more features than samples, K = XXᵀ is invertible, and on the span of the
samples the inverse for any weights w comes from the one factor of K:

    (Xᵀ diag(w) X)⁻¹ R = Xᵀ K⁻¹ diag(1/w) K⁻¹ X R.

As T R is a direction to search in and no result, half of the factor in single precision serves up to 20 000 samples.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from robustlda.data import Samples
from robustlda.linalg import Array, PackedCholesky

Inverse = Callable[[Array, Array], Array]
"""R and weights w to an approximation of (Σ w_j x_j x_jᵀ)⁻¹R, which may leave the weights out."""


def inverse_scatter(samples: Samples, shift: float) -> Inverse | None:
    """T, or None where nothing can be factorized; `shift` is τ relative to the largest eigenvalue of S_t."""
    if samples.plan.factorize_total_scatter(samples):
        factor = _factor(samples.total_scatter.copy(), shift)
        if shift > 1e-6:
            return lambda R, w: cho_solve(factor, R, check_finite=False)
        # A small shift blows up what rounding leaves of directions in which no sample varies, and those cost nothing.
        return lambda R, w: samples.space.within_span(cho_solve(factor, R, check_finite=False))
    # Anything else that is cheap, such as a scaling of features, would lead out of the row space.
    return _inverse_through_samples(samples) if samples.plan.factorize_inner_products(samples, shift) else None


def _inverse_through_samples(samples: Samples) -> Inverse:
    """T of more features than samples, from a factor of K."""
    n, omega = samples.n_samples, samples.weight
    unit = samples.squared_norms.mean()
    any_vector = np.random.RandomState(0).standard_normal((n, 1))
    largest = _largest(lambda v: samples.project(samples.combine(v)), any_vector) / unit
    dtype, resolved = (float, 1e-8) if samples.plan.double_inner_products(samples) else (np.float32, 1e-5)
    # Samples that repeat others, and the mean, leave K singular: a touch of τ, whatever the shift.
    factor = PackedCholesky(lambda rows: samples.inner_products(rows) / unit, n, resolved * largest, dtype=dtype)

    def inverse(R: Array, w: Array) -> Array:
        # A sample that a redescending loss rejects has no weight; it is to count little, not without bound.
        inverse_w = 1 / np.maximum(w, 1e-6 * w.mean())
        Z = factor.solve(samples.project(R) / unit)
        # About their mean the samples add up to zero, Xᵀω = 0, and so must what stands for their coordinates.
        Z -= np.outer(omega, (omega * inverse_w) @ Z) / (omega * inverse_w @ omega)
        Z *= inverse_w[:, None]
        return samples.combine(factor.solve(Z / unit))

    return inverse


def _factor(S: Array, shift: float) -> tuple[Array, bool]:
    """Cholesky factor of S + τI, in the place of S."""
    S[np.diag_indices(len(S))] += shift * _largest(lambda v: S @ v, np.sqrt(np.diag(S)))
    return cho_factor(S.T, lower=True, overwrite_a=True, check_finite=False)


def _largest(product: Callable[[Array], Array], v: Array) -> float:
    """The largest eigenvalue to a digit, which is all a shift needs, by the power method."""
    for _ in range(10):
        v = product(v / np.linalg.norm(v))
    return float(np.linalg.norm(v))
