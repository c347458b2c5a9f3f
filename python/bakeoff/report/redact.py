"""A report is made to be passed on: what looks like a secret is left out of it."""

from __future__ import annotations

from typing import Any

SECRET = ("password", "passwd", "secret", "token", "authorization", "basic_auth", "cookie")
# What requests carry may be anything, and is long.
CONTENT = "content"


def hidden(value: Any) -> Any:
    """`value` with everything under a secret-looking name replaced: a report is made to be passed on."""
    if isinstance(value, dict):
        return {
            k: "(hidden)" if v and (k == CONTENT or any(s in str(k).lower() for s in SECRET)) else hidden(v)
            for k, v in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [hidden(item) for item in value]
    if isinstance(value, str) and any(value.lower().startswith(f"{secret}:") for secret in SECRET):
        return value.split(":", 1)[0] + ": (hidden)"
    return value
