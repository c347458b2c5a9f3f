"""Which test bed the suites of a paper were measured on: one for all of them, or several with names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.model import Bed, Paper
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.report.blocks.tree import Section, Text
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate import wording
from bakeoff.report.paper.testbed import Generators

UNNAMED = "not disclosed"


@dataclass(frozen=True)
class PlacedBed:
    """A test bed, what was `measured` on it (suites by name, run files by letter), and the machines that sent that
    load. `name` is empty where all was measured on one.
    """

    name: str
    bed: Bed
    measured: tuple[str, ...]
    generators: Generators

    @property
    def title(self) -> str:
        """ "lab (web-static)"."""
        return f"{self.name} ({wording.names(list(self.measured))})" if self.name else "Test bed"


def beds_of(paper: Paper, places: Mapping[str, Generators]) -> tuple[PlacedBed, ...]:
    """The test beds of what was measured at `places`. Raises PlanError where nobody knows which was where."""
    if not paper.testbeds:
        return (PlacedBed("", paper.testbed, tuple(places), _together(list(places.values()))),)
    where: dict[str, str] = {}
    for name, bed in paper.testbeds.items():
        for place in bed.measured:
            of = f"{paper.origin} [testbeds.{name}] measured"
            if place not in places:
                raise PlanError(f"{of}: {place!r} is nothing of this report: {did_you_mean(place, places)}")
            if place in where:
                raise PlanError(f"{of}: {place} stands in [testbeds.{where[place]}] as well: keep one of them")
            where[place] = name
    rest = tuple(place for place in places if place not in where)
    beds = [(name, bed, bed.measured) for name, bed in paper.testbeds.items()]
    beds += [(UNNAMED if _is_empty(paper.testbed) else "unnamed", paper.testbed, rest)] if rest else []
    return tuple(
        PlacedBed(name, bed, measured, _together([places[place] for place in measured])) for name, bed, measured in beds
    )


def _is_empty(bed: Bed) -> bool:
    return not (bed.fields or bed.machines)


def _together(parts: Sequence[Generators]) -> Generators:
    agents = {agent.name: agent for part in parts for agent in part.agents}
    addresses = dict.fromkeys(address for part in parts for address in part.addresses)
    days = dict.fromkeys(day for part in parts for day in part.days)
    return Generators(tuple(agents.values()), tuple(addresses), tuple(days))


def with_beds(sections: Sequence[Section], beds: Sequence[PlacedBed]) -> list[Section]:
    """`sections`, of which the first of each chapter says on which bed it was measured; where there are no chapters,
    the first that tells of run files, or else of how it was tested.
    """
    words = {place: bed.name for bed in beds if bed.name for place in bed.measured}
    if not words:
        return list(sections)
    chapters = {section.chapter for section in sections if section.chapter}
    if not chapters & set(words):
        place = next((id_ for id_ in ("run-files", "overview") if any(one.id == id_ for one in sections)), "")
        texts = tuple(_text(name, f"{of}: ") for of, name in words.items())
        return [replace(one, blocks=(*texts, *one.blocks)) if one.id == place else one for one in sections]
    shown: set[str] = set()
    found = []
    for section in sections:
        if section.chapter in words and section.chapter not in shown:
            shown.add(section.chapter)
            section = replace(section, blocks=(_text(words[section.chapter]), *section.blocks))
        found.append(section)
    return found


def _text(name: str, of: str = "") -> Text:
    bed = "a test bed that is not disclosed" if name == UNNAMED else f"test bed {name}, as the author states"
    return Text(f"{of}measured on {bed}." if of else f"Measured on {bed}.", detail=Detail.COMPARISON)
