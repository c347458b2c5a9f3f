"""One request to each contender by the engine itself: what its client would refuse in every trial is refused before.

The checks before timing ask for one page, with the engine's parsers; a trial has sessions, streams and settings of its
own. Work that only a trial can do is tried for its own sake, and what its replies are is learnt from that.
"""

from collections.abc import Mapping
from typing import Any

from bakeoff.agents.base import Agent
from bakeoff.agents.spec import TrialSpec
from bakeoff.core.errors import ContenderError
from bakeoff.load.load_step import Clients
from bakeoff.plan.model import Plan

PATIENCE_S = 5.0


def rehearse(plan: Plan, specs: Mapping[str, TrialSpec], agent: Agent) -> dict[str, list[dict[str, Any]]]:
    """What replies were, of each contender whose work tells that, as the engine tells it twice. Raises ContenderError
    for a contender with whom the engine cannot speak TLS, or whose replies are not as the work needs them.
    """
    lessons: dict[str, list[dict[str, Any]]] = {}
    for contender in plan.contenders:
        spec = specs[contender.name]
        if not spec.workload.rehearsed:
            continue
        learning = spec.workload.learning
        spec = spec if learning is None else spec.model_copy(update={"workload": learning})
        for _ in range(1 if learning is None else 2):
            reason, learnt = _try(spec, agent)
            if reason is not None:
                raise ContenderError(f"{contender.name} ({contender.address}): {reason}")
            if learnt is not None:
                lessons.setdefault(contender.name, []).append(learnt)
    return lessons


def _try(spec: TrialSpec, agent: Agent) -> tuple[str | None, dict[str, Any] | None]:
    """What speaks against a run, and what was learnt."""
    limit_s = spec.connect_timeout_s + spec.reply_timeout_s + spec.workload.pauses_s
    quiet = {
        "load": Clients(1),
        "virtual_users": 1,
        "load_threads": 1,
        "max_operations": 1,
        "length_s": limit_s,
        "delay_s": 0.0,
    }
    session = agent.start(spec.model_copy(update=quiet | {"ramp_up_s": 0.0, "ramp_down_s": 0.0, "interval_s": None}))
    outcome = session.go().wait(limit_s + PATIENCE_S)
    if outcome is None:
        session.cancel()
        return None, None  # slow, which is for the trials to show
    if not outcome.result.errors.get("tls"):
        figures = outcome.result.workload or {}
        return spec.workload.objection(figures), figures.get("learnt")
    reasons = [event.text.removeprefix("TLS: ") for event in session.drain_events() if event.text.startswith("TLS: ")]
    reason = (
        f"the load generator cannot speak TLS with it ({reasons[0] if reasons else 'the handshake fails'}): "
        "name its authority with --ca-file, give it a certificate for this name, or use --insecure"
    )
    return reason, None
