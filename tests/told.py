"""What a comparison says in sentences, for tests that are about words."""

from collections.abc import Iterable
from typing import Any

from bakeoff.compare.model import Comparison
from bakeoff.report.narrate.headline import headline
from bakeoff.report.narrate.sentences import sentence


def headline_of(found: Comparison) -> tuple[str, ...]:
    """The sentences of its headline."""
    return tuple(sentence.text for sentence in headline(found))


def kinds_of(found: Comparison) -> tuple[str, ...]:
    """What sort of sentence each of them is."""
    return tuple(sentence.kind for sentence in headline(found))


def texts_of(values: Iterable[Any]) -> tuple[str, ...]:
    """The words of each."""
    return tuple(map(sentence, values))
