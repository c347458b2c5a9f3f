"""Do contenders serve what the log asks for, and do all serve the same?"""

import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bakeoff.core.errors import ContenderError
from bakeoff.kinds.replay.log import LogSample
from bakeoff.kinds.replay.plan import host_of, replay_settings, trace_and_samples, workload
from bakeoff.kinds.replay.spec import ReplayWorkload
from bakeoff.kinds.spec import Workload
from bakeoff.kinds.web.checks.check import HttpCheck, reply_difference, same_reply, seen_in, trait_differences
from bakeoff.kinds.web.checks.learned import PAGES_S, Learnt, Seen, bodies, learn, mended, with_reply_check
from bakeoff.kinds.web.checks.probe import Prober, Reply
from bakeoff.kinds.web.settings.address import parse_web_address
from bakeoff.kinds.web.spec import RequestSpec
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.kind import Note, RunPart

# So many requests are tried, however long they take.
LEAST_TRIED = 20
# Which statuses stand for each other, as in the engine (`crates/workloads/src/replay/expect.rs`).
FILE = frozenset({200, 206, 304})
REDIRECT = frozenset({301, 302, 303, 307, 308})
BROKEN_OFF = frozenset({408, 499})


def fits(logged: int, status: int) -> bool:
    """Whether a reply of `status` is what a line of the log with `logged` lets expect."""
    if status >= 500:
        return False
    alternatives = next((group for group in (FILE, REDIRECT) if logged in group), frozenset({logged}))
    return status in alternatives or logged in BROKEN_OFF or logged >= 500


class ReplayCheck(HttpCheck):
    """See bakeoff.run.kind.Check. The most asked requests of the log are tried."""

    def __init__(self, plan: Plan) -> None:
        self._settings = replay_settings(plan.settings)  # of what is asked, which is the same for all contenders
        super().__init__(plan)
        _, self._samples = trace_and_samples(self._settings)
        self._replies: dict[str, list[Reply]] = {}
        self._learnt: dict[str, list[Learnt]] = {}

    def examine(self, contender: Contender) -> None:
        """See Check. Raises ContenderError when no request at all is answered as in the log."""
        prober = self._prober(contender)
        prober.begin()
        prober.connect()
        replies: list[Reply] = []
        learnt: list[Learnt] = []
        until = time.monotonic() + PAGES_S
        for key in range(len(self._samples)):
            if key >= LEAST_TRIED and time.monotonic() > until:
                break
            replies.append(self._fetch(prober, key))
            learnt.append(learn(partial(self._again, prober, key), seen_in(replies[-1])))
        self._replies[contender.name], self._learnt[contender.name] = replies, learnt
        tried = self._samples[: len(replies)]
        wrong = [key for key, sample in enumerate(tried) if not fits(sample.status, replies[key].status)]
        if wrong and len(wrong) == len(tried) and self._settings.statuses == "log":
            sample, reply = self._samples[0], replies[0]
            raise ContenderError(
                f"{prober.name} ({prober.address.place}): {sample.method} {sample.path} is answered by status "
                f"{reply.status}, the log has {sample.status}, and none of the {len(wrong)} most frequent requests has "
                "the status of the log: does it serve that site? (--host names it; --statuses any takes any)"
            )

    def _again(self, prober: Prober, key: int) -> Seen:
        return seen_in(self._fetch(prober, key))

    def _known(self) -> dict[str, list[Learnt]]:
        """What was learnt of each contender, also from what the others serve."""
        return {
            name: [
                mended(
                    page, [pages[key] for other, pages in self._learnt.items() if other != name and key < len(pages)]
                )
                for key, page in enumerate(own)
            ]
            for name, own in self._learnt.items()
        }

    def _fetch(self, prober: Prober, key: int) -> Reply:
        sample = self._samples[key]
        prober.host = host_of(self._settings, prober.address, sample)
        return replace(prober.fetch(prober.address.prefix + sample.path, method=sample.method), body=b"")

    def _new_prober(self, contender: Contender) -> Prober:
        prober = super()._new_prober(contender)
        prober.host = host_of(self._settings, prober.address)
        return prober

    def compare(self) -> Sequence[Note]:
        notes = self._repeated()
        notes += [Note("warning", text) for name in self._replies for text in self._log_mismatches(name)]
        for difference in self._differences():
            withheld = (
                ": there will be no verdict between them (--different allows it)" if difference["withhold"] else ""
            )
            notes.append(Note("warning", f"{difference['text']}{withheld}"))
        names = list(self._replies)
        for other in names[1:] if self._samples else []:
            notes += trait_differences(names[0], self._replies[names[0]][0], other, self._replies[other][0])
        return notes

    def _log_mismatches(self, name: str) -> list[str]:
        replies = self._replies[name]
        tried = self._samples[: len(replies)]
        wrong = [key for key, sample in enumerate(tried) if not fits(sample.status, replies[key].status)]
        if not wrong:
            return []
        sample, reply = self._samples[wrong[0]], replies[wrong[0]]
        first = f"{sample.method} {sample.path} by status {reply.status}, the log has {sample.status}"
        return [f"{name} answers {len(wrong)} of {len(tried)} tried requests unlike the log: {first}"]

    def _differences(self) -> list[dict[str, Any]]:
        """The first request that each pair answers differently, as JSON values (see `failures/content.py`)."""
        differences, known = [], self._known()
        for one, other in itertools.combinations(self._replies, 2):
            for key, (left, right) in enumerate(zip(self._replies[one], self._replies[other], strict=False)):
                pages = [known[name][key] for name in (one, other)]
                changes = [page.digest is None for page in pages]
                same = same_reply(left, right) and changes[0] == changes[1]
                if same or (pages[0] == pages[1] and not any(changes)):
                    continue
                pair = ((one, left), (other, right))
                differences.append(reply_difference(self._samples[key].path, pair, changes, self._settings.different))
                break
        return differences

    def facts(self) -> dict[str, Any]:
        contenders = {
            name: {
                "addresses": list(prober.addresses),
                "checked_requests": len(self._replies.get(name, ())),
                "bodies": self._bodies(name),
                **({"server": server} if (server := self._server(name)) else {}),
            }
            for name, prober in self._probers.items()
        }
        return {"corpus": None, "contenders": contenders, "differences": self._differences()}

    def _server(self, name: str) -> str | None:
        replies = self._replies.get(name)
        return replies[0].headers.get("server") if replies else None

    def workload(self, contender: Contender, addresses: Sequence[str]) -> ReplayWorkload:
        s = replay_settings(self.plan.settings_of(contender.name))
        prefix, exact = parse_web_address(contender.address).prefix, s.statuses == "log"
        learnt: list[tuple[LogSample, RequestSpec]] = []
        for sample, page in zip(self._samples, self._known().get(contender.name, []), strict=False):
            asked = RequestSpec(method=sample.method, path=prefix + sample.path, length=None, sha256=None)
            if page.status is not None:
                learnt.append((sample, with_reply_check(asked, page, exact)))
        return workload(self.plan, contender, addresses, learnt)

    def _bodies(self, name: str) -> dict[str, int]:
        """Of how many of the different requests of the log bodies are compared; replies to HEAD have none."""
        log = self._settings.log
        known = self._known().get(name, [])
        learnt = [page for sample, page in zip(self._samples, known, strict=False) if sample.method != "HEAD"]
        heads = len(known) - len(learnt)
        return bodies(0 if log is None else max(log.different - heads, len(learnt)), learnt)


class ReplayRunPart(RunPart):
    """The trace of a log lies where it was made."""

    def here(self, plan: Plan, workload: Workload) -> Workload:
        trace, _ = trace_and_samples(replay_settings(plan.settings))
        return workload.model_copy(update={"trace": str(trace)})


PART = ReplayRunPart(ReplayCheck)
