"""No circles between the files of a crate, nor between packages: what a file needs does not need it back.

A file needs another one when it names something that is at home there, by whatever way (`pub use` of a parent is looked
through), or when it defines a method that the other one calls.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "crates"
PACKAGE = Path(__file__).parents[2] / "python/bakeoff"
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([a-z]+\))? )?mod \w+ \{")
# WholeBlocks by choice, named in ARCHITECTURE.md: crate, and the files of the circle.
LOOP = "net::event_loop"
CHOSEN = {
    "platform": {
        frozenset(
            {
                LOOP,
                *(
                    f"{LOOP}::{part}"
                    for part in (
                        "connection",
                        "leaving",
                        "quic",
                        "receive",
                        "receive_shared",
                        "receive_tls",
                        "streams",
                        "waiting",
                    )
                ),
            }
        ),
    }
}


def modules(crate: str) -> dict[str, str]:
    """The text without comments and tests of each file of a crate, by its path of modules."""
    found = {}
    for path in sorted((CRATES / crate / "src").rglob("*.rs")):
        *above, last = path.relative_to(CRATES / crate / "src").with_suffix("").parts
        name = "::".join(above if last in ("lib", "mod") else (*above, last))
        if last == "main" or last == "tests" or "tests" in above:
            continue
        text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
        found[name] = TESTS.split(text)[0]
    return found


def paths(tree: str, before: str = "") -> Iterator[str]:
    """`a::{b, c::d}` as `a::b` and `a::c::d`."""
    head, brace, body = tree.strip().partition("{")
    if not brace:
        yield (before + head.split(" as ")[0]).strip()
        return
    depth, item = 0, ""
    for letter in body.strip().removesuffix("}") + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if item.strip():
                yield from paths(item, before + head)
            item = ""
        else:
            item += letter


class Crate:
    """Which file of a crate needs which."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        uses = {file: re.findall(r"(\bpub(?:\([a-z :]+\))? )?use ([^;]+);", text) for file, text in self.texts.items()}
        self.handed_on = {
            file: {path.split("::")[-1]: path for public, tree in found if public for path in paths(tree)}
            for file, found in uses.items()
        }
        self.needs = {file: set(self.named(file, uses[file])) - {file} for file in self.texts}
        self.add_methods()

    def named(self, file: str, uses: list[tuple[str, str]]) -> Iterator[str]:
        used = [path for public, tree in uses if not public for path in paths(tree)]
        rest = re.sub(r"\buse [^;]+;", "", self.texts[file])
        for path in used + re.findall(r"(?<![\w:])[a-z_]\w*(?:::\w+)+", rest):
            if (home := self.home(file, path)) is not None:
                yield home

    def home(self, file: str, path: str) -> str | None:
        """The file in which `path`, written in `file`, ends; None when it is of another crate."""
        here = file.split("::") if file else []
        words = path.split("::")
        if words[0] == "crate":
            here, words = [], words[1:]
        elif words[0] in ("self", "super"):
            while words and words[0] in ("self", "super"):
                here = here[:-1] if words[0] == "super" else here
                words = words[1:]
        elif "::".join([*here, words[0]]) not in self.texts:
            return None
        while words and "::".join([*here, words[0]]) in self.texts:
            here, words = [*here, words[0]], words[1:]
        place = "::".join(here)
        if words and words[0] in self.handed_on.get(place, {}):
            return self.home(place, self.handed_on[place][words[0]]) or place
        return place

    def add_methods(self) -> None:
        """A type whose methods stand in another file than itself: its own file needs that one when it calls them."""
        types = {file: set(re.findall(r"\b(?:struct|enum) (\w+)", text)) for file, text in self.texts.items()}
        for file, text in self.texts.items():
            homes = {word: need for need in self.needs[file] for word in types[need] - types[file]}
            for block in re.finditer(r"^impl(?:<[^>]*>)? (\w+)(?:<[^>]*>)? \{$(.*?)^\}", text, re.S | re.M):
                home = homes.get(block[1], file)
                called = [word for word in re.findall(r"\bfn (\w+)", block[2]) if f".{word}(" in self.texts[home]]
                if home != file and called:
                    self.needs[home].add(file)


def circles(needs: dict[str, set[str]]) -> set[frozenset[str]]:
    """Sets of files each of which needs all others of its set, straight or by way of others."""
    reached = {file: reach(needs, file) for file in needs}
    together = {frozenset({file} | {other for other in reached[file] if file in reached[other]}) for file in reached}
    return {circle for circle in together if len(circle) > 1}


def reach(needs: dict[str, set[str]], file: str) -> set[str]:
    seen: set[str] = set()
    todo = [file]
    while todo:
        for need in needs[todo.pop()] - seen:
            seen.add(need)
            todo.append(need)
    return seen


@pytest.mark.parametrize("crate", sorted(path.name for path in CRATES.iterdir()))
def test_no_file_needs_what_needs_it(crate: str) -> None:
    assert circles(Crate(modules(crate)).needs) == CHOSEN.get(crate, set())


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ({"": "mod a;", "a": "use crate::b::B;", "b": "struct B;"}, []),
        ({"a": "use crate::b::B;", "b": "struct B; fn f() { crate::a::g() }"}, [{"a", "b"}]),
        # By way of what a parent hands on, and of a third file.
        (
            {"": "pub use a::A;", "a": "use super::b;", "b": "use crate::c;", "c": "use crate::{A, x};"},
            [{"a", "b", "c"}],
        ),
        # By methods that stand elsewhere: only what is called is needed.
        ({"a": "struct S; fn f(s: S) { s.go(); }", "a::b": "use super::S;\nimpl S {\n fn go() {}\n}"}, [{"a", "a::b"}]),
        ({"a": "struct S;", "a::b": "use super::S;\nimpl S {\n fn go() {}\n}"}, []),
    ],
)
def test_a_circle_is_seen(texts: dict[str, str], found: list[set[str]]) -> None:
    assert circles(Crate(texts).needs) == set(map(frozenset, found))


def imports_of(node: ast.AST) -> Iterator[str]:
    """Names that a module imports to be loaded, or for its types; not what a function imports when it is called."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
            yield str(child.module)
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif not isinstance(child, ast.FunctionDef):
            yield from imports_of(child)


def test_no_layer_needs_what_needs_it_not_even_for_its_types() -> None:
    """A circle of Python files lies in one package: a contract whose methods take what is made by it."""
    paths = {
        ".".join(("bakeoff", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in PACKAGE.rglob("*.py")
    }
    # The package itself names, for its types, what it gives to users: everything.
    needs = {
        name: {need for need in imports_of(ast.parse(path.read_text())) if need in paths} - {name, "bakeoff"}
        for name, path in paths.items()
    }
    # Comparisons that still make sentences are listed in test_layers.
    for name in needs:
        if not name.startswith("bakeoff.report"):
            needs[name] = {need for need in needs[name] if not need.startswith("bakeoff.report.narrate")}
    across = [circle for circle in circles(needs) if len({tuple(name.split(".")[:2]) for name in circle}) > 1]
    assert len(needs) > 400 and not across
