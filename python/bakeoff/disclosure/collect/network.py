"""Network adapters and the switch they are connected to, of an answer."""

from __future__ import annotations

import re
from collections import defaultdict

from bakeoff.disclosure.collect.answer import Answer

ETHERNET = "1"  # of /sys/class/net/*/type
MOST = 40


def cards(answer: Answer) -> dict[str, dict[str, str]]:
    """What is told of each adapter that is a piece of hardware, or that is up."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for path, value in answer.values("network").items():
        parts = path.split("/")
        if path.startswith("/sys/class/net/") and len(parts) == 6:
            found[parts[4]][parts[5]] = value
    kept = {name: facts for name, facts in found.items() if facts.get("type", ETHERNET) == ETHERNET and name != "lo"}
    hardware = {name: facts for name, facts in kept.items() if "driver" in facts}
    return hardware or {name: facts for name, facts in kept.items() if facts.get("operstate") == "up"}


def transport(answer: Answer) -> str:
    """`eth0: Intel X710, driver i40e, 10 Gbit/s, full duplex, MTU 9000, up`, a line for each."""
    models = dict(re.findall(r"^(\S{1,20}) [^:\n]{1,60}: (.{1,200})$", answer.text("lspci"), re.MULTILINE))
    parts = []
    for name, facts in sorted(cards(answer).items()):
        slot = facts.get("slot", "")
        model = models.get(slot) or models.get(slot.removeprefix("0000:"), "")
        words = (
            model,
            f"driver {facts['driver']}" if facts.get("driver") else "a virtual link",
            speed(facts),
            duplex(facts),
            f"MTU {facts['mtu']}" if facts.get("mtu") else "",
            facts.get("operstate", ""),
        )
        parts.append(f"{name}: {', '.join(filter(None, words))}")
    return "\n".join(parts[:MOST])


def speed(facts: dict[str, str]) -> str:
    """`10 Gbit/s`; that of a virtual link is made up, and so it is not told."""
    text = facts.get("speed", "")
    if not text.isdigit() or len(text) > 8 or int(text) == 0 or "driver" not in facts:
        return ""
    megabits = int(text)
    return f"{megabits / 1000:g} Gbit/s" if megabits >= 1000 else f"{megabits} Mbit/s"


def duplex(facts: dict[str, str]) -> str:
    """`full duplex`, where hardware says so."""
    text = facts.get("duplex", "")
    return f"{text} duplex" if text in ("full", "half") and "driver" in facts else ""


def switch(answer: Answer) -> str:
    """`eth0: sw1 (Arista 7050), port Ethernet12`, as the switch says it itself."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for line in answer.text("lldp").splitlines():
        key, mark, value = line.partition("=")
        parts = key.split(".")
        if mark and len(parts) > 2 and parts[0] == "lldp":
            found[parts[1]].setdefault(".".join(parts[2:]), value.strip())
    lines = []
    for card, facts in sorted(found.items()):
        named = facts.get("chassis.name") or facts.get("chassis.mac", "")
        about = f" ({facts['chassis.descr']})" if facts.get("chassis.descr") else ""
        port = facts.get("port.ifname") or facts.get("port.descr", "")
        if named:
            lines.append(f"{card}: {named}{about}" + (f", port {port}" if port else ""))
    return "\n".join(lines[:MOST])
