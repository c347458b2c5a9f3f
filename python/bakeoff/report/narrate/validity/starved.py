"""Clients that did nothing while others were served, in words."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.advice.advice_model import (
    ClientsStarved,
    SomeClients,
    StarvedInCells,
    StarvedTrial,
    UnrunCell,
    UnrunInCells,
)
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advised import advised
from bakeoff.report.narrate.sentences import sentence
from bakeoff.report.narrate.validity.reasons import NAMED, clients_words

STARVED = "Its rates come from the clients that it served; each such trial, or cell, counts as forfeited."


@sentence.register
def some_clients(found: SomeClients) -> str:
    """ "client 3 of 4", "clients 0, 1, 2 and 7 more of 60"."""
    return clients_words(found.clients, found.of)


@advised.register
def _(fact: ClientsStarved) -> tuple[str, str]:
    trials = f"{len(fact.trials)} of {wording.plural(fact.of, 'trial')}"
    return f"{fact.contender} starved clients in {trials}: {_first([_in_trial(one) for one in fact.trials])}.", STARVED


@advised.register
def _(fact: StarvedInCells) -> tuple[str, str]:
    listed = _first([f"{one.cell}, block {one.block}: {some_clients(one.clients)}" for one in fact.cells])
    cells = wording.plural(len(fact.cells), "cell")
    return f"{fact.contender} gave clients (next to) nothing in {cells}: {listed}.", STARVED


@advised.register
def _(fact: UnrunInCells) -> tuple[str, str]:
    listed = _first([f"{one.cell}, {one.contender}, block {one.block}: {unrun(one)}" for one in fact.cells])
    return (
        f"The load generator did not run for some clients in {wording.plural(len(fact.cells), 'cell')}: {listed}.",
        "Such cells are left out of their blocks and count against no contender. Keep other work off the machine, or "
        "give the generator cores of its own (`--load-threads`, `--pin`).",
    )


def unrun(one: UnrunCell) -> str:
    """ "client 1 of 2 for 98 % of its time"."""
    return f"{some_clients(one.clients)} for {wording.percent(one.share)} of its time"


def _in_trial(one: StarvedTrial) -> str:
    return f"{some_clients(one.clients)} got {'' if one.nothing else 'next to '}nothing in block {one.block}"


def _first(parts: Sequence[str]) -> str:
    more = f"; and {len(parts) - NAMED} more" if len(parts) > NAMED else ""
    return "; ".join(parts[:NAMED]) + more
