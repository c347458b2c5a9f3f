"""Is the head of a cluster still there? A connection to it is held open: it ends at once when the head does.

Without its head a cluster ends by itself a minute later, and takes the process that controls a run with it.
"""

import socket
import threading
from collections.abc import Callable

CONNECT_S = 2.0
AGAIN_S = 0.5  # a connection that ends may have been thought idle


def watch_head(host: str, port: int, gone: Callable[[], None]) -> threading.Thread:
    """Calls `gone` once, from a thread of its own, when nobody answers at the address any more."""

    def watch() -> None:
        while _until_it_ends(host, port):
            threading.Event().wait(AGAIN_S)
        gone()

    thread = threading.Thread(target=watch, name="head of the cluster", daemon=True)
    thread.start()
    return thread


def _until_it_ends(host: str, port: int) -> bool:
    """Whether there was a connection, which has ended."""
    try:
        with socket.create_connection((host, port), CONNECT_S) as connection:
            connection.settimeout(None)
            while connection.recv(4096):
                pass
    except ConnectionResetError:
        return True
    except OSError:
        return False
    return True
