"""How far a run is and how long the rest takes, on standard error: a line that is redrawn on a terminal, one a minute
elsewhere.
"""

import time
from typing import TextIO

from bakeoff.agents.result import Snapshot
from bakeoff.core.units import format_duration
from bakeoff.kinds.httperf.plan import HttperfSettings

REDRAW_S = 0.5
PIPED_S = 60.0
PATIENCE_S = 2.0


class Progress:
    """Of the connections or sessions that the settings ask for."""

    def __init__(self, stream: TextIO, settings: HttperfSettings, terminal: bool) -> None:
        self._stream, self._settings, self._terminal = stream, settings, terminal
        self._began = time.monotonic()
        self._next = self._began + (PATIENCE_S if terminal else PIPED_S)
        self._shown = False

    def show(self, snapshot: Snapshot) -> None:
        """Tell it when it is time to."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (REDRAW_S if self._terminal else PIPED_S)
        text = self.text(snapshot)
        self._stream.write(f"\r\x1b[K{text}" if self._terminal else f"{text}\n")
        self._stream.flush()
        self._shown = True

    def text(self, snapshot: Snapshot) -> str:
        """`1,200 of 1,000,000 connections, 0 errors; 27h44m left`."""
        unit = "connection" if self._settings.sessions is None else "session"
        starts, planned_s = self._settings.starts, self._settings.planned_s
        ended = sum(part.operations + part.errors for part in snapshot.per_operation if part.name == unit)
        if not planned_s and ended:
            planned_s = starts * snapshot.elapsed_s / ended
        planned_s = min(planned_s, self._settings.runtime_s or planned_s)
        left_s = max(0.0, planned_s - snapshot.elapsed_s)
        left = f"; {format_duration(float(round(left_s)))} left" if planned_s else ""
        return f"{ended:,} of {starts:,} {unit}s, {snapshot.errors:,} errors{left}"

    def end(self) -> None:
        """Leave the line as it was found."""
        if self._shown and self._terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
