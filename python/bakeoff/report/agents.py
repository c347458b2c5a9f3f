"""What each of several load generators did."""

from __future__ import annotations

from bakeoff.compare import wording
from bakeoff.report.blocks import Column, Table
from bakeoff.report.context import Context
from bakeoff.store.records import AgentRecord, ShareRecord

TITLES = ("Trials", "lost", "clients", "share of operations %", "CPU %", "waited %", "µs/operation", "p99 lag ms")
NOTE = (
    "Trials: those that count. Lost: trials that are void because this agent was lost in them. Clients: at the largest "
    "mix. CPU, waited and lag: the largest of all trials."
)


def agents_table(context: Context) -> list[Table]:
    """One row per agent; nothing when one has done it all."""
    agents = context.run.agents
    if len(agents) < 2:
        return []
    columns = (Column("Agent", numeric=False), Column("Machine", numeric=False), *map(Column, TITLES))
    rows = tuple((agent.name, _machine(agent), *_figures(context, agent)) for agent in agents)
    return [Table("The agents", columns, rows, NOTE)]


def _machine(agent: AgentRecord) -> str:
    """`64 × AMD EPYC 7543, Linux 6.1`, as far as it is known."""
    cpu = agent.facts.get("cpu")
    cpu = cpu if isinstance(cpu, dict) else {}
    words = [f"{cpu['available']} ×" if cpu.get("available") else "", str(cpu.get("model") or "")]
    kernel = agent.facts.get("kernel")
    named = " ".join(filter(None, words))
    return ", ".join(filter(None, (named, f"Linux {kernel}" if kernel else ""))) or wording.MISSING


def _figures(context: Context, agent: AgentRecord) -> list[str]:
    def of(trials: list[tuple[ShareRecord, ...]]) -> list[ShareRecord]:
        return [share for shares in trials for share in shares if share.agent == agent.name]

    lost = sum(bool(share.lost) for share in of([trial.per_agent for trial in context.run.trials]))
    shares = of([trial.per_agent for trial in context.usable])
    if not shares:
        return ["0", f"{lost}", *[wording.MISSING] * (len(TITLES) - 2)]
    operations = sum(share.operations for share in shares)
    everyone = sum(trial.operations for trial in context.usable)
    cost = sum(share.cpu_us_per_operation * share.operations for share in shares) / max(1, operations)
    lags = [share.lag_p99_ns for share in shares if share.lag_p99_ns is not None]
    return [
        f"{len(shares)}",
        f"{lost}",
        f"{max(share.clients for share in shares)}",
        wording.figures(100.0 * operations / max(1, everyone), 3),
        wording.figures(100.0 * max(share.cpu_share for share in shares), 3),
        wording.figures(100.0 * max(share.run_delay_share for share in shares), 3),
        wording.figures(cost, 3),
        wording.figures(max(lags) / 1e6, 3) if lags else wording.MISSING,
    ]
