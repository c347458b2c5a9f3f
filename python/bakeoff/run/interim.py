"""Looks at a trial about once a second in a thread of its own, while whoever waits for its outcome sleeps."""

import threading
from collections.abc import Callable


class Looks:
    """`rest` sleeps until it is time for a look and says whether the trial still runs. What `look` raises stops the
    trial, and is raised by `end`.
    """

    def __init__(self, rest: Callable[[], bool], look: Callable[[], None], stop: Callable[[], None]) -> None:
        self._rest, self._look, self._stop = rest, look, stop
        self._lock, self._is_over = threading.Lock(), False
        self._error: BaseException | None = None
        threading.Thread(target=self._watch, name="bakeoff-looks", daemon=True).start()

    def close(self) -> None:
        """No look begins any more, and none is under way."""
        with self._lock:
            self._is_over = True

    def end(self) -> None:
        """The same; raises what a look has raised."""
        self.close()
        if self._error is not None:
            raise self._error

    def _watch(self) -> None:
        while self._rest():
            with self._lock:
                if self._is_over:
                    return
                try:
                    self._look()
                except BaseException as error:  # it belongs to whoever waits
                    self._error, self._is_over = error, True
                    self._stop()
                    return
