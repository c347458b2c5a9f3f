"""Whatever a comparison may find has words: a type without words would end a report."""

from typing import Any

from bakeoff.compare.kind import compare_part
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.gate import GateDetail
from bakeoff.kinds import KINDS
from bakeoff.report.kind import report_part
from bakeoff.report.narrate.sentences import is_reported
from bakeoff.report.narrate.validity.advice import advised
from bakeoff.report.narrate.validity.audits import ruled
from bakeoff.report.narrate.validity.caveat import caveat_words
from bakeoff.report.narrate.verdict.gates import gate_words

# Told by whoever holds them, each with a function of its own.
BY_HAND = {
    "Blame", "BlocksMissing", "BusyThreads", "FullLink", "NotSettled", "OfFile", "Outages", "Resume", "TrialsMissing",
    "Void", "Waited",
}  # fmt: skip


# Who has words for facts, beside `sentence`.
TABLES = (advised, ruled, caveat_words)


def has_words(by: Any, of: type[Any]) -> bool:
    """Whether this function has been told of a type."""
    return bool(by.dispatch(of) is not by.dispatch(object))


def below(of: type[Any]) -> set[type[Any]]:
    """All of the program that derives from a type and is itself made, those of kinds as well."""
    own = [one for one in of.__subclasses__() if one.__module__.startswith("bakeoff.")]
    return {one for one in own if not one.__subclasses__()} | {deep for one in own for deep in below(one)}


def load_all() -> None:
    is_reported(Fact)  # loads every subject
    for kind in KINDS:
        compare_part(kind)
        report_part(kind)


def test_each_detail_of_a_gate_has_words() -> None:
    load_all()
    known = below(GateDetail)
    assert len(known) > 10
    assert {one.__name__ for one in known if not has_words(gate_words, one)} == set()


def test_each_fact_has_words() -> None:
    load_all()
    known = below(Fact)
    silent = {one.__name__ for one in known if not is_reported(one) and not any(has_words(by, one) for by in TABLES)}
    assert len(known) > 30 and silent <= BY_HAND, silent - BY_HAND
