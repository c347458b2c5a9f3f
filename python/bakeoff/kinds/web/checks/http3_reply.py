"""One request and its reply over HTTP/3, by the engine: Python has no QUIC of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bakeoff import _engine
from bakeoff.kinds.web.settings.http import HttpSettings
from bakeoff.kinds.web.spec import ClassSpec, RequestSpec, WebWorkload
from bakeoff.run.contenders.probe_connection import ProbeError, SlowError

_SWITCH_ON = "switch HTTP/3 on in the server (UDP, ALPN h3), or leave out --http 3"
_ADVICE = {
    "refused": f"nothing answers QUIC there (the UDP port is closed): {_SWITCH_ON}",
    "connect_timeout": f"nothing answers QUIC in time: {_SWITCH_ON}; check route and firewall for UDP as well",
    "unreachable": "the host cannot be reached: check address and network",
}


class UnspokenError(ProbeError):
    """The server is not reached over HTTP/3, whatever is asked."""


@dataclass(frozen=True)
class Http3Reply:
    """`stated` is the length that the head states for the body, `streams_allowed` None where the server takes as many
    as are asked for.
    """

    status: int
    stated: int | None
    body: bytes
    streams_allowed: int | None


def fetch(
    fields: Mapping[str, Any], path: str, method: str, settings: HttpSettings, reply_s: float, largest: int
) -> Http3Reply:
    """The reply to one request on a connection of its own; `fields` are those of `connection_fields`.

    Raises UnspokenError with what to do, or WireError.
    """
    request = ClassSpec(name="check", weight=1, expect=(), requests=(_request(path, method),))
    workload = WebWorkload(**fields, check_every=0, classes=(request,))
    try:
        status, stated, body, allowed = _engine.fetch_http3(
            workload.model_dump_json(), settings.streams, settings.connect_timeout_s, reply_s, largest
        )
    except _engine.SpecError as error:
        raise UnspokenError(str(error)) from None
    except _engine.EngineError as error:
        raise _error_of(*error.args) from None
    if method != "HEAD" and stated is not None and status not in (204, 304) and stated != len(body) < largest:
        raise ProbeError(f"the body has {len(body)} bytes, its Content-Length says {stated}")
    return Http3Reply(status, stated, body, allowed)


def _request(path: str, method: str) -> RequestSpec:
    return RequestSpec(method=method, path=path, length=None, sha256=None)


def _error_of(name: str, reason: str) -> ProbeError:
    if name in _ADVICE:
        return UnspokenError(_ADVICE[name])
    if name == "tls" and "certificate" in reason.lower():
        return UnspokenError(
            f"its certificate is not trusted ({reason}): name its authority with --ca-file, or use --insecure"
        )
    if name == "tls":
        return UnspokenError(f"it answers QUIC, but no HTTP/3 is agreed on with it ({reason}): {_SWITCH_ON}")
    if name == "reply_timeout":
        return SlowError("no reply in time")
    return ProbeError(f"HTTP/3 fails ({name.replace('_', ' ')}{': ' + reason if reason else ''})")
