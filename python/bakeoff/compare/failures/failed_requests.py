"""Which requests of a contender failed, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bakeoff.store.records.figures import Figures
from bakeoff.store.records.run_records import TrialRecord

MOST = 100


@dataclass(frozen=True)
class FailedRequest:
    """A request, and how often each status or class of error was its end."""

    request: str
    faults: Mapping[str, int]

    @property
    def count(self) -> int:
        """All its failures."""
        return sum(self.faults.values())


@dataclass(frozen=True)
class FailedRequests:
    """Those that failed most, and the number of all other failures."""

    rows: tuple[FailedRequest, ...]
    others: int


def failed_requests(trials: Iterable[TrialRecord]) -> FailedRequests:
    """The sums over trials, voided and failed ones too. Raises RunFileError when figures do not fit."""
    requests: dict[str, Counter[str]] = {}
    others = 0
    for trial in trials:
        failed = trial.figures(Figures).failed
        others += failed.others
        for request, faults in failed.requests.items():
            requests.setdefault(request, Counter()).update(faults)
    rows = [FailedRequest(request, dict(faults)) for request, faults in requests.items()]
    rows.sort(key=lambda row: (-row.count, row.request))
    others += sum(row.count for row in rows[MOST:])
    return FailedRequests(tuple(rows[:MOST]), others)
