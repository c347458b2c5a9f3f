"""Whatever a server sends, a check ends in time and in memory, with one sentence or none."""

import random
import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.core.errors import ContenderError, PlanError
from bakeoff.kinds.app import run as app_check
from bakeoff.kinds.app.run import AppCheck
from bakeoff.kinds.mail.plan import mail_settings
from bakeoff.kinds.mail.run import MailCheck
from bakeoff.kinds.mail.talk import HandshakeError, probe_handshake
from bakeoff.kinds.web.run import WebCheck
from bakeoff.plan.model import Plan
from bakeoff.run.contenders.probe_connection import Bounds, ProbeError, SlowError
from bakeoff.run.contenders.reset import reset
from bakeoff.run.kind import Check
from bakeoff.testdata.mail.address import parse_mail_address
from tests.control import PATIENCE_S
from tests.unit.run.fake import plan_for
from tests.unit.run.hostile import Hostile, dripping, endless, saying

# A server that drips is slower than this by its own pauses, however fast the machine is.
SHORT = {"reply_timeout": "150ms", "connect_timeout": "200ms"}
# Where bytes are the bound, no machine is too slow.
PATIENT = {"reply_timeout": f"{PATIENCE_S:g}s", "connect_timeout": f"{PATIENCE_S:g}s"}
MANY = 64 << 20
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
SMTP = b"220 mx\r\n250-mx\r\n250 PIPELINING\r\n221 bye\r\n"
POP3 = b"+OK pop\r\n" * 3 + b"+OK\r\nUSER\r\nUIDL\r\n.\r\n+OK\r\n"
# The reply to a hello: its head, and how the server was set up.
HELLO = struct.pack("<IBBBB9Q", 80 - 4 + 40, 0xB5, 1, 0, 0, *[0] * 9)
HELLO += struct.pack("<QQIIIIII", 1 << 20, 0, 4, 1, 0, 1 << 20, 100, 0)


def web(server: Hostile, **settings: str) -> tuple[Check, Plan]:
    plan = plan_for(f"http://{server.place}/", suite="web-url", **{**PATIENT, **settings})
    return WebCheck(plan), plan


def mail(sending: Hostile, reading: Hostile, folder: Path, **settings: str) -> tuple[Check, Plan]:
    users = folder / "users.csv"
    users.write_text("".join(f"u{i},pw{i},bakeoff.test\n" for i in range(100)))
    address = f"smtp={sending.place},pop3={reading.place}"
    plan = plan_for(address, suite="mail-pop", users=str(users), **{**PATIENT, **settings})
    return MailCheck(plan), plan


def app(server: Hostile, monkeypatch: pytest.MonkeyPatch) -> tuple[Check, Plan]:
    monkeypatch.setattr(app_check, "GREETING_S", 0.15)
    plan = plan_for(server.place, suite="app")
    return AppCheck(plan), plan


def refused(check: Check, plan: Plan) -> str:
    with pytest.raises(ContenderError) as answers:
        check.answers(plan.contenders[0])
    with pytest.raises(ContenderError):
        check.examine(plan.contenders[0])
    return str(answers.value)


@pytest.mark.parametrize(
    ("start", "text"),
    [
        (b"", OK),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n", b"X-Slow: " + b"y" * 60 + b"\r\n\r\n" + b"z" * 60),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n", b"z" * 60),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"2\r\nok\r\n" * 10 + b"0\r\n\r\n"),
    ],
)
def test_a_dripped_page_is_as_slow_as_its_last_byte(start: bytes, text: bytes) -> None:
    with dripping(text, start) as server:
        assert "no complete reply within 150ms" in refused(*web(server, **SHORT))


def test_dripped_mail_and_app_servers_are_too_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with dripping(SMTP) as smtp, dripping(b"+OK " + b"p" * 60 + b"\r\n" + POP3) as pop3:
        check, plan = mail(smtp, pop3, tmp_path, **SHORT)
        assert "smtp at" in refused(check, plan)
        with pytest.raises(HandshakeError, match="no complete reply within 350ms"):
            probe_handshake(parse_mail_address(plan.contenders[0].address).reading, mail_settings(plan.settings))
    with dripping(HELLO) as server:
        assert "no answer within 0.15 s" in refused(*app(server, monkeypatch))


def test_a_server_that_drips_after_its_reset_does_not_hold_the_run_up(tmp_path: Path) -> None:
    with dripping(OK) as server:
        check, plan = web(server, **SHORT)
        contender = plan.contenders[0].model_copy(update={"reset": "true", "ready_timeout_s": 0.1})
        with pytest.raises(ContenderError, match="after its reset"):
            reset(contender, lambda: check.answers(contender))


@pytest.mark.parametrize(
    ("start", "part", "words"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n", "interim replies"),
        (b"HTTP/1.1 200 OK\r\n", b"A: b\r\n", "head of the reply is too long"),
        (b"HTTP/1.1 200 OK\r\nA: ", b"b" * 1000, "a line is longer than"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1", b";" * 1000, "a line is longer than"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"A: b\r\n", "trailer"),
    ],
)
def test_an_endless_head_ends(start: bytes, part: bytes, words: str) -> None:
    with endless(start, part, MANY) as server:
        assert words in refused(*web(server))
        assert server.sent < 8 * MANY // 2, "most of it was never read"


SETTINGS = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
PING = bytes((0, 0, 8, 6, 0, 0, 0, 0, 0)) + b"12345678"
# `:status 200`, and the end of the stream.
HTTP2 = SETTINGS + bytes((0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88))


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", r"it answers 'HTTP/1.1 400 Bad Request': it does not speak HTTP/2 with"),
        (b"", "it closes when it is spoken to in HTTP/2: it does not speak HTTP/2 with prior knowledge"),
        (b"SSH-2.0-OpenSSH\r\n", "it breaks HTTP/2"),
        (SETTINGS + bytes((0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 2)), r"it resets the stream \(INTERNAL_ERROR\)"),
        (SETTINGS + bytes((0, 0, 8, 7, 0, *[0] * 11, 11)), r"it ends the connection \(ENHANCE_YOUR_CALM\)"),
    ],
)
def test_what_is_no_http_2_is_told(reply: bytes, words: str) -> None:
    with saying(reply) as server:
        assert re.search(words, refused(*web(server, http="2")))
    with saying(HTTP2) as server:
        check, plan = web(server, http="2")
        check.answers(plan.contenders[0])


def test_frames_without_content_end() -> None:
    with endless(SETTINGS, PING, MANY) as server:
        assert "it breaks HTTP/2" in refused(*web(server, http="2"))
        assert server.sent < MANY, "most of it was never read"


@pytest.mark.parametrize("alert", [0, 40, 112, 120, 255])
def test_a_mail_server_that_ends_the_handshake_by_an_alert_is_named(tmp_path: Path, alert: int) -> None:
    """Seen: a traceback of an alert of protocols, for which nobody had asked."""
    with saying(bytes((0x15, 3, 3, 0, 2, 2, alert))) as smtp, saying(POP3) as pop3:
        _, plan = mail(smtp, pop3, tmp_path)
        place = parse_mail_address(f"smtps={smtp.place},pop3={pop3.place}").sending
        with pytest.raises(HandshakeError, match=r"TLS fails|breaks off"):
            probe_handshake(place, mail_settings(plan.settings))


def test_endless_mail_ends(tmp_path: Path) -> None:
    with endless(b"", b"220-more\r\n", MANY) as smtp, saying(POP3) as pop3:
        assert "this is not SMTP, or it does not end: '220-more'" in refused(*mail(smtp, pop3, tmp_path))
        assert smtp.sent < MANY
    with saying(SMTP) as smtp, endless(b"+OK\r\n" * 3 + b"+OK\r\n", b"CAPABILITY\r\n", MANY) as pop3:
        check, plan = mail(smtp, pop3, tmp_path)
        # What it can do is of interest and no more, but its mailboxes cannot be looked at.
        with pytest.raises(ContenderError, match="its mailboxes could not be looked at"):
            check.examine(plan.contenders[0])
        assert pop3.sent < 4 * MANY and "pop3 offers" not in check.facts()["contenders"]["a"]


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 garbage\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloworld\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: ²\r\n\r\n".encode(),
        b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
        b"HTTP/1.1 20\xb2 OK\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"\xff" * 300,
        b"",
    ],
)
def test_a_malformed_reply_is_refused_in_one_sentence(reply: bytes) -> None:
    with saying(reply) as server:
        assert "\n" not in refused(*web(server))


def test_a_capability_that_is_no_text_is_no_fault(tmp_path: Path) -> None:
    with saying(SMTP) as smtp, saying(b"+OK\r\n" * 3 + b"+OK\r\n\xff\r\n \r\n.\r\n+OK\r\n") as pop3:
        check, plan = mail(smtp, pop3, tmp_path)
        with pytest.raises(ContenderError, match="its mailboxes could not be looked at"):  # the rest is no POP3
            check.examine(plan.contenders[0])
        assert check.facts()["contenders"]["a"]["pop3 banner"] == "+OK"


def mangled(rng: random.Random, text: bytes) -> bytes:
    """`text` with some bytes changed, left out, doubled or cut, or noise."""
    data = bytearray(text)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(data) + 1)
        data[at : at + rng.randrange(3)] = rng.choice([rng.randbytes(2), b"\r\n", b"-", b"9" * 40, b"", b"\xff\0"])
    return bytes(data) if rng.random() < 0.8 else rng.randbytes(rng.randrange(200))


def looked_at(make: Callable[[], tuple[Check, Plan]]) -> None:
    """Only what a user can put right may come out."""
    check, plan = make()
    for look in (check.answers, check.examine):
        try:
            look(plan.contenders[0])
        except (ContenderError, PlanError) as error:
            assert str(error)
    check.compare()
    check.facts()


@pytest.mark.parametrize("seed", range(40))
def test_random_bytes_bring_nothing_but_sentences(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    with saying(mangled(rng, rng.choice([OK, chunked]))) as server:
        looked_at(lambda: web(server))
    with saying(mangled(rng, HTTP2)) as server:
        looked_at(lambda: web(server, http="2"))
    with saying(mangled(rng, HELLO)) as server:
        looked_at(lambda: app(server, monkeypatch))
    with saying(mangled(rng, SMTP)) as smtp, saying(mangled(rng, POP3)) as pop3:
        looked_at(lambda: mail(smtp, pop3, tmp_path))


def test_bounds_are_those_of_all_exchanges_of_a_check() -> None:
    now = [0.0]
    bounds = Bounds(10, 100, lambda: now[0])
    bounds.spend(60)
    now[0] = 4.0
    assert bounds.left_s() == 6.0 and bounds.left_bytes == 40
    with pytest.raises(ProbeError, match="longer than 100 B"):
        bounds.spend(41)
    now[0] = 10.0
    with pytest.raises(SlowError, match="within 10s"):
        bounds.left_s()
