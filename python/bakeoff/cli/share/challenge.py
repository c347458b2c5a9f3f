"""`bakeoff challenge`: the plan of a report, for a contender that is not in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bakeoff.cli.complete import files
from bakeoff.cli.read.noise_floor import NoiseFile
from bakeoff.core.errors import PlanError, RunFileError
from bakeoff.core.sanitize import sanitize
from bakeoff.noise_floors import noise_for
from bakeoff.report.renderers import form_of

if TYPE_CHECKING:
    from bakeoff.cli.share.challenge_source import Source
    from bakeoff.plan.model import Contender, Plan
    from bakeoff.run.modes.challenge import Challenger, Rerun


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("challenge")(challenge)


def challenge(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="REPORT",
            help="The report (.html or .pdf) whose plan is carried out, its run file, or the folder of its campaign.",
            autocompletion=files(".html", ".htm", ".pdf", ".bakeoff"),
        ),
    ],
    challengers: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=ADDRESS",
            help="The contender that challenges. Of a campaign with an address for each sort of suite: "
            "mine:web=http://127.0.0.1:8080 mine:files=/mnt/mine.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="RUN.bakeoff",
            help="Run file to write, or folder where the report is on a campaign.",
            autocompletion=files(),
        ),
    ],
    report: Annotated[
        Path | None,
        typer.Option(metavar="NEW.html", help="Write its report, too: .html, .pdf, .md or .txt."),
    ] = None,
    rerun: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Run these contenders of the report again, beside it (may be repeated, or with commas), or none. "
            "Default: all that answer.",
        ),
    ] = None,
    reset: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Shell command that restores the challenger before each visit."),
    ] = None,
    settings_of: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Contender of the report whose settings the challenger has, where not all have the same.",
        ),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Carry out the plan of the report without asking, whatever its origin.")
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", envvar="BAKEOFF_CLUSTER", help="Send the load from machines of this cluster."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the new report if it exists.")] = False,
    aa: NoiseFile = None,
) -> None:
    """Measure another contender by the plan of a report.

    bakeoff challenge report.html mine=http://127.0.0.1:8080 -o challenged.bakeoff --report challenged.html

    Contenders of the report that answer are measured again, in the same blocks as the challenger: verdicts are of these
    blocks. Others are named; what the report says of them is divided, unpaired and without a verdict. The new run file
    and its reports hold what the challenged report holds, with its SHA-256. The noise floor of the set-up is quoted
    where it was measured (`bakeoff aa`).

    A report on a campaign is challenged in all suites for which the challenger has an address, as one campaign again;
    the others are named, and without them there is no verdict over all suites:

    bakeoff challenge paper.html mine:web=http://127.0.0.1:8080 mine:files=/mnt/mine -o challenged.bakeoff

    A report comes from anywhere: addresses and commands of its plan are shown, and nothing of it is done without your
    word (at a terminal it is asked for, elsewhere --trust gives it).

    Exit codes: as of `bakeoff run`.
    """
    from bakeoff.cli.read.report import check_target

    if report is not None:
        check_target([output, source], report, force)
    if output.exists():
        raise RunFileError(f"{output} exists already: choose another name with -o")
    from bakeoff.cli.share.challenge_source import read_source
    from bakeoff.run.modes.challenge import challenger

    own = challenger(challengers, reset, settings_of)
    for path in aa or []:
        noise_for([output], [path])  # one that is none is refused before anything is measured
    read = read_source(source)
    if read.is_campaign:
        from bakeoff.cli.share.challenge_campaign import challenge_campaign

        challenge_campaign(read, own, rerun or [], trust, cluster, output)
    else:
        _challenge_run(read, own, rerun or [], trust, cluster, output)
    if report is not None:
        _write_report(output, report, force, aa)
    if read.is_campaign:
        from bakeoff.cli.measure.campaign import print_campaign

        print_campaign(output, aa)
    else:
        from bakeoff.cli.measure.result import print_result

        print_result(output)


def _challenge_run(
    source: Source, own: Challenger, words: list[str], trust: bool, cluster: str | None, output: Path
) -> None:
    from bakeoff.agents.make import make_agents
    from bakeoff.cli.share.challenge_source import agree
    from bakeoff.run.modes.challenge import challenger_of, chosen, rerun_of, with_contenders

    plan = _plan(source)
    made = challenger_of(plan, own)
    wanted = chosen([contender.name for contender in plan.contenders], words)
    others = with_contenders(plan, [each for each in plan.contenders if each.name in wanted])
    agree(source, [others], [made], trust)
    agents = make_agents(plan, cluster)
    found = rerun_of(plan, wanted, None if words else lambda: agents)
    print_rerun(made.name, found)
    _carry_out(source, plan, made, found, agents, output)


def print_rerun(name: str, found: Rerun, suite: str = "") -> None:
    """Who of a report's contenders is measured again, and who is not, and why."""
    from bakeoff.run.modes.challenge import NOT_WANTED

    of = f"{suite}: " if suite else ""
    for absent, why in found.absent.items():
        if why != NOT_WANTED:
            typer.echo(f"{of}{absent} is left out: {sanitize(why)}", err=True)
    named = " and ".join(contender.name for contender in found.again)
    typer.echo(
        f"{of}{name} is measured beside {named}"
        if named
        else f"{of}{name} is measured alone: there will be no verdict",
        err=True,
    )


def _plan(source: Source) -> Plan:
    """The plan that a report holds. Raises PlanError where it holds none that can be carried out."""
    from bakeoff.run.modes.challenge import foreign_plan, refuse_hidden

    table = source.data.get("plan")
    if not isinstance(table, dict) or not table:
        raise PlanError(f"{source.path} holds no plan: what another tool measured cannot be measured again")
    if not source.stored:
        refuse_hidden(table, str(source.path))
    return foreign_plan(table, str(source.path))


def _carry_out(source: Source, plan: Plan, own: Contender, found: Rerun, agents: Any, output: Path) -> None:
    from bakeoff.cli.measure.prompts import make_prompts
    from bakeoff.cli.measure.result import stop_cleanly
    from bakeoff.cli.measure.run import make_observer
    from bakeoff.run.driver import RunInterruptedError, start_run
    from bakeoff.run.modes.challenge import kept_data, with_contenders

    challenges = {
        "report": source.path.name,
        "sha256": source.sha256,
        "challenger": own.name,
        "contenders": [contender.name for contender in plan.contenders],
        "absent": dict(found.absent),
        "data": kept_data(source.data),
    }
    try:
        whole = with_contenders(plan, (*found.again, own))
        start_run(whole, output, agents, make_observer(), make_prompts(), challenges=challenges)
    except RunInterruptedError as stop:
        stop_cleanly(stop)


def _write_report(run: Path, target: Path, force: bool, aa: list[Path] | None) -> None:
    from bakeoff.cli.read.report import write_report
    from bakeoff.cli.read.report_inputs import make_report
    from bakeoff.report.embed.report_options import ReportOptions
    from bakeoff.report.renderers import renderer

    form = form_of(target)
    assert form is not None  # it was checked before
    chosen = renderer(form)
    chosen.prepare()
    made, _ = make_report([run], ReportOptions(), form, aa)
    write_report(chosen, made, target, force)
    typer.echo(f"Report: {target}")
