"""docs/reference/formats.md"""

from bakeoff.formats.importers import FORMATS
from bakeoff.formats.importers.limits import BOUNDS, NOT_READ, TABLES


def text() -> str:
    """The formats, how tables are read, what is not read, and what bounds a file."""
    rows = "".join(f"| `{name}` | {what} |\n" for name, what in FORMATS.items())
    tables = "".join(f"- {each}\n" for each in TABLES)
    others = "".join(f"- {what}: {instead}\n" for what, instead in NOT_READ.items())
    return (
        "# Formats\n\nWhat `bakeoff import` reads. The format of a file is told by its content; `--as` says it "
        "otherwise.\n\n"
        f"| `--as` | what is read |\n|---|---|\n{rows}\n## Plain tables\n\n{tables}\n## Not read\n\n{others}\n"
        f"## Bounds\n\n{BOUNDS}\n"
    )
