"""What is to be known of a fact, and what to do about it: each file of words registers its own here."""

from __future__ import annotations

from functools import singledispatch

from bakeoff.compare.fact import Fact, Said
from bakeoff.report.narrate.sentences import load_words


@singledispatch
def advised(fact: Fact) -> tuple[str, str]:
    """The words of a fact: a text, and what to do about it."""
    load_words(type(fact))
    if advised.dispatch(type(fact)) is advised.dispatch(object):
        raise TypeError(f"nobody has words for {fact.kind}: register them in bakeoff.report.narrate")
    return advised(fact)


@advised.register
def _(fact: Said) -> tuple[str, str]:
    return fact.words, fact.advice
