"""The HTML page of an audit: what was found, why, and a place to decide about it, in one file that works offline.

Charts are drawn by Chart.js, which is embedded (210 KB, MIT, see `templates/vendor`). matplotlib's SVG carries its
colors in style attributes, which a strict Content-Security-Policy forbids, and cannot say which point is which; uPlot
is smaller but draws time series, so that symbols, hit tests and tooltips of a scatter plot would be ours to write.

Nothing in the data can run: texts go through autoescaping, or as JSON without <, > and & into an inert element, from
which the script takes them as text. The policy allows the two scripts and the style sheet by their hashes, pictures
only from the page itself, and nothing else.
"""

import base64
import hashlib
import re
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup

from robustlda.audit import explanations
from robustlda.output import replacing
from robustlda.report import audit_rows
from robustlda.report.texts import loadings, script_safe, short

if TYPE_CHECKING:
    from robustlda.audit.label_audit import LabelAudit
    from robustlda.tables.labeled import ColumnUse, LabeledTable

MAX_COLUMNS = 300
"""Columns that are listed one by one."""

_SCRIPTS = ("page.js", "decisions.js", "details.js", "list.js", "plots.js", "main.js")


@dataclass(frozen=True)
class Provenance:
    """Where an audit comes from, so that it can be run again; what is empty is left out or found out."""

    command: str = ""
    version: str = ""
    date: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    file_name: str = ""


def write(
    audit: "LabelAudit",
    path: Path,
    *,
    title: str,
    images: Any = None,
    notes: list[str] | None = None,
    table: "LabeledTable | None" = None,
    provenance: Provenance | None = None,
) -> None:
    """Write the page; `images` are gray values from 0 to 1, one picture for each row."""
    page = render(audit, title=title, images=images, notes=notes, table=table, provenance=provenance)
    with replacing(path) as target:
        target.write_text(page, encoding="utf-8")


def render(
    audit: "LabelAudit",
    *,
    title: str,
    images: Any = None,
    notes: list[str] | None = None,
    table: "LabeledTable | None" = None,
    provenance: Provenance | None = None,
) -> str:
    """The page as a string."""
    environment = Environment(
        loader=PackageLoader("robustlda.report"), autoescape=select_autoescape(["html"]), trim_blocks=True
    )
    origin = _completed(provenance or Provenance(), audit, table)
    data = audit_rows.collect(audit, images, table)
    data |= {"key": _review_key(origin, audit), "interval": [audit.noise_rate_, *audit.noise_interval_]}
    style, chart, script = _style(), _chart(), _script()
    pairs = explanations.by_pair(audit)
    return environment.get_template("audit/page.html").render(
        title=short(title),
        policy=_policy([chart, script], style),
        style=Markup(style),
        chart=Markup(chart),
        script=Markup(script),
        data=Markup(script_safe(data)),
        n=audit.n_samples_,
        rate=audit.noise_rate_,
        low=audit.noise_interval_[0],
        high=audit.noise_interval_[1],
        reason=short(audit.noise_reason_, 400),
        flagged=audit.n_mislabeled_,
        outlying=audit.n_outlying_,
        worth_checking=audit.n_worth_checking_,
        verified=audit.n_verified_,
        download=_download(origin.command),
        false_alarm=audit.max_false_alarm,
        listed=len(data["rows"]),
        notes=[short(note, 300) for note in _notes(audit, notes, table)],
        steps=_steps(audit, origin, table, len(data["rows"])),
        classes=[_class_row(one) for one in explanations.by_class(audit)],
        pairs=[(short(str(p.given), 40), short(str(p.true), 40), p.expected, p.flagged) for p in pairs],
        columns=_columns(table),
        n_columns=0 if table is None else len(table.columns),
        findings=[] if table is None else [(short(one.kind), short(one.message, 400)) for one in table.findings],
        features=_features(audit, images, table),
        provenance=_provenance_rows(origin),
        shown=len(data["points"]),
        plane="plane" in data,
        map=data["map"],
        loadings=[loadings(audit, axis) for axis in (0, 1)] if "plane" in data else [],
    )


def _policy(scripts: list[str], style: str) -> str:
    allowed = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (resources.files("robustlda.report") / "templates" / name).read_text(encoding="utf-8")


def _style() -> str:
    return _read("audit/page.css")


def _script() -> str:
    """All of the page's own scripts as one."""
    return '"use strict";\n' + "\n".join(_read(f"audit/{name}") for name in _SCRIPTS)


def _chart() -> str:
    """The library with its license in full, in place of the comments that name it by its address."""
    code = _read("vendor/chart.umd.min.js").split("//# sourceMappingURL")[0]
    return f"/*!\n{_read('vendor/chart.LICENSE.txt')}*/\n" + re.sub(r"/\*!.*?\*/\n?", "", code, flags=re.DOTALL)


def _completed(origin: Provenance, audit: "LabelAudit", table: "LabeledTable | None") -> Provenance:
    """What can be known without being told; no date, so that the same data give the same page."""
    from robustlda import __version__

    return replace(
        origin,
        version=origin.version or __version__,
        settings=origin.settings or {k: v for k, v in audit.get_params(deep=False).items() if v is not None},
        fingerprint=origin.fingerprint or (table.fingerprint if table is not None else "") or _fingerprint(audit),
        file_name=origin.file_name or (table.name if table is not None else ""),
    )


def _review_key(origin: Provenance, audit: "LabelAudit") -> str:
    """What decisions are kept under: one file may be audited for several of its columns."""
    return hashlib.sha256(repr((origin.fingerprint, audit.classes_.tolist())).encode("utf-8", "replace")).hexdigest()


def _fingerprint(audit: "LabelAudit") -> str:
    """Of ids and labels, where there was no file: it tells whose decisions are kept in a browser."""
    digest = hashlib.sha256()
    for values in (audit.ids_, audit.given_, audit.classes_):
        digest.update(repr([str(value) for value in np.asarray(values).tolist()]).encode())
    return digest.hexdigest()


def _again(command: str) -> str:
    """The command with what was reviewed, and what was before; results of this run are replaced."""
    return f"{command} --verified {_download(command)}" + ("" if " --force" in command else " --force")


def _download(command: str) -> str:
    """What decisions are saved as: a name of its own for every round, so that none takes the place of another."""
    rounds = len(re.findall(r"\s--verified[\s=]", command))
    return f"reviewed-{rounds + 1}.csv" if rounds else "reviewed.csv"


def _provenance_rows(origin: Provenance) -> list[tuple[str, str]]:
    rows = [
        ("Command", origin.command),
        ("File", origin.file_name),
        ("Version", f"robustlda {origin.version}"),
        ("Date", origin.date),
        ("Fingerprint of the data (SHA-256)", origin.fingerprint),
    ]
    rows += [(f"Setting {name}", str(value)) for name, value in origin.settings.items()]
    return [(short(name), short(value, 500)) for name, value in rows if value]


def _notes(audit: "LabelAudit", notes: list[str] | None, table: "LabeledTable | None") -> list[str]:
    found = list(notes or [])
    if table is not None:
        found += [note for note in table.notes if note not in found]
    if len(set(map(str, audit.ids_.tolist()))) < len(audit.ids_):
        found.append("Some ids occur more than once; reviewed.csv cannot tell such rows apart.")
    return found


def _steps(
    audit: "LabelAudit", origin: Provenance, table: "LabeledTable | None", listed: int
) -> list[tuple[str, str | None]]:
    """What to do next: sentences, some with a command."""
    steps: list[tuple[str, str | None]] = []
    if table is not None and table.findings:
        n = len(table.findings)
        steps.append((f"Read the {f'{n} findings' if n > 1 else 'finding'} about the columns first, below.", None))
    if not listed:
        return [*steps, ("Every label has been checked: there is nothing left to review.", None)]
    n = audit.n_worth_checking_
    if n == 1:
        steps.append(("Review the first row of the list below: its label is probably wrong.", None))
    elif n:
        some = f"the first {min(n, listed):,} rows"
        wrong = audit.n_expected_wrong_ * min(n, listed) / n
        are = "is" if round(wrong) == 1 else "are"
        steps.append((f"Review {some} of the list below: about {wrong:,.0f} of them {are} expected to be wrong.", None))
    else:
        steps.append(("No label is more probably wrong than right; the list begins with the most doubtful.", None))
    if audit.n_outlying_ == 1:
        steps.append(("Look at the outlier: a unit mix-up, a broken record, or a class of its own?", None))
    elif audit.n_outlying_:
        some = f"the {audit.n_outlying_:,} outliers"
        steps.append((f"Look at {some}: unit mix-ups, broken records, or a class of their own?", None))
    command = origin.command or "robustlda audit …"
    again = (
        f"Download {_download(command)} and run the audit again with it; what you have checked teaches it how far to "
    )
    steps.append((f"{again}trust its own doubts:", _again(command)))
    return [(text, short(code, 500) if code else None) for text, code in steps]


def _class_row(one: explanations.ClassSummary) -> dict[str, Any]:
    clear = one.confused >= 0.05
    return {
        "label": short(str(one.label), 40),
        "given": round(one.given),
        "doubted": one.doubted,
        "share": one.doubted / max(one.given, 1),
        "missing": one.missing,
        "confused": short(str(one.confused_with), 40) if clear else "",
    }


def _columns(table: "LabeledTable | None") -> list[tuple[str, str, str, str]]:
    if table is None:
        return []
    return [
        (short(use.name, 60), short(use.kind), _used_as(use), short(use.note, 200))
        for use in table.columns[:MAX_COLUMNS]
    ]


def _used_as(use: "ColumnUse") -> str:
    features = use.features
    if not features:
        return "the labels" if use.kind == "label" else "not used"
    if features == (use.name,):
        return "as it is" if use.power == 1 else f"long tail, raised to the power {use.power:.2g}"
    if len(features) == 1:
        return short(features[0], 60)
    return short(f"{len(features)} features: {', '.join(features[:4])}{', …' if len(features) > 4 else ''}", 160)


def _features(audit: "LabelAudit", images: Any, table: "LabeledTable | None") -> str:
    """The features in a sentence, where no table tells more."""
    if table is not None and table.columns:
        return ""
    names = [short(str(name), 30) for name in audit.feature_names_[:40]]
    more = len(audit.feature_names_) - len(names)
    if images is not None:
        return f"{len(audit.feature_names_):,} gray values of each picture."
    return f"{len(audit.feature_names_):,} features: {', '.join(names)}{f' and {more:,} more' if more else ''}."
