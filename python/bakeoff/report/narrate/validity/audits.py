"""What audits hold trials to, and how these fall short of it, in words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from bakeoff.compare.model.comparison import AuditTrial
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.validity.audit_model import (
    BytesRule,
    CellBytes,
    CellsRule,
    ContentRule,
    CountsRule,
    Edges,
    FatesRule,
    LittleRule,
    NotMeasuredCells,
    OffRate,
    OffSessions,
    OffStarts,
    OtherSize,
    RatesRule,
    StartsRule,
    SteadyRule,
    Unequal,
)
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence, words_for

# Names of audits that say more than their keys, and of sums.
TITLES = {"Fates": "Fates of starts", "Connections": "Connections and calls"}
SUMS = {
    "operations": "sum over operations",
    "operation errors": "errors over operations",
    "clients": "sum over clients",
    "operation bytes": "bytes over operations",
    "client bytes": "bytes over clients",
    "statuses": "replies by status",
}
EDGES: Mapping[Edges, str] = {
    "operation": "one operation per session",
    "longest": "the longest operation (or iteration with its rest) of each session",
}
EXACT = "exact"


def audit_title(name: str) -> str:
    """The name of an audit for people."""
    return TITLES.get(name, name)


@singledispatch
def ruled(rule: Fact) -> tuple[str, str]:
    """What an audit says must hold, and how far it may be off; a kind of suite registers its own."""
    words: tuple[str, str] = words_for(ruled, type(rule))(rule)
    return words


@ruled.register
def _(rule: LittleRule) -> tuple[str, str]:
    what = "Little's law: clients × virtual users (× streams) = operations/s × (mean response + think time)"
    filling = ", and the sessions that were filling and checking data" if rule.filling else ""
    return what + filling, f"{wording.percent(rule.share)} and {EDGES[rule.edges]}"


@ruled.register
def _(rule: StartsRule) -> tuple[str, str]:
    return (
        "starts planned for the window = rate × window, or what the shape of the arrivals has in it",
        f"one start, or one burst; {rule.deviations:g} standard deviations of arrivals at random",
    )


@ruled.register
def _(rule: FatesRule) -> tuple[str, str]:
    return "offered = answered + failed + still open + never started", EXACT


@ruled.register
def _(rule: CountsRule) -> tuple[str, str]:
    return "operations and errors by kind and by client add up to the total, and so does the histogram", EXACT


@ruled.register
def _(rule: BytesRule) -> tuple[str, str]:
    return "bytes received by kind of operation and by client add up to the total", EXACT


@ruled.register
def _(rule: RatesRule) -> tuple[str, str]:
    return "rate × window = operations", EXACT


@ruled.register
def _(rule: ContentRule) -> tuple[str, str]:
    return (
        "bytes per operation of each class agree with the baseline's at the same load step and block (but for "
        f"{rule.header_bytes} bytes of headers; classes with fewer than {rule.operations} operations are not compared)",
        f"{wording.percent(rule.share)} or chance",
    )


@ruled.register
def _(rule: CellsRule) -> tuple[str, str]:
    what = "all contenders tried the same cells"
    return f"the bytes of every cell are its transfers × their size, and {what}" if rule.counted else what, EXACT


@ruled.register
def _(rule: SteadyRule) -> tuple[str, str]:
    return (
        "rates of whole seconds in the window (MSER-5, change points, trend; trials of fewer than "
        f"{rule.fewest_s} are too short to judge)",
        f"{wording.percent(rule.share)} and chance",
    )


@sentence.register
def deviation(trial: AuditTrial) -> str:
    """All that is wrong with a trial."""
    return "; ".join(map(sentence, trial.found))


@sentence.register
def off_sessions(found: OffSessions) -> str:
    """By Little's law; what else may be wrong follows."""
    return f"N = {found.sessions}, but X·(R+Z) = {found.implied:.2f}"


@sentence.register
def off_starts(found: OffStarts) -> str:
    """Of a rate."""
    return f"{found.starts:,} starts, but {found.expected:,.1f} by rate and window"


@sentence.register
def off_rate(found: OffRate) -> str:
    """Of what was done."""
    return f"{found.per_s:,.1f}/s, but {found.operations:,} in {found.window_s:g} s"


@sentence.register
def unequal(found: Unequal) -> str:
    """Of a sum."""
    return f"{SUMS.get(found.what, found.what)}: {found.sum:,} instead of {found.total:,}"


@sentence.register
def other_size(found: OtherSize) -> str:
    """Of content."""
    mine, theirs = f"{found.size_bytes:,.0f} bytes per operation", f"{found.other} {found.other_bytes:,.0f}"
    return f"{found.name}: {mine}, {theirs}"


@sentence.register
def cell_bytes(found: CellBytes) -> str:
    """Of a cell."""
    return f"{found.test}: {found.moved:,} bytes instead of {found.due:,}"


@sentence.register
def not_measured_cells(found: NotMeasuredCells) -> str:
    """Of cells."""
    return f"{wording.plural(found.cells, 'cell')} of {found.of} not tried by {found.by}"
