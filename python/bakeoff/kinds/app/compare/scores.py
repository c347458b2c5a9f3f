"""Scores of an application server, made of what each client got.

A client's rate is its transactions over the window: time in which the server was dead or refused counts. The harmonic
mean with equal weights punishes a server that starves clients: one client without a transaction makes it 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.store.records.run_records import TrialRecord


@dataclass(frozen=True)
class Scores:
    """Transactions per second of a whole trial, and of its least and most served client.

    `unweighted` is the number of clients times the harmonic mean of their rates with equal weights, `weighted` the
    same weighted by their transactions, as published: there each client's weight cancels its penalty, so that without
    think time it is the plain rate. `plain` are all transactions over the length of the window. `starved` are the
    clients without a transaction.
    """

    weighted: float
    unweighted: float
    plain: float
    lowest: float
    highest: float
    starved: tuple[int, ...]


def scores(trial: TrialRecord, think_s: float = 0.0) -> Scores:
    """The scores of `trial`, whose clients were to pause `think_s` seconds after each transaction.

    The published score divides by the time that a client's transactions took. Taken as the time of those that
    succeeded, it would forgive a server that dies in mid-trial; so it is the window without the pauses.
    """
    clients, window_s = trial.per_client, trial.window_s
    starved = tuple(c.client for c in clients if c.operations == 0)
    plain = trial.operations / window_s if window_s > 0 else 0.0
    rates = [c.operations / window_s for c in clients if c.operations > 0 and window_s > 0]
    highest = max(rates, default=0.0)
    if starved or not rates:
        return Scores(0.0, 0.0, plain, 0.0, highest, starved)
    spent_s = sum(max(min(c.busy_s, window_s), window_s - think_s * c.operations) for c in clients)
    weighted = len(rates) * sum(c.operations for c in clients) / spent_s
    unweighted = len(rates) ** 2 / sum(1.0 / rate for rate in rates)
    return Scores(weighted, unweighted, plain, min(rates), highest, starved)
