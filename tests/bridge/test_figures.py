"""What trials tell of themselves: the engine's JSON fits the models of the kinds, and each name that a model knows is
one that the engine tells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from bakeoff import _engine
from bakeoff.agents.local import LocalAgent
from bakeoff.kinds import KINDS
from bakeoff.kinds.spec import new_mark
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan, with_flags
from bakeoff.plan.settings.access import AccessLine, AccessSpec
from bakeoff.run.checks.specs import trial_spec
from bakeoff.run.kind import run_part
from bakeoff.store.records.figures import Common, Figures, Shape, figures_of, parsed
from tests import mailtools
from tests.conftest import Target, app_workload, run_trial, web_workload
from tests.control import PATIENCE_S
from tests.files import test_blocks, test_matrix, test_mix

# What is told only at times, or put beside by the record of a trial.
AT_TIMES = {
    *Common.model_fields,
    "began_at",
    "failed",
    "outside",
    "outside_s",
    "polled_share",
    "put_back",
    "stale_connections",
    "stated",
    "cells",
    "soak",
}
# Who failed is listed where somebody did, and what was looked at again where something was written.
BELOW_AT_TIMES = re.compile(r"done\.\w+\.failing_(?:mailboxes|clients)\.\w+|(?:read_back|worked_again|results)\.\w+")
MakeTarget = Callable[..., Target]


def shapes_in(hint: Any) -> Iterator[type[Shape]]:
    """The models that a field leads to."""
    if isinstance(hint, type) and issubclass(hint, Shape):
        yield hint
    for inner in get_args(hint):
        yield from shapes_in(inner)


def objects_in(value: Any, named: bool) -> Iterator[dict[str, Any]]:
    """The JSON objects of a field; with `named` those below the names of an object."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))
    elif isinstance(value, dict):
        if named:
            for item in value.values():
                yield from objects_in(item, named=False)
        else:
            yield value


def never_reported(model: type[Shape], given: list[dict[str, Any]], at: str = "") -> set[str]:
    """Names that the model knows and none of these objects has."""
    missing = set()
    for name, field in model.model_fields.items():
        if not any(name in one for one in given):
            missing.add(f"{at}{name}")
            continue
        named = "dict[str" in str(field.annotation)
        inner = [found for one in given for found in objects_in(one.get(name), named)]
        for shape in shapes_in(field.annotation):
            missing |= never_reported(shape, inner, f"{at}{name}.")
    return missing


def of_web(target: MakeTarget, folder: Path) -> dict[str, Any]:
    return run_trial(web_workload(target(kind="web").address), clients=2, max_operations=50)


def of_app(target: MakeTarget, folder: Path) -> dict[str, Any]:
    return run_trial(app_workload(target(kind="app").address), clients=2, max_operations=200)


def of_mail(target: MakeTarget, folder: Path) -> dict[str, Any]:
    server = mailtools.serve(lose={"count": 1, "of": 25})
    try:
        place = mailtools.places(server.address())
        return mailtools.run(mailtools.spec(place["smtp"], place["pop3"], drain_limit_s=4, trial={"length_s": 4.0}))
    finally:
        server.stop()


def of_matrix(target: MakeTarget, folder: Path) -> dict[str, Any]:
    return test_matrix.measure(folder, clients=2).model_dump()


def of_blocks(target: MakeTarget, folder: Path) -> dict[str, Any]:
    specs = [AccessSpec(name="read", lines=(AccessLine(size=4096, share=100, read=100, random=0),))]
    return run_trial(**of_spec(test_blocks.blocks(folder, specs, 2)))


def of_spec(spec: dict[str, Any]) -> dict[str, Any]:
    """A specification as `run_trial` takes it."""
    return {**{name: value for name, value in spec.items() if name != "load"}, "clients": spec["load"]["clients"]}


def of_mix(target: MakeTarget, folder: Path) -> dict[str, Any]:
    iterations = {"iteration_bytes": 200_000, "iteration_pause_s": 0.05, "link_bytes_per_s": 1e9}
    return test_mix.measure(folder, clients=2, max_operations=test_mix.CYCLE, **iterations).model_dump()


def of_plan(kind: str, server: Target, **settings: object) -> dict[str, Any]:
    """The trial of a plan for one contender, without the checks before it."""
    given = PlanInput("command line", {"suite": kind}, {}, parse_contenders([f"a=http://{server.address}/"]))
    plan = resolve_plan(with_flags(given, {}, settings, {}))
    agent = LocalAgent()
    spec = trial_spec(run_part(kind).check(plan), plan.contenders[0], [server.address], agent.facts())
    spec = spec.for_trial(plan.settings.load_steps[0], plan.seed, new_mark(), 7)
    outcome = _engine.start(spec.to_json()).go().wait(PATIENCE_S)
    assert outcome is not None, "the trial did not end"
    document: dict[str, Any] = json.loads(outcome.json())
    return document


def of_httperf(target: MakeTarget, folder: Path) -> dict[str, Any]:
    return of_plan("httperf", target(kind="web"), wsess="3,2,0")


def of_replay(target: MakeTarget, folder: Path) -> dict[str, Any]:
    line = '127.0.0.1 - - [22/Nov/2026:08:00:00 +0000] "GET /{} HTTP/1.1" 200 1024'
    (folder / "access.log").write_text("".join(f"{line.format(n)}\n" for n in range(20)))
    return of_plan("replay", target(kind="web"), log=str(folder / "access.log"))


TRIALS = {
    "httperf": of_httperf,
    "replay": of_replay,
    "web": of_web,
    "mail": of_mail,
    "app": of_app,
    "file-matrix": of_matrix,
    "file-blocks": of_blocks,
    "file-mix": of_mix,
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_engine_tells_fits_and_bears_the_names_of_the_model(
    kind: str, target: MakeTarget, tmp_path: Path
) -> None:
    if kind not in TRIALS:
        assert figures_of(kind) is Figures, f"{kind} has a model of its own: add a trial of it to TRIALS"
        return
    result = TRIALS[kind](target, tmp_path)
    assert result["fatal"] is None and result["operations"]
    observed, model = result["workload"], figures_of(kind)
    parsed(model, observed, "the trial")
    never = {name for name in never_reported(model, [observed]) if not BELOW_AT_TIMES.fullmatch(name)}
    assert never - AT_TIMES <= {f"cells.{name}" for name in OF_SOME_CELLS}


# Names of cells that only one of the kinds with cells tells.
OF_SOME_CELLS = {"empty", "stretched", "cpu_us_per_io", "idle_clients", "ios_per_s"}


def test_kinds_without_a_model_of_their_own_have_that_of_all() -> None:
    assert "file-matrix" in [kind for kind in KINDS if figures_of(kind) is Figures]


def test_a_name_that_nobody_tells_is_seen() -> None:
    missing = never_reported(figures_of("mail"), [{"ledger": {"counts": {}}, "sessions": {"smtp": {"peak": 1}}}])
    assert {"flow", "ledger.totals", "sessions.at_peak"} <= missing and not missing & {"ledger.counts", "sessions.peak"}
