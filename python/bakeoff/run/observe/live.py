"""The progress display on a terminal: one bar for the run, one line for the trial in progress."""

import threading
from dataclasses import dataclass
from typing import IO, TextIO, cast

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from bakeoff.agents.result import AgentSnapshot, Snapshot
from bakeoff.core.system.lossy_stream import SteadyStream
from bakeoff.core.units import format_size
from bakeoff.plan.design.durations import ExpectedDuration
from bakeoff.plan.design.unit import OPERATIONS, LoadUnit
from bakeoff.plan.model import Plan
from bakeoff.run.observe.observer import (
    Clock,
    interval_line,
    milliseconds,
    others_words,
    short_duration,
    trial_line,
    unit_of,
)
from bakeoff.store.records.run_records import OK, EventRecord, PlannedTrial, SoakIntervalRecord, TrialRecord

_PHASES = {
    "prepare": "getting ready",
    "armed": "ready",
    "starting": "starting",
    "ramp_up": "ramp up",
    "window": "measuring",
    "ramp_down": "ramp down",
    "done": "done",
}

WIDEST_BAR = 40
MOST_AGENTS = 8  # with a line for each
NARROWEST_BAR = 5
REFRESH_S = 1.0


@dataclass(frozen=True)
class _Now:
    """The trial in progress: rates since the last sample, service times of the last second, errors of all of it."""

    phase: str
    operations_per_s: float
    bytes_per_s: float
    p50_ns: int | None
    p99_ns: int | None
    errors: int

    def cells(self, unit: LoadUnit) -> list[Text]:
        """Its figures, each to be kept in one piece."""
        times = [("p50", self.p50_ns), ("p99", self.p99_ns)]
        return [
            Text(self.phase),
            Text(unit.rate(self.operations_per_s)),
            Text(f"{format_size(self.bytes_per_s)}/s"),
            *(Text(f"{name} {milliseconds(time_ns)}") for name, time_ns in times if time_ns is not None),
            Text(f"{self.errors:,} errors", style="red" if self.errors else ""),
        ]


class _Agents:
    """How fast each of several agents is just now: rates since the last sample."""

    def __init__(self) -> None:
        self._before: dict[str, AgentSnapshot] = {}
        self._now: list[tuple[float, AgentSnapshot]] = []

    def add(self, snapshot: Snapshot) -> None:
        """Take what they tell now."""
        none = AgentSnapshot(agent="", elapsed_s=0.0, operations=0, errors=0)
        self._now = []
        for agent in snapshot.per_agent:
            before = self._before.get(agent.agent, none)
            span_s = max(agent.elapsed_s - before.elapsed_s, 1e-9)
            self._now.append(((agent.operations - before.operations) / span_s, agent))
        self._before = {agent.agent: agent for agent in snapshot.per_agent}

    def lines(self, unit: LoadUnit) -> list[Text]:
        """One for each; of more than fit those that are furthest from the others."""
        if len(self._now) <= MOST_AGENTS:
            return [self._line(entry, unit) for entry in self._now]
        by_rate = sorted(self._now, key=lambda entry: entry[0])
        slow = max(self._now, key=lambda entry: entry[1].p99_ns or 0)
        extremes = (("least", by_rate[0]), ("most", by_rate[-1]), ("longest p99", slow))
        head = Text(f"  {len(self._now)} agents, median {unit.rate(by_rate[len(by_rate) // 2][0])} each")
        return [head, *(self._line(entry, unit, what) for what, entry in extremes)]

    def _line(self, entry: tuple[float, AgentSnapshot], unit: LoadUnit, what: str = "") -> Text:
        rate, agent = entry
        width = max(len(other.agent) for _, other in self._now)
        times = [("p50", agent.p50_ns), ("p99", agent.p99_ns)]
        cells = [
            Text(f"  {what}" if what else " ", style="dim"),
            Text(f"{agent.agent:<{width}}", style="bold"),
            Text(unit.rate(rate)),
            *(Text(f"{name} {milliseconds(time_ns)}") for name, time_ns in times if time_ns is not None),
            Text(f"{agent.errors:,} errors", style="red" if agent.errors else "dim"),
        ]
        return Text("  ").join(cells)


class LiveObserver:
    """Redraws in place; failed trials and warnings stay above as lines."""

    def __init__(self, console: Console, found: ExpectedDuration | None = None) -> None:
        self._console, self._found = console, found
        console.file = cast(IO[str], SteadyStream(cast(TextIO, console.file)))
        self._clock: Clock | None = None
        self._plan: Plan | None = None
        self._unit = OPERATIONS
        self._trial: PlannedTrial | None = None
        self._before = (0.0, 0, 0)
        self._now: _Now | None = None
        self._agents = _Agents()
        self._others = ""  # what they took in the trial before
        self._between, self._over = threading.Event(), threading.Event()
        # the last attribute: Live renders once at its own birth
        self._live = Live(console=console, auto_refresh=False, transient=True, get_renderable=self._render)

    def on_run_start(self, plan: Plan, trials: int) -> None:
        self._plan, self._clock, self._unit = plan, Clock(plan, trials, self._found), unit_of(plan)
        self._live.start()
        self._over.clear()
        self._between.set()
        threading.Thread(target=self._tick, name="bakeoff-clock", daemon=True).start()

    def on_forecast(self, trials: int) -> None:
        assert self._clock is not None
        self._clock.trials = max(trials, self._clock.done)

    def on_trial_start(self, trial: PlannedTrial) -> None:
        self._trial, self._before, self._now = trial, (0.0, 0, 0), None
        self._agents = _Agents()
        self._between.clear()  # whoever looks at the trial draws, and nobody else wakes up for it
        self._live.refresh()

    def on_snapshot(self, trial: PlannedTrial, snapshot: Snapshot) -> None:
        before_s, operations, bytes_in = self._before
        if snapshot.elapsed_s - before_s < 0.15 and self._now is not None:
            return
        span = max(snapshot.elapsed_s - before_s, 1e-9)
        self._now = _Now(
            phase=_PHASES.get(snapshot.phase, snapshot.phase),
            operations_per_s=(snapshot.operations - operations) / span,
            bytes_per_s=(snapshot.bytes_in - bytes_in) / span,
            p50_ns=snapshot.recent.p50_ns,
            p99_ns=snapshot.recent.p99_ns,
            errors=snapshot.errors,
        )
        self._before = (snapshot.elapsed_s, snapshot.operations, snapshot.bytes_in)
        self._agents.add(snapshot)
        self._live.refresh()

    def on_interval(self, row: SoakIntervalRecord, left_s: float) -> None:
        assert self._clock is not None
        self._clock.soak_goes_on(left_s)
        self._console.print(Text(interval_line(row, self._unit)))

    def on_trial_end(self, record: TrialRecord) -> None:
        assert self._clock is not None
        self._clock.trial_ended()
        self._trial, self._others = None, others_words(record)
        self._live.refresh()
        self._between.set()
        if record.state != OK:
            self._console.print(Text(trial_line(record, self._unit), style="yellow"))

    def on_event(self, event: EventRecord) -> None:
        self._console.print(Text(f"{event.level}: {event.text}", style="yellow" if event.level == "warning" else "dim"))

    def on_question(self, open: bool) -> None:
        if open:
            self._live.stop()
        else:
            self._live.start()

    def on_run_end(self) -> None:
        self._over.set()
        self._between.set()
        self._live.stop()

    def _tick(self) -> None:
        """Redraw the time that is left, but not while a trial runs."""
        while not self._over.wait(REFRESH_S):
            self._between.wait()
            if not self._over.is_set() and self._live.is_started:
                self._live.refresh()

    def _render(self) -> RenderableType:
        if self._clock is None or self._plan is None:
            return Text("")
        return Group(self._overall(self._clock, self._plan.name), self._current(), *self._of_agents())

    def _overall(self, clock: Clock, name: str) -> RenderableType:
        """Name, bar, trials and time left; on a narrow terminal the bar shrinks, then the name, never a number."""
        figures = f"{clock.done}/{clock.trials}  {short_duration(clock.left_s)} left"
        room = self._console.width - len(figures) - 1
        title = Text(name)
        title.truncate(max(8, room - NARROWEST_BAR - 4), overflow="ellipsis")
        bar = min(WIDEST_BAR, room - title.cell_len - 4)
        line = Table.grid(padding=(0, 2))
        cells: list[RenderableType] = [title]
        if bar >= NARROWEST_BAR:
            cells.append(ProgressBar(total=clock.trials, completed=clock.done, width=bar))
        line.add_row(*cells, Text(figures))
        return line

    def _of_agents(self) -> list[RenderableType]:
        """Nothing where there is one, or no room."""
        if self._trial is None or self._now is None:
            return []
        lines = self._agents.lines(self._unit)
        for line in lines:
            line.truncate(self._console.width, overflow="ellipsis")
        return [*lines]

    def _current(self) -> RenderableType:
        trial, plan = self._trial, self._plan
        if trial is None or plan is None:
            return Text("  getting ready …", style="dim")
        cells = [
            Text(f"block {trial.block}/{plan.blocks}"),
            Text(trial.contender, style="bold"),
            Text(self._unit.offered(trial.load_step)),
        ]
        if self._now is not None:
            cells += self._now.cells(self._unit)
        if self._others:
            cells.append(Text(self._others, style="red"))
        return _packed(cells, self._console.width)


def _packed(cells: list[Text], width: int) -> Text:
    """Cells side by side, indented, on as many lines as the width asks for."""
    lines, used = Text(), 0
    for cell in cells:
        if used and used + 2 + cell.cell_len > width:
            lines.append("\n")
            used = 0
        lines.append("  ")
        lines.append_text(cell)
        used += 2 + cell.cell_len
    return lines
