"""The chapters of a report: its sections by their subject, numbered, each suite in one; appendices behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from string import ascii_uppercase

from bakeoff.report.blocks.tree import Chapter, Report, Section
from bakeoff.report.layout.parts import ReportPart


@dataclass(frozen=True)
class Subject:
    """A chapter that a report may have: which sections stand in it, by their ids without the number of a suite, and by
    their parts. Where it gathers those of all suites, each stands under the name of its suite.
    """

    title: str
    ids: tuple[str, ...] = ()
    parts: tuple[ReportPart, ...] = ()
    is_appendix: bool = False


Found = tuple[str, tuple[Section, ...], bool, bool]
"""A title, sections, whether they are an appendix, and whether they are one of several suites."""
SUMMARY = Subject(
    "Summary", ("author-summary", "author-findings", "author-notes", "all-suites", "challenge", "notes-of-suites")
)
TESTING = Subject("How it was tested", ("overview", "run-files"), (ReportPart.OVERVIEW,))
SUITES = Subject("Results", (), (ReportPart.FRONT, ReportPart.RESULTS))
RESOURCES = Subject("Resources and price", ("resources", "processors", "author-prices"))
FEATURES = Subject("Features and administration", (), (ReportPart.AUTHOR,))
PUBLISHED = Subject("Published results, audited", ("published",))
CONCLUSION = Subject("Conclusion", ("author-conclusion", "author-disclaimer"))
CONFIGURATION = Subject("Configuration and disclosure", (), (ReportPart.CONFIGURATION,), True)
METHOD = Subject("Method and statistics", ("reading",), (ReportPart.AUDITS,), True)
VALUES = Subject("All values", (), (ReportPart.APPENDIX,), True)
SUBJECTS = (SUMMARY, TESTING, SUITES, RESOURCES, PUBLISHED, FEATURES, CONCLUSION, CONFIGURATION, METHOD, VALUES)


def chapters_of(report: Report) -> tuple[Chapter, ...]:
    """The chapters that the author made, or else those that the sections come to."""
    return report.chapters or numbered(_titled(_by_subject(report.sections)))


def numbered(found: Iterable[Found]) -> tuple[Chapter, ...]:
    """Chapters with numbers, and letters for appendices."""
    made: list[Chapter] = []
    for title, sections, is_appendix, is_suite in found:
        before = sum(one.is_appendix == is_appendix for one in made)
        number = ascii_uppercase[before % len(ascii_uppercase)] if is_appendix else str(1 + before)
        made.append(Chapter(number, title, sections, f"chapter-{number.lower()}", is_suite))
    return tuple(made)


def subject_of(section: Section, of_suites: bool = False) -> Subject:
    """Where a section stands; in a report of several suites the result over all of them is in the summary."""
    base = base_id(section)
    by_id = next((one for one in SUBJECTS if base in one.ids), None)
    if by_id is not None and (by_id is not SUMMARY or of_suites or base.startswith("author-")):
        return by_id
    if of_suites and not section.chapter and section.part == ReportPart.FRONT:
        return SUMMARY
    return next(one for one in SUBJECTS if section.part in one.parts)


def base_id(section: Section) -> str:
    """The id of a section without the number of its suite."""
    head, _, number = section.id.rpartition("-")
    return head if section.chapter and number.isdigit() else section.id


def _by_subject(sections: Sequence[Section]) -> list[tuple[Subject, str, list[Section]]]:
    """The sections of each subject; those of suites apart for each of them, in the order of the report."""
    found: list[tuple[Subject, str, list[Section]]] = []
    of_suites = any(section.chapter for section in sections)
    for subject in SUBJECTS:
        own = [section for section in sections if subject_of(section, of_suites) is subject]
        own.sort(key=partial(_place, subject))
        suites = dict.fromkeys(section.chapter for section in own) if subject is SUITES else [""]
        for suite in suites:
            of = [section for section in own if subject is not SUITES or section.chapter == suite]
            found += [(subject, suite, of)] if of else []
    return found


def _place(subject: Subject, section: Section) -> int:
    """Those that a subject names stand first, in its order."""
    base = base_id(section)
    return subject.ids.index(base) if base in subject.ids else len(subject.ids)


def parted(subject: Subject, sections: Sequence[Section]) -> list[Found]:
    """The chapter of one subject, where it has sections."""
    ordered = sorted(sections, key=partial(_place, subject))
    return list(_titled([(subject, "", ordered)])) if ordered else []


def _titled(found: Iterable[tuple[Subject, str, list[Section]]]) -> Iterable[Found]:
    for subject, suite, sections in found:
        title = next((one.suite_title for one in sections if one.suite_title), suite) if suite else subject.title
        apart = subject is SUITES
        named = sections if apart else [_named(section, subject) for section in sections]
        yield title, tuple(_under(section, title) for section in named), subject.is_appendix, bool(suite)


def _named(section: Section, subject: Subject) -> Section:
    """Where a chapter gathers those of all suites, each is called by its suite."""
    if not section.chapter:
        return section
    is_subject = base_id(section) in (*subject.ids, "method")
    return replace(section, title=section.chapter if is_subject else f"{section.title}: {section.chapter}")


def _under(section: Section, title: str) -> Section:
    return replace(section, title="") if section.title == title else section
