"""`robustlda audit`: which labels of a table are probably wrong."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustlda.cli import options, parts

if TYPE_CHECKING:
    from rich.console import Console

    from robustlda.audit.label_audit import LabelAudit
    from robustlda.datasets.readers import LabeledTable


@click.command()
@click.argument("table", required=False, type=click.Path(path_type=Path))
@click.option("--label", help="Column that holds the labels.")
@click.option("--id", "id_", help="Column that identifies the rows in the results; row numbers by default.")
@click.option("--features", help="Comma-separated columns to use; all others by default.")
@click.option(
    "--max-noise",
    type=click.FloatRange(0, 1),
    help="Fail with exit code 1 if the estimated share of wrong labels exceeds this.",
)
@click.option(
    "--max-false-alarm",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Tolerated share of correct labels among the flagged ones.",
)
@click.option(
    "--verified",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="CSV with columns id and verified: the right labels of rows that a person has checked, such as suspects.csv "
    "with a column added.",
)
@click.option("--workers", type=click.IntRange(1), help="Read TABLE in parts, with this many processes (needs Dask).")
@click.option("--scheduler", help="Read TABLE in parts, on a Dask cluster: the address of its scheduler, tcp://…")
@click.option("--memory-limit", default="auto", show_default=True, help="Memory of each of the --workers, such as 1GB.")
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder that keeps what passes over TABLE have found: the same command goes on where it was interrupted.",
)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options.out("audit")
def audit(
    table: Path | None,
    label: str | None,
    id_: str | None,
    features: str | None,
    max_noise: float | None,
    max_false_alarm: float,
    verified: Path | None,
    workers: int | None,
    scheduler: str | None,
    memory_limit: str,
    checkpoint: Path | None,
    format_: str,
    out: Path,
) -> None:
    """Find wrong labels and outliers in TABLE: CSV, TSV, Parquet, Feather, or .npz with arrays X and y.

    Writes suspects.csv, audit.json and report.html. Without TABLE, it audits scikit-learn's digits after flipping a
    fifth of the labels on purpose, and reports how many of them were found.

    A folder of Parquet files, or a pattern such as 'part-*.parquet', is read in parts and may be larger than memory.
    What was found about every row then goes to the folder rows.
    """
    from rich.console import Console

    from robustlda.audit.label_audit import LabelAudit
    from robustlda.datasets import readers
    from robustlda.output import writable_directory

    console = Console(stderr=format_ == "json", highlight=False)
    if parts.is_in_parts(table, workers is not None or scheduler is not None or checkpoint is not None):
        assert table is not None
        writable_directory(out)
        chosen = [name.strip() for name in features.split(",")] if features else None
        with parts.cluster(workers, scheduler, memory_limit):
            found, notes = parts.audit(table, label, id_, chosen, max_false_alarm, verified, checkpoint, console)
            _write(found, out, f"Label audit of {table.name}", None, notes)
            found.to_parquet(out / "rows")
        _print(found, notes, None, out, format_, console, rows=True)
        _check_noise(found, max_noise, console)
        return
    data, title, flipped = _read(table, label, id_, features)
    checked = None if verified is None else _verified(verified, data)
    writable_directory(out)
    images = readers.square_images(data)
    X = readers.robust_scale(data.X) if images is None else images
    with console.status(f"auditing {len(data.y):,} labels …"):
        names = data.names if images is None else None
        found = LabelAudit(max_false_alarm=max_false_alarm).fit(X, data.y, data.ids, verified=checked, features=names)
    _write(found, out, title, images, data.notes)
    _print(found, data.notes, flipped, out, format_, console)
    _check_noise(found, max_noise, console)


def _check_noise(found: "LabelAudit", max_noise: float | None, console: "Console") -> None:
    if max_noise is not None and found.noise_rate_ > max_noise:
        console.print(f"[red]Failed[/red]: {found.noise_rate_:.1%} is more than the {max_noise:.1%} allowed.")
        sys.exit(1)


def _read(
    table: Path | None, label: str | None, id_: str | None, features: str | None
) -> "tuple[LabeledTable, str, Any]":
    """The data, a title for the report, and a mask of the labels flipped on purpose if this is the demonstration."""
    from robustlda.datasets import readers

    if table is not None:
        chosen = [name.strip() for name in features.split(",")] if features else None
        return readers.read(table, label, id_, chosen), f"Label audit of {table.name}", None
    if label or id_ or features:
        raise click.UsageError("--label, --id and --features refer to a TABLE, but none was given.")
    data, flipped = readers.demonstration()
    return data, "Digits, a fifth of the labels flipped on purpose", flipped


def _verified(path: Path, data: "LabeledTable") -> dict[int, Any]:
    from robustlda.report import audit_files

    return audit_files.as_labels(audit_files.read_verified(path, data.ids), data.y)


def _write(found: "LabelAudit", out: Path, title: str, images: Any, notes: list[str]) -> None:
    from robustlda.report import audit_files, audit_page

    # Only the page can fail. It is written first, so that either all three files exist or none.
    audit_page.write(found, out / "report.html", title=title, images=images, notes=notes)
    audit_files.write_suspects(found, out / "suspects.csv")
    audit_files.write_json(audit_files.summary(found, notes), out / "audit.json")


def _print(
    found: "LabelAudit",
    notes: list[str],
    flipped: Any,
    out: Path,
    format_: str,
    console: "Console",
    *,
    rows: bool = False,
) -> None:
    import json

    from robustlda.report import audit_files

    if format_ == "json":
        click.echo(json.dumps(audit_files.summary(found, notes), indent=1))
        return
    for line in audit_files.sentences(found, notes, flipped):
        console.print(line)
    files = "suspects.csv, audit.json and report.html"
    if rows:
        files = "suspects.csv, audit.json, report.html and, in the folder rows, what was found about every row"
    console.print(f"Wrote {files} to {out}.")
