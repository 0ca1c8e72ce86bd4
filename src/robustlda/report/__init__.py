"""Results for a reader: files, tables, figures, pages."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robustlda.report.displays import ClassMapDisplay, LabelNoiseDisplay, ObjectiveDisplay, ProjectionDisplay

__all__ = ["ClassMapDisplay", "LabelNoiseDisplay", "ObjectiveDisplay", "ProjectionDisplay"]


def __getattr__(name: str) -> Any:
    # Loaded on first use, as in the package itself: the command line imports this one long before it plots.
    if name in __all__:
        return getattr(import_module("robustlda.report.displays"), name)
    raise AttributeError(f"module 'robustlda.report' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
