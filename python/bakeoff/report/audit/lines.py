"""An audit on a terminal: what is impossible first, then what is off, then what was checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from bakeoff.audit.audit import Audit
from bakeoff.audit.claims.check import NotInTables, Reproduced
from bakeoff.audit.finding import Finding, Grade, Outcome
from bakeoff.core.sanitize import sanitize
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.audit.findings import finding_text, where
from bakeoff.report.narrate.audit.laws import title
from bakeoff.report.narrate.sentences import sentence

STYLES: dict[Grade, str] = {"impossible": "bold red", "off": "yellow"}
# More of one grade are in the page and in JSON.
MOST = 40


def show(audit: Audit, console: Console, details: bool = False) -> None:
    """Print it. With `details` every check with what it shows, and all findings."""
    for grade in STYLES:
        found = [finding for finding in audit.findings if finding.grade == grade]
        shown = found if details else found[:MOST]
        for finding in shown:
            _finding(finding, console)
        if len(found) > len(shown):
            left = len(found) - len(shown)
            _line(console, f"{left:,} more numbers are {grade}: see --details or -o audit.html\n", STYLES[grade])
    for outcome in audit.outcomes:
        for fact in outcome.shows:
            if isinstance(fact, Reproduced | NotInTables):
                _claim(fact, console)
    _checks(audit, console)
    _line(console, summary(audit), "bold red" if audit.impossible else "bold")


def summary(audit: Audit) -> str:
    """All of it in a sentence."""
    files = f"{wording.plural(len(audit.files), 'file')} with {wording.plural(audit.numbers, 'number')}"
    if not audit.checked:
        return f"{files}: no two of them depend on each other, so nothing could be checked."
    return f"{files}, {counted(audit)}."


def counted(audit: Audit) -> str:
    """ "40 comparisons: 37 consistent, 1 off and 2 impossible"."""
    counts = {"consistent": audit.consistent, "off": audit.off, "impossible": audit.impossible}
    parts = [f"{number:,} {grade}" for grade, number in counts.items()]
    found = wording.names(parts) if audit.findings else "all consistent within rounding"
    return f"{wording.plural(audit.checked, 'comparison')}: {found}"


def _finding(finding: Finding, console: Console) -> None:
    place = finding.places[0]
    stands = f": {place.text}" if place.text and place.heading != "command line" else ""
    head = Text(f"{finding.grade:<12}", style=STYLES[finding.grade])
    head.append(sanitize(f"{where(place)}{stands}"), "bold")
    console.print(head, soft_wrap=not console.is_terminal)
    sure = "" if finding.sure == "certain" else f" ({finding.sure})"
    text = Text(sanitize(finding_text(finding)))
    text.append(sure, "dim")
    _body(console, text)


def _claim(fact: Reproduced | NotInTables, console: Console) -> None:
    """A claim that is right, or of which nothing can be said."""
    grade, style = ("consistent", "green") if isinstance(fact, Reproduced) else ("unknown", "dim")
    head = Text(f"{grade:<12}", style=style)
    head.append(sanitize(f"{fact.file}, line {fact.line}: {fact.number}"), "bold")
    console.print(head, soft_wrap=not console.is_terminal)
    _body(console, Text(sanitize(sentence(fact))))


def _body(console: Console, text: Text) -> None:
    """What is said of a number, below it."""
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 1, 12)))
    else:
        console.print(f"            {text.plain}\n", markup=False, soft_wrap=True)


def _checks(audit: Audit, console: Console) -> None:
    grid = Grid(title="Checked", title_justify="left", box=None, pad_edge=False, header_style="dim", title_style="bold")
    for column in ("Check", "Comparisons", "Impossible", "Off", "What the numbers show"):
        grid.add_column(column, justify="right" if column in ("Comparisons", "Impossible", "Off") else "left")
    for check, outcomes in by_check(audit):
        counts = [sum(f.grade == grade for o in outcomes for f in o.findings) for grade in STYLES]
        cells = [
            Text(f"{count:,}" if count else "–", STYLES[grade] if count else "dim")
            for grade, count in zip(STYLES, counts, strict=True)
        ]
        number = f"{sum(outcome.checked for outcome in outcomes):,}"
        grid.add_row(sanitize(title(check)), number, *cells, Text(sanitize(shown(outcomes))))
    if grid.rows:
        console.print(grid)
        console.print()


def by_check(audit: Audit) -> Iterator[tuple[str, list[Outcome]]]:
    """The outcomes of each check, in the order of checks."""
    for check in dict.fromkeys(outcome.check for outcome in audit.outcomes):
        yield check, [outcome for outcome in audit.outcomes if outcome.check == check]


def shown(outcomes: Sequence[Outcome], most: int = 3) -> str:
    """What all numbers have in common, in words; of many files that of the first few."""
    facts = [fact for outcome in outcomes for fact in outcome.shows]
    right = sum(isinstance(fact, Reproduced) for fact in facts)
    others = [fact for fact in facts if not isinstance(fact, Reproduced | NotInTables)]
    texts = list(dict.fromkeys(map(sentence, others)))
    if facts != others:
        texts.append(f"{right} of {wording.plural(len(facts) + _found(outcomes), 'claim')} reproduced")
    return "; ".join(texts[:most]) + (f"; and {len(texts) - most} more" if len(texts) > most else "")


def _found(outcomes: Sequence[Outcome]) -> int:
    return sum(len(outcome.findings) for outcome in outcomes)


def _line(console: Console, text: str, style: str) -> None:
    console.print(Text(sanitize(text), style=style), soft_wrap=not console.is_terminal)
