"""What the table is made of, read from the program itself: whatever is added to it is a row or a column here."""

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

from bakeoff import _engine
from bakeoff.cli.machines.serve import KINDS as TARGETS
from bakeoff.kinds.web.settings.http import HttpSettings
from bakeoff.load import load_step
from bakeoff.plan import suites as suites_folder
from bakeoff.plan.load import TABLES
from bakeoff.plan.settings.shared import Clock

SUITES = tuple(sorted(path.stem for path in Path(suites_folder.__file__).parent.glob("*.toml")))

CLOSED, IN_FLIGHT, RATE, CAPACITY = "closed loop", "in flight", "rate", "capacity"
SOAK, HTTP_2, HTTP_3, AGENTS = "soak", "HTTP/2", "HTTP/3", "several agents"
# Which load each sort of load step, version of HTTP, table of a plan and entry of a trial's clock stands for; empty for
# what is no load of its own.
# What files of other tools state was not measured here: no server meets it.
LOAD_STEPS = {"Clients": CLOSED, "InFlight": IN_FLIGHT, "Rate": RATE, "OfCapacity": CAPACITY, "StatedLoad": ""}
VERSIONS = {"1.0": "", "1.1": "", "2": HTTP_2, "3": HTTP_3}
PLAN_TABLES = {
    "plan": "", "settings": "", "contender": "", "factors": "",
    "capacity": CAPACITY, "fleet": AGENTS, "agents": AGENTS,
}  # fmt: skip
CLOCKS = {
    "ramp_up_s": "", "ramp_down_s": "", "delay_s": "", "operations": "", "load_threads": "", "connect_timeout_s": "",
    "interval_s": SOAK,
}  # fmt: skip
LOADS = tuple(
    dict.fromkeys(filter(None, [*LOAD_STEPS.values(), *CLOCKS.values(), *VERSIONS.values(), *PLAN_TABLES.values()]))
)


def keys_of(target: str) -> tuple[str, ...]:
    """All settings of a built-in target, as it names them itself to who gives one that it does not have."""
    try:
        _engine.serve(json.dumps({"kind": target, "?": None}))
    except _engine.SpecError as error:
        return tuple(re.findall(r"`([a-z0-9_]+)`", str(error)))
    raise AssertionError(f"the target {target} takes any setting")


def without_a_load() -> list[str]:
    """Ways to load that no load of the table stands for."""
    found = {
        "load_steps": ({sort.__name__ for sort in get_args(load_step.LoadStep)}, LOAD_STEPS),
        "versions of HTTP": (set(get_args(get_args(HttpSettings.__annotations__["http"])[0])), VERSIONS),
        "tables of plans": (set(TABLES), PLAN_TABLES),
        "clock of trials": ({field.name for field in fields(Clock)}, CLOCKS),
    }
    return [f"{what}: {name}" for what, (there, known) in found.items() for name in sorted(there ^ set(known))]


__all__ = ["LOADS", "SUITES", "TARGETS", "keys_of", "without_a_load"]
