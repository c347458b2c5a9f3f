"""Values of httperf's options: periods, sessions, sets of files, headers with escapes. All raise ValueError with the
right form.
"""

import re
from dataclasses import dataclass
from typing import Literal

from bakeoff.kinds.httperf.files import Burst, read_sessions, read_uris

_NUMBER = r"(?:[0-9]{1,12}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})(?:[eE][+-]?[0-9]{1,2})?"
LARGEST = 1e12
MOST_PAIRS = 1000


def parse_number(text: str) -> float:
    """A plain number that is not negative: `0.5`, `1e2`."""
    if not re.fullmatch(_NUMBER, text) or float(text) > LARGEST:
        raise ValueError(f"{text[:80]!r} is not a number of 0 or more")
    return float(text)


def parse_count(text: str, least: int = 0, most: int = 10**12) -> int:
    """A whole number between two."""
    if not re.fullmatch(r"[0-9]{1,15}", text) or not least <= int(text) <= most:
        raise ValueError(f"{text[:80]!r} is not a whole number from {least:,} to {most:,}")
    return int(text)


@dataclass(frozen=True)
class Period:
    """How times between two starts are spread, s: fixed `steps[0]`, uniform between two, exponential of that mean, or
    in turn (time between, for so long).
    """

    shape: Literal["d", "u", "e", "v"]
    numbers: tuple[float, ...]

    @property
    def per_s(self) -> float:
        """Mean number of starts in a second; 0: one after the other."""
        n = self.numbers
        if self.shape == "v":
            spans, gaps = n[1::2], n[0::2]
            return sum(span / gap for gap, span in zip(gaps, spans, strict=True)) / sum(spans)
        mean_s = sum(n) / len(n)
        return 1.0 / mean_s if mean_s > 0 else 0.0

    @property
    def echo(self) -> str:
        """As httperf repeats it."""
        if self.shape == "d":
            return f"--rate={self.per_s:g}"
        return f"--period={self.shape}" + ",".join(f"{number:g}" for number in self.numbers)


def parse_period(text: str) -> Period:
    """`0.1`, `d0.1`, `e0.1`, `u0.1,0.3`, `v0.1,5,0.2,5`."""
    shape, rest = (text[0], text[1:]) if text[:1] in ("d", "u", "e", "v") else ("d", text)
    forms = "write 0.1, e0.1, u0.1,0.3 or v0.1,5,0.2,5 (seconds)"
    try:
        numbers = tuple(parse_number(part) for part in rest.split(","))
    except ValueError:
        raise ValueError(f"{text[:80]!r} is not a period: {forms}") from None
    right = {"d": len(numbers) == 1, "e": len(numbers) == 1, "u": len(numbers) == 2, "v": len(numbers) % 2 == 0}
    if not right[shape] or len(numbers) > 2 * MOST_PAIRS:
        raise ValueError(f"{text[:80]!r} is not a period: {forms}")
    if shape == "u" and (numbers[0] > numbers[1] or numbers[1] == 0):
        raise ValueError(f"{text[:80]!r} is not a period: of u the second time is the longer one")
    if shape == "v" and min(numbers) <= 0:
        raise ValueError(f"{text[:80]!r} is not a period: times of v are above 0")
    return Period(shape, numbers)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Wsess:
    """So many sessions of so many calls (or pages), and the pause between bursts."""

    sessions: int
    calls: int
    think_s: float

    @property
    def plan_text(self) -> str:
        """As a plan file has it."""
        return f"{self.sessions},{self.calls},{self.think_s!r}"


@dataclass(frozen=True)
class Wsesslog:
    """So many sessions by a script; the pause is that between bursts that state none."""

    sessions: int
    think_s: float
    path: str
    script: tuple[tuple[Burst, ...], ...]

    @property
    def plan_text(self) -> str:
        """As a plan file has it, while the script is what it was."""
        return f"{self.sessions},{self.think_s!r},{self.path}"


@dataclass(frozen=True)
class Wset:
    """Files `/0.html` and so on, and the share of fetches that are to miss the server's cache."""

    files: int
    miss_rate: float

    @property
    def plan_text(self) -> str:
        """As a plan file has it."""
        return f"{self.files},{self.miss_rate!r}"


@dataclass(frozen=True)
class Wlog:
    """URIs in their order; `wraps` begins again at the end."""

    wraps: bool
    path: str
    uris: tuple[str, ...]

    @property
    def plan_text(self) -> str:
        """As a plan file has it, while the list is what it was."""
        return f"{'y' if self.wraps else 'n'},{self.path}"


@dataclass(frozen=True)
class Client:
    """This one, of so many, from 0."""

    index: int
    of: int

    @property
    def plan_text(self) -> str:
        """As a plan file has it."""
        return f"{self.index}/{self.of}"


def parse_wsess(text: str) -> Wsess:
    """`10,5,2`: sessions, calls of each, seconds between bursts."""
    parts = text.split(",")
    if len(parts) != 3:
        raise ValueError(f"{text[:80]!r} is not sessions,calls,seconds: write 10,5,2")
    sessions, calls = parse_count(parts[0], 1), parse_count(parts[1], 0, 1_000_000)
    if calls == 0:
        raise ValueError("sessions without calls measure nothing: write 10,5,2")
    return Wsess(sessions, calls, parse_number(parts[2]))


def parse_wsesslog(text: str) -> Wsesslog:
    """`10,2,FILE`: sessions, seconds between bursts, script, which is read. Raises PlanError for what is in it."""
    parts = text.split(",", 2)
    if len(parts) != 3 or not parts[2]:
        raise ValueError(f"{text[:80]!r} is not sessions,seconds,file: write 10,2,sessions.log")
    return Wsesslog(parse_count(parts[0], 1), parse_number(parts[1]), parts[2], read_sessions(parts[2]))


def parse_wset(text: str) -> Wset:
    """`1000,0.3`: files, miss rate."""
    parts = text.split(",")
    if len(parts) != 2:
        raise ValueError(f"{text[:80]!r} is not files,miss rate: write 1000,0.3")
    miss_rate = parse_number(parts[1])
    if miss_rate > 1:
        raise ValueError(f"{parts[1]!r} is not a miss rate: it lies between 0 and 1")
    return Wset(parse_count(parts[0], 1, 10**9), miss_rate)


def parse_wlog(text: str) -> Wlog:
    """`y,FILE`: whether to begin again at the end, and the list, which is read. Raises PlanError for what is in it."""
    wraps, comma, path = text.partition(",")
    if wraps not in ("y", "n") or not comma or not path:
        raise ValueError(f"{text[:80]!r} is not y,file or n,file: write y,urls.list")
    return Wlog(wraps == "y", path, read_uris(path))


def parse_client(text: str) -> Client:
    """`0/4`: this one, of so many."""
    first, slash, of = text.partition("/")
    if not slash:
        raise ValueError(f"{text[:80]!r} is not I/N: write 0/4")
    index, count = parse_count(first, 0, 99_999), parse_count(of, 1, 100_000)
    if index >= count:
        raise ValueError(f"{text[:80]!r}: clients are counted from 0, so the last of {count} is {count - 1}")
    return Client(index, count)


def octets(text: str) -> str:
    """The bytes of a text that the user gave, each as a character."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def unescape(text: str) -> str:
    r"""What --add-header means, in octets: \n ends a line, \a is a line feed, \r a carriage return, \\ itself, \101
    octal.
    """

    def meaning(match: re.Match[str]) -> str:
        code = match[1]
        known = {"n": "\r\n", "r": "\r", "a": "\n", "\\": "\\"}
        return known.get(code) or chr(int(code, 8) & 0xFF)

    if re.search(r"\\(?![nra\\0-7])", re.sub(r"\\\\", "", text)):
        raise ValueError(f"{text[:80]!r}: behind a backslash stands n, r, a, a backslash or an octal number")
    return re.sub(r"\\([nra\\]|[0-7]{1,3})", meaning, octets(text))


def check_header(text: str) -> str:
    """A header as it is sent: lines `Name: value`, each ended; the last end may be left out."""
    lines = text.replace("\r\n", "\n").replace("\n", "\r\n")
    whole = lines if lines.endswith("\r\n") or not lines else lines + "\r\n"
    for line in whole.split("\r\n")[:-1]:
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\0\r\n]*|[ \t][^\0\r\n]*", line):
            raise ValueError(f"{line[:80]!r} is not a header: write 'Name: value\\n'")
    return whole
