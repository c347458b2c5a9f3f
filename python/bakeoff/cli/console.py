"""Standard output as a Rich console."""

import sys

from rich.console import Console

PIPE_WIDTH = 200


def make_console() -> Console:
    """As wide as the terminal; in a pipe wide enough for every table."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
