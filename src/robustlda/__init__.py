"""Discriminant analysis on data that cannot be trusted."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robustlda.audit.label_audit import LabelAudit
    from robustlda.estimators.laplacian import DLE, SupervisedLPP
    from robustlda.estimators.margin import MMC
    from robustlda.estimators.ratio import RatioLDA
    from robustlda.estimators.robust import RobustLDA
    from robustlda.estimators.trace_ratio import TraceRatioLDA
    from robustlda.solvers.ratio import minimize_ratio

__version__ = "0.2.0"
__all__ = [
    "DLE",
    "MMC",
    "LabelAudit",
    "RatioLDA",
    "RobustLDA",
    "SupervisedLPP",
    "TraceRatioLDA",
    "__version__",
    "minimize_ratio",
]

_HOME = {
    "DLE": "robustlda.estimators.laplacian",
    "LabelAudit": "robustlda.audit.label_audit",
    "MMC": "robustlda.estimators.margin",
    "SupervisedLPP": "robustlda.estimators.laplacian",
    "RatioLDA": "robustlda.estimators.ratio",
    "RobustLDA": "robustlda.estimators.robust",
    "TraceRatioLDA": "robustlda.estimators.trace_ratio",
    "minimize_ratio": "robustlda.solvers.ratio",
}


def __getattr__(name: str) -> Any:
    # Loaded on first use: scikit-learn takes seconds to import, and `robustlda --help` has no need of it.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'robustlda' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
