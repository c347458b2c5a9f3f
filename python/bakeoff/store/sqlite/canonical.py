"""The one text form of a value: what is stored, hashed and sealed is this."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def to_json(value: Any) -> str:
    """Canonical JSON: sorted keys, no spaces, no NaN."""
    return printable(json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False))


def printable(text: str) -> str:
    """Text that UTF-8 can hold: bytes of a path that are none become the replacement character."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def plan_hash(plan: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of a plan, in hex."""
    text = json.dumps(plan, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
