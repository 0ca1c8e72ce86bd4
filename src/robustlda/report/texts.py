"""Texts from data, made fit for a page."""

import json
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from robustlda.output import printable

if TYPE_CHECKING:
    from robustlda.audit.label_audit import LabelAudit

MAX_TEXT = 80


def short(text: str, longest: int = MAX_TEXT) -> str:
    """A text that can be shown: no control characters, none that turn the direction, and not too long."""
    return printable(str(text)[: longest + 1], longest)


def value_text(value: Any, longest: int = 40) -> str:
    """A value of a table."""
    if value is None or value != value:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, datetime | date):
        return value.isoformat().removesuffix("T00:00:00")
    return short(str(value), longest)


def number_text(value: float) -> str:
    """A number with at most five digits that count."""
    if value != value:
        return "–"
    if abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return f"{value:.5g}"


def script_safe(data: Any) -> str:
    """JSON that can neither close the surrounding script element nor open a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return text.encode("utf-8", "replace").decode()


def loadings(audit: "LabelAudit", axis: int) -> str:
    """The features that an axis of the plane goes with most, in words; empty if they have no names."""
    return ", ".join(
        f"{short(name, 24)} {'+' if r > 0 else '−'}{f'{abs(r):.2f}'.removeprefix('0')}"
        for name, r in audit.plane_features(axis)
    )
