"""Prices, features and work of administrators: the author's, beside what was measured, in the verdict's words."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.model.comparison import Comparison
from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.read import paper_of, read_paper
from bakeoff.report.blocks.tree import Report, Section, SeverityText, Table, Text
from bakeoff.report.compose import compose
from bakeoff.report.paper.author_tables import author_tables, cheapest
from bakeoff.report.paper.authored import with_paper
from tests.unit.compare.synthetic import FAST, change, run


@cache
def measured() -> tuple[Report, Comparison]:
    comparison = compare_run(run())
    return compose(run(), comparison), comparison


def section(tables: dict[str, object], name: str) -> Section:
    report, comparison = measured()
    made = with_paper(report, paper_of(tables), {"web-static": comparison})
    assert [one for one in made.sections if one in report.sections] == list(report.sections), "nothing gives way"
    return next(section for section in made.sections if section.id == name)


def of_prices(**costs: float) -> dict[str, object]:
    return {"contenders": {name: {"price": {"cost": cost}} for name, cost in costs.items()}}


def test_operations_for_the_price_are_the_peak_by_the_price_and_intervals_those_of_the_speed() -> None:
    tables = of_prices(nginx=1000, apache=200) | {"price": {"currency": "USD", "years": 2}}
    tables["contenders"]["apache"]["price"]["per_year"] = 150  # type: ignore[index]
    costs, got, words = section(tables, "author-prices").blocks
    _, comparison = measured()
    peaks = {contender.name: contender.peak for contender in comparison.contenders}
    assert isinstance(costs, Table) and isinstance(got, Table) and isinstance(words, Text)
    assert [row[3] for row in costs.rows] == ["1,000", "500"] and costs.columns[3].title == "Over 2 years, USD"
    assert [float(row[1].replace(",", "")) for row in got.rows] == pytest.approx(
        [peaks["nginx"] / 1000, peaks["apache"] / 500], rel=1e-3
    )
    primary = comparison.pairs[0].primary
    assert got.rows[1][2].startswith(f"{primary.ratio * 2:.2f}×") and f"({primary.low * 2:.2f}–" in got.rows[1][2]
    assert words.text == "web-static: cheapest within δ = 5 % of the fastest: nginx, 1,000 USD.", "slow is no bargain"


def test_the_cheapest_is_one_that_the_verdicts_show_to_be_as_fast() -> None:
    same_machines = compare_run(run(servers=(FAST, replace(FAST, name="apache"))))
    assert same_machines.pairs[0].primary.verdict.kind == "equivalent"
    assert cheapest(same_machines, "s", {"nginx": 9.0, "apache": 7.5}, "EUR").endswith("fastest: apache, 7.50 EUR.")
    assert cheapest(same_machines, "s", {"nginx": 9.0, "apache": 9.0}, "EUR").endswith("nginx and apache, 9 EUR.")
    assert "Of apache no price is stated." in cheapest(same_machines, "s", {"nginx": 9.0}, "EUR")
    withheld = compare_run(change(run(), "nginx", 8, (2,), errors={"unfinished": 1}))
    assert "none is named as the cheapest" in cheapest(withheld, "s", {"nginx": 9.0, "apache": 1.0}, "EUR")


def test_a_verdict_that_was_taken_away_gives_no_price_either() -> None:
    record = change(run(), "nginx", 8, (2,), errors={"unfinished": 1})
    comparison = compare_run(record)
    made = with_paper(compose(record, comparison), paper_of(of_prices(nginx=1, apache=1)), {"web-static": comparison})
    table = next(s for s in made.sections if s.id == "author-prices").blocks[1]
    assert isinstance(table, Table) and table.rows[1][2] == "withheld"


def test_a_price_without_a_peak_says_why() -> None:
    """Seen: a dash, of a contender whose blocks differ."""
    record = run()
    trials = tuple(
        replace(t, operations_per_s=t.operations_per_s / (3 if t.block == 1 else 1)) if t.contender == "nginx" else t
        for t in record.trials
    )
    comparison = compare_run(replace(record, trials=trials))
    assert comparison.contenders[0].peak_is_bimodal
    made = with_paper(measured()[0], paper_of(of_prices(nginx=1000)), {"web-static": comparison})
    table = next(s for s in made.sections if s.id == "author-prices").blocks[1]
    assert isinstance(table, Table)
    assert [row[1] for row in table.rows] == ["no one peak: blocks differ", "no price"]


CSV = (
    "feature,group,nginx,apache,apache note,nginx evidence\n"
    'TLS 1.3,Security,yes,PARTLY,"with OpenSSL 3, not before",handshake tried\n'
    "HTTP/3,,no,,,\n"
)


def test_features_come_from_csv_and_from_toml_alike_with_footnotes(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(CSV)
    (tmp_path / "paper.toml").write_text('[paper]\nfeatures = "f.csv"\n')
    (tmp_path / "own.toml").write_text(
        '[[features]]\nfeature = "TLS 1.3"\ngroup = "Security"\n[features.answers]\n'
        'nginx = { answer = "yes", evidence = "handshake tried" }\n'
        'apache = { answer = "partly", note = "with OpenSSL 3, not before" }\n'
        '[[features]]\nfeature = "HTTP/3"\nanswers = { nginx = "no" }\n'
    )
    found = [
        section(read_paper(tmp_path / name).tables, "author-features").blocks for name in ("paper.toml", "own.toml")
    ]
    assert found[0] == found[1]
    table, notes = found[0]
    assert isinstance(table, Table) and isinstance(notes, Text)
    assert table.rows == (("Security: TLS 1.3", "yes [1]", "partly [2]"), ("HTTP/3", "no", "unknown"))
    assert isinstance(table.rows[0][1], SeverityText) and table.rows[0][1].severity == "good"
    assert notes.text == "[1] handshake tried; [2] with OpenSSL 3, not before (no evidence)."
    assert "without a number has no evidence" in table.note, "said once, and not in every cell"


def test_administration_and_pros_and_cons_are_said_to_be_the_author_s() -> None:
    tables: dict[str, object] = {
        "administration": [{"task": "10 users by hand", "times": {"nginx": "6 min"}, "note": "secret=planted"}],
        "contenders": {"apache": {"pros": ["Modules."], "cons": ["Many."]}},
    }
    work, sides = (section(tables, name).blocks[0] for name in ("author-administration", "author-pros"))
    assert isinstance(work, Table) and isinstance(sides, Table)
    assert work.rows == (("10 users by hand", "6 min", "not stated", "secret=(hidden)"),)
    assert sides.rows == (("apache", "for", "Modules."), ("apache", "against", "Many."))
    assert all("Stated by the author" in table.note for table in (work, sides))


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        (of_prices(ngix=1), "'ngix' is no contender here: did you mean 'nginx'?"),
        ({"features": [{"feature": "f", "answers": {"lighttpd": "yes"}}]}, "is no contender here"),
        ({"administration": [{"task": "t", "times": {"x": "1 s"}}]}, "is no contender here"),
        (of_prices(nginx=-1), "does not fit"),
        (of_prices(nginx=float("nan")), "does not fit"),
        ({"features": [{"feature": "f", "answers": {"nginx": "maybe"}}]}, "'yes', 'no', 'partly' or 'unknown'"),
        ({"features": {"feature": "f"}}, "write each row as its own [[features]] table"),
        ({"contenders": {"nginx": 3}}, "[contenders.nginx]"),
    ],
)
def test_what_does_not_fit_is_refused(tables: dict[str, object], sentence: str) -> None:
    report, comparison = measured()
    with pytest.raises(PlanError) as refused:
        with_paper(report, paper_of(tables), {"web-static": comparison})
    assert sentence in str(refused.value)


@pytest.mark.parametrize("text", ["", "a,b\n", "feature,x,x\n", "feature,x\n1,2,3\n", 'feature,x\n"1', "\x00"])
def test_a_wrong_table_of_features_is_one_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(text)
    (tmp_path / "paper.toml").write_text('[paper]\nfeatures = "f.csv"\n')
    with pytest.raises(PlanError, match=r"f\.csv"):
        read_paper(tmp_path / "paper.toml")


SERVICES = {
    "title": "Services by platform",
    "of": "Service",
    "columns": ["NetWare 6.5", "OES Linux"],
    "rows": [
        {"name": "iPrint", "cells": {"NetWare 6.5": "yes", "OES Linux": {"text": "partly", "note": "no accounting"}}},
        {"name": "NCP", "cells": {"OES Linux": {"text": "from SP1", "evidence": "release notes, page 3"}}},
    ],
    "note": "As of 2005",
}


def test_a_table_of_the_author_has_columns_of_its_own_that_are_no_contenders() -> None:
    table, notes = section({"tables": [SERVICES]}, "author-tables").blocks
    assert isinstance(table, Table) and isinstance(notes, Text)
    assert (table.title, [column.title for column in table.columns]) == (
        "Services by platform", ["Service", "NetWare 6.5", "OES Linux"]
    )  # fmt: skip
    assert table.rows == (("iPrint", "yes", "partly [1]"), ("NCP", "unknown", "from SP1 [2]"))
    assert isinstance(table.rows[0][1], SeverityText) and table.rows[0][1].severity == "good"
    assert notes.text == "[1] no accounting (no evidence); [2] release notes, page 3."
    assert table.note.startswith("As of 2005. Stated by the author")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"rows": [{"name": "NCP", "cells": {"OES": "yes"}}]}, "there is no column 'OES'"),
        ({"columns": ["A", "A"], "rows": [{"name": "x", "cells": {}}]}, "each stands there once"),
        ({"rows": []}, "rows"),
        ({"colums": ["A"]}, "colums"),
    ],
)
def test_a_table_that_cannot_be_is_refused(changed: dict[str, object], why: str) -> None:
    with pytest.raises(PlanError, match=why):
        paper_of({"tables": [SERVICES | changed]})


def test_a_contender_without_an_answer_has_no_column_of_unknown() -> None:
    """A server with another setting has the features of the server."""
    rows = [
        {"feature": "TLS", "answers": {"nginx": "yes"}},
        {"feature": "CGI", "answers": {"nginx": "no", "apache": "yes"}},
    ]
    paper = paper_of({"features": rows})
    section = next(one for one in author_tables(paper, ("nginx", "nginx-dma", "apache"), {}) if one.title == "Features")
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    assert [column.title for column in table.columns] == ["Feature", "nginx", "apache"]
    assert table.rows == (("TLS", "yes", "unknown"), ("CGI", "no", "yes"))
