"""`robustlda compare`: accuracy of every method as the training labels get worse."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustlda.cli import options, progress

if TYPE_CHECKING:
    from rich.console import Console

    from robustlda.experiments.protocol import Row, Unit


def _shares(ctx: click.Context, param: click.Parameter, value: str) -> tuple[float, ...]:
    """A comma-separated list of percentages, such as 0,20,40, as shares."""
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
    type=click.Choice(["uniform", "next_class", "nearest_class", "gross_rows", "salt_and_pepper", "occlude"]),
    default="uniform",
    show_default=True,
    help="What is corrupted: labels, uniformly or from every other class into the next or the nearest; or samples.",
)
@click.option(
    "--reference",
    type=click.Choice(["noisy", "clean"]),
    default="noisy",
    show_default=True,
    help="Reference labels of 1-NN; clean labels show the effect of the projection alone.",
)
@click.option(
    "--folds", type=click.IntRange(2, 20), default=5, show_default=True, help="Number of cross-validation folds."
)
@click.option("--first", type=click.IntRange(1), default=None, help="Run only the first FIRST folds, for large data.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the folds and flips.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Number of processes; -1 uses every core.")
@options.data_dir
@click.option("--resume", is_flag=True, help="Keep an existing comparison.csv and run only what it lacks.")
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

    DATASET is one or more of digits, wine, breast_cancer, iris; the first three by default. With --data-dir also
    vehicle, dermatology, coil20, orl, yale, pie, reuters21578, tdt2, 20newsgroups. Every method gets the same folds
    and the same wrong labels; test labels are clean. Writes comparison.csv and comparison.png, replacing those of an
    earlier run in the same folder unless --resume is given.

    \b
    1-NN after a projection:         robust_1nn rlda_1nn rlda_pca_1nn trlda_1nn lda_1nn lpp_1nn mmc_1nn dle_1nn
                                     pca_1nn, knn (no projection)
    The method's own decision rule:  rlda rlda_centroid pca_rule trlda svm lda shrunk_lda knn_tuned mcd_lda logistic
                                     confident
    Trees, only when named:          forest boosting
    """
    from rich.console import Console

    from robustlda.datasets import catalogue
    from robustlda.experiments import figures, protocol, records, tables
    from robustlda.output import writable_directory
    from robustlda.report.document import png, save

    options.use_folder(data_dir)
    chosen = [catalogue.dataset_named(name).name for name in datasets or catalogue.DEFAULT]
    names, missing = _methods(methods)
    options.check_jobs(jobs)
    writable_directory(out)
    console = Console(highlight=False)
    units = protocol.units(chosen, names, noise, folds=folds, first=first, kind=kind, seed=seed)
    record = out / "comparison.csv"
    everything = _run(units, record, resume, jobs, console)
    rows = [row for row in everything if row.unit in set(units)]
    rows.sort(key=lambda row: chosen.index(row.dataset))
    levels = f"{figures.CONTAMINATION[kind]}, %"
    console.print(f"Mean accuracy on clean test data over {min(first or folds, folds)} folds, by {levels}:")
    for dataset in chosen:
        console.print(_table(dataset, names, noise, tables.with_reference(rows, reference)))
    _print_failures(rows, missing, console)
    records.write(tables.in_order(everything), record, protocol.Row)
    save(out / "comparison.png", png(figures.accuracy_against_noise(rows, reference=reference)))
    console.print(f"\nWrote {record} ({len(everything)} rows) and {out / 'comparison.png'}.")


def _methods(words: str) -> tuple[list[str], dict[str, str]]:
    """The methods to run, and those left out with the package each of them lacks."""
    from robustlda.experiments.methods import METHODS, method_named

    names = list(METHODS) if words == "all" else [method_named(name.strip()).name for name in words.split(",")]
    missing = {name: package for name in names if (package := method_named(name).missing_package)}
    if len(missing) == len(set(names)):
        raise ValueError(f"{words} needs {', '.join(missing.values())}, which is not installed.")
    return [name for name in names if name not in missing], missing


def _run(units: "Sequence[Unit]", path: Path, resume: bool, jobs: int, console: "Console") -> "list[Row]":
    """All rows of the file after the units that it lacked were run."""
    from robustlda.experiments import protocol, records

    earlier = records.read(path, protocol.Row) if resume else []
    records.write(earlier, path, protocol.Row)
    todo = records.unfinished(units, earlier)
    with progress.shown(console, len(units) - len(todo), len(units)) as advance:
        for row in records.carry_out(todo, protocol.run, path, jobs):
            advance(f"{row.dataset}, {row.noise:.0%} wrong")
    return records.latest(records.read(path, protocol.Row))


def _print_failures(rows: "Sequence[Row]", missing: dict[str, str], console: "Console") -> None:
    from robustlda.experiments.methods import method_named
    from robustlda.experiments.tables import failures

    for (dataset, method), error in failures(rows).items():
        console.print(f"[red]failed[/red] {method_named(method).label} on {dataset}: {error}")
    for name, package in missing.items():
        console.print(f"[yellow]skipped[/yellow] {method_named(name).label}: {package} is not installed")


def _table(dataset: str, names: Sequence[str], noise: Sequence[float], rows: "Sequence[Row]") -> object:
    from rich import box
    from rich.table import Table

    from robustlda.datasets.catalogue import CATALOGUE
    from robustlda.experiments.methods import method_named
    from robustlda.experiments.tables import means

    mean = means(rows)
    by_method = {name: mean.get((dataset, name), {}) for name in names}
    best = {level: max(by_noise.get(level, 0) for by_noise in by_method.values()) for level in noise}
    table = Table(title=f"\n{CATALOGUE[dataset].title}", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    table.add_column("")
    for level in noise:
        table.add_column(f"{level:.0%}", justify="right")
    for name, by_noise in by_method.items():
        table.add_row(method_named(name).label, *(_cell(by_noise.get(level), best[level]) for level in noise))
    return table


def _cell(value: float | None, best: float) -> str:
    if value is None:
        return "failed"
    return f"[bold green]{value:.3f}[/]" if value >= best - 5e-4 else f"{value:.3f}"
