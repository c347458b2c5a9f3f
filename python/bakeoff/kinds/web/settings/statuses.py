"""Which replies of a web server count: statuses as a user gives them."""

import re

ANY = "any"
DIFFERENT = "different"
SUCCESS = "2xx"
_STATUS = re.compile(r"[1-5](?:[0-9]{2}|xx)")


def parse_expect(value: object) -> str:
    """The words of a setting such as `200,304`, `2xx` or `2xx,different`, in order and each once.

    Raises ValueError for anything else.
    """
    text = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    words = [word.strip().lower() for word in text.split(",")]
    statuses = [word for word in words if word != DIFFERENT]
    single = statuses in ([], [ANY]) or all(_STATUS.fullmatch(word) for word in statuses)
    if not single or words == [""]:
        raise ValueError(
            f"{value!r} does not name statuses: write 200,304 or 2xx, or any for every one; add different where "
            "contenders may answer one path with different bytes"
        )
    kept = sorted(set(statuses)) or [SUCCESS]
    return ",".join([*kept, DIFFERENT] if DIFFERENT in words else kept)


def statuses_of(expect: str) -> tuple[int, ...]:
    """The statuses that count; empty when every one does."""
    statuses: list[int] = []
    for word in expect.split(","):
        if word.endswith("xx"):
            statuses += range(100 * int(word[0]), 100 * int(word[0]) + 100)
        elif word.isdigit():
            statuses.append(int(word))
    return tuple(dict.fromkeys(statuses))


def may_differ(expect: str) -> bool:
    """Whether contenders may answer one path with different bytes."""
    return bool({ANY, DIFFERENT} & set(expect.split(",")))


def holds_status(expect: str) -> bool:
    """Whether a reply must have the status that was learnt: not where a user has named several that count."""
    words = [word for word in expect.split(",") if word != DIFFERENT]
    return ANY not in words and (len(words) == 1 or all(word.endswith("xx") for word in words))
