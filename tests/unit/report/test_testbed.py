"""The diagram of the test bed: who is where, what is drawn once, and what lies over what."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.model import Bed
from bakeoff.disclosure.paper.read import paper_of
from bakeoff.report.blocks.tree import Chart, Table
from bakeoff.report.charts.svg import draw
from bakeoff.report.paper.testbed import (
    NO_GENERATORS,
    UNKNOWN,
    Generators,
    bed_diagram,
    grouped,
    host_of,
    of_generators,
)
from bakeoff.store.records.run_records import AgentRecord

NAMES = tuple("abcdefgh")
Machines = list[dict[str, Any]]


def bed(machines: Machines, links: Machines) -> Bed:
    return paper_of({"testbed": {"machines": machines, "links": links}}).testbed


def laboratory(clients: int, servers: int, switches: int = 1) -> Bed:
    """Clients of two sorts, and servers that each run a contender, spread over switches."""
    machines: Machines = [{"name": f"sw{n}", "role": "switch", "text": "48 ports"} for n in range(switches)]
    machines += [
        {"name": f"c{n:02}", "role": "generator", "text": "old" if n % 9 == 0 else "new"} for n in range(clients)
    ]
    machines += [
        {"name": f"s{n}", "role": "server", "text": "a server of many words " * 9, "serves": [NAMES[n]]}
        for n in range(servers)
    ]
    links: Machines = [
        {"ends": [machine["name"], f"sw{at % switches}"], "speed": "1 Gbit/s", "duplex": "full"}
        for at, machine in enumerate(machines[switches:])
    ]
    links += [{"ends": [f"sw{n}", f"sw{n + 1}"], "speed": "40 Gbit/s", "count": 2} for n in range(switches - 1)]
    return bed(machines, links)


def chart_of(given: Bed, generators: Generators = NO_GENERATORS) -> Chart:
    (chart,) = bed_diagram(given, generators, NAMES)
    assert isinstance(chart, Chart)
    return chart


def words(chart: Chart) -> list[str]:
    return [row["text"] for row in chart.spec["datasets"]["texts"]]


@pytest.mark.parametrize("servers", range(1, 9))
@pytest.mark.parametrize("switches", [1, 2])
def test_no_box_lies_over_another_and_all_is_inside(servers: int, switches: int) -> None:
    spec = chart_of(laboratory(60, servers, switches)).spec
    # Of a stack of alike machines the front one is drawn last.
    boxes = {(row["x"] // 20, row["y2"] // 20): row for row in spec["datasets"]["boxes"]}.values()
    fronts = [row for row in boxes if row["kind"] == "machine" or row["kind"] == "switch"]
    for one, other in combinations(fronts, 2):
        apart = one["x2"] <= other["x"] or other["x2"] <= one["x"] or one["y2"] <= other["y"] or other["y2"] <= one["y"]
        stacked = abs(one["x"] - other["x"]) <= 8 and abs(one["y"] - other["y"]) <= 8
        assert apart or stacked, (one, other)
    for row in spec["datasets"]["boxes"]:
        assert 0 <= row["x"] < row["x2"] <= spec["width"] and 0 <= row["y"] < row["y2"] <= spec["height"]
    for row in spec["datasets"]["texts"]:
        assert 0 < row["x"] < spec["width"] and 0 < row["y"] < spec["height"]
    drawn = {row["text"] for row in spec["datasets"]["texts"]}
    assert {f"s{n}" for n in range(servers)} | set(NAMES[:servers]) <= drawn


def test_sixty_clients_are_a_few_boxes_and_every_one_is_in_the_table() -> None:
    chart = chart_of(laboratory(60, 2))
    assert {"7 × c00 … c54", "53 × c01 … c59"} <= set(words(chart))
    assert isinstance(chart.table, Table) and len(chart.table.rows) == 63
    assert ("c00", "load generator", "old", "–", "sw0: 1 Gbit/s, full duplex") in chart.table.rows
    assert "7 × c00 … c54, load generator" in chart.description and "s1, server, runs b" in chart.description


def test_clients_of_many_sorts_are_drawn_as_some_and_others() -> None:
    machines: Machines = [{"name": f"c{n}", "role": "generator", "text": f"sort {n}", "count": 2} for n in range(60)]
    boxes, _ = grouped(bed(machines, []))
    assert len(boxes) == 9 and boxes[-1].title == "104 × others"


def test_speed_and_duplex_stand_at_the_link_and_what_is_missing_is_said() -> None:
    machines: Machines = [{"name": "c", "role": "generator"}, {"name": "s", "role": "server", "serves": ["a"]}]
    full = {"ends": ["c", "s"], "speed": "10 Gbit/s", "duplex": "half", "count": 2}
    chart = chart_of(bed(machines, [full]))
    assert {"2 × 10 Gbit/s", "half duplex"} <= set(words(chart))
    warned = [row["text"] for row in chart.spec["datasets"]["texts"] if row["kind"] == "warned"]
    assert warned == ["half duplex"], "what is half duplex stands out"
    assert len(chart.spec["datasets"]["links"]) == 2
    bare = chart_of(bed(machines, [{"ends": ["c", "s"]}]))
    assert "speed not disclosed" in words(bare) and "duplex not disclosed" in bare.description
    assert bare.table.rows[0] == ("c", "load generator", UNKNOWN, "–", "s: speed not disclosed, duplex not disclosed")


def test_a_second_link_goes_round_what_is_between() -> None:
    """Along the side of its column, where no label is, and level into the other switch."""
    observed = laboratory(2, 8, 2)
    far = {"ends": ["s0", "sw1" if ("s0", "sw0") in [tuple(link.ends) for link in observed.links] else "sw0"]}
    tables = observed.model_dump(mode="json")
    links = [*tables["links"], {**far, "speed": "5 Gbit/s"}]
    spec = chart_of(bed(tables["machines"], links)).spec
    for row in spec["datasets"]["links"]:
        assert row["x"] == row["x2"] or row["y"] == row["y2"], "nothing is slanting"
    assert "5 Gbit/s" in [row["text"] for row in spec["datasets"]["texts"]]


def agent(name: str, address: str) -> AgentRecord:
    links = [
        {"name": "eth0", "addresses": [address], "speed": "10,000,000,000 bits/s"},
        {"name": "lo", "addresses": ["127.0.0.1"], "speed": "a loopback: nothing leaves the machine"},
    ]
    facts = {
        "cpu": {"model": "Fake", "logical": 8},
        "memory_bytes": 16 << 30,
        "os": "Fake 7",
        "kernel": "6",
        "links": links,
    }
    return AgentRecord(name, facts)


def test_without_a_table_it_is_what_the_run_knows() -> None:
    addresses = [("a", "http://10.0.0.2:80/"), ("b", "http://10.0.0.3/"), ("c", "smtp=10.0.0.3:25,pop3=10.0.0.3:110")]
    generators = Generators([agent(f"agent-{n}", f"10.0.1.{n}") for n in range(12)], addresses)
    chart = chart_of(Bed(), generators)
    assert {"12 × agent-0 … agent-11", "8 × Fake, 16 GiB", "10 Gbit/s", "network", "10.0.0.2", "10.0.0.3"} <= set(
        words(chart)
    )
    assert "10.0.0.3, server, runs b, c" in chart.description and "From the run" in chart.table.note
    assert of_generators(generators) == {
        "load_generators": "12 × (8 × Fake, 16 GiB)",
        "load_generator_software": "12 × (Fake 7, Linux 6)",
    }


def test_a_machine_that_sends_and_serves_is_one_box() -> None:
    addresses = [("a", "http://127.0.0.1:80/"), ("b", "http://[::1]:81/"), ("c", "http://10.0.1.1/")]
    chart = chart_of(Bed(), Generators([agent("local", "10.0.1.1")], addresses))
    assert chart.table.rows == (("local", "load generator and server", "8 × Fake, 16 GiB", "a, b, c", UNKNOWN),)


def test_a_run_of_more_than_a_person_would_write_is_drawn_as_well() -> None:
    """Bounds are those of paper files: combinations of factors and agents may be more."""
    addresses = [(f"c{n}", "http://127.0.0.1/") for n in range(64)]
    (row,) = chart_of(Bed(), Generators([agent("local", "10.0.1.1")], addresses)).table.rows
    assert row[3].endswith("c62, c63")
    many = [agent(f"agent-{n}", f"10.0.1.{n}") for n in range(210)]
    chart = chart_of(Bed(), Generators(many, [(name, "http://10.0.0.2/") for name, _ in addresses]))
    assert len(chart.table.rows) == 212 and "210 × agent-0 … agent-209" in words(chart)


@pytest.mark.parametrize(
    "generators",
    [
        NO_GENERATORS,
        Generators([agent("x", "10.0.1.1")], [("a", "/mnt/a")]),  # may be another machine's
        Generators([agent("x", "10.0.1.1"), agent("y", "10.0.1.2")], [("a", "127.0.0.1:80")]),  # of whom?
        Generators([AgentRecord("x", {"links": "none", "cpu": 3})], []),
    ],
)
def test_what_the_run_does_not_know_is_not_drawn(generators: Generators) -> None:
    assert bed_diagram(Bed(), generators, NAMES) == []


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("http://h.example:80/x?y=http://z/", ""), ("https://u@h/", "h"), ("h:80", "h"), ("10.0.0.1", "10.0.0.1"),
        ("smtp=a:25,pop3=b:110", ""), ("[::1]:80", "::1"), ("./x", ""), ("http://[fe80::1%eth0]/", "fe80::1%eth0"),
    ],
)  # fmt: skip
def test_hosts_of_addresses(address: str, host: str) -> None:
    assert host_of(address) == host


@pytest.mark.parametrize(
    ("machines", "links", "message"),
    [
        ([{"name": "a", "role": "servr"}], [], r"testbed\[0\]: 'servr' does not fit"),
        ([{"name": "a", "role": "server"}, {"name": "a", "role": "server"}], [], "a stands there twice"),
        (
            [{"name": "abc", "role": "server"}],
            [{"ends": ["abc", "abd"]}],
            "there is no machine 'abd': did you mean 'abc'",
        ),
        ([{"name": "a", "role": "server", "count": 0}], [], "greater than or equal to 1"),
    ],
)
def test_a_wrong_table_is_one_sentence(machines: Machines, links: Machines, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        bed(machines, links)


def test_the_drawing_is_the_same_every_time_and_shows_names_as_they_are() -> None:
    machines: Machines = [{"name": "<script>&", "role": "server", "text": "</svg>", "serves": ["a"]}]
    one, other = (draw(chart_of(bed(machines, []))) for _ in range(2))
    assert one == other and "<script>" not in one and "&lt;script" in one
    spec = chart_of(laboratory(9, 3)).spec
    assert json.loads(json.dumps(spec)) == spec
