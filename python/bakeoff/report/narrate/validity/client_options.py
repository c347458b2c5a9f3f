"""How clients talk with contenders otherwise than with each other, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bakeoff.compare.validity.client_options_model import (
    ClientOption,
    ClientOptionsDiffer,
    ClientOptionsDifferAdvice,
    differing,
)
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advised import advised
from bakeoff.report.narrate.kind import WordsPart, words_part
from bakeoff.report.narrate.sentences import sentence

if TYPE_CHECKING:
    from bakeoff.compare.model.comparison import Comparison

# So many ways of talking are told in a sentence, and so many contenders of each by name.
WAYS, NAMES = 4, 3


def ways(client_options: Sequence[ClientOption], kind: WordsPart, names: Sequence[str]) -> dict[str, str]:
    """How each is talked to, as far as these differ among `names`: "over HTTP/2"."""
    differ = differing(client_options, names)
    return {
        name: wording.names([_words(kind, option.setting, option.values.get(name, "?")) for option in differ])
        for name in names
        if differ
    }


def client_option_words(client_options: Sequence[ClientOption], kind: WordsPart, names: Sequence[str]) -> str:
    """ "b is measured over HTTP/2, a over HTTP/1.1"; empty where all are talked to alike. Of many ways the first."""
    found = ways(client_options, kind, names)
    by_way: dict[str, list[str]] = {}
    for name, way in found.items():
        by_way.setdefault(way, []).append(name)
    parts = [f"{_named(names)} {way}" for way, names in by_way.items()]
    if not parts:
        return ""
    first, *others = parts if len(parts) <= WAYS else [*parts[: WAYS - 1], "others otherwise"]
    names = next(iter(by_way.values()))
    verb = "is" if len(names) == 1 else "are"
    head = _named(names)
    return ", ".join([f"{head} {verb} measured{first.removeprefix(head)}", *others])


def client_options_sentence(found: Comparison) -> str:
    """The same as a sentence of the headline."""
    names = [name for option in found.client_options[:1] for name in option.values]
    words = client_option_words(found.client_options, words_part(found.run.kind), names)
    return f"{words}: ratios are of that difference, too." if words else ""


@sentence.register
def client_options_text(difference: ClientOptionsDiffer) -> str:
    """See `client_option_words`."""
    return client_option_words(difference.client_options, words_part(difference.kind_of_suite), difference.between)


@advised.register
def _(fact: ClientOptionsDifferAdvice) -> tuple[str, str]:
    return (
        f"Contenders are not asked alike: {client_options_text(fact)}. What an operation costs the generator differs "
        "with it, and so does what it could ask at most.",
        "Read a ratio as one of server and setting together; to compare servers alone, give all of them one setting. "
        "The section on the load generator has the cost for each.",
    )


def _named(names: Sequence[str]) -> str:
    left = len(names) - NAMES
    return wording.names(list(names) if left <= 0 else [*names[:NAMES], wording.plural(left, "other")])


def _words(kind: WordsPart, setting: str, value: str) -> str:
    return kind.client_option_words.get(setting, {}).get(value) or f"with {setting} {value}"
