"""What reports know of application servers."""

from __future__ import annotations

from bakeoff.kinds.app.report import bottleneck, read_back, scores
from bakeoff.kinds.app.story import narrative
from bakeoff.report.kind import ReportPart
from bakeoff.report.layout.context import Context


class App(ReportPart):
    sections = (scores.section, read_back.section, bottleneck.section)
    figures_shown = frozenset({"server", "verified", "read_back", "worked_again", "times", "secret"})
    tells_operations = True

    def splits_time(self, context: Context) -> bool:
        """The bottleneck has the better split of the time: it knows what the server was doing."""
        return any(step.name == "queue" for trial in context.usable for step in trial.steps)

    def narrative(self, context: Context) -> tuple[str, ...]:
        return narrative(context)


PART = App()
