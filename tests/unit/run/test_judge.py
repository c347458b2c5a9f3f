from typing import Any

import pytest

from bakeoff.agents.result import Outcome, TrialResult
from bakeoff.load.load_step import Clients
from bakeoff.run.checks.capacity_limit import GeneratorCapacity
from bakeoff.run.fleet.agent_results import trial_record
from bakeoff.run.fleet.session import AgentOutcome, FleetOutcome
from bakeoff.run.outcome.judge import jain, judge, list_errors, marks, to_record, without_result
from bakeoff.store.records.run_records import OutsideRecord, PlannedTrial
from tests.unit.run.fake import EMPTY, MAIL, WEB, result

PLANNED = PlannedTrial(3, "a", Clients(2), 1, 99)


def starts(never_started: int, ran_out: int, offered: int = 1_000) -> dict[str, Any]:
    """A trial at a rate of which so many starts never began, and so many found no idle connection."""
    began = {
        "offered": offered,
        "started": offered - never_started,
        "never_started": never_started,
        "answered": offered // 2,
    }
    return {"starts": began | {"ran_out": ran_out, "connections_used": 9, "late": EMPTY}}


def idle_client(run_delay_share: float | None, operations: int = 0) -> dict[str, Any]:
    """A trial whose second client did so many operations, while a load thread waited for a processor."""
    done = (500 - operations, operations)
    clients = [{"client": i, "operations": n, "errors": 0, "bytes_in": 1, "busy_s": 1.9} for i, n in enumerate(done)]
    return {"generator": {"run_delay_share": run_delay_share}, "per_client": clients}


@pytest.mark.parametrize(
    ("changes", "state", "reason"),
    [
        ({}, "ok", ""),
        ({"operations": 95, "errors": {"refused": 5}, "errors_total": 5}, "ok", ""),
        (
            {"operations": 94, "errors": {"refused": 6}, "errors_total": 6},
            "failed",
            "6.0% of operations failed, more than 5% (refused 6)",
        ),
        (
            {"operations": 0, "errors": {"reply_timeout": 2, "refused": 30}, "errors_total": 32},
            "failed",
            "no operation succeeded (refused 30, reply timeout 2)",
        ),
        ({"operations": 0}, "failed", "no operation succeeded (none was finished in the window)"),
        ({"fatal": "the certificate is wrong"}, "failed", "the certificate is wrong"),
        (idle_client(run_delay_share=0.5), "ok", ""),
        (idle_client(run_delay_share=None), "ok", ""),
        (
            idle_client(run_delay_share=0.7),
            "voided",
            "1 of 2 clients did (next to) nothing, and a thread of the load generator waited for a processor for 70% "
            "of the window: keep other work off the machine, or give the generator cores of its own (--load-threads, "
            "--pin)",
        ),
        (idle_client(run_delay_share=0.7, operations=60), "ok", ""),
        (idle_client(run_delay_share=0.7) | starts(never_started=0, ran_out=0), "ok", ""),
        (idle_client(run_delay_share=0.7) | {"fatal": "it is gone"}, "failed", "it is gone"),
        (starts(never_started=10, ran_out=0), "ok", ""),
        (
            starts(never_started=11, ran_out=0),
            "voided",
            "the generator did not begin 11 of 1,000 planned starts, with connections idle: give it more cores "
            "(--load-threads), or a lower rate",
        ),
        (starts(never_started=400, ran_out=450), "ok", ""),
        (
            {"errors": {"ports_exhausted": 1}, "errors_total": 1},
            "voided",
            "the generator ran out of local ports: use keep_alive or more source_addresses (1 times)",
        ),
        (
            {"errors": {"too_many_files": 3}, "errors_total": 3, "fatal": "x", "operations": 0},
            "voided",
            "the generator ran out of open files: raise `ulimit -n` (3 times)",
        ),
        (
            {
                "generator": {"disturbances": {"stops": [{"at_s": 0.5, "length_s": 0.25, "window_s": 0.25}]}},
                "fatal": "x",
            },
            "voided",
            "the load generator did not run for 0.25 s of the window of 2 s: other work had its processors, or it was "
            "stopped (SIGSTOP, a debugger, a paused virtual machine): keep other work off the machine, and do not "
            "stop it",
        ),
        # A sleeper of a loaded machine is late, too, but not so much; and outside the window nothing is lost.
        ({"generator": {"disturbances": {"stops": [{"at_s": 0.5, "length_s": 0.24, "window_s": 0.24}] * 4}}}, "ok", ""),
        ({"generator": {"disturbances": {"stops": [{"at_s": 2.4, "length_s": 9.0, "window_s": 0.0}]}}}, "ok", ""),
        (
            {"generator": {"disturbances": {"suspended_s": 30.0}}},
            "voided",
            "the machine was suspended for 30 s: keep it awake while a run goes on",
        ),
        (
            {"generator": {"disturbances": {"clock_step_s": -1.0}}},
            "voided",
            "the clock of this machine was set by -1 s during the trial, as after a paused virtual machine: run again "
            "once it is right",
        ),
        ({"generator": {"disturbances": {"clock_step_s": 0.2, "suspended_s": 0.2}}}, "ok", ""),
        (
            {"generator": {"disturbances": {"stolen_s": 0.26, "stolen_share": 0.11}}},
            "voided",
            "the hypervisor gave 11% of this machine's processor time to others: measure on a quieter host",
        ),
        ({"generator": {"disturbances": {"stolen_s": 0.02, "stolen_share": 0.11}}}, "ok", ""),
        (
            {"workload": {"unsolicited": 1}, "connections": {"opened": 1, "failed": 0, "unsolicited": 2}},
            "failed",
            "3 replies came that no request had asked for: any figure may count one as an answer",
        ),
        (
            {"operations": 0, "errors": {}, **starts(0, 0, offered=0)},
            "voided",
            "nothing was asked for in the window: make it longer, or the rate higher",
        ),
        (
            {
                "operations": 0,
                "errors": {},
                **starts(0, 0, offered=0),
                "unfinished": {"operations": 1, "oldest_s": 2.0},
            },
            "failed",
            "no operation succeeded (none was finished in the window)",
        ),
        (
            {"cancelled": True, "operations": 0, "errors": {"ports_exhausted": 1}},
            "interrupted",
            "stopped after 2.5 s",
        ),
    ],
)
def test_states(changes: dict[str, Any], state: str, reason: str) -> None:
    assert judge(result(**changes), 0.05, MAIL) == (state, reason)


@pytest.mark.parametrize(
    ("changes", "null_rate", "expected"),
    [
        ({}, 1e6, ()),
        ({"generator": {"cpu_share": 0.91}}, 1e6, ("generator-limited",)),
        ({"generator": {"cpu_share": 0.9}}, 1e6, ()),
        ({"generator": {"cpu_share": 1.0, "busy_share": 0.4, "polled_s": 1.2}}, 1e6, ()),
        ({"generator": {"cpu_share": 1.0, "busy_share": 0.95, "polled_s": 0.1}}, 1e6, ("generator-limited",)),
        ({"generator": {"run_delay_share": 0.051}}, 1e6, ("generator-waited",)),
        ({"generator": {"run_delay_share": 0.05}}, 1e6, ()),
        ({}, 300.0, ("near-generator-capacity",)),
        ({}, None, ()),
        ({"operations": 367}, 1e6, ("few-operations",)),
        ({"generator": {"late_start": EMPTY | {"count": 1, "p99_ns": 60_000_000}}}, 1e6, ("late-start",)),
        (
            {
                "per_client": [
                    {"client": 0, "operations": 500, "errors": 0, "bytes_in": 1, "busy_s": 1.0},
                    {"client": 1, "operations": 0, "errors": 0, "bytes_in": 0, "busy_s": 1.0},
                ]
            },
            1e6,
            ("starved-client",),
        ),
        ({"unfinished": {"operations": 1, "oldest_s": 30.0}}, 1e6, ("stuck-operations",)),
    ],
)
def test_marks(changes: dict[str, Any], null_rate: float | None, expected: tuple[str, ...]) -> None:
    assert marks(result(**changes), None if null_rate is None else GeneratorCapacity(null_rate), MAIL) == expected


def test_jain() -> None:
    assert jain([5, 5, 5]) == 1.0
    assert jain([9, 0, 0]) == pytest.approx(1 / 3)
    assert jain([1, 2]) == pytest.approx(9 / 10)
    assert jain([]) == 1.0 and jain([0, 0]) == 1.0


def test_rates_are_of_the_window() -> None:
    record = to_record(PLANNED, "now", result(), 0.05, GeneratorCapacity(1e6), WEB)
    assert (record.operations_per_s, record.bytes_per_s, record.window_s) == (250.0, 2500.0, 2.0)
    assert (record.order, record.contender, record.seed, record.fairness_jain) == (3, "a", 99, 1.0)
    assert record.service.p99_ns == 4_000_000 and record.per_operation[0].name == "223"
    assert set(record.all_figures) == {"outside"} and not record.workload and record.connections["opened"] == 500


def test_what_ended_outside_the_window_is_kept() -> None:
    outside = {"operations": 9, "errors_total": 4}
    record = to_record(PLANNED, "now", result(outside=outside), 0.05, None, WEB)
    assert record.outside == OutsideRecord(9, 4)


def test_a_window_of_no_length_has_no_rate() -> None:
    record = to_record(
        PLANNED, "now", result(window_s=0.0, operations=0, per_client=[]), 0.05, GeneratorCapacity(1e6), WEB
    )
    assert (record.operations_per_s, record.bytes_per_s) == (0.0, 0.0)


def test_a_trial_without_result_keeps_its_place() -> None:
    record = without_result(PLANNED, "now", "failed", "why")
    assert (record.order, record.state, record.reason, record.operations) == (3, "failed", "why", 0)


def test_errors_are_listed_by_number() -> None:
    assert list_errors({"a_b": 1, "c": 2000, "z": 0}) == "c 2,000, a b 1"


def test_the_wait_for_a_processor_is_kept_and_absent_in_old_results() -> None:
    known = to_record(PLANNED, "now", result(generator={"run_delay_share": 0.25}), 0.05, GeneratorCapacity(1e6), WEB)
    assert known.generator_run_delay_share == 0.25
    assert to_record(PLANNED, "now", result(), 0.05, GeneratorCapacity(1e6), WEB).generator_run_delay_share is None


def several(*results: TrialResult) -> FleetOutcome:
    """What a fleet tells of agents a, b, … of which the first result is that of all together."""
    parts = [AgentOutcome(name, 1, Outcome(one, {}), "", 0) for name, one in zip("abc", results[1:], strict=False)]
    return FleetOutcome(Outcome(results[0], {}), tuple(parts))


def test_a_server_that_is_slow_for_one_machine_does_not_excuse_what_another_left_undone() -> None:
    full, idle = result(1, **starts(300, 350)), result(1, **starts(50, 0))
    of_all = result(2, **starts(350, 350, offered=2_000))
    record = trial_record(PLANNED, "", several(of_all, full, idle), 0.01, None, WEB, False, 5.0)
    assert record.state == "voided"
    assert record.reason.startswith("agent b did not begin 50 of 1,000 planned starts, with connections idle")
    both = several(result(2, **starts(310, 350, offered=2_000)), full, result(1, **starts(10, 0)))
    assert trial_record(PLANNED, "", both, 0.01, None, WEB, False, 5.0).state == "ok"


@pytest.mark.parametrize(
    ("known_busy", "busy", "marked"),
    [(None, 0.2, True), (0.95, 0.2, True), (0.9, 0.2, False), (0.3, 0.7, False), (0.3, 0.71, True)],
)
def test_above_a_lower_bound_only_a_busy_generator_is_near(known_busy: float | None, busy: float, marked: bool) -> None:
    """A server that was slower than the generator says nothing of the generator's limit."""
    observed = result(generator={"cpu_share": busy})
    assert ("near-generator-capacity" in marks(observed, GeneratorCapacity(300.0, {}, known_busy), WEB)) == marked
    assert "near-generator-capacity" not in marks(observed, GeneratorCapacity(1e6, {}, known_busy), WEB), (
        "far below it is far below"
    )


def test_a_machine_near_its_own_ceiling_is_not_hidden_by_others_that_have_room() -> None:
    of_all = result(2, operations=2_500), result(1, operations=2_000), result(1, operations=500)
    for slow, marked in ((1_100.0, True), (10_000.0, False)):  # of two seconds
        capacities = {"a": slow, "b": 1e6}
        record = trial_record(
            PLANNED,
            "",
            several(*of_all),
            0.01,
            GeneratorCapacity(sum(capacities.values()), capacities),
            WEB,
            False,
            5.0,
        )
        assert ("near-generator-capacity" in record.marks) == marked
