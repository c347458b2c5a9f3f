"""One HTTP request at a time, by the standard library: for checks before timing, never for timing."""

import http.client
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from bakeoff.errors import TargetError
from bakeoff.plan.address import WebAddress, resolve
from bakeoff.plan.kinds.web import WebSettings, request_headers

LARGEST_BODY = 64 * 1024 * 1024


@dataclass(frozen=True)
class Reply:
    """A whole reply. `head_bytes` counts status line and headers as sent, `tls` is version and cipher."""

    status: int
    version: str
    headers: dict[str, str]
    head_bytes: int
    body: bytes
    kept_alive: bool
    tls: str | None

    @property
    def digest(self) -> str:
        """SHA-256 of the body in hex."""
        return sha256(self.body).hexdigest()


class _ExchangeError(Exception):
    """The connection failed in the middle; worth another try."""


class Prober:
    """Fetches from one contender. `addresses` is rotated so that the one that answered stands first."""

    def __init__(self, name: str, address: WebAddress, settings: WebSettings) -> None:
        self.name = name
        self.address = address
        self._settings = settings
        self._context = _tls_context(settings) if address.scheme == "https" else None
        self.addresses: Sequence[str] = resolve(address)
        self.repeated = 0

    def connect(self) -> None:
        """Make one connection and drop it. Raises TargetError that says why it cannot be made."""
        self._open().close()

    def fetch(self, path: str, tries: int = 3) -> Reply:
        """The reply to one GET on a connection of its own; `repeated` counts what had to be tried again.

        Raises TargetError when it fails `tries` times.
        """
        for left in range(tries - 1, -1, -1):
            try:
                return self._exchange(path)
            except _ExchangeError as error:
                if not left:
                    raise TargetError(f"{self.name} ({self.address.place}): {path}: {error}") from None
                self.repeated += 1
        raise AssertionError("unreachable")

    def _exchange(self, path: str) -> Reply:
        connection = self._open()
        try:
            connection.sendall(self._request(path))
            response = http.client.HTTPResponse(connection, method="GET")
            response.begin()
            body = response.read(LARGEST_BODY)
            headers = {name.lower(): value for name, value in response.getheaders()}
            stated = headers.get("content-length", "")
            if stated.isdigit() and len(body) < min(int(stated), LARGEST_BODY):
                raise http.client.IncompleteRead(body)
            return Reply(
                status=response.status,
                version="1.0" if response.version == 10 else "1.1",
                headers=headers,
                head_bytes=_head_bytes(response),
                body=body,
                kept_alive=not response.will_close,
                tls=_tls_facts(connection),
            )
        except TimeoutError:
            limit = self._settings.reply_timeout_s
            raise _ExchangeError(
                f"no reply within {limit:g} s: is the server overloaded, or reply_timeout too short?"
            ) from None
        except http.client.IncompleteRead as error:
            raise _ExchangeError(f"the body ends after {len(error.partial)} bytes, before its stated length") from None
        except (OSError, http.client.HTTPException) as error:
            raise _ExchangeError(f"the reply breaks off ({_reason(error)})") from None
        finally:
            connection.close()

    def _request(self, path: str) -> bytes:
        keep = self._settings.keep_alive
        lines = [f"GET {path} HTTP/{self._settings.http}", f"Host: {self.address.host_header}"]
        if self._settings.http == "1.1" and not keep:
            lines.append("Connection: close")
        if self._settings.http == "1.0" and keep:
            lines.append("Connection: keep-alive")
        lines += [f"{name}: {value}" for name, value in request_headers(self._settings)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")

    def _open(self) -> socket.socket:
        timeout = self._settings.connect_timeout_s
        where = f"{self.name} ({self.address.place})"
        try:
            plain = self._connect_plain(timeout)
        except ConnectionRefusedError:
            raise TargetError(f"{where}: connection refused: start the server, or correct the address") from None
        except TimeoutError:
            raise TargetError(
                f"{where}: no connection within {timeout:g} s: check address, route and firewall"
            ) from None
        except OSError as error:
            raise TargetError(f"{where}: cannot connect ({_reason(error)}): check address and network") from None
        plain.settimeout(self._settings.reply_timeout_s)
        if self._context is None:
            return plain
        try:
            return self._context.wrap_socket(plain, server_hostname=self.address.host)
        except ssl.SSLCertVerificationError as error:
            plain.close()
            raise TargetError(
                f"{where}: its certificate is not trusted ({error.verify_message}): name its authority "
                f"with --ca-file, "
                "or use --insecure"
            ) from None
        except OSError as error:
            plain.close()
            raise TargetError(f"{where}: TLS fails ({_reason(error)}): is this an http:// address?") from None

    def _connect_plain(self, timeout_s: float) -> socket.socket:
        if self.address.unix is not None:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(timeout_s)
            try:
                connection.connect(self.address.unix)
            except BaseException:
                connection.close()
                raise
            return connection
        last: OSError | None = None
        for text in self.addresses:
            host, _, port = text.rpartition(":")
            try:
                connection = socket.create_connection((host.strip("[]"), int(port)), timeout_s)
            except OSError as error:
                last = error
                continue
            self.addresses = (text, *(other for other in self.addresses if other != text))
            return connection
        raise last or OSError("no address")


def _tls_context(settings: WebSettings) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=settings.ca_file)
    if settings.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _tls_facts(connection: socket.socket) -> str | None:
    if not isinstance(connection, ssl.SSLSocket):
        return None
    cipher = connection.cipher()
    return f"{connection.version()} {cipher[0] if cipher else ''}".strip()


def _head_bytes(response: http.client.HTTPResponse) -> int:
    status_line = len(f"HTTP/1.1 {response.status} {response.reason}") + 2
    return status_line + sum(len(name) + len(value) + 4 for name, value in response.getheaders()) + 2


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
