"""A report is made to be passed on: what looks like a secret is left out of it."""

from __future__ import annotations

import re
from typing import Any

from bakeoff.plan.secrets import SECRET

# What requests carry may be anything, and is long.
CONTENT = "content"
_HEADER = re.compile(r"[A-Za-z0-9_-]+:")


def hidden(value: Any) -> Any:
    """`value` with everything under a secret-looking name replaced: a report is made to be passed on."""
    if isinstance(value, dict):
        return {
            k: "(hidden)" if v and (k == CONTENT or any(s in str(k).lower() for s in SECRET)) else hidden(v)
            for k, v in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [hidden(item) for item in value]
    if isinstance(value, str) and _HEADER.match(value) and any(s in value.partition(":")[0].lower() for s in SECRET):
        return value.partition(":")[0] + ": (hidden)"
    return value
