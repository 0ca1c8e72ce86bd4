"""`robustlda reproduce`: the paper's experiments, with a verdict on every claim."""

from pathlib import Path

import click

from robustlda.cli import options, progress


@click.command()
@options.data_dir
@click.option("--quick", is_flag=True, help="A small version of everything, in less than a quarter of an hour.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 uses every core.")
@click.option("--report-only", is_flag=True, help="Write figures and report from what is in the folder.")
@options.out("reproduction")
def reproduce(data_dir: Path | None, quick: bool, jobs: int, report_only: bool, out: Path) -> None:
    """Run the paper's experiments and say which of its claims hold.

    The toy figure, accuracy against wrong labels on nine data sets under both protocols, spoiled images, convergence
    and cost. Every fit is written down when it is done: a run that is broken off goes on where it was, with the same
    command. Writes CSV files, figures, README.md and report.html. The full run takes hours.
    """
    from rich.console import Console

    from robustlda.datasets import catalogue
    from robustlda.experiments import paper, paper_report, records
    from robustlda.output import writable_directory

    options.use_folder(data_dir)
    at_hand = [name for name in paper.NINE if not catalogue.CATALOGUE[name].missing]
    if not at_hand:
        raise ValueError(f"None of the paper's data sets is at hand; {catalogue.CATALOGUE[paper.NINE[0]].missing}")
    if jobs == 0:
        raise ValueError("--jobs 0 leaves nobody to do the work; use 1, or -1 for every core.")
    writable_directory(out)
    console = Console(highlight=False)
    for name in paper.NINE:
        if name not in at_hand:
            console.print(f"[yellow]left out[/yellow] {catalogue.CATALOGUE[name].missing}")
    for part in [] if report_only else paper.plan(at_hand, quick=quick):
        todo = part.unfinished(out)
        console.print(f"{part.title}: {len(todo)} of {len(part.units)} fits to do")
        with progress.shown(console, len(part.units) - len(todo), len(part.units)) as advance:
            for record in records.carry_out(todo, part.run, out / part.file, jobs):
                advance(f"{part.title}, {getattr(record, 'dataset', '')}".rstrip(", "))
    command = "robustlda reproduce --data-dir FOLDER" + (" --quick" if quick else "")
    report = paper_report.document(out, command)
    written = report.write(out)
    console.print(_verdicts(report))
    console.print(f"Wrote {out / 'README.md'}, {out / 'report.html'} and {(len(written) - 2) // 2} figures.")


def _verdicts(report: object) -> object:
    from rich import box
    from rich.table import Table as Screen

    from robustlda.report.document import Document, Table

    assert isinstance(report, Document)
    table = next(block for block in report.blocks if isinstance(block, Table))
    screen = Screen(box=box.SIMPLE_HEAD, title="\nWhat holds of the paper's claims", title_justify="left")
    for name in table.columns[:3]:
        screen.add_column(name)
    for row in table.rows:
        screen.add_row(*(cell.replace("**", "").replace("`", "") for cell in row[:3]))
    return screen
