"""What is to be known of a fact, and what to do about it: each file of words registers its own here."""

from __future__ import annotations

from functools import singledispatch

from bakeoff.compare.model.fact import Fact
from bakeoff.report.narrate.sentences import words_for


@singledispatch
def advised(fact: Fact) -> tuple[str, str]:
    """The words of a fact: a text, and what to do about it."""
    words: tuple[str, str] = words_for(advised, type(fact))(fact)
    return words
