"""The series of telemetry: what each of them is, in which unit, and whether it is counted.

Of what is counted an interval has the growth, of the rest the value at its end. Names of disks and links stand between:
`disk/sda/busy_s`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Meaning:
    """What a series is; `counted` when an interval has its growth."""

    text: str
    counted: bool = True


CPU = ("user", "system", "iowait", "irq", "softirq", "steal", "idle")
MACHINE = {f"cpu_{state}_s": Meaning(f"processor time of the machine: {state}") for state in CPU} | {
    "run_queue": Meaning("threads that run or wait for a processor", counted=False),
    "blocked": Meaning("threads that wait for a disk", counted=False),
    "memory_used_bytes": Meaning("memory that is not available for new work", counted=False),
    "tcp_retransmits": Meaning("segments sent again"),
    "listen_overflows": Meaning("connections that found the accept queue full"),
    "listen_drops": Meaning("connections that a listening socket dropped, for any reason"),
    "psi_cpu_s": Meaning("time in which something waited for a processor"),
    "psi_memory_s": Meaning("time in which something waited for memory"),
    "psi_io_s": Meaning("time in which something waited for a disk"),
}
OWN = {
    "own_user_s": Meaning("processor time of the server itself: user"),
    "own_system_s": Meaning("processor time of the server itself: system"),
    "own_unwaited": Meaning("processes of the server that ended and that no other one of it waited for"),
    "own_memory_bytes": Meaning("memory of the server itself", counted=False),
    "own_processes": Meaning("processes of the server", counted=False),
}
DISK = {
    "reads": Meaning("reads that ended"),
    "writes": Meaning("writes that ended"),
    "read_bytes": Meaning("bytes read"),
    "written_bytes": Meaning("bytes written"),
    "busy_s": Meaning("time in which something was in flight"),
}
LINK = {
    "in_bytes": Meaning("bytes received"),
    "out_bytes": Meaning("bytes sent"),
    "in_packets": Meaning("packets received"),
    "out_packets": Meaning("packets sent"),
}
OF_PARTS = {"disk": DISK, "net": LINK}
# The names of what kernels without CONFIG_PSI do not tell.
PRESSURE = ("psi_cpu_s", "psi_memory_s", "psi_io_s")


def meaning(series: str) -> Meaning | None:
    """What a series is; None for one that nobody knows."""
    head, _, rest = series.partition("/")
    if rest:
        return OF_PARTS.get(head, {}).get(rest.rpartition("/")[2])
    return MACHINE.get(series) or OWN.get(series)
