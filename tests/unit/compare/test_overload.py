"""Open-loop load: who is overloaded, from which rate on, and that a worse server does not win."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bakeoff.compare.cube.cube import build_cube
from bakeoff.compare.metrics.overload import is_overloaded, overload_points
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.run import compare_run
from bakeoff.load.arrivals import Burst, Constant, Ramp
from bakeoff.load.load_step import Rate
from bakeoff.plan.design.unit import LoadUnit
from bakeoff.report.blocks.tree import Cards, Chart
from bakeoff.report.compose import compose
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate.sentences import sentence
from bakeoff.stats import median_ranks
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import StartsRecord, Summary
from tests.told import headline_of
from tests.unit.compare.synthetic import at_rates, run

BLOCKS = 8
BASE, OTHER = "nginx", "apache"


def changed(
    record: RunRecord, chosen: Callable[[TrialRecord], bool], make: Callable[[TrialRecord], TrialRecord]
) -> RunRecord:
    return replace(record, trials=tuple(make(trial) if chosen(trial) else trial for trial in record.trials))


def of(name: str, *places: int) -> Callable[[TrialRecord], bool]:
    """Trials of a contender at the rates that 1, 4 or 8 clients became."""
    return lambda trial: trial.contender == name and trial.load_step.clients in places


def answering(share: float) -> Callable[[TrialRecord], TrialRecord]:
    """A trial that answered this share of what it was offered."""

    def make(trial: TrialRecord) -> TrialRecord:
        assert trial.starts is not None
        return replace(trial, starts=replace(trial.starts, answered=round(share * trial.starts.offered)))

    return make


def in_ms(p99_ms: float) -> Callable[[TrialRecord], TrialRecord]:
    """A trial with this 99th percentile of response time; that of one in a thousand is ten times as long."""

    def make(trial: TrialRecord) -> TrialRecord:
        p99_ns = round(p99_ms * 1e6)
        return replace(trial, response=replace(trial.service, p99_ns=p99_ns, p999_ns=10 * p99_ns))

    return make


def same_machines() -> RunRecord:
    """Two contenders that sustain all rates and answer alike, within a thousandth."""
    record = at_rates(run(blocks=BLOCKS))
    return changed(record, lambda _: True, lambda trial: in_ms(4.0 + 0.001 * (trial.block % 3))(trial))


def primary(comparison: Comparison) -> tuple[str, str | None]:
    verdict = comparison.pairs[0].primary.verdict
    return verdict.kind, verdict.winner


def test_those_that_keep_up_alike_are_equivalent() -> None:
    assert primary(compare_run(same_machines())) == ("equivalent", None)


def test_where_both_keep_up_the_response_time_decides() -> None:
    record = changed(same_machines(), of(OTHER, 1, 4, 8), in_ms(3.0))
    found = compare_run(record)
    assert primary(found) == ("better", OTHER)
    assert found.pairs[0].primary.ratio == pytest.approx(3.0 / 4.001, rel=0.001)
    assert f"{OTHER} is better: the p99 response time of {OTHER} is 0.7498× that of {BASE}" in headline_of(found)[0]


def test_one_that_is_overloaded_loses_however_fast_its_few_answers_are() -> None:
    # It drops what it cannot carry, so that the rest is answered in a tenth of the time.
    quick = changed(same_machines(), of(OTHER, 1, 4, 8), lambda trial: answering(0.9)(in_ms(0.4)(trial)))
    found = compare_run(quick)
    assert primary(found) == ("better", BASE)
    assert found.pairs[0].primary.ratio >= 10.0
    assert headline_of(found)[0].startswith(f"{OTHER} was overloaded, or failed, in all of its 24 trials")
    assert f"{OTHER} is overloaded from 1,000 operations/s on, the lowest rate (8 blocks alike)." in headline_of(found)


def test_overload_is_no_better_than_the_slowest_that_was_not_overloaded() -> None:
    slow = changed(same_machines(), of(OTHER, 1), in_ms(200.0))
    slow = changed(slow, of(OTHER, 8), answering(0.9))
    points = compare_run(slow).pairs[0].curves[0].points
    assert points[2].ratio == pytest.approx(max(point.ratio for point in points))
    assert points[2].ratio == pytest.approx(50.0, rel=0.01)
    assert sentence(points[2]) == f"{BASE} better; {OTHER} was overloaded in 8 of 8 trials"


def test_where_both_are_overloaded_what_they_answer_is_compared() -> None:
    both = changed(same_machines(), of(BASE, 8), answering(0.5))
    # The response times of those that are overloaded say how long the trial was: they must not matter.
    both = changed(both, of(OTHER, 8), lambda trial: in_ms(4_000.0)(answering(0.6)(trial)))
    point = compare_run(both).pairs[0].curves[0].points[2]
    assert point.ratio == pytest.approx(0.5 / 0.6, rel=0.001)
    assert point.verdict.winner == OTHER
    assert "both were overloaded in 8 of 8 blocks: answers per second compared" in sentence(point)


def test_failed_and_never_started_lie_beyond_all_answers() -> None:
    """A server that resets the slowest one in two hundred has a p99 without them."""
    record = same_machines()
    trial = record.trials[0]
    dropping = changed(
        record,
        of(OTHER, 1, 4, 8),
        lambda trial: replace(
            in_ms(3.0)(trial),
            errors={"reset": trial.operations // 200},
            tried=Summary(trial.operations + trial.operations // 200, None, 2_000, 2_900, 30_000_000, None, None, None),
        ),
    )
    found = compare_run(dropping)
    assert found.pairs[0].primary.ratio == pytest.approx(30.0 / 4.001, rel=0.001), trial
    assert primary(found) == ("better", BASE)


@pytest.mark.parametrize(
    ("offered", "answered", "rate", "mean_ms", "behind"),
    [
        (10_000, 10_000, Rate(1000.0, Constant(), 10), 1.0, False),
        (10_000, 10_020, Rate(1000.0, Constant(), 10), 1.0, False),
        (10_000, 9_900, Rate(1000.0, Constant(), 10), 1.0, False),  # one in a hundred, and what is under way
        (10_000, 9_880, Rate(1000.0, Constant(), 10), 1.0, True),
        (10_000, 9_880, Rate(1000.0, Burst(100), 10), 1.0, False),  # the last burst may be under way at the end
        (100, 90, Rate(10.0, Constant(), 50), 1_000.0, False),  # ten are under way at any moment
        (100, 70, Rate(10.0, Constant(), 50), 1_000.0, True),
        (10, 0, Rate(1.0, Constant(), 50), 0.0, True),
    ],
)
def test_who_answers_less_than_was_offered_is_overloaded(
    offered: int, answered: int, rate: Rate, mean_ms: float, behind: bool
) -> None:
    trial = same_machines().trials[0]
    starts = StartsRecord(offered, offered, 0, answered, 0, 1, trial.generator_lag)
    service = replace(trial.service, mean_ns=mean_ms * 1e6)
    per_s = answered / (offered / rate.per_s)
    assert (
        is_overloaded(replace(trial, load_step=rate, starts=starts, service=service, operations_per_s=per_s)) is behind
    )


QUEUES: dict[str, list[int]] = {
    "a pause of a second at the end": [0] * 46 + [200, 400, 600, 800, 1000],
    "a pause before the last second": [0] * 41 + [200, 400, 600, 800, 1000, 800, 600, 400, 200, 0],
    "95 % of what is offered": [10 * stretch for stretch in range(51)],
    "99.5 % of what is offered": list(range(51)),
    "98.5 % of what is offered": [3 * stretch for stretch in range(51)],
}


@pytest.mark.parametrize(
    ("queue", "failed", "behind"),
    [
        ("a pause of a second at the end", 0, False),
        ("a pause of a second at the end", 150, True),
        ("a pause before the last second", 0, False),
        ("95 % of what is offered", 0, True),
        ("98.5 % of what is offered", 0, True),
        ("99.5 % of what is offered", 0, False),
    ],
)
def test_a_queue_that_grows_over_the_window_is_overload_and_a_pause_is_not(
    queue: str, failed: int, behind: bool
) -> None:
    """10 s at 1,000/s; what is not over at the end is not answered."""
    trial, lengths = same_machines().trials[0], QUEUES[queue]
    answered = 10_000 - lengths[-1] - failed
    starts = StartsRecord(10_000, 10_000, 0, answered, 0, 1, trial.generator_lag, tuple(lengths))
    trial = replace(
        trial,
        load_step=Rate(1000.0, Constant(), 1000),
        starts=starts,
        service=replace(trial.service, mean_ns=1e6, p50_ns=1_000_000),
        window_s=10.0,
        operations_per_s=answered / 10.0,
    )
    assert is_overloaded(trial) is behind
    # Where the load itself changes over the window, nothing is said of a pause.
    ramp = replace(trial, load_step=Rate(1000.0, Ramp(0.5, 1.5), 1000))
    assert is_overloaded(ramp) is (answered < 9_890)
    # A server that hangs from some moment on is none that pauses.
    assert is_overloaded(replace(trial, errors={"unfinished": 300}))


def test_a_closed_loop_has_no_overload_points() -> None:
    record = run(blocks=BLOCKS)
    assert not is_overloaded(record.trials[0]) and compare_run(record).overload_points == ()


def test_the_overload_point_is_the_median_over_blocks() -> None:
    # From the second rate on in two blocks, from the third on in the others.
    record = changed(same_machines(), of(OTHER, 8), answering(0.8))
    record = changed(record, lambda trial: of(OTHER, 4)(trial) and trial.block <= 2, answering(0.8))
    steady, other = compare_run(record).overload_points
    assert (steady.overload_load_step, steady.sustained_load_step) == (None, record.load_steps[2])
    assert (other.overload_load_step, other.sustained_load_step, other.blocks) == (
        record.load_steps[2],
        record.load_steps[1],
        BLOCKS,
    )
    assert (other.low_load_step, other.high_load_step) == (record.load_steps[1], record.load_steps[2])
    assert (
        sentence(other)
        == "overloaded from 8,000 operations/s on (sustains 4,000; 95 % interval 4,000 to 8,000; 8 blocks)"
    )
    assert sentence(steady) == "overloaded at no rate up to 8,000 operations/s (8 blocks alike)"


def test_a_rate_of_sessions_is_told_in_sessions() -> None:
    """Seen: "overloaded from 67 operations/s on" of a suite of sessions."""
    cube = build_cube(changed(same_machines(), of(OTHER, 8), answering(0.8)), BASE)
    steady, other = overload_points(cube, LoadUnit("sessions", "sessions", "requests", 3.0))
    assert sentence(other).startswith("overloaded from 8,000 sessions/s = 24,000 requests/s on (sustains 4,000; ")
    assert sentence(steady) == "overloaded at no rate up to 8,000 sessions/s = 24,000 requests/s (8 blocks alike)"


def test_who_is_overloaded_in_half_of_the_blocks_is_overloaded() -> None:
    record = changed(same_machines(), lambda trial: of(OTHER, 8)(trial) and trial.block <= BLOCKS // 2, answering(0.8))
    _, other = compare_run(record).overload_points
    assert (other.overload_load_step, other.low_load_step, other.high_load_step) == (
        record.load_steps[2],
        record.load_steps[2],
        None,
    )


def test_a_trial_that_is_missing_leaves_its_block_out_of_it() -> None:
    record = changed(
        same_machines(),
        lambda trial: of(OTHER, 4)(trial) and trial.block == 3,
        lambda trial: replace(trial, state="voided", reason="no ports"),
    )
    steady, other = compare_run(record).overload_points
    assert (steady.blocks, other.blocks) == (BLOCKS, BLOCKS - 1)


@pytest.mark.parametrize(
    ("count", "ranks"), [(0, None), (1, None), (5, None), (6, (0, 5)), (8, (0, 7)), (9, (1, 7)), (20, (5, 14))]
)
def test_the_interval_of_a_median_by_order(count: int, ranks: tuple[int, int] | None) -> None:
    assert median_ranks(count) == ranks


def test_what_is_not_known_is_said_so() -> None:
    record = changed(same_machines(), of(OTHER, 1), lambda trial: replace(trial, state="voided", reason="no ports"))
    assert f"The overload point of {OTHER} is not known: trials are missing." in headline_of(compare_run(record))


def test_the_report_says_what_was_offered_where_that_is_not_what_the_rate_is_called() -> None:
    def thinner(trial: TrialRecord) -> TrialRecord:
        assert trial.starts is not None
        offered = trial.starts.offered // 4
        return replace(trial, starts=replace(trial.starts, offered=offered, answered=offered))

    record = changed(same_machines(), of(BASE, 1), thinner)
    record = changed(record, of(OTHER, 1), thinner)
    report = compose(record, compare_run(record), detail=Detail.PAGE)
    (offered,) = (section for section in report.sections if section.id == "offered")
    (plain,) = (block.plain for block in offered.blocks if isinstance(block, Chart) and block.plain)
    assert [row[0] for row in plain.rows] == ["1000 (250 in the window)", "4000", "8000"]


def test_single_operations_at_rates_are_told_in_service_times() -> None:
    slower = changed(
        same_machines(),
        of(OTHER, 1, 4, 8),
        lambda trial: replace(
            trial,
            per_operation=tuple(
                replace(one, service=replace(one.service, mean_ns=9.0 * (one.service.mean_ns or 0.0)))
                for one in trial.per_operation
            ),
        ),
    )
    for record, time in ((slower, "service time"), (replace(slower, trials=run(blocks=BLOCKS).trials), "")):
        report = compose(record, compare_run(record), detail=Detail.PAGE)
        tables = [block for section in report.sections if section.id == "operations" for block in section.blocks]
        figures = {str(row[2]) for table in tables if hasattr(table, "rows") for row in table.rows if len(row) == 7}
        assert all(figure.endswith(time or "response time") for figure in figures) and (figures or not time)


def test_the_report_shows_load_that_does_not_wait_and_no_peaks() -> None:
    record = changed(same_machines(), of(OTHER, 8), answering(0.8))
    report = compose(record, compare_run(record), detail=Detail.PAGE)
    sections = {section.id: section for section in report.sections}
    assert "offered" in sections and not {"rates", "fairness"} & set(sections)
    tables = {table.title: table for table in sections["offered"].blocks if hasattr(table, "rows")}
    points = tables["Overload point of each contender"]
    assert [row[:3] for row in points.rows] == [(BASE, "8,000", "none"), (OTHER, "4,000", "8,000")]
    (starts,) = (table for title, table in tables.items() if title == "Starts")
    offered = {row[0]: row[1:3] for row in starts.rows}
    assert offered[f"8000: {OTHER}"] != offered[f"8000: {BASE}"]
    # Nobody's card has more than was offered: 8,020 answers a second of 8,000 offered are a queue that drains.
    (result,) = (section for section in report.sections if section.id == "result")
    (cards,) = (block for block in result.blocks if isinstance(block, Cards))
    assert {card.title: card.figure for card in cards.cards} == {
        BASE: "8,000 operations/s",
        OTHER: "4,000 operations/s",
    }
    assert "p99 at the peak" not in {name for card in cards.cards for name, _ in card.lines}
    closed = compose(run(blocks=2), compare_run(run(blocks=2)), detail=Detail.PAGE)
    assert "offered" not in {section.id for section in closed.sections}
