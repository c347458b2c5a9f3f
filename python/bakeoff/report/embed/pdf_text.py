"""A PDF, read by a process of its own: what comes from anywhere may need all memory, never end, or crash its reader.

That process is this module: the PDF comes in, one line of JSON goes out.
"""

from __future__ import annotations

import ctypes
import hashlib
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bakeoff.core.errors import GeneratorError, PlanError

if TYPE_CHECKING:
    import pypdfium2

ATTACHED = "data.json"
MOST_BYTES = 64 << 20
MOST_ATTACHMENTS = 100
MOST_PAGES, LARGEST_PAGE = 5_000, 5_000.0
"""The sides of a page are in points."""
MEMORY_BYTES, PROCESSOR_S, PATIENCE_S = 1 << 30, 120, 240.0
ADVICE = "reading a PDF needs pypdfium2: pip install 'bakeoff[pdf]'"
TOO_MUCH = (
    "this PDF cannot be read within the memory and time that one of Bakeoff's needs: get it from where it was made"
)
NOT_OURS = "this PDF is none that Bakeoff wrote"


@dataclass(frozen=True)
class Printed:
    """The text of the data that is attached, "{}" where there is none; all words, and a hash of each page's looks."""

    data: str
    words: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()


def printed(content: bytes, with_pages: bool) -> Printed:
    """What a PDF holds. Raises GeneratorError where it cannot be read, PlanError where it is none of Bakeoff's."""
    # -P: a report may lie beside files that are called like modules.
    words = [sys.executable, "-P", "-m", __name__, *(["pages"] if with_pages else [])]
    try:
        done = subprocess.run(words, input=content, capture_output=True, timeout=PATIENCE_S, check=False)
        found = json.loads(done.stdout) if done.returncode == 0 else {"unread": TOO_MUCH}
    except (subprocess.TimeoutExpired, ValueError):
        raise GeneratorError(TOO_MUCH) from None
    if "unread" in found:
        raise GeneratorError(found["unread"])
    if "foreign" in found:
        raise PlanError(found["foreign"])
    return Printed(found["data"], tuple(found["words"]), tuple(found["pages"]))


def main() -> None:
    """Read the PDF of standard input, and write what it holds."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    content = sys.stdin.buffer.read()
    sys.stdout.write(json.dumps(_read(content, "pages" in sys.argv[1:])))


def _read(content: bytes, with_pages: bool) -> dict[str, Any]:
    try:
        import pypdfium2
    except ImportError:
        return {"unread": ADVICE}
    try:
        document = pypdfium2.PdfDocument(io.BytesIO(content))
        data = _attached(document)
        if data is None or (with_pages and not _is_ours(document)):
            return {"foreign": NOT_OURS}
        pages = [document[number] for number in range(len(document))] if with_pages else []
        words = list(_each(pages, lambda page: page.get_textpage().get_text_bounded().split()))
        digests = [hashlib.sha256(bytes(page.render(scale=1).buffer)).hexdigest() for page in pages]
    except pypdfium2.PdfiumError as error:
        return {"unread": f"this is no PDF that can be read ({error}): write the report again"}
    return {"data": data.decode("utf-8", "replace"), "words": words, "pages": digests}


def _each(pages: Iterable[Any], words: Callable[[Any], list[str]]) -> Iterable[str]:
    for page in pages:
        yield from words(page)


def _is_ours(document: pypdfium2.PdfDocument) -> bool:
    return len(document) <= MOST_PAGES and all(
        max(document.get_page_size(number)) <= LARGEST_PAGE for number in range(len(document))
    )


def _attached(document: pypdfium2.PdfDocument) -> bytes | None:
    """The data that is attached to a report in print; None where it has more than any of them."""
    import pypdfium2

    for number in range(min(document.count_attachments(), MOST_ATTACHMENTS)):
        one = document.get_attachment(number)
        if one.get_name() == ATTACHED:
            size = ctypes.c_ulong()
            pypdfium2.raw.FPDFAttachment_GetFile(one, None, 0, ctypes.byref(size))
            return None if size.value > MOST_BYTES else bytes(one.get_data())
    return b"{}"


if __name__ == "__main__":
    main()
