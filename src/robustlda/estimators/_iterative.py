"""What the two ratio estimators share: they iterate, keep three components per class, and collapse in null space."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from robustlda.data import Samples
from robustlda.estimators import _validation as validation
from robustlda.estimators._memory import MeasuredProjection
from robustlda.linalg import Array
from robustlda.solvers.result import SolverResult


class RatioProjection(MeasuredProjection):
    """Base of the estimators that minimize a ratio by iterating."""

    tol: float
    max_iter: int

    def _default_components(self, n_classes: int) -> int:
        return 3 * n_classes

    def _check_parameters(self) -> None:
        super()._check_parameters()
        validation.check_whole("max_iter", self.max_iter)
        validation.check_number("tol", self.tol, "a number of at least 0")

    def _dimension(self, samples: Samples) -> int:
        m, c, n = super()._dimension(samples), samples.n_classes, len(samples.labels)
        if self.n_components is not None and m < c and n - samples.rank <= 1:
            warnings.warn(
                f"With {samples.rank} dimensions for {n} samples and n_components={m} below the number of classes, "
                "every training class collapses to a point (null-space LDA). "
                f"Use n_components={c} or more, or fewer features, for a projection that does not overfit.",
                UserWarning,
                stacklevel=4,
            )
        return m

    def _keep(self, result: SolverResult, samples: Samples, center: Array) -> None:
        super()._keep(result, samples, center)
        if not result.stop.converged:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} iterations, while the objective still "
                f"changed by more than tol={self.tol:g} (relative gradient {result.stationarity:.1e}). "
                "Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
