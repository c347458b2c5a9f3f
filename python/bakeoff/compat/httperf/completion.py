"""What the shell may put behind the words of a command line of httperf."""

from collections.abc import Iterator, Sequence

from bakeoff.compat.httperf.getopt import LONG, OPTIONS, SHORT, Option, read_words
from bakeoff.core.errors import PlanError
from bakeoff.kinds.httperf.files import METHODS

CHOICES = {
    "http-version": ("1.0", "1.1"),
    "method": METHODS,
    "print-reply": ("header", "body"),
    "print-request": ("header", "body"),
    "ssl-protocol": ("auto", "TLSv1.2", "TLSv1.3"),
    "ssl-verify": ("yes", "no"),
}


def completions(words: Sequence[str], begun: str) -> Iterator[tuple[str, str]]:
    """(word, help) for each that may come after `words` and begins as `begun`; none where it is for the shell, which
    offers files.
    """
    waiting = _waiting(words)
    if waiting is not None:
        yield from ((choice, "") for choice in CHOICES.get(waiting.name, ()) if choice.startswith(begun))
        return
    if not begun.startswith("-"):
        return
    for option in OPTIONS:
        yield from ((word, option.help) for word in _spellings(option) if word.startswith(begun))
    if begun == "-":
        yield from ((f"-{letter}", LONG[name].help) for letter, name in SHORT.items())


def _waiting(words: Sequence[str]) -> Option | None:
    """The option whose value comes next."""
    last = words[-1] if words else ""
    if not last.startswith("-") or "=" in last:
        return None
    try:
        name, value = [*read_words([last, "?"])][-1]
    except PlanError:
        return None
    return LONG[name] if name and value == "?" else None


def _spellings(option: Option) -> Iterator[str]:
    yield f"--{option.name}"
    if option.takes == "maybe":
        yield from (f"--{option.name}={choice}" for choice in CHOICES[option.name])
