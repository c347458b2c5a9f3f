"""Clients that a server gave nothing while it served others: a mean over all clients must not hide them.

Clients that did nothing because the load generator did not run are told apart: no server is to blame for them.
"""

from __future__ import annotations

from bakeoff.compare.advice.advice_model import (
    CellClients,
    ClientsStarved,
    SomeClients,
    StarvedInCells,
    StarvedTrial,
    UnrunCell,
    UnrunInCells,
)
from bakeoff.compare.cube.cells import cell_name, cells_of, is_unrun, starving_cells, unrun_clients
from bakeoff.compare.cube.cube import Cube, blamed
from bakeoff.compare.cube.forfeits import starved_clients
from bakeoff.compare.kind import compare_part
from bakeoff.compare.model.fact import Fact
from bakeoff.store.records.figures import CellFigures
from bakeoff.store.records.run_records import RunRecord, TrialRecord


def starved_advice(run: RunRecord) -> list[Fact]:
    """What is to be known of each contender that starved clients."""
    enough, facts = compare_part(run.kind).enough, list[Fact]()
    for name in (contender.name for contender in run.contenders):
        trials = blamed([trial for trial in run.trials if trial.contender == name])
        if hit := tuple(_in_trial(trial, some) for trial in trials if (some := starved_clients(trial, enough))):
            facts.append(ClientsStarved(name, hit, len(trials)))
        if in_cells := tuple(
            CellClients(cell_name(cell), name, trial.block, SomeClients(idle, len(cell.per_client)))
            for trial in trials
            for cell, idle in starving_cells(trial)
        ):
            facts.append(StarvedInCells(name, in_cells))
    return facts


def unrun_advice(cube: Cube) -> list[Fact]:
    """The cells in which the load generator did not run for a client."""
    trials = sorted(cube.usable.values(), key=lambda trial: trial.order)
    hit = tuple(_unrun(trial, cell) for trial in trials for cell in cells_of(trial) if is_unrun(cell))
    return [UnrunInCells(hit)] if hit else []


def _in_trial(trial: TrialRecord, clients: tuple[int, ...]) -> StarvedTrial:
    none = all(one.operations == 0 for one in trial.per_client if one.client in clients)
    return StarvedTrial(trial.block, SomeClients(clients, trial.load_step.clients), none)


def _unrun(trial: TrialRecord, cell: CellFigures) -> UnrunCell:
    clients = unrun_clients(cell)
    share = max(cell.waited_shares[client] for client in clients)
    some = SomeClients(clients, len(cell.per_client))
    return UnrunCell(cell_name(cell), trial.contender, trial.block, some, share)
