"""`bakeoff resume`: finish an interrupted run."""

import re
from pathlib import Path
from typing import Annotated

import typer

from bakeoff.agents.base import Agent
from bakeoff.agents.make import make_agents
from bakeoff.cli.complete import plan_files, run_files
from bakeoff.cli.measure.prompts import make_prompts
from bakeoff.cli.measure.result import print_result, stop_cleanly
from bakeoff.cli.measure.run import ClusterAddress, make_observer
from bakeoff.core.errors import PlanError
from bakeoff.plan.input.stored import stored_plan
from bakeoff.plan.load import read_plan_file, resolve_plan
from bakeoff.run.checks.trust import acts
from bakeoff.run.driver import RunInterruptedError, resume_run
from bakeoff.run.modes.amend import Asked
from bakeoff.store.collections.campaign import is_campaign_folder
from bakeoff.store.sqlite.read import read_run


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("resume")(resume)


def resume(
    path: Annotated[Path, typer.Argument(metavar="RUN.bakeoff", help="Run file.", autocompletion=run_files)],
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            metavar="PLAN.toml",
            autocompletion=plan_files,
            help="Plan file of the run, if it was not started here by you.",
        ),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Carry out the plan in the run file, whatever its origin.")
    ] = False,
    cluster: ClusterAddress = None,
    blocks: Annotated[
        str | None,
        typer.Option("--blocks", metavar="+N", help="Add blocks to the run, finished or not, such as +7."),
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option("--retry-failed", help="Repeat failed and voided trials; they are kept, and named in the report."),
    ] = False,
) -> None:
    """Finish a run that was interrupted.

    The trials that are missing run; the others stay as they are.

    A run file that was not started here by you may hold anybody's shell commands and addresses: nothing of its plan is
    done before you give the plan file that says the same, or --trust.

    Blocks that are added have been asked for after an analysis of the others: the report says so, and tests and
    intervals are stricter for it. Plans with --interim-analyses have fixed beforehand when they may be analysed, which
    costs less.

    Exit codes are those of `bakeoff run`.
    """
    if is_campaign_folder(path):
        if plan is not None or blocks is not None or retry_failed:
            raise PlanError(f"{path} is a campaign: give --plan, --blocks and --retry-failed with a run file of it")
        from bakeoff.cli.measure.campaign import go_on

        go_on(path, cluster, trust, make_observer())
        return
    given = None if plan is None else resolve_plan(read_plan_file(plan))
    asked = Asked(_more_blocks(blocks), retry_failed)
    run = read_run(path)

    def agents() -> list[Agent]:
        """Made when there is something to do."""
        stored = stored_plan(run)
        if trust:
            for line in acts(stored):
                typer.echo(f"trusted: {line}", err=True)
        return list(make_agents(stored, cluster, [agent.name for agent in run.agents]))

    try:
        done = resume_run(path, agents, make_observer(), given, trust, asked, make_prompts())
    except RunInterruptedError as stop:
        stop_cleanly(stop)
    if not done:
        nothing = " and no trial failed" if retry_failed else ""
        typer.echo(f"{path} is complete{nothing}: there is nothing to do", err=True)
    print_result(path)


def _more_blocks(text: str | None) -> int:
    """The number of blocks to add. Raises PlanError."""
    if text is None:
        return 0
    if not re.fullmatch(r"\+[0-9]{1,4}", text) or not int(text):
        raise PlanError(f"--blocks {text!r}: say how many blocks to add, such as --blocks +7")
    return int(text)
