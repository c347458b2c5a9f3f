"""Clients that a server gave nothing while it served others: a mean over all clients must not hide them.

Clients that did nothing because the load generator did not run are told apart: no server is to blame for them.
"""

from __future__ import annotations

from bakeoff.compare.cells import cell_name, cells_of, is_unrun, starving_cells, unrun_words
from bakeoff.compare.cube import Cube, blamed
from bakeoff.compare.fact import Fact, Said
from bakeoff.compare.kind import compare_part
from bakeoff.compare.lost import NAMED, clients_words, starved_clients
from bakeoff.report.narrate import wording
from bakeoff.store.figures import CellFigures
from bakeoff.store.records import RunRecord, TrialRecord

STARVED_ADVICE = "Its rates are those of the clients that it served; each such trial, or cell, counts as lost."
UNRUN_ADVICE = (
    "Such cells are left out of their blocks, and nobody has lost them. Keep other work off the machine, or give the "
    "generator cores of its own (`--cores`, `--pin`)."
)


def starved_advice(run: RunRecord) -> list[Fact]:
    """What is to be known of each contender that starved clients."""
    return [Said(text, STARVED_ADVICE) for text in starved(run)]


def unrun_advice(cube: Cube) -> list[Fact]:
    """The same of clients for which the load generator did not run."""
    text = unrun(cube)
    return [Said(text, UNRUN_ADVICE)] if text else []


def starved(run: RunRecord) -> tuple[str, ...]:
    """A sentence for each contender that starved clients."""
    enough = compare_part(run.kind).enough
    sentences = []
    for contender in run.contenders:
        trials = blamed([trial for trial in run.trials if trial.contender == contender.name])
        hit = [trial for trial in trials if starved_clients(trial, enough)]
        if hit:
            sentences.append(_sentence(contender.name, hit, len(trials), enough))
        in_cells = [(trial, *one) for trial in trials for one in starving_cells(trial)]
        if in_cells:
            sentences.append(_in_cells(contender.name, in_cells))
    return tuple(sentences)


def unrun(cube: Cube) -> str:
    """The cells in which the load generator did not run for a client; empty where there are none."""
    trials = sorted(cube.usable.values(), key=lambda trial: trial.order)
    hit = [(trial, cell) for trial in trials for cell in cells_of(trial) if is_unrun(cell)]
    if not hit:
        return ""
    listed = "; ".join(
        f"{cell_name(cell)}, {trial.contender}, block {trial.block}: {unrun_words(cell)}" for trial, cell in hit[:NAMED]
    )
    more = f"; and {len(hit) - NAMED} more" if len(hit) > NAMED else ""
    return f"The load generator did not run for some clients in {wording.plural(len(hit), 'cell')}: {listed}{more}."


def _sentence(name: str, hit: list[TrialRecord], of: int, enough: int) -> str:
    listed = "; ".join(_one(trial, enough) for trial in hit[:NAMED])
    more = f"; and {len(hit) - NAMED} more" if len(hit) > NAMED else ""
    return f"{name} starved clients in {len(hit)} of {wording.plural(of, 'trial')}: {listed}{more}."


def _one(trial: TrialRecord, enough: int) -> str:
    clients = starved_clients(trial, enough)
    none = all(c.operations == 0 for c in trial.per_client if c.client in clients)
    nothing = "nothing" if none else "next to nothing"
    return f"{clients_words(clients, trial.mix.clients)} got {nothing} in block {trial.block}"


def _in_cells(name: str, hit: list[tuple[TrialRecord, CellFigures, tuple[int, ...]]]) -> str:
    listed = "; ".join(
        f"{cell_name(cell)}, block {trial.block}: {clients_words(idle, len(cell.per_client))}"
        for trial, cell, idle in hit[:NAMED]
    )
    more = f"; and {len(hit) - NAMED} more" if len(hit) > NAMED else ""
    return f"{name} gave clients (next to) nothing in {wording.plural(len(hit), 'cell')}: {listed}{more}."
