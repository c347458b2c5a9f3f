"""The progress display on a terminal: one bar for the run, one line for the trial in progress."""

from dataclasses import dataclass
from typing import IO, TextIO, cast

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from bakeoff.agents.result import Snapshot
from bakeoff.plan.model import Plan
from bakeoff.run.observer import Clock, milliseconds, row_line, short_duration, trial_line
from bakeoff.steady_stream import SteadyStream
from bakeoff.store.records import OK, EventRecord, PlannedTrial, SoakRowRecord, TrialRecord
from bakeoff.units import format_rate, format_size

_PHASES = {
    "starting": "starting",
    "ramp_up": "ramp up",
    "window": "measuring",
    "ramp_down": "ramp down",
    "done": "done",
}

WIDEST_BAR = 40
NARROWEST_BAR = 5


@dataclass(frozen=True)
class _Now:
    """The trial in progress: rates since the last look, service times of the last second, errors of all of it."""

    phase: str
    operations_per_s: float
    bytes_per_s: float
    p50_ns: int | None
    p99_ns: int | None
    errors: int

    def cells(self) -> list[Text]:
        """Its figures, each to be kept in one piece."""
        times = [("p50", self.p50_ns), ("p99", self.p99_ns)]
        return [
            Text(self.phase),
            Text(format_rate(self.operations_per_s, "operations")),
            Text(f"{format_size(self.bytes_per_s)}/s"),
            *(Text(f"{name} {milliseconds(time_ns)}") for name, time_ns in times if time_ns is not None),
            Text(f"{self.errors:,} errors", style="red" if self.errors else ""),
        ]


class LiveObserver:
    """Redraws in place; failed trials and warnings stay above as lines."""

    def __init__(self, console: Console) -> None:
        self._console = console
        console.file = cast(IO[str], SteadyStream(cast(TextIO, console.file)))
        self._clock: Clock | None = None
        self._plan: Plan | None = None
        self._trial: PlannedTrial | None = None
        self._before = (0.0, 0, 0)
        self._now: _Now | None = None
        # the last attribute: Live renders once at its own birth
        self._live = Live(console=console, refresh_per_second=4, transient=True, get_renderable=self._render)

    def on_run_start(self, plan: Plan, trials: int) -> None:
        """See Observer."""
        self._plan, self._clock = plan, Clock(plan, trials)
        self._live.start()

    def on_forecast(self, trials: int) -> None:
        """See Observer."""
        assert self._clock is not None
        self._clock.trials = max(trials, self._clock.done)

    def on_trial_start(self, trial: PlannedTrial) -> None:
        """See Observer."""
        self._trial, self._before, self._now = trial, (0.0, 0, 0), None

    def on_snapshot(self, trial: PlannedTrial, snapshot: Snapshot) -> None:
        """See Observer."""
        then, operations, bytes_in = self._before
        if snapshot.elapsed_s - then < 0.15 and self._now is not None:
            return
        span = max(snapshot.elapsed_s - then, 1e-9)
        self._now = _Now(
            phase=_PHASES.get(snapshot.phase, snapshot.phase),
            operations_per_s=(snapshot.operations - operations) / span,
            bytes_per_s=(snapshot.bytes_in - bytes_in) / span,
            p50_ns=snapshot.recent.p50_ns,
            p99_ns=snapshot.recent.p99_ns,
            errors=snapshot.errors,
        )
        self._before = (snapshot.elapsed_s, snapshot.operations, snapshot.bytes_in)

    def on_row(self, row: SoakRowRecord, left_s: float) -> None:
        """See Observer."""
        assert self._clock is not None
        self._clock.soak_goes_on(left_s)
        self._console.print(Text(row_line(row)))

    def on_trial_end(self, record: TrialRecord) -> None:
        """See Observer."""
        assert self._clock is not None
        self._clock.trial_ended()
        self._trial = None
        if record.state != OK:
            self._console.print(Text(trial_line(record), style="yellow"))

    def on_event(self, event: EventRecord) -> None:
        """See Observer."""
        self._console.print(Text(f"{event.level}: {event.text}", style="yellow" if event.level == "warning" else "dim"))

    def on_run_end(self) -> None:
        """See Observer."""
        self._live.stop()

    def _render(self) -> RenderableType:
        if self._clock is None or self._plan is None:
            return Text("")
        return Group(self._overall(self._clock, self._plan.name), self._current())

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

    def _current(self) -> RenderableType:
        trial, plan = self._trial, self._plan
        if trial is None or plan is None:
            return Text("  getting ready …", style="dim")
        cells = [
            Text(f"block {trial.block}/{plan.blocks}"),
            Text(trial.contender, style="bold"),
            Text(trial.mix.asked),
        ]
        if self._now is not None:
            cells += self._now.cells()
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
