"""What a plan may say is what the engine takes, to the last client."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from bakeoff import _engine
from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import NullWorkload, TrialSpec
from bakeoff.core.errors import PlanError
from bakeoff.kinds.web.plan import WebSettings
from bakeoff.load.arrivals import Arrivals, Burst, Constant, OnOff, Poisson, Ramp, Replay, Steps, Uniform
from bakeoff.load.load_step import RATE_MAX_PER_S, Clients, LoadStep, Rate
from bakeoff.plan.settings.shared import (
    CLIENTS_MAX,
    INTERVAL_MIN_S,
    INTERVALS_MAX,
    LENGTH_MAX_S,
    LOAD_THREADS_MAX,
    SESSIONS_MAX,
)

ARRIVALS: list[Arrivals] = [
    Constant(),
    Poisson(),
    Uniform(),
    Ramp(0.2, 1.8),
    Steps(((0.5, 10.0), (0.0, 1.0), (2.0, 5.0))),
    Burst(10),
    OnOff(1.0, 4.0),
    Replay((0.0, 0.25, 0.25, 0.7)),
]
MOST = {
    "clients": CLIENTS_MAX,
    "rate_per_s": RATE_MAX_PER_S,
    "sessions": SESSIONS_MAX,
    "load_threads": LOAD_THREADS_MAX,
    "length_s": LENGTH_MAX_S,
    "row_min_s": INTERVAL_MIN_S,
    "intervals": INTERVALS_MAX,
}
WITHIN: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"clients": CLIENTS_MAX}, {"load": Clients(CLIENTS_MAX)}),
    ({"clients": SESSIONS_MAX // 2, "virtual_users": 2}, {"load": Clients(SESSIONS_MAX // 2), "virtual_users": 2}),
    ({"load_threads": LOAD_THREADS_MAX}, {"load_threads": LOAD_THREADS_MAX}),
    ({"length": f"{LENGTH_MAX_S:.0f}s"}, {"length_s": LENGTH_MAX_S}),
    ({"think": f"{LENGTH_MAX_S:.0f}s"}, {"think_s": LENGTH_MAX_S}),
    ({"reply_timeout": f"{LENGTH_MAX_S:.0f}s"}, {"reply_timeout_s": LENGTH_MAX_S}),
    ({"connect_timeout": f"{LENGTH_MAX_S:.0f}s"}, {"connect_timeout_s": LENGTH_MAX_S}),
]
BEYOND: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"clients": CLIENTS_MAX + 1}, {"load": Clients(CLIENTS_MAX + 1)}),
    (
        {"clients": SESSIONS_MAX // 4 + 1, "virtual_users": 4},
        {"load": Clients(SESSIONS_MAX // 4 + 1), "virtual_users": 4},
    ),
    ({"load_threads": LOAD_THREADS_MAX + 1}, {"load_threads": LOAD_THREADS_MAX + 1}),
    ({"length": f"{LENGTH_MAX_S + 1:.0f}s"}, {"length_s": LENGTH_MAX_S + 1}),
    ({"think": f"{LENGTH_MAX_S + 1:.0f}s"}, {"think_s": LENGTH_MAX_S + 1}),
    ({"reply_timeout": f"{LENGTH_MAX_S + 1:.0f}s"}, {"reply_timeout_s": LENGTH_MAX_S + 1}),
    ({"connect_timeout": f"{LENGTH_MAX_S + 1:.0f}s"}, {"connect_timeout_s": LENGTH_MAX_S + 1}),
]


def spec(**changes: Any) -> TrialSpec:
    return TrialSpec(**{"workload": NullWorkload(), "load": Clients(1), "length_s": 1.0, **changes})


def test_the_limits_are_the_same() -> None:
    assert dict(_engine.ForTests.limits()) == MOST


@pytest.mark.parametrize(("settings", "trial"), WITHIN)
def test_what_a_plan_may_say_the_engine_takes(settings: dict[str, Any], trial: dict[str, Any]) -> None:
    WebSettings.model_validate(settings)
    LocalAgent().accept(spec(**trial))


@pytest.mark.parametrize(("settings", "trial"), BEYOND)
def test_what_the_engine_refuses_a_plan_refuses(settings: dict[str, Any], trial: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        WebSettings.model_validate(settings)
    with pytest.raises(PlanError, match="the engine refuses the trial"):
        LocalAgent().accept(spec(**trial))


def test_checking_reads_the_workload_and_starts_nothing() -> None:
    text = json.loads(spec().to_json())
    _engine.check(json.dumps(text))
    for workload in ({"kind": "web"}, {"kind": "file-mix", "folder": 3}, {"kind": "nonsense"}, {}, 7):
        with pytest.raises(_engine.SpecError):
            _engine.check(json.dumps(text | {"workload": workload}))


@pytest.mark.parametrize("load", [Clients(3), *(Rate(500.0, arrivals, 8) for arrivals in ARRIVALS)])
def test_the_engine_takes_a_load_step_as_it_is_written(load: LoadStep) -> None:
    LocalAgent().accept(spec(load=load))
    assert TrialSpec.model_validate_json(spec(load=load).to_json()).load == load


@pytest.mark.parametrize("load", [{"rate": {"per_s": 5}}, {"rate": 5}, {"crowds": 1}, {}, 4])
def test_what_is_no_load_step_neither_side_takes(load: Any) -> None:
    text = json.dumps({"workload": {"kind": "null"}, "load": load, "length_s": 1.0})
    with pytest.raises(ValidationError):
        TrialSpec.model_validate_json(text)
    with pytest.raises(_engine.SpecError):
        _engine.check(text)
