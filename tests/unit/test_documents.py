"""Links of the documents lead somewhere, every page stands in the index, and they stay short."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\(([^()\s]+)\)")


def prose(page: Path) -> str:
    """Without blocks of code, in which brackets mean something else."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in heads}


def missing(page: Path) -> list[str]:
    """Links of a page to files or headings that are not there."""
    found = []
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert missing(page) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# A heading, `so`\n")
    page = tmp_path / "page.md"
    page.write_text("[a](there.md#a-heading-so) [b](gone.md) [c](there.md#gone) [d](https://example.org)\n")
    assert missing(page) == ["gone.md", "there.md#gone"]


def test_the_index_names_every_page() -> None:
    named = {(DOCS / link.partition("#")[0]).resolve() for link in LINK.findall(prose(DOCS / "index.md"))}
    pages = {page for page in DOCS.rglob("*.md") if page.parent.name != "decisions" and page.name != "index.md"}
    assert pages - named == set()


def test_documents_stay_short() -> None:
    """Words, without the pages that `make docs` makes and the list of other people's fields."""
    written = [page for page in DOCS.rglob("*.md") if "Made by `make docs`" not in page.read_text(encoding="utf-8")]
    written.remove(DOCS / "reference/disclosure.md")
    words = {page: len(page.read_text(encoding="utf-8").split()) for page in (*PAGES[:2], *written)}
    assert words[ROOT / "ARCHITECTURE.md"] <= 900
    assert sum(words.values()) <= 45_000


def test_what_code_and_pages_say_of_a_decision_names_one_that_is_there() -> None:
    records = {int(path.name[:4]) for path in (DOCS / "decisions").glob("0*.md")}
    source = [
        *PAGES,
        *(ROOT / "python").rglob("*.py"),
        *(ROOT / "crates").rglob("*.rs"),
        *(ROOT / "scripts").rglob("*.py"),
    ]
    for path in source:
        text = path.read_text(encoding="utf-8")
        assert {int(number) for number in re.findall(r"\bdecisions?[ /]0*(\d+)\b", text)} <= records, path
