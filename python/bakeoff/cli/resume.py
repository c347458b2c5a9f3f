"""`bakeoff resume`: finish an interrupted run."""

from pathlib import Path
from typing import Annotated

import typer

from bakeoff.agents.local import LocalAgent
from bakeoff.cli.result import print_result, stop_cleanly
from bakeoff.cli.run import make_observer
from bakeoff.run.driver import RunInterruptedError, resume_run


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("resume")(resume)


def resume(
    path: Annotated[Path, typer.Argument(metavar="RUN.bakeoff", help="Run file of an interrupted run.")],
) -> None:
    """Finish a run that was interrupted: the trials that are missing run, the others stay as they are."""
    try:
        done = resume_run(path, LocalAgent(), make_observer())
    except RunInterruptedError as stop:
        stop_cleanly(stop)
    if not done:
        typer.echo(f"{path} is complete: nothing was left to do", err=True)
    print_result(path)
