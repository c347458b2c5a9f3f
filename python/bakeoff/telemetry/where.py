"""How a contender is watched, in the words of `--watch`; nothing is sampled here.

pid:1234                   a process of this machine, with its children
pidfile:/run/nginx.pid     the same, by the file that names it: found again after a restart
cgroup:/system.slice/nginx.service
ssh://user@host[:port]     another machine, by reading /proc there
http://host:9100/metrics   another machine, by its node_exporter
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from bakeoff.core.system.ssh import address_of, has_password

FORMS = (
    "pid:1234, pidfile:/run/nginx.pid, cgroup:/system.slice/nginx.service, ssh://user@host or http://host:9100/metrics"
)
MOST = 1_000
PID, PIDFILE, CGROUP, SSH, HTTP = "pid", "pidfile", "cgroup", "ssh", "http"


@dataclass(frozen=True)
class Where:
    """`sort` is one of those above. `what` is the number, the path, the URL, or of ssh the host, with `user` and `port`
    where they are given. `word` is what was written.
    """

    sort: str
    what: str
    word: str
    user: str | None = None
    port: int | None = None

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine."""
        return self.sort in (PID, PIDFILE, CGROUP)

    @property
    def acts(self) -> str:
        """What watching does, in words."""
        how = {
            PID: "read the files below /proc of process",
            PIDFILE: "read the process number in",
            CGROUP: "read the control group",
            SSH: "log in by ssh and read /proc on",
            HTTP: "ask for metrics once a second at",
        }
        return f"{how[self.sort]} {self.word.partition('://')[2] if self.sort == SSH else self.what}"


def parse(word: str) -> Where:
    """A word as written. Raises ValueError that says what to write."""
    if not word.isprintable() or not word or len(word) > MOST:
        raise ValueError(f"cannot be watched so: write {FORMS}")
    sort, colon, rest = word.partition(":")
    if colon and sort == PID and rest.isascii() and rest.isdigit() and 0 < int(rest[:11]) < 2**31:
        return Where(PID, str(int(rest)), word)
    if colon and sort == PIDFILE and rest.startswith("/"):
        return Where(PIDFILE, rest, word)
    if colon and sort == CGROUP and rest.startswith("/") and ".." not in rest.split("/"):
        return Where(CGROUP, rest, word)
    if word.startswith("ssh://"):
        return _ssh(word)
    if word.startswith(("http://", "https://")):
        return _http(word)
    if colon and sort in (PIDFILE, CGROUP) and rest and not rest.startswith("/"):
        raise ValueError(f"{word!r}: write the whole path, from /: a run may be resumed in another folder")
    raise ValueError(f"{word!r} is no way to watch a contender: write {FORMS}")


def _ssh(word: str) -> Where:
    if has_password(word):
        place = word.rpartition("@")[2]
        raise ValueError(f"ssh://{place}: leave the password out: ssh is to log in by a key (`ssh-copy-id {place}`)")
    address = address_of(word)
    if address is None:
        raise ValueError(f"{word!r} names no machine: write ssh://user@host or ssh://user@host:22")
    return Where(SSH, address.host, word, address.user, address.port)


def _http(word: str) -> Where:
    if "@" in re.split(r"[/?#]", word.partition("://")[2])[0]:  # it may hold a password, which is not said again
        raise ValueError("write the URL of metrics without a password: http://host:9100/metrics")
    if word.startswith("https://"):
        raise ValueError(f"{word!r}: node_exporter is asked over http; forward its port, or watch by ssh://user@host")
    try:
        parts = urlsplit(word)
        port = parts.port
    except ValueError:
        raise ValueError(f"{word!r} is no URL: write http://host:9100/metrics") from None
    if not parts.hostname or parts.fragment or not re.fullmatch(r"[!-~]+", word):
        raise ValueError(f"{word!r}: write the URL of metrics without a password: http://host:9100/metrics")
    return Where(HTTP, word if parts.path else f"{word}/metrics", word, None, port)
