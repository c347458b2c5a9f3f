"""The scores by hand, and that a starved client is neither hidden nor averaged away."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bakeoff.compare import compare_run
from bakeoff.kinds.app.compare.scores import scores
from bakeoff.report.blocks.tree import Cards, Text
from bakeoff.report.compose import compose
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.records.trial_parts import ClientRecord, StepRecord
from bakeoff.telemetry.model import Telemetry
from tests.told import headline_of
from tests.unit.compare.synthetic import run, summary


def trial(*clients: tuple[int, float], window_s: float = 10.0) -> TrialRecord:
    """A trial of clients given as (transactions, seconds in them)."""
    (one,) = run(load_steps=(len(clients),), blocks=1).trials[:1]
    records = tuple(ClientRecord(i, n, 0, 0, busy_s) for i, (n, busy_s) in enumerate(clients))
    return replace(one, per_client=records, operations=sum(n for n, _ in clients), window_s=window_s)


def test_the_three_scores_by_hand() -> None:
    found = scores(trial((100, 10.0), (50, 10.0)))
    assert found.plain == 15
    assert found.weighted == pytest.approx(2 * 150 / 20)
    assert found.unweighted == pytest.approx(2 * 2 / (1 / 10 + 1 / 5))
    assert (found.lowest, found.highest, found.starved) == (5, 10, ())


def test_without_think_time_the_weighted_score_is_the_plain_rate() -> None:
    found = scores(trial((100, 10.0), (7, 10.0), (33, 10.0)))
    assert found.weighted == pytest.approx(found.plain)
    assert found.unweighted < found.weighted, "equal weights punish the unfair server"


def test_a_client_without_a_transaction_makes_the_harmonic_scores_zero() -> None:
    found = scores(trial((100, 10.0), (0, 0.0)))
    assert (found.weighted, found.unweighted, found.plain, found.starved) == (0, 0, 10, (1,))


def app_run(starve: bool) -> RunRecord:
    """Two app servers: in one the processors are full, in the other writes take long."""
    record = run(load_steps=(1, 4), blocks=6)
    trials = []
    for t in record.trials:
        cpu, write_ms = (0.95, 0.01) if t.contender == "nginx" else (0.2, 0.5)
        shares = {"network": 0.1, "queue": 0.2, "service": 0.7}
        steps = [StepRecord(name, summary(t.operations, share)) for name, share in shares.items()]
        steps += [
            StepRecord(f"{kind}/service", summary(t.operations // 2, ms))
            for kind, ms in (("processor", 0.1), ("write", write_ms))
        ]
        server = {"cpu_share": cpu, "watched_s": 10.0, "disk_read_bytes": 0, "disk_written_bytes": 10**9}
        clients = t.per_client
        if starve and t.contender == "apache" and t.load_step.clients == 4 and t.block == 2:
            clients = (*clients[:-1], replace(clients[-1], operations=0, busy_s=0.0))
        trials.append(replace(t, steps=tuple(steps), workload={"server": server}, per_client=clients))
    return replace(record, kind="app", suite="app", trials=tuple(trials))


def text_of(record: RunRecord, section_id: str) -> str:
    report = compose(record, compare_run(record))
    return repr(next(section for section in report.sections if section.id == section_id))


def known(record: RunRecord) -> list[str]:
    """What must be known first."""
    return [warning.text for warning in warnings_of(compare_run(record)) if warning.first]


def test_the_report_names_the_starved_client() -> None:
    assert "client 3" in text_of(app_run(starve=True), "scores")
    assert "got no transaction" not in text_of(app_run(starve=False), "scores")


def test_the_starved_client_is_named_in_the_first_lines() -> None:
    comparison = compare_run(app_run(starve=True))
    said = "apache starved clients in 1 of 12 trials: client 3 of 4 got nothing in block 2."
    assert said in known(app_run(starve=True)), "among what must be known first"
    blocks = compose(app_run(starve=True), comparison).blocks(Detail.PAGE)
    texts = [place for place, block in enumerate(blocks) if isinstance(block, Text) and block.text == said]
    cards = next(place for place, block in enumerate(blocks) if isinstance(block, Cards))
    assert len(texts) == 1 and texts[0] < cards, "once, and before any figure"
    assert not any("starved" in line for line in (*headline_of(comparison)[1:], *known(app_run(starve=False))))


def test_many_starved_clients_are_counted_after_the_first() -> None:
    record = app_run(starve=False)
    trials = tuple(
        replace(t, per_client=tuple(replace(c, operations=0) if c.client else c for c in t.per_client))
        if t.contender == "nginx" and t.load_step.clients == 4
        else t
        for t in record.trials
    )
    (line,) = (text for text in known(replace(record, trials=trials)) if "starved" in text)
    assert line.startswith("nginx starved clients in 6 of 12 trials: clients 1, 2, 3 of 4 got nothing in block 1; ")
    assert line.endswith("in block 3; and 3 more.")


def test_other_suites_name_starved_clients_only_where_the_others_got_enough() -> None:
    record = replace(app_run(starve=True), kind="web")
    assert any(line.startswith("apache starved clients in 1 of 12 trials") for line in known(record))
    short = tuple(replace(t, operations=5) if t.contender == "apache" else t for t in record.trials)
    assert not any("starved" in line for line in known(replace(record, trials=short)))


def test_a_server_that_dies_in_mid_trial_has_the_rate_of_the_window() -> None:
    """Seen: 19,953/s by the time in transactions where 12,735/s were served over the window."""
    found = scores(trial((63_675, 6.38), (63_675, 6.38)))
    assert (found.weighted, found.unweighted, found.plain) == pytest.approx((12_735, 12_735, 12_735))
    thinking = scores(trial((10, 5.0), (10, 5.0)), think_s=0.5)
    assert thinking.weighted == pytest.approx(4.0), "pauses that were asked for are not the server's"


def test_the_primary_score_sees_the_starved_client() -> None:
    """Seen: one client with 6 transactions beside one with 9,345; the weights of the published mean cancel that."""
    found = scores(trial((6, 10.0), (9_345, 10.0)))
    assert found.weighted == pytest.approx(found.plain)
    assert found.unweighted < found.plain / 100


@pytest.mark.parametrize(("busy_s", "said"), [(1.9, "full processors, network or client"), (1.0, "network or client")])
def test_who_waits_for_a_full_processor_is_not_said_to_wait_for_the_network_alone(busy_s: float, said: str) -> None:
    """Seen: "bound by network or client" on one page with "processor-bound", both at every load step."""
    record = app_run(starve=False)
    shares = {"network": 0.9, "queue": 0.05, "service": 0.05}
    steps = tuple(StepRecord(name, summary(1_000, share)) for name, share in shares.items())
    idle = {"server": {"cpu_share": 0.1, "watched_s": 10.0, "disk_read_bytes": 0, "disk_written_bytes": 0}}
    series = {"cpu_user_s": (busy_s,) * 6, "cpu_system_s": (0.0,) * 6, "cpu_idle_s": (2.0 - busy_s,) * 6}
    observed = Telemetry(
        role="contender", name="nginx", source="pid:7", window_s=(1.0, 5.0), at_s=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0),
        width_s=(1.0,) * 6, series={**series, "own_user_s": (0.1,) * 6, "own_system_s": (0.1,) * 6},
        facts={"boot_id": "there", "processors": 2},
    )  # fmt: skip
    trials = tuple(
        replace(t, steps=steps, workload=idle, telemetry=(observed,)) if t.contender == "nginx" else t
        for t in record.trials
    )
    text = text_of(replace(record, trials=trials), "bottleneck")
    assert f"What is at its limit: nginx: bound by {said} at every load step." in text


def test_the_report_says_what_limits_each_server() -> None:
    text = text_of(app_run(starve=False), "bottleneck")
    assert "What is at its limit: nginx: processor-bound at every load step." in text
    assert "What is at its limit: apache: disk-bound at every load step." in text
    assert "95%" in text and "100" in text
    ids = [section.id for section in compose(app_run(False), compare_run(app_run(False))).sections]
    assert "steps" not in ids and ids.index("scores") < ids.index("bottleneck")
    web = [section.id for section in compose(run(), compare_run(run())).sections]
    assert "scores" not in web and "bottleneck" not in web and "steps" in web


def test_the_primary_metric_is_the_unweighted_harmonic_mean_over_the_window() -> None:
    comparison = compare_run(app_run(starve=False))
    assert "(unweighted harmonic" in comparison.pairs[0].primary.title
    assert {end.metric for end in comparison.pairs[0].secondary} >= {"plain", "weighted"}
