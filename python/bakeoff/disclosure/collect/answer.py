"""What the script answered, taken apart: foreign bytes, of which nothing is believed but their order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

HEAD, END = b"@bakeoff-facts 1", b"@end"
MOST_PARTS = 2000
MOST_FILES = 200
LONGEST_NAME = 100
LONGEST_LINE = 4000
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass
class FileAnswer:
    """A file of the machine; `content` is None where it could not be read, was too large, or changed meanwhile."""

    path: str
    size: int | None = None
    content: bytes | None = None
    readable: bool = True


@dataclass(frozen=True)
class Answer:
    """Texts by the name of their part. `complete`: its end came, too."""

    parts: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[FileAnswer] = ()
    complete: bool = False

    def text(self, name: str) -> str:
        """A part, empty where it was not given."""
        return self.parts.get(name, "")

    def line(self, name: str) -> str:
        """The first line of a part."""
        return self.text(name).strip().partition("\n")[0].strip()

    def values(self, name: str) -> dict[str, str]:
        """The lines `path = value` of a part, but those without a value."""
        pairs = (line.partition(" = ") for line in self.text(name).splitlines())
        return {key: value.strip() for key, mark, value in pairs if mark and value.strip()}


def answer_of(data: bytes) -> Answer | None:
    """What was answered; None where the script did not run. Greetings of a login stand before its head."""
    lines = data.split(b"\n")
    if HEAD not in lines:
        return None
    del lines[: lines.index(HEAD) + 1]
    complete = END in lines
    if complete:
        del lines[lines.index(END) :]
    parts: dict[str, str] = {}
    files: list[FileAnswer] = []
    for name, content in _parts(lines)[:MOST_PARTS]:
        if name.startswith("file-"):
            _file(name, content, files)
        elif text := clean(content).strip("\n"):
            parts.setdefault(name, text)
    return Answer(parts, tuple(files[:MOST_FILES]), complete)


def _parts(lines: list[bytes]) -> list[tuple[str, bytes]]:
    """Parts as (name, content)."""
    found: list[tuple[str, list[bytes]]] = []
    for line in lines:
        if line.startswith(b"@"):
            found.append((line[1:].decode("utf-8", "replace")[:LONGEST_NAME], []))
        elif found:
            found[-1][1].append(line)
    return [(name, _unmarked(inner)) for name, inner in found]


def _unmarked(lines: list[bytes]) -> bytes:
    """A part as it was: without the space before each of its lines, and the line end that the script put after it."""
    return b"\n".join(line.removeprefix(b" ") for line in lines)


def clean(content: bytes) -> str:
    """Text of foreign bytes: no control characters but line ends and tabs, no line without end."""
    return "\n".join(line[:LONGEST_LINE] for line in text_of(content).split("\n"))


def text_of(content: bytes) -> str:
    """Text of foreign bytes with no control characters but line ends and tabs."""
    return _CONTROL.sub("�", content.decode("utf-8", "replace").replace("\r\n", "\n"))


def _file(name: str, content: bytes, files: list[FileAnswer]) -> None:
    """One of the parts that tell of a file: its name comes first."""
    if name == "file-name":
        files.append(FileAnswer(clean(content).strip().replace("\n", " ")[:1000]))
    elif files and name == "file-unreadable":
        files[-1].readable = False
    elif files and name == "file-size":
        digits = content.strip()
        files[-1].size = int(digits) if digits.isdigit() and len(digits) < 16 else None
    elif files and name == "file-text":
        exact = content[:-1] if len(content) - 1 == files[-1].size else content  # some sed end each line
        files[-1].content = exact if len(exact) == files[-1].size else None
