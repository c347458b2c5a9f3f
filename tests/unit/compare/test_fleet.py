"""What a comparison says of several machines: who was slow, full or away, and nothing of machines that were alike."""

import json
import math
from dataclasses import replace

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.model.comparison import Comparison
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from tests.told import headline_of
from tests.unit.compare.fleets import FOUR, Machines, divided, without
from tests.unit.compare.synthetic import run


def warnings(record: RunRecord) -> list[str]:
    return [warning.text for warning in warnings_of(compare_run(record))]


def verdict(found: Comparison) -> str:
    return found.pairs[0].primary.verdict.kind


def test_machines_that_are_alike_are_not_mentioned() -> None:
    found = compare_run(divided(Machines()))
    assert found.machines is not None and verdict(found) == "better"
    assert warnings_of(found) == warnings_of(compare_run(run(load_steps=(4, 8, 40), blocks=6)))
    assert [machine.name for machine in found.machines.agents] == list(FOUR)
    assert not any(one.unfair for one in found.machines.ranges) and found.machines.changes == ()
    assert sum(machine.operations_share for machine in found.machines.agents) == pytest.approx(1.0)


def test_one_machine_alone_has_no_ranges() -> None:
    assert compare_run(divided(Machines(names=("ant",)))).machines is None
    assert compare_run(run(load_steps=(4,), blocks=2)).machines is None


def test_a_machine_that_is_slow_with_every_contender_is_named_as_such() -> None:
    found = compare_run(divided(Machines(speed={"cat": 0.8})))
    assert found.machines is not None
    worst = [warning_texts for warning_texts in found.machines.ranges if warning_texts.load_step.clients == 40]
    assert all(
        warning_texts.unfair and warning_texts.slowest == "cat" and 0.78 < warning_texts.ratio < 0.82
        for warning_texts in worst
    )
    (warning_texts,) = (text for text in warnings(divided(Machines(speed={"cat": 0.8}))) if "agent cat" in text)
    assert "fewer operations" in warning_texts and warning_texts.endswith("cat was the slowest with every contender.")


def test_a_server_that_favours_some_addresses_is_told_from_a_slow_machine() -> None:
    def of_one(trial: TrialRecord) -> bool:
        return trial.contender == "apache"

    (warning_texts,) = (
        text for text in warnings(divided(Machines(speed={"cat": 0.7}, of=of_one))) if "agent cat" in text
    )
    assert warning_texts.endswith("so it was with apache alone.")


def test_chance_between_few_clients_is_no_unfairness() -> None:
    """Clients that differ by 30 % among each other: machines with two of them differ by more than 5 % by chance."""
    found = compare_run(divided(Machines(spread=0.3)))
    assert found.machines is not None
    eight = [one for one in found.machines.ranges if one.load_step.clients == 8]
    assert min(one.ratio for one in eight) < 0.95 and not any(one.unfair for one in eight)


def test_a_difference_that_is_sure_but_small_is_no_unfairness() -> None:
    found = compare_run(divided(Machines(speed={"cat": 0.98}, spread=0.001)))
    assert found.machines is not None
    at_40 = [one for one in found.machines.ranges if one.load_step.clients == 40]
    assert all(one.probability < 1e-6 and not one.unfair for one in at_40)


@pytest.mark.parametrize(("cpu", "whose"), [({"bee": 0.97}, "bee"), (dict.fromkeys(FOUR, 0.97), "each of the 4")])
def test_a_busy_machine_is_named_where_it_takes_the_verdict_away(cpu: dict[str, float], whose: str) -> None:
    """The machines of the slower server were the limit: nothing is known of the server."""
    record = divided(Machines(cpu=cpu, of=lambda trial: trial.contender == "apache"))
    found = compare_run(record)
    assert verdict(found) == "withheld" and f"{whose}" in sentence(found.pairs[0].primary.verdict)
    assert any(
        "was the limit in 18 of 18 trials of apache" in text and whose in text.lower() for text in warnings(record)
    )


def test_a_full_link_is_named_and_takes_the_verdict_away() -> None:
    record = divided(Machines(link={"dog": 0.94}, of=lambda trial: trial.contender == "apache"))
    found = compare_run(record)
    full = "agent dog's link eth0 was up to 94 % full in 18 of 18 trials of apache"
    assert verdict(found) == "withheld" and full in sentence(found.pairs[0].primary.verdict)
    assert any(text.startswith("A" + full[1:]) and "the network was measured" in text for text in warnings(record))
    some = divided(Machines(link={"dog": 0.94}, of=lambda trial: trial.load_step.clients > 4))
    assert any("in 12 of 18 trials of nginx, at 8 and 40 clients: the network" in text for text in warnings(some))
    led = compare_run(divided(Machines(link={"dog": 0.94}, of=lambda trial: trial.contender == "nginx")))
    assert verdict(led) == "better" and "apache serves at most 0." in headline_of(led)[0]


def test_a_machine_with_a_low_ceiling_is_named() -> None:
    (warning_texts,) = (
        text for text in warnings(divided(Machines(capacities={"ant": 6e5}))) if "of the null server" in text
    )
    assert warning_texts.startswith("Agent ant reaches 60 % of what the others ask of")
    assert not any("reaches" in text for text in warnings(divided(Machines(capacities={"ant": 8e5}))))
    slow = divided(Machines(capacities={"ant": 6e5}))
    reported_in = {"words": "kept", "operations_per_s": 3.6e6, "busy_share": 0.4, "agents": {}}
    floors = {contender.name: reported_in for contender in slow.contenders}
    waited = replace(slow, environment={**slow.environment, "generator_capacities": floors})
    assert not any("reaches" in text for text in warnings(waited)), "it waited for the server that does nothing"


def test_from_which_trial_on_a_machine_was_missing() -> None:
    record = without(divided(Machines()), "cat", from_order=12)
    found = compare_run(record)
    assert found.machines is not None
    (change,) = found.machines.changes
    assert (change.order, change.agents, change.of, change.without) == (13, 3, 4, ("cat",))
    assert "From trial 14 on 3 of 4 agents sent the load, without cat." in warnings(record)
    assert [machine.lost for machine in found.machines.agents] == [0, 0, 1, 0]


def test_pairs_within_a_block_that_other_machines_sent_are_left_out() -> None:
    """A far machine makes both contenders slow, until it is lost between them: whoever comes second looks better."""
    same_machines = divided(Machines())
    first = min(same_machines.trials, key=lambda trial: trial.order)
    second = next(t for t in same_machines.trials if t.block == first.block and t.contender != first.contender)
    trials = tuple(
        trial
        if trial.order < second.order
        else replace(
            trial,
            operations_per_s=3.0 * trial.operations_per_s,
            per_agent=tuple(share for share in trial.per_agent if share.agent != "cat"),
        )
        for trial in same_machines.trials
    )
    known, found = compare_run(same_machines), compare_run(replace(same_machines, trials=trials))
    left = [one for one in found.left_out if "ant, bee, dog" in sentence(one.reason)]
    assert {(one.block, one.contender, one.state) for one in left} == {(first.block, second.contender, "unpaired")}
    assert found.pairs[0].primary.blocks_left_out == (first.block,)
    assert found.pairs[0].primary.ratio == pytest.approx(known.pairs[0].primary.ratio, rel=0.05)


def test_a_load_step_with_fewer_clients_than_machines_has_lost_none() -> None:
    found = compare_run(divided(Machines(), run(load_steps=(1, 4, 8), blocks=2)))
    assert found.machines is not None and found.machines.changes == ()
    assert {one.agents for one in found.machines.ranges if one.load_step.clients == 1} == {1}
    assert all(math.isnan(one.ratio) for one in found.machines.ranges if one.load_step.clients == 1)


def test_what_is_said_of_machines_is_in_the_json() -> None:
    plain = json.loads(to_json(compare_run(divided(Machines()))))
    assert [machine["name"] for machine in plain["machines"]["agents"]] == list(FOUR)
    # Half of two round trips: those of the clocks that are known least.
    assert {one["start_error_ms"] for one in plain["machines"]["ranges"]} == {0.45}
    assert len(plain["machines"]["ranges"]) == 6 and plain["machines"]["ranges"][0]["start_spread_ms"] == 0.45


def test_a_trial_without_clients_of_its_own_is_not_judged_by_them() -> None:
    record = divided(Machines(speed={"cat": 0.5}))
    bare = tuple(replace(trial, per_client=()) for trial in record.trials)
    found = compare_run(replace(record, trials=bare))
    assert found.machines is not None
    assert all(math.isnan(one.probability) and not one.unfair for one in found.machines.ranges)
