"""Claims of a text against a table from which they were made, and against one that says otherwise."""

from __future__ import annotations

import random
import string
from contextlib import suppress

import pytest

from bakeoff.audit.audit import Audit, audit
from bakeoff.audit.claims.check import NotInTables, Reproduced
from bakeoff.audit.claims.listed import claims_of
from bakeoff.audit.claims.text import claims_in
from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.table import ForeignTable
from tests.unit.audit import made

# Requests a second and mean ms of two servers at 1, 8, 12 and 32 clients.
NGINX = (("1", "812.4", "1.23"), ("8", "4702.8", "1.70"), ("12", "5510.0", "2.18"), ("32", "5650.1", "5.66"))
APACHE = (("1", "801.0", "1.25"), ("8", "4399.1", "1.82"), ("12", "5149.5", "2.33"), ("32", "3301.8", "9.69"))


def paper() -> ForeignTable:
    rows = [
        {"contender": name, "clients": clients, "rate [req/s]": rate, "mean [ms]": mean}
        for name, own in (("nginx", NGINX), ("apache", APACHE))
        for clients, rate, mean in own
    ]
    return made.table(rows, "paper.csv")


def judged(text: str) -> Audit:
    return audit([paper()], claims=lambda names: list(claims_in(text, "paper.txt", names)))


def claims_of_audit(found: Audit) -> list[Reproduced]:
    return [fact for outcome in found.outcomes for fact in outcome.shows if isinstance(fact, Reproduced)]


@pytest.mark.parametrize(
    ("text", "mean", "base"),
    [
        ("nginx serves 71 % more requests than apache at 32 clients.", "each", "ratio"),
        ("apache serves 42 % fewer requests than nginx at 32 clients.", "each", "reduction"),
        ("The throughput of nginx is up to 7 % better than that of apache for up to 12 clients.", "each", "ratio"),
        ("On average nginx is 22 % faster than apache in requests per second.", "arithmetic", "ratio"),
        ("nginx cuts the mean response time by 42 % with 32 clients.", "each", "reduction"),
        ("nginx is 1.71 times as fast as apache at 32 clients in its request rate.", "each", "times"),
        ("At its peak nginx answers 10 % more requests than apache.", "peak", "ratio"),
    ],
)
def test_the_reading_that_gives_a_claim_is_found(text: str, mean: str, base: str) -> None:
    found = judged(text)
    assert not found.findings
    (fact,) = claims_of_audit(found)
    assert (fact.reading.mean, fact.reading.base) == (mean, base)
    assert fact.reading.low - 1 <= float(fact.number) <= fact.reading.high + 1


@pytest.mark.parametrize(
    ("text", "kind", "grade"),
    [
        ("nginx serves 91 % more requests than apache at 32 clients.", "none_fits", "impossible"),
        ("apache serves 71 % fewer requests than nginx at 32 clients.", "other_base", "off"),
        ("nginx has 42 % better request rates than apache at 32 clients.", "other_base", "off"),
        ("The request rate of nginx is up to 7 % higher than that of apache.", "other_quantity", "impossible"),
        (
            "nginx is at least 10 % faster than apache in its request rate for up to 12 clients.",
            "none_fits",
            "impossible",
        ),
    ],
)
def test_claims_that_the_table_contradicts(text: str, kind: str, grade: str) -> None:
    found = judged(text)
    assert [(finding.fact.kind, finding.grade) for finding in found.findings] == [(kind, grade)]


def test_a_table_of_two_digits_carries_no_claim_of_three() -> None:
    rows = [
        {"contender": "one", "clients": "1", "rate [req/s]": "1.2"},
        {"contender": "two", "clients": "1", "rate [req/s]": "1.1"},
    ]
    text = "one is 9.1 % faster than two in requests per second."
    found = audit([made.table(rows)], claims=lambda names: list(claims_in(text, "t", names)))
    assert [finding.fact.kind for finding in found.findings] == ["too_few_digits"]


def test_what_no_table_has_is_said() -> None:
    found = judged("nginx has 12 % fewer errors than apache.")
    assert not found.findings
    assert [fact for outcome in found.outcomes for fact in outcome.shows if isinstance(fact, NotInTables)]


def test_what_a_sentence_says_is_read() -> None:
    claim = "For up to 12 clients, nginx outperforms apache in throughput by 5 to 7 %."
    text = f"Set up as before.\n\n{claim}\nIt rained on 40 % of days."
    low, high = claims_in(text, "t", ["apache", "nginx"])
    assert (low.number, low.quantity, high.number, high.quantity) == ("5", "at least", "7", "at most")
    assert high.names == ("nginx", "apache") and high.high_load == 12 and high.metric == "throughput" and high.line == 3


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("sentence\n7 % better\n", "names no column claim"),
        ("claim,colour\n7 % better,red\n", "'colour' is not known"),
        ("claim,contender\n7 % better,iis\n", "no table has 'iis'"),
        ("claim\nmuch better\n", "no percentage"),
    ],
)
def test_lists_that_are_none_are_refused(text: str, part: str) -> None:
    with pytest.raises(PlanError, match=part):
        list(claims_of(text, "claims.csv", ["nginx", "apache"]))


def test_a_list_names_what_its_claim_does_not() -> None:
    text = "claim,contender,baseline,metric\n71 % at 32 clients,nginx,apache,rate\n"
    found = audit([paper()], claims=lambda names: list(claims_of(text, "claims.csv", names)))
    assert not found.findings and claims_of_audit(found)[0].line == 2


def test_any_text_is_read_in_bounded_time_and_memory() -> None:
    rng = random.Random(1)
    signs = string.printable + "%%%%  –×12345 better less than at clients "
    for length in (0, 1, 10, 1000, 20_000):
        for text in ("".join(rng.choice(signs) for _ in range(length)), "9 % better " * (length // 10), "9" * length):
            assert len(list(claims_in(text, "t", ["a", "b c", "("]))) <= 1000
            with suppress(PlanError):
                list(claims_of(text, "t", ["a"]))
