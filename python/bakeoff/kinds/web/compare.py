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
        """Replies to HEAD have no body, and no content to compare."""
        return () if only_heads(run) else (same_content(cube),)


def only_heads(run: RunRecord) -> bool:
    """Whether the requests of a run are HEAD, whose replies have no body."""
    return settings.text(run.plan, "method") == "HEAD"


PART = Web()
