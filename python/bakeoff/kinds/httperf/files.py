"""Files that httperf's options name: session scripts, lists of URIs and of hosts, headers. All bounded; errors name
file and line. Their texts are octets: each character stands for one byte.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bakeoff.core.errors import PlanError
from bakeoff.core.system.bounded_read import MIB, read_bounded

MOST_BYTES = 16 * MIB
MOST_CALLS = 1_000_000
MOST_URI = 16_384
METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT", "PROPFIND", "REPORT", "TRACE")
BLANKS = " \t\r"
_PARAMETER = re.compile(r"[ \t]+(method|think|contents)=")


@dataclass(frozen=True)
class Call:
    """One call of a session script; `body` is what it sends, None for nothing."""

    uri: str
    method: str = "GET"
    body: str | None = None


@dataclass(frozen=True)
class Burst:
    """Calls that are sent together: the first alone, the others when its reply is there. `think_s` is the pause behind
    the burst, None where that of the option is meant.
    """

    calls: tuple[Call, ...]
    think_s: float | None = None


def read_text(path: str) -> str:
    """A file's bytes, each as a character. Raises PlanError."""
    try:
        return read_bounded(Path(path), MOST_BYTES).decode("latin-1")
    except OSError as error:
        raise PlanError(f"{path} cannot be read ({error.strerror}): check the path") from None


def check_uri(uri: str, where: str) -> str:
    """A URI as it stands in a request line. Raises PlanError."""
    if not uri or len(uri) > MOST_URI or any(c <= " " or c == "\x7f" for c in uri):
        raise PlanError(f"{where}: {uri[:80]!r} is no URI: it has no spaces and at most {MOST_URI:,} characters")
    return uri


def read_list(path: str, what: str) -> tuple[str, ...]:
    """The entries of a NUL-separated file, the empty ones left out. Raises PlanError."""
    entries = [entry for entry in read_text(path).split("\0") if entry.strip("\r\n")]
    if not entries:
        raise PlanError(f"{path} names no {what}: write a list with a zero byte behind each")
    if len(entries) > MOST_CALLS:
        raise PlanError(f"{path} has {len(entries):,} entries: at most {MOST_CALLS:,}")
    return tuple(entries)


def read_uris(path: str) -> tuple[str, ...]:
    """The URIs of --wlog. Raises PlanError that names the entry."""
    return tuple(
        check_uri(uri.strip("\r\n"), f"{path}, entry {n:,} (they end with a zero byte)")
        for n, uri in enumerate(read_list(path, "URI"), 1)
    )


def read_hosts(path: str) -> tuple[str, ...]:
    """The hosts of --servers. Raises PlanError that names the entry."""
    hosts = [host.strip("\r\n \t") for host in read_list(path, "host")]
    for n, host in enumerate(hosts, 1):
        if not re.fullmatch(r"[A-Za-z0-9._:\[\]%-]{1,255}", host):
            raise PlanError(f"{path}, entry {n:,}: {host[:80]!r} is no host: names end with a zero byte")
    return tuple(hosts)


def read_headers(path: str) -> str:
    """The text of --add-header-file, its lines ended as HTTP has them. Raises PlanError that names the line."""
    lines = [line.removesuffix("\r") for line in read_text(path).split("\n")]
    for n, line in enumerate(lines, 1):
        if line and (":" not in line or any(c < " " and c != "\t" for c in line)):
            raise PlanError(f"{path} line {n:,}: {line[:80]!r} is not a header: write Name: value")
    return "".join(f"{line}\r\n" for line in lines if line)


def read_sessions(path: str) -> tuple[tuple[Burst, ...], ...]:
    """The sessions of a script, each its bursts. Raises PlanError that names the line."""
    sessions: list[list[Burst]] = [[]]
    calls = 0
    for number, line in _lines(read_text(path)):
        where = f"{path} line {number:,}"
        if not line.strip(BLANKS):
            if sessions[-1]:
                sessions.append([])
            continue
        call, think_s = _call(line.strip(BLANKS), where)
        calls += 1
        if calls > MOST_CALLS:
            raise PlanError(f"{where}: more than {MOST_CALLS:,} calls")
        if line[0] not in " \t":
            sessions[-1].append(Burst((call,), think_s))
        elif not sessions[-1]:
            raise PlanError(f"{where}: the first call of a session is not indented: indented ones belong to its burst")
        else:
            burst = sessions[-1][-1]
            sessions[-1][-1] = Burst((*burst.calls, call), burst.think_s if think_s is None else think_s)
    found = tuple(tuple(session) for session in sessions if session)
    if not found:
        raise PlanError(f"{path} has no call: write sessions of lines such as /index.html think=2")
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their number, comments left out; one whose end is behind a backslash goes on in the next."""
    began, whole = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        if not whole and line.startswith("#"):
            continue
        began = began or number
        whole += line.rstrip("\r")
        if whole.endswith("\\"):
            whole = whole[:-1]
            if len(whole) > MOST_BYTES:
                break
            continue
        yield began, whole
        began, whole = 0, ""
    if whole:
        yield began, whole


def _call(line: str, where: str) -> tuple[Call, float | None]:
    """A call and the pause that its line states."""
    uri = re.split("[ \t]", line, maxsplit=1)[0]
    check_uri(uri, where)
    rest, method, body, think_s = line[len(uri) :], "GET", None, None
    while rest.strip(BLANKS):
        match = _PARAMETER.match(rest)
        if match is None:
            raise PlanError(f"{where}: {rest.strip(BLANKS)[:80]!r} is none of method=, think= and contents='…'")
        rest = rest[match.end() :]
        if match[1] == "contents":
            body, rest = _quoted(rest, where)
            continue
        value, rest = _word(rest)
        if match[1] == "method":
            if value not in METHODS:
                raise PlanError(f"{where}: method={value[:80]} is none of {', '.join(METHODS)}")
            method = value
        else:
            think_s = _seconds(value, where)
    return Call(uri, method, body), think_s


def _word(text: str) -> tuple[str, str]:
    end = re.search("[ \t]|$", text).start()  # type: ignore[union-attr]
    return text[:end], text[end:]


def _seconds(text: str, where: str) -> float:
    if not re.fullmatch(r"[0-9]{0,12}(\.[0-9]{0,12})?", text) or not text.strip("."):
        raise PlanError(f"{where}: think={text[:80]} is no time in seconds")
    return float(text)


def _quoted(text: str, where: str) -> tuple[str, str]:
    """The content of quotes at the beginning of `text`, and what stands behind them."""
    quote = text[:1]
    if quote not in ("'", '"'):
        raise PlanError(f"{where}: contents stand between quotes: contents='a=b'")
    content, at = [], 1
    while at < len(text) and text[at] != quote:
        if text[at] == "\\" and at + 1 < len(text):
            at += 1
            content.append({"n": "\n", "r": "\r", "t": "\t"}.get(text[at], text[at]))
        else:
            content.append(text[at])
        at += 1
    if at >= len(text):
        raise PlanError(f"{where}: the quotes of contents do not end on their line (a backslash continues it)")
    return "".join(content), text[at + 1 :]
