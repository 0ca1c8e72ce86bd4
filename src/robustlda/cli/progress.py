"""A progress bar with the elapsed and the remaining time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robustlda.cli.screen import Screen


@contextmanager
def shown(screen: "Screen", done: int, total: int) -> Iterator[Callable[[str], None]]:
    """Yields a function to call after each piece of work with its description; `done` pieces were finished before."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("· left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task("fitting", total=total, completed=done)
        yield lambda words: progress.update(task, advance=1, description=words)
