"""Work on many things in several processes: results come one by one, in the order of the things."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import TypeVar

from bakeoff.core.errors import GeneratorError

One = TypeVar("One")
Result = TypeVar("Result")


def in_forks(work: Callable[[One], Result], things: Sequence[One]) -> Iterator[Result]:
    """`work` on each of them, on all processors that may be used. A fork waits until its last result is taken, so that
    few are in memory. An error is raised where the result of its thing would come. No fork outlives the iterator.
    """
    number = min(len(os.sched_getaffinity(0)), len(things))
    if number < 2:
        yield from map(work, things)
        return
    forks = multiprocessing.get_context("fork")
    pipes = [forks.Pipe(duplex=False) for _ in range(number)]
    ours = [receiving for receiving, _ in pipes]
    started = [
        forks.Process(target=_run, args=(work, things[at::number], sending, ours), daemon=True)
        for at, (_, sending) in enumerate(pipes)
    ]
    try:
        for one, (_, sending) in zip(started, pipes, strict=True):
            one.start()
            sending.close()
        for at in range(len(things)):
            yield _received(ours[at % number])
    finally:
        for one in started:
            if one.pid is not None:
                one.kill()
                one.join()
        for receiving in ours:
            receiving.close()


def _run(
    work: Callable[[One], Result], things: Sequence[One], sending: Connection, others: Sequence[Connection]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # without a word: the first process says what there is to say
    for one in others:
        one.close()
    try:
        for thing in things:
            sending.send((work(thing), None))
    except BrokenPipeError:
        return
    except Exception as error:
        sending.send((None, error))


def _received(receiving: Connection) -> Result:  # type: ignore[type-var]
    try:
        result, error = receiving.recv()
    except EOFError:
        raise GeneratorError("a process ended before its work: is there memory enough?") from None
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]
