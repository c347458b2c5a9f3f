"""Runs that end by the width of their interval: at planned analyses, with intervals that hold however they end."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from bakeoff.compare import compare_run
from bakeoff.compare.estimate.interim import planned_levels, standing
from bakeoff.core.errors import PlanError
from bakeoff.plan.input.plan_file import plan_to_toml
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.plan.rules.until import precision_of
from bakeoff.report.compose import compose
from bakeoff.report.narrate.document import to_dict
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.verdict.interim import interim_text
from bakeoff.store.records.run_records import CLEAR, RunRecord
from tests.unit.compare.synthetic import Server, run
from tests.unit.compare.test_interim import added
from tests.unit.report.shown import shown

ANALYSES, WANTED, RUNS = (6, 9, 12, 15, 18), 0.02, 4000
SPREADS = (0.015, 0.02, 0.025, 0.03, 0.04)
# Three standard errors of a share of 95 % in RUNS runs.
SLACK = 3.0 * math.sqrt(0.05 * 0.95 / RUNS)


def covered(spread: float, levels: tuple[float, ...], seed: int = 65) -> tuple[float, set[int]]:
    """The share of simulated runs whose interval holds the truth where they stop, and the analyses at which some do."""
    logs = np.random.default_rng(seed).normal(0.0, spread, (RUNS, ANALYSES[-1]))
    going, held, ended = np.ones(RUNS, bool), 0, set()
    for blocks, alpha in zip(ANALYSES, levels, strict=True):
        seen = logs[:, :blocks]
        reach = special.stdtrit(blocks - 1, 1.0 - alpha / 2.0) * seen.std(axis=1, ddof=1) / math.sqrt(blocks)
        stops = going & ((np.expm1(reach) <= WANTED) | (blocks == ANALYSES[-1]))
        held += int((np.abs(seen.mean(axis=1)) <= reach)[stops].sum())
        ended |= {blocks} if stops.any() else set()
        going &= ~stops
    return held / RUNS, ended


@pytest.mark.parametrize("spread", SPREADS)
def test_intervals_hold_where_runs_stop_by_their_width(spread: float) -> None:
    assert covered(spread, planned_levels(ANALYSES))[0] >= 0.95 - SLACK


def test_intervals_of_a_single_analysis_would_not() -> None:
    """The control: of those that stop early because chance made the interval narrow too many miss."""
    found = [covered(spread, (0.05,) * len(ANALYSES)) for spread in SPREADS]
    assert min(share for share, _ in found) < 0.94
    assert all(len(ended) > 1 for _, ended in found[1:4]), "runs end at several analyses"


def ran(blocks: int, spread: float, until: str | None, ended: bool = False) -> RunRecord:
    servers = (Server("a", 30_000.0, 0.1, spread=spread), Server("b", 30_000.0, 0.1, spread=spread))
    record = run(servers, load_steps=(8,), blocks=blocks)
    plan = {**record.plan, "interim_analyses": list(ANALYSES), "until": until}
    amendments = (added(blocks, ANALYSES[-1], blocks, CLEAR),) if ended else ()
    return replace(record, plan=plan, blocks_planned=ANALYSES[-1], amendments=amendments)


def test_a_precise_run_says_at_which_analysis_it_stopped() -> None:
    record = ran(12, 0.005, "precision=2%", ended=True)
    found = compare_run(record)
    interim, end = found.run.interim, found.pairs[0].primary
    assert interim is not None and interim.precision == pytest.approx(math.sqrt(end.high / end.low) - 1.0)
    words = f"precision {100.0 * interim.precision:.3g} % reached (2 % wanted)"
    assert (standing(found).ends, sentence(standing(found))) == (True, words)
    assert f"Stopped at interim analysis 3 of 5: {words}." in shown(record, width=300)
    assert ("Blocks", "12 of 12 measured (18 planned, ended at interim analysis 3 of 5)") in compose(
        record, found
    ).facts
    assert interim.next_blocks is None, "there is no next analysis"
    assert to_dict(found)["run"]["interim"]["until"] == "precision=2%"


def test_a_run_that_never_was_precise_enough_says_so() -> None:
    found = compare_run(ran(18, 0.2, "precision=2%"))
    ends, words = standing(found).ends, sentence(standing(found))
    assert not ends and words.endswith("(2 % wanted)")
    assert found.run.interim is not None and "At interim analysis 5 of 5: only precision " in interim_text(
        found.run.interim
    )


def test_a_hostile_plan_in_a_file_ends_nothing() -> None:
    for until in ("precision=", "precision=x", "whenever", 7, ["clear"]):
        interim = compare_run(ran(12, 0.01, until)).run.interim  # type: ignore[arg-type]
        assert interim is not None and interim.until is None


def plan(contenders: int = 2, **head: object) -> Plan:
    names = [{"name": name, "address": f"http://127.0.0.1:{i}"} for i, name in enumerate("ab"[:contenders], 1)]
    return resolve_plan(PlanInput("test", {"suite": "web-static", **head}, {}, names))


def test_plans_say_it_in_one_way_and_files_and_hashes_have_it() -> None:
    given = plan(interim_analyses="6,12", until=" precision = 2.0 % ")
    assert given.until == "precision=2%" and precision_of(given.until) == 0.02
    assert (
        given.hash
        == plan(interim_analyses="6,12", until="precision=0.02").hash
        != plan(interim_analyses="6,12", until="clear").hash
    )
    read = PlanInput("test", {"suite": "web-static", "interim_analyses": "6,12", "until": "precision=2%"}, {}, [])
    assert 'until = "precision=2%"' in plan_to_toml(read, given)
    assert Plan.from_dict(given.to_dict()) == given


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ({"until": "precision=2%"}, "name the analyses at which the run may end, such as --interim-analyses 6,12,18"),
        ({"until": "soon", "interim_analyses": "6,12"}, "write clear"),
        ({"until": "precision=fast", "interim_analyses": "6,12"}, "is not a share"),
        ({"until": "precision=0", "interim_analyses": "6,12"}, "give 0.01% to 50%"),
    ],
)
def test_what_ends_no_run_is_refused_in_a_sentence(head: dict[str, object], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        plan(**head)
    with pytest.raises(PlanError, match="one contender has no ratio"):
        plan(1, interim_analyses="6,12", until="clear")
