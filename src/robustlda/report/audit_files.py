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


_SHORT_LIST = 20


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
    """All findings and all labels worth a check, at least a short list, most suspicious first."""
    order = np.argsort(audit.rank_)
    with replacing(path) as target, target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        listed = (audit.finding_[order] != "") | (np.arange(len(order)) < max(audit.n_worth_checking_, _SHORT_LIST))
        listed &= audit.rank_[order] <= len(order)  # of rows in parts, others are only drawn
        for i in order[listed]:
            texts = [spreadsheet_safe(str(v)) for v in (audit.ids_[i], audit.given_[i], audit.suggested_[i])]
            numbers = (audit.probability_wrong_[i], audit.farness_[i], audit.farness_any_[i])
            writer.writerow([audit.rank_[i], *texts, *(f"{x:.4f}" for x in numbers), audit.finding_[i]])


def summary(audit: LabelAudit, notes: list[str]) -> dict[str, Any]:
    """The numbers of an audit, for programs."""
    return {
        "samples": audit.n_samples_,
        "classes": [str(c) for c in audit.classes_],
        "noise_rate": round(audit.noise_rate_, 6),
        "noise_interval": [round(float(x), 6) for x in audit.noise_interval_],
        "noise_reason": audit.noise_reason_,
        "worth_checking": audit.n_worth_checking_,
        "verified": audit.n_verified_,
        "max_false_alarm": audit.max_false_alarm,
        "mislabelled": audit.n_mislabelled_,
        "outlying": audit.n_outlying_,
        "transition": np.round(audit.transition_, 6).tolist(),
        "notes": notes,
    }


def write_json(data: dict[str, Any], path: Path) -> None:
    with replacing(path) as target:
        target.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def sentences(audit: LabelAudit, notes: list[str], flipped: Array | None) -> list[str]:
    """The summary, for readers."""
    low, high = audit.noise_interval_
    lines = [
        *notes,
        f"{audit.n_samples_:,} labels, {len(audit.classes_)} classes: about {audit.noise_rate_:.1%} are wrong "
        f"({low:.1%} to {high:.1%}). {audit.noise_reason_}",
        f"{audit.n_mislabelled_:,} labels flagged, at most {audit.max_false_alarm:.0%} of them expected to be correct; "
        f"{audit.n_outlying_:,} samples far from every class.",
    ]
    lines.append(_what_to_check(audit))
    if flipped is not None:
        flags = audit.finding_ == "mislabelled"
        found = flags & flipped
        lines.append(
            f"Of {flipped.sum()} labels flipped on purpose, {found.sum()} were found, with {(flags & ~flipped).sum()} "
            "false alarms."
        )
    return lines


def _what_to_check(audit: LabelAudit) -> str:
    """Where a person should look first."""
    n = audit.n_worth_checking_
    if n > len(audit.given_):
        return f"{n:,} labels are more probably wrong than right; suspects.csv begins with the worst."
    if n:
        return f"Check the first {n:,} of suspects.csv: about {audit.n_expected_wrong_:,.0f} of them are wrong."
    return "No label is more probably wrong than right; suspects.csv begins with the ones to check if any."


def read_verified(path: Path, ids: Array) -> dict[int, str]:
    """Right labels by row, from a table with the columns id and verified, such as suspects.csv with a column added."""
    found = _verified_texts(path)
    rows = {spreadsheet_safe(str(name)): i for i, name in enumerate(ids)}
    unknown = [name for name in found if name not in rows]
    if unknown:
        raise ValueError(f"{path.name} names the row {unknown[0]!r}, which the table does not have.")
    return {rows[name]: label for name, label in found.items()}


def read_verified_numbers(path: Path, n: int) -> dict[int, str]:
    """The same where rows are known by their numbers, from 0 to n − 1."""
    found = _verified_texts(path)
    unknown = [name for name in found if not (name.isdecimal() and int(name) < n)]
    if unknown:
        raise ValueError(f"{path.name} names the row {unknown[0]!r}; rows have numbers from 0 to {n - 1}.")
    return {int(name): label for name, label in found.items()}


def _verified_texts(path: Path) -> dict[str, str]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = csv.DictReader(file)
        missing = {"id", "verified"} - set(lines.fieldnames or ())
        if missing:
            raise ValueError(
                f"{path.name} has no column {' and '.join(sorted(missing))}; give the ids of suspects.csv, and the "
                "right labels in a column called verified, empty where nobody has looked."
            )
        return {line["id"]: line["verified"].strip() for line in lines if (line["verified"] or "").strip()}


def as_labels(found: dict[int, str], y: Array) -> dict[int, Any]:
    """Texts of labels as the labels of y that read so."""
    by_text = {spreadsheet_safe(str(label)): label for label in np.unique(y).tolist()}
    unknown = [text for text in found.values() if text not in by_text]
    if unknown:
        raise ValueError(f"The verified label {unknown[0]!r} is none of the table's: {', '.join(list(by_text)[:10])}.")
    return {row: by_text[text] for row, text in found.items()}
