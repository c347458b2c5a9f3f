"""An agent whose trials are arithmetic: servers with a known capacity, searched by the whole driver in no time."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import WHOLE, Slice, TrialSpec
from bakeoff.load.load_step import Rate
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.run.modes import search_probe
from bakeoff.run.outcome import all_attempts
from tests.unit.run.fake import EMPTY, FakeAgent, FakeSession, result

WINDOW_S = 1.7
# What became of a load: starts offered, times of the good replies in ns, starts that never were.
Served = tuple[int, "np.ndarray[Any, np.dtype[np.float64]]", int]


def limited(per_s: float, seed: int = 1, noise: float = 0.0) -> Callable[[float], Served]:
    """A server that answers so many a second, give or take `noise` of it, and lets the others queue."""
    rng = np.random.default_rng(seed)

    def serve(load: float) -> Served:
        able = per_s * float(np.exp(noise * rng.standard_normal()))
        offered = round(load * WINDOW_S)
        moments = np.linspace(0.0, WINDOW_S, max(1, offered))
        waits = np.maximum(0.0, load / able - 1.0) * moments
        return offered, np.sort(waits[moments + waits <= WINDOW_S] + 0.001) * 1e9, 0

    return serve


class Books:
    """Stands for the engine where histograms are read: theirs are JSON lists."""

    @staticmethod
    def counts_within(blob: bytes, limits_ns: Sequence[int]) -> list[int]:
        return [int(np.searchsorted(json.loads(blob), limit, "right")) for limit in limits_ns]

    @staticmethod
    def quantiles(blob: bytes, shares: Sequence[float]) -> list[int]:
        times = json.loads(blob)
        return [int(times[min(len(times) - 1, max(0, round(share * len(times) + 0.5) - 1))]) for share in shares]


class Session(FakeSession):
    """Ends with what was served."""

    def __init__(self, outcome: TrialResult, times: Any, response: Any, act: Callable[[], None] | None) -> None:
        super().__init__(outcome, act, ends_at=1)
        service, response = (json.dumps([round(float(t)) for t in each]).encode() for each in (times, response))
        self._blobs = {"service": service, "response": response}

    def wait(self, timeout_s: float) -> Any:
        outcome = super().wait(timeout_s)
        return outcome if outcome is None else type(outcome)(outcome.result, self._blobs)


class VirtualAgent(FakeAgent):
    """Serves the contenders by the ports of their addresses."""

    def __init__(
        self,
        servers: dict[str, Callable[[float], Served]],
        before: Callable[[TrialSpec, int], None] | None = None,
        change: Callable[[float], dict[str, Any]] = lambda load: {},
    ) -> None:
        super().__init__()
        self._servers, self._act, self._change = servers, before, change

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> FakeSession:
        if spec.workload.kind == "null":
            return super().start(spec, part)
        self.specs.append(spec)
        number, act = len(self.specs), self._act
        address = spec.workload.addresses[0]  # type: ignore[attr-defined]
        outcome, *times = self._served(spec, self._servers[address.rpartition(":")[2]])
        return Session(outcome, *times, None if act is None else lambda: act(spec, number))

    def _served(self, spec: TrialSpec, serve: Callable[[float], Served]) -> tuple[TrialResult, Any, Any]:
        load = spec.load.x
        offered, times, never = serve(load)
        good = len(times)
        summary = summary_of(times)
        # The last ones wait, and those that nobody lets in are some of all.
        waiting = max(0, offered - good - never)
        waits = [np.linspace(0.0, WINDOW_S * waiting / max(1, offered), waiting), np.linspace(0.0, WINDOW_S, never)]
        response = np.sort(np.concatenate([times, *(wait * 1e9 for wait in waits)]))
        operation = {
            "name": "url", "operations": good, "errors": {}, "bytes_in": 10 * good, "bytes_out": good,
            "service": summary, "histogram": "op/url",
        }  # fmt: skip
        changes: dict[str, Any] = {
            "window_s": WINDOW_S, "operations": good, "service": summary, "per_operation": [operation],
            "bytes_in": 10 * good, "bytes_out": good, "statuses": {"2xx": good}, "steps": [], "per_second": [],
            "per_client": [],
        }  # fmt: skip
        if isinstance(spec.load, Rate):
            changes |= {
                "response": summary_of(response),
                "starts": {
                    "offered": offered, "started": offered - never, "never_started": never, "answered": good,
                    "ran_out": never, "connections_used": 1, "late": EMPTY,
                    "queue": [round(q) for q in np.linspace(0, offered - good, 51)],
                },
            }  # fmt: skip
        return result(1, **(changes | self._change(load))), times, response


def summary_of(times: Any) -> dict[str, Any]:
    """Sorted times in figures."""
    count = len(times)
    return EMPTY if not count else {
        "count": count, "mean_ns": float(times.mean()), "p50_ns": int(times[count // 2]),
        "p95_ns": int(times[int(count * 0.95)]), "p99_ns": int(times[int(count * 0.99)]),
        "p999_ns": int(times[-1]), "max_ns": int(times[-1]), "min_ns": int(times[0]),
    }  # fmt: skip


def search_plan(*addresses: str, blocks: int = 1, objective: str = "p99<=20ms,errors<=0.1%", **more: Any) -> Plan:
    """A plan that searches the capacities of web servers a, b, …"""
    words = [f"{name}={address}" for name, address in zip("abcdef", addresses, strict=False)]
    plan = {"suite": "web-url", "blocks": blocks, **more.pop("plan", {})}
    settings = {"length": "2500ms", "ramp_up": "400ms", "ramp_down": "400ms", **more.pop("settings", {})}
    capacity = {"objective": objective, "least": "100", "shares": "50%,95%,105%", **more}
    return resolve_plan(PlanInput("test", plan, settings, parse_contenders(words), {}, capacity))


@pytest.fixture
def books(monkeypatch: pytest.MonkeyPatch) -> None:
    """Histograms are read as those of `VirtualAgent`."""
    monkeypatch.setattr(search_probe, "load_engine", lambda: Books)
    monkeypatch.setattr(all_attempts, "load_engine", lambda: Books)
