"""What a contender did wrong to the data in its care, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bakeoff.compare.failures.faults_model import Fault
from bakeoff.kinds import KINDS, load
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence


@dataclass(frozen=True)
class FaultWords:
    """How faults of one source are told: what the contender did, what was looked at, and each class of them."""

    opening: str
    noun: str
    classes: Mapping[str, str]


# By source; kinds of suites add their own.
FAULTS = {
    "records": FaultWords("gave back wrong data", "records", {"damaged": "damaged"}),
    "answers": FaultWords(
        "gave wrong content",
        "answers",
        {"wrong_content": "with other content than agreed", "short_body": "cut short of their announced length"},
    ),
}


def clause(listed: Sequence[Fault]) -> str:
    """All faults of a contender in one clause: "did not keep its mail: of 5,000 accepted, 50 lost"."""
    return wording.names([_words(fault) for fault in listed])


def disqualified(by_contender: Mapping[str, Sequence[Fault]]) -> list[str]:
    """A sentence for each contender with faults; the first lines of a report."""
    return [f"{name} is disqualified, it {clause(listed)}." for name, listed in by_contender.items()]


@sentence.register
def _words(fault: Fault) -> str:
    if fault.source not in FAULTS:
        for kind in KINDS:
            load(kind, "report", default=())
    words = FAULTS[fault.source]
    parts = [f"{count:,} {words.classes[name]}" for name, count in fault.counts.items()]
    return f"{words.opening}: of {fault.of:,} {words.noun}, {', '.join(parts)}"
