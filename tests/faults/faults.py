"""Every fault that a contender of these tests can have: how it is brought about, and in whom."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bakeoff import _engine
from tests import http2_server, http3_server
from tests.faults import folders
from tests.faults.lying import lying
from tests.faults.servers import PAGE, Reply, scripted, scripted_http2, scripted_http3, shopping
from tests.faults.sorts import HTTP_2, HTTP_3
from tests.files.nfs_server import Faults, memory_nfs

# Of a folder that the web target is to serve, or none: a contender that listens where this says.
Start = Callable[[Path | None], "Any"]


@dataclass(frozen=True)
class Fault:
    """`family` is the sort of contender, `target` the built-in target and `keys` its settings that bring the fault
    about, where it is one of these. A `slow` fault shows in the times alone, which are kept as they were measured.
    Where they are given, it is a fault in `suites` alone, over the protocol of one `load`, with `settings` of its own.
    """

    name: str
    family: str
    start: Start
    good: Start
    target: str = ""
    keys: tuple[str, ...] = ()
    slow: bool = False
    suites: tuple[str, ...] = ()
    load: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def target(kind: str, root: Path | None = None, **spec: Any) -> Iterator[str]:
    """Where a built-in target of this process is."""
    if kind == "web" and root is not None:
        spec.setdefault("root", str(root))
    server = _engine.serve(json.dumps({"kind": kind, **spec}))
    try:
        yield server.address()
    finally:
        server.stop()


def _of(kind: str, spec: Mapping[str, Any], name: str = "", slow: bool = False) -> Fault:
    # So many segments that no agent that begins late is given one of those that another has just left.
    base = {"segment_bytes": 1 << 20, "threads": 4, "prepare": 32} if kind == "app" else {}
    if "data_limit_bytes" in spec:
        base["prepare"] = 0

    def start(root: Path | None) -> Any:
        return target(kind, root, **{**base, **spec})

    def good(root: Path | None) -> Any:
        return target(kind, root, **base)

    family = {"null": "web"}.get(kind, kind)
    return Fault(f"{kind}: {name or ', '.join(spec)}", family, start, good, kind, tuple(spec), slow)


def _scripted(name: str, answer: Callable[[], Callable[[str, int], Reply]]) -> Fault:
    return Fault(f"scripted: {name}", "web", lambda root: scripted(answer()), lambda root: scripted(_right), "scripted")


def _right(path: str, before: int) -> Reply:
    return Reply()


def _after(right: int, wrong: Callable[[str], Reply]) -> Callable[[], Callable[[str, int], Reply]]:
    """Right for so many requests, which are those of the checks and a few more."""
    return lambda: lambda path, before: Reply() if before < right else wrong(path)


_OTHER = bytes(255 - value for value in PAGE)

# What none of the tests could fail without: a contender that is faster, and nothing else.
NOTHING = "no fault"
WEB = [
    _of("web", {}, NOTHING),
    _of("web", {"page_bytes": 64}),
    _of("web", {"dynamic": False}),
    _of("web", {"keep_alive": False}),
    _of("web", {"requests_per_connection": 10}),
    _of("web", {"chunked": True}),
    _of("web", {"delay_s": 0.02}, slow=True),
    _of("web", {"stall": {"for_s": 0.1, "every_s": 0.101}}, slow=True),
    # Of connections that are kept few are opened: whether one of those is refused would be chance.
    _of("web", {"refuse": {"count": 1, "of": 2}, "keep_alive": False}, "refuse"),
    _of("web", {"limit_per_s": 80.0}, slow=True),
    # Four of any hundred requests: how many of a class fail is no matter of where the count stood.
    _of("web", {"status": {"code": 503, "every": 25}}),
    _of("web", {"truncate_every": 10}),
    _of("web", {"corrupt_every": 2}),
    _of("web", {"close_after_bytes": 100}),
    _of("web", {"unanswered_every": 40}),
    _of("web", {"bad_chunk_every": 40}),
    _of("web", {"unsolicited_every": 3}),
    _of("web", {"leave_open": True}),
    _of("web", {"truncate_every": 40, "cut_with_reset": True}, "cut_with_reset"),
    _of("web", {"idle_timeout_s": 0.05}),
    _of("web", {"max_connections": 2, "delay_s": 0.02}, "max_connections"),
    _of("null", {"page_bytes": 64}),
    _of("null", {"close": True}),
]
RIGHT = 40
SCRIPTED = [
    _scripted("204 after the check", _after(RIGHT, lambda path: Reply(204, b""))),
    _scripted("error page with 200 after the check", _after(RIGHT, lambda path: Reply(200, b"Database error"))),
    _scripted("other bytes of that length after the check", _after(RIGHT, lambda path: Reply(200, _OTHER))),
    _scripted("a longer page after the check", _after(RIGHT, lambda path: Reply(200, PAGE * 2))),
    _scripted("203 after the check", _after(RIGHT, lambda path: Reply(203, PAGE))),
    _scripted("206 after the check", _after(RIGHT, lambda path: Reply(206, PAGE[:512]))),
    _scripted("22 % of each body missing after the check", _after(RIGHT, lambda path: Reply(200, PAGE[:800]))),
    _scripted(
        "other bytes now and then",
        lambda: lambda path, before: Reply(200, _OTHER) if before > RIGHT and before % 7 == 0 else Reply(),
    ),
    _scripted("one of 40 requests reset", lambda: lambda path, before: Reply(resets_kept=before % 40 == 39)),
]


def _listed(name: str, answer: Callable[[], Callable[[str, int], Reply]]) -> Fault:
    """Of a list of URLs."""
    one = _scripted(name, answer)
    return replace(one, name=f"list: {name}", target="list", suites=("web-url",), settings={"urls": "urls.txt"})


def _never(path: str, before: int) -> Reply:
    """One URL of the list succeeds in the checks alone."""
    return Reply(resets=path.endswith("/p3") and before > 20)


LISTED = [
    _listed(NOTHING, lambda: _right),
    _listed("a URL never succeeds", lambda: _never),
]


def _of_shop(name: str, **faults: int) -> Fault:
    """Of a shop, which takes no tokens but those that it handed out."""
    return Fault(
        f"shop: {name}", "web", lambda root: shopping(**faults), lambda root: shopping(), "shop",
        suites=("web-session",), settings={"session": "shop.toml"},
    )  # fmt: skip


SHOP = [
    _of_shop(NOTHING),
    _of_shop("one of 10 log-in pages without a token", no_token=10),
    _of_shop("one of 10 home pages is the log-in page", login_again=10),
    _of_shop("one of 10 log-ins refused", busy=10),
]


def _over_http2(name: str, **behaviour: Any) -> Fault:
    good = http2_server.Behaviour()
    return Fault(
        f"HTTP/2: {name}", "web", lambda root: scripted_http2(replace(good, **behaviour)),
        lambda root: scripted_http2(good), "HTTP/2", suites=("web-url",), load=HTTP_2,
    )  # fmt: skip


def _over_http3(name: str, **behaviour: Any) -> Fault:
    good = http3_server.Behaviour()
    return Fault(
        f"HTTP/3: {name}", "web", lambda root: scripted_http3(replace(good, **behaviour)),
        lambda root: scripted_http3(good), "HTTP/3", suites=("web-url",), load=HTTP_3,
    )  # fmt: skip


STREAMS = [
    _over_http2(NOTHING),
    _over_http2("one of 10 streams reset", reset_every=10),
    _over_http2("one of 10 streams put back", refuse_every=10),
    _over_http2("one of 10 bodies cut", cut_every=10),
    _over_http2("connections end with GOAWAY", away_after=5),
    _over_http2("connections are dropped", drop_after=5),
    _over_http3(NOTHING),
    _over_http3("one of 10 streams reset", reset_every=10),
    _over_http3("one of 10 streams put back", reject_every=10),
    _over_http3("one of 10 bodies cut", cut_every=10),
    _over_http3("connections end with GOAWAY", away_after=5),
    _over_http3("connections are dropped", drop_after=5),
]
APP = [
    _of("app", {}, NOTHING),
    # One segment, or connection: of the two clients of an agent one is refused, whenever the other agent begins.
    _of("app", {"data_limit_bytes": 1 << 20}),
    _of("app", {"service_s": 0.05}, slow=True),
    _of("app", {"payload_max_bytes": 512}),
    _of("app", {"rounds_max": 10}),
    _of("app", {"queue": 1, "threads": 1, "service_s": 0.002}, "queue"),
    _of("app", {"max_connections": 1}),
    _of("app", {"damage_every": 10}),
    _of("app", {"lose_every": 10}),
    _of("app", {"garbage_every": 10}),
    _of("app", {"forget": True}),
    _of("app", {"remember": True}),
    _of("app", {"false_times": "zero"}),
]
MAIL = [
    _of("mail", {}, NOTHING),
    _of("mail", {"size_limit_bytes": 1000}),
    _of("mail", {"max_sessions": 1}),
    _of("mail", {"fill": {"messages": 5, "bytes": 1000}}),
    _of("mail", {"fill": {"messages": 5, "bytes": 1000, "endless": True}}, "fill, endless"),
    _of("mail", {"delay_s": 0.02}, slow=True),
    _of("mail", {"pop3_refuse_first": 10}),
    _of("mail", {"refuse": {"count": 1, "of": 10}}),
    *(
        _of("mail", {"reject": [{"command": command, "code": 450, "count": 1, "of": 8}]}, f"reject {command}")
        for command in ("CONNECT", "EHLO", "MAIL", "RCPT", "DATA", "DOT")
    ),
    _of("mail", {"drop_after_dot": {"count": 1, "of": 10}}),
    _of("mail", {"lose": {"count": 1, "of": 3}}),
    _of("mail", {"duplicate": {"count": 1, "of": 3}}),
    _of("mail", {"damage": {"count": 1, "of": 3}}),
    _of("mail", {"misdeliver": {"count": 1, "of": 3}}),
    _of("mail", {"pop3_ends_after": 10}),
    _of("mail", {"defer": {"count": 1, "of": 1, "for_s": 1.8}}),
]


@contextmanager
def _nfs(**faults: int) -> Iterator[str]:
    """A server that is met without a mount."""
    with memory_nfs(Faults(**faults)) as server:
        yield server.address


def _memory(root: Path | None) -> Any:
    return folders.folder()


FILES = [
    Fault(f"files: {NOTHING}", "files", _memory, _memory, "files"),
    Fault("files: bytes change", "files", lambda root: folders.spoilt(), _memory, "files"),
    Fault("files: some reads give other bytes", "files", lambda root: lying(other_reads=7), _memory, "files"),
    Fault("files: some writes are lost", "files", lambda root: lying(lost_writes=7), _memory, "files"),
    Fault("files: fsync does nothing", "files", lambda root: lying(), _memory, "files"),
    Fault(
        "files: a server gives other bytes",
        "files",
        lambda root: _nfs(wrong_data_every=7),
        lambda root: _nfs(),
        "files",
        suites=("file-blocks",),
    ),
    Fault(
        "files: a server loses writes",
        "files",
        lambda root: _nfs(loses_write_every=7),
        lambda root: _nfs(),
        "files",
        suites=("file-blocks",),
    ),
    Fault("files: no room", "files", lambda root: folders.full(), _memory, "files"),
]
FAULTS = {fault.name: fault for fault in (*WEB, *SCRIPTED, *LISTED, *SHOP, *STREAMS, *APP, *MAIL, *FILES)}

# Settings of targets that no contender is better or worse by.
_PLACE = "where it listens"
_CORES = "which processors it has is part of who it is, and disclosed as such"
NO_FAULT: dict[str, dict[str, str]] = {
    "web": {
        "host": _PLACE, "port": _PLACE, "unix": _PLACE, "threads": _CORES, "pin": _CORES,
        "root": "what it serves: another corpus is refused before timing (tests/unit/run/test_check.py)",
        "memory_bytes": "it does not begin where a corpus is larger",
        "tls": "a client option, the same for all contenders or named (tests/unit/compare/test_client_options.py)",
    },
    "null": {
        "host": _PLACE, "port": _PLACE, "unix": _PLACE, "threads": _CORES, "pin": _CORES,
        "speaks": "another protocol is refused before timing (tests/unit/run/test_check.py)",
        "tls": "a client option, the same for all contenders or named (tests/unit/compare/test_client_options.py)",
    },
    "app": {
        "host": _PLACE, "port": _PLACE, "unix": _PLACE, "threads": _CORES, "pin": _CORES,
        "segment_bytes": "told to each client with the hello, and one run compares no two sizes",
        "data": "where the segments lie is part of who it is",
        "direct": "how it reaches its disk is part of who it is",
        "fsync": "what survives a crash cannot be seen from outside; docs/how-to says so",
        "prepare": "work done before the first client comes, outside every window",
        "records_max": "as rounds_max: a refusal of the request",
        "request_timeout_s": "a request of the generator is sent whole",
        "idle_timeout_s": "no client of a trial is silent for longer than its pause",
    },
    "mail": {
        "host": _PLACE, "smtp_port": _PLACE, "pop3_port": _PLACE, "threads": _CORES,
        "users_file": "accounts that are not let in are refused before timing",
        "maildir": "where mail is kept is part of who it is",
        "lmtp": "a client option that the address sets",
        "implicit_tls": "a client option that the address sets",
        "tls": "a client option, the same for all contenders or named (tests/unit/compare/test_client_options.py)",
        "pipelining": "round trips that it needs more are in its times",
        "uidl": "the ledger reads messages, whatever their names",
        "lock": "several sessions in a mailbox deliver no message twice: the ledger counts it",
        "idle_timeout_s": "no session of a trial is silent for longer than a reply takes",
    },
}  # fmt: skip
