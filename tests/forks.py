"""The command in forks of one process that has loaded it already: what takes most of a second takes a twentieth.

`COMMAND` is a small program that has its words done by a fork with its own descriptors, surroundings and folder, sends
signals on, and ends as the fork ends. Limits, processors, terminals, namespaces and what the interpreter does at its
start are not handed on: tests of these, and of what only a whole process is told (SIGSTOP), use `patient.COMMAND`.
"""

import atexit
import contextlib
import gc
import marshal
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, TextIO

PLACE = "BAKEOFF_TEST_FORKS"
COMMAND = [sys.executable, "-I", "-S", str(Path(__file__).with_name("ask_fork.py"))]
NUMBER = struct.Struct("i")


@contextlib.contextmanager
def forks() -> Iterator[None]:
    """The process is there, for this one and all that it starts. It loads the command when it is first asked."""
    with tempfile.TemporaryDirectory(prefix="bakeoff-forks-") as folder:
        os.environ[PLACE] = f"{folder}/socket"
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(os.environ[PLACE])
            listening.listen(64)
            words = [sys.executable, "-m", "tests.forks", str(listening.fileno())]
            process = subprocess.Popen(
                words,
                cwd=Path(__file__).parents[1],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[listening.fileno()],
                start_new_session=True,
            )
        yield
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def ask(link: socket.socket, case: list[Any], descriptors: list[int]) -> int:
    """Exit code of the words of `case` (words, folder, environment, encoding of the streams), with these as standard
    input, output and error; a negative one closes.
    """
    link.connect(os.environ[PLACE])
    packed = marshal.dumps([*case, [number >= 0 for number in descriptors]])
    socket.send_fds(link, [NUMBER.pack(len(packed))], [number for number in descriptors if number >= 0])
    link.sendall(packed)
    _read(link, NUMBER.size)
    code: int = NUMBER.unpack(_read(link, NUMBER.size))[0]
    return code


def _read(link: socket.socket, length: int) -> bytes:
    found = bytearray()
    while len(found) < length:
        part = link.recv(length - len(found))
        if not part:
            raise EOFError
        found += part
    return bytes(found)


def _serve(listening: socket.socket) -> None:
    """Until nobody holds the other end of standard input any more."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    loaded = False
    while True:
        ready, _, _ = select.select([listening, 0], [], [])
        if 0 in ready:
            return
        link, _ = listening.accept()
        loaded = loaded or _load()
        if not os.fork():
            listening.close()
            _keep(link)
            return
        link.close()


def _load() -> bool:
    import bakeoff.cli.app
    import bakeoff.compare
    import bakeoff.report.compose
    import bakeoff.report.renderers.html
    import bakeoff.run.driver  # noqa: F401
    from bakeoff.cli.verbs import VERBS, load

    for verb in VERBS:
        load(verb)
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "threads do not come along into a fork"
    gc.freeze()
    return True


def _keep(link: socket.socket) -> None:
    """Starts what is asked, tells which process it is and how it ended. It goes with whoever asked."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, descriptors, _, _ = socket.recv_fds(link, NUMBER.size, 3)
    words, folder, environment, encoding, are_open = marshal.loads(_read(link, NUMBER.unpack(head)[0]))
    child = os.fork()
    if not child:
        link.close()
        given = iter(descriptors)
        _become(words, folder, environment, encoding, [next(given) if is_open else -1 for is_open in are_open])
    for number in descriptors:
        os.close(number)
    ended, waiting = os.pidfd_open(child), select.poll()
    waiting.register(ended, select.POLLIN)
    waiting.register(link, 0)  # until whoever asked is gone
    with contextlib.suppress(OSError):
        link.sendall(NUMBER.pack(child))
        if ended not in dict(waiting.poll()):
            os.kill(child, signal.SIGKILL)
        link.sendall(NUMBER.pack(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
    os._exit(0)


def _become(
    words: list[bytes], folder: bytes, environment: dict[bytes, bytes], encoding: str, descriptors: list[int]
) -> NoReturn:
    """As the interpreter begins."""
    from bakeoff.cli import main
    from tests.patient import MEASURING, be_patient

    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environb.clear()
    os.environb.update(environment)
    sys.argv = ["bakeoff", *map(os.fsdecode, words)]
    streams = [_stream(number, found, encoding) for number, found in enumerate(descriptors)]
    sys.stdin, sys.stdout, sys.stderr = streams
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = streams
    if MEASURING & set(sys.argv[1:2]):
        be_patient()
    code: object = 1
    try:
        main()
    except SystemExit as stop:
        code = stop.code or 0
    except BaseException:
        traceback.print_exc()
    _end(code)


def _end(code: object) -> NoReturn:
    """As the interpreter ends, but that it does not take itself apart, which takes longer than most commands do."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = 120
    os._exit(code if isinstance(code, int) else 1)


def _stream(number: int, found: int, encoding: str) -> TextIO | None:
    """As the interpreter makes it: None for a closed descriptor."""
    if found < 0:
        os.close(number)
        return None
    os.dup2(found, number)
    os.close(found)
    errors = "backslashreplace" if number == 2 else "strict"
    mode = "w" if number else "r"
    is_line = number == 2 or os.isatty(number)
    return open(number, mode, 1 if is_line else -1, encoding, errors, closefd=False)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
