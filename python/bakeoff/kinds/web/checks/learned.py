"""What replies are, learnt before timing: each page is asked for at least twice, and held to what stays the same.

A page that is the same twice is held to status, length and bytes. One that changes is held to its status, its content
type and lengths near those that were seen; nobody can compare its bytes.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bakeoff.kinds.web.spec import ReplySpec, RequestSpec

# Replies that are asked for, of a page that stays and of one that changes.
TWICE, OFTEN = 2, 6
# A page that changes may be so much shorter than the shortest that was seen, beside what these differ by; and longer by
# as much as the longest has, and these bytes, for who sends more has no advantage.
SHORTER_SHARE, SHORTER_BYTES, LONGER_BYTES = 0.1, 16, 65_536
# Pages that are learnt of each contender, as long as that takes no longer than this, in seconds.
PAGES_MOST, PAGES_S = 1_000, 10.0


@dataclass(frozen=True)
class Seen:
    """A reply: its status, the bytes and the SHA-256 in hex of its body, and its content type ("": not told)."""

    status: int
    length: int
    digest: str
    content_type: str = ""


@dataclass(frozen=True)
class Learnt:
    """What the replies to a request were. `seen` has each different body once, the most frequent first."""

    status: int | None
    least: int
    most: int
    content_type: str | None
    seen: tuple[str, ...]

    @property
    def digest(self) -> str | None:
        """The SHA-256 of a page that does not change."""
        return self.seen[0] if self.status is not None and len(self.seen) == 1 else None


def learn(fetch: Callable[[], Seen], first: Seen) -> Learnt:
    """Asks once more, and of a page that has changed some times more."""
    replies = [first, fetch()]
    while len(set(replies)) > 1 and len(replies) < OFTEN:
        replies.append(fetch())
    return learnt_of(replies)


def learnt_of(replies: Sequence[Seen]) -> Learnt:
    """What is the same in all of them, of one at least."""
    statuses, types = {reply.status for reply in replies}, {reply.content_type for reply in replies}
    lengths = [reply.length for reply in replies]
    often = Counter(reply.digest for reply in replies).most_common()
    return Learnt(
        status=statuses.pop() if len(statuses) == 1 else None,
        least=min(lengths),
        most=max(lengths),
        content_type=(types.pop() or None) if len(types) == 1 else None,
        seen=tuple(digest for digest, _ in often),
    )


def mended(own: Learnt, others: Sequence[Learnt]) -> Learnt:
    """`own`, or what it must be: a page that another contender always serves with bytes that this one serves now and
    then does not change, and the other replies are wrong.
    """
    if own.digest is not None or own.status is None:
        return own
    for other in others:
        if other.digest in own.seen and other.status == own.status:
            return other
    return own


def with_reply_check(request: RequestSpec, learnt: Learnt, exact: bool, types: bool = True) -> RequestSpec:
    """A request whose reply is held to what was learnt. With `exact` no other status counts; the engine knows no
    content `types` of replies over HTTP/2 and HTTP/3.
    """
    if learnt.status is None:
        return request
    reply = ReplySpec(status=learnt.status, exact=exact)
    if request.method == "HEAD":
        return request.model_copy(update={"reply": reply})
    if learnt.digest is not None:
        return request.model_copy(update={"length": learnt.most, "sha256": learnt.digest, "reply": reply})
    shorter = round(SHORTER_SHARE * learnt.least) + SHORTER_BYTES + learnt.most - learnt.least
    near = {
        "least_bytes": max(min(1, learnt.least), learnt.least - shorter),
        "most_bytes": 2 * learnt.most + LONGER_BYTES,
        "content_type": learnt.content_type if types else None,
    }
    return request.model_copy(update={"reply": reply.model_copy(update=near)})


def bodies(all_pages: int, learnt: Sequence[Learnt], unsafe: int = 0, vouched: int = 0) -> dict[str, int]:
    """How many of a contender's pages are held to their bytes, and why the others are not, for the record of a run."""
    same = sum(one.digest is not None for one in learnt)
    return {
        "pages": all_pages,
        "held": same + vouched,
        "changing": len(learnt) - same,
        "unsafe": unsafe,
        "unknown": all_pages - vouched - unsafe - len(learnt),
    }
