"""The command line: one file per verb, each with `register(app)`."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """The `bakeoff` command."""
    try:
        from bakeoff.cli.app import main as run_command_line  # importing a verb must not import all of them
    except MemoryError:
        sys.exit(_too_small())
    from bakeoff.core.system.own_process import own_process

    own_process()
    run_command_line()


def _too_small() -> int:
    sys.stderr.write("bakeoff: there is not enough memory to begin: raise the limit (`ulimit -v`)\n")
    return 2
