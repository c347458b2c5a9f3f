"""`bakeoff httperf` beside Debian's httperf 0.9.0 on the same nginx: the same lines, and counts that are equal.

Every command line is given to both at the same time. Lines are held against each other with their numbers masked;
numbers that the clock makes are held to what the command line itself says of them, and to nothing absolute. What
differs on purpose is in `ON_PURPOSE`, and in docs/how-to/come-from-httperf.md.
"""

import io
import re
import shlex
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.compat.httperf.options import parse
from bakeoff.compat.httperf.progress import Progress
from bakeoff.compat.httperf.run import run
from tests.control import PATIENCE_S
from tests.ports import free_port
from tests.servers.conftest import certificate, need, wait_until_open

SCRIPT = """\
# two sessions
/ think=0.01
\t/set/1.html
\t/set/2.html
/set/3.html method=POST contents='a=b'

/set/4.html method=HEAD
/set/5.html
"""

# {place} is nginx, {tls} it over TLS, {closed} where nobody listens, {silent} who never answers, {rude} who hangs up.
COMMANDS = """\
{place}
{place} --num-conns 10
{place} --num-conns=10 --rate=100
{place} --num-con 10 --ra 100
{place} --num-conns 5 --num-calls 4
{place} --num-conns 5 --num-calls 6 --burst-length 3
{place} --num-conns 5 --num-calls 6 --burst-length 2
{place} --num-conns 5 --num-calls 3 --rate 100
{place} --uri /big.bin --num-conns 5
{place} --uri /big.bin --num-conns 5 --num-calls 3 --rate 50
{place} --uri /missing --num-conns 5
{place} --uri /moved --num-conns 5
{place} --uri /broken --num-conns 5
{place} --uri /chunked/ --num-conns 5
{place} --method HEAD --num-conns 5
{place} --method OPTIONS --num-conns 5
{place} --http-version 1.0 --num-conns 5
{place} --http-version 1.0 --num-conns 3 --num-calls 3
{place} --http-version=1.1 --num-conns 3
{place} --add-header 'X-A: b\\n' --num-conns 3
{place} --add-header 'X-A: b\\nX-C: d\\n' --num-conns 3
{place} --add-header 'Connection: close\\n' --num-conns 3
{place} --server-name other.test --num-conns 3
{place} --no-host-hdr --num-conns 3
{place} --no-host-hdr --http-version 1.0 --num-conns 3
{place} --close-with-reset --num-conns 5
{place} --hog --num-conns 5
{place} --send-buffer 8192 --recv-buffer 65536 --uri /big.bin
{place} --recv-buffer 2048 --uri /big.bin
{place} --timeout 60 --num-conns 5
{place} --timeout 60 --think-timeout 30 --num-conns 5
{place} --period e0.01 --num-conns 10
{place} --period u0.005,0.02 --num-conns 10
{place} --period d0.01 --num-conns 10
{place} --period 0.01 --num-conns 10
{place} --client 1/4 --num-conns 5
{place} --wset 10,0.5 --uri /set --num-conns 20
{place} --wset 10,1 --uri /set --num-conns 20
{place} --wset 10,0 --uri /set --num-conns 20 --client 2/4
{place} --wlog y,{list} --num-conns 10
{place} --wlog y,{list} --num-conns 2 --num-calls 4
{place} --wsess 5,4,0.01 --rate 50
{place} --wsess 5,4,0.01
{place} --wsess 4,6,0.01 --burst-length 3
{place} --wsess 4,6,0.01 --burst-length 3 --rate 50
{place} --wsess 4,6,0 --burst-length 3 --max-piped-calls 1
{place} --wsess 3,5,0 --max-connections 1
{place} --wsess 3,4,0 --session-cookies --uri /cookie
{place} --wsess 3,4,0 --failure-status 404 --uri /missing
{place} --wsess 3,4,0 --http-version 1.0
{place} --wsess 3,6,0.05 --burst-length 3 --max-connections 2 --http-version 1.0
{place} --wsesslog 6,0.05,{script} --session-cookies
{place} --wsesslog 3,0,{script} --http-version 1.0
{place} --period u0.01,0.05 --wsess 10,2,0.01
{place} --period e0.02 --wsess 10,2,0.01
{place} --print-reply --print-request --wsess 2,3,0
{place} --wsesslog 4,0.01,{script} --rate 50
{place} --wsesslog 3,0,{script}
{place} --print-reply=header
{place} --print-reply=body
{place} --print-reply
{place} --print-request=header
{place} --print-request --num-calls 2
{place} -v --num-conns 3
{place} --rate 2 --num-conns 12
{tls} --num-conns 3
{tls} --num-conns 3 --num-calls 3
{tls} --num-conns 3 --ssl-no-reuse
{tls} --wsess 3,4,0.01 --rate 50
{closed} --num-conns 5
{closed} --num-conns 5 --rate 100
{silent} --num-conns 3 --timeout 0.3
{silent} --wsess 3,4,0 --timeout 0.2 --think-timeout 0.2 --rate 20
{silent} --num-conns 3 --timeout 0.1 --think-timeout 0.2 --rate 50
{rude} --num-conns 3
{rude} --wsess 3,2,0 --rate 50
"""

# Numbers that the clock, the processor or the version makes, by the beginning of their line.
MEASURED = {
    "Maximum connect burst length": (0,),
    "Total:": (3,),
    "Connection rate:": (0, 1, 2),
    "Connection time [ms]: min": (0, 1, 2, 3, 4),
    "Connection time [ms]: connect": (0,),
    "Request rate:": (0, 1),
    "Reply rate [replies/s]:": (0, 1, 2, 3),
    "Reply time [ms]:": (0, 1),
    "CPU time [s]:": (0, 1, 2, 3, 4),
    "Net I/O:": (0, 1),
    "Session rate [sess/s]:": (0, 1, 2, 3),
    "Session lifetime": (0,),
    "Session failtime": (0,),
    "httperf: maximum number of open descriptors": (0,),
}
NUMBER = re.compile(r"(?<![\w^*.])\d+(?:\.\d+)?")
# Whose request it is stays visible; the names are of one length, so that sizes are equal.
AGENTS = ("httperf/0.9.0", "httperf/0.9.1")
# What differs on purpose, by the words that follow the place: of a line its counts there and here.
ON_PURPOSE = {
    # httperf takes the empty line that ends a chunked body for a trailer, and sends one more where Host would be.
    "--uri /chunked/ --num-conns 5": [("Reply size", "155.0 6.0 2.0 163.0", "155.0 6.0 0.0 161.0")],
    "--no-host-hdr --num-conns 3": [("Request size", "47.0", "45.0")],
    "--no-host-hdr --http-version 1.0 --num-conns 3": [("Request size", "71.0", "69.0")],
}


@dataclass(frozen=True)
class Output:
    """What one of the two printed for a command line."""

    command: str
    theirs: list[str]
    ours: list[str]


def theirs(words: list[str]) -> list[str]:
    """Lines of Debian's httperf."""
    done = subprocess.run([need("httperf"), *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    return done.stdout.replace(*AGENTS).splitlines()


def ours(words: list[str]) -> list[str]:
    """Lines of this program, in this process: to load it for each command line would take longer than all of them."""
    options, out, texts = parse(words), list[str](), list[str]()
    assert not run(options, LocalAgent(), out.append, texts.append, Progress(io.StringIO(), options.settings, False))
    assert not texts
    return "".join(out).splitlines()


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What stands for the words in braces."""
    folder = tmp_path_factory.mktemp("httperf")
    plain, tls, log = free_port(), free_port(), folder / "output"
    (folder / "nginx.conf").write_text(configuration(folder, plain, tls))
    with log.open("wb") as out:
        command = [need("nginx"), "-c", str(folder / "nginx.conf"), "-p", str(folder)]
        nginx = subprocess.Popen(command, stdout=out, stderr=out)
    wait_until_open(plain, nginx, log)
    (folder / "list").write_bytes(b"/set/1.html\0/set/2.html\0/set/3.html\0")
    (folder / "script").write_text(SCRIPT)
    with socket.create_server(("127.0.0.1", 0)) as silent, socket.create_server(("127.0.0.1", 0)) as rude:
        hanging_up = ThreadPoolExecutor(1)
        hanging_up.submit(hang_up, rude)
        yield {
            "place": f"--server 127.0.0.1 --port {plain}",
            "tls": f"--server 127.0.0.1 --port {tls} --ssl",
            "closed": f"--server 127.0.0.1 --port {free_port()}",
            "silent": f"--server 127.0.0.1 --port {silent.getsockname()[1]}",
            "rude": f"--server 127.0.0.1 --port {rude.getsockname()[1]}",
            "list": str(folder / "list"),
            "script": str(folder / "script"),
        }
        rude.shutdown(socket.SHUT_RDWR)
        hanging_up.shutdown()
    nginx.terminate()
    nginx.wait(PATIENCE_S)


def configuration(folder: Path, plain: int, tls: int) -> str:
    """One worker, files of different sizes, and what answers in other ways."""
    root = folder / "root"
    (root / "set").mkdir(parents=True)
    (root / "index.html").write_text("hello\n")
    (root / "big.bin").write_bytes(b"x" * 100_000)
    for number in range(10):
        (root / f"set/{number}.html").write_bytes(b"y" * (100 + 10 * number))
    key, cert = certificate(folder)
    return f"""
daemon off; user root; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  access_log off; keepalive_requests 1000000; types {{ text/html html; }}
  server {{
    listen 127.0.0.1:{plain} backlog=4096; listen 127.0.0.1:{tls} ssl;
    ssl_certificate {cert}; ssl_certificate_key {key}; root {root};
    location /moved {{ return 302 /; }}
    location /broken {{ return 503; }}
    location /cookie {{ add_header Set-Cookie "a=b; Path=/"; alias {root}/index.html; }}
    location /chunked/ {{ ssi on; ssi_types *; alias {root}/; }}
  }}
}}"""


def hang_up(listener: socket.socket) -> None:
    """Ends every connection without a word when its request is there."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.recv(65536)


@pytest.fixture(scope="module")
def outputs(places: dict[str, str]) -> list[Output]:
    """Every command line, carried out by both at the same time; two command lines at once."""

    def carry_out(line: str) -> Output:
        words = shlex.split(line.format(**places))
        with ThreadPoolExecutor(1) as beside:
            other = beside.submit(theirs, words)
            mine = ours(words)
            return Output(line, other.result(), mine)

    with ThreadPoolExecutor(4) as workers:
        return list(workers.map(carry_out, COMMANDS.splitlines()))


def masked(line: str) -> str:
    """A line of the report with `N` for its numbers. Printed messages have a date."""
    if re.match("[RS][HBS][0-9]+:", line):
        return re.sub(r"(Date|ETag|Last-Modified): .*", r"\1", line)
    return line if line.startswith("httperf -") else NUMBER.sub("N", line)


def counts(lines: list[str]) -> list[tuple[str, list[str]]]:
    """The numbers of each line of the report that nothing but the work itself makes."""
    found = []
    for line in lines:
        measured = next((places for start, places in MEASURED.items() if line.startswith(start)), ())
        if re.match("[RS][HBS][0-9]+:|httperf -", line):
            continue
        numbers = NUMBER.findall(line)
        found.append((masked(line), [number for place, number in enumerate(numbers) if place not in measured]))
    return found


def test_there_are_command_lines_enough() -> None:
    assert len(COMMANDS.splitlines()) >= 40


def test_the_lines_are_those_of_httperf(outputs: list[Output]) -> None:
    for output in outputs:
        assert list(map(masked, output.ours)) == list(map(masked, output.theirs)), output.command


def test_all_counts_are_those_of_httperf_but_for_what_differs_on_purpose(outputs: list[Output]) -> None:
    met = set()
    for output in outputs:
        purpose = ON_PURPOSE.get(output.command.partition(" ")[2], [])
        for mine, other in zip(counts(output.ours), counts(output.theirs), strict=True):
            listed = [(there, here) for start, there, here in purpose if mine[0].startswith(start)]
            if listed:
                assert [(" ".join(other[1]), " ".join(mine[1]))] == listed, output.command
                met.add((output.command, mine[0]))
            else:
                assert mine == other, output.command
    assert len(met) == sum(map(len, ON_PURPOSE.values()))


def number(lines: list[str], line: str, place: int) -> float:
    """A number of the report."""
    (found,) = [text for text in lines if text.startswith(line)]
    return float(NUMBER.findall(found)[place])


def test_starts_are_not_before_their_time(outputs: list[Output], places: dict[str, str]) -> None:
    """The schedule is a lower bound that no machine can be too slow for."""
    for output in outputs:
        s = parse(shlex.split(output.command.format(**places))).settings
        if s.period is None and s.rates[0]:
            planned_s = (s.starts - 1) / s.rates[0]
            assert number(output.ours, "Total", 3) >= planned_s - 0.001, output.command


def test_a_connection_lasts_as_long_as_its_parts(outputs: list[Output]) -> None:
    """Of one call each: connecting, waiting and receiving are within its lifetime, but for rounding."""
    for output in outputs:
        total = [number(output.ours, "Total", place) for place in range(3)]
        if total[0] == total[2] and total[0] > 0:
            parts_ms = number(output.ours, "Connection time [ms]: connect", 0)
            parts_ms += number(output.ours, "Reply time", 0) + number(output.ours, "Reply time", 1)
            assert number(output.ours, "Connection time [ms]: min", 1) >= parts_ms - 0.2, output.command


def test_given_up_calls_took_their_time_out(outputs: list[Output]) -> None:
    (one, *_) = [output for output in outputs if output.command.startswith("{silent}")]
    assert number(one.ours, "Total", 3) >= 3 * 0.3
