"""A trial specification on its way to another machine: what is large in it, such as a corpus, crosses once per run."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bakeoff.agents.spec import Slice, TrialSpec
from bakeoff.core.errors import GeneratorError
from bakeoff.kinds.spec import Workload

LARGE = 4096  # characters of JSON from which on a field of the workload is a part of its own
PIECE = 4 << 20  # a part crosses in pieces


@dataclass(frozen=True)
class CutSpec:
    """A specification without its large parts: `head` is all but the workload, `work` the workload's small fields,
    `parts` the hashes of the texts of the others, by field.
    """

    head: str
    work: str
    parts: Mapping[str, str]


class Cutter:
    """Cuts specifications. A field that is the same object as before is not written out again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, str]] = {}
        self.texts: dict[str, str] = {}

    def cut(self, spec: TrialSpec, part: Slice) -> CutSpec:
        """The specification of a slice; the texts of its parts are then in `texts`."""
        workload = spec.workload
        parts = {name: digest for name in type(workload).model_fields if (digest := self._part(workload, name))}
        return CutSpec(
            head=spec.part(part).model_dump_json(exclude={"workload"}),
            work=workload.model_dump_json(exclude=set(parts)),
            parts=parts,
        )

    def _part(self, workload: Workload, name: str) -> str:
        """The hash of a field's text, or nothing for a small one."""
        value = getattr(workload, name)
        if value is None or isinstance(value, bool | int | float):
            return ""
        known = self._known.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        text = workload.model_dump_json(include={name})[1:-1].partition(":")[2]
        if len(text) < LARGE:
            return ""
        digest = hashlib.sha256(text.encode()).hexdigest()
        self._known[id(value)] = value, digest
        self.texts[digest] = text
        return digest


class Parts:
    """The large parts that arrived at a machine."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._coming: dict[str, list[bytes]] = {}

    def take(self, digest: str, piece: bytes, last: bool) -> None:
        """The next piece of a part. Raises GeneratorError when the whole is not what was sent."""
        pieces = self._coming.setdefault(digest, [])
        pieces.append(piece)
        if last:
            whole = b"".join(self._coming.pop(digest))
            if hashlib.sha256(whole).hexdigest() != digest:
                raise GeneratorError("a part of the trial arrived damaged: run the plan again")
            self._texts[digest] = whole.decode()

    def joined(self, cut: CutSpec) -> str:
        """The JSON of a specification."""
        fields = [f"{json.dumps(name)}:{self._texts[digest]}" for name, digest in cut.parts.items()]
        work = ",".join([cut.work[1:-1], *fields])
        return f'{cut.head[:-1]},"workload":{{{work}}}}}'


def send(texts: Mapping[str, str], wanted: Mapping[str, str], sent: set[str], take: Callable[..., Any]) -> None:
    """Send the parts that are `wanted` and were not `sent` yet, in pieces."""
    for digest in set(wanted.values()) - sent:
        whole = texts[digest].encode()
        for start in range(0, len(whole), PIECE):
            take(digest, whole[start : start + PIECE], start + PIECE >= len(whole))
        sent.add(digest)
