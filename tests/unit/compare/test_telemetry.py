"""What contenders needed: runs whose telemetry is programmed, so that the answers are known."""

import math
from dataclasses import replace

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.resources import telemetry_limits as limits
from bakeoff.compare.resources.telemetry_cost import CPU
from bakeoff.compare.resources.telemetry_window import growth, is_whole, level
from bakeoff.load.load_step import Clients
from bakeoff.report.blocks.tree import Table, Text
from bakeoff.report.compose import compose
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.figures.telemetry import WORDS, way
from bakeoff.report.narrate.sentences import sentence
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.telemetry.model import Cost, Gap, Telemetry
from tests.told import headline_of
from tests.unit.compare.synthetic import at_rates, run

LOAD_STEPS = (1, 8, 24, 40)
HERE = {"boot_id": "here", "processors": 2}
THERE = {"boot_id": "there", "processors": 4}


def seen(trial: TrialRecord, cpu_s: float, own: bool = True, **changes: object) -> Telemetry:
    """A contender that used `cpu_s` for each operation of the window, evenly: twice as much before it and after it."""
    each = trial.operations * cpu_s / 4
    rates = (2 * each, each, each, each, each, 2 * each)
    series: dict[str, tuple[float | None, ...]] = {
        "cpu_user_s": rates,
        "cpu_system_s": (0.0,) * 6,
        "cpu_idle_s": tuple(max(0.0, 4.0 - rate) for rate in rates),
    }
    if own:
        series |= {"own_user_s": tuple(0.75 * rate for rate in rates)}
        series |= {"own_system_s": tuple(0.25 * rate for rate in rates)}
        series |= {"own_memory_bytes": (1e6 + 2_000.0 * trial.load_step.clients,) * 6}
    made = Telemetry(
        role="contender", name=trial.contender, source="pid:7" if own else "ssh://there", window_s=(1.0, 5.0),
        at_s=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0), width_s=(1.0,) * 6, series=series, facts=THERE,
        cost=Cost(samples=7, cpu_s=0.01, remote_cpu_s=0.02, out_bytes=7, in_bytes=100),
    )  # fmt: skip
    return made.model_copy(update=changes)


def generator(facts: dict[str, object] = HERE) -> Telemetry:
    return Telemetry(role="generator", name="local", source="this process", window_s=(1.0, 5.0), facts=facts)


def watched(cost_s: dict[str, float], blocks: int = 8, own: bool = True, **changes: object) -> RunRecord:
    """A run in which contenders used so much for each operation, give or take 1 % in turns."""
    made = run(load_steps=LOAD_STEPS, blocks=blocks)
    trials = []
    for trial in made.trials:
        found: tuple[Telemetry, ...] = (generator(),)
        if trial.contender in cost_s:
            turn = trial.block if trial.contender == "nginx" else trial.block // 2
            used = cost_s[trial.contender] * math.exp(0.01 * (-1) ** turn)
            found += (seen(trial, used, own, **changes),)
        trials.append(replace(trial, telemetry=found))
    return replace(made, trials=tuple(trials))


def test_the_window_is_cut_out_and_an_interval_at_its_edge_counts_by_its_share() -> None:
    telemetry_seen = seen(watched({}).trials[0], 0.001).model_copy(
        update={"window_s": (0.5, 2.5), "series": {"own_user_s": (2.0, 3.0, 4.0, 9.0, 9.0, 9.0)}}
    )
    assert growth(telemetry_seen, ("own_user_s",)) == pytest.approx(1.0 + 3.0 + 2.0)
    assert level(telemetry_seen, "own_user_s") == pytest.approx((2.0 * 0.5 + 3.0 + 4.0 * 0.5) / 2.0)
    hole = telemetry_seen.model_copy(update={"series": {"own_user_s": (2.0, None, 4.0, 9.0, 9.0, 9.0)}})
    assert math.isnan(growth(hole, ("own_user_s",)))
    assert math.isnan(growth(telemetry_seen, ("own_user_s", "own_system_s")))
    assert is_whole(telemetry_seen) and not is_whole(telemetry_seen.model_copy(update={"window_s": (0.5, 9.0)}))


def test_processor_time_for_the_same_work_is_compared_and_told_in_the_headline() -> None:
    comparison = compare_run(watched({"nginx": 50e-6, "apache": 70e-6}))
    uses = comparison.resources
    assert uses is not None
    for use in uses.uses:
        assert use.cpu_s_per_1000 == pytest.approx({"nginx": 0.05, "apache": 0.07}[use.contender])
        assert use.cpu_low < use.cpu_s_per_1000 < use.cpu_high
    (pair,) = comparison.pairs
    end = next(end for end in pair.secondary if end.metric == CPU)
    assert end.ratio == pytest.approx(1.4, rel=0.005) and end.verdict.winner == "nginx" and end.low <= 1.4 <= end.high
    assert next(curve for curve in pair.curves if curve.metric == CPU).points[0].ratio == pytest.approx(1.4, rel=0.005)
    (sentence,) = [text for text in headline_of(comparison) if "needs" in text]
    assert sentence.startswith("apache needs 1.40× the processor time for 1,000 requests that nginx does")
    # The same from the other side.
    other = compare_run(watched({"nginx": 50e-6, "apache": 70e-6}), baseline="apache")
    assert any(text.startswith("apache needs 1.40×") for text in headline_of(other))


@pytest.mark.parametrize("pages", [None, 0.0, 5.0])
def test_a_machine_that_swapped_is_named_with_its_windows(pages: float | None) -> None:
    """In one trial of apache alone, 5 pages a second back and 2 written, outside the window more; unknown is not 0."""
    made = watched({"nginx": 50e-6, "apache": 50e-6})
    chosen = next(trial for trial in made.trials if trial.contender == "apache")
    for trial in made.trials if pages is not None else ():
        read = pages if trial is chosen else 0.0
        swap = {"swapped_in_pages": (9.0, *(read,) * 4, 9.0), "swapped_out_pages": (0.0, *(0.4 * read,) * 4, 0.0)}
        swap["major_faults"] = (0.0, *(3.0,) * 4, 0.0)
        mine, other = trial.telemetry
        other = other.model_copy(update={"series": {**other.series, **swap}})
        trials = tuple(replace(one, telemetry=(mine, other)) if one.id == trial.id else one for one in made.trials)
        made = replace(made, trials=trials)
    found = compare_run(made)
    assert found.resources is not None
    sections = compose(made, found).sections
    texts = [block.text for section in sections for block in section.blocks if isinstance(block, Text)]
    said = [text for text in texts if " swapped in " in text]
    use = next(use for use in found.resources.uses if (use.contender, use.load_step) == ("apache", chosen.load_step))
    if not pages:
        assert found.resources.swapped == () and not said
        assert math.isnan(use.major_faults_per_s) if pages is None else use.swapped_pages_per_s == 0.0
        return
    (one,) = found.resources.swapped
    assert (one.contender, one.trials, one.of, one.in_pages, one.out_pages) == ("apache", 1, 32, 20.0, pytest.approx(8))
    assert use.swapped_pages_per_s == pytest.approx(7.0 / 8) and use.major_faults_per_s == pytest.approx(3.0)
    assert said == [
        "The machine of apache swapped in the windows of 1 of 32 trials (20 pages read back, 8 written). "
        "A machine that swaps measures its disk."
    ]


def test_without_a_difference_nothing_is_said_first() -> None:
    comparison = compare_run(watched({"nginx": 50e-6, "apache": 50e-6}))
    assert not any("needs" in text for text in headline_of(comparison))
    end = next(end for end in comparison.pairs[0].secondary if end.metric == CPU)
    assert end.verdict.kind == "equivalent"


def test_a_run_that_watched_nobody_is_compared_as_ever() -> None:
    plain, made = run(load_steps=LOAD_STEPS, blocks=8), watched({})
    before, after = compare_run(plain), compare_run(made)
    assert before.resources is None and after.resources is not None and not after.resources.watched
    assert before.pairs == after.pairs and headline_of(before) == headline_of(after)


def page(record: RunRecord) -> str:
    """All text of the section."""
    report = compose(record, compare_run(record))
    (section,) = [section for section in report.sections if section.id == "resources"]
    return " ".join(getattr(block, "text", "") + getattr(block, "title", "") for block in section.blocks)


def limits_of(record: RunRecord) -> tuple[tuple[str, ...], ...]:
    """The rows of what was at its limit."""
    (section,) = [one for one in compose(record, compare_run(record)).sections if one.id == "resources"]
    return next(
        block.rows for block in section.blocks if isinstance(block, Table) and block.title == "What is at its limit"
    )


def test_only_one_that_was_watched_has_figures_and_no_ratio() -> None:
    record = watched({"nginx": 50e-6})
    comparison = compare_run(record)
    assert comparison.resources is not None and comparison.resources.uses
    assert all(end.metric != CPU for end in comparison.pairs[0].secondary)
    assert "Only nginx was watched: what apache needed is not known." in page(record)


def test_processes_are_not_compared_with_a_machine() -> None:
    own, whole = watched({"nginx": 50e-6}), watched({"apache": 70e-6}, own=False)
    trials = tuple(w if w.contender == "apache" else o for o, w in zip(own.trials, whole.trials, strict=True))
    record = replace(own, trials=trials)
    comparison = compare_run(record)
    assert all(end.metric != CPU for end in comparison.pairs[0].secondary)
    assert "the two are not compared" in page(record)


@pytest.mark.parametrize(("ended", "is_reported"), [(0.0, True), (3.0, False)])
def test_a_server_whose_processes_nobody_waits_for_does_not_seem_to_need_little(
    ended: float, is_reported: bool
) -> None:
    """What lives between two samples and is waited for by nobody is seen by nobody: who forks so looks cheap."""
    record = watched({"nginx": 50e-6, "apache": 5e-6})

    def left(expected: Telemetry) -> Telemetry:
        if expected.name != "apache":
            return expected
        return expected.model_copy(update={"series": {**expected.series, "own_unwaited": (ended,) * 6}})

    trials = tuple(replace(t, telemetry=tuple(left(expected) for expected in t.telemetry)) for t in record.trials)
    record = replace(record, trials=trials)
    found = compare_run(record)
    assert any(end.metric == CPU for end in found.pairs[0].secondary) is is_reported
    assert any("processor time" in text for text in headline_of(found)) is is_reported
    told = "No processor time is known of apache: it starts processes" in page(record)
    assert told is not is_reported


def test_two_machines_are_compared_and_one_that_sends_the_load_is_not() -> None:
    cost = {"nginx": 50e-6, "apache": 70e-6}
    (pair,) = compare_run(watched(cost, own=False)).pairs
    assert next(end for end in pair.secondary if end.metric == CPU).ratio == pytest.approx(1.4, rel=0.005)
    shared = watched(cost, own=False, facts=HERE)
    assert all(end.metric != CPU for end in compare_run(shared).pairs[0].secondary)
    assert "its machine sends the load, too" in page(shared)
    loopback = watched(cost, own=False, facts={"processors": 4}, source="http://127.0.0.1:9100/metrics")
    assert all(end.metric != CPU for end in compare_run(loopback).pairs[0].secondary)
    by_name, other = ({"processors": 4, "host": name} for name in ("lab", "box"))
    for facts, is_shared in ((by_name, True), (other, False)):
        record = watched(cost, own=False, facts=facts, source="http://192.0.2.7:9100/metrics")
        named = [replace(t, telemetry=(generator({**HERE, "host": "lab"}), *t.telemetry[1:])) for t in record.trials]
        ends = compare_run(replace(record, trials=tuple(named))).pairs[0].secondary
        assert any(end.metric == CPU for end in ends) is not is_shared


def test_a_trial_of_which_the_window_was_not_seen_makes_no_figure_and_is_told() -> None:
    record = watched({"nginx": 50e-6, "apache": 70e-6})
    gap = (Gap(from_s=2.0, to_s=6.0, why="process 7 is gone"),)
    trials = []
    for trial in record.trials:
        if trial.contender == "apache" and trial.block == 3:
            (first, telemetry_seen) = trial.telemetry
            cut = {name: values[:2] for name, values in telemetry_seen.series.items()}
            telemetry_seen = telemetry_seen.model_copy(
                update={"at_s": (0.0, 1.0), "width_s": (1.0, 1.0), "series": cut, "gaps": gap}
            )
            trial = replace(trial, telemetry=(first, telemetry_seen))
        trials.append(trial)
    record = replace(record, trials=tuple(trials))
    comparison = compare_run(record)
    end = next(end for end in comparison.pairs[0].secondary if end.metric == CPU)
    assert end.blocks_left_out == (3,) and end.blocks == 7 and end.ratio == pytest.approx(1.4, rel=0.005)
    assert comparison.pairs[0].primary.blocks == 8
    assert "not seen whole in 4 of 32 trials (process 7 is gone)" in page(record)


def test_a_contender_that_lost_trials_does_not_seem_to_have_needed_more_for_them() -> None:
    record = watched({"nginx": 50e-6, "apache": 50e-6})
    trials = [
        replace(t, state="failed", reason="dead", operations=0) if t.contender == "apache" and t.block == 1 else t
        for t in record.trials
    ]
    end = next(e for e in compare_run(replace(record, trials=tuple(trials))).pairs[0].secondary if e.metric == CPU)
    assert end.ratio == pytest.approx(1.0, rel=0.01) and sum(end.forfeited.values()) == 0


def test_memory_for_each_connection_is_the_slope_over_the_load_steps_or_not_known() -> None:
    found = compare_run(watched({"nginx": 50e-6})).resources
    assert found is not None
    (memory,) = found.memory
    assert memory.bytes_each == pytest.approx(2_000.0)
    few = compare_run(watched({"nginx": 50e-6}, blocks=3)).resources
    assert few is not None and math.isnan(few.memory[0].bytes_each)
    assert few.memory[0].highest_bytes == pytest.approx(1e6 + 2_000 * 40)
    text = page(watched({"nginx": 50e-6}, blocks=3))
    assert "Memory for each connection to nginx: – (no certain rise over the load steps" in text


@pytest.mark.parametrize(
    ("given", "is_bound"),
    [
        ({"processor_share": 0.9, "disk_share": 0.2, "own_processors": 3.4, "processors": 4}, limits.PROCESSOR),
        ({"processor_share": 0.9, "disk_share": 0.2, "own_processors": 1.0, "processors": 4}, limits.OTHERS),
        ({"processor_share": 0.9, "disk_share": 0.2}, limits.UNKNOWN),
        ({"processor_share": 0.84, "disk_share": 0.86}, limits.DISK),
        ({"processor_share": 0.9, "disk_share": 0.95}, limits.DISK),
        ({"processor_share": 0.95, "disk_share": 0.9, "own_processors": 2.0, "processors": 4}, limits.PROCESSOR),
        ({"processor_share": 0.3, "disk_share": math.nan, "own_processors": 1.0, "processors": 4}, limits.ONE),
        ({"processor_share": 0.3, "disk_share": 0.1, "own_processors": 1.0, "processors": 1}, limits.NOTHING),
        ({"processor_share": 0.3, "disk_share": 0.1, "memory_pressure": 0.2}, limits.MEMORY),
        ({"processor_share": math.nan, "disk_share": math.nan}, limits.NOTHING),
        ({"processor_share": 0.26, "disk_share": 0.1, "processors": 4, "busiest_share": 0.98}, limits.ONE),
        ({"processor_share": 0.55, "disk_share": 0.1, "processors": 2, "busiest_share": 0.98}, limits.ONE),
        ({"processor_share": 0.8, "disk_share": 0.1, "processors": 4, "busiest_share": 0.98}, limits.NOTHING),
        ({"processor_share": 0.26, "disk_share": 0.1, "processors": 4, "busiest_share": 0.6}, limits.NOTHING),
        ({"processor_share": 0.26, "disk_share": 0.1, "processors": 0, "busiest_share": 0.98}, limits.NOTHING),
        ({"processor_share": 0.99, "disk_share": 0.1, "generator": True}, limits.GENERATOR),
        ({"processor_share": 0.99, "disk_share": 0.1, "link": True}, limits.LINK),
    ],
)
def test_what_is_at_its_limit_is_said_by_one_rule(given: dict[str, float], is_bound: str) -> None:
    assert limits.bound(**given) == is_bound  # type: ignore[arg-type]


def test_the_way_of_the_limit_is_a_sentence() -> None:
    load_steps = [Clients(n) for n in (1, 8, 24, 40, 60)]
    names = (limits.PROCESSOR, limits.PROCESSOR, limits.NOTHING, limits.DISK, limits.DISK)
    found = way([(load_step, WORDS[what]) for load_step, what in zip(load_steps, names, strict=True)])
    middle = "nothing seen at its limit at 24 clients"
    assert found == f"processor-bound up to 8 clients, {middle}, disk-bound from 40 clients on"
    assert way([(load_steps[0], "x")]) == "x at 1 client"
    assert way([(load_step, "x") for load_step in load_steps]) == "x at every load step"


def test_a_full_processor_is_told_at_its_load_steps() -> None:
    """Processors of four: nginx uses its rate times its cost of them."""
    found = compare_run(watched({"nginx": 45e-6})).resources
    assert found is not None
    for use in found.uses:
        assert (use.bound == limits.PROCESSOR) == (use.processor_share >= 0.85)
        assert use.own_processors / 4 == pytest.approx(use.processor_share, rel=1e-6)
    assert sentence(found.limits[0]).startswith("What is at its limit: nginx: ")


def test_who_did_not_fill_the_processors_is_told_so() -> None:
    """Seen: "processor-bound at every load step" of a server that used a hundredth of what others of its machine
    had.
    """
    record = watched({"nginx": 1e-6}, facts=HERE)
    hog = {"cpu_user_s": (2.0,) * 6, "cpu_idle_s": (0.0,) * 6}
    trials = tuple(
        replace(t, telemetry=tuple(each.model_copy(update={"series": {**each.series, **hog}}) for each in t.telemetry))
        for t in record.trials
    )
    found = compare_run(replace(record, trials=trials)).resources
    assert found is not None
    most = max(use.own_processors / 2 for use in found.uses)
    assert 0.0 < most < 0.1
    said = f"the load generator; of all processor time it used {wording.percent(most)} itself at most)."
    texts = sentence(found.limits[0])
    assert texts.endswith(said) and "processors full, mostly by others at every load step" in texts
    assert "processor-bound" not in texts, "that would be said of its own processes"


def test_a_disk_that_worked_in_one_trial_of_eight_was_not_busy_all_the_time() -> None:
    """Disks and links that did nothing in a trial are not in it."""
    record = watched({"nginx": 5e-6})
    busy = {"disk/sda/busy_s": (1.0,) * 6, "disk/sda/written_bytes": (8e6,) * 6, "net/eth0/out_bytes": (4e6,) * 6}
    trials = []
    for trial in record.trials:
        if trial.contender == "nginx" and trial.block == 1:
            (first, telemetry_seen) = trial.telemetry
            trial = replace(
                trial,
                telemetry=(first, telemetry_seen.model_copy(update={"series": {**telemetry_seen.series, **busy}})),
            )
        trials.append(trial)
    found = compare_run(replace(record, trials=tuple(trials))).resources
    assert found is not None
    for use in found.uses:
        assert (use.disk, use.disk_share) == ("sda", pytest.approx(1 / 8)) and use.bound != limits.DISK
        assert (use.disk_bytes_per_s, use.network_bytes_per_s) == (pytest.approx(1e6), pytest.approx(0.5e6))
    unseen = compare_run(record).resources
    assert unseen is not None and all(math.isnan(use.disk_share) for use in unseen.uses)


@pytest.mark.parametrize(
    ("links", "counted"),
    [
        (("eth0", "eth1", "bond0", "bond0.100", "lo"), 2),
        (("eth0", "eth0.7", "br-1a2b", "docker0", "vlan7"), 1),
        (("bridge", "eno1.x"), 2),
        (("vlan7",), 1),
    ],
)
def test_bytes_that_go_through_two_links_of_a_machine_count_once(links: tuple[str, ...], counted: int) -> None:
    series = {"cpu_user_s": (1.0,) * 6} | {f"net/{link}/in_bytes": (3e6,) * 6 for link in links}
    found = compare_run(watched({"nginx": 5e-6}, own=False, series=series)).resources
    assert found is not None
    assert [use.network_bytes_per_s for use in found.uses] == [pytest.approx(counted * 3e6)] * len(LOAD_STEPS)


@pytest.mark.parametrize(("speed", "share", "bound"), [(10_000_000, 0.8, False), (8_500_000, 8 / 8.5, True)])
def test_the_fullest_link_is_told_by_its_fuller_direction(speed: int, share: float, bound: bool) -> None:
    series = {"cpu_user_s": (1.0,) * 6} | {
        f"net/{link}/{way}_bytes": (each,) * 6
        for link, (into, out) in {"eth0": (2e6, 8e6), "eth1": (3e6, 3e6), "lo": (9e9, 9e9)}.items()
        for way, each in (("in", into), ("out", out))
    }
    record = watched({"nginx": 5e-6}, own=False, series=series)
    speeds = {"eth0": speed, "eth1": 10_000_000, "lo": 1, "eth7": 0, "eth8": "fast"}
    trials = tuple(
        replace(trial, telemetry=tuple(_with_speeds(seen, speeds) for seen in trial.telemetry))
        for trial in record.trials
    )
    found = compare_run(replace(record, trials=trials)).resources
    assert found is not None
    for use in found.uses:
        assert (use.link, use.link_share) == ("eth0", pytest.approx(share))
        assert (use.bound == limits.LINK) == bound
    unknown = compare_run(record).resources
    assert unknown is not None and all(math.isnan(use.link_share) for use in unknown.uses)


def _with_speeds(seen: Telemetry, speeds: dict[str, object]) -> Telemetry:
    return seen.model_copy(update={"facts": {**seen.facts, "link_bytes_per_s": speeds}})


def test_a_server_that_uses_more_than_one_processor_later_is_not_bound_by_one_before() -> None:
    def bounds(cost_s: float) -> dict[int, str]:
        found = compare_run(watched({"nginx": cost_s})).resources
        assert found is not None
        return {use.load_step.clients: use.bound for use in found.uses}

    many = bounds(45e-6)
    assert many[1] == limits.NOTHING and many[8] == limits.PROCESSOR, "one processor by 11,000 requests/s, then four"
    one = bounds(11.75e-6)
    assert one[1] == limits.NOTHING and one[40] == limits.ONE


def test_under_a_rate_nobody_knows_how_many_connections_there_are() -> None:
    found = compare_run(at_rates(watched({"nginx": 5e-6}))).resources
    assert found is not None and found.uses and not found.memory


def test_work_that_opens_no_connection_has_no_memory_of_any() -> None:
    """Clients of a file suite open none: memory divided by them would be that of nothing."""
    record = watched({"nginx": 50e-6})
    trials = tuple(replace(trial, connections={}) for trial in record.trials)
    found = compare_run(replace(record, trials=trials)).resources
    assert found is not None and found.uses and not found.memory


def test_processors_that_a_hypervisor_took_away_are_no_room_that_is_left() -> None:
    """Of four processors one was stolen, and nginx used nearly all of the rest."""
    record = watched({"nginx": 34e-6})
    trials = []
    for trial in record.trials:
        telemetry_seen = trial.telemetry[-1]
        if trial.contender == "nginx" and trial.load_step.clients == 24:
            idle = tuple(max(0.0, (value or 0.0) - 1.0) for value in telemetry_seen.series["cpu_idle_s"])
            series = {**telemetry_seen.series, "cpu_idle_s": idle, "cpu_steal_s": (1.0,) * 6}
            trial = replace(trial, telemetry=(trial.telemetry[0], telemetry_seen.model_copy(update={"series": series})))
        trials.append(trial)
    found = compare_run(replace(record, trials=tuple(trials))).resources
    assert found is not None
    (use,) = [use for use in found.uses if use.load_step == Clients(24)]
    assert 0.6 < use.processor_share < 0.8 and use.steal_share == pytest.approx(0.25, abs=0.01)
    assert use.bound == limits.PROCESSOR


def one_thread(facts: dict[str, object] = THERE, top: float = 24) -> RunRecord:
    """nginx on a machine of its own, watched as a whole: one processor of four is ever fuller up to `top` clients."""
    record = watched({"nginx": 1e-6}, own=False, facts=facts)
    trials = []
    for trial in record.trials:
        if trial.contender == "nginx":
            (first, telemetry_seen) = trial.telemetry
            busy = 0.98 * min(1.0, trial.load_step.clients / top)
            work = {"cpu_user_s": (busy + 0.06,) * 6, "cpu_idle_s": (3.94 - busy,) * 6}
            shares = {"processor_shares": (0.02, busy, 0.02, 0.02), "busiest_share": busy}
            telemetry_seen = telemetry_seen.model_copy(update={"series": {**telemetry_seen.series, **work}, **shares})
            trial = replace(trial, telemetry=(first, telemetry_seen))
        trials.append(trial)
    return replace(record, trials=tuple(trials))


def test_a_server_with_one_thread_fills_one_processor_though_the_mean_is_low() -> None:
    record = one_thread()
    found = compare_run(record).resources
    assert found is not None
    bounds = {use.load_step.clients: use.bound for use in found.uses}
    assert bounds == {1: limits.NOTHING, 8: limits.NOTHING, 24: limits.ONE, 40: limits.ONE}
    one = next(use for use in found.uses if use.load_step == Clients(40)).each_processor
    assert one is not None and (one.processors, one.full) == (4, 1)
    assert (one.busiest_share, one.highest_share, one.lowest_share) == pytest.approx((0.98, 0.98, 0.02))
    assert one.shares == pytest.approx((0.02, 0.98, 0.02, 0.02))
    way = "nothing seen at its limit up to 8 clients, bound by one processor from 24 clients on"
    assert limits_of(record)[0] == ("nginx", way, "–", "24 clients", "98 %", "26 %")
    assert "Each processor where nginx runs, %" in page(record)


def test_where_no_higher_load_step_says_otherwise_one_processor_is_the_limit() -> None:
    """At 8 clients one was full, and at 24 the machine did three times as much: it was not the limit."""
    record = one_thread(top=8)
    trials = []
    for trial in record.trials:
        telemetry_seen = trial.telemetry[-1]
        if trial.contender == "nginx" and trial.load_step.clients >= 24:
            work = {"cpu_user_s": (3.0,) * 6, "cpu_idle_s": (1.0,) * 6}
            shares = {"processor_shares": (0.75,) * 4, "busiest_share": 0.8}
            telemetry_seen = telemetry_seen.model_copy(update={"series": {**telemetry_seen.series, **work}, **shares})
            trial = replace(trial, telemetry=(trial.telemetry[0], telemetry_seen))
        trials.append(trial)
    found = compare_run(replace(record, trials=tuple(trials))).resources
    assert found is not None and {use.bound for use in found.uses} == {limits.NOTHING}


def test_a_processor_that_the_load_generator_may_have_filled_limits_no_server() -> None:
    record = one_thread(facts=HERE | {"processors": 4})
    found = compare_run(record).resources
    assert found is not None and {use.bound for use in found.uses} == {limits.NOTHING}
    (section,) = [one for one in compose(record, compare_run(record)).sections if one.id == "resources"]
    table = next(block for block in section.blocks if isinstance(block, Table))
    assert "nginx shares processors and disks with the load generator" in table.note


def test_a_thread_that_goes_round_is_told_so() -> None:
    record = one_thread()
    trials = [
        replace(t, telemetry=(*t.telemetry[:-1], t.telemetry[-1].model_copy(update={"processor_shares": (0.26,) * 4})))
        if t.contender == "nginx"
        else t
        for t in record.trials
    ]
    assert limits_of(replace(record, trials=tuple(trials)))[0][-3:] == ("98 %", "26 %", "26 %")


def test_many_processors_are_told_by_their_middle_and_ends() -> None:
    record = one_thread()
    shares = tuple(0.9 if n < 3 else 0.1 for n in range(200))
    trials = [
        replace(t, telemetry=(*t.telemetry[:-1], t.telemetry[-1].model_copy(update={"processor_shares": shares})))
        if t.contender == "nginx"
        else t
        for t in record.trials
    ]
    record = replace(record, trials=tuple(trials))
    (section,) = [one for one in compose(record, compare_run(record)).sections if one.id == "resources"]
    (table,) = [b for b in section.blocks if isinstance(b, Table) and b.title == "Each processor where nginx runs"]
    assert table.rows[0] == ("1", "200", "10.0", "10.0", "90.0", "3")
