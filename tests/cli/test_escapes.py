"""Nothing that a server or a file says steers the terminal of whoever reads it."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.forked import Forks
from tests.unit.compare.synthetic import run
from tests.unit.run.hostile import saying
from tests.unit.store.builders import stored

EVIL = "\x1b[2J\x1b]0;owned\x07\u202egnp\x9b31m\u2066\x7f"
STEERING = ("\x1b[2J", "\x1b]0", "\x07", "\u202e", "\x9b", "\u2066", "\x7f")


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Forks:
    folder = tmp_path_factory.mktemp("escapes")
    record = run(blocks=6)
    trials = [replace(record.trials[0], state="failed", reason=f"it said {EVIL}"), *record.trials[1:]]
    stored(replace(record, name=f"name {EVIL}", trials=tuple(trials)), folder / "r.bakeoff")
    return Forks(folder)


def shown(forks: Forks, *words: str, code: int = 0) -> str:
    found, out, said = forks.run(*words)
    assert found == code, said
    for sign in STEERING:
        assert sign not in out and sign not in said, (words, sign)
    return out + said


def test_what_a_run_file_holds_is_shown_and_not_done(forks: Forks) -> None:
    for words in (("show",), ("compare",), ("show", "--json"), ("compare", "--json")):
        text = shown(forks, words[0], "r.bakeoff", *words[1:])
        assert "it said" not in text or "[2J" in text
    shown(forks, "report", "r.bakeoff", "-o", "r.html")
    page = (forks.folder / "r.html").read_text()
    assert "it said" in page
    for sign in STEERING:
        assert sign not in page


@pytest.mark.parametrize(
    "words",
    [
        ("run", f"web-static{EVIL}"),
        ("run", "web-url", f"a{EVIL}=http://127.0.0.1:1"),
        ("run", "web-url", f"a=http://{EVIL}"),
        ("run", "web-url", "a=http://127.0.0.1:1", "--headers", EVIL),
        ("plan", f"{EVIL}.toml"),
        ("plan", "evil.toml"),
        ("show", EVIL),
        (EVIL,),
        ("suites", EVIL),
        ("corpus", EVIL, "x"),
        ("export", "r.bakeoff", "--to", EVIL),
        ("access", EVIL),
        ("iozone", EVIL),
        ("serve", "web", "--delay", EVIL),
    ],
)
def test_what_a_command_line_or_a_plan_says_is_shown_and_not_done(forks: Forks, words: tuple[str, ...]) -> None:
    toml = EVIL.translate({ord(c): f"\\u{ord(c):04x}" for c in EVIL if not "\x20" <= c < "\x7f"})
    (forks.folder / "evil.toml").write_text(f'[plan]\nsuite = "web-url"\n"{toml}" = "{toml}"\n')
    assert "[2J" in shown(forks, *words, code=2) or "evil" not in words[-1]


@pytest.mark.parametrize(
    "reply",
    [
        EVIL.encode() + b"\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: " + EVIL.encode() + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nServer: " + EVIL.encode() + b"\r\nContent-Length: 1\r\n\r\n\x1b",
    ],
)
def test_what_a_server_says_is_shown_and_not_done(forks: Forks, reply: bytes) -> None:
    with saying(reply) as server:
        code, out, said = forks.run(
            *("run", "web-url", f"a=http://{server.place}/", "--clients", "1", "--length", "100ms", "--blocks", "1"),
            *("-o", "s.bakeoff"),
        )
        assert code in (0, 2, 3, 4)
        for sign in STEERING:
            assert sign not in out + said
        (forks.folder / "s.bakeoff").unlink(missing_ok=True)


def test_what_a_reset_says_is_shown_and_not_done(forks: Forks) -> None:
    words = ("run", "web-url", "a=http://127.0.0.1:1", "--reset", r"a=printf '\033[2J\033]0;owned\a'; false")
    assert "␛[2J" in shown(forks, *words, code=2)


def test_what_mail_servers_say_is_shown_and_not_done(forks: Forks, tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text("u1,pw1,b.test\n")
    with saying(b"554 " + EVIL.encode() + b"\r\n") as smtp, saying(b"-ERR " + EVIL.encode() + b"\r\n") as pop3:
        words = ("users", "check", str(tmp_path / "u.csv"), f"smtp={smtp.place}", f"pop3={pop3.place}")
        assert "␛[2J" in shown(forks, *words, code=1)
