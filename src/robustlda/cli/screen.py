"""What is printed: plain text, in which nothing from a table or a name can style, move or erase anything."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from robustlda.output import printable

LEGIBLE = Theme({"progress.elapsed": "default", "progress.remaining": "default", "progress.download": "default"})
"""Yellow, cyan and light green, in which rich shows progress, cannot be read on a light background."""


class Screen(Console):
    """A console that interprets no markup and shows no control characters, whoever wrote the text.

    Lines are wrapped in terminals only: in a log, no word of a table comes to stand at the beginning of a line, where
    some services look for commands.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, theme=LEGIBLE, **settings)
        self.soft_wrap = not self.is_terminal

    def render_str(self, text: str, **settings: Any) -> Text:
        return super().render_str("\n".join(map(printable, text.split("\n"))), **settings)

    @contextmanager
    def working(self, words: str) -> Iterator[Callable[[str], None]]:
        """Shows in a terminal what is being done; yields a function that changes it."""
        with self.status(Text(printable(words))) as status:
            yield lambda words: status.update(Text(printable(words)))
