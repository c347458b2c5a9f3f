"""What comparisons know of application servers: the score that decides is made of what each client got."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bakeoff.compare.kind import ComparePart
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.metrics.time_breakdown import step_times
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.pair import Gate
from bakeoff.kinds.app.compare.read_back import UNREAD, WORK, WRITES, impossible_times, unread_gates
from bakeoff.kinds.app.compare.scores import scores
from bakeoff.plan.model import Plan
from bakeoff.store.records.run_records import RunRecord, TrialRecord

STEPS = ("network", "queue", "service")


class App(ComparePart):
    """See ComparePart. In this protocol a status other than success is how a server says no for now, which is honest.
    A client without any transaction was starved, however short the trial.
    """

    work = "transactions"
    faults = (WRITES, WORK, *ComparePart.faults)
    gates_of_its_own = (UNREAD,)
    wrong = ("protocol",)
    enough = 0

    def time_breakdown(self, trials: Sequence[TrialRecord]) -> Mapping[str, Mapping[str, float]]:
        """What the server says of its time. The steps that the engine saw are the same time, divided otherwise."""
        return {"response time": step_times(trials, STEPS)}

    def gates(self, name: str, usable: list[TrialRecord], ahead: bool) -> list[Gate]:
        """What was written must be given back."""
        return unread_gates(name, usable, ahead)

    def advice(self, run: RunRecord) -> list[Fact]:
        """Times of the server's own that cannot be."""
        return impossible_times(run)

    def rates(self, plan: Plan) -> tuple[Metric, ...]:
        """The three scores; the unweighted one decides."""
        rate = f"{self.work}/s"
        title = f"{rate[0].upper()}{rate[1:]}"
        think_s = plan.settings.think_s
        return (
            Metric(
                "rate",
                title=f"{title} (unweighted harmonic mean over clients)",
                unit=rate,
                higher_is_better=True,
                scale="log",
                extract=lambda t: scores(t).unweighted,
                short=rate,
            ),
            Metric("plain", f"{title} (plain)", rate, True, "log", lambda t: scores(t).plain, f"plain {rate}"),
            Metric(
                "weighted",
                title=f"{title} (weighted harmonic mean over clients, as published)",
                unit=rate,
                higher_is_better=True,
                scale="log",
                extract=lambda t: scores(t, think_s).weighted,
                short=f"weighted {rate}",
            ),
        )


PART = App()
