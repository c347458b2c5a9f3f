"""Whatever a comparison may find has words: a type that nobody tells of would end a report."""

from typing import Any

from bakeoff.compare.fact import Fact
from bakeoff.compare.gate_model import GateDetail
from bakeoff.compare.kind import compare_part
from bakeoff.kinds import KINDS
from bakeoff.report.kind import report_part
from bakeoff.report.narrate import caveat, gates
from bakeoff.report.narrate.advice import advised
from bakeoff.report.narrate.sentences import is_told

# Told by whoever holds them, each with a function of its own.
BY_HAND = {
    "Blame", "BlocksMissing", "BusyThreads", "FullLink", "NotSettled", "OfFile", "Outages", "Resume", "TrialsMissing",
    "Void", "Waited",
}  # fmt: skip


def below(of: type[Any]) -> set[type[Any]]:
    """All of the program that derives from a type and is itself made, those of kinds as well."""
    own = [one for one in of.__subclasses__() if one.__module__.startswith("bakeoff.")]
    return {one for one in own if not one.__subclasses__()} | {deep for one in own for deep in below(one)}


def load_all() -> None:
    is_told(Fact)  # loads every subject
    for kind in KINDS:
        compare_part(kind)
        report_part(kind)


def test_each_detail_of_a_gate_has_words() -> None:
    load_all()
    known = below(GateDetail)
    assert len(known) > 10
    assert {
        one.__name__ for one in known if gates.gate_words.dispatch(one) is gates.gate_words.dispatch(object)
    } == set()


def test_each_fact_has_words() -> None:
    load_all()
    known = below(Fact)
    told = (advised, caveat._about)
    own = {
        one
        for one in known
        if any(words.dispatch(one) not in (words.dispatch(object), words.dispatch(Fact)) for words in told)
    }
    silent = {one.__name__ for one in known - own if not is_told(one)}
    assert len(known) > 30 and silent <= BY_HAND, silent - BY_HAND
