"""The pages of docs/reference/ that are made: name to text."""

from pathlib import Path

from scripts.reference import commands_page, json_page, run_file_page, settings_page

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/reference"
MADE = "<!-- Made by `make docs` from the code: change it there. -->\n\n"


def pages() -> dict[str, str]:
    """Every page as it must be now."""
    return {
        "commands.md": MADE + commands_page.text(),
        "settings.md": MADE + settings_page.text(),
        "run-file.md": MADE + run_file_page.text(),
        "json.md": MADE + json_page.text(),
    }
