"""What checks of contenders over HTTP have in common: whom they ask, and how they tell two replies apart."""

from collections.abc import Callable, Sequence
from typing import Any

from bakeoff.kinds.web.checks.learned import Seen
from bakeoff.kinds.web.checks.probe import Prober, Reply
from bakeoff.kinds.web.settings.address import parse_web_address
from bakeoff.kinds.web.settings.http import HttpSettings
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.kind import Check, Note


class HttpCheck(Check):
    """See bakeoff.run.kind.Check. It has one prober for each contender, who asks as clients of the run will."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._probers: dict[str, Prober] = {}

    def answers(self, contender: Contender) -> None:
        """See Check. A whole reply of any status will do: a server may accept before it can answer."""
        prober = self._prober(contender)
        prober.begin()
        prober.fetch(prober.address.target or "/", tries=1)

    def addresses(self, contender: Contender) -> Sequence[str]:
        return self._prober(contender).addresses

    def _prober(self, contender: Contender) -> Prober:
        if contender.name not in self._probers:
            self._probers[contender.name] = self._new_prober(contender)
        return self._probers[contender.name]

    def _new_prober(self, contender: Contender) -> Prober:
        settings = self.plan.settings_of(contender.name)
        assert isinstance(settings, HttpSettings)
        return Prober(contender.name, parse_web_address(contender.address), settings)

    def _repeated(self) -> list[Note]:
        """Who had to be asked again."""
        return [
            Note("warning", f"{name}: {prober.repeated} of the check's requests had to be repeated")
            for name, prober in self._probers.items()
            if prober.repeated
        ]


TRAITS: dict[str, Callable[[Reply], Any]] = {
    "bytes of reply headers": lambda reply: reply.head_bytes or None,
    "HTTP versions of replies": lambda reply: reply.version,
    "keep-alive": lambda reply: "kept" if reply.kept_alive else "closed",
    "content types": lambda reply: reply.headers.get("content-type"),
    "content encodings": lambda reply: reply.headers.get("content-encoding"),
    "streams at once on a connection": lambda reply: reply.streams_allowed,
    "TLS": lambda reply: reply.tls,
}


def trait_differences(one: str, left: Reply, other: str, right: Reply) -> list[Note]:
    """What else than content the replies of two contenders to one request differ in."""
    notes = []
    for what, of in TRAITS.items():
        if of(left) != of(right):
            values = [f"{name} {'tells none' if of(r) is None else of(r)}" for name, r in ((one, left), (other, right))]
            notes.append(Note("info", f"{what} differ: {', '.join(values)}"))
    return notes


def same_reply(left: Reply, right: Reply) -> bool:
    """Whether both say the same. Replies to HEAD have no bytes to compare, but most state how many there are."""
    if (left.status, left.digest) != (right.status, right.digest):
        return False
    stated = all("content-length" in reply.headers for reply in (left, right))
    return not stated or left.length == right.length


def seen_in(reply: Reply) -> Seen:
    """What is learnt of a reply."""
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    return Seen(reply.status, reply.length, reply.digest, kind)


def reply_difference(
    what: str, replies: tuple[tuple[str, Reply], tuple[str, Reply]], changes: Sequence[bool], allowed: bool
) -> dict[str, Any]:
    """What two contenders answer differently, as JSON values: `between`, `text`, and whether to `withhold` the verdict
    for it. A page that `changes` from request to request with both cannot be compared, as long as the status is one.
    """
    (one, left), (other, right) = replies
    both = all(changes) and left.status == right.status
    same_length = (left.status, left.length) == (right.status, right.length)
    text = (
        f"{one} and {other} answer {what!r} differently: {one} status {left.status}, "
        f"{left.length:,} bytes; {other} status {right.status}, {right.length:,} bytes"
        f"{', but not the same ones' if same_length else ''}"
    )
    if both:
        text += ", but the page changes from request to request"
    elif any(changes):
        text += f"; that of {one if changes[0] else other} changes from request to request"
    return {"between": [one, other], "text": text, "withhold": not both and not allowed}
