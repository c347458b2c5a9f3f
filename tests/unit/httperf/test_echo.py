"""The echoed command line: what Debian's httperf 0.9.0 prints for these, character by character."""

from pathlib import Path

import pytest

from bakeoff.compat.httperf.echo import echo
from bakeoff.compat.httperf.options import parse

TAIL = "--send-buffer=4096 --recv-buffer=16384"
HEAD = "httperf --client=0/1 --server=localhost --port=1 --uri=/"
ONE = "--num-conns=1 --num-calls=1"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("", f"{HEAD} {TAIL} {ONE}"),
        ("--rate=1e2 --num-conns 2", f"{HEAD} --rate=100 {TAIL} --num-conns=2 --num-calls=1"),
        ("--rate 1234567.8", f"{HEAD} --rate=1.23457e+06 {TAIL} {ONE}"),
        ("--rate 0", f"{HEAD} {TAIL} {ONE}"),
        ("--period d0.1", f"{HEAD} --rate=10 {TAIL} {ONE}"),
        ("--period 0.1", f"{HEAD} --rate=10 {TAIL} {ONE}"),
        ("--period=u0.1,0.2", f"{HEAD} --period=u0.1,0.2 {TAIL} {ONE}"),
        ("--period e0.1", f"{HEAD} --period=e0.1 {TAIL} {ONE}"),
        ("--http-version 1.0", f"{HEAD} --http-version=1.0 {TAIL} {ONE}"),
        ("--client 1/4", f"httperf --client=1/4 --server=localhost --port=1 --uri=/ {TAIL} {ONE}"),
        ("--wset 10,0.3", f"{HEAD} {TAIL} {ONE} --wset=10,0.300"),
        ("--print-reply", f"{HEAD.replace('httperf', 'httperf --print-reply')} {TAIL} {ONE}"),
        (
            "--print-reply=header --print-request=body",
            f"{HEAD.replace('httperf', 'httperf --print-reply=header --print-request=body')} {TAIL} {ONE}",
        ),
        ("--max-connections 9 --max-piped 7", f"{HEAD} --max-connections=9 --max-piped-calls=7 {TAIL} {ONE}"),
        ("--recv-buffer 99", f"{HEAD} --send-buffer=4096 --recv-buffer=99 {ONE}"),
        (
            "--server-name foo.example",
            f"httperf --client=0/1 --server=localhost --server_name=foo.example --port=1 --uri=/ {TAIL} {ONE}",
        ),
        ("--no-host-hdr", f"{HEAD} {TAIL} {ONE}"),
        ("--ssl --ssl-cip foo", f"{HEAD} {TAIL} --ssl --ssl-ciphers=foo {ONE}"),
        ("--burst-length 3 --num-calls 3", f"{HEAD} {TAIL} --num-conns=1 --num-calls=3 --burst-length=3"),
        ("--burst-length 1", f"{HEAD} {TAIL} {ONE}"),
        ("--wsess 1,2,0.12345", f"{HEAD} {TAIL} --wsess=1,2,0.123"),
        ("--wsesspage 1,1,1", f"{HEAD} {TAIL} --wsesspage=1,1,1.000"),
        ("--timeout 1e-7", f"{HEAD.replace('httperf', 'httperf --timeout=1e-07')} {TAIL} {ONE}"),
        ("--timeout 100000000", f"{HEAD.replace('httperf', 'httperf --timeout=1e+08')} {TAIL} {ONE}"),
        (
            "--hog --close-with-reset --think-timeout 1.5 --timeout 2.25 -v --print-reply --print-request=header "
            "--failure-status 404 --retry-on-failure --wsess 1,1,0 --session-cookies --num-conns 2 --method HEAD "
            "--add-header X:y\\nZ:w\\n --burst-length 1 --wset 10,0.5 --ssl-no-reuse --max-connections 3 "
            "--max-piped-calls 5 --http-version 1.0 --server 127.0.0.1 --server-name foo --rate 3.3333333",
            "httperf --verbose --print-reply --print-request=header --hog --close-with-reset --think-timeout=1.5 "
            "--timeout=2.25 --client=0/1 --server=127.0.0.1 --server_name=foo --port=1 --uri=/ --failure-status=404 "
            "--http-version=1.0 --max-connections=3 --max-piped-calls=5 --rate=3.33333 --send-buffer=4096 "
            "--retry-on-failure --recv-buffer=16384 --session-cookies --ssl-no-reuse --add-header='X:y\\nZ:w\\n' "
            "--method=HEAD --wsess=1,1,0.000 --wset=10,0.500",
        ),
    ],
)
def test_it_is_that_of_httperf(words: str, line: str) -> None:
    assert echo(parse(["--port", "1", *words.split()])) == line


def test_a_script_is_named(tmp_path: Path) -> None:
    script = tmp_path / "sessions"
    script.write_text("/a\n")
    options = parse(["--port", "1", "--wsesslog", f"2,0.5,{script}", "--rate", "10"])
    assert echo(options) == f"{HEAD} --rate=10 {TAIL} --wsesslog=2,0.500,{script}"


def test_without_a_port_it_is_that_of_the_scheme() -> None:
    assert "--port=443" in echo(parse(["--ssl"])) and "--port=80" in echo(parse([]))
