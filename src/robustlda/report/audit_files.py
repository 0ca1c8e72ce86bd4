"""An audit as files, and as a summary in a few sentences."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from robustlda.audit.label_audit import LabelAudit
from robustlda.linalg import Array
from robustlda.output import replacing

_COLUMNS = ["rank", "id", "given", "suggested", "probability_wrong", "farness", "farness_any", "finding"]


def spreadsheet_safe(text: str) -> str:
    """A cell that no spreadsheet interprets as a formula."""
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def write_suspects(audit: LabelAudit, path: Path) -> None:
    """All findings, most suspicious first."""
    order = np.argsort(audit.rank_)
    with replacing(path) as target, target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        for i in order[audit.finding_[order] != ""]:
            texts = [spreadsheet_safe(str(v)) for v in (audit.ids_[i], audit.given_[i], audit.suggested_[i])]
            numbers = (audit.probability_wrong_[i], audit.farness_[i], audit.farness_any_[i])
            writer.writerow([audit.rank_[i], *texts, *(f"{x:.4f}" for x in numbers), audit.finding_[i]])


def summary(audit: LabelAudit, notes: list[str]) -> dict[str, Any]:
    """The numbers of an audit, for programs."""
    return {
        "samples": len(audit.given_),
        "classes": [str(c) for c in audit.classes_],
        "noise_rate": round(audit.noise_rate_, 6),
        "noise_interval": [round(x, 6) for x in audit.noise_interval_],
        "max_false_alarm": audit.max_false_alarm,
        "mislabelled": int((audit.finding_ == "mislabelled").sum()),
        "outlying": int((audit.finding_ == "outlying").sum()),
        "transition": np.round(audit.transition_, 6).tolist(),
        "notes": notes,
    }


def write_json(data: dict[str, Any], path: Path) -> None:
    with replacing(path) as target:
        target.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def sentences(audit: LabelAudit, notes: list[str], flipped: Array | None) -> list[str]:
    """The summary, for readers."""
    flags, far = audit.finding_ == "mislabelled", audit.finding_ == "outlying"
    low, high = audit.noise_interval_
    lines = [
        *notes,
        f"{len(audit.given_):,} labels, {len(audit.classes_)} classes: about {audit.noise_rate_:.1%} are wrong "
        f"(95 % interval {low:.1%} to {high:.1%}).",
        f"{flags.sum():,} labels flagged, at most {audit.max_false_alarm:.0%} of them expected to be correct; "
        f"{far.sum():,} samples far from every class.",
    ]
    if flipped is not None:
        found = flags & flipped
        lines.append(
            f"Of {flipped.sum()} labels flipped on purpose, {found.sum()} were found, with {(flags & ~flipped).sum()} "
            "false alarms."
        )
    return lines
