"""The report as Markdown, for a comment on a change or a page of a wiki; its charts are SVG files beside it.

What the page folds away is folded here as well. Nothing in a name or a reason is read as markup, or calls anybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bakeoff.core.sanitize import sanitize
from bakeoff.report.blocks import tree
from bakeoff.report.charts.svg import check_drawing, draw
from bakeoff.report.embed.report_options import options_line
from bakeoff.report.layout.chapters import chapters_of

SIGNS = {"plain": "", "good": "✅ ", "warning": "⚠️ ", "bad": "❌ "}
_MARKUP = re.compile(r"([\\*_\[\]|~#!$])")
# What would open a list at the start of a line.
_NO_BLOCK = re.compile(r"^(\d{0,9})([-+.)])")
_CODE = re.compile(r"`([^`]+)`")


def prepare() -> None:
    check_drawing()


def render(report: tree.Report, stem: str = "report") -> bytes:
    parts = [*_head(report), *_result(report)]
    parts.append("\n".join(f"- {_plain(name)}: {_plain(value)}" for name, value in report.facts))
    for chapter in chapters_of(report):
        parts.append(f"## {_plain(chapter.heading)}")
        for section in chapter.sections:
            parts += [f"### {_plain(section.title)}" if section.title else ""]
            parts += [_block(block, stem) for block in section.blocks]
    if line := options_line(report.embedded):
        parts.append(f"<!-- {line} -->")
    return sanitize("\n\n".join(part for part in parts if part) + "\n").encode("utf-8", "backslashreplace")


def sidecar_files(report: tree.Report, stem: str) -> Mapping[str, bytes]:
    return {_figure(chart, stem): draw(chart).encode() for chart in report.charts()}


def _head(report: tree.Report) -> Iterable[str]:
    """One title, the author's where there is one, with what was compared below it."""
    cover = report.cover
    own = cover.title if cover is not None else ""
    below = [report.title, report.subtitle] if own else [report.subtitle]
    yield f"# {_plain(own or report.title)}"
    yield _plain(". ".join(below))
    if cover is not None:
        lines = [f"{_plain(name)}: {_plain(value)}" for name, value in cover.lines]
        yield " · ".join([*lines, f"<sub>{_plain(cover.by)}</sub>"])


def _result(report: tree.Report) -> Iterable[str]:
    lines = [f"**{SIGNS[report.severity]}{_plain(report.verdict)}**"]
    sentences = [
        f"{SIGNS[severity]}{_plain(text)}" for text, severity in zip(report.headline, report.severities, strict=True)
    ]
    caveat = [f"**{SIGNS['warning']}{_plain(report.caveat)}**"] if report.caveat else []
    lines += [*sentences[:1], *caveat, *sentences[1:]]
    return ("\n".join(f"> {line}\n>" for line in lines),)


def _block(block: tree.Block, stem: str) -> str:
    match block:
        case tree.Text():
            return f"{SIGNS[block.severity]}{_worded(block.text)}" + (
                f" *{_worded(block.advice)}*" if block.advice else ""
            )
        case tree.Bullets():
            return "\n".join(f"- {_worded(item)}" for item in block.items)
        case tree.Table():
            return (
                _folded(block.title, _table(block)) if block.folded else f"**{_plain(block.title)}**\n\n{_table(block)}"
            )
        case tree.Chart():
            shown = f"![{_plain(block.description)}]({_figure(block, stem)})"
            if block.folded:
                return _folded(block.title, f"{shown}\n\n{_table(block.table)}")
            return f"{shown}\n\n{_folded(f'{block.title}: values', _table(block.table))}"
        case tree.Cards():
            return _cards(block)
        case tree.Listing():
            fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", block.text) or [""]))
            return _folded(block.title, f"{fence}\n{block.text}\n{fence}")
        case tree.Prose():
            by = [f"<sub>{_plain(block.by)}</sub>"] if block.by else []
            return "\n\n".join((*by, *map(_passage, block.passages)))


def _passage(passage: tree.Passage) -> str:
    """A paragraph; items keep their marker as text, for lists of people begin and end anywhere."""
    words = "".join(map(_span, passage.spans)).strip()
    head = "&emsp;" * passage.level + (f"{_plain(passage.marker)} " if passage.marker else "")
    return head + (words if head else _NO_BLOCK.sub(r"\1\\\2", words))


def _span(span: tree.Span) -> str:
    """By tags, which mean the same wherever they stand: stars do not."""
    words = _plain(span.text)
    for wanted, tag in ((span.code, "code"), (span.emphasis, "em"), (span.strong, "strong")):
        words = f"<{tag}>{words}</{tag}>" if wanted else words
    return f"[{words}](<{span.link.replace('@', '%40')}>)" if span.link else words


def _table(table: tree.Table) -> str:
    if not table.rows:
        return ""
    heads = [_plain(f"{column.group}: {column.title}" if column.group else column.title) for column in table.columns]
    lines = [heads, ["--:" if column.numeric else ":--" for column in table.columns]]
    lines += [[_plain(cell) for cell in row] for row in table.rows]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{text}\n\n<sub>{_worded(table.note)}</sub>" if table.note else text


def _cards(cards: tree.Cards) -> str:
    """A column for each: a table is as near to cards as Markdown comes."""
    labels = list(dict.fromkeys(name for card in cards.cards for name, _ in card.lines))
    lines = [["", *(_plain(card.title) for card in cards.cards)], [":--", *("--:" for _ in cards.cards)]]
    lines.append(["", *(f"**{_plain(card.figure)}** {_plain(card.caption)}" for card in cards.cards)])
    lines += [[_plain(label), *(_plain(dict(card.lines).get(label, "–")) for card in cards.cards)] for label in labels]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{_plain(title)}</summary>\n\n{text}\n\n</details>" if text else ""


def _figure(chart: tree.Chart, stem: str) -> str:
    return f"{stem}.figures/{chart.id}.svg"


def _worded(text: str) -> str:
    """Escaped text in which `words between backticks` stay code."""
    return "".join(f"`{part}`" if at % 2 else _plain(part) for at, part in enumerate(_CODE.split(text)))


def _plain(text: str) -> str:
    """Text that is read as it is: on one line, without markup, and no call to who is named after an @."""
    escaped = re.sub(r"\s+", " ", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKUP.sub(r"\\\1", escaped).replace("`", "&#96;").replace("@", "&#64;")
