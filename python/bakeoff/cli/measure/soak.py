"""`bakeoff soak`: a run of many hours at constant load, whose intervals are stored as they end."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from bakeoff.cli.measure.run import ClusterAddress, OutputFile, carry_out
from bakeoff.cli.options import with_plan_options
from bakeoff.cli.suite_command import SuiteCommand
from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_duration, parse_duration
from bakeoff.plan.load import PlanInput, resolve_plan, with_flags

# An interval without `--interval`: an hour, or a part of a short soak.
INTERVAL_S, MOST_INTERVALS = 3600.0, 30
ROUND_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, INTERVAL_S)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("soak", cls=SuiteCommand)(with_plan_options(soak))


def soak(
    given: PlanInput,
    length: Annotated[
        str | None,
        typer.Option("--for", metavar="TIME", help="How long each contender is measured, 28h; ramps come on top."),
    ] = None,
    output: OutputFile = None,
    cluster: ClusterAddress = None,
) -> None:
    """Load contenders for hours, and store the figures of each hour.

    bakeoff soak web-url nginx=http://127.0.0.1:8080 --for 28h --clients 8 --stop-if 'errors>1%,p99>2s for 3'

    One block unless --blocks says otherwise: trends and figures, no verdict. A crash loses at most the interval in
    progress, and `bakeoff resume` goes on with the time that is left. Ends with exit code 99 when a contender was
    stopped early.
    """
    carry_out(as_soak(given, length), output, cluster)


def as_soak(given: PlanInput, length: str | None) -> PlanInput:
    """`given` with what makes it a soak, where it does not say it itself. Raises PlanError without a length."""
    if (length is None) == ("length" not in given.settings):
        raise PlanError("give the length of the soak once: --for 28h")
    settings = {"length": given.settings.get("length", length)}
    settings["interval"] = given.settings.get("interval", _interval(str(settings["length"])))
    made = _with(given, {"blocks": given.plan.get("blocks", 1)}, settings)
    if length is None:
        return made
    clock = resolve_plan(made).settings.clock
    ramps = {"ramp_up": format_duration(clock.ramp_up_s), "ramp_down": format_duration(clock.ramp_down_s)}
    whole = format_duration(parse_duration(length) + clock.ramp_up_s + clock.ramp_down_s)
    return _with(made, {}, {**ramps, "length": whole})


def _with(given: PlanInput, plan: dict[str, Any], settings: dict[str, Any]) -> PlanInput:
    """`given` with settings that a refusal names by the flag they come from."""
    made = with_flags(given, plan, settings, {})
    return replace(made, flags={**made.flags, ("settings", "length"): "--for"})


def _interval(length: str) -> str:
    """An hour, or the round part of a shorter soak that gives one or two dozen intervals."""
    try:
        length_s = parse_duration(length)
    except ValueError:
        return format_duration(INTERVAL_S)  # the plan says what is wrong with the length
    return format_duration(
        next((interval for interval in ROUND_S if length_s <= interval * MOST_INTERVALS), INTERVAL_S)
    )
