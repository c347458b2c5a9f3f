"""`bakeoff aa`: what a set-up shows of a server against itself."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import typer

from bakeoff.cli.measure.run import OutputFile, carry_out
from bakeoff.cli.options import with_plan_options
from bakeoff.cli.suite_command import SuiteCommand
from bakeoff.core.errors import PlanError
from bakeoff.plan.design.shared_addresses import AGAIN
from bakeoff.plan.load import PlanInput

BLOCKS = 12


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("aa", cls=SuiteCommand)(with_plan_options(aa, arranged=suite_first))


def suite_first(words: list[str]) -> list[str]:
    """The suite before the contender, in whichever order they stand. Raises PlanError without one."""
    named = [word for word in words if "=" in word and not Path(word).is_file()]
    others = [word for word in words if word not in named]
    if not others:
        what = f"bakeoff aa {named[0]} web-static" if named else "bakeoff aa NAME=ADDRESS web-static"
        raise PlanError(f"name the suite whose noise to measure, such as {what}; `bakeoff suites` lists them")
    return [*others, *named]


def aa(given: PlanInput, output: OutputFile = None) -> None:
    """Measure the noise floor: one server as two contenders.

    bakeoff aa nginx=http://127.0.0.1:8080 web-static

    What equals differ by here is what no verdict on this set-up may be smaller than. It says how the ratios of blocks
    spread, which difference so many blocks can show, whether the order in a block matters, and how often equals are
    told apart. Reports of other runs quote it when its file, aa-SUITE-DATE.bakeoff, lies beside theirs, or by --aa.

    Settings are those of `bakeoff run`; 12 blocks unless others are asked for. Exit codes are those of `bakeoff run`.
    """
    if given.campaign is not None or given.repeats is not None:
        raise PlanError("an A/A run is of one suite: name the suite, or its plan file, and one contender")
    if len(given.contenders) != 1:
        raise PlanError(f"one contender is measured against itself, not {len(given.contenders)}: give one NAME=ADDRESS")
    (one,) = given.contenders
    plan = dict(given.plan)
    if not any(plan.get(name) for name in ("blocks", "interim_analyses")):
        plan["blocks"] = BLOCKS
    twice = [one, {**one, "name": f"{one.get('name')}{AGAIN}"}]
    path = output or Path(f"aa-{plan.get('suite')}-{datetime.now():%Y%m%d-%H%M%S}.bakeoff")
    carry_out(replace(given, plan=plan, contenders=twice), path, None)
