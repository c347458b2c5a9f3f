"""The command line: one file per verb, each with `register(app)`."""

from typing import NoReturn


def main() -> NoReturn:
    """The `bakeoff` command."""
    from bakeoff.cli.app import main as run_command_line  # importing a verb must not import all of them

    run_command_line()
