"""What reports know of requests to web servers."""

from __future__ import annotations

from bakeoff.compare.validity.client_options import settings_by_name
from bakeoff.kinds.web.compare import MixedTls, only_heads
from bakeoff.kinds.web.connecting import section
from bakeoff.kinds.web.figures import WebFigures
from bakeoff.kinds.web.story import narrative
from bakeoff.plan.settings.shared import CommonSettings
from bakeoff.report.kind import ReportPart
from bakeoff.report.layout.context import Context
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advised import advised


@advised.register
def _(fact: MixedTls) -> tuple[str, str]:
    return (
        f"Contenders are not asked alike: {', '.join(f'{name} by {way}' for name, way in fact.ways.items())}.",
        "Ask all of them alike, unless TLS is what is compared: handshakes are part of what is measured.",
    )


class Web(ReportPart):
    sections = (section,)
    figures_shown = frozenset({"bodies_hashed"})

    def audit_notes(self, context: Context) -> tuple[str, ...]:
        """How many replies were held against the corpus byte by byte."""
        counts = {name: count for name in context.names if (count := _hashed(context, name)) is not None}
        if not counts:
            return ()
        notes = [f"{wording.plural(count, 'reply', 'replies')} of {name}" for name, count in counts.items()]
        text = f"The bodies of {wording.names(notes)} were hashed, ramps included; the others were held to their length"
        return (f"{text} alone.",)

    def narrative(self, context: Context) -> tuple[str, ...]:
        """See ReportPart; with what clients and streams are, and that there were no bodies."""
        heads = "Requests are HEAD: replies have headers alone, and no body was compared."
        settings = context.run.planned.settings
        asked = {own.get("http"): None for own in settings_by_name(context.run).values()}
        notes = [_with_streams(settings, version) for version in asked if version in ("2", "3")]
        return (*narrative(context), *notes, *([heads] if only_heads(context.run) else []))


def _with_streams(settings: CommonSettings, version: str) -> str:
    """How many connections there are, and how many requests on each."""
    connections = wording.plural(settings.virtual_users, "connection")
    requests = wording.plural(settings.sessions_per_client // settings.virtual_users, "request")
    quic = ", without what QUIC adds to them" if version == "3" else ""
    return (
        f"Requests are HTTP/{version}: each client has {connections}, with up to {requests} at once on each (streams); "
        "a wait for a stream is part of the response time, and connecting is that of the request which opened the "
        f"connection. Bytes are those of a request's own frames{quic}."
    )


def _hashed(context: Context, name: str) -> int | None:
    """None for work that is not checked so."""
    per_trial = [t.figures(WebFigures).bodies_hashed for t in context.usable if t.contender == name]
    counts = [count for count in per_trial if count is not None]
    return sum(counts) if counts else None


PART = Web()
