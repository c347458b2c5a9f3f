"""The test bed as a diagram: from the author's table, or as far as the run itself tells it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import Any

from bakeoff.disclosure.paper.machines import Link, Machine
from bakeoff.disclosure.paper.model import Bed
from bakeoff.report.blocks.tree import Block, Chart, Column, Table
from bakeoff.report.charts.drawing import Drawing
from bakeoff.report.narrate import wording
from bakeoff.report.paper.testbed_drawing import NO_DUPLEX, NO_SPEED, Box, Cable, drawing_of
from bakeoff.store.records.run_records import AgentRecord

BY_AUTHOR = "Stated by the author, not found by Bakeoff."
BY_RUN = (
    "From the run: its agents with the links that they state, and the hosts in the addresses of contenders. What is \
between them it does not know."
)
UNKNOWN = "not disclosed"
MOST_GENERATORS, MOST_SERVERS = 9, 16
ROLES = {"generator": "load generator", "switch": "switch", "server": "server", "both": "load generator and server"}
# What stands before a host, and the host.
_HOST = (
    r"(?:[^/@=,]{0,100}@)?(?:\[([0-9A-Fa-f:.]{2,45}(?:%[A-Za-z0-9_.-]{1,20})?)\]|"
    r"([A-Za-z0-9_][A-Za-z0-9_.-]{0,252}))(?=[:/,]|$)"
)
_AFTER = {"//": re.compile(f"//{_HOST}"), "=": re.compile(f"={_HOST}"), "": re.compile(f"^{_HOST}")}


@dataclass(frozen=True)
class Generators:
    """The machines that sent the load of the reported runs, the addresses of contenders there, and the days."""

    agents: Sequence[AgentRecord] = ()
    addresses: Sequence[tuple[str, str]] = field(default=())
    days: Sequence[str] = ()


NO_GENERATORS = Generators()


def bed_diagram(
    bed: Bed, generators: Generators, names: tuple[str, ...], called: str = "", number: int = 0
) -> list[Block]:
    """The diagram with the table behind it; nothing where nobody told of machines. Of several beds each is `called` so,
    and has a `number` from 1.
    """
    described = bool(bed.machines)
    drawn = bed if described else of_run(generators)
    if drawn is None or not drawn.machines:
        return []
    boxes, cables = grouped(drawn)
    columns = [Column(title, False) for title in ("Machine", "", "What it is", "Runs", "Linked with")]
    rows = tuple(_row(machine, drawn) for machine in drawn.machines)
    source = BY_AUTHOR if described else BY_RUN
    of = f"test bed {called}" if called else "the test bed"
    table = Table(f"Machines and links of {of}", tuple(columns), rows, source)
    drawing = Drawing(lambda: drawing_of(boxes, cables, names, source))
    id_ = f"chart-testbed-{number}" if number else "chart-testbed"
    return [Chart(id_, f"{of[0].upper()}{of[1:]}", _words(boxes, cables), drawing, table, wide=True)]


def of_run(generators: Generators) -> Bed | None:
    """The test bed as the run has it; None where contenders are named by what is no host: they may be anywhere."""
    hosts: dict[str, list[str]] = {}
    for name, address in generators.addresses:
        host = host_of(address)
        if not host:
            return None
        hosts.setdefault(host, []).append(name)
    if not hosts or not generators.agents:
        return None
    own = {address for agent in generators.agents for address in _addresses(agent)}
    here = [name for host, names in hosts.items() if _loopback(host) or host in own for name in names]
    away = {host: names for host, names in hosts.items() if not (_loopback(host) or host in own)}
    one = len(generators.agents) == 1
    # What is bounded is what people write: a run has as many as it has.
    machines = [
        Machine.model_construct(
            name=agent.name[:60],
            role="both" if here and one else "generator",
            text=_about(agent),
            serves=tuple(name[:60] for name in here) if one else (),
        )
        for agent in generators.agents
    ]
    if here and not one:
        return None  # which of them runs a contender on loopback is not known
    links: list[Link] = []
    if away:
        machines.append(Machine(name="network", role="switch", text=UNKNOWN))
        links += [Link(ends=(agent.name[:60], "network"), speed=_speed(agent)) for agent in generators.agents]
        for host, names in away.items():
            served = tuple(name[:60] for name in names)
            machines.append(Machine.model_construct(name=host[:60], role="server", serves=served))
            links.append(Link(ends=(host[:60], "network")))
    called = [machine.name for machine in machines]
    if len(set(called)) < len(called):
        return None
    return Bed.model_construct(machines=tuple(machines), links=tuple(links))


def of_generators(generators: Generators) -> dict[str, str]:
    """What the run knows of its agents, by fields of the test bed."""
    machines = Counter(filter(None, map(_about, generators.agents)))
    systems = Counter(filter(None, map(_system, generators.agents)))
    facts = {"load_generators": machines, "load_generator_software": systems}
    days = sorted(set(generators.days))
    tested = {"date_tested": " to ".join(dict.fromkeys((days[0], days[-1])))} if days else {}
    return tested | {
        key: "; ".join(f"{count} × ({text})" for text, count in kinds.items()) for key, kinds in facts.items() if kinds
    }


def _system(agent: AgentRecord) -> str:
    name, kernel = agent.facts.get("os"), agent.facts.get("kernel")
    return ", ".join(filter(None, (str(name or ""), f"Linux {kernel}" if kernel else "")))


def host_of(address: str) -> str:
    """The host of an address such as `http://host:80/` or `smtp=host:25,pop3=host:110`; empty for a folder."""
    if address.startswith(("/", ".", "~")):
        return ""
    mark = next(mark for mark in _AFTER if mark in address)
    found = {one or other for one, other in _AFTER[mark].findall(address)}
    return found.pop() if len(found) == 1 else ""


def _loopback(host: str) -> bool:
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"


def _links(agent: AgentRecord) -> list[dict[str, Any]]:
    """Its links, as far as they are such: run files are data."""
    links = agent.facts.get("links")
    return [link for link in links if isinstance(link, dict)] if isinstance(links, list) else []


def _addresses(agent: AgentRecord) -> list[str]:
    listed = [link.get("addresses") for link in _links(agent)]
    return [str(address) for own in listed if isinstance(own, list) for address in own]


def _speed(agent: AgentRecord) -> str:
    """The speed of its only link that states one."""
    speeds = [str(link.get("speed", "")) for link in _links(agent)]
    matches = [re.fullmatch(r"([\d,]{1,20}) bits/s", speed) for speed in speeds]
    known = [int(match[1].replace(",", "")) for match in matches if match and match[1].strip(",")]
    return f"{known[0] / 1e9:g} Gbit/s" if len(known) == 1 else ""


def _about(agent: AgentRecord) -> str:
    cpu, memory = agent.facts.get("cpu"), agent.facts.get("memory_bytes")
    words = []
    if isinstance(cpu, dict) and cpu.get("model"):
        words.append(f"{cpu.get('logical') or '?'} × {cpu['model']}")
    if isinstance(memory, int):
        words.append(f"{memory / (1 << 30):.0f} GiB")
    return ", ".join(words)[:300]


def grouped(bed: Bed) -> tuple[list[Box], list[Cable]]:
    """Machines as boxes: generators that are alike, with alike links, are one; of too many the last are one, too."""
    kinds: dict[Any, list[Machine]] = {}
    for machine in bed.machines:
        plain_generator = machine.role == "generator" and not machine.serves
        key = (machine.text, _links_of(machine, bed.links)) if plain_generator else machine.name
        kinds.setdefault(key, []).append(machine)
    boxes = [_box(machines) for machines in kinds.values()]
    boxes = _fewer(boxes, "generator", MOST_GENERATORS)
    boxes = _fewer(boxes, "server", MOST_SERVERS)
    at = {name: place for place, box in enumerate(boxes) for name in box.members}
    cables: dict[tuple[int, int, str, str, int], None] = {}
    for link in bed.links:
        one, other = sorted((at[link.ends[0]], at[link.ends[1]]))
        if one != other:
            cables[one, other, link.speed, link.duplex, link.count] = None
    return boxes, [Cable(*cable) for cable in cables]


def _links_of(machine: Machine, links: Sequence[Link]) -> tuple[tuple[str, str, str, int], ...]:
    ends = ((link, [end for end in link.ends if end != machine.name]) for link in links if machine.name in link.ends)
    return tuple(sorted((end[0] if end else "", link.speed, link.duplex, link.count) for link, end in ends))


def _box(machines: list[Machine]) -> Box:
    first, last = machines[0], machines[-1]
    count = sum(machine.count for machine in machines)
    name = first.name if len(machines) == 1 else f"{first.name} … {last.name}"
    members = tuple(machine.name for machine in machines)
    return Box(name, first.role, count, first.text, first.serves, members)


def _fewer(boxes: list[Box], role: str, most: int) -> list[Box]:
    """At most so many boxes of a role: the last of too many become one."""
    own = [box for box in boxes if box.role == role]
    if len(own) <= most:
        return boxes
    rest = own[most - 1 :]
    names = tuple(name for box in rest for name in box.members)
    serves = tuple(name for box in rest for name in box.serves)
    more = replace(rest[0], name="others", count=sum(b.count for b in rest), text="", serves=serves, members=names)
    return [box for box in boxes if box not in rest] + [more]


def _row(machine: Machine, bed: Bed) -> tuple[str, ...]:
    """A machine with its links; a switch tells those to other switches, as the others tell theirs to it."""
    name = f"{machine.count} × {machine.name}" if machine.count > 1 else machine.name
    links = _links_of(machine, bed.links)
    switches = {other.name for other in bed.machines if other.role == "switch"}
    shown = [link for link in links if machine.role != "switch" or link[0] in switches]
    linked = [f"{end}: {_carries(speed, duplex, count)}" for end, speed, duplex, count in shown]
    if len(shown) < len(links):
        linked.append(wording.plural(len(links) - len(shown), "link") + " to other machines")
    return name, ROLES[machine.role], machine.text or UNKNOWN, ", ".join(machine.serves) or "–", _joined(linked)


def _carries(speed: str, duplex: str, count: int) -> str:
    times = f"{count} × " if count > 1 else ""
    return f"{times}{speed or NO_SPEED}, {f'{duplex} duplex' if duplex else NO_DUPLEX}"


def _joined(linked: list[str]) -> str:
    return "; ".join(linked) or UNKNOWN


def _words(boxes: list[Box], cables: list[Cable]) -> str:
    """The diagram for who does not see it."""
    runs = [f", runs {', '.join(box.serves)}" if box.serves else "" for box in boxes]
    parts = [f"{box.title}, {ROLES[box.role]}{served}" for box, served in zip(boxes, runs, strict=True)]
    lines = [f"{boxes[cable.one].title} to {boxes[cable.other].title}: {cable.words}" for cable in cables]
    return f"Machines: {'; '.join(parts)}. Links: {'; '.join(lines) or UNKNOWN}."
