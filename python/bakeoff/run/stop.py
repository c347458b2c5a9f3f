"""Ctrl-C, SIGTERM and SIGHUP as KeyboardInterrupt, but not while a finished trial could get lost."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeAlias

UnraisableHook: TypeAlias = Callable[["sys.UnraisableHookArgs"], object]


class Stop:
    """While active, these signals raise KeyboardInterrupt; inside `deferred` they wait until its end. One that came
    while Python ran a callback that may raise nothing, as that of a weak reference, is raised by the next `check`.
    """

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
        hook = sys.unraisablehook
        sys.unraisablehook = self._on_unraisable(hook)
        before = {number: signal.signal(number, self._on_signal) for number in numbers}
        try:
            with _woken():
                yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            sys.unraisablehook = hook

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Hold a stop back until this ends, then raise it."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
        self.check()

    def check(self) -> None:
        """Raise a stop that was asked for and could not be raised then."""
        if self._asked and not self._depth:
            self._asked = False
            raise KeyboardInterrupt

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self._depth:
            self._asked = True
        else:
            raise KeyboardInterrupt

    def _on_unraisable(self, others: UnraisableHook) -> UnraisableHook:
        def hook(unraisable: sys.UnraisableHookArgs) -> None:
            if issubclass(unraisable.exc_type, KeyboardInterrupt):
                self._asked = True
            else:
                others(unraisable)

        return hook


@contextmanager
def _woken() -> Iterator[None]:
    """Let signals wake whoever waits for a trial, so that nobody has to look for them."""
    from bakeoff.agents.engine import load_engine

    read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    others = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    before = load_engine().wake_on(read)
    try:
        yield
    finally:
        load_engine().wake_on(before)
        signal.set_wakeup_fd(others, warn_on_full_buffer=False)
        os.close(read)
        os.close(write)
