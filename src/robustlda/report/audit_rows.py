"""What the script of an audit's page is given: the rows to review with all that is known of them, and points to draw.

A page must stay below 5 MB whatever is in the table, so a row comes as a short list of texts and numbers, and how much
is said about each depends on how many there are (`LEVELS`).
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robustlda.audit import explanations
from robustlda.linalg import Array
from robustlda.report.row_values import RowValues, row_values
from robustlda.report.texts import short, spreadsheet_safe
from robustlda.report.thumbnails import thumbnail

if TYPE_CHECKING:
    from robustlda.audit.label_audit import LabelAudit
    from robustlda.tables.labeled import LabeledTable

MAX_ROWS = 10_000
MAX_POINTS = 1500
MAX_BYTES = 4_300_000
KINDS = {"": 0, "mislabeled": 1, "outlying": 2}


@dataclass(frozen=True)
class Level:
    """How much is said about every row: values, reasons, neighbors of each class, and bytes for all pictures."""

    rows: int
    values: int
    reasons: int
    neighbors: int
    pictures: int


LEVELS = (
    Level(1_000, 40, 4, 3, 1_500_000),
    Level(3_000, 20, 3, 2, 1_500_000),
    Level(MAX_ROWS, 12, 3, 2, 1_200_000),
    Level(MAX_ROWS, 6, 3, 1, 800_000),
    Level(MAX_ROWS, 3, 2, 0, 500_000),
)


def collect(audit: "LabelAudit", images: Any, table: "LabeledTable | None") -> dict[str, Any]:
    """Everything the script needs, at the first level that fits."""
    listed = audit.suspects()[:MAX_ROWS]
    source = None if images is not None and table is None else row_values(audit, table)
    for level in LEVELS:
        if level.rows >= len(listed):
            data = _at(level, audit, listed, images, source)
            if _size(data) <= MAX_BYTES:
                return data
    while _size(data) > MAX_BYTES and len(listed) > 1:  # ids as long as a page
        listed = listed[: len(listed) // 2]
        data = _at(LEVELS[-1], audit, listed, images, source)
    return data


def _size(data: dict[str, Any]) -> int:
    return len(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))


def _at(level: Level, audit: "LabelAudit", listed: Array, images: Any, source: RowValues | None) -> dict[str, Any]:
    ids = [str(name) for name in audit.ids_[listed].tolist()]
    data: dict[str, Any] = {
        "classes": [short(str(label)) for label in audit.classes_.tolist()],
        "exact": [spreadsheet_safe(str(label)) for label in audit.classes_.tolist()],
        "unsafe": [i for i, name in enumerate(ids) if spreadsheet_safe(name) != name],
        **_points(audit, listed),
    }
    reasons = _reasons(level, audit, listed, source)
    data |= {key: reasons[key] for key in ("columns", "shown", "typical")}
    given = explanations.given_classes(audit)[listed]
    suggested = np.searchsorted(audit.classes_, audit.suggested_[listed])
    shares = [_thousandths(values, listed) for values in (audit.probability_wrong_, audit.farness_, audit.farness_any_)]
    kinds = [KINDS[kind] for kind in audit.finding_[listed].tolist()]
    data["rows"] = [
        [ids[i], g, s, kind, *numbers, *more]
        for i, (g, s, kind, numbers, more) in enumerate(
            zip(given.tolist(), suggested.tolist(), kinds, zip(*shares, strict=True), reasons["rows"], strict=True)
        )
    ]
    data["pictures"] = {} if images is None else _pictures(level, images, listed, reasons["near"])
    if images is not None:
        data["places"] = listed.tolist()
    return data


def _thousandths(values: Any, rows: Array) -> list[int | None]:
    """Shares without a point: fewer characters. None where nothing is known."""
    if values is None:
        return [None] * len(rows)
    return [None if x != x else round(1000 * x) for x in np.asarray(values, float)[rows].tolist()]


def _reasons(level: Level, audit: "LabelAudit", listed: Array, source: RowValues | None) -> dict[str, Any]:
    """For every row: class compared with, log-ratio, what speaks against the label, neighbors, and own values.

    A reason is [column, value, contribution]; a neighbor is [place, id, values of the same columns].
    """
    groups = None if source is None else source.groups
    found = explanations.explain(
        audit, listed, n_features=level.reasons, n_neighbors=max(level.neighbors, 1), groups=groups
    )
    none: list[list[int]] = [[] for _ in listed]
    columns, weights = (none, none) if found is None or source is None else _columns_of(found, audit, groups, level)
    near = (
        [none, none] if found is None or not level.neighbors else [_lists(found.near_given), _lists(found.near_against)]
    )
    shown = _shown_columns(level, source, columns) if source is not None else []
    texts = _Texts(source, listed, columns, near, shown)
    rows = []
    for i, place in enumerate(listed.tolist()):
        why = [
            [column, texts.of(column, place), _rounded(weight)]
            for column, weight in zip(columns[i], weights[i], strict=True)
        ]
        neighbors = [
            [[j, short(str(audit.ids_[j]), 40), [texts.of(c, j) for c in columns[i]]] for j in side[i]] for side in near
        ]
        against = int(found.against[i]) if found is not None else -1
        ratio = _rounded(float(found.log_ratio[i])) if found is not None else None
        rows.append([against, ratio, why, neighbors, [texts.of(c, place) for c in shown]])
    used = sorted({c for row in columns for c in row})
    typical: dict[int, dict[int, str]] = {c: {} for c in used}
    if source is not None and found is not None:
        given = explanations.given_classes(audit)[listed].tolist()
        for i, row in enumerate(columns):
            for c in row:
                for k in (given[i], int(found.against[i])):
                    if k not in typical[c]:
                        typical[c][k] = source.typical(c, k)
    names = {} if source is None else {c: source.names[c] for c in sorted({*used, *shown})}
    return {"columns": names, "shown": shown, "typical": typical, "rows": rows, "near": near}


def _columns_of(
    found: explanations.Explanations, audit: "LabelAudit", groups: Array | None, level: Level
) -> tuple[list[list[int]], list[list[float | None]]]:
    """Columns that speak against each label with their contributions; of outliers, those that are most unusual."""
    columns = _lists(found.features)
    weights: list[list[float | None]] = [
        list(row[: len(chosen)]) for row, chosen in zip(found.contributions.tolist(), columns, strict=True)
    ]
    far = np.flatnonzero(audit.finding_[found.rows] == "outlying")
    unusual = explanations.unusual(audit, found.rows[far], level.reasons, groups) if len(far) else None
    if unusual is not None:
        for i, row in zip(far.tolist(), _lists(unusual), strict=True):
            columns[i], weights[i] = row, [None] * len(row)
    return columns, weights


def _lists(found: Array) -> list[list[int]]:
    return [[j for j in row if j >= 0] for row in found.tolist()]


def _rounded(weight: float | None) -> float | None:
    return None if weight is None else float(f"{weight:.2g}")


def _shown_columns(level: Level, source: RowValues, columns: list[list[int]]) -> list[int]:
    """Columns whose values are shown of every row: all, or those that are most often a reason, in order."""
    n = len(source.names)
    if n <= level.values:
        return list(range(n))
    counts = np.bincount([c for row in columns for c in row], minlength=n)
    return sorted(np.argsort(-counts, kind="stable")[: level.values].tolist())


class _Texts:
    """Values of rows and of their neighbors, read column by column."""

    def __init__(
        self,
        source: RowValues | None,
        listed: Array,
        columns: list[list[int]],
        near: list[list[list[int]]],
        shown: list[int],
    ) -> None:
        self._by_column: dict[int, dict[int, str]] = {}
        if source is None:
            return
        needed: dict[int, set[int]] = {c: set(listed.tolist()) for c in shown}
        for i, row in enumerate(columns):
            places = {int(listed[i]), *(j for side in near for j in side[i])}
            for c in row:
                needed.setdefault(c, set()).update(places)
        for c, wanted in needed.items():
            chosen = np.array(sorted(wanted), int)
            self._by_column[c] = dict(zip(chosen.tolist(), source.texts(c, chosen), strict=True))

    def of(self, column: int, place: int) -> str:
        return self._by_column[column][place]


def _pictures(level: Level, images: Any, listed: Array, near: list[list[list[int]]]) -> dict[int, str]:
    """Of the rows, from the first on, then of their neighbors, as far as the bytes go."""
    images = np.asarray(images)
    wanted = [*listed.tolist(), *(j for i in range(len(listed)) for side in near for j in side[i])]
    found: dict[int, str] = {}
    left = level.pictures
    for place in wanted:
        if place not in found and left > 0:
            found[place] = thumbnail(images[place])
            left -= len(found[place])
    return found


def _points(audit: "LabelAudit", listed: Array) -> dict[str, Any]:
    """Points [given, suggested, finding, wrong, farness, x, y, place in the list or −1, id], and the axes."""
    order = np.argsort(audit.rank_, kind="stable")
    chosen = _drawn(order, audit.finding_, audit.rank_[order] > len(order))
    in_list = dict(zip(listed.tolist(), range(len(listed)), strict=True))
    given = explanations.given_classes(audit)[chosen]
    suggested = np.searchsorted(audit.classes_, audit.suggested_[chosen])
    wrong, farness = _thousandths(audit.probability_wrong_, chosen), _thousandths(audit.farness_, chosen)
    plane = getattr(audit, "plane_", None)
    place, ends = (None, None) if plane is None else _framed(np.asarray(plane, float))
    points = []
    for i, j in enumerate(chosen.tolist()):
        x, y = (None, None) if place is None else (float(f"{v:.4g}") for v in place[j])
        kind = KINDS[str(audit.finding_[j])]
        # Of findings that are listed the id is known.
        name = "" if j in in_list else short(str(audit.ids_[j]), 40)
        points.append([int(given[i]), int(suggested[i]), kind, wrong[i], farness[i], x, y, in_list.get(j, -1), name])
    data: dict[str, Any] = {"points": points, "map": any(x is not None for x in farness)}
    if ends is not None:
        data["plane"] = {"ends": ends, "axes": [_axis(audit, axis) for axis in (0, 1)]}
    return data


def _axis(audit: "LabelAudit", axis: int) -> list[str]:
    """What an axis is, in one line or two; projected classes have a spread of 1."""
    name, share = audit.plane_axes_[axis].partition(" (")[::2]
    return [name, f"({share.rstrip(')')}), in spreads of a class"] if share else [name]


def _drawn(order: Array, finding: Array, drawn: Array) -> Array:
    """Findings, up to half of the points, and samples spread evenly over the rest; findings are drawn last, on top.

    Of rows in parts, those that were `drawn` from all are the rest: the worst would not be like the others.
    """
    found = order[finding[order] != ""][: MAX_POINTS // 2]
    rest = np.setdiff1d(order[drawn] if drawn.any() else order, found, assume_unique=False)
    step = max(1, -(-len(rest) // (MAX_POINTS - len(found))))
    return np.concatenate([rest[::step], found])


def _framed(P: Array) -> tuple[Array, list[list[float]]]:
    """Coordinates with what is far outside moved to the edge of the frame, and the ends of the axes."""
    low, high = np.quantile(P, 0.005, axis=0), np.quantile(P, 0.995, axis=0)
    margin = 0.06 * np.maximum(high - low, 1e-9)
    low, high = low - margin, high + margin
    return np.clip(P, low, high), [[float(f"{v:.4g}") for v in pair] for pair in zip(low, high, strict=True)]
