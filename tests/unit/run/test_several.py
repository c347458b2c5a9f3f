"""Several observers of one run."""

from pathlib import Path

from bakeoff.agents.result import Snapshot
from bakeoff.run.driver import start_run
from bakeoff.run.observe.observer_group import Observers
from bakeoff.store.records.run_records import PlannedTrial
from tests.unit.run.fake import FakeAgent, Notebook, plan_for, two_contenders


class Breaking(Notebook):
    """An observer with a defect, which shows at the first snapshot."""

    def on_snapshot(self, trial: PlannedTrial, snapshot: Snapshot) -> None:
        raise ZeroDivisionError("division by zero")


def test_every_observer_of_a_run_hears_all_of_it_and_one_that_breaks_harms_no_other(tmp_path: Path) -> None:
    before, broken, after = Notebook(), Breaking(), Notebook()
    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address)
        start_run(plan, tmp_path / "x.bakeoff", [FakeAgent()], Observers(before, broken, after))
    assert before.said == after.said and before.said[0] == "run 8" and before.said[-1] == "over"
    assert len(before.trials) == 8
    assert [event.text for event in before.events if "Breaking" in event.text] == [
        "Breaking shows no more of the run (ZeroDivisionError: division by zero)"
    ]
    assert broken.said == ["run 8", "start 0", "over"]
