"""A line to a machine that is this process: what crosses is turned into JSON and bytes all the same."""

import pickle
import queue
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from bakeoff.agents.remote.agent import RemoteAgent
from bakeoff.agents.remote.host import Host
from bakeoff.agents.remote.wire import Answer, LineDownError

PLAIN = (str, bytes, int, float, bool, type(None))


def is_plain(value: Any) -> bool:
    """Whether no class of ours is in it."""
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(is_plain(part) for item in value.items() for part in item)
    return type(value) in PLAIN


class DirectReply:
    """An answer of a thread."""

    def __init__(self, line: "DirectLine", future: Future[Answer]) -> None:
        self._line, self._future = line, future

    def get(self, timeout_s: float) -> Answer:
        if self._line.down:
            raise LineDownError(self._line.down)
        answer = self._future.result(timeout_s)
        assert is_plain(answer), answer
        return answer


class DirectLine:
    """Asks a host in threads. `down` is why nothing arrives any more; `mute` keeps its pulses back. `asked` is what
    was asked, and how many bytes that took.
    """

    def __init__(self, host: Host) -> None:
        self._host, self._threads = host, ThreadPoolExecutor()
        self._pulses = queue.Queue[str]()
        self.down, self.mute, self.dropped = "", False, threading.Event()
        self.asked: list[tuple[str, int]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, method: str, *words: Any) -> DirectReply:
        if self.down:
            raise LineDownError(self.down)
        assert is_plain(words), words
        self.asked.append((method, len(pickle.dumps(words))))
        return DirectReply(self, self._threads.submit(self._host.answer, method, *words))

    def pulse(self, timeout_s: float) -> str | None:
        if self.down:
            raise LineDownError(self.down)
        try:
            pulse = self._pulses.get(timeout=timeout_s)
        except queue.Empty:
            return None
        return None if self.mute else pulse

    def drop(self) -> None:
        self.dropped.set()

    def _listen(self) -> None:
        while not self.dropped.is_set():
            for pulse in self._host.pulses():
                self._pulses.put(pulse)
                if self.dropped.is_set():
                    return


def direct(name: str = "far") -> tuple[RemoteAgent, DirectLine]:
    """An agent at the other end of a line, and the line."""
    line = DirectLine(Host(name))
    return RemoteAgent(name, line), line
