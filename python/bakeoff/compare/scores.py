"""Scores of an application server, made of what each client got.

A client's rate is its transactions divided by the time it spent in them. The harmonic means punish a server that
starves clients: one client without a transaction makes them 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.store.records import TrialRecord


@dataclass(frozen=True)
class Scores:
    """Transactions per second of a whole trial, and of its least and most served client.

    ``weighted`` is the number of clients times the harmonic mean of their rates, weighted by their transactions;
    ``unweighted`` the same with equal weights; ``plain`` all transactions over the length of the window.
    ``starved`` are the clients without a transaction.
    """

    weighted: float
    unweighted: float
    plain: float
    lowest: float
    highest: float
    starved: tuple[int, ...]


def scores(trial: TrialRecord) -> Scores:
    """The scores of ``trial``."""
    clients = trial.per_client
    starved = tuple(c.client for c in clients if c.operations == 0)
    plain = trial.operations / trial.window_s if trial.window_s > 0 else 0.0
    served = [c for c in clients if c.operations > 0 and c.busy_s > 0]
    rates = [c.operations / c.busy_s for c in served]
    highest = max(rates, default=0.0)
    if starved or len(served) < len(clients) or not served:
        return Scores(0.0, 0.0, plain, 0.0, highest, starved)
    busy_s = sum(c.busy_s for c in served)
    weighted = len(served) * sum(c.operations for c in served) / busy_s
    unweighted = len(served) ** 2 / sum(1.0 / rate for rate in rates)
    return Scores(weighted, unweighted, plain, min(rates), highest, starved)
