"""What reports know of mail."""

from __future__ import annotations

from bakeoff.kinds.mail.report import known  # noqa: F401 - it registers its words
from bakeoff.kinds.mail.report.section import section
from bakeoff.kinds.mail.story import narrative
from bakeoff.report.kind import ReportPart
from bakeoff.report.layout.context import Context


class Mail(ReportPart):
    """See ReportPart. Its section tells every step."""

    sections = (section,)
    rate_curves = ("rate", "accepted", "throughput")
    figures_shown = frozenset({"ledger", "flow", "visible", "response", "refusals", "sessions", "share", "done"})
    tells_operations = True

    def narrative(self, context: Context) -> tuple[str, ...]:
        return narrative(context)


PART = Mail()
