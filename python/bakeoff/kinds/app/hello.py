"""The first words of the app protocol: for checks before timing, never for timing."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from bakeoff.errors import TargetError
from bakeoff.plan.address import Endpoint
from bakeoff.run.wire import Bounds, RefusedError, SlowError, Wire, WireError

VERSION = 2
KIND_HELLO = 1
ANY_SEGMENT = 0
STATUS_NO_SPACE = 8
PAYLOAD_BYTES = 4096
ANSWER_BYTES = 64 * 1024
_REQUEST = struct.Struct("<IBBHQQII")
_REPLY = struct.Struct("<IBBBB9Q")
_HELLO = struct.Struct("<QQIIIIII")
_REQUEST_MAGIC, _REPLY_MAGIC = 0xB4, 0xB5
_STATUSES = (
    "ok",
    "bad length",
    "unknown kind",
    "too large",
    "another version",
    "no hello",
    "bad parameter",
    "busy",
    "no space for another data segment",
    "storage failed",
    "too slow",
)


@dataclass(frozen=True)
class AppServer:
    """How an app server says that it was set up. Sizes in bytes, times in ns."""

    segment_bytes: int
    service_ns: int
    threads: int
    processors: int
    direct: bool
    fsync: bool
    payload_max: int
    records_max: int


def greet(name: str, address: Endpoint, addresses: Sequence[str], record_bytes: int, timeout_s: float) -> AppServer:
    """Open a session and close it again. `record_bytes` 0 asks for no data segment.

    Raises TargetError that says what is wrong with the contender `name`.
    """
    where = f"{name} ({address.place})"
    try:
        payload = _hello(where, address.unix or addresses[0], record_bytes, Bounds(timeout_s, ANSWER_BYTES))
    except RefusedError:
        raise TargetError(f"{where}: connection refused: start the server, or correct the address") from None
    except SlowError:
        raise TargetError(f"{where}: no answer within {timeout_s:g} s: is it an app server, and reachable?") from None
    except WireError as error:
        raise TargetError(f"{where}: {error}: check address and network, and that it is an app server") from None
    if len(payload) != _HELLO.size:
        raise TargetError(f"{where} speaks another version of the protocol: use the same version of Bakeoff there")
    segment, service, threads, processors, flags, payload_max, records_max, _ = _HELLO.unpack(payload)
    return AppServer(segment, service, threads, processors, bool(flags & 1), bool(flags & 2), payload_max, records_max)


def _hello(where: str, place: str, record_bytes: int, bounds: Bounds) -> bytes:
    with Wire.connect(place, bounds, bounds.seconds) as wire:
        frame = _REQUEST.pack(_REQUEST.size - 4, _REQUEST_MAGIC, KIND_HELLO, 0, 1, ANY_SEGMENT, VERSION, record_bytes)
        wire.send(frame)
        head = _REPLY.unpack(wire.exactly(_REPLY.size))
        length, magic, _, status = head[:4]
        if magic != _REPLY_MAGIC or status >= len(_STATUSES):
            raise TargetError(f"{where} speaks another protocol: start it with `bakeoff serve app`")
        if status:
            raise TargetError(f"{where} refuses a client: {_STATUSES[status]}; {_advice(status)}")
        return wire.exactly(max(0, min(length + 4 - _REPLY.size, PAYLOAD_BYTES)))


def _advice(status: int) -> str:
    if status == STATUS_NO_SPACE:
        return "raise its --data-limit, or choose a smaller --segment"
    return "check that both sides are the same version, and its settings"
