"""`bakeoff challenge`: the plan of a report, for a contender that is not in it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli.complete import files
from bakeoff.cli.read.noise_floor import NoiseFile
from bakeoff.core.errors import RunFileError
from bakeoff.core.sanitize import sanitize
from bakeoff.noise_floors import noise_for
from bakeoff.report.renderers import form_of

if TYPE_CHECKING:
    from bakeoff.cli.share.challenge_source import ChallengeSource
    from bakeoff.plan.campaign import Campaign
    from bakeoff.plan.model import Plan
    from bakeoff.run.modes.challenge import Challenger, Rerun
    from bakeoff.store.collections.challenged import ChallengedCampaign


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
            help="Run these contenders of the report again in the same blocks (repeat, or list with commas), or none. "
            "Default: all that answer.",
        ),
    ] = None,
    reset: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Shell command that restores the challenger before each block."),
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
    campaign = _measure(read, own, rerun or [], trust, cluster, output)
    if report is not None:
        _write_report(output, report, force, aa)
    if campaign.is_one:
        from bakeoff.cli.measure.result import print_result

        print_result(output)
    else:
        from bakeoff.cli.measure.campaign import print_campaign

        print_campaign(output, aa)


def _measure(
    source: ChallengeSource, own: Challenger, words: list[str], trust: bool, cluster: str | None, output: Path
) -> Campaign:
    """Measure the challenger by the plans of a report when the user agrees to them, and give what was measured."""
    from bakeoff.agents.make import make_agents
    from bakeoff.cli.measure.campaign import start
    from bakeoff.cli.measure.run import make_observer
    from bakeoff.cli.share.challenge_source import agree
    from bakeoff.run.modes.challenge import chosen
    from bakeoff.run.modes.challenged_report import (
        challenged_by,
        challenging,
        report_to_challenge,
        rerun_plans,
        reruns_of,
    )

    report = report_to_challenge(source.data, own, str(source.path), source.stored)
    wanted = chosen(report.rivals, words)
    agree(source, rerun_plans(report, wanted), [mine for _, _, mine in report.again], trust)
    found = reruns_of(report, wanted, None if words else partial(make_agents, cluster=cluster))
    for suite in report.suites:
        if suite.left_out:
            typer.echo(f"{suite.name} is left out: {suite.left_out}", err=True)
        else:
            _print_rerun(own.name, found[suite.name], suite.name)
    campaign = challenging(report, own, found)
    challenges = challenged_by(report, own, found, source.path.name, source.sha256)
    if campaign.is_one:
        _start_run(campaign.suite_runs[0].plan, cluster, challenges, output)
    else:
        start(campaign, output, cluster, make_observer(), challenges)
    return campaign


def _start_run(plan: Plan, cluster: str | None, challenges: ChallengedCampaign, output: Path) -> None:
    from bakeoff.agents.make import make_agents
    from bakeoff.cli.measure.prompts import make_prompts
    from bakeoff.cli.measure.result import stop_cleanly
    from bakeoff.cli.measure.run import make_observer
    from bakeoff.run.driver import RunInterruptedError, start_run

    stored, agents = challenges.of("", ""), make_agents(plan, cluster)
    try:
        start_run(plan, output, agents, make_observer(), make_prompts(), challenges=stored)
    except RunInterruptedError as stop:
        stop_cleanly(stop)


def _print_rerun(name: str, found: Rerun, suite: str) -> None:
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
