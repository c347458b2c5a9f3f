"""The capacity of a real target that keeps a limit, by the real engine.

The target answers 1,000 requests a second and queues the others. What it kept of that in the same moments is what it
answered in the probes that asked for more: a machine that is busy takes from both.
"""

import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.compare import compare_run
from bakeoff.core.thresholds import LOST_REPORTED
from bakeoff.run.driver import start_run
from bakeoff.run.outcome.judge import WAIT_SHARE
from bakeoff.store.records.figures import Figures
from bakeoff.store.records.run_records import NONE, SEARCH, TrialRecord
from bakeoff.store.sqlite.read import read_run
from tests.conftest import Target
from tests.unit.run.fake import Notebook
from tests.unit.run.virtual_agent import search_plan

pytestmark = pytest.mark.usefixtures("patient")

LIMIT_PER_S = 1000.0
ASKED_MORE = 1.03
LATE_NS = 10_000_000


def marked(trial: TrialRecord) -> bool:
    """Whether the generator did not run as it should have: by its marks, and by what patience leaves unmarked."""
    waited = (trial.generator_run_delay_share or 0.0) > WAIT_SHARE or trial.figures(Figures).lost_share > LOST_REPORTED
    return waited or bool({"behind-schedule", "late-start", "stolen-time", "generator-paused"} & {*trial.marks})


def disturbed(trial: TrialRecord) -> bool:
    """Whether generator or target did not run as they should have: late, waiting, or answering less than was asked; or
    all of it, but late, as a target does that was held up for a moment and has little to spare.
    """
    late = trial.response is not None and (trial.response.p50_ns or 0) > LATE_NS
    return marked(trial) or late or trial.operations_per_s < 0.998 * trial.load_step.x


def test_the_capacity_of_a_limited_target_is_what_it_keeps(target: Callable[..., Target], tmp_path: Path) -> None:
    server = target(limit_per_s=LIMIT_PER_S)
    plan = search_plan(
        f"http://{server.address}/",
        objective="p50<=10ms,errors<=1%",
        least="700",
        shares="105%",
        settings={"length": "1200ms", "ramp_up": "100ms", "ramp_down": "100ms"},
    )
    path = tmp_path / "x.bakeoff"
    start_run(plan, path, [LocalAgent()], Notebook())
    run = read_run(path)
    (search,) = run.searches
    assert search.outcome != NONE and search.met is not None
    met = next(trial for trial in run.trials if trial.order == search.met)
    assert met.judged is not None and met.judged.met and met.response is not None
    asked_more = [trial for trial in run.trials if trial.load_step.x > ASKED_MORE * LIMIT_PER_S]
    kept = [trial.operations_per_s for trial in asked_more if not marked(trial)]
    assert asked_more and (not kept or statistics.median(kept) <= 1.01 * LIMIT_PER_S)
    assert met.load_step.x <= 1.02 * LIMIT_PER_S
    # A stall of the machine takes a search below what the target can do; then the probes that it missed there tell it.
    failed = [t for t in run.trials if t.judged is not None and not t.judged.met]
    early = [t for t in failed if t.load_step.x <= LIMIT_PER_S]
    closed_in = min(t.load_step.x for t in failed) <= 1.05 * met.load_step.x
    assert met.load_step.x >= 0.98 * LIMIT_PER_S or (all(map(disturbed, early)) if early else closed_in), (met, early)
    missed = [t for t in run.trials if t.purpose == SEARCH and t.load_step.x > ASKED_MORE * LIMIT_PER_S]
    assert all(t.judged is not None and not t.judged.met for t in missed)
    assert compare_run(run).capacity is not None
