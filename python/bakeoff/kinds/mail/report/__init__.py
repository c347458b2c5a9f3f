"""What reports know of mail."""

from __future__ import annotations

from bakeoff.kinds.mail.report.section import section
from bakeoff.report.kind import ReportPart


class Mail(ReportPart):
    """See ReportPart. Its section tells every step."""

    sections = (("result", section),)
    figures_shown = frozenset({"ledger", "flow", "visible", "response", "refusals", "sessions", "share"})
    tells_operations = True


PART = Mail()
