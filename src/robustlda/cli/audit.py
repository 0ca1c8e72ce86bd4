"""`robustlda audit`: which labels of a table are probably wrong."""

import datetime
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustlda.cli import options, parts, tables
from robustlda.cli.options import Columns, Layout, Workers

if TYPE_CHECKING:
    from robustlda.audit.label_audit import LabelAudit
    from robustlda.cli.screen import Screen
    from robustlda.linalg import Array
    from robustlda.tables.labeled import LabeledTable, RawTable

DEFAULT, DEMONSTRATION = Path("audit"), Path("audit-demo")
"""Folders for results, which git ignores: of a table, and of the demonstration."""

_WRITTEN = "suspects_sha256"  # of audit.json: suspects.csv as it was written, before anybody has filled it in

_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command(short_help="Find wrong labels and outliers in a table.")
@click.argument("table", required=False)
@options.columns
@options.layout
@click.option("--images", callback=tables.sized, help="The columns are the pixels of images of this size, as in 28x28.")
@click.option(
    "--max-noise",
    type=click.FloatRange(0, 1),
    help="Fail with exit code 1 if the estimated share of wrong labels exceeds this.",
)
@click.option(
    "--max-false-alarm",
    type=_SHARE,
    default=0.05,
    show_default=True,
    help="Tolerated share of correct labels among the flagged ones.",
)
@options.verified(
    "CSV with columns id and verified: the right labels of rows that a person has checked, such as reviewed.csv from "
    "the page, or suspects.csv with its column verified filled in."
)
@click.option(
    "--fix",
    type=click.Choice(["flagged", "reviewed"]),
    help="Also write the table with labels corrected: the flagged ones, or those that --verified names.",
)
@options.workers
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="What is printed; github prints an annotation for every flagged label.",
)
@click.option("--quiet", is_flag=True, help="Print nothing but failures.")
@options.force
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the results; created if it does not exist.  [default: audit, or audit-demo without TABLE]",
)
def audit(
    table: str | None,
    columns: Columns,
    layout: Layout,
    images: tuple[int, int] | None,
    max_noise: float | None,
    max_false_alarm: float,
    verified: tuple[Path, ...],
    fix: str | None,
    by: Workers,
    format_: str,
    quiet: bool,
    force: bool,
    out: Path | None,
) -> None:
    """Find wrong labels and outliers in TABLE: CSV, Excel, JSON lines, Parquet, Feather, or .npz; - is standard input.

    Writes suspects.csv, audit.json and report.html. Without TABLE, it audits scikit-learn's digits after flipping a
    fifth of the labels on purpose, and reports how many of them were found.

    A folder of Parquet files, a pattern such as 'part-*.parquet', or a large Parquet file is read in parts and may be
    larger than memory. What was found about every row then goes to the folder rows.
    """
    from robustlda.cli.screen import Screen
    from robustlda.report import audit_files

    screen = Screen(stderr=format_ != "text", quiet=quiet)
    if fix == "reviewed" and not verified:
        raise click.UsageError("--fix reviewed corrects what a person has checked: name the file with --verified.")
    out = out or (DEMONSTRATION if table is None else DEFAULT)
    in_parts = parts.is_in_parts(table, by.asked)
    if table not in (None, "-") and not in_parts:
        tables.check_there(table)  # before anything is said about results
    results = _Results(out, table, fix, verified, force, in_parts)
    if in_parts:
        assert table is not None
        _refuse_in_parts(images, fix)
        parts.label_column(columns)  # before workers are started
        options.alone_in(by.checkpoint)
        with parts.cluster(by):
            found, notes = parts.audit(table, columns, max_false_alarm, verified, by.checkpoint, screen)
            results.write(found, f"Label audit of {Path(table).name}", notes, screen)
        _print(found, None, notes, None, results, format_, screen, quiet)
        _check_noise(found, max_noise)
        return
    raw, data, X, flipped = _read(table, columns, layout, images, verified, screen)
    checked = tables.verified(verified, data, raw, columns.id) if verified else None
    with screen.working(f"auditing {len(data.y):,} labels …"):
        found = _audited(data, X, checked, max_false_alarm)
    title = "Digits, a fifth of the labels flipped on purpose" if table is None else f"Label audit of {data.name}"
    pictures = None if X is None else X.reshape(-1, *(images or (8, 8)))
    notes = [*tables.told(data), *audit_files.about_people(found, data)]
    notes += audit_files.about_lost(found.given_, found.classes_)
    results.write(found, title, notes, screen, table=data, raw=raw, checked=checked, pictures=pictures)
    _print(found, data, notes, flipped, results, format_, screen, quiet)
    _check_noise(found, max_noise)


def _refuse_in_parts(images: Any, fix: str | None) -> None:
    if images is not None or fix is not None:
        raise click.UsageError("--images and --fix need a table in memory; this one is read in parts.")


def _check_noise(found: "LabelAudit", max_noise: float | None) -> None:
    """The gate: the only reason for exit code 1."""
    if max_noise is not None and found.noise_rate_ > max_noise:
        click.echo(f"Failed: {found.noise_rate_:.1%} is more than the {max_noise:.1%} allowed.", err=True)
        sys.exit(1)


def _read(
    table: str | None,
    columns: Columns,
    layout: Layout,
    images: tuple[int, int] | None,
    verified: tuple[Path, ...],
    screen: "Screen",
) -> "tuple[RawTable | None, LabeledTable, Array | None, Array | None]":
    """The table as given and as understood; pixels, if it holds images; and which labels were flipped on purpose."""
    if table is None:
        if columns.named or images:
            raise click.UsageError("--label, --id, --features and --images refer to a TABLE, but none was given.")
        from robustlda.datasets.demonstration import demonstration

        data, flipped = demonstration()
        return None, data, data.X, flipped
    with screen.working(f"reading {table} …") as tell:
        raw = tables.read(table, layout)
        tell(f"preparing {raw.data.num_rows:,} rows …")
        data = tables.understood(raw, columns, verified)
        if images is None:
            return raw, data, None, None
        return raw, *tables.images(data, images), None


def _audited(data: "LabeledTable", pixels: "Array | None", checked: Any, max_false_alarm: float) -> "LabelAudit":
    from robustlda.audit.label_audit import LabelAudit

    audit = LabelAudit(max_false_alarm=max_false_alarm)
    checked = None if checked is None else tables.checked_rows(checked, data)
    if pixels is None:
        return audit.fit(data, None, verified=checked)
    return audit.fit(pixels, data.targets, data.ids, verified=checked)


class _Results:
    """The files of an audit: all of them, or none; what is there stays unless it may be replaced."""

    def __init__(
        self, out: Path, table: str | None, fix: str | None, verified: tuple[Path, ...], force: bool, in_parts: bool
    ) -> None:
        from robustlda.output import new_files, results_folder

        self.out, self.fix = out, fix
        self.summary: dict[str, Any] = {}  # once it is written
        self.names = ["suspects.csv", "audit.json", "report.html"]
        if fix is not None:
            if table is None:
                raise click.UsageError("--fix refers to a TABLE, but none was given.")
            columnar = Path(table).suffix.lower() in (".parquet", ".pq")
            self.names.append("corrected.parquet" if columnar else "corrected.csv")
        # Data and what is said about them are not committed by accident.
        self.hidden = [".gitignore"] if not out.exists() and out in (DEFAULT, DEMONSTRATION) else []
        self.rows = ["rows"] if in_parts else []
        ours = ("corrected.csv", "corrected.parquet", "rows")
        self.of_before = [n for n in ours if (out / n).exists() and n not in (*self.names, *self.rows)]
        new_files([out / name for name in self.names], force=force)
        if in_parts and (out / "rows").exists() and not force:
            raise FileExistsError(
                f"{out / 'rows'} exists; replace it with --force, or choose another place with --out."
            )
        replaced = [path for path in verified if path.resolve() in [(out / name).resolve() for name in self.names]]
        if replaced:
            raise ValueError(f"{replaced[0]} would be replaced, and with it what was checked; choose another --out.")
        for name in ("suspects.csv", "rows") if table is not None else ():
            tables.check_kept(out / name, str(table))
        _refuse_to_lose(out / "suspects.csv", verified)
        click.get_current_context().with_resource(results_folder(out, alone=self.names[:1]))

    def write(
        self,
        found: "LabelAudit",
        title: str,
        notes: list[str],
        screen: "Screen",
        *,
        table: "LabeledTable | None" = None,
        raw: "RawTable | None" = None,
        checked: dict[int, Any] | None = None,
        pictures: "Array | None" = None,
    ) -> None:
        from robustlda.output import replacing_together
        from robustlda.report import audit_files, audit_page, table_files

        # The summary last: whoever waits for it finds the others.
        everything = sorted([*self.names, *self.hidden, *self.rows], key="audit.json".__eq__)
        with screen.working("writing the report …"), replacing_together(self.out, everything) as folder:
            for name in self.hidden:
                (folder / name).write_text("*\n", encoding="ascii")
            if self.rows:
                found.to_parquet(folder / "rows")
            listed = table if pictures is None else None  # columns and rows, which are no pictures
            provenance = _provenance(found, table)
            audit_page.write(
                found, folder / "report.html", title=title, images=pictures, notes=_unless_shown(notes, listed),
                table=listed,
                provenance=provenance,
            )  # fmt: skip
            audit_files.write_suspects(found, folder / "suspects.csv", listed)
            self.summary = audit_files.summary(found, notes, table) | {_WRITTEN: _state(folder / "suspects.csv")}
            audit_files.write_json(self.summary, folder / "audit.json")
            if self.fix is not None and table is not None and raw is not None:
                flagged = self.fix == "flagged"
                new = audit_files.corrected(found, table, raw.data, checked or {}, flagged=flagged)
                table_files.write_table(new, folder / self.names[-1])


def _refuse_to_lose(suspects: Path, verified: tuple[Path, ...]) -> None:
    """Keep what a person has filled in since an audit wrote the file, unless it is given as well."""
    import json

    from robustlda.report import reviewed

    try:
        if json.loads((suspects.parent / "audit.json").read_bytes()).get(_WRITTEN) == _state(suspects):
            return
    except (OSError, ValueError, AttributeError):
        pass  # nobody knows what the audit wrote
    checked = reviewed.names_in(suspects) if suspects.is_file() else set()
    if checked - set(reviewed.read(verified)):
        raise ValueError(
            f"{suspects} holds rows that a person has checked, and is not replaced, not even with --force: save it "
            "under another name and give that with --verified, or choose another --out."
        )


def _state(path: Path) -> str:
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()


def _unless_shown(notes: list[str], table: "LabeledTable | None") -> list[str]:
    """Notes for a page that lists findings about columns and rows at their place."""
    shown = set() if table is None else {finding.message for finding in table.findings}
    return [note for note in notes if note not in shown]


def _provenance(found: "LabelAudit", table: "LabeledTable | None") -> Any:
    from robustlda.report.audit_page import Provenance

    return Provenance(
        command=shlex.join(["robustlda", *sys.argv[1:]]),
        date=datetime.date.today().isoformat(),
        settings={"max_false_alarm": found.max_false_alarm},
        fingerprint="" if table is None else table.fingerprint,
        file_name="" if table is None else table.name,
    )


def _print(
    found: "LabelAudit",
    table: "LabeledTable | None",
    notes: list[str],
    flipped: Any,
    results: _Results,
    format_: str,
    screen: "Screen",
    quiet: bool,
) -> None:
    import json

    from robustlda.output import printable
    from robustlda.report import audit_files

    if quiet:
        return
    if format_ == "json":
        click.echo(json.dumps(results.summary, indent=1))
        return
    if format_ == "github":
        for line in audit_files.annotations(found, table):
            click.echo(printable(line))
    for line in audit_files.sentences(found, notes, flipped):
        screen.print(printable(line))
    screen.print(printable(f"Wrote {_listed(results)} to {results.out}."))
    for name in results.of_before:
        screen.print(printable(f"{results.out / name} is of an earlier audit."))


def _listed(results: _Results) -> str:
    names = results.names
    if results.rows:
        return f"{', '.join(names)} and, in the folder rows, what was found about every row"
    return f"{', '.join(names[:-1])} and {names[-1]}"
