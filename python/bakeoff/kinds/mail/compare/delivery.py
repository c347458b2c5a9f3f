"""Whether a bound on deliveries at a time decided a mail result: no reply tells it, only mail that is not there yet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bakeoff.compare.cube.cube import why_unusable
from bakeoff.compare.model.fact import Fact
from bakeoff.core.times import ms_of, s_of
from bakeoff.kinds.mail.compare.known import DeliveryBounded, DeliveryWaited
from bakeoff.kinds.mail.compare.ledger import lag, telling_flow
from bakeoff.kinds.mail.figures import Flow, MailFigures, Times
from bakeoff.load.load_step import LoadStep
from bakeoff.store.records.run_records import RunRecord, TrialRecord

# Rates of delivery no further apart than this are the same; what grows, grows by more.
FLAT_SHARE = 0.15
# Accepted mail that waited for so long inside a server was waiting for its delivery.
DELIVERY_WAIT_MS = 1_000.0


@dataclass(frozen=True)
class Load:
    """One contender at one load step, all blocks together.

    Times are means from acceptance to visibility: certainly not there after `after_s`, there by `by_s`. `lagging`
    says that so much waits at the end of the window that sending outpaces what follows.
    """

    load_step: LoadStep
    accepted_per_s: float
    delivered_per_s: float
    after_s: float
    by_s: float
    waiting: float
    lagging: bool


def deliveries(run: RunRecord) -> Iterator[Fact]:
    """Each contender whose deliveries, not its taking of mail, were the limit."""
    for contender in run.contenders:
        trials = telling_flow(run, contender.name)
        yield from _at_a_time(run, contender.name, trials) or _waited(contender.name, trials)


def _at_a_time(run: RunRecord, name: str, trials: list[TrialRecord]) -> tuple[Fact, ...]:
    """The number of deliveries at a time by Little's law, where it stays the same while more is sent.

    The time in it is that of a delivery which need not wait, so from the lowest load step. At the flat load steps the
    time holds the wait in the queue as well: their product would be the length of the queue, which grows with that of
    the trial.
    """
    usable = [t for t in trials if why_unusable(t) is None]
    loads = [load for load_step in sorted(run.load_steps) if (load := _load(run, name, load_step, usable)) is not None]
    flat = _flat(loads)
    if len(flat) < 2 or loads[0].lagging:
        return ()
    free, first, last = loads[0], flat[0], flat[-1]
    grows = 1.0 + FLAT_SHARE
    if last.accepted_per_s <= grows * first.accepted_per_s and last.waiting <= grows * first.waiting:
        return ()
    # Else the mail may be there and only not read: readers that are the limit leave `after_s` as it is.
    if not all(load.after_s > free.by_s for load in flat):
        return ()
    rate = sum(load.delivered_per_s for load in flat) / len(flat)
    least, most = rate * free.after_s, rate * free.by_s
    if not most >= 1.0:
        return ()  # not even one delivery at a time: something else holds the rate
    accepted, waiting = (first.accepted_per_s, last.accepted_per_s), (first.waiting, last.waiting)
    load_steps = tuple(load.load_step for load in flat)
    return (DeliveryBounded(name, load_steps, rate, accepted, waiting, free.load_step, least, most),)


def _flat(loads: list[Load]) -> list[Load]:
    """The highest load steps at which sending outpaces delivery, and the rate of delivery is the same."""
    flat: list[Load] = []
    for load in reversed(loads):
        rates = [load.delivered_per_s, *(other.delivered_per_s for other in flat)]
        if not load.lagging or not 0.0 < max(rates) <= (1.0 + FLAT_SHARE) * min(rates):
            break
        flat.insert(0, load)
    return flat


def _load(run: RunRecord, name: str, load_step: LoadStep, trials: list[TrialRecord]) -> Load | None:
    """None where the trials do not tell all of it."""
    here = [t for t in trials if t.load_step == load_step]
    window_s = sum(t.window_s for t in here)
    if not window_s:
        return None

    def per_s(pick: Callable[[Flow], float]) -> float:
        return sum(pick(t.figures(MailFigures).flowing) * t.window_s for t in here) / window_s

    load = Load(
        load_step,
        per_s(lambda flow: flow.accepted_per_s),
        per_s(lambda flow: flow.delivered_per_s),
        _mean_s([t.figures(MailFigures).visible.after for t in here]),
        _mean_s([t.figures(MailFigures).visible.by for t in here]),
        sum(t.figures(MailFigures).flowing.backlog.messages for t in here) / len(here),
        lag(run, name, load_step) is not None,
    )
    known = (load.accepted_per_s, load.delivered_per_s, load.after_s, load.by_s, load.waiting)
    return load if all(map(math.isfinite, known)) else None


def _mean_s(ends: list[Times]) -> float:
    """Over all messages of all trials; NaN when one trial does not tell it."""
    total = sum(end.count for end in ends)
    if not total > 0:
        return math.nan
    return s_of(sum(end.count * end.mean_ns if end.count else 0.0 for end in ends) / total)


def _waited(name: str, trials: list[TrialRecord]) -> tuple[Fact, ...]:
    """Where the load steps do not tell the number: that messages were accepted and certainly not there for long."""
    figures = [trial.figures(MailFigures) for trial in trials]
    waits = [(one.flowing.in_delivery.peak, ms_of(one.visible.after.p95_ns)) for one in figures]
    long_waits = [(peak, wait_ms) for peak, wait_ms in waits if wait_ms >= DELIVERY_WAIT_MS and peak > 1]
    if not long_waits:
        return ()
    return (DeliveryWaited(name, *max(long_waits)),)
