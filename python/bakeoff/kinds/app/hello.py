"""The first words of the app protocol, by the engine: for checks before timing, never for timing."""

from collections.abc import Sequence
from dataclasses import dataclass

from bakeoff import _engine
from bakeoff.core.errors import ContenderError
from bakeoff.plan.input.address import SocketAddress
from bakeoff.run.contenders.probe_connection import shown

_STATUSES = {
    "bad_length": "bad length",
    "unknown_kind": "unknown kind",
    "too_large": "too large",
    "not_ours": "another version",
    "no_hello": "no hello",
    "bad_parameter": "bad parameter",
    "busy": "busy",
    "no_space": "no space for another data segment",
    "storage": "storage failed",
    "too_slow": "too slow",
}
_UNSPOKEN = "check address and network, and that it is an app server"


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


def greet(
    name: str, address: SocketAddress, addresses: Sequence[str], record_bytes: int, timeout_s: float
) -> AppServer:
    """Open a session and close it again. `record_bytes` 0 asks for no data segment.

    Raises ContenderError that says what is wrong with the contender `name`.
    """
    where = f"{name} ({address.place})"
    try:
        return AppServer(*_engine.greet_app(address.unix or addresses[0], record_bytes, timeout_s))
    except _engine.EngineError as error:
        raise ContenderError(f"{where}{_fault_text(timeout_s, *error.args)}") from None


def _fault_text(timeout_s: float, fault: str, raw: bytes, count: int, _: int) -> str:
    why = shown(raw)
    if fault == "refused":
        return ": connection refused: start the server, or correct the address"
    if fault in ("not_connected", "slow"):
        return f": no answer within {timeout_s:g} s: is it an app server, and reachable?"
    if fault == "other_protocol":
        return " speaks another protocol: start it with `bakeoff serve app`"
    if fault == "other_version":
        return " speaks another version of the protocol: use the same version of Bakeoff there"
    if fault == "client_refused":
        return f" refuses a client: {_STATUSES[why]}; {_advice(why)}"
    if fault == "closed":
        return f": the reply ends after {count} bytes: {_UNSPOKEN}"
    if fault == "unreachable":
        return f": cannot connect ({why}): {_UNSPOKEN}"
    return f": the reply breaks off ({why}): {_UNSPOKEN}"


def _advice(status: str) -> str:
    if status == "no_space":
        return "raise its --data-limit, or choose a smaller --segment"
    return "check that both sides are the same version, and its settings"
