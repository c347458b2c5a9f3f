"""Standard output and error as Rich consoles."""

import os
import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from bakeoff.core.sanitize import sanitize

# Tables of a pipe or a log file are not to be folded at 80 columns.
PIPE_WIDTH = 240


class SanitizingConsole(Console):
    """Draws with escape sequences of its own and shows those of others: text comes from servers and files."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else sanitize(segment.text)
            yield segment if text is segment.text else Segment(text, segment.style)


def make_console(stderr: bool = False, pipe_width: int = PIPE_WIDTH) -> Console:
    """As wide as the terminal, or as COLUMNS says; in a pipe wide enough for every table, unless it is told."""
    given = stderr or sys.stdout.isatty() or "COLUMNS" in os.environ
    return SanitizingConsole(stderr=stderr, highlight=False, width=None if given else pipe_width)


def print_line(console: Console, text: str) -> None:
    """Text as it is, in one line however long, so that what reads a pipe has it whole."""
    console.print(text, markup=False, soft_wrap=True)
