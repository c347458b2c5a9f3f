"""A stream for what may be lost: the log of a run is worth less than the run."""

from typing import Any, TextIO


class SteadyStream:
    """A stream whose reader may go away: what cannot be written is dropped.

    Everything else is the stream's own.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._gone = False

    def write(self, text: str) -> int:
        """Write, or do nothing once that has failed."""
        if not self._gone:
            try:
                self._stream.write(text)
            except (OSError, ValueError):  # gone, full or closed
                self._gone = True
        return len(text)

    def flush(self) -> None:
        """Flush, or do nothing once that or a write has failed."""
        if not self._gone:
            try:
                self._stream.flush()
            except (OSError, ValueError):  # gone, full or closed
                self._gone = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
