"""The scores of an application server, and the clients behind them."""

from __future__ import annotations

from bakeoff.compare.cube.forfeits import starved_clients
from bakeoff.kinds.app.compare.scores import scores
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Block, Bullets, Column, Section, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.store.records.run_records import TrialRecord

# Clients named before the rest are only counted.
NAMED = 8
METRICS = (("rate", "unweighted harmonic"), ("plain", "plain"), ("weighted", "weighted, as published"))


@report_section("scores", after="numbers")
def section(context: Context) -> Section | None:
    """Transactions per second in three ways, the spread over clients, and whoever got nothing; nothing of a rate, whose
    connections stand in for each other.
    """
    if context.is_open_loop:
        return None
    columns = [Column(context.load_step_title)]
    for name in context.names:
        titles = (*(title for _, title in METRICS), "slowest client", "fastest client", "lowest Jain index")
        columns += [Column(title, group=name) for title in titles]
    rows = tuple(_row(context, index, load_step) for index, load_step in enumerate(context.comparison.run.load_steps))
    note = (
        "All are over the window: time in which the server was dead counts. Unweighted harmonic: clients × harmonic "
        "mean of the clients' rates; this score decides: a starved client pulls it down. Plain: all transactions over "
        "the window. Weighted, as published: the harmonic mean weighted by transactions; the weight of a starved "
        "client cancels its penalty, so that without think time it is the plain rate. Means over blocks. Slowest and "
        "fastest client: transactions of one client per second, over all blocks."
    )
    blocks: list[Block] = [Table("Transactions per second", tuple(columns), rows, note)]
    starved = [text for trial in context.run.trials if (text := _starved(trial, context.compared.enough))]
    if starved:
        text = "Clients that got (next to) no transaction: they pull the score down, and the trial counts as forfeited."
        blocks.append(Text(text, "bad"))
        blocks.append(Bullets(tuple(starved)))
    return Section("Scores", tuple(blocks))


def _row(context: Context, index: int, load_step: LoadStep) -> tuple[str, ...]:
    row = [f"{load_step}"]
    for name in context.names:
        trials = context.at(name, load_step)
        if not trials:
            row += [wording.MISSING] * (len(METRICS) + 3)
            continue
        row += [wording.figures(context.comparison.curve(key, name).points[index].centre) for key, _ in METRICS]
        scored = [scores(trial) for trial in trials]
        row.append(wording.figures(min(score.lowest for score in scored)))
        row.append(wording.figures(max(score.highest for score in scored)))
        row.append(f"{min(trial.fairness_jain for trial in trials):.4f}")
    return tuple(row)


def _starved(trial: TrialRecord, enough: int) -> str:
    """Who got nothing in a trial in which others did."""
    starved = starved_clients(trial, enough)
    if not starved:
        return ""
    listed = ", ".join(f"{client}" for client in starved[:NAMED])
    more = f" and {len(starved) - NAMED} more" if len(starved) > NAMED else ""
    clients = "client" if len(starved) == 1 else "clients"
    return f"{trial.contender}, {trial.load_step.words}, block {trial.block}: {clients} {listed}{more}"
