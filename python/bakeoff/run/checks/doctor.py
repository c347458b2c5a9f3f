"""What of a machine limits a run or makes its figures waver: each with its number, its effect, and what mends it."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from bakeoff.agents.machine.socket_capacity import REUSE_S, TIME_WAIT_S, WIDEN_PORTS, Demand, open_files
from bakeoff.agents.machine.vitals import Vitals
from bakeoff.core.thresholds import OTHER_LOAD_SHARE
from bakeoff.core.units import format_size
from bakeoff.run.outcome.disturbances import STOLEN_REPORTED, STOLEN_SHARE

SCHEMA = "bakeoff-doctor/1"

Level = Literal["mend", "note", "good", "unknown"]
LEVELS: tuple[Level, ...] = ("mend", "note", "good", "unknown")

# Clocks that are read without a call into the kernel; a call takes some hundred ns, twice in each operation.
QUICK_CLOCKS = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}
SLOW_CLOCK_NS = 300.0
# The highest load step of the suites is 60 clients; who asks for more asks for a thousand.
MANY_SESSIONS = 1000
# The widest range of local ports, but for the privileged ones.
WIDE_PORTS = 64_512
FEW_PORTS = 10_000
SHORT_QUEUE = 1024
FREE_MEMORY_BYTES = 500_000_000
FREE_DISK_BYTES = 1_000_000_000


@dataclass(frozen=True)
class Finding:
    """One thing about a machine. `level` is `mend` where figures should not be believed, or a run would not end
    well, before it is mended, `note` where it limits no more than `limits` says, `unknown` where the machine does
    not tell. `value` is the number in `unit`, `text` the same in words; `mend` is a command, or what to do.
    """

    name: str
    level: Level
    value: float | None
    unit: str
    text: str
    limits: str
    mend: str = ""


def examine(machine: Vitals) -> tuple[Finding, ...]:
    """All findings: those to mend first, and among equals those first that bend more figures."""
    findings = [check(machine) for check in CHECKS]
    return tuple(sorted(findings, key=lambda finding: LEVELS.index(finding.level)))


def findings_object(findings: tuple[Finding, ...]) -> dict[str, Any]:
    """The same as JSON values."""
    return {
        "schema": SCHEMA,
        "mend": sum(finding.level == "mend" for finding in findings),
        "findings": [asdict(finding) for finding in findings],
    }


def _unknown(name: str, unit: str, limits: str, why: str = "unknown on this machine") -> Finding:
    return Finding(name, "unknown", None, unit, why, limits)


def _load(machine: Vitals) -> Finding:
    limits = "what else runs takes its time from the generator, and from servers on this machine"
    share = machine.busy_share
    if share is None:
        return _unknown("other load", "share", limits)
    text = f"{share:.0%} of {_cores(machine.cores)} busy with other processes"
    level: Level = "mend" if share > OTHER_LOAD_SHARE else "good"
    return Finding("other load", level, share, "share", text, limits, "top -o %CPU" if level == "mend" else "")


def _steal(machine: Vitals) -> Finding:
    limits = f"time that the hypervisor gives to others: above {STOLEN_SHARE:.0%} of a trial the trial is voided"
    share, ever = machine.stolen_share, machine.stolen_since_boot
    if share is None or ever is None:
        return _unknown("stolen time", "share", limits)
    text = f"{share:.1%} now, {ever:.1%} since boot"
    if share > STOLEN_REPORTED or ever > STOLEN_REPORTED:
        mend = "measure on a quieter host, or on one that gives this guest processors of its own"
        return Finding("stolen time", "mend", share, "share", text, limits, mend)
    return Finding("stolen time", "good", share, "share", text, limits)


def _processors(machine: Vitals) -> Finding:
    limits = "load threads that run at once; servers on this machine take theirs from the same processors"
    logical = machine.environment.get("cpu", {}).get("logical") or machine.cores
    usable = machine.cores if machine.quota_cores is None else min(float(machine.cores), machine.quota_cores)
    if machine.quota_cores is not None and machine.quota_cores < machine.cores:
        text = f"{machine.quota_cores:g} of {machine.cores} allowed by a control group, which stops heavier use"
        mend = "echo max > /sys/fs/cgroup/…/cpu.max (or start the container without --cpus)"
        return Finding("processors", "mend", usable, "cores", text, limits, mend)
    if machine.cores < 2:
        return Finding("processors", "mend", usable, "cores", "1", limits, "use a machine with two or more processors")
    if machine.cores < logical:
        text, mend = f"{machine.cores} of {logical}", f"taskset -cp 0-{logical - 1} $$"
        return Finding("processors", "note", usable, "cores", text, limits, mend)
    return Finding("processors", "good", usable, "cores", str(machine.cores), limits)


def _governor(machine: Vitals) -> Finding:
    limits = "the clock of the processors follows the load, and response times follow the clock"
    cpu = machine.environment.get("cpu", {})
    governor = cpu.get("governor")
    if governor is None:
        why = "the host decides" if machine.environment.get("hypervisor") else "unknown on this machine"
        return _unknown("governor", "MHz", limits, why)
    if governor == "performance":
        return Finding("governor", "good", cpu.get("mhz"), "MHz", governor, limits)
    mend = "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
    return Finding("governor", "mend", cpu.get("mhz"), "MHz", governor, limits, mend)


def _clock(machine: Vitals) -> Finding:
    limits = "each operation reads the clock: a slow one is a part of every response time"
    source, cost = machine.environment.get("clocksource"), machine.clock_ns
    if source is None or cost is None:
        return _unknown("clock", "ns", limits)
    text = f"{source}, {cost:.0f} ns a reading"
    if source in QUICK_CLOCKS and cost < SLOW_CLOCK_NS:
        return Finding("clock", "good", cost, "ns", text, limits)
    better = [name for name in machine.clock_sources if name in QUICK_CLOCKS and name != source]
    if not better:
        return Finding("clock", "note", cost, "ns", text, limits, "use a machine whose kernel trusts its tsc")
    mend = f"echo {better[0]} > /sys/devices/system/clocksource/clocksource0/current_clocksource"
    return Finding("clock", "mend", cost, "ns", text, limits, mend)


def _virtual(machine: Vitals) -> Finding:
    limits = "a guest's processors, clock and network are shared with its host: compare only what ran on the same one"
    kind = machine.environment.get("hypervisor")
    if kind is None:
        return Finding("virtual machine", "good", 0.0, "", "no", limits)
    return Finding("virtual machine", "note", 1.0, "", str(kind), limits, "measure on a machine without a hypervisor")


def _memory(machine: Vitals) -> Finding:
    limits = "sessions and histograms of the generator; a machine that swaps measures its disk"
    free = machine.memory_free_bytes
    if free is None:
        return _unknown("free memory", "bytes", limits)
    if free < FREE_MEMORY_BYTES:
        return Finding("free memory", "mend", free, "bytes", format_size(free), limits, "top -o %MEM")
    return Finding("free memory", "good", free, "bytes", format_size(free), limits)


def _files(machine: Vitals) -> Finding:
    limit = machine.open_files
    if limit is None:
        return Finding("open files", "good", None, "files", "no limit", "sessions at once")
    sessions = sessions_within(limit)
    limits = f"{sessions:,} sessions at once"
    mend = "ulimit -Hn 1048576   (as root, in the shell that starts bakeoff)"
    if sessions < MANY_SESSIONS:
        return Finding("open files", "mend", limit, "files", f"{limit:,}", limits, mend)
    if machine.sockets.ports is not None and sessions < machine.sockets.ports:
        return Finding("open files", "note", limit, "files", f"{limit:,}", limits, mend)
    return Finding("open files", "good", limit, "files", f"{limit:,}", limits)


def sessions_within(files: int) -> int:
    """How many sessions of one load thread fit into a limit of open files."""
    fewest, most = 0, max(files, 1)
    while fewest < most:
        middle = (fewest + most + 1) // 2
        fewest, most = (middle, most) if open_files(Demand(middle)) <= files else (fewest, middle - 1)
    return fewest


def _ports(machine: Vitals) -> Finding:
    ports = machine.sockets.ports
    hold_s = REUSE_S if machine.sockets.reuse == 1 else TIME_WAIT_S
    if ports is None:
        return _unknown("local ports", "ports", "connections to one contender")
    limits = (
        f"{ports:,} connections at once from one address to one contender, and {ports / hold_s:,.0f} new ones a second "
        f"where this side closes them ({hold_s} s each)"
    )
    text, mend = f"{ports:,}", WIDEN_PORTS
    if ports < FEW_PORTS:
        return Finding("local ports", "mend", ports, "ports", text, limits, mend)
    if ports < WIDE_PORTS:
        return Finding("local ports", "note", ports, "ports", text, limits, mend)
    return Finding("local ports", "good", ports, "ports", text, limits)


def _time_wait(machine: Vitals) -> Finding:
    waiting, ports = machine.time_waits, machine.sockets.ports
    limits = "ports that connections closed a short while ago still hold"
    if waiting is None:
        return _unknown("time-wait", "sockets", limits)
    reuse = {0: "never used again early", 1: f"used again after {REUSE_S} s"}.get(
        machine.sockets.reuse, f"used again after {REUSE_S} s on loopback alone"
    )
    text = f"{waiting:,} sockets; ports are {reuse}"
    if ports is not None and waiting > ports / 2:
        return Finding("time-wait", "mend", waiting, "sockets", text, limits, f"sleep {TIME_WAIT_S}")
    if machine.sockets.reuse == 0:
        return Finding("time-wait", "note", waiting, "sockets", text, limits, "sysctl -w net.ipv4.tcp_tw_reuse=2")
    return Finding("time-wait", "good", waiting, "sockets", text, limits)


def _queue(machine: Vitals) -> Finding:
    length = machine.sockets.listen_queue
    limits = "connections that wait for a server on this machine (net.core.somaxconn); more are refused or asked again"
    if length is None:
        return _unknown("listen queue", "connections", limits)
    if length < SHORT_QUEUE:
        mend = "sysctl -w net.core.somaxconn=4096   (then start the servers again)"
        return Finding("listen queue", "mend", length, "connections", f"{length:,}", limits, mend)
    return Finding("listen queue", "good", length, "connections", f"{length:,}", limits)


def _ring(machine: Vitals) -> Finding:
    limits = "more than one outstanding I/O of file-blocks (--outstanding)"
    switch = machine.io_uring_disabled
    if switch is None:
        return _unknown("io_uring", "", limits, "no switch in this kernel")
    if switch:
        text = {1: "for members of a group alone"}.get(switch, "switched off")
        return Finding("io_uring", "note", switch, "", text, limits, "sysctl -w kernel.io_uring_disabled=0")
    return Finding("io_uring", "good", switch, "", "allowed", limits)


def _disk(machine: Vitals) -> Finding:
    limits = "run files and reports in this folder; file suites need their own space on the contenders"
    free = machine.disk_free_bytes
    if free is None:
        return _unknown("free disk", "bytes", limits)
    if free < FREE_DISK_BYTES:
        mend = "df -h .   (make room, or choose another place with -o)"
        return Finding("free disk", "mend", free, "bytes", format_size(free), limits, mend)
    return Finding("free disk", "good", free, "bytes", format_size(free), limits)


def _cores(count: int) -> str:
    return "1 core" if count == 1 else f"{count} cores"


# By how many figures each may bend.
CHECKS: tuple[Callable[[Vitals], Finding], ...] = (
    _load,
    _steal,
    _processors,
    _governor,
    _clock,
    _virtual,
    _memory,
    _files,
    _ports,
    _time_wait,
    _queue,
    _ring,
    _disk,
)
