"""What comparisons know of requests to web servers."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare import settings
from bakeoff.compare.audits import same_content
from bakeoff.compare.cube import Cube
from bakeoff.compare.kind import ComparePart
from bakeoff.compare.model import Audit
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


def _error_pages(run: RunRecord) -> frozenset[str]:
    """The classes that ask for what is not there."""
    classes = run.plan.get("classes")
    tables = [c for c in classes if isinstance(c, dict)] if isinstance(classes, list) else []
    return frozenset(str(c.get("name")) for c in tables if c.get("source") == "missing")


def only_heads(run: RunRecord) -> bool:
    """Whether the requests of a run are HEAD, whose replies have no body."""
    return settings.text(run.plan, "method") == "HEAD"


PART = Web()
