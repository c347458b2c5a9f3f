"""The one caveat beside a result: which it is, with its numbers, and that every form shows it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.compare.advice.advice_model import BlocksDiffer, NotComplete, Waited
from bakeoff.compare.advice.caveat import weightiest
from bakeoff.compare.advice.caveat_model import Caveat
from bakeoff.compare.collections.campaign import Measured, compare_campaign
from bakeoff.compare.cube.spread import widest
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.verdict.order_in_time import Turned, _last_before_change
from bakeoff.report.compose import compose
from bakeoff.report.layout.brief import brief
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.validity.caveat import box
from bakeoff.report.narrate.verdict.spread import spread_caveat
from bakeoff.report.renderers import html, markdown, pdf, terminal
from bakeoff.store.records.run_records import RunRecord
from tests.told import headline_of
from tests.unit.compare.synthetic import FAST, SLOW, change, run


def slowed(record: RunRecord, name: str, by: dict[int, float]) -> RunRecord:
    """With the rates of a contender divided in some blocks."""
    trials = tuple(
        replace(t, operations_per_s=t.operations_per_s / by.get(t.block, 1.0)) if t.contender == name else t
        for t in record.trials
    )
    return replace(record, trials=trials)


def long_run(blocks: int = 8) -> RunRecord:
    return run(blocks=blocks, window_s=8.0)


def weakest(found: Comparison) -> tuple[str, str]:
    assert found.caveat is not None
    return found.caveat.kind, found.caveat.contender


def test_a_run_without_faults_has_none() -> None:
    found = compare_run(long_run())
    assert found.caveat is None and found.to_dict()["caveat"] is None
    assert b"Beware" not in terminal.render(compose(long_run(), found))


def test_two_speeds_are_told_with_both() -> None:
    record = slowed(long_run(), "nginx", {2: 8.0, 5: 8.0, 6: 8.0})
    found = compare_run(record)
    assert weakest(found) == ("blocks", "nginx") and found.caveat is not None
    assert isinstance(found.caveat.about, BlocksDiffer)
    (spread,) = found.caveat.about.spreads.values()
    assert 7.0 < spread.factor < 9.0
    measured = [t.operations_per_s for t in record.trials if t.contender == "nginx"]
    assert spread.lowest in measured and spread.highest in measured
    assert "two speeds, whose mean describes neither" in sentence(found.caveat)


def test_blocks_of_many_speeds_are_not_called_two() -> None:
    record = slowed(long_run(), "nginx", {block: 1.3**block for block in range(1, 9)})
    spread = widest([trial for trial in record.trials if trial.contender == "nginx"])
    assert spread is not None and spread.factor > 4.0 and spread.gap < 1.5
    assert "two speeds" not in spread_caveat(spread, "nginx", "requests")


WAITED = {"marks": ("generator-waited",), "generator_run_delay_share": 0.3}


def test_what_is_of_most_trials_comes_before_what_is_of_few() -> None:
    record = slowed(long_run(), "nginx", {2: 8.0, 5: 8.0})
    few = change(record, "apache", 8, (1,), **WAITED)
    assert weakest(compare_run(few))[0] == "blocks"
    most = record
    for clients in {trial.load_step.clients for trial in record.trials}:
        most = change(most, "apache", clients, tuple(range(1, 7)), **WAITED)
    found = compare_run(most)
    assert weakest(found) == ("generator waited", "apache") and found.caveat is not None
    assert isinstance(found.caveat.about, Waited) and found.caveat.about.share == 0.3
    assert 2 * found.caveat.trials > found.caveat.of


def test_what_the_headline_says_is_not_said_twice() -> None:
    record = long_run()
    for clients in {trial.load_step.clients for trial in record.trials}:
        for name in ("nginx", "apache"):
            record = change(record, name, clients, tuple(range(1, 9)), marks=("generator-limited",))
    found = compare_run(record)
    assert "was the limit" in headline_of(found)[0]
    assert found.caveat is None or found.caveat.kind != "generator"


def late_by(record: RunRecord, name: str, from_block: int, by: float) -> RunRecord:
    return slowed(record, name, dict.fromkeys(range(from_block, 99), by))


def test_a_server_that_slows_down_while_the_run_goes_on_is_told() -> None:
    """Its mean may still win."""
    record = late_by(run((replace(FAST, base_ms=1.0), replace(SLOW, base_ms=1.4)), blocks=12), "nginx", 10, 1.75)
    found = compare_run(record)
    assert weakest(found) == ("order turned", "apache") and found.caveat is not None
    assert "all blocks before block 10" in sentence(found.caveat)
    about = found.caveat.about
    assert isinstance(about, Turned) and about.at == 10
    assert about.before == pytest.approx(1.4, rel=0.1) and about.after == pytest.approx(1.25, rel=0.1)


@pytest.mark.parametrize(
    ("logs", "place"),
    [
        ([1, 1, 1, -1, -1, -1], 3),
        ([1] * 9 + [-1] * 3, 9),
        ([-1] * 3 + [1] * 9, 3),
        ([1] * 10 + [-1] * 2, None),
        ([1, -1, 1, -1, -1, -1], None),
        ([1] * 8, None),
        ([0.0] * 8, None),
        ([1, 1, 1, -1, -1], None),
        ([], None),
    ],
)
def test_three_blocks_on_either_side_make_a_change(logs: list[float], place: int | None) -> None:
    assert _last_before_change(logs) == place


def test_trials_that_were_not_run_are_told() -> None:
    record = long_run()
    found = compare_run(replace(record, trials_planned=len(record.trials) + 12))
    assert weakest(found) == ("incomplete", "") and found.caveat is not None
    assert found.caveat.about == NotComplete(record.path.name, 12, len(record.trials) + 12)


@pytest.mark.parametrize("first", ["imported", "audit", "other load", "noise floor", "blocks", "cache"])
def test_the_order_is_that_of_importance(first: str) -> None:
    last = Caveat("short trials", "", 0, 0, Fact())
    other = Caveat(first, "", 0, 0, Fact())  # type: ignore[arg-type]
    assert weightiest([last, other]) is other and weightiest([other, last]) is other
    assert weightiest([replace(other, trials=1, of=9), last]) is last
    assert weightiest([]) is None


def test_every_form_shows_the_same_sentence() -> None:
    record = slowed(long_run(), "nginx", {2: 8.0, 5: 8.0})
    found = compare_run(record)
    assert found.caveat is not None
    whole = compose(record, found)
    for report in (whole, brief(whole)):
        assert report.caveat == box(found.caveat)
        for form in (terminal, markdown):
            lines = form.render(report).decode().splitlines()
            places = [at for at, line in enumerate(lines) if "two speeds, whose mean" in line]
            first = next(at for at, line in enumerate(lines) if report.headline[0][:30] in line)
            assert places and first < places[0] <= first + 3, "in the box, right behind the result"
        page = html.render(report).decode()
        verdict = page[page.index('<div class="verdict') :]
        assert report.caveat in verdict[: verdict.index("</div>")]
        assert pdf._content(report)["caveat"] == report.caveat
    plain = json.loads(to_json(found))["caveat"]
    assert plain["about"]["kind"] == "blocks_differ" and plain["text"] == sentence(found.caveat)


def test_a_campaign_tells_the_weightiest_of_its_suites() -> None:
    speeds = slowed(long_run(), "nginx", {2: 8.0, 5: 8.0})
    short = replace(long_run(), trials_planned=1000)
    suites = (Measured("short", 1.0, short), Measured("speeds", 1.0, speeds))
    found = compare_campaign("lab", "Lab", ("nginx", "apache"), suites)
    assert found.caveat is not None and found.caveat.suite == "speeds" and found.caveat.caveat.kind == "blocks"
    assert box(found.caveat).startswith("Beware, in speeds: nginx ")
