"""One connection of a check before timing: whatever the other side sends, it ends in time and in memory.

Every byte is read through `Wire`, and every wait and every byte is taken from `Bounds`: a server that drips, that
never ends, or that answers in nonsense costs a check what it may cost, and no more.
"""

import socket
import ssl
import time
from collections.abc import Callable
from typing import Any

from bakeoff.errors import PlanError
from bakeoff.units import format_duration, format_size

PART_BYTES = 64 * 1024


class WireError(Exception):
    """Why an exchange failed, as words that fit behind the name of a contender and a colon."""


class RefusedError(WireError):
    """Nobody listens there."""


class SlowError(WireError):
    """Time ran out."""


class UntrustedError(WireError):
    """The certificate does not vouch for the name that was asked for; `advice` is what to do about it."""

    def __init__(self, why: str, code: int) -> None:
        super().__init__(f"its certificate is not trusted ({why.rstrip('.')})")
        self.advice = _ADVICE.get(code, "name its authority with --ca-file FILE, or use --insecure")


class HandshakeError(WireError):
    """It does not speak TLS, or none that both sides know."""


class ClearError(HandshakeError):
    """It answers a handshake with something else than TLS."""


# What OpenSSL says of bytes that are no record of TLS: which of them, depends on its version and on the bytes.
_CLEAR = ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")

# By the codes of X509_verify_cert_error_string(3).
_ADVICE = {
    9: "set the clock, or use --insecure",
    10: "renew it, or use --insecure; --ca-file cannot make it valid",
    62: "write an address that it names, give it this name, or use --insecure",
    64: "write the host by a name that it has, give it this address, or use --insecure",
}


class Bounds:
    """What an exchange may take; a part of it takes from the whole as well.

    `seconds` counts from now, `size` is in bytes; `clock` gives seconds.
    """

    def __init__(
        self, seconds: float, size: int, clock: Callable[[], float] = time.monotonic, whole: "Bounds | None" = None
    ) -> None:
        self.seconds, self.size = seconds, size
        self._clock, self._whole = clock, whole
        self._until, self._spent = clock() + seconds, 0

    def part(self, seconds: float, size: int) -> "Bounds":
        """Tighter bounds within these."""
        return Bounds(seconds, size, self._clock, self)

    def left_s(self) -> float:
        """Seconds left, more than 0. Raises SlowError when there are none."""
        left = self._until - self._clock()
        if left <= 0:
            raise SlowError(f"no complete reply within {format_duration(self.seconds)}")
        return left if self._whole is None else min(left, self._whole.left_s())

    @property
    def left_bytes(self) -> int:
        """Bytes that may still come."""
        left = max(0, self.size - self._spent)
        return left if self._whole is None else min(left, self._whole.left_bytes)

    def spend(self, count: int) -> None:
        """Take received bytes. Raises WireError when they are too many."""
        self._spent += count
        if self._spent > self.size:
            raise WireError(f"the reply is longer than {format_size(self.size)}")
        if self._whole is not None:
            self._whole.spend(count)


class Wire:
    """A connection; every method raises WireError and nothing else."""

    def __init__(self, connection: socket.socket, bounds: Bounds) -> None:
        self._socket = connection
        self._buffer = bytearray()
        self.bounds = bounds

    @classmethod
    def connect(cls, place: str, bounds: Bounds, timeout_s: float) -> "Wire":
        """Connect to a numeric `host:port` or to the path of a socket, in `timeout_s` at most."""
        family = socket.AF_UNIX if place.startswith("/") else socket.AF_INET6 if "[" in place else socket.AF_INET
        host, _, port = place.rpartition(":")
        patience = min(timeout_s, bounds.left_s())
        connection = socket.socket(family)
        try:
            connection.settimeout(patience)
            connection.connect(place if family == socket.AF_UNIX else (host.strip("[]"), int(port)))
        except Exception as error:
            connection.close()
            raise _not_connected(error, timeout_s) from None
        return cls(connection, bounds)

    def start_tls(self, context: ssl.SSLContext, host: str) -> None:
        """Turn to TLS; the certificate must be that of `host` unless `context` does not check."""
        if self._buffer:
            raise WireError("it sends more before TLS begins")
        try:
            self._socket.settimeout(self.bounds.left_s())
            self._socket = context.wrap_socket(self._socket, server_hostname=host)
        except ssl.SSLCertVerificationError as error:
            raise UntrustedError(error.verify_message, error.verify_code) from None
        except (OSError, ValueError) as error:
            self.bounds.left_s()
            if isinstance(error, ssl.SSLError) and error.reason in _CLEAR:
                raise ClearError("TLS fails: the port speaks plain text") from None
            raise HandshakeError(f"TLS fails ({reason(error)})") from None

    def tls(self) -> str | None:
        """Version and cipher, or None without TLS."""
        if not isinstance(self._socket, ssl.SSLSocket):
            return None
        cipher = self._socket.cipher()
        return f"{self._socket.version()} {cipher[0] if cipher else ''}".strip()

    def application(self) -> str | None:
        """What TLS has agreed on by ALPN, if anything."""
        return self._socket.selected_alpn_protocol() if isinstance(self._socket, ssl.SSLSocket) else None

    def send(self, data: bytes) -> None:
        """Send all of it."""
        try:
            self._socket.settimeout(self.bounds.left_s())
            self._socket.sendall(data)
        except OSError as error:
            self.bounds.left_s()
            raise WireError(f"the reply breaks off ({reason(error)})") from None

    def receive(self, most: int) -> bytes:
        """Some bytes, `most` at most; none when the other side has ended."""
        if not self._buffer:
            self._buffer += self._part()
        part = bytes(self._buffer[:most])
        del self._buffer[:most]
        return part

    def exactly(self, length: int) -> bytes:
        """So many bytes."""
        parts, missing = [], length
        while missing:
            part = self.receive(missing)
            if not part:
                raise WireError(f"the reply ends after {length - missing} bytes instead of {length}")
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def line(self, longest: int) -> bytes:
        """The next line without its end, which is a line feed with or without a carriage return before it."""
        seen = 0
        while (end := self._buffer.find(b"\n", seen)) < 0:
            seen = len(self._buffer)
            if seen > longest:
                break
            part = self._part()
            if not part:
                raise WireError("the reply breaks off: the connection is closed")
            self._buffer += part
        if end < 0 or end > longest:
            raise WireError(f"a line is longer than {format_size(longest)}")
        raw_line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return raw_line.removesuffix(b"\r")

    def close(self) -> None:
        """Drop the connection."""
        self._socket.close()

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _part(self) -> bytes:
        try:
            self._socket.settimeout(self.bounds.left_s())
            part = self._socket.recv(PART_BYTES)
        except OSError as error:
            self.bounds.left_s()
            raise WireError(f"the reply breaks off ({reason(error)})") from None
        self.bounds.spend(len(part))
        return part


def tls_context(ca_file: str | None, insecure: bool) -> ssl.SSLContext:
    """What TLS of a check trusts: as the engine does, names only where certificates hold them today.

    Raises PlanError when `ca_file` holds no certificate. Made only where TLS is wanted: it reads all authorities of
    the system.
    """
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except (OSError, ValueError) as error:
        raise PlanError(f"ca_file: {ca_file} holds no certificate ({reason(error)}): give a PEM file") from None
    context.hostname_checks_common_name = False
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def reason(error: Exception) -> str:
    """What an error of the system says."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def shown(data: bytes) -> str:
    """Bytes of the other side as text for a message, cut where they are many."""
    text = data[:200].decode("utf-8", "backslashreplace")
    return text + (" …" if len(data) > 200 else "")


def _not_connected(error: Exception, timeout_s: float) -> WireError:
    if isinstance(error, ConnectionRefusedError):
        return RefusedError("connection refused")
    if isinstance(error, TimeoutError):
        return SlowError(f"no connection within {format_duration(timeout_s)}")
    return WireError(f"cannot connect ({reason(error)})")
