"""Foreign bytes: whatever a machine or a command says, nothing raises, and nothing grows."""

from __future__ import annotations

import json
import tomllib

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bakeoff.disclosure.collect.answer import END, HEAD, answer_of
from bakeoff.disclosure.collect.machines import READERS, _of_command, _of_machine
from bakeoff.disclosure.collect.own import own_of
from bakeoff.disclosure.collect.software import packages
from bakeoff.disclosure.collect.ways import way_of
from bakeoff.disclosure.paper.collected import MOST, Collected, collected_to_toml
from tests.unit.collect.fake import FILES, PROGRAMS

NAMES = st.sampled_from([*FILES, *PROGRAMS, "values", "disks", "network", "lldp", "sysctl", "version nginx", "dpkg",
                         "file-name", "file-size", "file-text", "file-unreadable", "", "\xff"])  # fmt: skip
# Pieces of what is looked for, so that chance comes to the readers' inner parts.
PIECES = st.lists(
    st.one_of(
        st.binary(max_size=60),
        st.sampled_from([text.encode() for text in (*FILES.values(), *PROGRAMS.values())]),
        st.sampled_from(
            [b"/sys/block/a/size = 99999999999999999999\n", b"/sys/class/net/e/speed = -1\n", b"md0 : active ",
             b"Size: 1\n\n", b"processor : \n\n", b"lldp.a.chassis.name=", b"/proc/sys/a = 1\n", b"\\0408", b"[U",
             "１２".encode(), b"/sys/class/net/e/driver = x\n/sys/class/net/e/speed = 9\n"]
        ),
    ),
    max_size=6,
)  # fmt: skip


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(NAMES, PIECES), max_size=8), st.booleans())
def test_no_answer_raises(parts: list[tuple[str, list[bytes]]], whole: bool) -> None:
    data = HEAD + b"\n"
    for name, pieces in parts:
        content = b"".join(pieces).replace(b"\n", b"\n ")
        data += b"@" + name.encode() + b"\n " + content + b"\n"
    facts = _of_machine(way_of("local"), data + (END if whole else b""), ())
    text = collected_to_toml("x", facts)
    again = tomllib.loads(text)["contenders"]["x"]["collected"]
    assert Collected.model_validate(again) == facts
    assert all(ord(sign) >= 32 or sign in "\n\t" for sign in text), "nothing that steers a terminal"


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=400))
@example(HEAD + b"\n@file-name\n x\n@file-size\n \xb2\n@file-text\n")
@example(HEAD + b"\n" + b"@\n" * 5000)
def test_no_bytes_raise(data: bytes) -> None:
    answer_of(data)
    answer = answer_of(HEAD + b"\n" + data)
    assert answer is not None
    for read in READERS.values():
        assert isinstance(read(answer), str)
    packages(answer)
    own_of(data)


KEYS = st.sampled_from(["memory", "sysctls", "packages", "x"])
LEAVES = st.none() | st.booleans() | st.floats() | st.text(max_size=9)
VALUES = st.lists(LEAVES, max_size=3) | st.dictionaries(KEYS, LEAVES, max_size=4) | LEAVES


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(KEYS, VALUES, max_size=4) | VALUES)
def test_no_table_of_a_command_raises(value: object) -> None:
    facts = own_of(json.dumps(value).encode())
    assert all(isinstance(text, str) for text in (*facts.facts.values(), *facts.sysctls.values()))


def test_what_is_told_too_often_or_with_any_name_fits_all_the_same() -> None:
    """What grows when secrets are left out is cut, so are files without end; names are text, a table one line."""
    names = "".join(f"@file-name\n /srv/{number}\n" for number in range(1_900))
    facts = _of_machine(way_of("local"), HEAD + b"\n" + names.encode() + END, ())
    assert 0 < len(facts.missing) <= MOST
    odd = "\ud800\x1b[0m\n\u202ex"
    table = {odd: 1, "sysctls": {odd: "x"}, "memory": "token=x\n" * 6_000}
    way = way_of("command: " + "token=x " * 120)
    facts = _of_command(way, json.dumps(table).encode())
    again = tomllib.loads(collected_to_toml("x", facts))["contenders"]["x"]["collected"]
    assert Collected.model_validate(again) == facts and "token=x" not in facts.way + facts.facts["memory"]
    said = "".join((*facts.sysctls, *facts.missing))
    assert all(ord(sign) >= 32 and not 0xD800 <= ord(sign) < 0xE000 for sign in said)


def test_content_cannot_pass_for_the_next_part() -> None:
    forged = b"@memory\n x\n@end\n"
    data = HEAD + b"\n@/etc/os-release\n " + forged.replace(b"\n", b"\n ") + b"\n@end\n@late\n x\n"
    answer = answer_of(data)
    assert answer is not None and answer.complete and set(answer.parts) == {"/etc/os-release"}


def test_long_answers_are_read_once() -> None:
    for piece in (b"a", b"[", b"md0 : active ", b"x: ", b"\\040", b"@x\n", b"1.", b"lldp.a.b.c=d\n", b'A="'):
        data = HEAD + b"\n@/proc/mdstat\n " + piece * (150_000 // len(piece))
        for name in (b"/proc/mounts", b"lspci", b"/etc/os-release", b"values", b"version nginx", b"dpkg", b"lldp"):
            data += b"\n@" + name + b"\n " + piece * (50_000 // len(piece))
        _of_machine(way_of("local"), data, ())
