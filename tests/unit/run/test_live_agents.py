"""What the progress display shows of several machines."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from bakeoff.agents.merge import merged_snapshot
from bakeoff.agents.result import RecentResult, Snapshot
from bakeoff.load.load_step import Clients
from bakeoff.run.observe.live import LiveObserver
from bakeoff.run.observe.observer import trial_line
from bakeoff.store.records.run_records import PlannedTrial
from tests.unit.compare.fleets import Machines, divided
from tests.unit.compare.synthetic import run
from tests.unit.run.fake import plan_for

PLANNED = PlannedTrial(0, "a", Clients(40), 1, 1)


def snapshot_at(operations: int, p99_ns: int, at_s: float, errors: int = 0) -> Snapshot:
    """A machine that did so many operations until `at_s`."""
    recent = RecentResult(
        span_s=1.0, operations=2, p50_ns=1_000_000, p99_ns=p99_ns, times=((1_000_000, 1), (p99_ns, 1))
    )
    return Snapshot(
        elapsed_s=at_s, phase="window", operations=operations, errors=errors, bytes_in=operations * 100, recent=recent
    )


def display(rates: dict[str, tuple[int, int]], width: int = 120) -> str:
    """What stands there after two looks, one second apart; `rates` are requests/s and p99 in ms by agent."""
    text = io.StringIO()
    live = LiveObserver(Console(file=text, width=width, force_terminal=False))
    live.on_run_start(plan_for("http://127.0.0.1:1/", suite="web-url"), 4)
    live.on_trial_start(PLANNED)
    for at_s in (1.0, 2.0):
        parts = [(name, snapshot_at(round(rate * at_s), p99 * 1_000_000, at_s)) for name, (rate, p99) in rates.items()]
        live.on_snapshot(PLANNED, merged_snapshot(parts))
    console = Console(file=(shown := io.StringIO()), width=width)
    console.print(live._render())
    live.on_run_end()
    return shown.getvalue()


def test_each_of_a_few_machines_has_a_line_below_what_they_do_together() -> None:
    text = display({"ant": (1_000, 4), "bee": (1_200, 5), "cat": (700, 9)})
    assert "2,900 requests/s" in text and "p99 9 ms" in text
    lines = [line.split() for line in text.splitlines() if line.strip().startswith(("ant", "bee", "cat"))]
    assert [line[:2] for line in lines] == [["ant", "1,000"], ["bee", "1,200"], ["cat", "700"]]
    assert "p99 4 ms" in " ".join(lines[0]) and "0 errors" in text


def test_of_many_machines_the_extremes_are_shown() -> None:
    rates = {f"m{i:03}": (1_000 + i, 4) for i in range(300)} | {"slow": (100, 5), "late": (1_150, 70)}
    text = display(rates)
    assert "302 agents, median 1,1" in text
    (least,) = (line for line in text.splitlines() if line.strip().startswith("least"))
    (most,) = (line for line in text.splitlines() if line.strip().startswith("most"))
    (late,) = (line for line in text.splitlines() if line.strip().startswith("longest p99"))
    assert "slow" in least and "100 requests/s" in least and "m299" in most and "late" in late and "p99 70 ms" in late
    assert sum("requests/s" in line for line in text.splitlines()) == 5


@pytest.mark.parametrize("width", [30, 60])
def test_a_narrow_terminal_wraps_no_line_of_a_machine(width: int) -> None:
    text = display({"a-machine-with-a-long-name": (1_000, 4), "b": (1, 5)}, width)
    assert sum("a-machine-with" in line for line in text.splitlines()) == 1


def test_one_machine_has_no_line_of_its_own() -> None:
    assert "local" not in display({"local": (1_000, 4)})


def test_the_line_of_a_trial_tells_the_range_over_machines() -> None:
    (trial, *_) = divided(Machines(speed={"cat": 0.5}), run(load_steps=(40,), blocks=1)).trials
    assert "; 4 agents, from " in trial_line(trial) and "(cat) to " in trial_line(trial)
    assert "agents" not in trial_line(run(load_steps=(40,), blocks=1).trials[0])


def test_what_others_took_in_the_trial_before_stands_beside_the_next_one() -> None:
    others = {"cores": 2, "taken": 0.96, "processes": [{"name": "stress", "pid": 7, "taken": 0.96}]}
    quiet = run().trials[0]
    busy = replace(quiet, marks=("other-load",), others=others)
    shown = io.StringIO()
    console = Console(file=shown, width=120)
    live = LiveObserver(Console(file=io.StringIO(), force_terminal=False))
    live.on_run_start(plan_for("http://127.0.0.1:1/", suite="web-url"), 4)
    for record in (busy, quiet):
        live.on_trial_end(record)
        live.on_trial_start(PLANNED)
        console.print(live._render())
    live.on_run_end()
    assert shown.getvalue().count("others took 48% of the processors (stress)") == 1
