"""What is disclosed: contenders side by side, what differs first; who said so, a person or the machine itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bakeoff.disclosure.collect.sysctls import SYSCTLS
from bakeoff.disclosure.paper.collected import Collected
from bakeoff.disclosure.paper.disclosure import CONTENDER, TESTBED, label_of
from bakeoff.disclosure.paper.model import Disclosed, Paper
from bakeoff.report.blocks.tree import Block, Column, Section, SeverityText, Table
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.narrate import wording
from bakeoff.report.paper.config_files import config_files
from bakeoff.report.paper.test_beds import PlacedBed
from bakeoff.report.paper.testbed import UNKNOWN, bed_diagram, of_generators

MISSING = UNKNOWN
BY = "Stated by the author, not found by Bakeoff. Secrets are left out by rule."
WHO = (
    "Typed in: stated by the author, not found by Bakeoff. Collected: what the machine said itself, by the way and on "
    "the day below. Where both are there, what was typed in comes first. Secrets are left out by rule."
)
TYPED, FOUND, CHANGED = " (typed in)", " (collected)", " (collected, then edited)"
Tables = Mapping[str, Mapping[str, str]]


def disclosure(paper: Paper, names: tuple[str, ...], beds: Sequence[PlacedBed]) -> list[Section]:
    """The sections of what is disclosed, when anything is."""
    about = [paper.contenders.get(name) for name in names]
    reported = {name: one.disclosure if one else Disclosed() for name, one in zip(names, about, strict=True)}
    found = {name: one.collected for name, one in zip(names, about, strict=True) if one and one.collected}
    of_beds = any(one.bed.fields or one.bed.machines for one in beds)
    if not (found or of_beds or any(one.fields for one in reported.values())):
        return []
    blocks = [
        *_fields(names, reported, found),
        *_ways(names, found),
        *_settings("System settings", {name: one.sysctls for name, one in found.items()}, names, SYSCTLS.get),
        *_settings("Packages", {name: one.packages for name, one in found.items()}, names),
        *config_files(found, names),
    ]
    for number, one in enumerate(beds, 1):
        blocks += (
            bed_diagram(one.bed, one.generators, names, one.title, number)
            if one.name
            else bed_diagram(one.bed, one.generators, names)
        )
    blocks += _beds(beds)
    return [Section("Disclosure", tuple(blocks), "author-disclosure", ReportPart.CONFIGURATION)]


def _beds(beds: Sequence[PlacedBed]) -> list[Block]:
    """The fields of the test beds, of several those that differ first; what the run knows of its generators needs
    nobody to tell it.
    """
    known = [{key: f"{text} (from the run)" for key, text in of_generators(one.generators).items()} for one in beds]
    rows, same = [], []
    for key, title in TESTBED.items():
        values = [
            "; ".join(filter(None, (one.bed.fields.get(key, ""), found.get(key, "")))) or MISSING
            for one, found in zip(beds, known, strict=True)
        ]
        if len(beds) == 1 or len(set(values)) > 1:
            rows.append((label_of(title), *values))
        else:
            same.append((label_of(title), values[0]))
    note = f"{BY} What is from the run says so."
    columns = (Column("Item", False), *(Column(one.title, False) for one in beds))
    if len(beds) == 1:
        return [Table("Test bed", columns, tuple(rows), note, folded=not beds[0].bed.fields)]
    blocks: list[Block] = [Table("What differs between the test beds", columns, tuple(rows), note)] if rows else []
    same_columns = (Column("Item", False), Column("All", False))
    return (
        [*blocks, Table("The same of all test beds", same_columns, tuple(same), note, folded=True)] if same else blocks
    )


def _fields(names: tuple[str, ...], reported: Mapping[str, Disclosed], found: Mapping[str, Collected]) -> list[Block]:
    """The fields of result pages; those that differ first."""
    rows, same = [], []
    for key, title in CONTENDER.items():
        values = [_value(key, reported[name], found.get(name)) for name in names]
        if len({value for value, _ in values}) > 1:
            rows.append((label_of(title), *(f"{value}{mark}" for value, mark in values)))
        else:
            same.append((label_of(title), values[0][0] + _together({mark for _, mark in values})))
    note = WHO if found else BY
    blocks: list[Block] = []
    if rows:
        columns = (Column("Item", False), *(Column(name, False) for name in names))
        blocks.append(Table("What differs, or is not disclosed of all", columns, tuple(rows), note))
    if same:
        columns = (Column("Item", False), Column("All", False))
        blocks.append(Table("The same of all", columns, tuple(same), note, folded=True))
    return blocks


def _value(key: str, reported: Disclosed, found: Collected | None) -> tuple[str, str]:
    """What is shown of a field, and who said so. What was typed in hides nothing that was collected."""
    typed = reported.fields.get(key, "")
    collected = _collected(key, found) if found else ""
    mark = CHANGED if found and found.edited else FOUND
    if typed and collected and typed != collected:
        return f"{typed}{TYPED}; {collected}{mark}", ""
    if collected:
        return collected, mark
    return (typed, TYPED if found else "") if typed else (MISSING, "")


def _collected(key: str, found: Collected) -> str:
    """What was collected of a field; files and settings have tables of their own."""
    tables = {
        "configuration": (found.files, "configuration file"),
        "tuning_software": (found.sysctls, "system setting"),
    }
    if key in tables and tables[key][0]:
        return f"{wording.plural(len(tables[key][0]), tables[key][1])} read: see below"
    return found.facts.get(key, "")


def _together(marks: set[str]) -> str:
    """One mark for values that are equal, whoever said them."""
    return f" ({' or '.join(sorted(mark.strip(' ()') for mark in marks))})" if any(marks) else ""


def _ways(names: tuple[str, ...], found: Mapping[str, Collected]) -> list[Block]:
    """By which way and when facts were collected, and what could not be."""
    if not found:
        return []
    rows = []
    for name in names:
        one = found.get(name)
        if one is None:
            rows.append((name, "not collected", "", ""))
        else:
            edited = SeverityText("edited by the author since: no word of it is the machine's alone", "warning")
            missing = "; ".join(one.missing) or "nothing"
            rows.append((name, one.way, one.date, edited if one.edited else missing))
            if one.edited:
                rows.append((name, "", "", missing))
    columns = tuple(Column(title, False) for title in ("Contender", "Collected by", "on", "What is missing"))
    return [Table("How facts were collected", columns, tuple(rows))]


def _settings(
    title: str, reported: Tables, names: tuple[str, ...], why: Callable[[str], str | None] | None = None
) -> list[Block]:
    """Settings side by side; those that differ first, with why they matter where that is known."""
    # Who told none was not asked, or cannot tell: none of them is known not to be set.
    tables = {name: table for name, table in reported.items() if table}
    keys = list(dict.fromkeys(key for table in tables.values() for key in table))
    if not keys:
        return []
    absent = {name: "not set" if name in tables else MISSING for name in names}
    values = {key: [tables.get(name, {}).get(key, absent[name]) for name in names] for key in keys}
    known = [key for key in keys if any(value != MISSING for value in values[key])]
    differing = [key for key in known if len({value for value in values[key] if value != MISSING}) > 1]
    reason = (Column("Why it matters", False, spare=1),) if why else ()
    blocks: list[Block] = []
    if differing:
        columns = (Column("Name", False), *(Column(name, False) for name in names), *reason)
        rows = tuple((key, *values[key], *((why(key) or "",) if why else ())) for key in differing)
        blocks.append(Table(f"{title} that differ", columns, rows))
    same_columns = [key for key in known if key not in differing]
    if same_columns:
        columns = (Column("Name", False), Column("Value", False), *reason)
        rows = tuple(
            (key, next(value for value in values[key] if value != MISSING), *((why(key) or "",) if why else ()))
            for key in same_columns
        )
        of = "all" if len(tables) == len(names) else f"all that were asked: {', '.join(tables)}"
        blocks.append(Table(f"{title}: the same of {of}", columns, rows, folded=True))
    return blocks
