"""Processor, memory, board, kernel and what shields them, of an answer."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

from bakeoff.disclosure.collect.answer import Answer
from bakeoff.disclosure.collect.kernel import kernel_parameters

_CACHE = "/sys/devices/system/cpu/cpu0/cache/"
_MODES = re.compile(r"\[([^\]]{1,40})\]")


def solution(answer: Answer) -> str:
    """`Dell Inc. PowerEdge R750`."""
    values = answer.values("values")
    return " ".join(
        text for name in ("sys_vendor", "product_name") if (text := values.get(f"/sys/class/dmi/id/{name}", ""))
    )


def firmware(answer: Answer) -> str:
    """Version and day of the board's firmware."""
    values = answer.values("values")
    parts = [values.get(f"/sys/class/dmi/id/bios_{name}", "") for name in ("vendor", "version", "date")]
    return " ".join(filter(None, parts))


def operating_system(answer: Answer) -> str:
    """Distribution and kernel."""
    release = dict(re.findall(r'^([A-Z_]{1,40})="?([^"\n]{0,200})', answer.text("/etc/os-release"), re.MULTILINE))
    kernel = answer.line("/proc/sys/kernel/osrelease")
    return ", ".join(filter(None, (release.get("PRETTY_NAME", ""), f"Linux {kernel}" if kernel else "")))


def tuning_hardware(answer: Answer) -> str:
    """How the processor is allowed to run, listed kernel parameters, its clock and large pages."""
    values = answer.values("values")
    turbo = {"0": "on", "1": "off"}.get(values.get("/sys/devices/system/cpu/intel_pstate/no_turbo", ""), "")
    settings = {
        "governor": values.get("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", ""),
        "turbo": turbo,
        "SMT": values.get("/sys/devices/system/cpu/smt/control", ""),
        "transparent huge pages": chosen(values.get("/sys/kernel/mm/transparent_hugepage/enabled", "")),
        "clock": values.get("/sys/devices/system/clocksource/clocksource0/current_clocksource", ""),
        "kernel parameters": kernel_parameters(answer),
    }
    return "\n".join(f"{name}: {value}" for name, value in settings.items() if value)


def chosen(text: str) -> str:
    """The one in brackets: `always [madvise] never`."""
    found = _MODES.search(text)
    return found[1] if found else text


def processors(answer: Answer) -> str:
    """`2 × Intel Xeon 6338, 64 cores, 128 threads, up to 3.2 GHz; caches L1d 48K, L2 1280K, L3 48M`."""
    blocks = [_table(block) for block in answer.text("/proc/cpuinfo").split("\n\n") if "processor" in block]
    if not blocks:
        return ""
    first = blocks[0]
    model = first.get("model name") or first.get("Processor") or first.get("cpu model") or "model unknown"
    sockets = {block.get("physical id", "0") for block in blocks}
    cores = {(block.get("physical id", "0"), block["core id"]) for block in blocks if "core id" in block}
    words = [f"{len(sockets)} × {model}", f"{len(cores)} cores" if cores else "", f"{len(blocks)} threads"]
    values = answer.values("values")
    highest = values.get("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "")
    if highest.isdigit() and len(highest) < 10:
        words.append(f"up to {int(highest) / 1e6:.2f} GHz")
    if code := first.get("microcode"):
        words.append(f"microcode {code}")
    text = ", ".join(filter(None, words))
    return f"{text}; caches {', '.join(caches)}" if (caches := _caches(answer)) else text


def _caches(answer: Answer) -> list[str]:
    values, caches = answer.values("values"), []
    for index in range(8):
        at = f"{_CACHE}index{index}/"
        if level := values.get(f"{at}level"):
            letter = {"Data": "d", "Instruction": "i"}.get(values.get(f"{at}type", ""), "")
            caches.append(f"L{level}{letter} {values.get(f'{at}size', '?')}")
    return caches


def memory(answer: Answer) -> str:
    """Size, swap, and the modules where they can be read."""
    table = _table(answer.text("/proc/meminfo"))
    words = [_kib(table.get("MemTotal", ""))]
    if swap := _kib(table.get("SwapTotal", "")):
        words.append("no swap" if swap.startswith("0.0 ") else f"{swap} of swap")
    modules = Counter(_modules(answer.text("dmidecode")))
    words += [f"{count} × {module}" for module, count in modules.items()]
    return ", ".join(filter(None, words))


def _modules(text: str) -> list[str]:
    modules = []
    for block in text.split("\n\n"):
        table = _table(block)
        size = table.get("Size", "")
        if size and size[0].isdigit():
            parts = (size, table.get("Type", ""), table.get("Configured Memory Speed") or table.get("Speed", ""))
            maker = table.get("Manufacturer", ""), table.get("Part Number", "")
            modules.append(" ".join(part for part in (*parts, *maker) if part and part != "Unknown"))
    return modules


def _kib(text: str) -> str:
    digits = text.removesuffix(" kB").strip()
    return f"{int(digits) / (1 << 20):.1f} GiB" if digits.isdigit() and len(digits) < 18 else ""


def virtualisation(answer: Answer) -> str:
    """What it runs in: `kvm`, `docker`, `none`."""
    hypervisor = answer.values("values").get("/sys/hypervisor/type", "")
    text = answer.line("virtualisation") or hypervisor
    if text:
        return text
    flags = re.search(r"^flags\s*:.*", answer.text("/proc/cpuinfo"), re.MULTILINE)
    return "a hypervisor without a name" if flags and "hypervisor" in flags[0].split() else ""


def security(answer: Answer) -> str:
    """How the kernel shields against faults of the processor."""
    known = "/sys/devices/system/cpu/vulnerabilities/"
    pairs = {PurePosixPath(key).name: text for key, text in answer.values("values").items() if key.startswith(known)}
    affected = {name: text for name, text in sorted(pairs.items()) if text != "Not affected"}
    return "\n".join(f"{name}: {text}" for name, text in affected.items())


def _table(text: str) -> dict[str, str]:
    """Lines `name: value`, of several of one name the first."""
    table: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            table.setdefault(name.strip(), " ".join(value.split()))
    return table
