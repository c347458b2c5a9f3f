"""What machines told stands beside what a person told: who said which, what differs, and never a word too good."""

from __future__ import annotations

from typing import Any

from bakeoff.disclosure.collect.sysctls import SYSCTLS
from bakeoff.disclosure.paper.collected import Collected, ConfigFile, sealed
from bakeoff.disclosure.paper.disclosure import CONTENDER, label_of
from bakeoff.disclosure.paper.read import paper_of
from bakeoff.report.blocks.tree import Block, Listing, Section, Table
from bakeoff.report.paper.disclosed import MISSING, disclosure
from bakeoff.report.paper.test_beds import beds_of

NAMES = ("a", "b", "c", "d")
MEMORY, PROCESSORS = label_of(CONTENDER["memory"]), label_of(CONTENDER["processors"])


def config(path: str, text: str = "", sha: str = "0", *, redacted: bool = False) -> ConfigFile:
    return ConfigFile(path=path, bytes=9, sha256=sha * 64, redacted=redacted, text=text)


def collected(**parts: Any) -> dict[str, Any]:
    return sealed(Collected(way="ssh://root@box", date="2026-11-22 18:00 UTC", **parts)).model_dump(mode="json")


def blocks(tables: dict[str, dict[str, Any]], names: tuple[str, ...] = NAMES) -> dict[str, Block]:
    paper = paper_of({"contenders": tables})
    (section,) = disclosure(paper, names, beds_of(paper, {}))
    assert isinstance(section, Section)
    return {block.title: block for block in section.blocks if isinstance(block, (Table, Listing))}


def rows(found: dict[str, Block], title: str) -> dict[str, tuple[str, ...]]:
    table = found[title]
    assert isinstance(table, Table)
    return {row[0]: row[1:] for row in table.rows}


def test_what_was_typed_in_comes_first_and_hides_nothing_that_a_machine_said() -> None:
    facts = collected(facts={"memory": "16 GiB", "processors": "1 × Old"})
    found = blocks(
        {
            "a": {"collected": facts, "disclosure": {"memory": "64 GiB", "processors": "1 × Old"}},
            "b": {"collected": facts},
            "c": {"disclosure": {"memory": "16 GiB"}},
        }
    )
    differ = rows(found, "What differs, or is not disclosed of all")
    assert differ[MEMORY] == ("64 GiB (typed in); 16 GiB (collected)", "16 GiB (collected)", "16 GiB", MISSING)
    assert differ[PROCESSORS] == ("1 × Old (collected)", "1 × Old (collected)", MISSING, MISSING)
    ways = rows(found, "How facts were collected")
    assert ways["a"] == ("ssh://root@box", "2026-11-22 18:00 UTC", "nothing") and ways["c"][0] == "not collected"


def test_who_edits_what_was_collected_is_told_of() -> None:
    honest, edited = collected(facts={"memory": "16 GiB"}), collected(facts={"memory": "16 GiB"})
    edited["facts"]["memory"] = "64 GiB"
    found = blocks({"a": {"collected": edited}, "b": {"collected": honest}}, ("a", "b"))
    differ = rows(found, "What differs, or is not disclosed of all")
    assert differ[MEMORY] == ("64 GiB (collected, then edited)", "16 GiB (collected)")
    ways = [row for block in [found["How facts were collected"]] if isinstance(block, Table) for row in block.rows]
    assert any(row[0] == "a" and "edited by the author since" in row[3] for row in ways)


def test_settings_that_differ_come_first_with_why_and_the_others_are_folded() -> None:
    """Four contenders with all settings: only those that differ are seen at once."""
    usual = dict.fromkeys(SYSCTLS, "1")
    tables = {name: {"collected": collected(sysctls=usual, packages={"x": "1.0"})} for name in NAMES[:3]}
    other = {**usual, "net.core.somaxconn": "4096"}
    del other["vm.swappiness"]
    tables["d"] = {"collected": collected(sysctls=other, packages={"x": "2.0", "y": "1"})}
    found = blocks(tables)
    differ = rows(found, "System settings that differ")
    assert differ == {
        "net.core.somaxconn": ("1", "1", "1", "4096", SYSCTLS["net.core.somaxconn"]),
        "vm.swappiness": ("1", "1", "1", "not set", SYSCTLS["vm.swappiness"]),
    }
    same = found["System settings: the same of all"]
    assert isinstance(same, Table) and same.folded and len(same.rows) == len(SYSCTLS) - 2
    assert rows(found, "Packages that differ") == {
        "x": ("1.0", "1.0", "1.0", "2.0"),
        "y": ("not set", "not set", "not set", "1"),
    }


def test_who_was_not_asked_does_not_differ() -> None:
    usual = {"vm.swappiness": "1"}
    found = blocks({"a": {"collected": collected(sysctls=usual)}, "b": {"collected": collected(sysctls=usual)}})
    assert "System settings that differ" not in found
    assert rows(found, "System settings: the same of all that were asked: a, b")["vm.swappiness"][0] == "1"


def test_who_told_no_settings_at_all_is_not_said_to_have_none() -> None:
    """A command tells what it likes, and a machine without a list of packages none."""
    found = blocks(
        {
            "a": {"collected": collected(sysctls={"vm.swappiness": "1"}, packages={"x": "1"})},
            "b": {"collected": collected(sysctls={"vm.swappiness": "2"}, packages={"x": "1"})},
            "c": {"collected": collected(facts={"memory": "1 GiB"})},
        },
        ("a", "b", "c"),
    )
    assert rows(found, "System settings that differ")["vm.swappiness"][:3] == ("1", "2", MISSING)
    assert rows(found, "Packages: the same of all that were asked: a, b") == {"x": ("1",)}


def test_files_are_equal_or_not_by_their_hashes_and_texts_differ_line_by_line() -> None:
    one = config("/etc/s.conf", "workers 4\npassword = (hidden)\nlisten 80\n", "1", redacted=True)
    other = config("/etc/s.conf", "workers 8\npassword = (hidden)\nlisten 80\n", "2", redacted=True)
    same = config("/etc/same.conf", sha="3")
    tables = {
        "a": {"collected": collected(files=(one, same))},
        "b": {"collected": collected(files=(other, same))},
        "c": {"collected": collected(files=(one, same))},
        "d": {"collected": collected(files=(same,))},
    }
    found = blocks(tables)
    differ = rows(found, "Configuration files that differ")
    assert differ["/etc/s.conf"][:2] == ("111111111111 …*, 9 bytes", "222222222222 …*, 9 bytes")
    assert differ["/etc/s.conf"][3] == "absent, or could not be read"
    assert rows(found, "Configuration files: the same of a, b, c, d") == {"/etc/same.conf": ("9", "3" * 64)}
    listing = found["/etc/s.conf: a against b"]
    assert isinstance(listing, Listing)
    assert listing.text.splitlines()[3:] == ["-workers 4", "+workers 8", " password = (hidden)", " listen 80"]
    assert "/etc/s.conf of a, c" in found and "/etc/s.conf: a against c" not in found


def test_what_has_a_table_of_its_own_is_not_called_undisclosed() -> None:
    found = blocks({"a": {"collected": collected(files=(config("/x"),), sysctls={"vm.swappiness": "1"})}}, ("a",))
    same = rows(found, "The same of all")
    assert same[label_of(CONTENDER["configuration"])] == ("1 configuration file read: see below (collected)",)
    assert same[label_of(CONTENDER["tuning_software"])] == ("1 system setting read: see below (collected)",)


def test_a_long_text_and_a_long_difference_are_cut_with_a_word() -> None:
    texts = ["\n".join(f"{mark} {n}" for n in range(900)) for mark in "xy"]
    tables = {
        name: {"collected": collected(files=(config("/etc/l", text, name),))}
        for name, text in zip("ab", texts, strict=True)
    }
    found = blocks(tables, ("a", "b"))
    for title in ("/etc/l of a", "/etc/l: a against b"):
        listing = found[title]
        assert isinstance(listing, Listing) and listing.text.splitlines()[-1].endswith("more lines")
