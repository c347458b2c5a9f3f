"""Many load machines on one: a head, three agents and two servers with one known difference, in about a minute.

As root each is a machine of its own, made of namespaces on a bridge (tests/cluster/machines.py); else all are on
127.0.0.1. Nothing is left of it but the folder with the run file and the report.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tests.cluster.machines import Bench, Machine, lacking

AGENTS = 3
FAST_MS, SLOW_MS = 2.0, 2.5
SUITE = ["web-url", "--keep-alive", "--http", "1.1", "--clients", "6", "--blocks", "6"]
SUITE += ["--length", "1200ms", "--ramp-up", "100ms", "--ramp-down", "100ms"]
SUITE += ["--start-spread", "50ms"]  # of agents that share processors; 5 ms is for machines of their own
PORT, SPAN = 7379, 40  # not those of a cluster that may run here
BAKEOFF = str(Path(sys.executable).with_name("bakeoff"))
TOKEN = "bakeoff/cluster/token"  # below XDG_STATE_HOME


@dataclass
class Here:
    """This machine in the part of machine `number` of several."""

    number: int
    state: Path
    address: str = "127.0.0.1"
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = f"agent-{self.number}"

    def command(self, words: Sequence[str]) -> list[str]:
        """How a command is run there."""
        return ["env", f"XDG_STATE_HOME={self.state}", BAKEOFF, *words[1:]]

    def token(self) -> Path:
        """Where the token lies, as it is reached from here."""
        return self.state / TOKEN

    @property
    def ports(self) -> list[str]:
        """What keeps its ports apart from those of the others."""
        return ["--ports", str(PORT + SPAN * self.number)]


@dataclass
class Apart:
    """A machine of the bench."""

    machine: Machine
    ports: Sequence[str] = ()

    @property
    def address(self) -> str:
        """That of its interface."""
        return self.machine.address

    @property
    def name(self) -> str:
        """Its hostname."""
        return self.machine.name

    def command(self, words: Sequence[str]) -> list[str]:
        return self.machine.inside(["env", "HOME=/tmp/home", "XDG_STATE_HOME=/tmp/state", BAKEOFF, *words[1:]])

    def token(self) -> Path:
        return self.machine.path(f"/tmp/state/{TOKEN}")


Place = Here | Apart


@contextmanager
def places() -> Iterator[list[Place]]:
    """The head, the agents, and where the servers are."""
    count = AGENTS + 2
    if lacking():
        with tempfile.TemporaryDirectory(prefix="bakeoff-demo-") as folder:
            tell(f"No root here ({lacking()}): head, agents and servers are all on 127.0.0.1.")
            yield [Here(number, Path(folder)) for number in range(count)]
        return
    bench = Bench()
    try:
        made = bench.add(count)
        tell(f"{count} machines, each in namespaces of its own (network, /tmp, processes, hostname), on one bridge.")
        yield [Apart(machine) for machine in made]
    finally:
        bench.remove()


def main() -> None:
    """Runs the demo; the exit code is that of what failed."""
    folder = Path("demo").absolute() / f"cluster-{datetime.now():%Y%m%d-%H%M%S}"
    folder.mkdir(parents=True)
    with places() as (head, *agents, servers), ExitStack() as stack:
        cluster = f"{head.address}:{PORT}"
        run(head, ["bakeoff", "cluster", "start", "--bind", head.address, "--port", str(PORT)])
        stack.callback(run, head, ["bakeoff", "cluster", "stop"])
        stack.enter_context(joined(agents, cluster, head.token()))
        run(head, ["bakeoff", "cluster", "status"])
        brisk, steady = (stack.enter_context(serving(servers, delay_ms)) for delay_ms in (FAST_MS, SLOW_MS))
        tell(
            f"\nTwo built-in servers: brisk answers after {FAST_MS} ms, steady after {SLOW_MS} ms; all else is equal. "
            f"So brisk must\nwin by a little less than {SLOW_MS / FAST_MS:g} times, whichever machines ask. {AGENTS} "
            "agents share each number of clients."
        )
        contenders = [f"brisk={brisk}", f"steady={steady}", "--cluster", cluster, "--agents", str(AGENTS)]
        run(head, ["bakeoff", "run", *SUITE, *contenders, "-o", str(folder / "run.bakeoff")])
        run(head, ["bakeoff", "report", str(folder / "run.bakeoff"), "-o", str(folder / "report.html")])


@contextmanager
def joined(agents: Sequence[Place], cluster: str, token: Path) -> Iterator[None]:
    """Bring the token to the machines and let them join beside each other; at the end they leave as they came."""
    for agent in agents:
        if isinstance(agent, Apart):
            agent.token().parent.mkdir(parents=True, exist_ok=True)
            agent.token().write_text(token.read_text())
            agent.token().chmod(0o600)
    run_parallel(agents, lambda agent: ["join", cluster, "--name", agent.name, *agent.ports, "--detach"])
    try:
        yield
    finally:
        run_parallel([agent for agent in agents if isinstance(agent, Apart)], lambda agent: ["stop"])


def run_parallel(places: Sequence[Place], words: Callable[[Place], list[str]]) -> None:
    """Run a command of `bakeoff cluster` on all these machines at the same time; the demo ends when one fails."""
    running = []
    for place in places:
        command = ["bakeoff", "cluster", *words(place)]
        tell(f"\n{place.name}$ {' '.join(command)}")
        running.append(subprocess.Popen(place.command(command)))
    codes = [process.wait() for process in running]
    if any(codes):
        sys.exit(max(codes))


@contextmanager
def serving(place: Place, delay_ms: float) -> Iterator[str]:
    """A built-in server there; gives its address."""
    words = ["bakeoff", "serve", "web", "--host", place.address, "--port", "0", "--delay", f"{delay_ms}ms"]
    with subprocess.Popen(place.command(words), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        try:
            if found is None:
                sys.exit("the built-in server did not start: try `bakeoff serve web`, which says why")
            yield found[0]
        finally:
            subprocess.run(["kill", *child_of(process.pid, place)], check=False)


def child_of(pid: int, place: Place) -> list[str]:
    """The process itself, which on a machine of the bench is a child of the one that went there."""
    if isinstance(place, Here):
        return [str(pid)]
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def run(place: Place, words: list[str]) -> None:
    """Show a command and run it; the demo ends when it fails."""
    tell(f"\n{place.name}$ {' '.join(words)}")
    code = subprocess.run(place.command(words), check=False).returncode
    if code:
        sys.exit(code)


def tell(text: str) -> None:
    """Says it at once, between what the commands say."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
