"""What a paper discloses of contenders and test bed: the fields, and a template that has them all.

They are those of result pages of SPECstorage Solution 2020 and SPECweb2009, and of TPC's executive summaries.
"""

from __future__ import annotations

from collections.abc import Mapping

CONTENDER: Mapping[str, str] = {
    "solution": "Solution under test, with its maker and version",
    "availability": "Since or from when it can be bought",
    "bill_of_materials": "Bill of materials: quantity, maker, model of each part",
    "operating_system": "Operating system and kernel",
    "component_software": "Other software, with versions",
    "configuration": "Configuration files, or what in them is not the default",
    "tuning_hardware": "Hardware and firmware settings that were changed",
    "tuning_software": "Software settings that were changed: sysctls, limits, mount options",
    "service_time": "Service and support that the price holds",
    "processors": "Processors: number, model, cores, clock",
    "processing_elements": "What else processes: controllers, offload engines",
    "memory": "Memory: size, kind; what of it lasts without power",
    "stable_storage": "How what is acknowledged survives loss of power",
    "storage": "Storage and file systems: disks, controllers, RAID, capacity",
    "transport": "Network adapters: model, number, speed, duplex",
    "security": "Settings that protect it: TLS, mitigations of the processor",
    "notes": "Notes",
}
TESTBED: Mapping[str, str] = {
    "load_generators": "Load generators: number, model, processors, memory",
    "load_generator_software": "Their operating system and software",
    "network": "Switches, cables, speed, duplex, MTU",
    "topology": "Who is connected with whom, in words",
    "tuning": "Settings of the test bed that were changed",
    "location": "Where it was tested, and by whom",
    "notes": "Notes",
}


def template() -> str:
    """A paper file with every field of the disclosure, as comments."""
    parts = [
        "# What is disclosed of each contender: a table for each, with its name. What is missing is shown as",
        "# not disclosed. Values are text; several lines stand between three quotation marks.",
        "",
    ]
    for head, fields in (("[contenders.NAME.disclosure]", CONTENDER), ("[testbed]", TESTBED)):
        parts.append(f"# {head}")
        for key, text in fields.items():
            parts += [f"# {text}.", f'#{key} = ""']
        parts.append("")
    return "\n".join(parts)
