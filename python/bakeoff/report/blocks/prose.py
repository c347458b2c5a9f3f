"""Markdown of people to passages: paragraphs, emphasis, code in a line, lists, links to http and https.

There is no HTML and there are no pictures. What is not in that subset is shown as it was typed; renderers escape
passages as they do all text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bakeoff.core.errors import PlanError
from bakeoff.report.blocks.tree import Passage, Span

WEB = re.compile(r"https?://[^\s<>\"'`\\{}|^\x00-\x20\x7f-\x9f]+", re.IGNORECASE)
_UNKNOWN = ("heading", "lheading", "blockquote", "fence", "code", "hr", "reference", "html_block", "html_inline")
_BRACES = re.compile(r"(?<!\\)\{([^{}\n]{0,300})\}")
# Signs of nobody's alphabet keep the place of what is inserted while the text is parsed.
_OPEN, _CLOSE = "\ue000", "\ue001"
_INSERTED = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")


def passages_of(text: str, where: str, insert: Callable[[str], str]) -> tuple[Passage, ...]:
    """The passages of `text`; what stands in braces becomes what `insert` makes of it.

    Raises PlanError, which begins with `where`, for pictures and for links to anything but http and https.
    """
    inserted: list[str] = []

    def hold(match: re.Match[str]) -> str:
        try:
            inserted.append(insert(match[1].strip()))
        except PlanError as error:
            raise PlanError(f"{where}: {{{match[1]}}} {error}") from None
        return f"{_OPEN}{len(inserted) - 1}{_CLOSE}"

    free = text.replace(_OPEN, "\ufffd").replace(_CLOSE, "\ufffd")
    tokens = _parser().parse(_BRACES.sub(hold, free))
    return tuple(
        replace(passage, spans=tuple(_released(span, inserted) for span in passage.spans))
        for passage in _passages(tokens, where)
    )


def _released(span: Span, inserted: Sequence[str]) -> Span:
    return replace(span, text=_INSERTED.sub(lambda match: inserted[int(match[1])], span.text))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).disable(list(_UNKNOWN))
    # Seen here, so that it can be refused by name.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


@dataclass
class _List:
    """A list that is open: its next number, or None for bullets."""

    number: int | None


def _passages(tokens: Sequence[Token], where: str) -> Iterator[Passage]:
    lists: list[_List] = []
    marker = ""
    for token in tokens:
        match token.type:
            case "bullet_list_open":
                lists.append(_List(None))
            case "ordered_list_open":
                lists.append(_List(int(token.attrs.get("start", 1))))
            case "bullet_list_close" | "ordered_list_close":
                lists.pop()
            case "list_item_open":
                last = lists[-1]
                marker = "•" if last.number is None else f"{last.number}."
                last.number = None if last.number is None else last.number + 1
            case "inline":
                yield Passage(tuple(_spans(token.children or (), where)), marker, len(lists))
                marker = ""


def _spans(tokens: Sequence[Token], where: str) -> Iterator[Span]:
    look = Span("")
    styles: Mapping[str, Callable[[Span], Span]] = {
        "strong_open": lambda span: replace(span, strong=True),
        "strong_close": lambda span: replace(span, strong=False),
        "em_open": lambda span: replace(span, emphasis=True),
        "em_close": lambda span: replace(span, emphasis=False),
        "link_close": lambda span: replace(span, link=""),
    }
    for token in tokens:
        if token.type in styles:
            look = styles[token.type](look)
        elif token.type == "link_open":
            look = replace(look, link=_address(str(token.attrs.get("href", "")), where))
        elif token.type == "image":
            raise PlanError(f"{where}: pictures are not shown in a paper: leave ![{token.content[:40]}] out")
        elif token.type in ("softbreak", "hardbreak"):
            yield replace(look, text=" ")
        elif token.content:
            yield replace(look, text=token.content, code=token.type == "code_inline")


def _address(href: str, where: str) -> str:
    if not WEB.fullmatch(href):
        raise PlanError(f"{where}: the link to {href[:80]!r} is not of http:// or https://: write it as text")
    return href
