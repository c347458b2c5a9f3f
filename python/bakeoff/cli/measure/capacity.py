"""`bakeoff capacity`: the highest load that meets an objective."""

import typer

from bakeoff.cli.measure.run import ClusterAddress, OutputFile, carry_out
from bakeoff.cli.options import with_plan_options
from bakeoff.cli.suite_command import SuiteCommand
from bakeoff.plan.load import PlanInput, with_flags


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("capacity", cls=SuiteCommand)(with_plan_options(capacity, searches=True))


def capacity(
    given: PlanInput,
    output: OutputFile = None,
    cluster: ClusterAddress = None,
) -> None:
    """Find the highest load each contender carries under an objective.

    bakeoff capacity web-url a=http://127.0.0.1:8080/ b=http://127.0.0.1:8081/ --objective 'p99<=50ms,errors<=0.1%'

    Each block has a search of its own for each contender, so that a capacity has an interval and two contenders get a
    verdict. Response times at shares of the capacity follow. A plan file with a table [capacity] does the same by
    `bakeoff run`. Exit codes are those of `bakeoff run`.
    """
    carry_out(with_flags(given, {}, {}, {}, given.capacity or {}), output, cluster)
