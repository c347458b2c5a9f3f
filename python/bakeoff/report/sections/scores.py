"""The scores of an application server, and the clients behind them."""

from __future__ import annotations

from bakeoff.compare import wording
from bakeoff.compare.scores import scores
from bakeoff.compare.starved import without_any
from bakeoff.report.blocks import Block, Bullets, Column, Section, Table, Text
from bakeoff.report.context import Context
from bakeoff.store.records import TrialRecord

KIND = "app"
# Clients named before the rest are only counted.
NAMED = 8
METRICS = (("rate", "weighted harmonic"), ("plain", "plain"), ("unweighted", "unweighted harmonic"))


def section(context: Context) -> Section | None:
    """Transactions per second in three ways, the spread over clients, and whoever got nothing."""
    if context.comparison.run.kind != KIND:
        return None
    columns = [Column("Clients")]
    for name in context.names:
        titles = (*(title for _, title in METRICS), "slowest client", "fastest client", "lowest Jain index")
        columns += [Column(title, group=name) for title in titles]
    rows = tuple(_row(context, index, mix) for index, mix in enumerate(context.comparison.run.mixes))
    note = (
        "Weighted harmonic: clients × harmonic mean of the clients' rates, weighted by their transactions; this is the "
        "score. Plain: all transactions over the window. Unweighted: the harmonic mean with equal weights. "
        "Means over blocks. Slowest and fastest client: transactions of one client per second of its waiting, over "
        "all blocks."
    )
    blocks: list[Block] = [Table("Transactions per second", tuple(columns), rows, note)]
    starved = [text for trial in context.run.trials if (text := _starved(trial))]
    if starved:
        blocks.append(Text("Clients that got no transaction: they make both harmonic scores of the trial 0.", "bad"))
        blocks.append(Bullets(tuple(starved)))
    return Section("scores", "Scores", tuple(blocks))


def _row(context: Context, index: int, mix: int) -> tuple[str, ...]:
    row = [f"{mix}"]
    for name in context.names:
        trials = context.at(name, mix)
        if not trials:
            row += [wording.MISSING] * (len(METRICS) + 3)
            continue
        row += [wording.figures(context.comparison.curve(key, name).points[index].centre) for key, _ in METRICS]
        found = [scores(trial) for trial in trials]
        row.append(wording.figures(min(score.lowest for score in found)))
        row.append(wording.figures(max(score.highest for score in found)))
        row.append(f"{min(trial.fairness_jain for trial in trials):.4f}")
    return tuple(row)


def _starved(trial: TrialRecord) -> str:
    """Who got nothing in a trial in which others did."""
    found = without_any(trial)
    if not found:
        return ""
    listed = ", ".join(f"{client}" for client in found[:NAMED])
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    clients = "client" if len(found) == 1 else "clients"
    return f"{trial.contender}, {trial.mix_clients} clients, block {trial.block}: {clients} {listed}{more}"
