"""Standard output as a Rich console."""

import os
import sys

from rich.console import Console

# Tables of a pipe or a log file are not to be folded at 80 columns.
PIPE_WIDTH = 240


def make_console() -> Console:
    """As wide as the terminal, or as COLUMNS says; in a pipe wide enough for every table."""
    given = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, width=None if given else PIPE_WIDTH)
