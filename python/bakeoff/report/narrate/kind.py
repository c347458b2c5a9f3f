"""The words of a kind of suite for what comparisons tell by name. `DEFAULT` is what holds for any kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bakeoff.kinds import load

STEPS = {
    "connect": "connecting",
    "tls": "the TLS handshake",
    "stream": "the wait for a stream",
    "written": "writing the request",
    "first_byte": "the wait for the first byte",
    "transfer": "the rest of the reply",
}


@dataclass(frozen=True)
class WordsPart:
    """The part of a kind for words: `client_option_words` say how clients talk with a contender, by setting and its
    value; `error_words` name classes of errors whose own names would mislead; `step_words` name the steps of
    operations.
    """

    client_option_words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    error_words: Mapping[str, str] = field(default_factory=dict)
    step_words: Mapping[str, str] = field(default_factory=lambda: STEPS)


DEFAULT = WordsPart()


def words_part(name: str) -> WordsPart:
    """The words of a kind; the default part for a kind without one, known or not."""
    part: WordsPart = load(name, "words", DEFAULT)
    return part
