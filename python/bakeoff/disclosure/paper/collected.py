"""What was collected of a machine, as it stands in a paper file: `[contenders.NAME.collected]`.

A seal tells whether somebody changed it since: what a person wrote is told apart from what a machine said. It guards
against mistakes, not against forgers, who could make it again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from bakeoff.disclosure.paper.disclosure import CONTENDER
from bakeoff.disclosure.paper.part import StrictTable, known
from bakeoff.plan.input.toml import key_to_toml, line_to_toml

LONGEST = 50_000
LONGEST_FILE = 300_000
LONGEST_WORD = 1_000
MOST = 500
Word = Annotated[str, Field(max_length=LONGEST_WORD)]
# What TOML does not take between three quotation marks: two of them, one before the end, and what steers.
_QUOTE = re.compile(r'"(?="|\Z)')
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
Disclosed = Annotated[str, Field(max_length=LONGEST)]


class ConfigFile(StrictTable):
    """A configuration file: SHA-256 of its bytes, or where `redacted` of its text without them; `bytes` are
    those of the file. `text`, without secrets, where it was asked for.
    """

    path: Word
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    redacted: bool = False
    text: Annotated[str, Field(max_length=LONGEST_FILE)] = ""


class Collected(StrictTable):
    """What a machine said of itself: by which way, and when (UTC). `missing` is what could not be read, and why."""

    way: Word
    date: Word
    seal: Word = ""
    missing: Annotated[tuple[Word, ...], Field(max_length=MOST, strict=False)] = ()
    facts: Annotated[dict[str, Disclosed], AfterValidator(known(CONTENDER))] = Field(default_factory=dict)
    sysctls: Annotated[dict[Word, Word], Field(max_length=MOST)] = Field(default_factory=dict)
    packages: Annotated[dict[Word, Word], Field(max_length=MOST)] = Field(default_factory=dict)
    files: Annotated[tuple[ConfigFile, ...], Field(max_length=MOST, strict=False)] = ()

    @property
    def edited(self) -> bool:
        """Whether it is not as it was collected."""
        return self.seal != seal_of(self)


def sealed(collected: Collected) -> Collected:
    """The same with its seal."""
    return collected.model_copy(update={"seal": seal_of(collected)})


def seal_of(collected: Collected) -> str:
    """The first half of the SHA-256 of all but the seal."""
    content = json.dumps(collected.model_dump(mode="json", exclude={"seal"}), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def collected_to_toml(name: str, collected: Collected) -> str:
    """The tables of a contender."""
    head = f"contenders.{key_to_toml(name)}.collected"
    plain = collected.model_dump(mode="json", include={"way", "date", "seal", "missing"})
    parts = [_table(f"[{head}]", plain)]
    for key in ("facts", "sysctls", "packages"):
        if table := getattr(collected, key):
            parts.append(_table(f"[{head}.{key}]", table))
    for file in collected.files:
        parts.append(_table(f"[[{head}.files]]", file.model_dump(exclude_defaults=True)))
    return "\n".join(parts)


def _table(head: str, table: Mapping[str, Any]) -> str:
    return "\n".join([head, *(_line(key, value) for key, value in table.items())]) + "\n"


def _line(key: str, value: Any) -> str:
    """Texts of several lines stand as they are, for people read them and change them."""
    if not isinstance(value, str) or "\n" not in value:
        return line_to_toml(key, value)
    text = _QUOTE.sub(r'\\"', _CONTROL.sub(lambda sign: f"\\u{ord(sign[0]):04x}", value.replace("\\", r"\\")))
    return f'{key_to_toml(key)} = """\n{text}"""'
