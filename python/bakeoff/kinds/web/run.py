"""Do all contenders serve the same bytes? A faster server of other content proves nothing."""

import itertools
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from bakeoff.core.errors import ContenderError, PlanError
from bakeoff.core.units import format_size
from bakeoff.kinds.web.checks.check import TRAITS, HttpCheck, reply_difference, same_reply, seen_in, trait_differences
from bakeoff.kinds.web.checks.learned import PAGES_MOST, PAGES_S, Learnt, Seen, bodies, learn, mended, with_reply_check
from bakeoff.kinds.web.checks.probe import Carried, Prober, Reply
from bakeoff.kinds.web.plan import different_bodies, needed_corpus, requests_of, web_settings, workload
from bakeoff.kinds.web.settings.address import parse_web_address
from bakeoff.kinds.web.settings.body import SAFE
from bakeoff.kinds.web.settings.classes import WebClass, web_classes
from bakeoff.kinds.web.settings.http import WITH_STREAMS
from bakeoff.kinds.web.settings.statuses import holds_status, may_differ
from bakeoff.kinds.web.spec import RequestSpec, WebWorkload
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.kind import Note, RunPart
from bakeoff.testdata.corpus.manifest import MANIFEST_NAME, Manifest, parse_manifest, read_manifest

FILES_PER_CLASS = 3
URLS_COMPARED = 20
TRIES = 3


@dataclass(frozen=True)
class _Sample:
    """One request of the sample; `key` names it alike for all contenders, whose paths may have prefixes."""

    cls: WebClass
    key: int
    request: RequestSpec
    # So many are tried, however long they take.
    least: int = 0

    @property
    def name(self) -> tuple[str, int]:
        """Its class and its number there."""
        return self.cls.name, self.key

    @property
    def is_safe(self) -> bool:
        """Whether it may be asked before timing as often as one likes."""
        return self.request.method in SAFE and self.request.body is None


class WebCheck(HttpCheck):
    def __init__(self, plan: Plan) -> None:
        self._settings = web_settings(plan.settings)  # of what is asked, which is the same for all contenders
        super().__init__(plan)
        self._classes = web_classes(plan.classes)
        self._corpus = needed_corpus(plan)
        self._replies: dict[str, dict[tuple[str, int], Reply]] = {}
        self._learnt: dict[str, dict[tuple[str, int], Learnt]] = {}
        self._unsafe_samples: set[tuple[str, int]] = set()
        self.manifest: Manifest | None = None
        self._origin = ""
        self._missing = {c.name for c in self._classes if c.source == "missing"}  # error pages are each server's own
        if self._settings.corpus is not None:
            self._accept(read_manifest(Path(self._settings.corpus)), self._settings.corpus)

    def examine(self, contender: Contender) -> None:
        prober = self._prober(contender)
        prober.begin()
        prober.connect()
        if self._corpus is not None and self._settings.corpus is None:
            self._accept(self._fetch_manifest(prober), contender.name)
        replies: dict[tuple[str, int], Reply] = {}
        learnt: dict[tuple[str, int], Learnt] = {}
        until = time.monotonic() + PAGES_S
        for number, sample in enumerate(self._samples(prober)):
            if number >= sample.least and time.monotonic() > until:
                break
            reply = self._right_reply(prober, sample)
            if not sample.is_safe:
                self._unsafe_samples.add(sample.name)
            replies[sample.name] = replace(reply, body=b"")  # its length and hash are kept
            if sample.request.sha256 is None and sample.is_safe:
                learnt[sample.name] = learn(partial(self._again, prober, sample), seen_in(reply))
        self._replies[contender.name], self._learnt[contender.name] = replies, learnt

    def _fetch_manifest(self, prober: Prober) -> Manifest:
        path = f"{prober.address.prefix}/{MANIFEST_NAME}"
        reply = prober.fetch(path)
        if reply.status != 200:
            raise ContenderError(
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
            raise ContenderError(
                f"{origin} (seed {manifest.seed}) and {self._origin} (seed {self.manifest.seed}) serve "
                f"different corpora: "
                "make both with the same --seed"
            )
        self.manifest, self._origin = manifest, origin

    def _samples(self, prober: Prober) -> list[_Sample]:
        """The smallest, the largest and a random one of each class, the same for every contender; of pages that nobody
        vouches for as many as can be learnt.
        """
        samples, more = [], []
        for cls in self._classes:
            requests = requests_of(cls, self._settings, prober.address, self.manifest)
            wanted = URLS_COMPARED if cls.source == "url" else 2 if cls.source == "missing" else FILES_PER_CLASS
            keys = sorted(range(len(requests)), key=lambda i: (requests[i].length or 0, i))
            chosen = dict.fromkeys([keys[0], keys[-1]][:wanted])
            rest = [i for i in keys if i not in chosen]
            first = max(0, wanted - len(chosen))
            number = min(len(rest), PAGES_MOST if cls.source == "url" else first)
            drawn = random.Random(f"{self.plan.seed} {cls.name}").sample(rest, number)
            samples += [_Sample(cls, i, requests[i]) for i in (*chosen, *drawn[:first])]
            more += [_Sample(cls, i, requests[i]) for i in drawn[first:]]
        every = [*samples, *more][: max(PAGES_MOST, len(samples))]
        return [replace(sample, least=len(samples)) for sample in every]

    def _right_reply(self, prober: Prober, sample: _Sample) -> Reply:
        """A wrong reply is asked for again: a contender that fails now and then is a result, not a wrong
        set-up. What may change something is asked once.
        """
        for _ in range(TRIES - 1 if sample.is_safe else 0):
            reply = prober.fetch(sample.request.path, method=sample.request.method)
            if _fault(sample, reply) is None:
                return reply
            prober.repeated += 1
        request, carried = sample.request, None
        if request.body is not None:
            content = bytes.fromhex(different_bodies(self._settings)[request.body].content)
            carried = Carried(content, request.content_type)
        reply = prober.fetch(request.path, TRIES if sample.is_safe else 1, request.method, carried)
        fault = _fault(sample, reply)
        if fault is None:
            return reply
        if reply.status == 400 and prober.address.scheme == "http" and b"HTTPS" in reply.body:
            fault = "it speaks TLS there: write the address with https://"
        asked = request.path if request.method == "GET" else f"{request.method} {request.path}"
        raise ContenderError(f"{prober.name} ({prober.address.place}): {asked}: {fault}")

    def _again(self, prober: Prober, sample: _Sample) -> Seen:
        return seen_in(self._right_reply(prober, sample))

    def compare(self) -> Sequence[Note]:
        notes = self._repeated() + self._few_streams() + self._unsafe() + self._changing()
        names = list(self._replies)
        differences = self._differences()
        notes += [Note("warning", difference["text"]) for difference in differences if not difference["withhold"]]
        checked = [difference["text"] for difference in differences if difference["withhold"]]
        notes += [Note("warning", f"{text}: there will be no verdict between them") for text in checked]
        for other in names[1:]:
            left, right = (next(iter(self._replies[name].values())) for name in (names[0], other))
            notes += trait_differences(names[0], left, other, right)
        return notes

    def _changing(self) -> list[Note]:
        """Whose pages are not the same twice."""
        notes = []
        for name, pages in self._known().items():
            changing = [key for key, page in pages.items() if page.digest is None and key[0] not in self._missing]
            if changing:
                what = f"{len(changing):,} of {len(pages):,} pages change" if len(pages) > 1 else "the page changes"
                checked = "replies are held to status, length and type, and bodies are not compared"
                notes.append(Note("warning", f"{name}: {what} from request to request: {checked}"))
        return notes

    def _known(self) -> dict[str, dict[tuple[str, int], Learnt]]:
        """What was learnt of each contender, also from what the others serve."""
        return {
            name: {
                key: mended(page, [pages[key] for pages in self._learnt.values() if key in pages and pages is not own])
                for key, page in own.items()
            }
            for name, own in self._learnt.items()
        }

    def _unsafe(self) -> list[Note]:
        """What was asked once alone, as it may change something."""
        methods = sorted(self._settings.methods - SAFE)
        if not methods:
            return []
        asked = f"each path ({URLS_COMPARED} at most) was asked once of each contender before timing"
        checked = "only its status is checked; no reply's content was compared"
        text = f"{', '.join(methods)} may change something: {asked}, and {checked}"
        return [Note("warning", text)]

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
        """The first thing that each pair answers differently (see bakeoff.kinds.web.checks.check.unlike).

        Only contents that no manifest vouches for can differ: the others were refused by `examine`.
        """
        differences, known = [], self._known()
        for one, other in itertools.combinations(self._replies, 2):
            for sample, left in self._replies[one].items():
                right = self._replies[other].get(sample)
                if right is None or sample[0] in self._missing:
                    continue
                pages = [known[name].get(sample) for name in (one, other)]
                changes = [page is not None and page.digest is None for page in pages]
                if all(page is not None and page == pages[0] for page in pages) and not any(changes):
                    continue
                same = same_reply(left, right) and changes[0] == changes[1]
                if same or (sample in self._unsafe_samples and left.status == right.status):
                    continue
                pair = ((one, left), (other, right))
                differences.append(reply_difference(sample[0], pair, tuple(changes), may_differ(self._settings.expect)))
                break
        return differences

    def facts(self) -> dict[str, Any]:
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
        settings = web_settings(self.plan.settings_of(contender.name))
        address, types = parse_web_address(contender.address), settings.http not in WITH_STREAMS
        known: dict[tuple[str, int], RequestSpec] = {}
        learnt = self._known().get(contender.name, {})
        for cls in self._classes:
            requests = requests_of(cls, settings, address, self.manifest)
            if cls.source == "missing":
                page = _error_page([learnt[key] for key in learnt if key[0] == cls.name])
                known |= {
                    (cls.name, i): with_reply_check(one, page, True, types) for i, one in enumerate(requests) if page
                }
                continue
            exact = cls.source != "url" or holds_status(settings.expect)
            for i, one in enumerate(requests):
                page = learnt.get((cls.name, i))
                if page is not None:
                    known[cls.name, i] = with_reply_check(one, page, exact, types)
        return workload(self.plan, contender, addresses, self.manifest, known)

    def _contender_facts(self, name: str) -> dict[str, Any]:
        replies = list(self._replies[name].values())
        facts: dict[str, Any] = {
            "addresses": list(self._probers[name].addresses),
            "server": replies[0].headers.get("server"),
            "checked_requests": len(replies),
        }
        facts["bodies"] = self._bodies(name)
        facts |= {what: of(replies[0]) for what, of in TRAITS.items()}
        return {key: value for key, value in facts.items() if value is not None}

    def _bodies(self, name: str) -> dict[str, int]:
        """Of how many of its pages bodies are compared; error pages are each server's own."""
        address = self._probers[name].address
        settings = web_settings(self.plan.settings_of(name))
        pages = [
            one
            for cls in self._classes
            if cls.source != "missing"
            for one in requests_of(cls, settings, address, self.manifest)
            if one.method != "HEAD"
        ]
        unsafe = sum(one.method not in SAFE or one.body is not None for one in pages)
        vouched = sum(one.sha256 is not None for one in pages)
        learnt = [page for key, page in self._known()[name].items() if key[0] not in self._missing]
        if not settings.check_every:
            return bodies(len(pages), []) | {"unknown": 0, "unchecked": len(pages)}
        return bodies(len(pages), learnt if self._settings.method != "HEAD" else [], unsafe, vouched)


def _error_page(pages: Sequence[Learnt]) -> Learnt | None:
    """What holds for all pages of errors, which may tell the path: never their bytes."""
    if not pages or len({page.status for page in pages}) > 1:
        return None
    least, most = min(page.least for page in pages), max(page.most for page in pages)
    types = {page.content_type for page in pages}
    return Learnt(pages[0].status, least, most, types.pop() if len(types) == 1 else None, ("", "path"))


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
