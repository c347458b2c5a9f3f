"""How requests failed, in words."""

from __future__ import annotations

from collections.abc import Mapping

from bakeoff.compare.failures.failed_requests import FailedRequest
from bakeoff.report.narrate import wording


def faults(failed: FailedRequest, words: Mapping[str, str]) -> str:
    """The faults of a request, the most frequent first: "status 404 ×11, refused ×1"."""
    ordered = sorted(failed.faults.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{_fault(fault, words)} ×{count:,}" for fault, count in ordered)


def _fault(fault: str, words: Mapping[str, str]) -> str:
    return f"status {fault}" if fault.isdigit() else wording.error(fault, words)
