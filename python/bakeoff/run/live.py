"""The progress display on a terminal: one bar for the run, one line for the trial in progress."""

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from bakeoff.agents.result import Snapshot
from bakeoff.plan.model import Plan
from bakeoff.run.observer import Clock, clients, short_duration, trial_line
from bakeoff.store.records import OK, EventRecord, PlannedTrial, TrialRecord
from bakeoff.units import format_rate, format_size

_PHASES = {
    "starting": "starting",
    "ramp_up": "ramp up",
    "window": "measuring",
    "ramp_down": "ramp down",
    "done": "done",
}


class LiveObserver:
    """Redraws in place; failed trials and warnings stay above as lines."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
        )
        self._clock: Clock | None = None
        self._plan: Plan | None = None
        self._trial: PlannedTrial | None = None
        self._before = (0.0, 0, 0)
        self._now: tuple[str, float, float, int] | None = None
        # the last attribute: Live renders once at its own birth
        self._live = Live(console=console, refresh_per_second=4, transient=True, get_renderable=self._render)

    def on_run_start(self, plan: Plan, trials: int) -> None:
        """See Observer."""
        self._plan, self._clock = plan, Clock(plan, trials)
        self._task = self._progress.add_task(escape(plan.name), total=trials, left="")
        self._live.start()

    def on_trial_start(self, trial: PlannedTrial) -> None:
        """See Observer."""
        self._trial, self._before, self._now = trial, (0.0, 0, 0), None

    def on_snapshot(self, trial: PlannedTrial, snapshot: Snapshot) -> None:
        """See Observer."""
        then, operations, bytes_in = self._before
        if snapshot.elapsed_s - then < 0.15 and self._now is not None:
            return
        span = max(snapshot.elapsed_s - then, 1e-9)
        self._now = (
            _PHASES.get(snapshot.phase, snapshot.phase),
            (snapshot.operations - operations) / span,
            (snapshot.bytes_in - bytes_in) / span,
            snapshot.errors,
        )
        self._before = (snapshot.elapsed_s, snapshot.operations, snapshot.bytes_in)

    def on_trial_end(self, record: TrialRecord) -> None:
        """See Observer."""
        assert self._clock is not None
        self._clock.trial_ended()
        self._trial = None
        self._progress.update(self._task, advance=1)
        if record.state != OK:
            self._console.print(Text(trial_line(record), style="yellow"))

    def on_event(self, event: EventRecord) -> None:
        """See Observer."""
        self._console.print(Text(f"{event.level}: {event.text}", style="yellow" if event.level == "warning" else "dim"))

    def on_run_end(self) -> None:
        """See Observer."""
        self._live.stop()

    def _render(self) -> RenderableType:
        if self._clock is None:
            return Text("")
        self._progress.update(self._task, left=f"{short_duration(self._clock.left_s)} left")
        return Group(self._progress, self._current())

    def _current(self) -> RenderableType:
        trial, plan = self._trial, self._plan
        if trial is None or plan is None:
            return Text("  getting ready …", style="dim")
        line = Table.grid(padding=(0, 2))
        cells = [
            f"  block {trial.block}/{plan.blocks}",
            f"[bold]{escape(trial.contender)}[/bold]",
            clients(trial.mix_clients),
        ]
        if self._now is not None:
            phase, rate, bytes_per_s, errors = self._now
            error_text = f"[red]{errors:,} errors[/red]" if errors else "0 errors"
            cells += [phase, format_rate(rate, "operations"), f"{format_size(bytes_per_s)}/s", error_text]
        line.add_row(*cells)
        return line
