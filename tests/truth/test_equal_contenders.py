"""A/A through the whole chain: two equal contenders get no winner more often than the level says, two unequal ones do.

The rates are drawn, so that nothing of the machine is in them; plan, order, driver, run file and comparison are those
of a user. `benchmarks/equal.py` does the same with servers and a clock.
"""

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import TrialSpec
from bakeoff.compare import compare_run
from bakeoff.kinds.web.spec import WebWorkload
from bakeoff.run.driver import start_run
from bakeoff.store.sqlite.read import read_run
from tests.control import most_by_chance
from tests.unit.run.fake import SOME, FakeAgent, Notebook, plan_for, result, two_contenders

pytestmark = pytest.mark.usefixtures("patient")

RUNS = 60
BLOCKS, LOAD_STEPS = 6, (1, 2)
LEVEL = 0.05
# Shares: of one trial, of a whole block, of coming second in a block, and of each trial that went before.
NOISE, BLOCK, SECOND, DRIFT = 0.02, 0.05, -0.08, 0.002
WINDOW_S, RATE = 2.0, 4000.0


def drawn(rate: float, clients: int) -> TrialResult:
    """A result that adds up: so many operations of clients that never rest."""
    share = max(1, round(rate * WINDOW_S / clients))
    operations = share * clients
    service = SOME | {"count": operations, "mean_ns": clients * WINDOW_S / operations * 1e9}
    one = {"name": "223", "errors": {}, "bytes_out": 100, "histogram": "op/223"}
    kind = one | {"operations": operations, "bytes_in": 10 * operations, "service": service}
    alone = {"errors": 0, "bytes_in": 10 * share, "busy_s": WINDOW_S}
    figures = {"operations": operations, "bytes_in": 10 * operations, "service": service, "per_operation": [kind]}
    return result(
        clients,
        **figures,
        per_client=[alone | {"client": client, "operations": share} for client in range(clients)],
    )


class Machine(FakeAgent):
    """Two servers of known rates on a machine that drifts and prefers whoever comes first in a block."""

    def __init__(self, seed: int, rates: dict[str, float]) -> None:
        super().__init__(self.measure)
        self._random = np.random.default_rng(seed)
        self._rates, self._block = rates, 0.0

    def measure(self, spec: TrialSpec) -> TrialResult:
        assert isinstance(spec.workload, WebWorkload)
        before = len(self.specs) - 1
        place = before % (2 * len(LOAD_STEPS))
        if place == 0:
            self._block = self._random.normal(0.0, BLOCK)
        log = self._block + DRIFT * before + SECOND * (place >= len(LOAD_STEPS)) + self._random.normal(0.0, NOISE)
        return drawn(self._rates[spec.workload.host] * math.exp(log), spec.load.clients)


@pytest.fixture(scope="module")
def verdicts() -> dict[float, list[tuple[str, str | None]]]:
    """Kind and winner of the primary verdicts of many runs, by how many times faster the second server is."""
    found: dict[float, list[tuple[str, str | None]]] = {}
    # In memory: thousands of trials are written, each to the disk.
    with two_contenders() as (one, two), TemporaryDirectory(dir="/dev/shm") as folder:
        hosts = [server.address.removeprefix("http://") for server in (one, two)]
        for ratio, runs in ((1.0, RUNS), (1.5, 10)):
            for seed in range(runs):
                path = Path(folder) / f"{ratio}-{seed}.bakeoff"
                plan = plan_for(one.address, two.address, plan={"blocks": BLOCKS, "seed": seed})
                rates = {hosts[0]: RATE, hosts[1]: RATE * ratio}
                start_run(plan, path, [Machine(seed, rates)], Notebook())
                verdict = compare_run(read_run(path)).pairs[0].primary.verdict
                found.setdefault(ratio, []).append((verdict.kind, verdict.winner))
    return found


def test_equal_contenders_get_no_winner(verdicts: dict[float, list[tuple[str, str | None]]]) -> None:
    wins = [winner for kind, winner in verdicts[1.0] if kind == "better"]
    assert len(verdicts[1.0]) == RUNS
    assert len(wins) <= most_by_chance(RUNS, LEVEL), wins
    assert {kind for kind, _ in verdicts[1.0]} <= {"better", "equivalent", "inconclusive"}


def test_a_known_difference_gets_its_winner(verdicts: dict[float, list[tuple[str, str | None]]]) -> None:
    assert verdicts[1.5] == [("better", "b")] * 10
