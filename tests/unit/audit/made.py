"""Tables with a known truth, as typed from paper: clean ones of each form, and the slips of a hand in them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from bakeoff.formats.foreign.printed import printed
from bakeoff.formats.foreign.table import ForeignRow, ForeignTable, ForeignValue
from bakeoff.formats.foreign.units import COUNT, NO_UNIT, Unit, unit_of

Cells = list[dict[str, str]]
Slip = Callable[[random.Random, str], str]
# Which metrics are loads, and the unit of each where a heading has it.
LOADS = ("clients", "offered", "block size", "file size", "record size")


def unit(heading: str) -> tuple[str, Unit]:
    """`mean [ms]` as the metric and its unit."""
    name, _, rest = heading.partition(" [")
    return name, (unit_of(rest.rstrip("]")) or NO_UNIT) if rest else COUNT


def table(
    cells: Sequence[Mapping[str, str]],
    path: str = "paper.csv",
    form: str = "table",
    stated: Mapping[str, str] | None = None,
) -> ForeignTable:
    """Rows of texts by heading; `contender` and `part` are words."""
    rows, changes_ = [], []
    for number, row in enumerate(cells, 2):
        loads, values, changed = {}, {}, {}
        for at, (heading, text) in enumerate(row.items(), 1):
            if heading in ("contender", "part") or not text:
                continue
            name, of = unit(heading)
            value = ForeignValue(printed(text), of, number, at, heading)
            (changed if name == "change" else loads if name in LOADS else values)[name] = value
        rows.append(ForeignRow(row.get("contender", ""), loads, values, number, row.get("part", "")))
        changes_ += [replace(rows[-1], values=changed)] if changed else []
    return ForeignTable(form, "typed", tuple(rows), path=path, stated=stated or {}, changes=tuple(changes_))


def closed_loop(rng: random.Random, pause_s: float = 0.0) -> Cells:
    """Clients, rate, response time and counts of a server that saturates."""
    service, rows = rng.uniform(0.5e-3, 4e-3), []
    knee, length = rng.uniform(6, 20), rng.choice([60, 120, 300])
    for clients in (1, 2, 4, 8, 12, 16, 20, 24, 28, 32):
        response = service * (1 + (clients / knee) ** 4) ** 0.25 if not pause_s else service * (1 + clients / knee)
        rate = clients / (response + pause_s) * rng.gauss(1, 0.0005)
        done = round(rate * length)
        errors = rng.choice([0, 0, 3, 17])
        rows.append(
            {
                "clients": str(clients),
                "rate [req/s]": f"{rate:.1f}",
                "mean [ms]": f"{response * 1e3:.3f}",
                "duration [s]": str(length),
                "operations": str(done),
                "errors": str(errors),
                "requests": str(done + errors),
            }
        )
    return rows


def blocks(rng: random.Random, byte_unit: float = 1e6) -> Cells:
    """I/O per second and throughput over block sizes."""
    start, top, rows = rng.uniform(8e3, 40e3), rng.uniform(80e6, 900e6), []
    for kib in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        size = kib * 1024
        rate = 1 / (1 / start + size / top)
        rows.append(
            {
                "block size [KiB]": str(kib),
                "rate [IOPS]": f"{rate:.1f}",
                "throughput [MB/s]": f"{rate * size / byte_unit:.2f}",
            }
        )
    return rows


def times(rng: random.Random) -> Cells:
    """The summary of response times that a simulated server really had."""
    rows = []
    for clients in (1, 2, 4, 8, 16, 32, 64):
        scale, sigma = 2e-3 * (1 + clients / 8), rng.uniform(0.3, 0.8)
        drawn = sorted(rng.lognormvariate(0, sigma) * scale for _ in range(2000))
        mean = sum(drawn) / len(drawn)
        deviation = (sum((one - mean) ** 2 for one in drawn) / (len(drawn) - 1)) ** 0.5
        figures = {
            "minimum": drawn[0],
            "p50": drawn[999],
            "p90": drawn[1799],
            "p99": drawn[1979],
            "maximum": drawn[-1],
            "mean": mean,
            "deviation": deviation,
        }
        row = {"clients": str(clients), "operations": "2000"}
        rows.append(row | {f"{name} [ms]": f"{value * 1e3:.3f}" for name, value in figures.items()})
    return rows


def parts(rng: random.Random) -> Cells:
    """Counts and shares of three parts, and their total."""
    rows = []
    for clients in (1, 4, 16):
        counts = [rng.randint(2000, 90000) for _ in range(3)]
        errors = [rng.randint(0, 50) for _ in range(3)]
        for name, count, bad in zip(("read", "write", "list"), counts, errors, strict=True):
            rows.append({"part": name, "clients": str(clients), "operations": str(count), "errors": str(bad)})
        whole = {"part": "total", "clients": str(clients), "operations": str(sum(counts)), "errors": str(sum(errors))}
        rows.append(whole)
    return rows


def pair(rng: random.Random) -> Cells:
    """Two contenders, throughput alone."""
    rows = []
    for name, top in (("one", rng.uniform(40, 90)), ("two", rng.uniform(40, 90))):
        for clients in (1, 4, 8, 12, 16, 20, 24, 28, 32, 36):
            value = top * clients / (clients + 6) * rng.gauss(1, 0.002)
            rows.append({"contender": name, "clients": str(clients), "throughput [MB/s]": f"{value:.3f}"})
    return rows


def changes(rng: random.Random) -> Cells:
    """Rates of six servers, and by how much each is more than that of the first."""
    base, rows = rng.uniform(2e3, 9e3), []
    for place in range(6):
        rate = base * (1.0 if not place else rng.uniform(0.3, 3.0))
        change = f"{(rate / base - 1) * 100:.1f}"
        rows.append({"contender": f"server {place}", "rate [req/s]": f"{rate:.1f}", "change [%]": change})
    return rows


CLEAN = {
    "closed loop": closed_loop,
    "closed loop with a pause": lambda rng: closed_loop(rng, 0.05),
    "blocks in 10^6 bytes": blocks,
    "blocks in 2^20 bytes": lambda rng: blocks(rng, 2.0**20),
    "response times": times,
    "parts and total": parts,
    "two contenders": pair,
    "changes of a base": changes,
}


# Slips.


def lost(rng: random.Random, text: str) -> str:
    """A digit lost."""
    places = [at for at, letter in enumerate(text) if letter.isdigit()]
    at = rng.choice(places)
    return text[:at] + text[at + 1 :]


def doubled(rng: random.Random, text: str) -> str:
    """A digit typed twice."""
    at = rng.choice([at for at, letter in enumerate(text) if letter.isdigit()])
    return text[:at] + text[at] + text[at:]


def exchanged(rng: random.Random, text: str) -> str:
    """Two neighbouring digits exchanged."""
    places = [at for at in range(len(text) - 1) if text[at : at + 2].isdigit() and text[at] != text[at + 1]]
    if not places:
        return text
    at = rng.choice(places)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def scaled(text: str, factor: float) -> str:
    """Times a factor, with the digits of before."""
    return f"{float(text) * factor:.{len(text.partition('.')[2])}f}"


def fifth(rng: random.Random, text: str) -> str:
    """A cell changed by 20 %."""
    return scaled(text, rng.choice([0.8, 1.2]))


def unit_slip(rng: random.Random, text: str) -> str:
    """In another unit: thousands or 1024."""
    return scaled(text, rng.choice([1000.0, 1024.0, 1 / 1000, 1 / 1024]))
