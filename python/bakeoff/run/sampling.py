"""Samples a trial about once a second in a thread of its own, while whoever waits for its outcome sleeps."""

import threading
from collections.abc import Callable


class Sampling:
    """`rest` sleeps until it is time for a sample and says whether the trial still runs. What `sample` raises stops the
    trial, and is raised by `end`.
    """

    def __init__(self, rest: Callable[[], bool], sample: Callable[[], None], stop: Callable[[], None]) -> None:
        self._rest, self._sample, self._stop = rest, sample, stop
        self._lock, self._is_over = threading.Lock(), False
        self._error: BaseException | None = None
        threading.Thread(target=self._watch, name="bakeoff-sampling", daemon=True).start()

    def close(self) -> None:
        """No sample begins any more, and none is under way."""
        with self._lock:
            self._is_over = True

    def end(self) -> None:
        """The same; raises what a sample has raised."""
        self.close()
        if self._error is not None:
            raise self._error

    def _watch(self) -> None:
        while self._rest():
            with self._lock:
                if self._is_over:
                    return
                try:
                    self._sample()
                except BaseException as error:  # it belongs to whoever waits
                    self._error, self._is_over = error, True
                    self._stop()
                    return
