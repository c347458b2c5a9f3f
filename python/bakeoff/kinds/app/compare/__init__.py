"""What comparisons know of application servers: the score that decides is made of what each client got."""

from __future__ import annotations

from typing import Any

from bakeoff.compare import settings
from bakeoff.compare.kind import ComparePart
from bakeoff.compare.metric import Metric
from bakeoff.kinds.app.compare.scores import scores


class App(ComparePart):
    """See ComparePart. In this protocol a status other than success is how a server says no for now, which is honest.
    A client without any transaction was starved, however short the trial.
    """

    work = "transactions"
    wrong = ("protocol",)
    enough = 0

    def rates(self, plan: dict[str, Any]) -> tuple[Metric, ...]:
        """The three scores; the unweighted one decides."""
        rate = f"{self.work}/s"
        title = f"{rate[0].upper()}{rate[1:]}"
        think_s = settings.number(plan, "think_s", 0.0)
        published = f"{title} (weighted harmonic mean over clients, as published)"
        return (
            Metric(
                "rate",
                f"{title} (unweighted harmonic mean over clients)",
                rate,
                True,
                "log",
                lambda t: scores(t).unweighted,
                rate,
            ),
            Metric("plain", f"{title} (plain)", rate, True, "log", lambda t: scores(t).plain, f"plain {rate}"),
            Metric("weighted", published, rate, True, "log", lambda t: scores(t, think_s).weighted, f"weighted {rate}"),
        )


PART = App()
