"""What several suites of a campaign have to say of the machine, or of anything else, in the same words: told once."""

from __future__ import annotations

from collections.abc import Mapping

from bakeoff.compare.model.comparison import Comparison
from bakeoff.report.blocks.tree import Block, Column, Section, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.warned import Warned, warnings_of
from bakeoff.store.records.run_records import EventRecord, RunRecord


class SharedNotes:
    """Notes with one advice, and warnings of one text, that more than one of the measured suites has."""

    def __init__(self, runs: Mapping[str, RunRecord], comparisons: Mapping[str, Comparison]) -> None:
        self._suites = len(comparisons)
        notes: dict[str, dict[str, list[Warned]]] = {}
        events: dict[str, dict[str, list[EventRecord]]] = {}
        for suite, comparison in comparisons.items():
            for note in (note for note in warnings_of(comparison) if not note.first):
                notes.setdefault(note.advice or note.text, {}).setdefault(suite, []).append(note)
            for event in (event for event in runs[suite].events if event.level == "warning"):
                events.setdefault(event.text, {}).setdefault(suite, []).append(event)
        self._notes = {advice: of for advice, of in notes.items() if len(of) > 1}
        self._events = {text: of for text, of in events.items() if len(of) > 1}

    @property
    def texts(self) -> frozenset[str]:
        """What the chapters leave out."""
        notes = (note.text for of in self._notes.values() for own in of.values() for note in own)
        return frozenset((*notes, *self._events))

    @property
    def section(self) -> Section | None:
        """All of it, with the suites where it is not said of each of them alike; None where there is none."""
        blocks: list[Block] = [self._note(of) for of in self._notes.values()]
        blocks += [self._warnings()] if self._events else []
        return Section("Notes on several suites", tuple(blocks), "notes-of-suites") if blocks else None

    def _note(self, of: Mapping[str, list[Warned]]) -> Text:
        by_text: dict[str, dict[str, None]] = {}
        for suite, own in of.items():
            for note in own:
                by_text.setdefault(note.text, {})[suite] = None
        advice = next(iter(of.values()))[0].advice
        if len(by_text) == 1 and len(of) == self._suites:
            return Text(next(iter(by_text)), "warning", advice, Detail.SUMMARY)
        joined = " ".join(f"{wording.names(list(suites))}: {text}" for text, suites in by_text.items())
        return Text(joined, "warning", advice, Detail.SUMMARY)

    def _warnings(self) -> Table:
        columns = (
            Column("When", numeric=False),
            Column("Suites", numeric=False),
            Column("Times"),
            Column("What", numeric=False),
        )
        rows = []
        for text, of in self._events.items():
            times = [event.at for own in of.values() for event in own]
            suites = "all" if len(of) == self._suites else wording.names(list(of))
            rows.append((Context.moment(min(times)), suites, f"{len(times):,}", text))
        return Table("Warnings during several suites", columns, tuple(rows), "When: the first time.")
