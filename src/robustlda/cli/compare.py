"""`robustlda compare`: accuracy of every method as the training labels get worse."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustlda.cli import options, progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.text import Text

    from robustlda.cli.screen import Screen
    from robustlda.experiments.protocol import Row, Unit

FILES = ("comparison.csv", "comparison.png")
UNFINISHED = "comparison.unfinished.csv"


def _shares(ctx: click.Context, param: click.Parameter, value: str) -> tuple[float, ...]:
    """A comma-separated list of percentages, such as 0,20,40, as shares."""
    from decimal import Decimal, InvalidOperation

    try:
        # Decimal fractions: a hundredth of 12.3 is .123, which a binary fraction would miss in the last digit.
        shares = tuple(dict.fromkeys(float(Decimal(word.strip()) / 100) for word in value.split(",")))
    except (InvalidOperation, ValueError):
        raise click.BadParameter(f"{value!r} is not a list of percentages such as 0,20,40.") from None
    if any(not 0 <= share < 1 for share in shares):
        raise click.BadParameter(f"{value!r}: a percentage of wrong labels must be at least 0 and below 100.")
    return shares


@click.command(short_help="Compare methods as more and more labels are wrong.")
@click.argument("datasets", nargs=-1, metavar="[DATASET]...")
@click.option(
    "--methods", default="all", show_default="all but trees", help="Comma-separated names from the lists above."
)
@click.option(
    "--noise",
    callback=_shares,
    default="0,10,20,30,40,50",
    show_default=True,
    help="Percentages of wrong labels, or of corrupted samples.",
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
@click.option(
    "--resume", is_flag=True, help="Keep what earlier runs in the folder have finished and run only what is missing."
)
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
    and the same wrong labels; test labels are clean. Writes comparison.csv and comparison.png when all is done,
    replacing those of an earlier run in the same folder; until then, comparison.unfinished.csv keeps what is finished.

    \b
    1-NN in the space of a projection:
      robust_1nn     RobustLDA                   lda_1nn     LDA
      rlda_1nn       the paper's rLDA            lpp_1nn     supervised LPP
      rlda_pca_1nn   rLDA, started from PCA      mmc_1nn     MMC
      trlda_1nn      trace-ratio LDA             dle_1nn     DLE (reconstructed)
      pca_1nn        PCA                         knn         no projection
    \b
    The method's own decision rule:
      rlda           RobustLDA()                 lda         LDA
      rlda_centroid  RobustLDA, centroid rule    shrunk_lda  LDA, shrunk
      pca_rule       PCA, rule of RobustLDA()    mcd_lda     LDA, robust (MCD)
      trlda          trace-ratio LDA             logistic    logistic regression
      confident      confident learning          svm         SVM, tuned
                                                 knn_tuned   k-NN, tuned
    \b
    Trees, only when named, as they take minutes:
      forest         random forest, tuned        boosting    boosted trees, tuned
    """
    from robustlda.cli.screen import Screen
    from robustlda.datasets import catalogue
    from robustlda.experiments import figures, protocol, tables
    from robustlda.output import results_folder

    options.use_folder(data_dir)
    chosen = list(dict.fromkeys(catalogue.dataset_named(name).name for name in datasets or catalogue.DEFAULT))
    names, missing = _methods(methods)
    options.check_jobs(jobs)
    click.get_current_context().with_resource(results_folder(out, alone=FILES))
    screen = Screen()
    units = protocol.units(chosen, names, noise, folds=folds, first=first, kind=kind, seed=seed)
    everything = _run(units, out, resume, jobs, screen)
    rows = [row for row in everything if row.unit in set(units)]
    rows.sort(key=lambda row: chosen.index(row.dataset))
    drawn = any(row.succeeded for row in rows)
    figure = figures.accuracy_against_noise(rows, reference=reference) if drawn else None
    _write(tables.in_order(everything), figure, out)
    levels = f"{figures.CONTAMINATION[kind]}, %"
    n = min(first or folds, folds)
    screen.print(f"Mean accuracy on clean test data over {n} {'fold' if n == 1 else 'folds'}, by {levels}:")
    for dataset in chosen:
        screen.print(_table(dataset, names, noise, tables.with_reference(rows, reference)))
    _print_failures(rows, missing, screen)
    picture = f" and {out / FILES[1]}" if drawn else "; nothing has succeeded that could be drawn"
    said = "1 row" if len(everything) == 1 else f"{len(everything)} rows"
    screen.print(f"\nWrote {out / FILES[0]} ({said}){picture}.")


def _methods(words: str) -> tuple[list[str], dict[str, str]]:
    """The methods to run, and those left out with the package each of them lacks."""
    from robustlda.experiments.methods import METHODS, method_named

    given = METHODS if words == "all" else (method_named(name.strip()).name for name in words.split(","))
    names = list(dict.fromkeys(given))
    missing = {name: package for name in names if (package := method_named(name).missing_package)}
    if len(missing) == len(names):
        raise ValueError(f"{words} needs {', '.join(missing.values())}, which is not installed.")
    return [name for name in names if name not in missing], missing


def _run(units: "Sequence[Unit]", out: Path, resume: bool, jobs: int, screen: "Screen") -> "list[Row]":
    """All rows of earlier runs, if they are kept, and of the units that these lacked."""
    from robustlda.experiments import protocol, records

    result, unfinished = out / FILES[0], out / UNFINISHED
    # Read in any case: files of others are refused, not replaced.
    earlier = [*records.read(result, protocol.Row), *records.resumed(unfinished, protocol.Row)]
    _refuse_picture_of_others(out)
    if not resume:
        earlier = []
        unfinished.unlink(missing_ok=True)
    todo = records.unfinished(units, earlier)
    rows = []
    with _kept(unfinished), progress.shown(screen, len(units) - len(todo), len(units)) as advance:
        for row in records.carry_out(todo, protocol.run, unfinished, jobs):
            rows.append(row)
            advance(f"{row.dataset}, {_percent(row.noise)} wrong")
    # Measured numbers have as many digits as those that come from a file.
    return records.latest([*earlier, *(records.read(unfinished, protocol.Row) if rows else [])])


@contextmanager
def _kept(unfinished: Path) -> Iterator[None]:
    """Whatever ends the run, how to go on is said with it."""
    try:
        yield
    except BaseException as error:
        if unfinished.exists():
            error.add_note(f"What is finished is kept in {unfinished}; go on with the same command and --resume.")
        raise


def _refuse_picture_of_others(out: Path) -> None:
    """A figure is ours if the rows that it shows are beside it."""
    from robustlda.output import new_files

    mine = (out / FILES[0]).exists() or (out / UNFINISHED).exists()
    if (out / FILES[1]).exists() and not mine:
        raise FileExistsError(f"{out / FILES[1]} was not written here before; move it, or choose another folder.")
    new_files([out / name for name in FILES], force=True)


def _write(rows: "Sequence[Row]", figure: "Figure | None", out: Path) -> None:
    """The rows and their figure; without one, that of an earlier run goes, as it would not show these rows."""
    from robustlda.experiments import protocol, records
    from robustlda.output import replacing_together
    from robustlda.report.document import png, save

    with replacing_together(out, FILES) as folder:
        records.write(rows, folder / FILES[0], protocol.Row)
        if figure is not None:
            save(folder / FILES[1], png(figure))
    if figure is None:
        (out / FILES[1]).unlink(missing_ok=True)
    (out / UNFINISHED).unlink(missing_ok=True)


def _print_failures(rows: "Sequence[Row]", missing: dict[str, str], screen: "Screen") -> None:
    from rich.text import Text

    from robustlda.experiments.methods import method_named
    from robustlda.experiments.tables import failures
    from robustlda.output import printable

    lines = [
        ("failed", "red", f"{method_named(method).label} on {dataset}: {error}")
        for (dataset, method), error in failures(rows).items()
    ]
    lines += [
        ("skipped", "magenta", f"{method_named(name).label}: {package} is not installed")
        for name, package in missing.items()
    ]
    for word, color, reason in lines:
        screen.print(Text.assemble((word, color), " ", printable(reason)))


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
        table.add_column(_percent(level), justify="right")
    for name, by_noise in by_method.items():
        table.add_row(method_named(name).label, *(_cell(by_noise.get(level), best[level]) for level in noise))
    return table


def _cell(value: float | None, best: float) -> "Text | str":
    from rich.text import Text

    if value is None:
        return "failed"
    return Text(f"{value:.3f}", "bold" if value >= best - 5e-4 else "")


def _percent(share: float) -> str:
    return f"{100 * share:.6g}%"
