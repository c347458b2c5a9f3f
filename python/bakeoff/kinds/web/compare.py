"""What comparisons know of requests to web servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.kind import ComparePart
from bakeoff.compare.model.comparison import Audit
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.validity.audits import same_content
from bakeoff.kinds.web.connections import WebSummary, web_summary
from bakeoff.kinds.web.plan import WebSettings
from bakeoff.kinds.web.settings.classes import web_classes
from bakeoff.store.records.run_records import RunRecord, TrialRecord


@dataclass(frozen=True)
class MixedTls(Fact):
    """By contender the scheme of its address, where some have TLS and others have not."""

    ways: Mapping[str, str]


class Web(ComparePart):
    work = "requests"

    def moved_bytes(self, trial: TrialRecord) -> int:
        """Those received: a client sends only questions."""
        return trial.bytes_in

    def same_work(self, run: RunRecord, cube: Cube) -> Sequence[Audit]:
        """Replies to HEAD have no body, and no content to compare; pages of errors are each server's own."""
        return () if only_heads(run) else (same_content(cube, _error_pages(run)),)

    def advice(self, run: RunRecord) -> list[Fact]:
        """That some contenders are asked over TLS, and others are not."""
        ways = {each.name: each.address.partition(":")[0] for each in run.contenders}
        if "https" not in ways.values() or len(set(ways.values())) < 2:
            return []
        return [MixedTls(ways)]

    def summary(self, run: RunRecord) -> WebSummary:
        """Connections."""
        return web_summary(run)


def _error_pages(run: RunRecord) -> frozenset[str]:
    """The classes that ask for what is not there."""
    return frozenset(c.name for c in web_classes(run.planned.classes) if c.source == "missing")


def only_heads(run: RunRecord) -> bool:
    """Whether the requests of a run are HEAD, whose replies have no body."""
    settings = run.planned.settings
    return isinstance(settings, WebSettings) and settings.method == "HEAD"


PART = Web()
