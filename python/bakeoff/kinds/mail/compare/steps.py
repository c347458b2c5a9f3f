"""The steps of sending and of reading, and what they are called in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bakeoff.compare.parts_of_time import total_ns
from bakeoff.store.records import TrialRecord

SENDING, READING = "sending time", "reading time"
_SMTP = {
    "connect": "the greeting",
    "ehlo": "the reply to EHLO",
    "lhlo": "the reply to LHLO",
    "starttls": "turning to TLS",
    "auth": "the login",
    "mail": "the reply to MAIL",
    "rcpt": "the reply to RCPT",
    "data": "the reply to DATA",
    "envelope": "the replies to MAIL, RCPT and DATA",
    "body": "the final reply to a message",
    "quit": "the reply to QUIT",
}
_POP3 = {
    "connect": "the greeting",
    "capa": "the reply to CAPA",
    "stls": "turning to TLS",
    "user": "the reply to USER",
    "pass": "the reply to PASS",
    "auth": "the login",
    "stat": "the reply to STAT",
    "uidl": "the reply to UIDL",
    "list": "the reply to LIST",
    "retr": "the reply to RETR",
    "dele": "the reply to DELE",
    "quit": "the reply to QUIT",
}
WORDS = {f"{protocol}-{step}": words for protocol in ("smtp", "lmtp") for step, words in _SMTP.items()} | {
    f"pop3-{step}": f"{words} by POP3" for step, words in _POP3.items()
}


def parts_of_time(trials: Iterable[TrialRecord]) -> Mapping[str, Mapping[str, float]]:
    """Time of each step of each side, ns, of those that went well."""
    sides: dict[str, dict[str, float]] = {SENDING: {}, READING: {}}
    for operation in (operation for trial in trials for operation in trial.per_operation):
        parts = sides[READING if operation.name.startswith("pop3-") else SENDING]
        time_ns = total_ns(operation.service.mean_ns, operation.service.count)
        parts[operation.name] = parts.get(operation.name, 0.0) + time_ns
    return sides
