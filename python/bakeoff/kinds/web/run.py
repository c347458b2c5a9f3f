"""Do all contenders serve the same bytes? A faster server of other content proves nothing."""

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bakeoff.corpus.manifest import MANIFEST_NAME, Manifest, parse_manifest, read_manifest
from bakeoff.errors import PlanError, TargetError
from bakeoff.kinds.web.address import parse_web_address
from bakeoff.kinds.web.classes import WebClass, web_classes
from bakeoff.kinds.web.plan import needed_corpus, requests_of, web_settings, workload
from bakeoff.kinds.web.probe import Prober, Reply
from bakeoff.kinds.web.spec import RequestSpec, WebWorkload
from bakeoff.kinds.web.statuses import may_differ
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.kind import Check, Note, RunPart
from bakeoff.units import format_size

FILES_PER_CLASS = 3
URLS_COMPARED = 20
TRIES = 3


@dataclass(frozen=True)
class _Sample:
    """One request of the sample; `key` names it alike for all contenders, whose paths may have prefixes."""

    cls: WebClass
    key: int
    request: RequestSpec


class WebCheck(Check):
    """See bakeoff.run.kind.Check."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._settings = web_settings(plan.settings)
        self._classes = web_classes(plan.classes)
        self._corpus = needed_corpus(plan)
        self._probers: dict[str, Prober] = {}
        self._replies: dict[str, dict[tuple[str, int], Reply]] = {}
        self._changing: set[tuple[str, tuple[str, int]]] = set()
        self.manifest: Manifest | None = None
        self._origin = ""
        self._missing = {c.name for c in self._classes if c.source == "missing"}  # error pages are each server's own
        if self._settings.corpus is not None:
            self._accept(read_manifest(Path(self._settings.corpus)), self._settings.corpus)

    def answers(self, contender: Contender) -> None:
        """See Check. A whole reply of any status will do: a server may accept before it can answer."""
        prober = self._prober(contender)
        prober.begin()
        prober.fetch(prober.address.target or "/", tries=1)

    def examine(self, contender: Contender) -> None:
        """See Check."""
        prober = self._prober(contender)
        prober.begin()
        prober.connect()
        if self._corpus is not None and self._settings.corpus is None:
            self._accept(self._fetch_manifest(prober), contender.name)
        replies = {}
        self._changing = {(name, key) for name, key in self._changing if name != contender.name}
        for sample in self._samples(prober):
            reply = self._right_reply(prober, sample)
            key = (sample.cls.name, sample.key)
            replies[key] = replace(reply, body=b"")  # its length and hash are kept
            if sample.request.sha256 is None and sample.cls.source != "missing" and len(self.plan.contenders) > 1:
                again = prober.fetch(sample.request.path, method=sample.request.method)
                if not alike(again, reply):
                    self._changing.add((contender.name, key))
        self._replies[contender.name] = replies

    def addresses(self, contender: Contender) -> Sequence[str]:
        """See Check."""
        return self._prober(contender).addresses

    def _prober(self, contender: Contender) -> Prober:
        if contender.name not in self._probers:
            self._probers[contender.name] = Prober(contender.name, parse_web_address(contender.address), self._settings)
        return self._probers[contender.name]

    def _fetch_manifest(self, prober: Prober) -> Manifest:
        path = f"{prober.address.prefix}/{MANIFEST_NAME}"
        reply = prober.fetch(path)
        if reply.status != 200:
            raise TargetError(
                f"{prober.name}: {path} is answered by status {reply.status}: serve a folder made by "
                f"`bakeoff corpus {self._corpus} DIR`, or name that folder with --corpus DIR"
            )
        return parse_manifest(reply.body, f"{prober.name}: {path}")

    def _accept(self, manifest: Manifest, origin: str) -> None:
        if manifest.suite != self._corpus:
            raise PlanError(
                f"{origin} holds the corpus {manifest.suite}, but {self.plan.suite} needs {self._corpus}: make it with "
                f"`bakeoff corpus {self._corpus} DIR`"
            )
        if self.manifest is not None and manifest != self.manifest:
            raise TargetError(
                f"{origin} (seed {manifest.seed}) and {self._origin} (seed {self.manifest.seed}) serve "
                f"different corpora: "
                "make both with the same --seed"
            )
        self.manifest, self._origin = manifest, origin

    def _samples(self, prober: Prober) -> list[_Sample]:
        """The smallest, the largest and a random one of each class: the same for every contender."""
        samples = []
        for cls in self._classes:
            requests = requests_of(cls, self._settings, prober.address, self.manifest)
            wanted = URLS_COMPARED if cls.source == "url" else 1 if cls.source == "missing" else FILES_PER_CLASS
            keys = sorted(range(len(requests)), key=lambda i: (requests[i].length or 0, i))
            chosen = dict.fromkeys([keys[0], keys[-1]][:wanted])
            rest = [i for i in keys if i not in chosen]
            more = min(len(rest), max(0, wanted - len(chosen)))
            chosen |= dict.fromkeys(random.Random(f"{self.plan.seed} {cls.name}").sample(rest, more))
            samples += [_Sample(cls, i, requests[i]) for i in chosen]
        return samples

    def _right_reply(self, prober: Prober, sample: _Sample) -> Reply:
        """A wrong reply is asked for again: a contender that fails now and then is a result, not a wrong
        set-up.
        """
        for _ in range(TRIES - 1):
            reply = prober.fetch(sample.request.path, method=sample.request.method)
            if _fault(sample, reply) is None:
                return reply
            prober.repeated += 1
        reply = prober.fetch(sample.request.path, method=sample.request.method)
        fault = _fault(sample, reply)
        if fault is None:
            return reply
        raise TargetError(f"{prober.name} ({prober.address.place}): {sample.request.path}: {fault}")

    def compare(self) -> Sequence[Note]:
        """See Check."""
        notes = [
            Note("warning", f"{name}: {prober.repeated} of the check's requests had to be repeated")
            for name, prober in self._probers.items()
            if prober.repeated
        ]
        notes += self._few_streams()
        names = list(self._replies)
        differences = self._differences()
        notes += [Note("warning", difference["text"]) for difference in differences if not difference["withhold"]]
        held = [difference["text"] for difference in differences if difference["withhold"]]
        notes += [Note("warning", f"{text}: there will be no verdict between them") for text in held]
        for other in names[1:]:
            notes += self._trait_differences(names[0], other)
        return notes

    def _few_streams(self) -> list[Note]:
        """Who takes fewer requests at once than a connection is to have."""
        notes = []
        for name, replies in self._replies.items():
            allowed = min((r.streams_allowed for r in replies.values() if r.streams_allowed is not None), default=None)
            if allowed is not None and allowed < self._settings.streams:
                wait = "the others wait on the client's side, and their wait counts as response time"
                asked = f"of the {self._settings.streams} asked for"
                notes.append(Note("warning", f"{name} takes {allowed} streams at once on a connection {asked}: {wait}"))
        return notes

    def _differences(self) -> list[dict[str, Any]]:
        """The first thing that each pair answers differently, as JSON values: `between`, `text`, and whether to
        `withhold` the verdict for it.

        Only contents that no manifest vouches for can differ: the others were refused by `examine`. A page that
        changes from request to request cannot be compared.
        """
        differences = []
        for one, other in itertools.combinations(self._replies, 2):
            for sample, left in self._replies[one].items():
                right = self._replies[other].get(sample)
                if right is None or sample[0] in self._missing:
                    continue
                if alike(left, right):
                    continue
                changes = {(one, sample), (other, sample)} & self._changing and left.status == right.status
                text = (
                    f"{one} and {other} answer {sample[0]!r} differently: {one} status {left.status}, "
                    f"{left.length:,} bytes; {other} status {right.status}, {right.length:,} bytes"
                )
                if changes:
                    text += ", but the page changes from request to request"
                withhold = not changes and not may_differ(self._settings.expect)
                differences.append({"between": [one, other], "text": text, "withhold": withhold})
                break
        return differences

    def _trait_differences(self, one: str, other: str) -> list[Note]:
        notes = []
        left, right = (next(iter(self._replies[name].values())) for name in (one, other))
        for what, of in TRAITS.items():
            if of(left) != of(right):
                said = [
                    f"{name} {'tells none' if of(r) is None else of(r)}" for name, r in ((one, left), (other, right))
                ]
                notes.append(Note("info", f"{what} differ: {', '.join(said)}"))
        return notes

    def facts(self) -> dict[str, Any]:
        """See Check."""
        corpus = None
        if self.manifest is not None:
            m = self.manifest
            corpus = {
                "suite": m.suite,
                "seed": m.seed,
                "files": m.files,
                "bytes": m.bytes_total,
                "sha256": m.sha256,
            }
        return {
            "corpus": corpus,
            "contenders": {name: self._contender_facts(name) for name in self._replies},
            "differences": self._differences(),
        }

    def workload(self, contender: Contender, addresses: Sequence[str]) -> WebWorkload:
        """See Check."""
        return workload(self.plan, contender, addresses, self.manifest)

    def _contender_facts(self, name: str) -> dict[str, Any]:
        replies = list(self._replies[name].values())
        facts: dict[str, Any] = {
            "addresses": list(self._probers[name].addresses),
            "server": replies[0].headers.get("server"),
            "checked_requests": len(replies),
        }
        facts |= {what: of(replies[0]) for what, of in TRAITS.items()}
        return {key: value for key, value in facts.items() if value is not None}


TRAITS: dict[str, Callable[[Reply], Any]] = {
    "bytes of reply headers": lambda reply: reply.head_bytes or None,
    "HTTP versions of replies": lambda reply: reply.version,
    "keep-alive": lambda reply: "kept" if reply.kept_alive else "closed",
    "content types": lambda reply: reply.headers.get("content-type"),
    "content encodings": lambda reply: reply.headers.get("content-encoding"),
    "streams at once on a connection": lambda reply: reply.streams_allowed,
    "TLS": lambda reply: reply.tls,
}


def alike(left: Reply, right: Reply) -> bool:
    """Whether both say the same. Replies to HEAD have no bytes to compare, but most state how many there are."""
    if (left.status, left.digest) != (right.status, right.digest):
        return False
    stated = all("content-length" in reply.headers for reply in (left, right))
    return not stated or left.length == right.length


def _fault(sample: _Sample, reply: Reply) -> str | None:
    """What is wrong with a reply, or None."""
    if sample.cls.expect and reply.status not in sample.cls.expect:
        if sample.cls.source == "url":
            return (
                f"status {reply.status}: correct the address, or give `--expect {reply.status}` if that is what is "
                "to be measured"
            )
        wanted = " or ".join(map(str, sample.cls.expect))
        return f"status {reply.status} instead of {wanted}: does it serve the folder made by `bakeoff corpus`?"
    wanted_length = sample.request.length
    if wanted_length is not None and reply.length != wanted_length:
        return (
            f"{format_size(reply.length)} ({reply.length} bytes) instead of {wanted_length} bytes: "
            f"serve the files "
            "unchanged, without compression or filters"
        )
    if sample.request.sha256 not in (None, reply.digest):
        return "other bytes than the corpus has: copy the corpus again, with one --seed for all contenders"
    return None


PART = RunPart(WebCheck)
