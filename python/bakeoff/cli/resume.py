"""`bakeoff resume`: finish an interrupted run."""

from pathlib import Path
from typing import Annotated

import typer

from bakeoff.agents.make import make_agents
from bakeoff.cli.result import print_result, stop_cleanly
from bakeoff.cli.run import ClusterAddress, make_observer
from bakeoff.plan.load import read_plan_file, resolve_plan
from bakeoff.plan.stored import stored_plan
from bakeoff.run.driver import RunInterruptedError, resume_run
from bakeoff.run.trust import acts
from bakeoff.store.read import pending, read_run


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("resume")(resume)


def resume(
    path: Annotated[Path, typer.Argument(metavar="RUN.bakeoff", help="Run file of an interrupted run.")],
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="PLAN.toml", help="Plan file of the run, if it was not started here by you."),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Do what the plan in the run file says, wherever the file came from.")
    ] = False,
    cluster: ClusterAddress = None,
) -> None:
    """Finish a run that was interrupted: the trials that are missing run, the others stay as they are.

    A run file that was not started here by you may hold anybody's shell commands and addresses: nothing of its plan is
    done before you give the plan file that says the same, or --trust.
    """
    given = None if plan is None else resolve_plan(read_plan_file(plan))
    run = read_run(path)
    if run.finished_at is not None and not pending(path):
        _tell_complete(path)
        return
    stored = stored_plan(run)
    if trust:
        for line in acts(stored):
            typer.echo(f"trusted: {line}", err=True)
    try:
        done = resume_run(
            path, make_agents(stored, cluster, [agent.name for agent in run.agents]), make_observer(), given, trust
        )
    except RunInterruptedError as stop:
        stop_cleanly(stop)
    if not done:
        _tell_complete(path)
        return
    print_result(path)


def _tell_complete(path: Path) -> None:
    typer.echo(f"{path} is complete: nothing was left to do", err=True)
    print_result(path)
