"""What the two ratio estimators share: they iterate, keep three components per class, and collapse in null space."""

import warnings
from numbers import Integral, Real

from sklearn.exceptions import ConvergenceWarning

from robustlda.estimators._base import DiscriminantProjection
from robustlda.linalg import Array
from robustlda.samples import Samples
from robustlda.solvers._result import SolverResult


class RatioProjection(DiscriminantProjection):
    """Base of the estimators that minimise a ratio by iterating."""

    tol: float
    max_iter: int
    _needs_matrix = False

    def _default_components(self, n_classes: int) -> int:
        return 3 * n_classes

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (isinstance(self.max_iter, Integral) and self.max_iter >= 1):
            raise ValueError(f"max_iter={self.max_iter!r} must be a whole number of at least 1.")
        if not (isinstance(self.tol, Real) and self.tol >= 0):
            raise ValueError(f"tol={self.tol!r} must be a number of at least 0.")

    def _dimension(self, samples: Samples) -> int:
        m, c, n = super()._dimension(samples), samples.n_classes, len(samples.labels)
        if self.n_components is not None and m < c and n - samples.rank <= 1:
            warnings.warn(
                f"With {samples.rank} dimensions for {n} samples and n_components={m} below the number of classes, "
                "every training class collapses to a point (null-space LDA). "
                f"Use n_components={c} or more, or fewer features, for a projection that does not overfit.",
                UserWarning,
                stacklevel=3,
            )
        return m

    def _store(self, result: SolverResult, samples: Samples, center: Array) -> None:
        super()._store(result, samples, center)
        if not result.converged:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations with a relative gradient of "
                f"{result.stationarity:.1e}; raise max_iter, or tol={self.tol:g}.",
                ConvergenceWarning,
                stacklevel=3,
            )
