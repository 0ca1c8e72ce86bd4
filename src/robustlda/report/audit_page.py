"""The HTML page of an audit: summary, projection, class map and ranked table in one file without external assets."""

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, PackageLoader, select_autoescape

from robustlda.linalg import Array
from robustlda.output import replacing

if TYPE_CHECKING:
    from robustlda.audit.label_audit import LabelAudit

MAX_POINTS = 1500
MAX_ROWS = 400
MAX_TEXT = 80
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c564b", "#7f7f00", "#5e3c99", "#444444")


def write(audit: "LabelAudit", path: Path, *, title: str, images: Any = None, notes: list[str] | None = None) -> None:
    """Write the page."""
    page = render(audit, title=title, images=images, notes=notes)
    with replacing(path) as target:
        target.write_text(page, encoding="utf-8")


def render(audit: "LabelAudit", *, title: str, images: Any = None, notes: list[str] | None = None) -> str:
    """The page as a string."""
    environment = Environment(
        loader=PackageLoader("robustlda.report"), autoescape=select_autoescape(["html"]), trim_blocks=True
    )
    order = np.argsort(audit.rank_, kind="stable")
    shown = _shown_points(order, audit.finding_, audit.rank_[order] > len(order))
    return environment.get_template("audit.html").render(
        title=_short(title),
        n=audit.n_samples_,
        classes=len(audit.classes_),
        rate=audit.noise_rate_,
        interval=audit.noise_interval_,
        reason=_short(audit.noise_reason_, 400),
        worth_checking=audit.n_worth_checking_,
        flagged=audit.n_mislabelled_,
        outlying=audit.n_outlying_,
        false_alarm=audit.max_false_alarm,
        notes=[_short(note, 300) for note in notes or []],
        shown=len(shown),
        confusion=_confusions(audit),
        data=_script_safe(_embedded(audit, shown, images)),
    )


def _embedded(audit: "LabelAudit", shown: Array, images: Any) -> dict[str, Any]:
    """What the page's script draws: points, table rows, classes and their colors."""
    place, order = _projection(audit), np.argsort(audit.rank_)
    return {
        "points": [_point(audit, place, int(i)) for i in shown],
        "rows": [_row(audit, int(i), images) for i in order[:MAX_ROWS]],
        "classes": [_short(str(c)) for c in audit.classes_],
        "axes": list(audit.plane_axes_),
        "loadings": [loadings(audit, axis) for axis in (0, 1)],
        "colors": [COLORS[k % len(COLORS)] for k in range(len(audit.classes_))],
    }


def loadings(audit: "LabelAudit", axis: int) -> str:
    """The features that an axis of the plane goes with most, in words; empty if they have no names."""
    return ", ".join(
        f"{_short(name, 24)} {'+' if r > 0 else '−'}{abs(r):.2f}".replace("0.", ".", 1)
        for name, r in audit.plane_features(axis)
    )


def _script_safe(data: dict[str, Any]) -> str:
    """JSON that can neither close the surrounding script element nor open a comment."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _short(text: str, longest: int = MAX_TEXT) -> str:
    shown = "".join(c if c.isprintable() else "�" for c in str(text))
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _shown_points(order: Array, finding: Array, drawn: Array) -> Array:
    """Findings, up to half of the points, and samples spread evenly over the rest; findings are drawn last, on top.

    Of rows in parts, those that were `drawn` from all are the rest: the worst would not be like the others.
    """
    found = order[finding[order] != ""][: MAX_POINTS // 2]
    rest = np.setdiff1d(order[drawn] if drawn.any() else order, found, assume_unique=False)
    step = max(1, -(-len(rest) // (MAX_POINTS - len(found))))
    return np.concatenate([rest[::step], found])


def _projection(audit: "LabelAudit") -> Array:
    """Coordinates of every sample in the plane in which the class centers differ most, scaled to [0, 1]."""
    P = np.asarray(audit.plane_, float)
    low, high = np.quantile(P, 0.005, axis=0), np.quantile(P, 0.995, axis=0)
    return np.clip((P - low) / np.maximum(high - low, 1e-300), -0.02, 1.02)


def _point(audit: "LabelAudit", place: Array, i: int) -> list[Any]:
    k = int(np.searchsorted(audit.classes_, audit.given_[i]))
    s = int(np.searchsorted(audit.classes_, audit.suggested_[i]))
    kind = {"": 0, "mislabelled": 1, "outlying": 2}[audit.finding_[i]]
    numbers = (place[i, 0], place[i, 1], audit.probability_wrong_[i], audit.farness_[i])
    return [_short(str(audit.ids_[i])), k, s, kind, *(round(float(x), 3) for x in numbers)]


def _row(audit: "LabelAudit", i: int, images: Any) -> list[Any]:
    picture = "" if images is None else thumbnail(np.asarray(images)[i])
    texts = (_short(str(v)) for v in (audit.ids_[i], audit.given_[i], audit.suggested_[i]))
    numbers = (audit.probability_wrong_[i], audit.farness_[i], audit.farness_any_[i])
    return [int(audit.rank_[i]), *texts, *(round(float(x), 3) for x in numbers), str(audit.finding_[i]), picture]


def _confusions(audit: "LabelAudit") -> list[tuple[str, str, float]]:
    """The pairs of classes with the most label errors: true class, given label, expected number."""
    counts = audit.confusion_.T.copy()
    np.fill_diagonal(counts, 0)
    pairs = np.argsort(-counts, axis=None)[:8]
    found = [(int(p) // len(counts), int(p) % len(counts)) for p in pairs]
    names = [_short(str(c), 30) for c in audit.classes_]
    return [(names[i], names[j], float(counts[i, j])) for i, j in found if counts[i, j] >= 0.5]


def thumbnail(image: Array) -> str:
    """A square grayscale image as a PNG in a data URL."""
    side = round(len(image) ** 0.5)
    pixels = (255 * np.clip(image, 0, 1)).astype(np.uint8).reshape(side, side)
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)

    def chunk(kind: bytes, content: bytes) -> bytes:
        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(png).decode()
