"""What a machine that sends load is: stored with each run, so that a number can be judged later. Facts only, read from
the system; what cannot be read is absent rather than guessed.
"""

import os
import platform
import socket
from pathlib import Path
from typing import Any

import psutil

from bakeoff.agents.machine.proc import read_text
from bakeoff.agents.machine.quota import memory_limit_bytes

SYSCTLS = (
    "net.core.somaxconn",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.busy_poll",
    "net.core.default_qdisc",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_max_tw_buckets",
    "fs.file-max",
    "fs.nr_open",
    "vm.swappiness",
    "vm.overcommit_memory",
    "kernel.randomize_va_space",
    "kernel.numa_balancing",
)
INTERNET = (socket.AF_INET, socket.AF_INET6)


def environment() -> dict[str, Any]:
    """The load-generating machine: processor, memory, kernel, limits, sysctls."""
    facts: dict[str, Any] = {
        "cpu": _cpu(),
        "memory_bytes": psutil.virtual_memory().total,
        "memory_limit_bytes": _memory_limit(psutil.virtual_memory().total),
        "swap_used_bytes": psutil.swap_memory().used,
        "kernel": platform.release(),
        "os": _os_name(),
        "hostname": socket.gethostname(),
        "hypervisor": _hypervisor(),
        "python": platform.python_version(),
        "load_average": [round(value, 2) for value in os.getloadavg()],
        "clocksource": _text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "transparent_hugepage": _text("/sys/kernel/mm/transparent_hugepage/enabled"),
        "sysctl": {name: text for name in SYSCTLS if (text := _text("/proc/sys/" + name.replace(".", "/")))},
    }
    return {key: value for key, value in facts.items() if value not in (None, "", {})}


def _memory_limit(memory_bytes: int) -> int | None:
    """What the control groups of this process allow, where that is less than the machine has."""
    limit = memory_limit_bytes()
    return limit if limit is not None and limit < memory_bytes else None


def own_addresses() -> tuple[str, ...]:
    """The numeric addresses of this machine's interfaces."""
    addresses = [
        address.address for ours in psutil.net_if_addrs().values() for address in ours if address.family in INTERNET
    ]
    return tuple(sorted({text.partition("%")[0] for text in addresses}))  # without the scope of link-local ones


def _cpu() -> dict[str, Any]:
    info = _cpuinfo()
    cpu = {
        "model": info.get("model name") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "microcode": info.get("microcode"),
        "logical": psutil.cpu_count(logical=True),
        "physical": psutil.cpu_count(logical=False),
        "available": len(os.sched_getaffinity(0)),
        "mhz": float(info["cpu MHz"]) if "cpu MHz" in info else None,
        "governor": _text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "turbo_off": _text("/sys/devices/system/cpu/intel_pstate/no_turbo"),
        "smt": _text("/sys/devices/system/cpu/smt/control"),
    }
    return {key: value for key, value in cpu.items() if value not in (None, "")}


def _cpuinfo() -> dict[str, str]:
    """The first processor of /proc/cpuinfo."""
    first = (_text("/proc/cpuinfo") or "").split("\n\n")[0]
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())}


def _os_name() -> str | None:
    for line in (_text("/etc/os-release") or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return None


def _hypervisor() -> str | None:
    kind = _text("/sys/hypervisor/type")
    if kind:
        return kind
    if "hypervisor" in _cpuinfo().get("flags", "").split():
        vendor = _text("/sys/class/dmi/id/sys_vendor")
        product = _text("/sys/class/dmi/id/product_name")
        return " ".join(part for part in (vendor, product) if part) or "yes"
    return None


def _text(path: str) -> str | None:
    return read_text(Path(path)) or None
