import hashlib
import subprocess
from pathlib import Path

import pytest

from bakeoff.testdata.corpus.dynamic import CGI, body


def cgi(tmp_path: Path, query: str, method: str = "GET") -> tuple[bytes, bytes]:
    program = tmp_path / "bakeoff.cgi"
    program.write_text(CGI)
    done = subprocess.run(
        ["/bin/sh", str(program)],
        env={"QUERY_STRING": query, "REQUEST_METHOD": method},
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    head, _, page = done.stdout.partition(b"\r\n\r\n")
    return head, page


@pytest.mark.parametrize("size", [64, 65, 113, 114, 115, 300, 1024, 8242, 8243, 16384, 131072])
@pytest.mark.parametrize("n", [0, 7, 999_999_999])
def test_the_cgi_program_gives_the_documented_bytes(tmp_path: Path, n: int, size: int) -> None:
    head, page = cgi(tmp_path, f"n={n}&size={size}")
    assert page == body(n, size)
    assert b"Content-Type: text/html" in head and f"Content-Length: {size}".encode() in head
    assert len(page) == size


@pytest.mark.parametrize("query", ["size=300&n=7", "n=0007&size=0300", "x=1&n=7&size=300&y"])
def test_other_spellings_of_the_same_query(tmp_path: Path, query: str) -> None:
    assert cgi(tmp_path, query)[1] == body(7, 300)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "n=7",
        "size=300",
        "n=-7&size=300",
        "n=7&size=63",
        "n=7&size=131073",
        "n=x&size=300",
        "n=7&size=",
        "n=1234567890&size=300",
        "n=7&size=99999999",
        "n=$(id)&size=300",
        "n=*&size=300",
    ],
)
def test_a_bad_query_is_status_400(tmp_path: Path, query: str) -> None:
    head, page = cgi(tmp_path, query)
    assert head.startswith(b"Status: 400")
    assert page == b"bad query: use ?n=0..999999999&size=64..131072\n"
    assert f"Content-Length: {len(page)}".encode() in head


def test_head_has_no_body(tmp_path: Path) -> None:
    head, page = cgi(tmp_path, "n=7&size=300", "HEAD")
    assert b"Content-Length: 300" in head and page == b""


def test_the_formula_is_fixed() -> None:
    assert (
        hashlib.sha256(body(7, 300)).hexdigest() == "83fbc678662989d296ca14f654ca47ef6cb95ec4b4fa2990d9c2131e4a2c5278"
    )
    page = body(7, 300)
    assert page.startswith(b"<!DOCTYPE html><title>bakeoff</title><pre>\n1000000007 1000055433 ....")
    assert page.endswith(b"</pre>\n")
    for n, size in ((-1, 300), (10**9, 300), (0, 63), (0, 131073)):
        with pytest.raises(ValueError, match="n is 0 to 999999999"):
            body(n, size)
