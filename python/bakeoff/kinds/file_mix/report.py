"""The office mix on a share: its turns, what cannot have been sent, and the working set touched."""

from __future__ import annotations

import math

from bakeoff.core.units import format_duration
from bakeoff.kinds.file_mix import operations
from bakeoff.kinds.file_mix.compare import LeftOut, NotOnceThrough, has_iterations
from bakeoff.kinds.file_mix.figures import BytesPerClient, Iterations, MixFigures
from bakeoff.kinds.file_mix.story import narrative
from bakeoff.load.load_step import LoadStep
from bakeoff.report.blocks.tree import Block, Column, Section, Table, Text
from bakeoff.report.kind import ReportPart
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advised import advised
from bakeoff.report.narrate.validity.faults import FAULTS, FaultWords
from bakeoff.store.records.marks import BEYOND_LINK
from bakeoff.store.records.run_records import TrialRecord

FAULTS["written"] = FaultWords("did not keep what was written", "writes read back", {"lost": "gone"})


@advised.register
def _(fact: NotOnceThrough) -> tuple[str, str]:
    names = [f"{name} in {n:,} of {wording.plural(of, 'trial')}" for name, (n, of) in fact.trials.items()]
    return (
        f"Some clients did not come through the mix once: {wording.names(names)}.",
        "Their throughput counts only the applications that they reached, whose calls may be larger or smaller than "
        "in the whole mix. Use a longer `--length`.",
    )


@advised.register
def _(fact: LeftOut) -> tuple[str, str]:
    parts = [
        f"{name} {wording.names(list(counts))} ({sum(counts.values()):,})" for name, counts in fact.operations.items()
    ]
    return (
        f"Operations were left out: {'; '.join(parts)}. The protocol has no words for them, and no figure counts them.",
        "Compare with contenders that leave out the same. Mount the share to measure them as well.",
    )


@report_section("office-mix", after="caches")
def section(context: Context) -> Section | None:
    """None without any usable trial."""
    if not context.usable:
        return None
    blocks: list[Block] = []
    iterations = [iterations for trial in context.usable if (iterations := trial.figures(MixFigures).iterations)]
    if iterations:
        blocks.append(Text(_iterations(iterations), explains=True))
    beyond = [trial for trial in context.usable if BEYOND_LINK in trial.marks]
    if beyond:
        blocks.insert(0, Text(_beyond(beyond), "warning"))
    if any(_touched(trial) is not None for trial in context.usable):
        blocks.append(_working_set(context))
    return Section("How the mix was gone through", tuple(blocks)) if blocks else None


def _iterations(iterations: list[Iterations]) -> str:
    """What an iteration is, and how long the rests really were."""
    rests = [iteration.rest_ms for iteration in iterations if iteration.rest_ms is not None]
    rested = f" (measured: {min(rests) / 1e3:.3g} – {max(rests) / 1e3:.3g} s)" if rests else ""
    size, pause = iterations[0].bytes * 8 / 1e6, format_duration(iterations[0].pause_s)
    return (
        f"Clients work in iterations: calls of one application after another until {size:g} Mbit are moved, then a "
        f"rest of {pause}{rested}. Response times are those of iterations, from the first call of one to its last; at "
        "each load step throughput × (response + rest) = size of an iteration × clients, which Little's law audits."
    )


def _beyond(trials: list[TrialRecord]) -> str:
    """Which contenders cannot have sent what they delivered."""
    names = list(dict.fromkeys(trial.contender for trial in trials))
    link = max(trial.figures(MixFigures).link_bytes_per_s or 0.0 for trial in trials)
    return (
        f"In {wording.plural(len(trials), 'trial')} of {wording.names(names)} more was moved than the link carries "
        f"({8 * link / 1e6:,.0f} Mbit/s): a cache of the client served the rest, and its speed is not the server's."
    )


def _touched(trial: TrialRecord) -> BytesPerClient | None:
    spread = trial.figures(MixFigures).touched_bytes_per_client
    return spread if spread is not None and spread.mean is not None else None


def _working_set(context: Context) -> Table:
    """What a client touches must not depend on how many there are."""
    columns = [Column(context.load_step_title)]
    for name in context.names:
        columns += [Column(title, group=name) for title in ("per client, MiB", "least – most", "in all, MiB")]
    rows = []
    for load_step in context.comparison.run.load_steps:
        cells = [f"{load_step}"]
        for name in context.names:
            touched = [spread for trial in context.at(name, load_step) if (spread := _touched(trial))]
            cells += _set(touched, load_step)
        rows.append(tuple(cells))
    note = (
        "Distinct pages of files read or written in a trial, mean over blocks. It must not depend on the clients; in "
        "trials too short to go through the whole workspace, slower clients touch less of it."
    )
    return Table("Working set touched", tuple(columns), tuple(rows), note)


def _set(touched: list[BytesPerClient], load_step: LoadStep) -> list[str]:
    if not touched:
        return [wording.MISSING] * 3
    mean = math.fsum(spread.mean or 0.0 for spread in touched) / len(touched) / 2**20
    least = min(spread.min or 0.0 for spread in touched) / 2**20
    most = max(spread.max or 0.0 for spread in touched) / 2**20
    return [
        wording.figures(mean),
        f"{wording.figures(least, 3)} – {wording.figures(most, 3)}",
        wording.figures(mean * load_step.clients),
    ]


class FileMix(ReportPart):
    """See ReportPart. Its sections have the bytes and the operations already."""

    sections = (section, operations.section)
    tells_operations = True
    rate_curves = ("rate", "operations")
    figures_shown = frozenset(
        {
            "not_expressible",
            "iterations",
            "link_bytes_per_s",
            "beyond_link",
            "touched_bytes",
            "touched_bytes_per_client",
        }
    )

    def splits_time(self, context: Context) -> bool:
        """An iteration is many operations, and no part of one."""
        return any(has_iterations(trial) for trial in context.usable)

    def narrative(self, context: Context) -> tuple[str, ...]:
        return narrative(context)


PART = FileMix()
