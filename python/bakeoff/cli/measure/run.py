"""`bakeoff run`: run a plan into a run file and print the result."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from bakeoff.agents.make import make_agents
from bakeoff.cli.console import make_console
from bakeoff.cli.measure.prompts import make_prompts
from bakeoff.cli.measure.result import print_result, stop_cleanly
from bakeoff.cli.options import with_plan_options
from bakeoff.cli.suite_command import SuiteCommand
from bakeoff.core.errors import ContenderError
from bakeoff.plan.design.durations import ExpectedDuration
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.run.checks.trust import acts, repeated_plan
from bakeoff.run.driver import RunInterruptedError, start_run
from bakeoff.run.kind import run_part
from bakeoff.run.observe.live import LiveObserver
from bakeoff.run.observe.observer import Observer, PlainObserver
from bakeoff.run.observe.observer_group import Observers
from bakeoff.store.records.run_records import RunRecord

OutputFile = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="RUN.bakeoff", help="Run file to write; by default SUITE-DATE-TIME.bakeoff."
    ),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        envvar="BAKEOFF_CLUSTER",
        help="Send the load from machines of the cluster that `bakeoff cluster start` began at this address.",
    ),
]
Calibrate = Annotated[
    bool,
    typer.Option("--calibration/--no-calibration", help="Of file suites: try the folders for a moment."),
]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("run", cls=SuiteCommand)(with_plan_options(run))


def run(
    given: PlanInput,
    output: OutputFile = None,
    cluster: ClusterAddress = None,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Of a run file: carry out its plan without asking, whatever its origin."),
    ] = False,
    calibrate: Calibrate = True,
) -> None:
    """Compare contenders by a suite, a plan file, a run, or a campaign.

    bakeoff run web-static nginx=http://127.0.0.1:8080 apache=http://127.0.0.1:8081 --size quick

    `bakeoff run SUITE --help` shows the settings of one suite, those that are given most first.

    With --objective 'p99<=50ms' one contender is enough: the exit code says whether each contender meets it at each
    load. It is met when every usable trial meets it, and missed when one misses it; failed trials miss it.

    Exit codes: 0 measured, and the objective met; 2 refused, in one sentence; 3 measured, but nothing is comparable;
    4 measured, and a contender failed; 5 the objective is not decided, as trials are void or too short; 99 the
    objective is missed; 130 interrupted, with all that was measured kept.
    """
    carry_out(given, output, cluster, trust, calibrate)


def carry_out(
    given: PlanInput, output: Path | None, cluster: str | None, trust: bool = False, calibrate: bool = True
) -> None:
    """Run a plan into its file, or a campaign into its folder, and print the result."""
    if given.campaign is not None:
        from bakeoff.cli.measure.campaign import run_campaign

        run_campaign(given, output, cluster, make_observer())
        return
    plan = resolve_plan(given) if given.repeats is None else _again(given, given.repeats, trust)
    path = output or default_path(plan)
    try:
        agents = make_agents(plan, cluster)
        found = _foreseen(plan, calibrate) if cluster is None and not path.exists() else None
        start_run(plan, path, agents, make_observer(found), make_prompts())
    except RunInterruptedError as stop:
        stop_cleanly(stop)
    print_result(path)


def _again(given: PlanInput, run: RunRecord, trust: bool) -> Plan:
    """The plan of a run, when the user agrees to what it does."""
    resolve_plan(given)  # refuses what is given beside it
    lines = sys.stdin.isatty() and sys.stderr.isatty()
    plan = repeated_plan(run, trust, _ask if lines else None)
    if plan is None:
        typer.echo("nothing was done", err=True)
        raise typer.Exit(2)
    if not lines:
        for line in acts(plan):
            typer.echo(f"{'trusted' if trust else 'again'}: {line}", err=True)
    return plan


def _ask(what: list[str]) -> bool:
    typer.echo("To repeat this run would:\n" + "".join(f"  {line}\n" for line in what), err=True, nl=False)
    return typer.confirm("Do all of this?", err=True)


def default_path(plan: Plan) -> Path:
    """A name in the working folder that sorts by time."""
    return Path(f"{plan.suite}-{datetime.now():%Y%m%d-%H%M%S}.bakeoff")


def _foreseen(plan: Plan, calibrate: bool) -> ExpectedDuration | None:
    """How long the run takes by a look at its contenders; None for those that other machines see, or that are reset
    before they can be used.
    """
    if plan.fleet.agents > 1 or any(contender.reset for contender in plan.contenders):
        return None
    try:
        return run_part(plan.kind).foresee(plan, calibrate, acts=True).expected
    except ContenderError:
        return None  # the checks of the run refuse it, and they know what an earlier run left there


def make_observer(found: ExpectedDuration | None = None) -> Observer:
    """Everyone who watches a run: the live display on a terminal, plain lines elsewhere, both on standard error."""
    console = make_console(stderr=True)
    return Observers(LiveObserver(console, found) if console.is_terminal else PlainObserver(sys.stderr, found))
