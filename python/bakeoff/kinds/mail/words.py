"""Words for mail."""

from __future__ import annotations

from bakeoff.report.narrate.kind import WordsPart

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
STEPS = {f"{protocol}-{step}": words for protocol in ("smtp", "lmtp") for step, words in _SMTP.items()} | {
    f"pop3-{step}": f"{words} by POP3" for step, words in _POP3.items()
}

PART = WordsPart(
    client_option_words={
        "starttls": {"yes": "over STARTTLS", "no": "without STARTTLS"},
        "handshake_apart": {
            "yes": "with the end of the handshake written by itself",
            "no": "with the end of the handshake and the first command written together",
        },
        "pipelining": {"yes": "with SMTP's PIPELINING", "no": "without PIPELINING"},
        "smtp_login": {"yes": "with a login before sending", "no": "without a login before sending"},
        "insecure": {"yes": "without a look at certificates", "no": "with certificates checked"},
        "close_with_reset": {"yes": "with connections ended by a reset", "no": "with connections ended in order"},
    },
    step_words=STEPS,
)
