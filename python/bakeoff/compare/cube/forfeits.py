"""Trials and cells that a contender forfeited: a zero is a result.

A contender that dies, serves nothing, or serves some clients and starves others has no ratio there. Leaving the pair
out would flatter it: the better a contender chooses what to fail at, the better it would look. So such a pair counts as
a loss of bounded size: ten times slower, or as much as the widest pair that both served, whichever is more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.reason import ClientsUnserved, NoneSucceeded, reason_of
from bakeoff.core.thresholds import STARVED_SHARE
from bakeoff.store.records.run_records import OK, TrialRecord

Logs = NDArray[np.float64]
Marks = NDArray[np.bool_]

# A loss counts as at least this many times slower.
LOSS = 10.0
# No ratio is told beyond e to this power, which still is a number.
FARTHEST = 600.0
# The fewest operations of the mean client from which a client without any was starved and not only unlucky.
ENOUGH = 10


@dataclass(frozen=True)
class PairLogs:
    """ln(contender / baseline) of pairs, with bounded losses in it.

    `ties` marks pairs that both forfeited, which have no logarithm; `lost` those that the first (baseline) and the
    second (contender) forfeited. A loss counts as `factor` times slower. `instead` marks pairs in which another figure
    stands for the one asked for, which neither has. `bounds` are between what `logs` lie, where that is open.
    """

    logs: Logs
    ties: Marks
    forfeited: tuple[Marks, Marks]
    factor: float
    instead: Marks | None = None
    bounds: tuple[Logs, Logs] | None = None

    def settled(self) -> Logs:
        """`logs` with 0 for what both lost, in rows that have a number in half of the blocks at least."""
        known = np.isfinite(self.logs)
        often = 2 * known.sum(axis=-1, keepdims=True) >= (known | self.ties).sum(axis=-1, keepdims=True)
        logs: Logs = np.where(self.ties & often & known.any(axis=-1, keepdims=True), 0.0, self.logs)
        return logs


def broke(trial: TrialRecord) -> bool:
    """The contender itself failed: the trial failed, or nothing succeeded in it.

    Voided trials are not its fault.
    """
    return trial.state == "failed" or (trial.state == OK and trial.is_empty)


def starved_clients(trial: TrialRecord, enough: int) -> tuple[int, ...]:
    """The clients of `trial` that got nothing, or next to nothing, while others were served.

    A client without any operation counts where the mean client has `enough` of them: a short trial may leave one
    without. The clients that carry a rate stand in for each other: none of them can starve.
    """
    if not trial.operations or len(trial.per_client) < 2 or trial.starts is not None:
        return ()
    mean = trial.operations / len(trial.per_client)
    nothing = mean >= enough
    return tuple(
        c.client for c in trial.per_client if (c.operations == 0 and nothing) or 0 < c.operations < STARVED_SHARE * mean
    )


def forfeited_trial(trial: TrialRecord, enough: int) -> Fact | None:
    """Why the contender lost this trial; None when it did not."""
    if broke(trial):
        return reason_of(trial) or NoneSucceeded()
    starved = starved_clients(trial, enough) if trial.state == OK else ()
    return ClientsUnserved(starved, trial.load_step.clients) if starved else None


def bounded(bottom: Logs, top: Logs, lost: tuple[Marks, Marks], higher_is_better: bool = True) -> PairLogs:
    """`top` over `bottom`, both logarithms of one shape with NaN where there is no number; `lost` marks what the
    bottom and the top one forfeited. A pair in which one lost counts only where the other one has a number.
    """
    below, above = lost
    both = np.isfinite(bottom) & np.isfinite(top) & ~below & ~above
    with np.errstate(invalid="ignore"):  # nothing over nothing, which is not taken
        logs = np.where(both, np.clip(top - bottom, -FARTHEST, FARTHEST), np.nan)
    widest = float(np.abs(logs[both]).max(initial=0.0))
    bound = max(math.log(LOSS), widest)
    sign = 1.0 if higher_is_better else -1.0
    lower, upper = below & ~above & np.isfinite(top), above & ~below & np.isfinite(bottom)
    logs = np.where(lower, sign * bound, np.where(upper, -sign * bound, logs))
    return PairLogs(logs, below & above, (lower, upper), math.exp(bound))
