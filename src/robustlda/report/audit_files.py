"""An audit as files, and as a summary in a few sentences."""

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from robustlda.audit import explanations
from robustlda.audit.label_audit import LabelAudit
from robustlda.linalg import Array
from robustlda.output import replacing
from robustlda.report.row_values import row_values
from robustlda.report.texts import spreadsheet_safe
from robustlda.tables.columns import plain
from robustlda.tables.frames import flattened
from robustlda.tables.labeled import LabeledTable
from robustlda.tables.preparation import CHANGES, VOTES, tells_changes, votes_before

_COLUMNS = ["rank", "id", "given", "suggested", "probability_wrong", "farness", "farness_any", "finding", "verified"]


def write_suspects(audit: LabelAudit, path: Path, table: LabeledTable | None = None) -> None:
    """All findings and all labels worth a check, at least a short list, most suspicious first; then what was checked.

    A column `verified` has the right labels of the latter, and is there to be filled in. With the table they come from,
    also the row as a spreadsheet numbers it, what speaks against the label, and the row's own columns.
    """
    rows = np.concatenate([audit.suspects(), audit.checked_rows()])
    more = _own_columns(table, rows) if table is not None else []
    taken = {*_COLUMNS, "row", "reason"}
    with replacing(path) as target, target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        extra = [] if table is None else ["row", "reason"]
        names = [f"{name} (table)" if name in taken else name for name, _ in more]
        writer.writerow([*_COLUMNS, *extra, *(spreadsheet_safe(name) for name in names)])
        reasons = [] if table is None else _reasons(audit, rows, table)
        for k, i in enumerate(rows):
            texts = [spreadsheet_safe(str(v)) for v in (audit.ids_[i], audit.given_[i], audit.suggested_[i])]
            numbers = (audit.probability_wrong_[i], audit.farness_[i], audit.farness_any_[i])
            checked = texts[2] if audit.verified_[i] else ""
            line = [audit.rank_[i], *texts, *(_digits(x) for x in numbers), audit.finding_[i], checked]
            if table is not None:
                line += [int(table.places[i]) + table.first_row, spreadsheet_safe(reasons[k])]
            writer.writerow([*line, *(spreadsheet_safe(values[k]) for _, values in more)])


def _digits(x: float) -> str:
    return "" if np.isnan(x) else f"{x:.4f}"


def _own_columns(table: LabeledTable, rows: Array) -> list[tuple[str, list[str]]]:
    """Texts of the table's own columns in some rows."""
    some = table.raw.take(pa.array(rows))
    return [
        (name, ["" if v is None else str(v) for v in some[name].to_pylist()])
        for name in some.column_names
        if name != table.label
    ]


def _reasons(audit: LabelAudit, rows: Array, table: LabeledTable) -> list[str]:
    """What speaks against each label, in words: values of the row, and what is typical of both classes."""
    source = row_values(audit, table)
    found = None if source is None else explanations.explain(audit, rows, n_features=3, groups=source.groups)
    if found is None or source is None:
        return ["" for _ in rows]
    typical = cache(source.typical)
    values: dict[int, list[str]] = {}
    given = explanations.given_classes(audit)
    lines = []
    for k, (columns, against) in enumerate(zip(found.features.tolist(), found.against.tolist(), strict=True)):
        own = int(given[rows[k]])
        words = []
        for j in (j for j in columns if j >= 0):
            if j not in values:
                values[j] = source.texts(j, rows)
            words.append(
                f"{source.names[j]} {values[j][k]} (typical of {audit.classes_[own]}: {typical(j, own)}, of "
                f"{audit.classes_[against]}: {typical(j, against)})"
            )
        lines.append("; ".join(words))
    return lines


def summary(audit: LabelAudit, notes: list[str], table: LabeledTable | None = None) -> dict[str, Any]:
    """The numbers of an audit, for programs."""
    found = {
        "samples": audit.n_samples_,
        "classes": [str(c) for c in audit.classes_],
        "noise_rate": round(audit.noise_rate_, 6),
        "noise_interval": [round(float(x), 6) for x in audit.noise_interval_],
        "noise_reason": audit.noise_reason_,
        "worth_checking": audit.n_worth_checking_,
        "verified": audit.n_verified_,
        "max_false_alarm": audit.max_false_alarm,
        "mislabeled": audit.n_mislabeled_,
        "outlying": audit.n_outlying_,
        "transition": np.round(audit.transition_, 6).tolist(),
        "notes": notes,
    }
    if table is not None and table.people:
        found["annotators"] = [
            {"name": name, "answers": int(n), "accuracy": round(float(right), 6)}
            for name, n, right in zip(table.people, audit.annotator_answers_, audit.annotator_accuracy_, strict=True)
        ]
    if table is not None:
        found["fingerprint"] = table.fingerprint
        found["columns"] = [
            {"name": use.name, "kind": use.kind, "features": list(use.features), "note": use.note, "power": use.power}
            for use in table.columns
        ]
        found["findings"] = [
            {"kind": f.kind, "message": f.message, "columns": list(f.columns), "rows": _lines(f.rows, table)}
            for f in table.findings
        ]
    return found


def _lines(rows: tuple[int, ...], table: LabeledTable) -> list[int]:
    """Rows as a spreadsheet numbers them; the first thousand."""
    return [int(table.places[i]) + table.first_row for i in rows[:1000]]


def corrected(
    audit: LabelAudit, table: LabeledTable, whole: pa.Table, checked: dict[int, Any], *, flagged: bool
) -> pa.Table:
    """The whole table with labels replaced and a column that says which: those `checked`, and what is flagged if asked.

    Rows of `checked` are counted in the whole table. If that has been corrected before, the column goes on to say what
    was changed then, after what is changed now.
    """
    whole, label = (whole, table.label) if table.answers is None else _with_votes(audit, table, whole)
    whole = whole if label in whole.column_names else flattened(whole)
    name, changes = _changes_before(whole)
    changes = changes if table.answers is None else [""] * whole.num_rows  # votes are what they were before any change
    labels, kind, places = whole[label].to_pylist(), plain(whole[label]).type, table.places.tolist()
    # Classes go by texts or whole numbers, whatever the table holds: fractions, dates, decimals.
    held = {} if _is_text(kind) else {audit.given_[i].item(): labels[place] for i, place in enumerate(places)}
    for i, place in enumerate(places):
        given = audit.given_[i].item()
        if place in checked:
            new, how = checked[place], "checked"
        elif flagged and audit.finding_[i] == "mislabeled":
            new, how = audit.suggested_[i].item(), f"probably wrong ({_stated(audit.probability_wrong_[i])})"
        else:
            continue
        if new != given:
            before = f"; before, it was {text.removeprefix('was ')}" if (text := changes[place]) else ""
            labels[place], changes[place] = held.get(new, new), f"was {given}, {how}{before}"
    changed = whole.set_column(whole.column_names.index(label), label, pa.array(labels, kind))
    if name in whole.column_names:
        return changed.set_column(whole.column_names.index(name), name, pa.array(changes, pa.string()))
    return changed.add_column(whole.column_names.index(label) + 1, name, pa.array(changes, pa.string()))


def _changes_before(whole: pa.Table) -> tuple[str, list[str]]:
    """The name of the column that says which labels were changed, new or from an audit before, and what it says."""
    name = CHANGES
    while name in whole.column_names:
        if tells_changes(name, whole[name]):
            return name, [text or "" for text in whole[name].to_pylist()]
        name += " (robustlda)"
    return name, [""] * whole.num_rows


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _with_votes(audit: LabelAudit, table: LabeledTable, whole: pa.Table) -> tuple[pa.Table, str]:
    """The whole table with a column for what most people say, its last or that of an audit before, and its name."""
    votes: list[Any] = [None] * whole.num_rows
    for i, place in enumerate(table.places.tolist()):
        votes[place] = audit.given_[i].item()
    before = votes_before(whole, table.y)
    if before is not None and before not in table.people:
        return whole.set_column(whole.column_names.index(before), before, pa.array(votes)), before
    name = VOTES
    while name in whole.column_names:
        name += " (robustlda)"
    return whole.append_column(name, pa.array(votes)), name


def annotations(audit: LabelAudit, table: LabeledTable | None, most: int = 50) -> list[str]:
    """The flagged labels as workflow commands of GitHub, the most suspicious first."""
    order = np.argsort(audit.rank_, kind="stable")
    flagged = [int(i) for i in order if audit.finding_[i] == "mislabeled"][:most]
    lines = []
    for i in flagged:
        words = (
            f"{audit.ids_[i]}: the label {audit.given_[i]} is probably wrong ({_stated(audit.probability_wrong_[i])}); "
            f"{audit.suggested_[i]} is more probable."
        )
        where = "" if table is None else f" file={_property(table.name)},line={int(table.places[i]) + table.first_row}"
        lines.append(f"::warning{where}::{_message(words)}")
    return lines


def _stated(probability: float) -> str:
    """In percent; nothing is certain."""
    return f"{min(probability, 0.99):.0%}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


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
        _flagged(audit),
    ]
    lines.append(_what_to_check(audit))
    if flipped is not None:
        flags = audit.finding_ == "mislabeled"
        found = flags & flipped
        lines.append(
            f"Of {flipped.sum()} labels flipped on purpose, {found.sum()} were found, with {(flags & ~flipped).sum()} "
            "false alarms."
        )
    return lines


def about_people(audit: LabelAudit, table: LabeledTable) -> list[str]:
    """Where several people have answered: how often each of them is right."""
    if not table.people:
        return []
    worth = zip(table.people, audit.annotator_answers_, audit.annotator_accuracy_, strict=True)
    words = [f"{name} {right:.0%} of {n:,}" if n else f"{name} none" for name, n, right in worth]
    more = f" and {len(words) - 20} more in audit.json" if len(words) > 20 else ""
    return [f"Answers that are right: {', '.join(words[:20])}{more}. Labels below are what most people say."]


def about_lost(given: Array, classes: Array) -> list[str]:
    """That classes are none any more, as checks have left no row in them."""
    lost = [str(label) for label in np.setdiff1d(given, classes)]
    if not lost:
        return []
    shown = ", ".join(map(repr, lost[:5])) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
    return [
        f"The verified labels leave no row in {shown}: what nobody is in is no class, and all its labels are wrong."
    ]


def _flagged(audit: LabelAudit) -> str:
    n, far = audit.n_mislabeled_, audit.n_outlying_
    rows = "1 sample" if far == 1 else f"{far:,} samples"
    seen = 0 if n > len(audit.finding_) else int((audit.verified_ & (audit.finding_ == "mislabeled")).sum())
    checked = f" ({seen:,} of them checked)" if seen else ""
    others = "the others" if seen else "them"
    expected = f", at most {audit.max_false_alarm:.0%} of {others} expected to be correct" if n > seen else ""
    return f"{n:,} {'label' if n == 1 else 'labels'} flagged{checked}{expected}; {rows} far from every class."


def _what_to_check(audit: LabelAudit) -> str:
    """Where a person should look first."""
    n = audit.n_worth_checking_
    if n > len(audit.given_):
        return f"{n:,} labels are more probably wrong than right; suspects.csv begins with the worst."
    if n == 1:
        return "Check the first row of suspects.csv: its label is probably wrong."
    if n:
        wrong = round(audit.n_expected_wrong_)
        return f"Check the first {n:,} of suspects.csv: about {wrong:,} of them {'is' if wrong == 1 else 'are'} wrong."
    others = " that nobody has checked" if audit.n_verified_ else ""
    return f"No label{others} is more probably wrong than right; the most doubtful rows come first in suspects.csv."
