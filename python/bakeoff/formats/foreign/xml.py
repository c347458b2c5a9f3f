"""XML of foreign files, event by event. Document types are refused, and with them all entities of a file's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from xml.parsers import expat

from bakeoff.core.errors import PlanError
from bakeoff.formats.foreign.source import refused

MOST_DEPTH = 100


def _nothing(_: str) -> None:
    pass


@dataclass(frozen=True)
class Handlers:
    """What is called for the begin of an element (its name without a prefix, its attributes), its end, and its text."""

    begin: Callable[[str, Mapping[str, str]], None]
    end: Callable[[str], None] = _nothing
    text: Callable[[str], None] = _nothing


def parse_xml(parts: Iterable[bytes], handlers: Handlers) -> None:
    """Reads a document in `parts`. Raises PlanError with the line at fault."""
    parser = expat.ParserCreate()
    depth = 0

    def begin(element: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MOST_DEPTH:
            raise refused(parser.CurrentLineNumber, f"its XML is nested deeper than {MOST_DEPTH} elements")
        handlers.begin(element.rpartition(":")[2], attributes)

    def end(element: str) -> None:
        nonlocal depth
        depth -= 1
        handlers.end(element.rpartition(":")[2])

    def forbidden(*_: object) -> None:
        raise refused(parser.CurrentLineNumber, "it has a document type: results need none, and entities are not read")

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = handlers.text
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = forbidden
    parser.buffer_text = True
    try:
        for part in parts:
            parser.Parse(part, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise PlanError(f"line {error.lineno}: it is not XML: {expat.ErrorString(error.code)}") from None
