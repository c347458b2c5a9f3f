"""The first words of SMTP, LMTP and POP3, for checks before timing, never for timing."""

import base64
import re

from bakeoff.kinds.mail.plan import MailSettings
from bakeoff.mail.address import Place, resolve_place
from bakeoff.run.wire import Bounds, Wire, WireError, shown, tls_context

SESSION_BYTES = 1024 * 1024
LINE_BYTES = 8 * 1024
LINES = 512
CLIENT_NAME = "bakeoff.invalid"

_REPLY = re.compile(rb"([2-5][0-9][0-9])(?:([ -])(.*))?", re.DOTALL)


class TalkError(WireError):
    """The other side says no; the words are its own."""


class PlainError(WireError):
    """It was asked for TLS, and says no."""


class OtherError(WireError):
    """It greets as a server of another protocol does; `protocol` is which."""

    def __init__(self, wanted: str, protocol: str, line: bytes) -> None:
        super().__init__(f"this is not {wanted}: {shown(line)!r}")
        self.protocol = protocol


def open_smtp(place: Place, mail: MailSettings) -> "Smtp":
    """A greeted session with a server of either protocol, secured as the plan says; all of it has to fit into
    connect_timeout and reply_timeout. Raises WireError, TargetError when the name is not known.
    """
    wire = _connect(place, mail)
    try:
        session = Smtp(wire, "LHLO" if place.protocol == "lmtp" else "EHLO")
        if mail.starttls:
            session.start_tls(place.host, mail)
        return session
    except BaseException:
        wire.close()
        raise


def open_pop3(place: Place, mail: MailSettings) -> "Pop3":
    """A greeted session, secured as the plan says. See `open_smtp`."""
    wire = _connect(place, mail)
    try:
        session = Pop3(wire)
        if mail.starttls:
            try:
                session.command("STLS")
            except TalkError as error:
                raise PlainError(f"STLS: {error}") from None
            wire.start_tls(tls_context(mail.ca_file, mail.insecure), place.host)
        return session
    except BaseException:
        wire.close()
        raise


def _connect(place: Place, mail: MailSettings) -> Wire:
    bounds = Bounds(mail.connect_timeout_s + mail.reply_timeout_s, SESSION_BYTES)
    wire = Wire.connect(resolve_place(place), bounds, mail.connect_timeout_s)
    if place.implicit_tls:
        try:
            wire.start_tls(tls_context(mail.ca_file, mail.insecure), place.host)
        except BaseException:
            wire.close()
            raise
    return wire


class _Session:
    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def close(self) -> None:
        """Drop the connection."""
        self.wire.close()

    def _send(self, words: str) -> None:
        if any(c in words for c in "\r\n\0"):
            raise WireError("a name with a line end cannot be sent")
        self.wire.send(words.encode("utf-8", "replace") + b"\r\n")


class Smtp(_Session):
    """A session; `offers` are the extensions that the server named, in small letters."""

    def __init__(self, wire: Wire, hello: str) -> None:
        super().__init__(wire)
        self._hello = hello
        self._expect(self._reply())
        self.offers = self._greet()

    def start_tls(self, host: str, mail: MailSettings) -> None:
        """Turn to TLS and greet again."""
        try:
            self._expect(self.command("STARTTLS"))
        except TalkError as error:
            raise PlainError(f"STARTTLS: {error}") from None
        self.wire.start_tls(tls_context(mail.ca_file, mail.insecure), host)
        self.offers = self._greet()

    def command(self, words: str) -> tuple[int, str]:
        """Send a command; the code and the text of the reply."""
        self._send(words)
        return self._reply()

    def recipient(self, sender: str, recipient: str) -> tuple[int, str]:
        """The reply to RCPT within a transaction that is taken back at once."""
        self._expect(self.command(f"MAIL FROM:<{sender}>"))
        reply = self.command(f"RCPT TO:<{recipient}>")
        self.command("RSET")
        return reply

    def quit(self) -> None:
        """Take leave; what the server says to it does not matter."""
        _take_leave(self)

    def _greet(self) -> list[str]:
        code, text = self.command(f"{self._hello} {CLIENT_NAME}")
        if code >= 300 and self._hello == "EHLO":
            self._expect(self.command(f"HELO {CLIENT_NAME}"))
            return []
        self._expect((code, text))
        return sorted({line.split()[0].lower() for line in text.split("\n")[1:] if line.split()})

    def _expect(self, reply: tuple[int, str]) -> None:
        if reply[0] >= 300:
            raise TalkError(f"{reply[0]} {reply[1]}".replace("\n", " ").strip())

    def _reply(self) -> tuple[int, str]:
        texts = []
        for _ in range(LINES):
            line = self.wire.line(LINE_BYTES)
            match = _REPLY.fullmatch(line)
            if match is None and line.startswith(b"+OK"):
                raise OtherError("SMTP", "pop3", line)
            if match is None:
                raise WireError(f"this is not SMTP: {shown(line)!r}")
            texts.append(shown(match[3] or b""))
            if match[2] != b"-":
                return int(match[1]), "\n".join(texts)
        raise WireError(f"a reply has more than {LINES} lines")


class Pop3(_Session):
    """A session; `banner` is the server's greeting."""

    def __init__(self, wire: Wire) -> None:
        super().__init__(wire)
        self.banner = self._reply()

    def command(self, words: str) -> str:
        """Send a command; the text behind +OK. Raises TalkError when it is refused."""
        self._send(words)
        return self._reply()

    def login(self, user: str, password: str, how: str = "user") -> None:
        """By USER and PASS, or by AUTH PLAIN when `how` is `plain`."""
        if how != "plain":
            self.command(f"USER {user}")
            self.command(f"PASS {password}")
            return
        token = base64.b64encode(f"\0{user}\0{password}".encode()).decode("ascii")
        self._send("AUTH PLAIN")
        line = self.wire.line(LINE_BYTES)
        if not line.startswith(b"+") or line.startswith(b"+OK"):
            raise TalkError(shown(line))
        self.command(token)

    def stat(self) -> tuple[int, int]:
        """Messages in the mailbox, and their bytes."""
        text = self.command("STAT")
        match = re.match(r"([0-9]{1,9}) ([0-9]{1,18})\b", text, re.ASCII)
        if match is None:
            raise WireError(f"it answers STAT by {text!r}")
        return int(match[1]), int(match[2])

    def capabilities(self) -> list[str]:
        """What the server can do. Raises TalkError when it does not know the question."""
        self.command("CAPA")
        names: set[str] = set()
        for _ in range(LINES):
            line = self.wire.line(LINE_BYTES)
            if line == b".":
                return sorted(names)
            names.add(shown(line.split()[0]) if line.split() else "")
        raise WireError(f"its list of capabilities has more than {LINES} lines")

    def quit(self) -> None:
        """Take leave; what the server says to it does not matter."""
        _take_leave(self)

    def _reply(self) -> str:
        line = self.wire.line(LINE_BYTES)
        if line.startswith(b"+OK"):
            return shown(line[3:].strip())
        if line.startswith(b"-ERR"):
            raise TalkError(shown(line))
        if line.startswith(b"220"):
            raise OtherError("POP3", "smtp", line)
        raise WireError(f"this is not POP3: {shown(line)!r}")


def _take_leave(session: Smtp | Pop3) -> None:
    try:
        session.command("QUIT")
    except WireError:
        pass
    finally:
        session.close()
