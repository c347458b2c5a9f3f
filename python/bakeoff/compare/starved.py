"""Clients that a server gave nothing while it served others: a mean over all clients must not hide them."""

from __future__ import annotations

from bakeoff.compare import wording
from bakeoff.compare.cube import blamed
from bakeoff.store.records import RunRecord, TrialRecord

# Of other suites a short trial may leave a client without any; the judge of trials marks those that mean something.
KIND = "app"
MARK = "starved-client"
# Trials named before the rest are only counted, and clients of one trial.
NAMED = 3


def without_any(trial: TrialRecord) -> tuple[int, ...]:
    """The clients of ``trial`` that got nothing while others did."""
    return tuple(c.client for c in trial.per_client if c.operations == 0) if trial.operations else ()


def starved(run: RunRecord) -> tuple[str, ...]:
    """A sentence for each contender that starved clients."""
    found = []
    for contender in run.contenders:
        trials = blamed([trial for trial in run.trials if trial.contender == contender.name])
        hit = [t for t in trials if without_any(t) and (run.kind == KIND or MARK in t.marks)]
        if hit:
            found.append(_sentence(contender.name, hit, len(trials)))
    return tuple(found)


def _sentence(name: str, hit: list[TrialRecord], of: int) -> str:
    listed = "; ".join(_one(trial) for trial in hit[:NAMED])
    more = f"; and {len(hit) - NAMED} more" if len(hit) > NAMED else ""
    return f"{name} starved clients in {len(hit)} of {wording.plural(of, 'trial')}: {listed}{more}."


def _one(trial: TrialRecord) -> str:
    clients = without_any(trial)
    shown = ", ".join(str(client) for client in clients[:NAMED])
    more = f" and {len(clients) - NAMED} more" if len(clients) > NAMED else ""
    word = "client" if len(clients) == 1 else "clients"
    return f"{word} {shown}{more} of {trial.mix_clients} got nothing in block {trial.block}"
