"""The series of telemetry: what each of them is, in which unit, and whether it is counted.

Of what is counted an interval has the growth, of the rest the value at its end. Names of disks and links stand between:
`disk/sda/busy_s`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CounterDoc:
    """What a series is; `counted` when an interval has its growth."""

    text: str
    counted: bool = True


CPU = ("user", "system", "iowait", "irq", "softirq", "steal", "idle")
MACHINE = {f"cpu_{state}_s": CounterDoc(f"processor time of the machine: {state}") for state in CPU} | {
    "run_queue": CounterDoc("threads that run or wait for a processor", counted=False),
    "blocked": CounterDoc("threads that wait for a disk", counted=False),
    "memory_used_bytes": CounterDoc("memory that is not available for new work", counted=False),
    "major_faults": CounterDoc("page faults that a disk had to serve"),
    "swapped_in_pages": CounterDoc("pages read back from swap"),
    "swapped_out_pages": CounterDoc("pages written to swap"),
    "tcp_retransmits": CounterDoc("segments sent again"),
    "listen_overflows": CounterDoc("connections that found the accept queue full"),
    "listen_drops": CounterDoc("connections that a listening socket dropped, for any reason"),
    "psi_cpu_s": CounterDoc("time in which something waited for a processor"),
    "psi_memory_s": CounterDoc("time in which something waited for memory"),
    "psi_io_s": CounterDoc("time in which something waited for a disk"),
}
OWN = {
    "own_user_s": CounterDoc("processor time of the server itself: user"),
    "own_system_s": CounterDoc("processor time of the server itself: system"),
    "own_unwaited": CounterDoc("processes of the server that ended and that no other one of it waited for"),
    "own_memory_bytes": CounterDoc("memory of the server itself", counted=False),
    "own_processes": CounterDoc("processes of the server", counted=False),
}
DISK = {
    "reads": CounterDoc("reads that ended"),
    "writes": CounterDoc("writes that ended"),
    "read_bytes": CounterDoc("bytes read"),
    "written_bytes": CounterDoc("bytes written"),
    "busy_s": CounterDoc("time in which something was in flight"),
}
LINK = {
    "in_bytes": CounterDoc("bytes received"),
    "out_bytes": CounterDoc("bytes sent"),
    "in_packets": CounterDoc("packets received"),
    "out_packets": CounterDoc("packets sent"),
}
PART_COUNTERS = {"disk": DISK, "net": LINK}
# The names of what kernels without CONFIG_PSI do not tell.
PRESSURE = ("psi_cpu_s", "psi_memory_s", "psi_io_s")


def counter_doc(series: str) -> CounterDoc | None:
    """What a series is; None for one that nobody knows."""
    head, _, rest = series.partition("/")
    if rest:
        return PART_COUNTERS.get(head, {}).get(rest.rpartition("/")[2])
    return MACHINE.get(series) or OWN.get(series)
