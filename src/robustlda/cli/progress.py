"""A line that shows how far long work has come, and how long it will still take."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def shown(console: "Console", done: int, total: int) -> Iterator[Callable[[str], None]]:
    """Call what this gives after each piece, with a word on what it was; `done` pieces were there before."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("· left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("fitting", total=total, completed=done)
        yield lambda words: progress.update(task, advance=1, description=words)
