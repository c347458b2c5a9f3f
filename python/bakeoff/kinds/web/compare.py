"""What comparisons know of requests to web servers."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare import settings
from bakeoff.compare.audits import same_content
from bakeoff.compare.cube import Cube
from bakeoff.compare.kind import ComparePart
from bakeoff.compare.model import Advisory, Audit
from bakeoff.store.records import RunRecord, TrialRecord


class Web(ComparePart):
    """See ComparePart."""

    work = "requests"

    def moved_bytes(self, trial: TrialRecord) -> int:
        """Those received: a client sends only questions."""
        return trial.bytes_in

    def same_work(self, run: RunRecord, cube: Cube) -> Sequence[Audit]:
        """Replies to HEAD have no body, and no content to compare; pages of errors are each server's own."""
        return () if only_heads(run) else (same_content(cube, _error_pages(run)),)

    def advice(self, run: RunRecord) -> list[Advisory]:
        """That some contenders are asked over TLS, and others are not."""
        ways = {each.name: each.address.partition(":")[0] for each in run.contenders}
        if "https" not in ways.values() or len(set(ways.values())) < 2:
            return []
        said = ", ".join(f"{name} by {way}" for name, way in ways.items())
        advice = "Ask all of them alike, unless TLS is what is compared: handshakes are part of what is measured."
        return [Advisory(f"Contenders are not asked alike: {said}.", advice)]


def _error_pages(run: RunRecord) -> frozenset[str]:
    """The classes that ask for what is not there."""
    classes = run.plan.get("classes")
    tables = [c for c in classes if isinstance(c, dict)] if isinstance(classes, list) else []
    return frozenset(str(c.get("name")) for c in tables if c.get("source") == "missing")


def only_heads(run: RunRecord) -> bool:
    """Whether the requests of a run are HEAD, whose replies have no body."""
    return settings.text(run.plan, "method") == "HEAD"


PART = Web()
