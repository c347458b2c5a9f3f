"""Which files a corpus has: paths, sizes and classes, from the seed alone."""

from collections.abc import Callable
from dataclasses import dataclass

from bakeoff.testdata.corpus.content import numbers
from bakeoff.testdata.corpus.dynamic import PATH as DYNAMIC_PATH

STATIC_FILES = 6011
LARGE_FILES = 240
LARGE_FROM, LARGE_TO = 24_000, 550_000
# size in bytes, file type, share of requests in %: as many files as the class has requests, large ones apart
STATIC_CLASSES = (
    (223, ".gif", 20),
    (735, ".gif", 8),
    (1522, ".gif", 12),
    (2895, ".gif", 20),
    (6040, ".htm", 14),
    (11426, ".htm", 16),
    (22132, ".htm", 7),
)
STATIC_FOLDERS = 61
DYNAMIC_SIZES = tuple(256 << k for k in range(10))
DYNAMIC_FOLDERS = ("", *(f"dir{i:02d}/" for i in range(1, 11)), "dir10/sub1/", "dir10/sub1/sub2/")
DYNAMIC_COPIES = 4
DYNAMIC_PAGES = 200


@dataclass(frozen=True)
class PlannedFile:
    """A file to make. Its extension says which kind of content it gets."""

    path: str
    size: int
    cls: str


@dataclass(frozen=True)
class Layout:
    """Files to make, computed pages `(n, size)` to list, and whether the CGI program belongs to it."""

    files: tuple[PlannedFile, ...]
    pages: tuple[tuple[int, int], ...] = ()
    cgi: bool = False


def web_static(seed: int) -> Layout:
    """6,011 files of 223 to 550,000 bytes, about 60 MB, over 61 folders."""
    small = STATIC_FILES - LARGE_FILES
    total = sum(share for _, _, share in STATIC_CLASSES)
    counts = [small * share // total for _, _, share in STATIC_CLASSES]
    counts[0] += small - sum(counts)
    members = [
        (str(size), ending, size)
        for (size, ending, _), count in zip(STATIC_CLASSES, counts, strict=True)
        for _ in range(count)
    ]
    members += [("large", ".bin", size) for size in _large_sizes()]
    places = numbers(seed, "folders", len(members))
    files = []
    for i, (cls, ending, size) in enumerate(members):
        folder = places[i] % STATIC_FOLDERS
        files.append(PlannedFile(f"d{folder:02d}/{cls}-{i:04d}{ending}", size, cls))
    return Layout(tuple(files))


def _large_sizes() -> list[int]:
    """Sizes from 24,000 to 550,000 bytes, small ones more often: a rising line to the fourth power."""
    last = LARGE_FILES - 1
    return [LARGE_FROM + (LARGE_TO - LARGE_FROM) * i**4 // last**4 for i in range(LARGE_FILES)]


def web_dynamic(seed: int) -> Layout:
    """Pages of 256 B to 128 KiB in 13 folders, two levels deep, and 200 computed pages."""
    files = tuple(
        PlannedFile(f"{folder}page-{size}-{copy}.html", size, f"static/{size}")
        for folder in DYNAMIC_FOLDERS
        for size in DYNAMIC_SIZES
        for copy in range(DYNAMIC_COPIES)
    )
    sizes = numbers(seed, DYNAMIC_PATH, DYNAMIC_PAGES)
    pages = tuple((n, 1024 + value % (16384 - 1024 + 1)) for n, value in enumerate(sizes))
    return Layout(files, pages, cgi=True)


LAYOUTS: dict[str, Callable[[int], Layout]] = {"web-static": web_static, "web-dynamic": web_dynamic}
