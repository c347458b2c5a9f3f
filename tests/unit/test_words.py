"""Words that may not come back, in names and in printed sentences: the glossary has the field's term for each."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python/bakeoff"
GLOSSARY = ROOT / "docs/reference/glossary.md"

# A part of a name, and what to write: one concept has one word, and these had two, or were known to nobody.
NAMES = {
    "mixes": "load_steps: a mix is that of operations",
    "manner": "client_option",
    "manners": "client_options",
    "lane": "vu, VirtualUser",
    "lanes": "vus",
    "leg": "suite_run",
    "legs": "suite_runs",
    "ceiling": "generator_capacity",
    "counsel": "prompts",
    "edition": "report_options",
    "tones": "severity",
    "toned": "severity",
    "whoever": "nothing: name the one who does it",
}
# More of Python, where a name has to say what it holds.
PYTHON_NAMES = NAMES | {
    "told": "what it is: a sentence, a mark, a point",
    "held": "what it is: checked, embedded, withheld, inserted",
    "said": "what it is: stated, a text",
    "ground": "floor; prepared",
    "looks": "interim_analyses, styles",
    "books": "ledger, counters",
}
# Names of figures that run files have.
STORED = {
    "python/bakeoff/kinds/app/figures.py: told",
    "python/bakeoff/kinds/app/compare/read_back.py: told",
    "python/bakeoff/compare/failures/content.py: held",
}
# Class names that had several meanings.
CLASSES = {
    "Source": "what it is of: FaultSource, ChallengeSource",
    "Spread": "what spreads: RateSpread, Moments",
    "Checked": "what was checked: LimitCheck, SignatureCheck",
    "Part": "a part of what: WorkPart, AgentPart, ReportPart",
    "Term": "what it is: Condition, or the term of a contrast",
}
# Where such a class may stand: one of each, which is what its module is about.
OWN = {
    "Source": {"formats/foreign/source.py", "telemetry/reading.py"},
    "Term": {"stats/design/factorial.py"},
}
# Phrases of printed sentences, as regular expressions.
PHRASES = {
    r"\bmix(es)? of clients\b|\bat mix\b|\bsingle mixes\b": "load step",
    r"\bmanners?\b": "client option",
    r"\blanes?\b": "virtual user",
    r"\bload that (does|do) not wait\b": "open-loop load",
    r"\bfalls? behind\b": "is overloaded",
    r"\bof those that\b|\bthat of those\b": "two sentences",
    r"\bceilings?\b": "generator capacity",
    r"\blost (all of|outright)\b": "forfeited",
    r"\bdead visits?\b": "dead blocks",
    r"\bwhoever\b": "name the one who does it",
    r"\banew\b": "again",
    r"\bserver (on loopback )?that does nothing\b": "null server",
    r"\bspoken to alike\b": "speak differently",
    r"\bwho takes more\b|\bwrongs who\b": "name the one who does it",
}


def parts_of(name: str) -> list[str]:
    """The words of a snake_case or CamelCase name, in lower case."""
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def names_in(path: Path) -> Iterator[str]:
    """Names that a module defines: itself, classes, functions, arguments, fields, constants, variables."""
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def rust_names_in(text: str) -> Iterator[str]:
    """Names that a file of Rust defines."""
    yield from re.findall(r"\b(?:fn|struct|enum|mod|const|static|trait|type|let(?: mut)?)\s+(\w+)", text)
    yield from re.findall(r"^\s*(?:pub(?:\(\w+\))? )?(\w+): [\w&<]", text, re.MULTILINE)


@cache
def sentences() -> list[tuple[str, str]]:
    """The place and the text of each sentence of the package."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return [(str(path.relative_to(ROOT)), sentence) for path in paths for sentence in sentences_in(path)]


def sentences_in(path: Path) -> Iterator[str]:
    """Literals of three and more words, but for docstrings."""
    tree = ast.parse(path.read_text())
    skip = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in skip else None
        if isinstance(text, str) and len(re.findall(r"[A-Za-z']{2,}", text)) >= 3:
            yield text


def bad_names() -> Counter[tuple[str, str]]:
    """Word and place of names that have a word of `NAMES`."""
    found: Counter[tuple[str, str]] = Counter()
    for path in PACKAGE.rglob("*.py"):
        for name in names_in(path):
            place = f"{path.relative_to(ROOT)}: {name}"
            found.update((word, place) for word in parts_of(name) if word in PYTHON_NAMES and place not in STORED)
    for path in (ROOT / "crates").glob("*/src/**/*.rs"):
        for name in rust_names_in(path.read_text()):
            found.update((word, f"{path.relative_to(ROOT)}: {name}") for word in parts_of(name) if word in NAMES)
    return found


def test_names_have_no_word_that_was_replaced() -> None:
    assert not bad_names()


def test_classes_are_named_by_what_they_are_of() -> None:
    classes = {
        (node.name, str(path.relative_to(PACKAGE)))
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and node.name in CLASSES
    }
    assert classes == {(name, place) for name, places in OWN.items() for place in places}


@pytest.mark.parametrize("phrase", PHRASES)
def test_sentences_have_no_phrase_that_was_replaced(phrase: str) -> None:
    pattern = re.compile(phrase, re.IGNORECASE)
    assert len(sentences()) > 1_000
    for place, sentence in sentences():
        assert not pattern.search(sentence), f"{place}: {sentence!r}; write: {PHRASES[phrase]}"


def test_the_glossary_has_at_most_25_terms_and_names_what_is_there() -> None:
    rows = [line.split(" | ") for line in GLOSSARY.read_text().splitlines() if line.startswith("| ")][1:]
    assert 20 <= len(rows) <= 25 and all(len(row) == 4 for row in rows)
    for row in rows:
        for place in re.findall(r"`([\w./]+/[\w./]*)`", row[2]):
            assert (PACKAGE / place).exists(), place
        for place in re.findall(r"`(\w+(?:\.\w+)+)`", row[2]):
            module, _, name = place.rpartition(".")
            file = PACKAGE / (module.replace(".", "/") + ".py")
            package = PACKAGE / module.replace(".", "/") / f"{name}.py"
            assert package.exists() or re.search(rf"\b{name}\b", file.read_text()), place
