"""What reports know of a replay: the log, and what became of its paths."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from bakeoff.core.times import ms_of
from bakeoff.kinds.replay.compare import (
    OTHERS,
    LogMismatch,
    NoRequests,
    NotReplayed,
    PathRow,
    PathTable,
    ReplaySummary,
    log_of,
)
from bakeoff.kinds.replay.log import LogFacts
from bakeoff.kinds.replay.plan import ReplaySettings, replay_settings
from bakeoff.report.blocks.tree import Block, Bullets, Column, Section, Table, Text
from bakeoff.report.kind import ReportPart
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advised import advised

# Rows in a terminal; the page has all.
IN_SHORT = 10


@advised.register
def _(fact: NotReplayed) -> tuple[str, str]:
    methods = ", ".join(f"{name} {count:,}" for name, count in sorted(fact.by_method.items()))
    count = sum(fact.by_method.values())
    of = count + fact.replayed
    return (
        f"{count:,} of {of:,} requests of the log ({wording.percent(count / of)}) are not replayed: {methods}.",
        "Only GET and HEAD are, unless --bodies gives what others are to send.",
    )


@advised.register
def _(fact: NoRequests) -> tuple[str, str]:
    part = f"{fact.lines:,} of {wording.plural(fact.of, 'line')}"
    return (
        f"{part} of the log are no requests, or none that could be made again.",
        "See the section on the log for the reasons, with the first line of each.",
    )


@advised.register
def _(fact: LogMismatch) -> tuple[str, str]:
    counted = " They count as answered, as --statuses any was given." if fact.counted else ""
    return (
        f"{fact.contender} answered {fact.mismatched:,} of {fact.replies:,} requests "
        f"({wording.percent(fact.mismatched / fact.replies)}) with a status that does not fit the log's, most often "
        f"{fact.path} ({fact.got_status}, the log has {fact.logged_status}).",
        f"See the table of paths: does it serve the site of the log, with the data of that time?{counted}",
    )


@report_section("paths", detail=Detail.COMPARISON, after="response")
def paths(context: Context) -> Section | None:
    """The paths at each load step: most asked, of the longest time, and replies that do not fit the log."""
    summary = context.comparison.own
    if not isinstance(summary, ReplaySummary):
        return None
    blocks: list[Block] = []
    load_steps = context.comparison.run.load_steps
    for load_step in load_steps:
        tables = [
            table
            for name in context.names
            for table in summary.paths
            if (table.contender, table.load_step) == (name, load_step)
        ]
        if any(table.trials for table in tables):
            blocks += _at_load_step(tables, load_step == load_steps[-1])
    return Section("Paths of the log", tuple(blocks)) if blocks else None


def _at_load_step(tables: Sequence[PathTable], last: bool) -> list[Block]:
    at = tables[0].load_step.words
    detail = Detail.COMPARISON if last else Detail.PAGE
    note = (
        "All blocks together; percentiles of response times, from the planned start, are geometric means over the "
        "blocks. A path stands without its query. Share: of the lines of the log. Other status: replies whose status "
        "does not fit the log's."
    )
    most = _names(tables, "most_asked")
    rows = [_cells(tables, "most_asked", path) for path in most]
    rest = _others(tables)
    blocks: list[Block] = [Table(f"Most asked paths at {at}", _columns(tables), (*rows, *rest), note, folded=not last)]
    if last:  # a terminal has room for the first of them
        short = (*rows[:IN_SHORT], *(rest if len(rows) <= IN_SHORT else ()))
        blocks.append(
            Table(f"Most asked paths at {at} (first {len(short)})", _columns(tables), short, "", True, detail)
        )
    longest = _names(tables, "longest")
    if longest:
        note = (
            "Chosen by the results, and therefore without verdicts. A dash: not among them in any trial of this "
            "contender."
        )
        listed = tuple(_cells(tables, "longest", path) for path in longest)
        blocks.append(Table(f"Other paths that took the most time at {at}", _columns(tables), listed, note, True))
    return [*blocks, *_mismatches(tables, at)]


def _names(tables: Sequence[PathTable], which: str) -> list[str]:
    rows: dict[str, PathRow] = {}
    for table in tables:
        for row in getattr(table, which):
            rows.setdefault(row.path, row)
    if which == "most_asked":
        return sorted(rows, key=lambda path: (-rows[path].in_log, path))
    times = dict.fromkeys(rows, 0.0)
    for table in tables:
        for row in getattr(table, which):
            times[row.path] += row.time_s
    return sorted(rows, key=lambda path: (-times[path], path))


def _columns(tables: Sequence[PathTable]) -> tuple[Column, ...]:
    columns = [Column("Path", numeric=False), Column("in log", spare=3), Column("share")]
    for table in tables:
        titles = (("requests/s", 2), ("p50 ms", 0), ("p99 ms", 0), ("failed", 1), ("other status", 1))
        columns += [Column(title, group=table.contender, spare=spare) for title, spare in titles]
    return tuple(columns)


def _cells(tables: Sequence[PathTable], which: str, path: str) -> tuple[str, ...]:
    found = [next((row for row in getattr(table, which) if row.path == path), None) for table in tables]
    known = next(row for row in found if row is not None)
    return _line(path, known, found)


def _others(tables: Sequence[PathTable]) -> tuple[tuple[str, ...], ...]:
    known = next((table for table in tables if table.others is not None), None)
    if known is None or known.others is None:
        return ()
    return (_line(f"{known.other_paths:,} {OTHERS}", known.others, [table.others for table in tables]),)


def _line(title: str, known: PathRow, found: Sequence[PathRow | None]) -> tuple[str, ...]:
    cells = [title, f"{known.in_log:,}", wording.percent(known.share)]
    for row in found:
        if row is None:
            cells += [wording.MISSING] * 5
            continue
        failed = sum(row.errors.values())
        times = [wording.figures(ms_of(ns)) for ns in (row.p50_ns, row.p99_ns)]
        cells += [wording.rate(row.per_s), *times, f"{failed:,}", f"{row.other_status:,}"]
    return tuple(cells)


def _mismatches(tables: Sequence[PathTable], at: str) -> list[Block]:
    """What was answered otherwise than the log says, or not at all."""
    columns = (
        Column("Path", numeric=False),
        Column("Contender", numeric=False),
        Column("Statuses of replies", numeric=False),
        Column("Other than logged"),
        Column("First of them", numeric=False),
        Column("Failed", numeric=False),
    )
    rows = []
    for table in tables:
        for row in (*table.most_asked, *table.longest, *([table.others] if table.others else [])):
            if row.other_status or row.errors:
                statuses = ", ".join(f"{status} {count:,}" for status, count in row.statuses.items())
                first = f"{row.got_status} for {row.logged_status}" if row.other_status else wording.MISSING
                failed = wording.errors(row.errors, {}) or wording.MISSING
                rows.append(
                    (row.path, table.contender, statuses or wording.MISSING, f"{row.other_status:,}", first, failed)
                )
    if not rows:
        return []
    return [
        Table(
            f"Paths with failures, or with statuses that do not fit the log, at {at}", columns, tuple(rows), folded=True
        )
    ]


@report_section("log", after="method")
def log(context: Context) -> Section | None:
    """What the log has, and how it was replayed."""
    facts = log_of(context.run)
    if facts is None:
        return None
    items = [*_origin(facts), *_how(facts, replay_settings(context.run.planned.settings))]
    blocks: list[Block] = [Bullets(tuple(items)), *_faults(facts)]
    return Section("The log", tuple(blocks))


def _origin(facts: LogFacts) -> list[str]:
    begin = datetime.fromtimestamp(facts.first_s, UTC)
    per_s = facts.per_s if facts.period_s else 0.0
    items = [
        f"{facts.requests:,} requests of {facts.lines:,} lines are replayed: {facts.different:,} different ones, for "
        f"{facts.paths:,} paths without their queries.",
        f"It begins at {begin:%Y-%m-%d %H:%M:%S} UTC and lasts {wording.figures(facts.period_s)} s: "
        f"{wording.figures(per_s)} requests/s on average.",
    ]
    if count := facts.backwards:
        items.append(
            f"{wording.plural(count, 'line')} stamped before one above (by {facts.backwards_s} s at most) were "
            "put in order: servers write a line when its request is over."
        )
    if count := facts.newer_http:
        items.append(f"{wording.plural(count, 'request')} came over HTTP/2 or HTTP/3 and are replayed over HTTP/1.")
    items.append(f"SHA-256 of what is replayed: {facts.sha256}.")
    return items


def _how(facts: LogFacts, settings: ReplaySettings) -> list[str]:
    spread = settings.spread
    how = "at even distances" if spread == "even" else "at random moments of it (as a Poisson process has them)"
    items = [
        "Its stamps have fractions of seconds, which are kept."
        if facts.exact
        else f"Its stamps are whole seconds: the requests of a second begin {how}, alike for all contenders."
    ]
    if conditional := facts.statuses.get("304"):
        items.append(
            f"A log does not say which requests were conditional: the {conditional:,} with status 304 are made without "
            "condition, and a 200 fits them."
        )
    if settings.loop:
        items.append("It begins again whenever it is over, until the trial is.")
    return items


def _faults(facts: LogFacts) -> list[Block]:
    rows = tuple((one.reason, f"{one.lines}", f"{one.first_line}", one.example) for one in facts.faults)
    if not rows:
        return []
    columns = (Column("Reason", numeric=False), Column("Lines"), Column("First"), Column("It reads", numeric=False))
    return [Text("Lines that are no requests, or none to be made again:"), Table("Lines left out", columns, rows)]


class Replay(ReportPart):
    sections = (paths, log)
    figures_shown = frozenset({"paths"})
    tells_operations = True

    def narrative(self, context: Context) -> tuple[str, ...]:
        """How the requests came about."""
        return ("Requests come from an access log, in its order and at its moments; see the section on the log.",)


PART = Replay()
