"""Are all contenders app servers, and set up alike?"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bakeoff.core.errors import ContenderError
from bakeoff.core.units import format_size
from bakeoff.kinds.app.hello import AppServer, greet
from bakeoff.kinds.app.plan import app_settings, parse_app_address, workload
from bakeoff.kinds.app.spec import AppWorkload
from bakeoff.plan.input.address import resolve
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.kind import Check, Note, RunPart

# A first hello may have to wait for the server to fill a data segment.
GREETING_S = 60.0


class AppCheck(Check):
    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._settings = app_settings(plan.settings)
        self._stores = any(c.name in ("read", "write") for c in plan.classes)
        self._addresses: dict[str, Sequence[str]] = {}
        self._servers: dict[str, AppServer] = {}

    def answers(self, contender: Contender) -> None:
        self._greet(contender, 0)

    def examine(self, contender: Contender) -> None:
        """See Check. The server must take the largest request of the plan."""
        settings = self._settings
        server = self._greet(contender, settings.record_bytes if self._stores else 0)
        largest = max(settings.upload_bytes, settings.download_bytes)
        if largest > server.payload_max:
            raise ContenderError(
                f"{contender.name} takes {format_size(server.payload_max)} at most, the plan moves "
                f"{format_size(largest)}: raise its --payload-max"
            )
        records = max(settings.read_records, settings.write_records)
        if self._stores and records > server.records_max:
            raise ContenderError(
                f"{contender.name} reads or writes {server.records_max} records at once at most, the plan {records}: "
                "lower read_records or write_records"
            )
        self._servers[contender.name] = server

    def compare(self) -> Sequence[Note]:
        """See Check. Different settings are often what is to be compared, so they are told and not refused."""
        notes = []
        names = list(self._servers)
        for other in names[1:]:
            left, right = asdict(self._servers[names[0]]), asdict(self._servers[other])
            for key, title in _TRAITS.items():
                if left[key] != right[key]:
                    notes.append(Note("info", f"{title} differ: {names[0]} {left[key]}, {other} {right[key]}"))
        return notes

    def addresses(self, contender: Contender) -> Sequence[str]:
        if contender.name not in self._addresses:
            self._addresses[contender.name] = resolve(parse_app_address(contender.address))
        return self._addresses[contender.name]

    def workload(self, contender: Contender, addresses: Sequence[str]) -> AppWorkload:
        return workload(self.plan, contender, addresses)

    def facts(self) -> dict[str, Any]:
        return {"corpus": None, "contenders": {name: asdict(server) for name, server in self._servers.items()}}

    def _greet(self, contender: Contender, record_bytes: int) -> AppServer:
        address = parse_app_address(contender.address)
        return greet(contender.name, address, self.addresses(contender), record_bytes, GREETING_S)


_TRAITS = {
    "segment_bytes": "bytes of a data segment",
    "threads": "service threads",
    "processors": "processors",
    "direct": "direct I/O settings",
    "fsync": "flush settings",
    "service_ns": "programmed service times (ns)",
}


PART = RunPart(AppCheck)
