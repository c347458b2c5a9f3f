"""Work for several agents at once: one that is slow, or does not answer at all, keeps no other waiting."""

import threading
from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T")
POLL_S = 0.1  # so often a signal such as Ctrl-C is seen


def run_parallel(tasks: Mapping[str, Callable[[], T]]) -> dict[str, T]:
    """What each task gives, by its name; a single one is done here, several in threads of their own.

    Raises what the first of them raised, in the order of `tasks`, once all are over.
    """
    if len(tasks) == 1:
        return {name: task() for name, task in tasks.items()}
    results: dict[str, T] = {}
    errors: dict[str, BaseException] = {}

    def do(name: str) -> None:
        try:
            results[name] = tasks[name]()
        except BaseException as error:  # it belongs to whoever asked
            errors[name] = error

    # Threads that hang must not keep the program from ending.
    threads = [threading.Thread(target=do, args=(name,), daemon=True) for name in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(POLL_S)
    for name in tasks:
        if name in errors:
            raise errors[name]
    return {name: results[name] for name in tasks}


def in_background(work: Callable[[], object], *ignored: type[BaseException]) -> None:
    """Do it without waiting for its end; errors of the types in `ignored` are nobody's."""

    def do() -> None:
        try:
            work()
        except ignored:
            return

    threading.Thread(target=do, daemon=True).start()
