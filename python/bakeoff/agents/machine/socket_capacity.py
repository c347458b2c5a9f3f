"""What the sockets of a plan need of this machine, and what it has: local ports, open files, queues of listeners."""

from dataclasses import dataclass
from pathlib import Path

from bakeoff.agents.machine.proc import read_text, whole
from bakeoff.core.errors import GeneratorError

SPARE_FILES = 128
WIDEN_PORTS = "sysctl -w net.ipv4.ip_local_port_range='1024 65535'"
# So many connections of a load thread wait for the server's close; one for each of its sessions, if these are more, as
# far as the limit of open files allows (crates/platform/src/net/event_loop/leaving.rs).
LEAVING_LEAST = 64
TIME_WAIT_S = 60  # TCP_TIMEWAIT_LEN of the kernel, no setting
REUSE_S = 1  # a port in TIME_WAIT may be used again after it, where tcp_tw_reuse says so


@dataclass(frozen=True)
class Machine:
    """What this machine allows; None where it does not tell. `reuse` is tcp_tw_reuse: 0 never, 1 always, 2 loopback."""

    ports: int | None
    reuse: int
    listen_queue: int | None


@dataclass(frozen=True)
class Demand:
    """What the highest load step of a plan asks of one machine that sends load.

    `load_threads` are those of the plan and `threads_at_work` those that have a client. `pin` are the processors that
    they are bound to, and `loopback` the contenders that run on the same machine. `addresses` are those that it
    connects from. `closes` is how many connections to one contender a trial ends from this side within TIME_WAIT: 0
    where servers end them, None where only their speed decides.
    """

    sessions: int
    threads_at_work: int = 1
    addresses: int = 1
    closes: int | None = 0
    by_port: bool = True
    leaves: bool = True
    loopback: tuple[str, ...] = ()
    all_loopback: bool = False
    load_threads: int = 1
    pin: tuple[int, ...] | None = None


def open_files(demand: Demand) -> int:
    """Descriptors: one for each session, those of connections whose close is awaited, and some for the rest."""
    leaving = LEAVING_LEAST * demand.threads_at_work if demand.leaves else 0
    return demand.sessions + leaving + SPARE_FILES


def check_ports(demand: Demand, machine: Machine) -> list[str]:
    """Warnings about local ports. Raises GeneratorError when there are too few for the sessions alone."""
    if machine.ports is None or not demand.by_port:
        return []
    ports = machine.ports * demand.addresses
    has = f"{_count(machine.ports, 'local port')} × {_count(demand.addresses, 'source address', 'source addresses')}"
    more = -(-demand.sessions // machine.ports)
    mend = f"widen them (`{WIDEN_PORTS}`) or connect from more addresses (--source-addresses)"
    if demand.sessions > ports:
        raise GeneratorError(
            f"the highest load step opens {demand.sessions:,} connections to one contender at once, and this machine "
            f"has {has} for them: {mend}; {more} are enough"
        )
    hold_s = REUSE_S if machine.reuse == 1 or (machine.reuse == 2 and demand.all_loopback) else TIME_WAIT_S
    if demand.closes == 0 or (demand.closes is not None and demand.closes + demand.sessions <= ports):
        return []
    needs = "each connection" if demand.closes is None else f"each of {demand.closes:,} connections of a trial"
    return [
        f"{needs} is closed from this side and holds its port for {hold_s} s; {has} allow "
        f"{ports / hold_s:,.0f} connections/s to one contender, and a trial that needs more is voided: {mend}, or end "
        "connections by reset (--close-with-reset)"
    ]


def check_queues(demand: Demand, machine: Machine) -> list[str]:
    """A warning when listeners of this machine cannot queue the sessions of the highest load step."""
    if machine.listen_queue is None or not demand.loopback or demand.sessions <= machine.listen_queue:
        return []
    return [
        f"{' and '.join(demand.loopback)} can queue {_count(machine.listen_queue, 'connection')} at most "
        f"(net.core.somaxconn of this machine), and the highest load step opens {demand.sessions:,} at once: `sysctl "
        f"-w net.core.somaxconn={demand.sessions}`, then start the server again with a backlog as long"
    ]


def this_machine(root: Path = Path("/proc/sys/net")) -> Machine:
    """The facts of this machine."""
    return Machine(
        ports=_ports(read_text(root / "ipv4/ip_local_port_range"), read_text(root / "ipv4/ip_local_reserved_ports")),
        reuse=whole(read_text(root / "ipv4/tcp_tw_reuse")) or 0,
        listen_queue=whole(read_text(root / "core/somaxconn")),
    )


def _ports(span: str, reserved: str) -> int | None:
    """How many ports `first last` holds without those reserved, such as `8080,9000-9010`."""
    bounds = [whole(word) for word in span.split()]
    if len(bounds) != 2 or bounds[0] is None or bounds[1] is None:
        return None
    free = set(range(bounds[0], bounds[1] + 1))
    for part in filter(None, reserved.split(",")):
        first, _, last = part.partition("-")
        free -= set(range(whole(first) or 0, (whole(last or first) or 0) + 1))
    return len(free)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
