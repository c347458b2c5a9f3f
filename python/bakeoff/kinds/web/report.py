"""What reports know of requests to web servers."""

from __future__ import annotations

from bakeoff.compare import wording
from bakeoff.kinds.web.compare import only_heads
from bakeoff.kinds.web.figures import WebFigures
from bakeoff.report.context import Context
from bakeoff.report.kind import ReportPart


class Web(ReportPart):
    """See ReportPart."""

    figures_shown = frozenset({"bodies_hashed"})

    def audit_notes(self, context: Context) -> tuple[str, ...]:
        """How many replies were held against the corpus byte by byte."""
        return tuple(line for name in context.names if (line := _hashed(context, name)))

    def method_note(self, context: Context) -> str:
        """That there were no bodies."""
        text = "Requests are HEAD: the bytes of replies are those of headers, and no body was compared."
        return text if only_heads(context.run) else ""


def _hashed(context: Context, name: str) -> str:
    """Empty for work that is not checked so."""
    per_trial = [t.figures(WebFigures).bodies_hashed for t in context.usable if t.contender == name]
    counts = [count for count in per_trial if count is not None]
    if not counts:
        return ""
    replies = wording.plural(sum(counts), "reply", "replies")
    return f"The bodies of {replies} of {name} were hashed, ramps included; the others were held to their length alone."


PART = Web()
