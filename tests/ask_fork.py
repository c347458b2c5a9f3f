"""Has its words done by a fork of the process of `tests/forks.py`: see there. Loads next to nothing."""

import marshal
import os
import signal
import socket
import struct
import sys

NUMBER = struct.Struct("i")
SENT_ON = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}


def _number(link: socket.socket) -> int:
    found = link.recv(NUMBER.size, socket.MSG_WAITALL)
    return int(NUMBER.unpack(found)[0])


def main() -> None:
    """Ends as the fork ends."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SENT_ON)
    link = socket.socket(socket.AF_UNIX)
    link.connect(os.environ["BAKEOFF_TEST_FORKS"])
    words = [os.fsencode(word) for word in sys.argv[1:]]
    folder = os.getcwdb()  # noqa: PTH109
    case = marshal.dumps([words, folder, dict(os.environb), "utf-8", [True] * 3])
    socket.send_fds(link, [NUMBER.pack(len(case))], [0, 1, 2])
    link.sendall(case)
    child = _number(link)
    for number in SENT_ON:
        signal.signal(number, lambda number, _: os.kill(child, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SENT_ON)
    code = _number(link)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main()
