"""Access logs, plain or packed, to the trace that a trial replays."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.core.units import format_size
from bakeoff.kinds.replay.bodies import GivenBody
from bakeoff.plan.settings.fields import Strict

PIECE_BYTES = 1 << 20
UNPACKED_MAX = 16 << 30
# Logs pack to a tenth, very even ones to a hundredth; a bomb goes for the thousandth.
PACKED_RATIO = 250
PACKED_FREE = 64 << 20
_GZIP = b"\x1f\x8b"
_OTHER_PACKERS = {b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}


class LogFault(Strict):
    """Lines that are no requests, for one reason; the first of them as an example."""

    reason: str
    lines: int
    first_line: int
    example: str


class LogFacts(Strict):
    """What a log has. `sha256` is that of its trace: what is replayed, in what order and when.

    Of `lines`, `blank` ones say nothing, `faults` are no requests, `left_out` are requests by methods that are not
    replayed, and `requests` are replayed: `different` ones, for so many `paths` without queries. `period_s` goes from
    the first moment, `first_s` since 1970, to that at which the log would begin again; `exact` when stamps have
    fractions of seconds. `combined` lines have a browser, `extra` ones more fields, `newer_http` ones came over HTTP/2
    or 3; `backwards` ones are stamped before one above them, by `backwards_s` at most.
    """

    path: str
    sha256: str
    lines: int
    blank: int
    requests: int
    different: int
    paths: int
    exact: bool
    first_s: float
    period_s: float
    combined: int
    extra: int
    newer_http: int
    backwards: int
    backwards_s: float
    backwards_line: int
    methods: dict[str, int]
    left_out: dict[str, int]
    statuses: dict[str, int]
    faults: tuple[LogFault, ...]
    hosts: tuple[tuple[str, int], ...]
    top: tuple[tuple[str, int], ...]

    @property
    def per_s(self) -> float:
        """Requests a second at the log's own pace."""
        return self.requests / self.period_s


class LogSample(Strict):
    """A request of the log without a body, and the status that its first line has."""

    method: str
    host: str | None
    path: str
    status: int


def read_log(path: Path, bodies: Sequence[GivenBody], keep_hosts: bool) -> LogFacts:
    """Reads a log and keeps its trace for this process. Raises ValueError with a sentence."""
    from bakeoff import _engine  # not loaded for help texts

    reader = _engine.AccessLog([body.as_tuple() for body in bodies], keep_hosts)
    try:
        for piece in _pieces(path):
            reader.feed(piece)
        trace, text = reader.finish()
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}): check the path") from None
    except _engine.SpecError as error:
        raise ValueError(f"{path}: {error}") from None
    summary: dict[str, Any] = json.loads(text)
    digest = sha256(trace).hexdigest()
    samples = [dict(zip(("method", "host", "path", "status"), item, strict=True)) for item in summary.pop("samples")]
    try:
        _place(digest).write_bytes(trace)
        _place(digest, "json").write_text(json.dumps(samples))
    except OSError as error:
        raise GeneratorError(f"the trace of {path} cannot be written ({error}): make room in {_folder()}") from None
    return LogFacts.model_validate({**summary, "path": str(path), "sha256": digest})


def trace_of(facts: LogFacts, bodies: Sequence[GivenBody], keep_hosts: bool) -> tuple[Path, Sequence[LogSample]]:
    """The trace of a log that was read before, perhaps by another process, and the requests to try.

    Raises PlanError when the log is not what it was.
    """
    if not _place(facts.sha256, "json").is_file():
        try:
            now = read_log(Path(facts.path), bodies, keep_hosts)
        except ValueError as error:
            raise PlanError(f"log: {error}") from None
        if now.sha256 != facts.sha256:
            raise PlanError(
                f"log: {facts.path} is not the log that the plan was made of ({facts.requests:,} requests then, "
                f"{now.requests:,} now): bring it back, or begin a new run"
            )
    samples = json.loads(_place(facts.sha256, "json").read_text())
    return _place(facts.sha256), [LogSample.model_validate(sample) for sample in samples]


@cache
def _folder() -> Path:
    """A folder for the traces of this process, which is gone with it."""
    folder = Path(tempfile.mkdtemp(prefix="bakeoff-replay-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _place(digest: str, ending: str = "trace") -> Path:
    return _folder() / f"{digest}.{ending}"


def _pieces(path: Path) -> Iterator[bytes]:
    """The text of a log, unpacked where it is packed. Raises OSError and ValueError."""
    try:
        with path.open("rb") as file:
            head = file.read(PIECE_BYTES)
            packer = next((name for magic, name in _OTHER_PACKERS.items() if head.startswith(magic)), None)
            if packer is not None:
                raise ValueError(f"{path} is packed by {packer}: unpack it, or pack it by gzip")
            rest = iter(lambda: file.read(PIECE_BYTES), b"")
            packed = _chained(head, rest)
            yield from _unpacked(path, packed) if head.startswith(_GZIP) else _bounded(path, packed)
    except ValueError as error:
        if "null byte" in str(error):
            raise ValueError(f"{path!s} cannot be the name of a file: check the path") from None
        raise


def _chained(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from rest


def _bounded(path: Path, pieces: Iterator[bytes]) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > UNPACKED_MAX:
            raise ValueError(f"{path} has more than {format_size(UNPACKED_MAX)}: is it the right file?")
        yield piece


def _unpacked(path: Path, packed: Iterator[bytes]) -> Iterator[bytes]:
    """The members of a gzip file one after the other, as `cat a.gz b.gz` makes them."""
    inflate, begun = zlib.decompressobj(wbits=31), False
    taken = given = 0
    for piece in packed:
        taken += len(piece)
        while piece:
            begun = True
            text = _inflated(path, inflate, piece)
            given += len(text)
            if given > UNPACKED_MAX or (given > PACKED_FREE and given > PACKED_RATIO * taken):
                raise ValueError(
                    f"{path} unpacks to more than {PACKED_RATIO} times its size, or to more than "
                    f"{format_size(UNPACKED_MAX)}: no log does; is it the right file?"
                )
            yield text
            piece = inflate.unconsumed_tail
            if inflate.eof:
                piece = inflate.unused_data.lstrip(b"\0")
                inflate, begun = zlib.decompressobj(wbits=31), False
                if not piece.startswith(_GZIP[: len(piece)]):
                    raise ValueError(f"{path} has something behind its gzip part: pack it again")
    while begun and (text := _inflated(path, inflate, b"")):
        yield text
    if begun and not inflate.eof:
        raise ValueError(f"{path} ends in the middle of its gzip part: copy it again")


def _inflated(path: Path, inflate: Any, piece: bytes) -> bytes:
    try:
        text: bytes = inflate.decompress(piece, PIECE_BYTES)
    except zlib.error as error:
        raise ValueError(f"{path} is not a sound gzip file ({error}): pack it again") from None
    return text
