"""Ctrl-C, SIGTERM and SIGHUP as KeyboardInterrupt, but not while a finished trial could get lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """While active, these signals raise KeyboardInterrupt; inside `deferred` they wait until its end."""

    def __init__(self) -> None:
        self._depth = 0
        self._asked = False

    @contextmanager
    def active(self) -> Iterator[None]:
        """Take over the signals; other threads than the main one get none and change nothing."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup means: go on without a terminal
            numbers.append(signal.SIGHUP)
        before = {number: signal.signal(number, self._on_signal) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Hold a stop back until this ends, then raise it."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
        if self._asked and not self._depth:
            self._asked = False
            raise KeyboardInterrupt

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self._depth:
            self._asked = True
        else:
            raise KeyboardInterrupt
