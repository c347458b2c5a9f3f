"""A few words with a mail server, by the engine: for checks before timing, never for timing."""

from collections.abc import Sequence
from dataclasses import dataclass

from bakeoff import _engine
from bakeoff.core.errors import PlanError
from bakeoff.core.units import format_duration, format_size
from bakeoff.kinds.mail.plan import MailSettings, pop3_side, smtp_side
from bakeoff.run.contenders.probe_connection import UNTRUSTED, ProbeError, shown, untrusted
from bakeoff.testdata.mail.address import READING, Place, resolve_place

SESSION_BYTES = 1024 * 1024

_CLEAR = (
    "speaks plain text: write smtp= or pop3= for it, with --starttls where it turns to TLS later; smtps= and pop3s= "
    "are for ports that begin with TLS"
)
_TLS = (
    "smtps= and pop3s= are for ports that begin with TLS, smtp= and pop3= for others; --insecure and --ca-file FILE "
    "are for certificates"
)


class HandshakeError(ProbeError):
    """Why there is no session; `told` says it behind the name of the place, with what to do."""

    def __init__(self, why: str, text: str | None = None) -> None:
        super().__init__(why)
        self.text = text or f"does not answer ({why}): is it running, and is the port right?"


@dataclass(frozen=True)
class Handshake:
    """What a server said: of itself (by SMTP what it offers, by POP3 its banner), to each step that it took, and to the
    one behind these where it refused one. `tls` is version and cipher.
    """

    greeting: str
    answers: Sequence[str]
    refusal: str | None
    tls: str | None


def probe_handshake(place: Place, mail: MailSettings, *steps: str) -> Handshake:
    """Open a session, secured as the plan says, take `steps` until one is refused, and leave. The connection
    has connect_timeout, all that follows connect_timeout and reply_timeout together.

    Raises TalkError where there is no session, ContenderError when the name is not known, PlanError for what TLS
    cannot be made with.
    """
    if any(c in step for step in steps for c in "\r\n\0"):
        raise HandshakeError("a name with a line end cannot be sent")
    side = (pop3_side if place.protocol in READING else smtp_side)(place, mail, resolve_place(place))
    try:
        greeting, answers, refusal, tls = _engine.probe_mail(
            side.model_dump_json(), steps, mail.connect_timeout_s, _reply_s(mail), SESSION_BYTES
        )
    except _engine.SpecError as error:
        raise PlanError(str(error)) from None
    except _engine.EngineError as error:
        raise _fault(place, mail, *error.args) from None
    return Handshake(_text(greeting), [*map(_text, answers)], None if refusal is None else shown(refusal), tls)


def _reply_s(mail: MailSettings) -> float:
    return mail.connect_timeout_s + mail.reply_timeout_s


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def _fault(place: Place, mail: MailSettings, fault: str, raw: bytes, *_: int) -> HandshakeError:
    why = shown(raw)
    if fault in UNTRUSTED:
        reason = untrusted(fault, place.host, why)
        return HandshakeError(reason, f"cannot be trusted: {reason}")
    if fault == "clear_text":
        return HandshakeError(_CLEAR, _CLEAR)
    if fault in ("tls", "other_application"):
        return HandshakeError(f"TLS fails ({why})", f"does not speak TLS as it should ({why}): {_TLS}")
    if fault == "plain":
        step = "STLS" if place.protocol in READING else "STARTTLS"
        advice = "let the server offer it, or leave --starttls out"
        return HandshakeError(f"{step}: {why}", f"does not turn to TLS ({step}: {why}): {advice}")
    return _malformed(place, raw) if fault == "malformed" else HandshakeError(_words(mail, fault, why))


def _malformed(place: Place, raw: bytes) -> HandshakeError:
    protocol, other, greets = ("POP3", "smtp", b"220") if place.protocol in READING else ("SMTP", "pop3", b"+OK")
    why = f"this is not {protocol}, or it does not end: {shown(raw)!r}"
    if raw.startswith(greets):
        advice = "name both ports, as in smtp=HOST:PORT,pop3=HOST:PORT; HOST:PORT alone is one for both"
        return HandshakeError(why, f"is a server of {other} ({why}): {advice}")
    return HandshakeError(
        why, "begins with TLS: write smtps= or pop3s= for it" if raw.startswith(b"\x15\x03") else None
    )


def _words(mail: MailSettings, fault: str, why: str) -> str:
    slow = f"no complete reply within {format_duration(_reply_s(mail))}"
    return {
        "refused": "connection refused",
        "not_connected": f"no connection within {format_duration(mail.connect_timeout_s)}",
        "unreachable": f"cannot connect ({why})",
        "slow": slow,
        "tls_slow": slow,
        "long": f"the reply is longer than {format_size(SESSION_BYTES)}",
        "early": "it sends more before TLS begins",
        "closed": "the reply breaks off: the connection is closed",
        "broken": f"the reply breaks off ({why})",
        "denied": why,
    }[fault]
