"""Data in words: each subject file registers the types that it tells of, `@sentence.register`."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, singledispatch
from importlib import import_module
from typing import Any

import bakeoff.report.narrate as narrate
from bakeoff.kinds import load


@dataclass(frozen=True)
class Sentence:
    """A sentence of the headline; `kind` is that of the verdict it states, `loss`, `crossover` of a ranking that
    changes with the load, or empty for what follows.
    """

    kind: str
    text: str


@singledispatch
def sentence(value: Any) -> str:
    """What a value of a comparison says, in words. Raises TypeError of a type that nobody tells of."""
    text: str = words_for(sentence, type(value))(value)
    return text


def words_for(dispatcher: Any, of: type[Any]) -> Callable[..., Any]:
    """What a dispatcher of words has for this type, once those who may register it are loaded. Raises TypeError of a
    type that nobody tells of.
    """
    load_words(of)
    found: Callable[..., Any] = dispatcher.dispatch(of)
    if found is dispatcher.dispatch(object):
        by = f"{dispatcher.__module__}.{dispatcher.__name__}"
        raise TypeError(f"there are no words for {of.__name__} in words: register it by {by}")
    return found


def is_reported(of: type[Any]) -> bool:
    """Whether there are words for this type; loads those who may have them."""
    load_words(of)
    return sentence.dispatch(of) is not sentence.dispatch(object)


def load_words(of: type[Any]) -> None:
    """Load all who may have words for this type: the subjects, and of its kind of suite the report part."""
    _load_subjects()
    parts = of.__module__.split(".")
    if parts[:2] == ["bakeoff", "kinds"] and len(parts) > 2:
        load(parts[2].replace("_", "-"), "report", default=())


@cache
def _load_subjects() -> None:
    for module in pkgutil.walk_packages(narrate.__path__, f"{narrate.__name__}."):
        import_module(module.name)
