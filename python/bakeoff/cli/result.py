"""What is printed when a run ends, however it ends."""

from pathlib import Path
from typing import NoReturn

import typer

from bakeoff.cli.console import make_console
from bakeoff.run.driver import RunInterruptedError
from bakeoff.run.soak import stopped_early
from bakeoff.run.trust import resume_command
from bakeoff.store.marks import UNBALANCED
from bakeoff.store.read import read_run

EXIT_INTERRUPTED = 130
EXIT_DEFECT = 1
EXIT_STOPPED = 99


def print_result(path: Path) -> None:
    """The verdict in one sentence and what to do next."""
    from bakeoff.compare import compare_run  # NumPy and SciPy take a moment: the run need not wait
    from bakeoff.report.compose import compose
    from bakeoff.report.depth import Depth
    from bakeoff.report.renderers.terminal import show

    console = make_console()
    run = read_run(path)
    show(compose(run, compare_run(run), depth=Depth.SUMMARY), console, Depth.SUMMARY)
    console.print(
        f"\nRun file: {path}\nNext: bakeoff compare {path}   |   bakeoff report {path} -o report.html",
        markup=False,
        soft_wrap=True,
    )
    if any(UNBALANCED in trial.marks for trial in run.trials):
        typer.echo("bakeoff: the ledger of messages does not balance in some trial: a defect of bakeoff", err=True)
        raise typer.Exit(EXIT_DEFECT)
    stopped = [trial for trial in run.trials if stopped_early(trial)]
    for trial in stopped:
        typer.echo(f"bakeoff: {trial.contender}: {trial.reason}", err=True)
    if stopped:
        raise typer.Exit(EXIT_STOPPED)


def stop_cleanly(stop: RunInterruptedError, instead: str | None = None) -> NoReturn:
    """Say what was kept and how to go on, by `instead` where resume could not; ends with exit code 130."""
    if stop.path is None:
        typer.echo("bakeoff: interrupted before anything was measured", err=True)
    else:
        run = read_run(stop.path)
        done = sum(t.state != "interrupted" for t in run.trials)
        typer.echo(
            f"bakeoff: interrupted; {done} of {run.trials_planned} trials are kept in {stop.path}. "
            + (instead or f"Go on with: {resume_command(run)}"),
            err=True,
        )
    raise typer.Exit(EXIT_INTERRUPTED)
