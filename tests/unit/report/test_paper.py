"""The author's text is in every form, said to be the author's, before what is generated and never instead of it."""

from __future__ import annotations

import io
import json
import math
import re
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path

import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer import Typer
from typer.testing import CliRunner

from bakeoff.cli.read import report as report_verb
from bakeoff.cli.read.report_inputs import paper_tables
from bakeoff.cli.share import verify as verify_verb
from bakeoff.compare import compare_run
from bakeoff.compare.model.comparison import Comparison
from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.read import read_paper
from bakeoff.report.blocks.prose import passages_of
from bakeoff.report.blocks.tree import Prose, Report
from bakeoff.report.compose import compose
from bakeoff.report.layout.brief import brief
from bakeoff.report.narrate import wording
from bakeoff.report.paper.authored import BY, BY_AGAIN, TITLE_BY, with_paper
from bakeoff.report.paper.inserted import inserted
from bakeoff.report.renderers import renderer
from tests.unit.compare.synthetic import change, run
from tests.unit.store.builders import stored

app = Typer()
app.command("report")(report_verb.report)
app.command("verify")(verify_verb.verify)

HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)> #panic() $a$ @everyone \x1b[31m &lt;b&gt;"
TEXT = """
First **strong**, *slanted*, `code`, and a [link](https://example.org/a?b=1&c=2).

1. one
2. two
   - inner
"""


def nothing(asked: str) -> str:
    raise AssertionError(asked)


def paper_file(folder: Path, text: str) -> Path:
    path = folder / "paper.toml"
    path.write_text(text, encoding="utf-8")
    return path


@cache
def generated() -> tuple[Report, Comparison]:
    """The first section of a report without charts, which take long to draw."""
    comparison = compare_run(run())
    whole = compose(run(), comparison)
    return replace(whole, sections=whole.sections[:1]), comparison


def paper_report(folder: Path, text: str) -> Report:
    """The report on a synthetic run with a paper file of `text`."""
    plain, comparison = generated()
    return with_paper(plain, read_paper(paper_file(folder, text)), {"web-static": comparison})


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "")


def read_of(form: str, report: Report) -> str:
    """What a reader of a form reads, in the order of its pages."""
    made = renderer(form).render(report, "report")
    if form == "pdf":
        return " ".join(page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(io.BytesIO(made)))
    return made.decode()


def letters(text: str) -> str:
    return re.sub(r"[^a-zA-Z0-9]", "", text)


@pytest.mark.parametrize("form", ["html", "pdf", "markdown", "terminal"])
def test_every_form_has_all_of_it_marked_and_first_and_the_verdict_stays(form: str, tmp_path: Path) -> None:
    words = {key: f"The {key} of it." for key in ("summary", "findings", "conclusion", "disclaimer")}
    lines = [f"{key} = {quoted(text)}" for key, text in words.items()]
    head = '[paper]\ntitle = "My title"\nauthor = "Me"\ncommissioner = "Them"\ndate = 2026-11-22\n'
    note = '[[paper.notes]]\ndate = 2026-11-20\ntext = "A cable was out."\n'
    report = paper_report(tmp_path, head + "\n".join(lines) + "\n" + note)
    plain, _ = generated()
    assert report.sections[-1:] == plain.sections and report.headline == plain.headline
    assert (report.title, report.verdict, report.facts) == (plain.title, plain.verdict, plain.facts)
    text = letters(unescape(read_of(form, report)))
    parts = [*words.values(), "A cable was out", "2026-11-20", "Commissioned by: Them", "My title", TITLE_BY]
    for part in parts:
        assert letters(part) in text, part
    assert text.count(letters(BY)) == 1, "once, above the first"
    assert text.count(letters(BY_AGAIN)) == 5, "and above all the others in few words"
    for title in ("Summary", "Key findings", "Notes", "Conclusion", "Disclaimer"):
        assert letters(title) in text
    assert text.index(letters(BY)) < min(text.rindex(letters(words[key])) for key in words)
    assert letters(plain.headline[0]) in text, "the result is there as ever"
    chapters = text[text.index(letters("Contents")) :] if form == "pdf" else text
    assert chapters.index(letters("The summary of it")) < chapters.rindex(letters("Primary endpoint"))


@pytest.mark.parametrize("form", ["html", "pdf", "markdown", "terminal"])
def test_hostile_text_is_shown_as_it_was_typed(form: str, tmp_path: Path) -> None:
    toml = quoted(HOSTILE)
    report = paper_report(
        tmp_path, f"[paper]\ntitle = {toml}\nauthor = {toml}\nsummary = {toml}\ndisclaimer = {toml}\n"
    )
    text = read_of(form, report)
    assert "\x1b" not in text
    if form == "html":
        head, _, rest = text.partition("<main>")
        assert "<script>alert" not in text and "<img" not in text and "onerror" in rest
        assert "&lt;script&gt;alert(1)" in head and "&lt;script&gt;alert(1)" in rest
    elif form == "markdown":
        assert "<script" not in text and "<img" not in text and "@everyone" not in text
    else:
        assert letters(text).count("scriptalert1scriptimgsrcxonerroralert2panicaeveryone") >= 3


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[x](javascript:alert(1))", "is not of http:// or https://"),
        ("[x](JaVaScRiPt:alert(1))", "is not of http:// or https://"),
        ("<javascript:alert(1)>", "is not of http:// or https://"),
        ("[x](data:text/html,<script>)", "is not of http:// or https://"),
        ("[x](//evil.example)", "is not of http:// or https://"),
        ("[x](#result)", "is not of http:// or https://"),
        ("![x](http://a.example/p.png)", "pictures are not shown"),
        ("{ratio contender=nobody}", "known are"),
        ("{ratoi contender=apache}", "did you mean 'ratio'?"),
        ("{ratio contender=apache metrik=rate}", "did you mean 'metric'?"),
        ("{ratio contender=apache metric=warmth}", "asks for metric 'warmth'"),
        ("{ratio contender=apache load_step=17}", "asks for load step '17'"),
        ("{ratio suite=mail contender=apache}", "asks for suite 'mail'"),
        ("{ratio contender=nginx}", "there is no such pair"),
        ("{ratio}", "add contender=NAME"),
        ("{ratio contender='apache}", "quotation mark"),
        ("{__import__('os')}", "is no number of the comparison"),
        ("{}", "is no number of the comparison"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_where_it_stands(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=re.escape(sentence)) as refused:
        paper_report(tmp_path, f"[paper]\nfindings = {quoted(text)}\n")
    assert "paper.toml [paper] findings:" in str(refused.value) and "\n" not in str(refused.value)


def test_a_number_that_is_inserted_is_the_comparison_s_and_is_kept(tmp_path: Path) -> None:
    asked = ["ratio contender=apache", "ratio contender=nginx baseline=apache", "ratio contender=apache load_step=8"]
    text = " ".join(f"<{{{one}}}>" for one in asked) + " in {blocks}, {peak contender=nginx}, {errors contender=nginx}"
    report = paper_report(tmp_path, f"[paper]\nsummary = {quoted(text)}\n")
    _, comparison = generated()
    primary = comparison.pairs[0].primary
    assert primary.low < primary.high
    said = "".join(span.text for span in report.sections[0].blocks[0].passages[0].spans)  # type: ignore[union-attr]
    assert wording.ratio(primary.ratio, primary.low, primary.high) in said
    assert wording.interval(primary.low, primary.high) in said and "6 blocks" in said
    kept = report.embedded["inserted"]
    assert [one["asked"] for one in kept[:3]] == asked and kept[0]["ratio"] == primary.ratio
    assert kept[1]["ratio"] == pytest.approx(1 / primary.ratio) and kept[1]["low"] == pytest.approx(1 / primary.high)
    points = [p for c in comparison.pairs[0].curves if c.metric == primary.metric for p in c.points]
    assert kept[2]["ratio"] == next(point.ratio for point in points if f"{point.load_step}" == "8")
    again = [inserted(one["asked"], {"web-static": comparison}) for one in kept]
    assert again == kept, "anybody can insert them again"
    assert '[{"asked":"ratio contender=apache"' in read_of("html", report)


def test_best_and_worst_load_step_and_percent_of_either_side_can_be_inserted() -> None:
    """Of times less is better: the best load step is that of the least ratio, the other way round of the largest."""
    _, comparison = generated()
    of = {"web-static": comparison}
    for metric, higher in (("", True), (" metric=p99", False)):
        pair = comparison.pairs[0]
        name = metric.partition("=")[2] or pair.primary.metric
        points = {point.ratio: point for curve in pair.curves if curve.metric == name for point in curve.points}
        least, most = points[min(points)], points[max(points)]
        best, worst = (most, least) if higher else (least, most)
        for what, point, other in (("best", best, worst), ("worst", worst, best)):
            made = inserted(f"{what} contender=apache{metric}", of)
            assert made["ratio"] == point.ratio and made["load_step"] == f"{point.load_step}"
            assert f"({wording.interval(point.low, point.high)}) at {point.load_step.words}" in made["text"]
            back = inserted(f"{what} contender=nginx baseline=apache{metric}", of)
            assert back["ratio"] == pytest.approx(1 / other.ratio) and back["load_step"] == f"{other.load_step}"
        span = inserted(f"span contender=apache{metric}", of)
        assert (span["worst_ratio"], span["best_ratio"]) == (worst.ratio, best.ratio)
        assert span["text"].startswith("from ") and span["text"].endswith(f" at {best.load_step.words}")
    share = inserted("percent contender=apache load_step=worst", of)
    assert share["ratio"] == inserted("worst contender=apache", of)["ratio"]
    with pytest.raises(PlanError, match="unknown key 'load_step'"):
        inserted("best contender=apache load_step=8", of)


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (0.22, "78 % less than a (1 − ratio), and a 355 % more than b (1 ÷ ratio − 1)"),
        (1.25, "25 % more than a (ratio − 1), and a 20 % less than b (1 − 1 ÷ ratio)"),
        (1.021, "2.1 % more than a (ratio − 1), and a 2.1 % less than b (1 − 1 ÷ ratio)"),
        (math.nan, wording.MISSING),
    ],
)
def test_percent_is_told_from_both_sides(ratio: float, said: str) -> None:
    assert wording.percent_both_ways(ratio, "b", "a") == said


def test_a_verdict_that_was_taken_away_goes_with_the_number() -> None:
    wrong = change(run(), "nginx", 8, (2,), errors={"unfinished": 1})
    for record, said in ((run(), ""), (wrong, "[verdict withheld]")):
        comparison = compare_run(record)
        kind = comparison.pairs[0].primary.verdict.kind
        made = inserted("ratio contender=apache", {"web-static": comparison})["text"]
        assert (kind == "withheld") == bool(said) and made.endswith(said or ")"), (kind, made)


def test_secrets_are_in_no_form(tmp_path: Path) -> None:
    report = paper_report(
        tmp_path, '[paper]\nauthor = "token=planted-1"\nsummary = "Run with `--password planted-2`."\n'
    )
    for form in ("html", "pdf", "markdown", "terminal"):
        assert "planted" not in read_of(form, report)
    tables = paper_tables(tmp_path / "paper.toml")
    assert tables is not None and "planted" not in json.dumps(tables) and "(hidden)" in tables["paper"]["author"]


def test_the_short_edition_keeps_summary_and_findings(tmp_path: Path) -> None:
    report = brief(paper_report(tmp_path, '[paper]\nsummary = "S."\nfindings = "F."\ndisclaimer = "D."\n'))
    assert [s.id for s in report.sections if s.blocks and isinstance(s.blocks[0], Prose)] == [
        "author-summary",
        "author-findings",
    ]


@settings(max_examples=200)
@given(st.text(alphabet="ab *_`[](){}<>!\\#-+1.\n\t:/&;\ue000\ue001http", max_size=80))
def test_any_text_is_passages_or_one_sentence(text: str) -> None:
    try:
        passages = passages_of(text, "here", lambda asked: "N")
    except PlanError as refused:
        assert str(refused).startswith("here: ")
        return
    spans = [span for passage in passages for span in passage.spans]
    assert all(re.match("(?i)https?://", span.link) for span in spans if span.link)
    assert not any("\ue000" in span.text or "\ue001" in span.text for span in spans)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[papers]\n", "unknown table [papers]: did you mean 'paper'?"),
        ("paper = 1\n", "write [paper] as a table"),
        ("[paper]\nsumary = 'x'\n", "did you mean 'summary'?"),
        ("[paper]\ntitle = 7\n", "7 does not fit"),
        ("[paper", "is not valid TOML"),
        (f"[paper]\nsummary = '{'x' * 60_000}'\n", "at most 50000 characters"),
    ],
)
def test_a_wrong_paper_file_is_one_sentence_and_exit_code_2(text: str, sentence: str, tmp_path: Path) -> None:
    path = stored(run(), tmp_path / "demo.bakeoff")
    done = CliRunner().invoke(app, ["report", str(path), "--paper", str(paper_file(tmp_path, text))])
    assert isinstance(done.exception, PlanError) and sentence in str(done.exception)
    assert not (tmp_path / "demo.html").exists()


@pytest.mark.parametrize("form", ["html", "pdf", "txt"])
def test_the_verb_puts_it_into_the_report_and_it_can_be_verified(form: str, tmp_path: Path) -> None:
    """By the file itself, which holds its paper; plain text needs it."""
    path, made = stored(run(), tmp_path / "demo.bakeoff"), tmp_path / f"r.{form}"
    text = '[paper]\ndate = 2026-11-22\nsummary = "In {blocks}: {ratio contender=apache}, password=planted."\n'
    paper = paper_file(tmp_path, text)
    done = CliRunner().invoke(app, ["report", str(path), "--paper", str(paper), "-o", str(made)])
    assert done.exit_code == 0, done.output
    words = ["verify", str(made), str(path), *(["--paper", str(paper)] if form == "txt" else [])]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, (done.output, done.exception)
    if form == "html":
        made.write_text(made.read_text().replace("In 6 blocks: 0.80×", "In 6 blocks: 0.70×"))
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 1 and "0.70×" in done.output


def test_the_author_s_chapters_stand_among_the_others(tmp_path: Path) -> None:
    report = paper_report(tmp_path, '[paper]\nsummary = "S."\nfindings = "F."\nconclusion = "C."\n')
    page = renderer("html").render(report, "report").decode()
    nav = page[page.index("<nav") : page.index("</nav>")]
    assert re.findall(r'class="chapter" href="#[\w-]+">([^<]+)<', nav)[:2] == ["1 Summary", "2 Results"]
    assert ">Key findings</a>" in nav and "Author" not in nav
    assert re.search(r"<h2[^>]*>\d Conclusion</h2>", page) and page.count("Author&#39;s text") == 3
    assert '<a href="#result">Skip to the result</a>' in page
