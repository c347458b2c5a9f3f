"""A report is made to be passed on: what looks like a secret is left out of it."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from bakeoff.plan.secrets import SECRET

T = TypeVar("T")

# What requests carry may be anything, and is long.
CONTENT = "content"
HIDDEN = "(hidden)"
_HEADER = re.compile(r"[A-Za-z0-9_-]+:")

# More names than those of settings: what configurations of servers call theirs.
_NAMES = (
    r"passphrase|pwd|authorization|basic_auth|cookie|credentials?|community|bindpw|psk|requirepass|masterauth|"
    r"(?:api|access|private|secret|licen[cs]e|account|encryption|shared|signing)[-_ ]?key(?:[-_ ]?id)?"
)
# NAME = value, NAME: value, NAME "value"; the name may have parts before and behind: DB_PASSWORD_MAIN. Every part is
# bounded, so that no text takes long.
_ASSIGNED = re.compile(
    rf"(?i)(?<![a-z0-9])((?:[a-z0-9]{{1,40}}[-_.]){{0,5}}(?:[a-z0-9]{{0,40}}(?:password|passwd|secret|token)|{_NAMES})"
    r"(?:[-_.][a-z0-9]{1,40}){0,4}[\"']?[ \t]{0,20}"
    r"(?:[=:][ \t]{0,20}(?:(?:bearer|basic|digest)[ \t]{1,20})?|(?=[\"'])))"
    r"(?!\(hidden\))(\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[^\s,;\"'}\])]+)"
)
_FLAG = re.compile(
    r"(?i)(--?(?:[a-z0-9]{1,40}-){0,5}(?:password|passwd|pass|secret|token|api-key)[ \t]{1,20})"
    r"(?!\(hidden\))(\"[^\"\n]*\"|'[^'\n]*'|[^\s-]\S*)"
)
_DIRECTIVE = re.compile(r"(?im)^([ \t]{0,40}(?:requirepass|masterauth|password|bindpw|secret)[ \t]{1,20})(\S+)[ \t;]*$")
_PRIVATE = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"-----BEGIN {_PRIVATE}.*?(?:-----END {_PRIVATE}|\Z)", re.DOTALL), HIDDEN),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,200}):[^\s/@]{1,200}@"), rf"\1:{HIDDEN}@"),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), HIDDEN),
    (re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}|glpat-[\w-]{20,64})"), HIDDEN),
    (re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,200}|\bsk[-_](?:[a-z]{2,8}[-_])?[A-Za-z0-9_-]{20,200}"), HIDDEN),
    (re.compile(r"\beyJ[\w-]{8,2000}\.eyJ[\w-]{8,4000}\.[\w-]*"), HIDDEN),
    (re.compile(r"\$(?:1|2[abxy]?|5|6|7|y|apr1|argon2(?:id|i|d))\$[^\s:]{8,300}"), HIDDEN),
    (_FLAG, rf"\1{HIDDEN}"),
    (_DIRECTIVE, rf"\1{HIDDEN}"),
    (re.compile(r"(?i)\b((?:bearer|basic)[ \t]{1,20})[A-Za-z0-9+/_.=~-]{12,}"), rf"\1{HIDDEN}"),
    (_ASSIGNED, rf"\1{HIDDEN}"),
)


def hidden(value: Any) -> Any:
    """`value` with everything under a secret-looking name replaced: a report is made to be passed on."""
    if isinstance(value, dict):
        return {k: HIDDEN if v and (k == CONTENT or _secret(k)) else hidden(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [hidden(item) for item in value]
    if isinstance(value, str) and _HEADER.match(value) and _secret(value.partition(":")[0]):
        return f"{value.partition(':')[0]}: {HIDDEN}"
    return value


def without_secrets(value: T) -> T:
    """`value` without what looks like a secret inside of its texts either: people paste configuration files."""
    if isinstance(value, str):
        text: str = hidden(value)
        for pattern, put in _RULES:
            text = pattern.sub(put, text)
        return text  # type: ignore[return-value]
    if isinstance(value, dict):
        return {k: HIDDEN if v and _secret(k) else without_secrets(v) for k, v in value.items()}  # type: ignore[return-value]
    if isinstance(value, (list, tuple)):
        return type(value)(without_secrets(item) for item in value)
    return value


def _secret(name: object) -> bool:
    return any(part in str(name).lower() for part in SECRET)
