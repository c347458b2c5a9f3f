"""Session scripts, lists and headers: what they mean, and errors that name file and line."""

import random
from pathlib import Path

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.kinds.httperf.files import Burst, Call, read_headers, read_hosts, read_sessions, read_uris
from bakeoff.kinds.httperf.values import check_header, unescape

MANUAL = """\
# session 1
/foo.html think=2.0
\t/pict1.gif
\t/pict2.gif
/foo2.html method=POST contents='Post data'
\t/pict3.gif

# session 2
/foo3.html method=POST contents="Multiline\\
data and \\"more\\"\\n"
/foo4.html method=HEAD
"""


def test_a_script_is_read_as_its_manual_has_it(tmp_path: Path) -> None:
    (tmp_path / "s").write_text(MANUAL)
    one, two = read_sessions(str(tmp_path / "s"))
    assert one == (
        Burst((Call("/foo.html"), Call("/pict1.gif"), Call("/pict2.gif")), 2.0),
        Burst((Call("/foo2.html", "POST", "Post data"), Call("/pict3.gif")), None),
    )
    assert two == (
        Burst((Call("/foo3.html", "POST", 'Multilinedata and "more"\n'),), None),
        Burst((Call("/foo4.html", "HEAD"),), None),
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "s has no call"),
        ("# nothing\n\n", "s has no call"),
        ("\t/a\n", "s line 1: the first call of a session is not indented"),
        ("/a\n\n  /b\n", "s line 3: the first call of a session is not indented"),
        ("/a\n/b method=FETCH\n", "s line 2: method=FETCH is none of DELETE, GET"),
        ("/a think=soon\n", "s line 1: think=soon is no time in seconds"),
        ("/a think=.\n", "s line 1: think=. is no time"),
        ("/a contents=x\n", "s line 1: contents stand between quotes"),
        ("/a contents='x\n/b\n", "s line 1: the quotes of contents do not end"),
        ("/a colour=blue\n", "s line 1: 'colour=blue' is none of method="),
        ("/a contents='x'y\n", "s line 1: 'y' is none of"),
        ("/a\x01b\n", "s line 1: '/a\\x01b' is no URI"),
        ("/" + "a" * 20_000, "is no URI"),
    ],
)
def test_errors_name_file_and_line(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "s").write_text(text)
    with pytest.raises(PlanError) as refused:
        read_sessions(str(tmp_path / "s"))
    assert sentence in str(refused.value)


def test_bytes_stay_bytes(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(b"/\xe4 contents='\xff\\t'\r\n")
    assert read_sessions(str(tmp_path / "s")) == ((Burst((Call("/\xe4", "GET", "\xff\t"),)),),)


def test_lists_are_separated_by_zero_bytes(tmp_path: Path) -> None:
    (tmp_path / "l").write_bytes(b"/a\0/b?c=d\0\0/e")
    assert read_uris(str(tmp_path / "l")) == ("/a", "/b?c=d", "/e")
    (tmp_path / "l").write_bytes(b"a.test\n\x00[::1]\x00127.0.0.1\x00")
    assert read_hosts(str(tmp_path / "l")) == ("a.test", "[::1]", "127.0.0.1")


@pytest.mark.parametrize(
    ("read", "content", "sentence"),
    [
        (read_uris, b"", "l names no URI"),
        (read_uris, b"\0\0", "l names no URI"),
        (read_uris, b"/a\n/b\n", "l, entry 1 (they end with a zero byte): '/a\\n/b' is no URI"),
        (read_uris, b"/a\0/b c\0", "l, entry 2 (they end with a zero byte)"),
        (read_hosts, b"a\0b c\0", "l, entry 2: 'b c' is no host"),
        (read_headers, b"A: b\nnonsense\n", "l line 2: 'nonsense' is not a header"),
    ],
)
def test_lists_that_are_none_are_refused(read: object, content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "l").write_bytes(content)
    with pytest.raises(PlanError) as refused:
        read(str(tmp_path / "l"))  # type: ignore[operator]
    assert sentence in str(refused.value)


@pytest.mark.parametrize("place", ["/dev/zero", "/nowhere", "/tmp", "\0"])
def test_what_is_no_file_is_refused(place: str) -> None:
    for read in (read_sessions, read_uris, read_hosts, read_headers):
        with pytest.raises(PlanError):
            read(place)


@pytest.mark.parametrize(
    ("text", "octets"),
    [
        (r"A: b\n", "A: b\r\n"),
        (r"A: b\r\a", "A: b\r\n"),
        (r"\101:\\n", "A:\\n"),
        (r"A: b\nC: d", "A: b\r\nC: d"),
        ("A: é", "A: \xc3\xa9"),
        (r"A: \351", "A: \xe9"),
    ],
)
def test_escapes_of_headers(text: str, octets: str) -> None:
    assert unescape(text) == octets


def test_headers_end_their_lines() -> None:
    assert check_header("A: b") == "A: b\r\n" and check_header("A: b\r\nC: d\n") == "A: b\r\nC: d\r\n"
    for wrong in ("A", ": b", "A b: c", "A: b\r\n\r\nGET /", "A: \0"):
        with pytest.raises(ValueError, match="is not a header"):
            check_header(wrong)


def test_random_bytes_are_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    chance, place = random.Random(5), tmp_path / "s"
    pieces = [b"/a", b" ", b"\t", b"\n", b"\\\n", b"method=", b"GET", b"think=", b"1.5", b"contents=", b"'", b'"', b"#"]
    read = 0
    for _ in range(2000):
        parts = [chance.choice(pieces) if chance.random() < 0.95 else chance.randbytes(3) for _ in range(12)]
        place.write_bytes(b"".join(parts))
        for reader in (read_sessions, read_uris, read_hosts, read_headers):
            try:
                reader(str(place))
                read += 1
            except PlanError as error:
                assert str(place) in str(error)
    assert read > 100
