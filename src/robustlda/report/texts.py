"""Texts from data, made fit for a page or a spreadsheet."""

import json
import re
import unicodedata
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from robustlda.output import printable

if TYPE_CHECKING:
    from robustlda.audit.label_audit import LabelAudit

MAX_TEXT = 80
_NUMBER = re.compile(r"[+-]?(\d[\d.,]*|[.,]\d+)(e[+-]?\d+)?%?|[+-]?(inf|nan)", re.ASCII | re.IGNORECASE)


def short(text: str, longest: int = MAX_TEXT) -> str:
    """A text that can be shown: no control characters, none that turn the direction, and not too long."""
    return printable(str(text)[: longest + 1], longest)


def spreadsheet_safe(text: str) -> str:
    """A cell that no spreadsheet interprets as a formula; different texts stay different.

    Formulas begin with =, +, - or @, also in the wide forms of East Asian scripts, and a spreadsheet may skip spaces
    and what cannot be seen before them. A tab or a line break at the beginning may start a cell of its own.
    """
    bare = text.lstrip("'")  # or else '=x and =x would become the same
    first = next((c for c in bare if c.isprintable() and not c.isspace()), " ")
    formula = bare[:1] in ("\t", "\r", "\n") or unicodedata.normalize("NFKC", first) in ("=", "+", "-", "@")
    return "'" + text if formula and not _NUMBER.fullmatch(text) else text


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
