"""The HTML report: complete, self-contained, safe, small and quick."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import altair as alt
import pytest

from bakeoff.compare import compare_run
from bakeoff.core.errors import GeneratorError
from bakeoff.report.blocks.narrow import stacks
from bakeoff.report.blocks.tree import Column, Report, Table
from bakeoff.report.charts.svg import figure_of
from bakeoff.report.compose import compose
from bakeoff.report.embed.packing import PACKED, PLAIN, SHORT, script_of, text_of
from bakeoff.report.renderers.html import render_html
from bakeoff.store.records.run_records import RunRecord
from tests.told import headline_of
from tests.unit.compare.synthetic import FAST, SLOW, Server, change, run

EVIL = Server('x<img src="http://evil/">&</script>', 30_000.0, 0.12)
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Outline(HTMLParser):
    """Checks nesting and collects ids, headings, links to elsewhere and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.outside: list[str] = []
        self.script_types: list[str | None] = []
        self.figures = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        self.outside += [
            str(given[k]) for k in ("src", "href", "xlink:href") if given.get(k) and not str(given[k]).startswith("#")
        ]
        if tag == "script":
            self.script_types.append(given.get("type"))
        self.figures += tag == "figure"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def report_of(record: RunRecord) -> Report:
    return compose(record, compare_run(record))


def page_of(record: RunRecord) -> str:
    """The page with its packed data as plain text, as what must not be in it must not be packed in it."""
    page = render_html(report_of(record))
    return re.sub(rf'type="{PACKED}"( id="[^"]+")>([^<]+)<', lambda m: f'type="{PLAIN}"{m[1]}>{plain(m[2])}<', page)


def plain(packed: str) -> str:
    return text_of(PACKED, packed).replace("<", "\\u003c")


def outline(page: str) -> Outline:
    parser = Outline()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


def embedded(page: str, name: str) -> dict[str, object]:
    found = re.search(rf'<script type="([^"]+)" id="bakeoff-{name}">(.*?)</script>', page, re.S)
    assert found is not None
    read = json.loads(text_of(found[1], found[2]))
    assert isinstance(read, dict)
    return read


@pytest.fixture(scope="module")
def broken() -> RunRecord:
    """Three contenders, one with a hostile name; failed, voided and interrupted trials; unfinished."""
    record = run((FAST, SLOW, EVIL), load_steps=(1, 4, 8, 16), blocks=7)
    record = change(record, "apache", 16, None, state="failed", reason="7 % of operations failed <b>")
    record = change(record, "nginx", 4, (2,), state="voided", reason="ran out of local ports")
    record = change(record, "nginx", 1, (3,), state="interrupted", reason="stopped after 1.0 s")
    plan = {
        **record.plan,
        "settings": {
            **record.plan["settings"],
            "headers": ["Authorization: Basic c2VjcmV0"],
            "cookie": ["sid=c2VjcmV0"],
            "basic_auth": "me:c2VjcmV0",
            "body": {"name": "b", "content": "c2VjcmV0"},
        },
    }
    return replace(record, plan=plan, finished_at=None, trials=record.trials[:-2], null_operations_per_s=None)


@pytest.mark.parametrize("blocks", [1, 6])
def test_the_page_is_sound_and_needs_nothing_from_outside(blocks: int) -> None:
    found = outline(page_of(run(blocks=blocks)))
    assert found.outside == []
    assert set(found.script_types) <= {PLAIN, PACKED}
    assert len(found.ids) == len(set(found.ids))
    assert found.figures >= 12


def test_the_result_comes_first() -> None:
    record = run()
    page = page_of(record)
    sentence = headline_of(compare_run(record))[0]
    assert page.index(sentence) < page.index("<svg")
    for part in ("Requests/s", "Throughput", "p50", "p95", "p99", "Failed operations", "Peak and saturation",
                 "WebBench 3.0 STATIC", "Example CPU 3000", "Shares of the request classes",
                 "Little&#39;s law", "254,000", "Seed"):  # fmt: skip
        assert part in page


def test_every_chart_has_a_title_a_description_and_its_numbers() -> None:
    report = report_of(run())
    page = render_html(report)
    assert len(report.charts()) >= 12
    for chart in report.charts():
        for id_ in [f"{chart.id}-{place}" for place in range(2)] if "concat" in chart.spec else [chart.id]:
            assert f'<title id="{id_}-title">' in page
            assert f'<desc id="{id_}-desc">' in page
        assert chart.table.rows
        assert all(len(row) == len(chart.table.columns) for row in chart.table.rows)


def test_the_specifications_are_embedded_once_and_are_valid_vega_lite() -> None:
    record = run()
    specs = embedded(page_of(record), "charts")
    for spec in specs.values():
        assert isinstance(spec, dict)
        alt.Chart.from_dict(spec, validate=True)
    assert embedded(page_of(record), "plan")["suite"] == "web-static"
    assert embedded(page_of(record), "comparison")["schema"] == "bakeoff-comparison/1"


def test_tables_have_as_many_cells_as_columns(broken: RunRecord) -> None:
    from bakeoff.report.blocks.tree import Table

    for record in (run(), broken):
        for section in report_of(record).sections:
            for block in section.blocks:
                if isinstance(block, Table):
                    assert all(len(row) == len(block.columns) for row in block.rows), block.title


def test_every_failed_voided_and_interrupted_trial_is_named(broken: RunRecord) -> None:
    comparison = compare_run(broken)
    section = next(s for s in report_of(broken).sections if s.id == "left-out")
    text = str(section)
    assert len(comparison.left_out) == 9
    for trial in comparison.left_out:
        assert f"'{trial.trial_id}', '{trial.contender}'" in text
    assert "2 of 84 planned trials were not run" in text


def test_hostile_names_stay_text(broken: RunRecord) -> None:
    page = page_of(broken)
    assert outline(page).outside == []
    assert "<img" not in page
    assert "&lt;img" in page
    assert EVIL.name in str(embedded(page, "comparison"))


def test_secrets_of_the_plan_stay_out(broken: RunRecord) -> None:
    page = page_of(broken)
    assert "c2VjcmV0" not in page
    assert "Authorization: (hidden)" in page


def test_a_broken_load_step_is_marked_on_the_chart(broken: RunRecord) -> None:
    chart = next(chart for chart in report_of(broken).charts() if chart.id == "chart-rate")
    assert chart.spec["datasets"]["missing"] == [{"contender": "apache", "load_step": 16, "at": 16.0, "value": 0}]
    assert "no usable trial" in figure_of(chart).subtitle


def test_script_data_cannot_end_its_element() -> None:
    for hostile in ("</script><!--", "</script><!--" * SHORT):
        type_, text = script_of({"a": hostile, "b": float("1e6")})
        assert type_ == (PLAIN if len(hostile) < SHORT else PACKED)
        assert "<" not in text
        assert json.loads(text_of(type_, text))["a"] == hostile


@pytest.mark.parametrize("content", ["no base64", "AAAA", script_of("x" * 2 * SHORT)[1][:-8] + "AAAAAAA="])
def test_data_that_was_not_packed_so_is_refused(content: str) -> None:
    with pytest.raises(GeneratorError, match="write the report again"):
        text_of(PACKED, content)


def test_nothing_measured_still_gives_a_page() -> None:
    record = change(run(), "apache", None, None, state="failed", reason="refused")
    record = change(record, "nginx", None, None, state="failed", reason="refused")
    page = page_of(record)
    assert "nothing can be compared" in page
    outline(page)


def test_a_run_without_any_trial_gives_a_page() -> None:
    record = replace(run(), trials=(), finished_at=None)
    assert "nothing can be compared" in page_of(record)


def test_a_card_of_a_number_is_headed_by_what_it_counts() -> None:
    """Seen: cards headed "4", which were those of 4 clients."""
    cells = ("4", "nginx", "a sentence of some words on what was found there")
    columns = (Column("Clients"), Column("Contender", numeric=False), Column("Verdict", numeric=False))
    table = Table("Cards", columns, (cells,))
    assert stacks(table)
    record = run(blocks=2)
    report = compose(record, compare_run(record))
    section = replace(report.sections[0], blocks=(table,))
    page = render_html(replace(report, sections=(section,)))
    assert '<th scope="row" class="n" data-label="Clients">4</th>' in page
    assert "tbody th[data-label]::before" in page
