"""`robustlda reproduce`: the paper's experiments, with a verdict on every claim."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustlda.cli import options, progress

if TYPE_CHECKING:
    from robustlda.cli.screen import Screen
    from robustlda.experiments.paper.claims import Claim

RECORDS = ("toy.csv", "comparison.csv", "convergence.csv")
FILES = (*RECORDS, "README.md")
"""Whose remains are removed; the report's figures are written together with README.md."""


@click.command(short_help="Run the paper's experiments, claim by claim.")
@options.data_dir
@click.option("--quick", is_flag=True, help="A small version of everything, in less than a quarter of an hour.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Number of processes; -1 uses every core.")
@click.option("--report-only", is_flag=True, help="Write figures and report from the CSV files already in the folder.")
@options.out("reproduction")
def reproduce(data_dir: Path | None, quick: bool, jobs: int, report_only: bool, out: Path) -> None:
    """Run the paper's experiments and report which of its claims hold.

    The toy figure, accuracy against wrong labels on nine data sets under both protocols, corrupted images, convergence
    and cost. Every fit is recorded as soon as it is finished: an interrupted run resumes with the same command. Writes
    CSV files, figures, README.md and report.html. The full run takes hours.
    """
    from rich.text import Text

    from robustlda.cli.screen import Screen
    from robustlda.experiments.paper import claims, report, results
    from robustlda.output import printable, results_folder

    options.use_folder(data_dir)
    available, missing = ([], []) if report_only else _available()
    options.check_jobs(jobs)
    if report_only and not any((out / name).exists() for name in RECORDS):
        raise ValueError(f"{out} holds no results to report; run the command without --report-only first.")
    click.get_current_context().with_resource(results_folder(out, alone=FILES))
    _refuse_files_of_others(out)
    screen = Screen()
    for reason in missing:
        screen.print(Text.assemble(("skipped", "magenta"), " ", printable(reason)))
    if not report_only:
        _run(available, quick, jobs, out, screen)
    command = "robustlda reproduce --data-dir FOLDER" + (" --quick" if quick else "")
    found = results.read(out)
    written = report.document(found, command).write(out)
    screen.print(_verdicts(claims.all_claims(found)))
    screen.print(f"Wrote {out / 'README.md'}, {out / 'report.html'} and {(len(written) - 2) // 2} figures.")


def _refuse_files_of_others(out: Path) -> None:
    """A report is replaced if it is ours, and nothing else."""
    from robustlda.experiments.paper.report import FIGURES, TITLE
    from robustlda.output import new_files

    readme = out / "README.md"
    files = [readme, out / "report.html", *(out / f"{name}.{kind}" for name in FIGURES for kind in ("svg", "png"))]
    new_files(files, force=True)
    ours = readme.exists() and readme.read_text(encoding="utf-8", errors="replace").startswith(f"# {TITLE}")
    for path in files:
        if path.exists() and not ours:
            raise FileExistsError(f"{path} is not a report of this command; move it, or choose another folder.")


def _available() -> tuple[list[str], list[str]]:
    """Which of the nine data sets can be loaded, and why the others cannot."""
    from robustlda.datasets.catalogue import CATALOGUE
    from robustlda.experiments.paper.schedule import NINE

    reasons = {name: CATALOGUE[name].unavailable for name in NINE}
    available = [name for name, reason in reasons.items() if not reason]
    if not available:
        raise ValueError(f"None of the paper's data sets is available; {reasons[NINE[0]]}")
    return available, [reason for reason in reasons.values() if reason]


def _run(available: Sequence[str], quick: bool, jobs: int, out: Path, screen: "Screen") -> None:
    from robustlda.experiments import records
    from robustlda.experiments.paper import schedule

    for part in schedule.parts(available, quick=quick):
        todo = part.unfinished(out)
        screen.print(f"{part.title}: {len(todo)} of {len(part.units)} fits to do")
        with progress.shown(screen, len(part.units) - len(todo), len(part.units)) as advance:
            for record in records.carry_out(todo, part.run, out / part.file, jobs):
                advance(f"{part.title}, {getattr(record, 'dataset', '')}".rstrip(", "))


def _verdicts(found: "Sequence[Claim]") -> object:
    from rich import box
    from rich.table import Table

    screen = Table(box=box.SIMPLE_HEAD, title="\nWhat holds of the paper's claims", title_justify="left", leading=1)
    screen.caption, screen.caption_justify = "rLDA is the paper's method, RatioLDA; trLDA is trace-ratio LDA.", "left"
    for name in ("claim", "measured", "verdict"):
        screen.add_column(name)
    for claim in found:
        screen.add_row(claim.says, claim.found.replace("`", ""), claim.verdict)
    return screen
