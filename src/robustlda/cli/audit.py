"""`robustlda audit`: which labels of a table are probably wrong."""

import sys
from pathlib import Path

import click

from robustlda.cli import options


@click.command()
@click.argument("table", required=False, type=click.Path(path_type=Path))
@click.option("--label", help="Column of the labels.")
@click.option("--id", "id_", help="Column that names the rows in the results; their numbers if not given.")
@click.option("--features", help="Comma-separated columns to use; all others if not given.")
@click.option(
    "--max-noise",
    type=click.FloatRange(0, 1),
    help="Fail, with exit code 1, if more than this share of the labels is estimated to be wrong.",
)
@click.option(
    "--max-false-alarm",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Share of right labels among the flagged ones that is put up with.",
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
    format_: str,
    out: Path,
) -> None:
    """Find wrong labels and outliers in TABLE: CSV, TSV, Parquet, Feather, or .npz with arrays X and y.

    Writes suspects.csv, audit.json and report.html. Without TABLE: scikit-learn's digits with a fifth of the labels
    flipped on purpose, and how many of them were found.
    """
    import json

    from rich.console import Console

    from robustlda.audit.label_audit import LabelAudit
    from robustlda.datasets import readers
    from robustlda.output import writable_directory
    from robustlda.report import audit_files, audit_page

    console = Console(stderr=format_ == "json", highlight=False)
    flipped = None
    if table is None and (label or id_ or features):
        raise click.UsageError("--label, --id and --features speak of a TABLE, but none was given.")
    if table is None:
        data, flipped = readers.demonstration()
        title = "Digits, a fifth of the labels flipped on purpose"
    else:
        chosen = [name.strip() for name in features.split(",")] if features else None
        data, title = readers.read(table, label, id_, chosen), f"Label audit of {table.name}"
    writable_directory(out)
    images = readers.square_images(data)
    X = readers.robust_scale(data.X) if images is None else images
    with console.status(f"judging {len(data.y):,} labels …"):
        found = LabelAudit(max_false_alarm=max_false_alarm).fit(X, data.y, data.ids)
    summary = audit_files.summary(found, data.notes)
    # The page can fail, the others cannot: it comes first, so that there are all three files or none.
    audit_page.write(found, out / "report.html", title=title, images=images, notes=data.notes)
    audit_files.write_suspects(found, out / "suspects.csv")
    audit_files.write_json(summary, out / "audit.json")
    failed = max_noise is not None and found.noise_rate_ > max_noise
    if format_ == "json":
        click.echo(json.dumps(summary, indent=1))
    else:
        for line in audit_files.sentences(found, data.notes, flipped):
            console.print(line)
        console.print(f"Wrote suspects.csv, audit.json and report.html to {out}.")
    if failed:
        console.print(f"[red]Failed[/red]: {found.noise_rate_:.1%} is more than the {max_noise:.1%} allowed.")
        sys.exit(1)
