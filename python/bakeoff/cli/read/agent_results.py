"""What each agent did of the trials of a run file, for `bakeoff show`."""

from bakeoff.core.times import ms_of
from bakeoff.report.blocks.fit import ConsoleTable
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.records.trial_parts import AgentResultRecord


def agent_table(run: RunRecord) -> ConsoleTable | None:
    """One row for each agent of each trial; None when there is one agent, whose figures are those of the trials."""
    if len(run.agents) < 2:
        return None
    console_table = ConsoleTable()
    console_table.column("order")
    console_table.column("agent", numeric=False)
    console_table.column("clients")
    console_table.column("operations/s")
    console_table.column("p99 ms")
    console_table.column("errors")
    console_table.column("CPU %", spare=1)
    console_table.column("link %", spare=2)
    console_table.column("start ms", spare=4)
    console_table.column("p99 lag ms", spare=3)
    console_table.column("state", numeric=False)
    for trial in run.trials:
        for share in trial.per_agent:
            console_table.row(
                str(trial.order),
                share.agent,
                str(share.clients),
                f"{share.operations_per_s:,.1f}",
                _figure(share.times.p99_ns),
                f"{sum(share.errors.values()):,}",
                f"{100.0 * share.cpu_share:.1f}",
                _link(share),
                _figure(share.start_offset_ns),
                _figure(share.lag_p99_ns),
                "lost" if share.lost else "ok",
            )
    return console_table


def _link(share: AgentResultRecord) -> str:
    """Of the fullest of its links; a dash where none has a speed."""
    shares = [link.share for link in share.links if link.share is not None]
    return f"{100.0 * max(shares):.1f}" if shares else "-"


def _figure(time_ns: int | None) -> str:
    return "-" if time_ns is None else f"{ms_of(time_ns):.3f}"
