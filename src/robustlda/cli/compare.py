"""`robustlda compare`: accuracy of every method as the training labels get worse."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustlda.cli import options, progress

if TYPE_CHECKING:
    from robustlda.experiments.protocol import Row


def _shares(ctx: click.Context, param: click.Parameter, value: str) -> tuple[float, ...]:
    """Several percentages in one word, 0,20,40, as shares."""
    try:
        shares = tuple(dict.fromkeys(float(word) / 100 for word in value.split(",")))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of percentages such as 0,20,40.") from None
    if any(not 0 <= share < 1 for share in shares):
        raise click.BadParameter(f"{value!r}: a percentage of wrong labels must be at least 0 and below 100.")
    return shares


@click.command()
@click.argument("datasets", nargs=-1, metavar="[DATASET]...")
@click.option("--methods", default="all", show_default=True, help="Comma-separated names from the lists above.")
@click.option(
    "--noise", callback=_shares, default="0,10,20,30,40,50", show_default=True, help="Percentages of wrong labels."
)
@click.option(
    "--kind",
    type=click.Choice(["uniform", "next_class", "gross_rows", "salt_and_pepper", "occlude"]),
    default="uniform",
    show_default=True,
    help="What is spoiled: labels, uniformly or from every other class into the next; or samples.",
)
@click.option(
    "--reference",
    type=click.Choice(["noisy", "clean"]),
    default="noisy",
    show_default=True,
    help="Reference labels of 1-NN; clean ones show the projection alone.",
)
@click.option(
    "--folds", type=click.IntRange(2, 20), default=5, show_default=True, help="Folds of the cross-validation."
)
@click.option("--first", type=click.IntRange(1), default=None, help="Run only the first folds, for large data.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of folds and flips.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 uses every core.")
@options.data_dir
@click.option("--resume", is_flag=True, help="Keep what is in comparison.csv of the folder, and run what it lacks.")
@options.out(".")
def compare(
    datasets: tuple[str, ...],
    methods: str,
    noise: tuple[float, ...],
    kind: str,
    reference: str,
    folds: int,
    first: int | None,
    seed: int,
    jobs: int,
    data_dir: Path | None,
    resume: bool,
    out: Path,
) -> None:
    """Compare methods as more and more training labels are wrong.

    DATASET is one or more of digits, wine, breast_cancer, iris; without it, the first three. With --data-dir also
    vehicle, dermatology, coil20, orl, yale, pie, reuters21578, tdt2, 20newsgroups. Every method meets the same folds
    and the same wrong labels; test labels are clean. Writes comparison.csv and comparison.png, over those of an earlier
    run in the same folder unless --resume is given.

    \b
    1-NN votes after a projection:   rlda_1nn rlda_pca_1nn trlda_1nn lda_1nn lpp_1nn mmc_1nn dle_1nn pca_1nn,
                                     knn (no projection)
    The method decides by itself:    rlda rlda_centroid pca_rule trlda svm lda shrunk_lda knn_tuned mcd_lda logistic
                                     confident
    """
    from rich.console import Console

    from robustlda.datasets import catalogue
    from robustlda.experiments import figures, protocol, records, tables
    from robustlda.experiments.methods import METHODS, method_named
    from robustlda.output import writable_directory
    from robustlda.report.document import png, save

    options.use_folder(data_dir)
    chosen = [catalogue.dataset_named(name).name for name in datasets or catalogue.DEFAULT]
    names = list(METHODS) if methods == "all" else [method_named(name.strip()).name for name in methods.split(",")]
    missing = {name: method_named(name).missing_package for name in names if method_named(name).missing_package}
    names = [name for name in names if name not in missing]
    if not names:
        raise ValueError(f"{methods} needs {', '.join(map(str, missing.values()))}, which is not installed.")
    options.check_jobs(jobs)
    writable_directory(out)
    console = Console(highlight=False)
    units = protocol.units(chosen, names, noise, folds=folds, first=first, kind=kind, seed=seed)
    record = out / "comparison.csv"
    earlier = records.read(record, protocol.Row) if resume else []
    records.write(earlier, record, protocol.Row)
    with progress.shown(console, len(units) - len(todo := records.unfinished(units, earlier)), len(units)) as advance:
        for row in records.carry_out(todo, protocol.run, record, jobs):
            advance(f"{row.dataset}, {row.noise:.0%} wrong")
    everything = records.latest(records.read(record, protocol.Row))
    rows = [row for row in everything if row.unit in set(units)]
    rows.sort(key=lambda row: chosen.index(row.dataset))
    levels = f"{figures.CONTAMINATION[kind]}, %"
    console.print(f"Mean accuracy on clean test data over {min(first or folds, folds)} folds, by {levels}:")
    for dataset in chosen:
        console.print(_table(dataset, names, noise, tables.with_reference(rows, reference)))
    for (dataset, method), error in tables.failures(rows).items():
        console.print(f"[red]failed[/red] {method_named(method).label} on {dataset}: {error}")
    for name, package in missing.items():
        console.print(f"[yellow]left out[/yellow] {method_named(name).label}: {package} is not installed")
    records.write(tables.in_order(everything), record, protocol.Row)
    save(out / "comparison.png", png(figures.accuracy_against_noise(rows, reference=reference)))
    console.print(f"\nWrote {record} ({len(everything)} rows) and {out / 'comparison.png'}.")


def _table(dataset: str, names: Sequence[str], noise: Sequence[float], rows: "Sequence[Row]") -> object:
    from rich import box
    from rich.table import Table

    from robustlda.datasets import catalogue
    from robustlda.experiments.methods import method_named
    from robustlda.experiments.tables import means

    mean = means(rows)
    best = {level: max((mean.get((dataset, n), {}).get(level, 0) for n in names), default=0) for level in noise}
    table = Table(
        title=f"\n{catalogue.dataset_named(dataset).title}",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("")
    for level in noise:
        table.add_column(f"{level:.0%}", justify="right")
    for name in names:
        cells = []
        for level in noise:
            value = mean.get((dataset, name), {}).get(level)
            text = "failed" if value is None else f"{value:.3f}"
            cells.append(f"[bold green]{text}[/]" if value is not None and value >= best[level] - 5e-4 else text)
        table.add_row(method_named(name).label, *cells)
    return table
