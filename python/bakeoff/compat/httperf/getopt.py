"""httperf's command line as getopt_long reads it: unique prefixes, `--name=value` and `--name value`, `-vn`, `--`."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bakeoff.core.errors import PlanError

HINT = "see `bakeoff httperf -h`"
MOST_WORDS = 10_000


@dataclass(frozen=True)
class Option:
    """A long option: whether it takes a value (`maybe` only behind `=`), what stands for it in help, and its help."""

    name: str
    takes: Literal["no", "yes", "maybe"]
    metavar: str
    help: str


def _no(name: str, text: str) -> Option:
    return Option(name, "no", "", text)


def _yes(name: str, metavar: str, text: str) -> Option:
    return Option(name, "yes", metavar, text)


# As help shows them.
GROUPS: dict[str, tuple[Option, ...]] = {
    "Which server": (
        _yes("server", "S", "host of the server: name, IPv4 or IPv6 address (localhost)"),
        _yes("servers", "FILE", "NUL-separated list of hosts, one after the other for each connection"),
        _yes("server-name", "S", "name in the Host header, where it is another"),
        _yes("port", "N", "port (80; 443 with --ssl)"),
        _yes("uri", "S", "URI, or what precedes those of --wset (/)"),
    ),
    "How much, and when": (
        _yes("num-conns", "N", "connections in all (1)"),
        _yes("num-calls", "N", "calls on each (1)"),
        _yes("burst-length", "N", "calls sent at once; of sessions: one, then N-1 at once (1)"),
        _yes("rate", "X", "connections per second, or sessions; 0: the next when the one before is over (0)"),
        _yes("period", "P", "seconds between them: [d]T fixed, eT exponential, uT1,T2 uniform, vT1,D1,T2,D2,… in turn"),
        _yes("max-connections", "N", "connections of a session (4); of connections: so many at once"),
        _yes("timeout", "X", "seconds without progress until a call is given up (never)"),
        _yes("think-timeout", "X", "added to it while the first byte of a reply is waited for (0)"),
        _yes("runtime", "X", "end after X seconds"),
        _yes("client", "I/N", "this is client I of N: other files, other random numbers (0/1)"),
    ),
    "Sessions instead of connections": (
        _yes("wsess", "N1,N2,X", "N1 sessions of N2 calls, X seconds between bursts"),
        _yes("wsesslog", "N,X,FILE", "N sessions by a script of calls"),
        _yes("wsesspage", "N1,N2,X", "N1 sessions of N2 pages with what they embed"),
        _yes("max-piped-calls", "N", "calls in flight on a connection of a session (32)"),
        _no("session-cookies", "return the cookie of each session"),
        _yes("failure-status", "N", "status that fails a session"),
        _no("retry-on-failure", "ask again for what had that status"),
    ),
    "What is asked for": (
        _yes("method", "S", "method of the requests (GET)"),
        _yes("wset", "N,X", "N files /0.html, … with miss rate X"),
        _yes("wlog", "y|n,FILE", "NUL-separated list of URIs; y: begin again at its end, n: end there"),
        _yes("add-header", "S", "header of each request; \\n ends it; may be repeated"),
        _yes("add-header-file", "FILE", "headers in a file"),
        _yes("http-version", "V", "1.0 or 1.1 (1.1)"),
        _no("no-host-hdr", "no Host header"),
    ),
    "Sockets": (
        _no("hog", "use all ports from 1024 on"),
        _yes("myaddr", "A", "address to connect from, A-B for a range; may be repeated"),
        _yes("send-buffer", "N", "SO_SNDBUF in bytes (4096)"),
        _yes("recv-buffer", "N", "SO_RCVBUF in bytes (16384)"),
        _no("close-with-reset", "end connections by a reset"),
    ),
    "TLS": (
        _no("ssl", "TLS"),
        _yes("ssl-protocol", "P", "auto, TLSv1.2 or TLSv1.3 (auto)"),
        _yes("ssl-ciphers", "L", "ciphers to offer, separated by colons"),
        _no("ssl-no-reuse", "a full handshake for each connection"),
        _yes("tls-server-name", "S", "name asked for in the handshake (that of the server)"),
        Option("ssl-verify", "maybe", "yes|no", "check the server's certificate (no)"),
        _yes("ssl-ca-file", "FILE", "authorities to trust, PEM"),
        _yes("ssl-ca-path", "FOLDER", "folder of authorities to trust"),
        _yes("ssl-certificate", "FILE", "certificate to show, PEM"),
        _yes("ssl-key", "FILE", "its key, PEM"),
    ),
    "What is printed, and kept": (
        _yes("output", "FILE", "keep the run as a run file, for `bakeoff compare` and `bakeoff report`"),
        _no("json", "the figures as JSON instead of lines"),
        _no("side-by-side", "no run: the results in these run files side by side, with ranges and sums"),
        Option("print-request", "maybe", "header|body", "print requests"),
        Option("print-reply", "maybe", "header|body", "print replies"),
        _no("periodic-stats", "replies with status 200 and 302, each second"),
        _no("verbose", "rate of replies every five seconds; -vv: lifetimes of connections, too"),
    ),
    "From several machines": (
        _yes(
            "cluster",
            "ADDRESS",
            "machines of the cluster whose head is there begin the connections, in turn; needs a rate",
        ),
        _yes("agents", "N", "so many of them (1)"),
    ),
    "Others": (
        _no("help", "this"),
        _no("version", "the version"),
        _yes("debug", "N", "taken and of no effect"),
        _no("use-timer-cache", "taken and of no effect: the clock is read once per event anyway"),
    ),
}
OPTIONS = tuple(option for group in GROUPS.values() for option in group)
LONG = {option.name: option for option in OPTIONS}
SHORT = {
    "d": "debug",
    "h": "help",
    "n": "periodic-stats",
    "o": "output",
    "v": "verbose",
    "V": "version",
}


def read_words(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """(name, value) of each option in order; a value is None where there is none. What belongs to no option has the
    name "". Raises PlanError.
    """
    if len(words) > MOST_WORDS:
        raise PlanError(f"a command line of {len(words):,} words cannot be meant: {HINT}")
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word == "--":
            yield from (("", operand) for operand in rest[::-1])
            return
        if word.startswith("--"):
            yield _long(word[2:], rest)
        elif word.startswith("-") and word != "-":
            yield from _short(word[1:], rest)
        else:
            yield "", word


def _long(text: str, rest: list[str]) -> tuple[str, str | None]:
    given, equals, value = text.partition("=")
    option = LONG[_full(given)]
    if option.takes == "no":
        if equals:
            raise PlanError(f"--{option.name} takes no value: leave ={value[:80]} out")
        return option.name, None
    if equals or option.takes == "maybe":
        return option.name, value if equals else None
    return option.name, _next(f"--{option.name}", option, rest)


def _full(given: str) -> str:
    """The name that `given` is, or is the beginning of."""
    if given in LONG:
        return given
    possible = [name for name in LONG if given and name.startswith(given)]
    if len(possible) == 1:
        return possible[0]
    if possible:
        raise PlanError(f"--{given} is ambiguous: write one of {', '.join('--' + name for name in possible)}")
    near = difflib.get_close_matches(given[:80], list(LONG), n=1, cutoff=0.6)
    raise PlanError(f"--{given[:80]} is not an option: " + (f"did you mean --{near[0]}?" if near else HINT))


def _short(letters: str, rest: list[str]) -> Iterator[tuple[str, str | None]]:
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter not in SHORT:
            raise PlanError(f"-{letter} is not an option: long ones have two dashes; {HINT}")
        option = LONG[SHORT[letter]]
        if option.takes == "yes":
            yield option.name, letters or _next(f"-{letter}", option, rest)
            return
        yield option.name, None


def _next(shown: str, option: Option, rest: list[str]) -> str:
    if not rest:
        raise PlanError(f"{shown} needs a value: {shown} {option.metavar}")
    return rest.pop()
