"""See the package."""

import sys
from pathlib import Path

from scripts.reference import completion, man
from scripts.reference.pages import FOLDER, README, pages, readme


def write(folder: Path, files: dict[str, str]) -> None:
    """Each file with its text; folders are made."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Writes the one or the other."""
    if not arguments:
        write(FOLDER, pages())
        README.write_text(readme(), encoding="utf-8")
        return 0
    if len(arguments) == 2 and arguments[0] == "--share":
        write(Path(arguments[1]), man.files() | completion.files())
        return 0
    sys.stderr.write("usage: python -m scripts.reference [--share DIR]\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
