"""What a paper discloses of contenders and test bed: the fields, and a template that has them all.

They are those of result pages of SPECstorage Solution 2020 and SPECweb2009, and of TPC's executive summaries; which is
whose is in docs/reference/disclosure.md.
"""

from __future__ import annotations

from collections.abc import Mapping

CONTENDER: Mapping[str, str] = {
    "solution": "Solution under test, with its maker and version",
    "availability": "Since or from when all of it can be bought",
    "hardware_available": "Since or from when its hardware can be bought",
    "software_available": "Since or from when its software can be bought or had",
    "pricing": "What the price is made of: parts, discounts, maintenance, over how many years, who offers it",
    "bill_of_materials": "Bill of materials: quantity, maker, model of each part",
    "firmware": "Firmware: of board, controllers and adapters, with versions",
    "operating_system": "Operating system and kernel",
    "server_software": "Server: maker, version, how it was built and started, API and script engine",
    "component_software": "Other software, with versions",
    "configuration": "Configuration files, or what in them is not the default",
    "logging": "What it logs, in which form, and where",
    "tuning_hardware": "Hardware and firmware settings that were changed",
    "tuning_software": "Software settings: sysctls, limits, mount options",
    "service_time": "Service and support that the price holds",
    "processors": "Processors: number, model, cores, threads, clock, caches",
    "processing_elements": "What else processes: controllers, offload engines",
    "memory": "Memory: size, kind; what of it lasts without power",
    "stable_storage": "How what is acknowledged survives loss of power",
    "storage": "Disks: number, model, capacity, kind",
    "controllers": "Disk controllers: number, model, cache",
    "raid": "RAID: level, members, how it protects data",
    "file_systems": "File systems: kind, capacity, mount options, how they were made",
    "transport": "Network adapters: model, number, ports used, speed, duplex, MTU",
    "switch": "Switch and port that it is connected to",
    "power": "Power: supplies, and watts where they were measured",
    "virtualisation": "Virtualisation: hypervisor, container, what it shares with others",
    "security": "Settings that protect it: TLS, mitigations of the processor",
    "notes": "Notes",
}
TESTBED: Mapping[str, str] = {
    "tested_by": "Who tested it",
    "date_tested": "When it was tested",
    "location": "Where it was tested",
    "auditor": "Who audited the test",
    "load_generators": "Load generators: number, model, processors, memory",
    "load_generator_software": "Their operating system and software",
    "back_end": "Other machines that the servers need: databases, simulators of a back end, directories",
    "network": "Switches: model, ports in all and in use; cables, speed, duplex, MTU",
    "topology": "Who is connected with whom, in words",
    "dataflow": "How data flow between generators, servers and disks",
    "tuning": "Settings of the test bed that were changed",
    "measurement_devices": "Devices that measured power and temperature, with their calibration",
    "notes": "Notes",
}


def label_of(title: str) -> str:
    """`Memory` of `Memory: size, kind`."""
    return title.partition(":")[0]


MACHINES = """\
# Machines and links of the test bed, for its diagram: a table for each. Alike ones are drawn once with their number.
# role is generator, switch, server, or both (generator and server in one); duplex is full or half.
# [[testbed.machines]]
#name = "client"
#role = "generator"
#count = 1
#text = ""

# [[testbed.machines]]
#name = "switch"
#role = "switch"
#text = ""

# [[testbed.machines]]
#name = "server"
#role = "server"
#text = ""
#serves = ["NAME"]

# [[testbed.links]]
#ends = ["client", "switch"]
#speed = "1 Gbit/s"
#duplex = "full"
#count = 1
"""


def template() -> str:
    """A paper file with every field of the disclosure, as comments."""
    parts = [
        "# What is disclosed of each contender: a table for each, with its name. What is missing is shown as",
        "# not disclosed. Values are text; several lines stand between three quotation marks.",
        "# What can be read from machines `bakeoff disclose THIS.toml -o disclosure.toml` collects, by the way that",
        '# `collect` names: "local", "ssh://user@host" or "command: …". `[paper] disclosure = "disclosure.toml"` reads',
        "# what it wrote.",
        "",
    ]
    for head, fields in (("[contenders.NAME.disclosure]", CONTENDER), ("[testbed]", TESTBED)):
        parts.append(f"# {head}")
        if fields is CONTENDER:
            parts += ["# By which way facts are collected.", '#collect = "local"']
            parts += ["# Configuration files of which the contents are shown, without secrets.", "#config = []"]
        for key, text in fields.items():
            parts += [f"# {text}.", f'#{key} = ""']
        parts.append("")
    return "\n".join((*parts, MACHINES))
