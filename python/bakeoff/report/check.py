"""What a check found, in the forms that build servers read: lines, annotations, JUnit's XML, Markdown."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from xml.etree import ElementTree

from bakeoff.compare.limits.check_model import Check, CheckedObjective, LimitCheck, Outcome
from bakeoff.compare.model.comparison import Comparison
from bakeoff.core.sanitize import sanitize
from bakeoff.report.blocks.tree import Block, Bullets, Chart, Column, Report, Section, Severity, SeverityText, Table
from bakeoff.report.compose import compose
from bakeoff.report.layout.brief import brief
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.collections.check import check_notes, check_sentence, check_sentences
from bakeoff.report.renderers import markdown
from bakeoff.store.records.run_records import RunRecord

# GitHub takes 65,536 characters of a comment.
MOST_CHARACTERS = 60_000
SEVERITIES: dict[Outcome, Severity] = {
    "pass": "good",
    "worse": "bad",
    "inconclusive": "warning",
    "void": "bad",
    "missed": "bad",
    "undecided": "warning",
}
TITLES: dict[Outcome, str] = {
    "pass": "Check passed",
    "worse": "Worse than allowed",
    "inconclusive": "Check inconclusive",
    "void": "Check void",
    "missed": "Objective missed",
    "undecided": "Objective not decided",
}
_COMMANDS: dict[Outcome, str] = {
    "pass": "notice",
    "worse": "error",
    "inconclusive": "warning",
    "void": "error",
    "missed": "error",
    "undecided": "warning",
}
_NO_XML = re.compile("[\ufffe\uffff]")


def lines(check: Check) -> list[str]:
    """A sentence for each endpoint, and the notes; text from servers begins no line, and starts no command of a build
    server.
    """
    return [_line(text) for text in (*check_sentences(check), *(f"note: {note}" for note in check_notes(check)))]


def github(check: Check) -> list[str]:
    """Workflow commands of GitHub: one for each endpoint, a warning for each note."""
    judged = dict.fromkeys((each.outcome, check_sentence(each, check.baseline)) for each in check.all)
    commands = [(_COMMANDS[outcome], TITLES[outcome], text) for outcome, text in judged]
    commands += [("warning", "Note on the measurement", note) for note in check_notes(check)]
    return [f"::{command} title={_property(title)}::{_data(text)}" for command, title, text in commands]


def junit(check: Check) -> bytes:
    """A test case for each endpoint and objective: worse and missed are failures; inconclusive, undecided and void are
    errors, as nothing was shown. Its time is how long its contender was measured, s; that of all is of every contender.
    """
    counts = {kind: sum(_fault(each) == kind for each in check.all) for kind in ("failure", "error")}
    numbers = {"tests": str(len(check.all)), "failures": str(counts["failure"]), "errors": str(counts["error"])}
    top = ElementTree.Element("testsuites", numbers)
    when = {"time": _seconds(sum(check.measured_s.values())), "timestamp": check.created_at[:19]}
    suite = ElementTree.SubElement(top, "testsuite", {"name": _xml(f"bakeoff check {check.run}"), **numbers, **when})
    for each in check.all:
        name = _case(each, check.baseline)
        took = _seconds(check.measured_s.get(each.contender, 0.0))
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": _xml(f"bakeoff.{check.suite}"), "name": _xml(name), "time": took}
        )
        sentence = _xml(check_sentence(each, check.baseline))
        if fault := _fault(each):
            ElementTree.SubElement(case, fault, {"type": each.outcome, "message": sentence})
        else:
            ElementTree.SubElement(case, "system-out").text = sentence
    if notes := check_notes(check):
        ElementTree.SubElement(suite, "system-out").text = "\n".join(map(_xml, notes))
    ElementTree.indent(top)
    text: bytes = ElementTree.tostring(top, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _seconds(length_s: float) -> str:
    return f"{length_s:.3f}"


def _case(each: LimitCheck | CheckedObjective, baseline: str) -> str:
    if isinstance(each, CheckedObjective):
        return f"{each.contender} meets {each.objective}"
    return f"{each.contender} against {baseline}: {each.title}, at most {wording.percent(each.most)} worse"


def comment(check: Check, run: RunRecord, found: Comparison) -> bytes:
    """Markdown that fits a comment on a change: the outcome, and of the report what decides, without its charts, which
    would be files beside it. What is too long is left to the report.
    """
    tables = ([_objectives(check)] if check.objectives else []) + ([_table(check)] if check.checked else [])
    table = Section("What was checked", (*tables, *_notes(check)), "check")
    sentences = check_sentences(check)
    whole = brief(compose(run, found, detail=Detail.COMPARISON))
    rest = [replace(section, blocks=_without_charts(section)) for section in whole.sections]
    made = replace(
        whole,
        verdict=TITLES[check.outcome],
        severity=SEVERITIES[check.outcome],
        headline=sentences,
        severities=tuple("plain" for _ in sentences),
        sections=(table, *(section for section in rest if section.blocks)),
    )
    content = markdown.render(made)
    while len(content) > MOST_CHARACTERS and len(made.sections) > 1:
        made = replace(made, sections=made.sections[:-1])
        content = markdown.render(made)
    return content if len(content) <= MOST_CHARACTERS else _shortest(check, made)


def _shortest(check: Check, made: Report) -> bytes:
    """Of hundreds of endpoints only how many had which outcome."""
    counts = [f"{sum(each.outcome == outcome for each in check.all):,} {outcome}" for outcome in TITLES]
    return markdown.render(replace(made, headline=(", ".join(counts),), severities=("plain",), sections=(), facts=()))


def _without_charts(section: Section) -> tuple[Block, ...]:
    return tuple((block.plain or block.table) if isinstance(block, Chart) else block for block in section.blocks)


def _objectives(check: Check) -> Table:
    columns = (Column("Contender", False), Column("Objective", False), Column("Outcome", False))
    rows = tuple(
        (each.contender, each.objective, SeverityText(each.outcome, SEVERITIES[each.outcome]))
        for each in check.objectives
    )
    return Table("Objective", columns, rows)


def _table(check: Check) -> Table:
    floors = [wording.percent(each.floor) for each in check.checked]
    with_floor = any(not math.isnan(each.floor) for each in check.checked)
    numbers = [f"Ratio to {check.baseline}", "Interval", "Allowed", "Blocks", *(["Noise floor"] if with_floor else [])]
    numeric = [Column(name) for name in numbers]
    columns = (Column("Contender", False), Column("Endpoint", False), *numeric, Column("Outcome", False))
    rows = tuple(
        (
            each.contender,
            each.title,
            wording.ratio(each.ratio, each.low, each.high),
            wording.interval(each.low, each.high),
            f"{'≥' if each.higher_is_better else '≤'} {wording.ratio(each.limit, 0.0, 0.01)}",
            f"{each.blocks:,}",
            *([floor] if with_floor else []),
            SeverityText(each.outcome, SEVERITIES[each.outcome]),
        )
        for each, floor in zip(check.checked, floors, strict=True)
    )
    level = f"{100.0 * check.checked[0].level:.4g} %"
    note = f"Passes when the whole {level} interval is on the allowed side, is worse when none of it is."
    note += " Noise floor: what equals differ by here; it decides nothing." if with_floor else ""
    return Table("Endpoints", columns, rows, note)


def _notes(check: Check) -> tuple[Block, ...]:
    notes = check_notes(check)
    return (Bullets(notes),) if notes else ()


def _fault(each: LimitCheck | CheckedObjective) -> str:
    return {"pass": "", "worse": "failure", "missed": "failure"}.get(each.outcome, "error")


def _line(text: str) -> str:
    """On one line. Runners of GitHub take `##[` for a command wherever it stands."""
    return " ".join(sanitize(text).split()).replace("##[", "# #[")


def _data(text: str) -> str:
    return _line(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _xml(text: str) -> str:
    return _NO_XML.sub("�", sanitize(text))
