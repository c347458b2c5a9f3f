"""What a contender did wrong to the data in its care, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bakeoff.compare.faults_model import Fault
from bakeoff.compare.kind import compare_part
from bakeoff.kinds import KINDS
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence


def clause(listed: Sequence[Fault]) -> str:
    """All faults of a contender in one clause: "did not keep its mail: of 5,000 accepted, 50 lost"."""
    return wording.names([_words(fault) for fault in listed])


def disqualified(by_contender: Mapping[str, Sequence[Fault]]) -> list[str]:
    """A sentence for each contender with faults; the first lines of a report."""
    return [f"{name} is disqualified, it {clause(listed)}." for name, listed in by_contender.items()]


@sentence.register
def _words(fault: Fault) -> str:
    source = next(one for kind in KINDS for one in compare_part(kind).faults if one.key == fault.source)
    parts = [f"{count:,} {source.words[name]}" for name, count in fault.counts.items()]
    return f"{source.opening}: of {fault.of:,} {source.noun}, {', '.join(parts)}"
