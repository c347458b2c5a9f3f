"""Measure the stored runs: tiny runs against built-in servers on loopback.

    python -m tests.stored_runs.make [CASE…]

A case that is there already is only replaced when it is named. Run files tell nothing of the machine
(`plain.py`). Write the expectation afterwards (`expect.py`).
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.cli.conftest import target
from tests.control import PATIENCE_S
from tests.faults.scenes import Stage
from tests.faults.servers import over_http2
from tests.shop import SESSION, session_file, shop
from tests.stored_runs.files import cases, pack, run_files
from tests.stored_runs.plain import MARK, make_plain

# The same wherever they are made, as run files tell it.
PLACE = Path("/var/tmp/bakeoff-stored-runs")
PROGRAM = [sys.executable, "-m", "tests.stored_runs.program"]
ROOT = Path(__file__).parents[2]
CODES = (0, 4, 5, 99)
FEW = ["--blocks", "2"]
ENOUGH = ["--blocks", "6"]
COUNTED = ["--operations", "30", "--length", "10min"]
PAGE = "/page-256-0.html"
CAMPAIGN = """
[campaign]
name = "lab"
title = "Two boxes"
blocks = 6

[[contender]]
name = "fast"
web = "{fast}"
files = "fast"

[[contender]]
name = "slow"
web = "{slow}"
files = "slow"

[[suite]]
suite = "web-url"
clients = "1"
operations = 20
length = "10min"

[[suite]]
suite = "file-mix"
weight = 2
clients = "1"
operations = 10
length = "10min"
"""


class Bench:
    """Where a case is made: `out` holds its run files, `place` what they are made of."""

    def __init__(self, stage: Stage, out: Path, stack: ExitStack) -> None:
        self.stage, self.place, self.out, self._stack = stage, stage.folder, out, stack

    def web(self, *words: str) -> str:
        """The address of a page of a server that is as told."""
        return self._stack.enter_context(target("web", "--page", "256", "--port", "0", *words)) + PAGE

    def of(self, corpus: str, *words: str) -> str:
        """The address of a server of a corpus."""
        root = str(self.place / corpus)
        return self._stack.enter_context(target("web", "--root", root, "--port", "0", *words))

    def serve(self, *words: str) -> str:
        """The address of a server of another kind."""
        return self._stack.enter_context(target(*words))

    def shop(self) -> str:
        """The address of a shop."""
        return self._stack.enter_context(shop()).url

    def over_http2(self, contender: str) -> str:
        """A contender behind a gateway that speaks HTTP/2."""
        name, _, url = contender.partition("=")
        front = self._stack.enter_context(over_http2(url.split("/")[2]))
        return f"{name}=http://{front}{PAGE}"

    def folders(self, *names: str) -> list[str]:
        """Folders as contenders."""
        for name in names:
            (self.place / name).mkdir(exist_ok=True)
        return [f"{name}={self.place / name}" for name in names]

    def do(self, *words: object) -> None:
        """A verb of Bakeoff."""
        texts = [str(word) for word in words]
        done = subprocess.run([*PROGRAM, *texts], cwd=ROOT, timeout=PATIENCE_S, check=False, capture_output=True)
        if done.returncode not in CODES:
            raise SystemExit(f"{' '.join(texts)} ended with {done.returncode}:\n{done.stderr.decode()}")

    def run(self, *words: object, verb: str = "run", name: str = "run") -> None:
        """A run of a case."""
        self.do(verb, *words, "-o", self.out / f"{name}.bakeoff")


def pair(bench: Bench) -> list[str]:
    """Two servers of which one holds replies back."""
    return [f"fast={bench.web()}", f"slow={bench.web('--delay', '4ms')}"]


def verdicts(bench: Bench) -> None:
    """Slower, as fast, and with failures; the delays are long beside all that a machine does to a trial."""
    fast = ("--delay", "20ms")
    contenders = [f"one={bench.web(*fast)}", f"same={bench.web(*fast)}", f"slow={bench.web('--delay', '60ms')}"]
    contenders += [f"failing={bench.web(*fast, '--status', '503/5')}"]
    bench.run("web-url", *contenders, "--clients", "2", *COUNTED, *ENOUGH, "--delta", "20%")


def disqualified(bench: Bench) -> None:
    """Damaged bytes."""
    contenders = [f"good={bench.of('static')}", f"bad={bench.of('static', '--corrupt', '3')}"]
    bench.run("web-static", *contenders, "--clients", "2", *COUNTED, *ENOUGH)


def web_static(bench: Bench) -> None:
    """Files of a corpus."""
    contenders = [f"a={bench.of('static')}", f"b={bench.of('static', '--delay', '2ms')}"]
    bench.run("web-static", *contenders, "--clients", "1,4", *COUNTED, *FEW)


def web_dynamic(bench: Bench) -> None:
    """Files and a computed page."""
    contenders = [f"a={bench.of('dynamic')}", f"b={bench.of('dynamic', '--delay', '2ms')}"]
    bench.run("web-dynamic", *contenders, "--clients", "1,4", *COUNTED, *FEW)


def web_session(bench: Bench) -> None:
    """Requests that follow each other."""
    session = session_file(bench.place, SESSION)
    bench.run(
        "web-session",
        f"a={bench.shop()}",
        f"b={bench.shop()}",
        "--session",
        session,
        "--clients",
        "1,2",
        *COUNTED,
        *FEW,
    )


def replay(bench: Bench) -> None:
    """A log at its own pace."""
    bench.run("replay", *pair(bench), "--log", bench.place / "access.log", "--speed", "20", *FEW)


def httperf(bench: Bench) -> None:
    """Connections with calls at a rate."""
    bench.run("httperf", *pair(bench), "--rate", "100", "--num-conns", "30", "--num-calls", "2", *FEW)


def app(bench: Bench) -> None:
    """An application server with two settings."""
    contenders = [f"a={bench.serve('app', '--port', '0')}", f"b={bench.serve('app', '--port', '0', '--threads', '1')}"]
    small = ["--upload", "1KiB", "--download", "1KiB", "--rounds", "100"]
    bench.run("app", *contenders, "--clients", "1,4", *small, *COUNTED, *FEW)


def mail_pop(bench: Bench) -> None:
    """Two mail servers, of which one loses mail."""
    users = bench.place / "users.csv"
    words = ("mail", "--smtp-port", "0", "--pop3-port", "0", "--users", str(users))
    contenders = [f"good={bench.serve(*words)}", f"bad={bench.serve(*words, '--lose', '1/10')}"]
    timing = ["--clients", "2", "--length", "400ms", "--ramp-up", "0s", "--ramp-down", "0s", "--drain-limit", "2s"]
    bench.run("mail-pop", *contenders, "--users", users, "--mailboxes", "5", "--sizes", "2KiB", *timing, *FEW)


def file_mix(bench: Bench) -> None:
    """The work of an office."""
    counted = ["--operations", "20", "--length", "10min"]
    bench.run("file-mix", *bench.folders("a", "b"), "--clients", "1,2", *counted, *FEW)


def file_matrix(bench: Bench) -> None:
    """File sizes by record sizes."""
    sizes = ["--file-sizes", "64KiB,256KiB", "--record-sizes", "4KiB", "--tests", "write,rewrite,read,reread"]
    bench.run("file-matrix", *bench.folders("a", "b"), "--length", "10min", *sizes, *ENOUGH)


def file_blocks(bench: Bench) -> None:
    """Block sizes by patterns."""
    sizes = ["--block-sizes", "4KiB,64KiB", "--region", "16MiB", "--cell-time", "20ms", "--ramp-up", "0s"]
    bench.run("file-blocks", *bench.folders("a", "b"), "--length", "10min", *sizes, *FEW)


def rates(bench: Bench) -> None:
    """Open-loop load."""
    slow = bench.web("--delay", "10ms", "--limit", "60/s")
    contenders = [f"fast={bench.web()}", f"slow={slow}"]
    bench.run("web-url", *contenders, "--rate", "50,100", "--most-connections", "8", *COUNTED, *ENOUGH)


def capacity(bench: Bench) -> None:
    """The highest rate under an objective."""
    contenders = [f"fast={bench.web('--limit', '400/s')}", f"slow={bench.web('--limit', '200/s')}"]
    search = [
        "--objective",
        "p99<=50ms,errors<=0.1%",
        "--least",
        "100",
        "--most",
        "1600",
        "--width",
        "20%",
        "--delta",
        "40%",
    ]
    timing = ["--length", "500ms", "--ramp-up", "0s", "--ramp-down", "0s", "--repeats", "1", "--shares", "50%"]
    bench.run("web-url", *contenders, *search, *timing, *FEW, verb="capacity")


def soak(bench: Bench) -> None:
    """Hours, shortened."""
    words = ["--for", "1s", "--interval", "200ms", "--clients", "2", "--think", "2ms"]
    bench.run("web-url", *pair(bench), *words, verb="soak")


def factors(bench: Bench) -> None:
    """A setting of a server by what it is asked for."""
    ports = [bench.web(*words).split("/")[2].rpartition(":")[2] for words in ((), ("--delay", "4ms"))]
    host = "http://127.0.0.1:{port}/{page}"
    levels = ["--factor", f"port={','.join(ports)}", "--factor", "page=one,two"]
    bench.run("web-url", f"box={host}", *levels, "--clients", "2", *COUNTED, *ENOUGH)


def campaign(bench: Bench) -> None:
    """Two suites of the same contenders."""
    bench.folders("fast", "slow")
    fast, slow = (one.partition("=")[2] for one in pair(bench))
    (bench.place / "lab.toml").write_text(CAMPAIGN.format(fast=fast, slow=slow))
    bench.run(bench.place / "lab.toml", name="lab")


def joined(bench: Bench) -> None:
    """One plan on two days."""
    contenders = pair(bench)
    for name in ("monday", "tuesday"):
        bench.run("web-url", *contenders, "--clients", "1,2", *COUNTED, "--blocks", "4", name=name)


def apart(bench: Bench) -> None:
    """Runs that share one contender alone."""
    fast, slow = pair(bench)
    for name, other in (("first", slow), ("second", f"third={bench.web('--delay', '1ms')}")):
        bench.run("web-url", fast, other, "--clients", "2", *COUNTED, *ENOUGH, name=name)


def agents(bench: Bench) -> None:
    """Two machines that send load together."""
    together = ["--cluster", "two", "--agents", "2", "--start-spread", "60s"]
    bench.run("web-url", *pair(bench), "--clients", "2,4", *COUNTED, *FEW, *together)


def interim(bench: Bench) -> None:
    """A run that ends when the verdict is clear."""
    words = ["--interim-analyses", "6,8", "--until", "clear", "--blocks", "8"]
    bench.run("web-url", *pair(bench), "--clients", "2", *COUNTED, *words)


def streams(bench: Bench) -> None:
    """Streams of HTTP/2, held to an objective."""
    words = ["--http", "2", "--streams", "2", "--objective", "p99<=20s"]
    bench.run("web-url", *map(bench.over_http2, pair(bench)), "--clients", "1,2", *COUNTED, *FEW, *words)


def noise(bench: Bench) -> None:
    """One server as two contenders."""
    bench.run(pair(bench)[0], "web-url", "--clients", "2", *COUNTED, *ENOUGH, verb="aa")


def imported(bench: Bench) -> None:
    """What another tool has printed."""
    text = "tests/data/iozone/read-write.txt"
    bench.do("import", "iozone", f"a={text}", f"b={text}", "-o", bench.out / "run.bakeoff")


MAKERS: dict[str, Callable[[Bench], None]] = {
    make.__name__.replace("_", "-"): make
    for make in (
        verdicts, disqualified, web_static, web_dynamic, web_session, replay, httperf, app, mail_pop, file_mix,
        file_matrix, file_blocks, rates, capacity, soak, factors, campaign, joined, apart, agents, interim, streams,
        noise, imported,
    )
}  # fmt: skip


@contextmanager
def stage() -> Iterator[Stage]:
    """A folder with what is asked for, that is the same on every machine."""
    PLACE.mkdir(mode=0o755)
    try:
        yield Stage(PLACE)
    finally:
        shutil.rmtree(PLACE)


def make(case: str, whole: Stage) -> None:
    """Measure a case and store it."""
    out = PLACE / "out"
    out.mkdir()
    with ExitStack() as stack:
        MAKERS[case](Bench(whole, out, stack))
    for path in run_files(out):
        make_plain(path)
    for path in out.rglob(MARK):
        path.unlink()
    pack(case, out)
    shutil.rmtree(out)


def main(names: list[str]) -> None:
    """Make these cases, or all that are not there."""
    with stage() as whole:
        for case in names or sorted(MAKERS.keys() - set(cases())):
            sys.stdout.write(f"{case}\n")
            sys.stdout.flush()
            make(case, whole)


if __name__ == "__main__":
    main(sys.argv[1:])
