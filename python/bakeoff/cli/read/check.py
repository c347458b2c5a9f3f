"""`bakeoff check`: a gate for build servers."""

from pathlib import Path
from typing import Annotated

import typer

from bakeoff.cli.complete import contenders, list_of, run_files
from bakeoff.cli.read.noise_floor import NoiseFile
from bakeoff.core.errors import PlanError
from bakeoff.core.system.atomic_write import write_whole
from bakeoff.core.units import parse_share
from bakeoff.noise_floors import noise_for
from bakeoff.store.collections.collection import THE_RUN
from bakeoff.store.sqlite.read import read_run

ENDPOINTS = ("p99", "p95", "p50", "mean", "throughput")


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("check")(check)


def share(flag: str, text: str) -> float:
    """`3%` or `0.03` as a number. Raises PlanError when it is neither."""
    try:
        return parse_share(text)
    except ValueError as error:
        raise PlanError(f"{flag}: {error}") from None


def endpoints(words: list[str]) -> dict[str, float | None]:
    """`p99=10%,mean` as limits by endpoint; None where none is given. Raises PlanError."""
    found: dict[str, float | None] = {}
    for word in ",".join(words).split(","):
        key, equals, limit = (part.strip() for part in word.partition("="))
        if not key and not words:
            continue
        if not key or key in found:
            what = f"{key} is named twice" if key else "an endpoint has no name"
            raise PlanError(f"--also: {what}: write each once, such as --also p99=10%,mean")
        found[key] = share(f"--also {key}", limit) if equals else None
    return found


def check(
    path: Annotated[Path, typer.Argument(metavar="RUN.bakeoff", help="Run file.", autocompletion=run_files)],
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=contenders,
            help="Reference that the others must not be worse than (default: the first of the plan).",
        ),
    ] = None,
    max_regression: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="How much worse the primary endpoint may be: 3% allows 0.97 of a rate, 1.03 of a time; 0% passes "
            "only a contender shown to be better (default: delta of the plan).",
        ),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ENDPOINT[=SHARE],...",
            autocompletion=list_of(ENDPOINTS),
            help="Check secondary endpoints as well, such as p99 or p99=10%; without a share by --max-regression.",
        ),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write JUnit's XML, with a test case for each endpoint and objective."),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write Markdown that fits a comment on a change.")
    ] = None,
    aa: NoiseFile = None,
    github: Annotated[
        bool, typer.Option("--github", help="Print annotations of GitHub Actions instead of sentences.")
    ] = False,
) -> None:
    """Say by exit code whether a contender is worse or misses a limit.

    bakeoff check web.bakeoff --baseline main --max-regression 3% --also p99=10% --junit check.xml

    It passes only when that is shown: the whole interval of the ratio over blocks lies on the allowed side. Where the
    interval lies beyond the limit it is worse, and else inconclusive, with the number of further blocks. Trials that
    failed, even when repeated, and whatever withholds a verdict make it void.

    Where the noise floor of the set-up was measured (`bakeoff aa`), it stands beside the verdict: "which is more than
    1 % worse; the noise floor of this set-up is 3.4 %". It changes no exit code, neither for better nor for worse.

    Where the plan has an objective (`bakeoff run … --objective 'p99<=50ms'`), each contender is held to it as well, and
    one contender is enough.

    Exit codes: 0 passed; 1 worse than allowed; 2 refused, in one sentence; 3 inconclusive; 4 void: nothing is
    comparable, or a contender failed; 5 the objective is not decided; 99 the objective is missed, whatever else is.
    """
    limit = None if max_regression is None else share("--max-regression", max_regression)
    limits = endpoints(also or [])
    for flag, target in (("--junit", junit), ("--markdown", markdown)):
        if target is not None and target.exists() and path.exists() and target.samefile(path):
            raise PlanError(f"{flag}: {target} is the run file itself: choose another name")
    from bakeoff.compare.limits.check import check_run  # NumPy and SciPy take a moment: refuse bad input first
    from bakeoff.report import check as forms

    run = read_run(path)
    noise = noise_for([path], aa).get(THE_RUN)
    found, comparison = check_run(run, limit, baseline, limits, noise)
    for line in forms.github(found) if github else forms.lines(found):
        typer.echo(line)
    if junit is not None:
        write_whole(junit, forms.junit(found), advice="choose another name")
    if markdown is not None:
        write_whole(markdown, forms.comment(found, run, comparison), advice="choose another name")
    raise typer.Exit(found.exit_code)
