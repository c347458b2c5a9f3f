"""Factors of a plan: each combination is a contender, and what cannot be meant is one sentence."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.plan.campaign import read_campaign
from bakeoff.plan.design.factors import expanded, parse_factors
from bakeoff.plan.design.order import order_slots
from bakeoff.plan.input.plan_file import plan_to_toml
from bakeoff.plan.input.plan_input import plan_input_of
from bakeoff.plan.load import read_plan_file, resolve_plan
from bakeoff.plan.model import Plan

HEAD = '[plan]\nsuite = "web-url"\n'
TWO_BY_TWO = """
[factors]
raid = ["5", "0"]

[[contender]]
name = "nginx"
address = "http://127.0.0.1:80{raid}1/"

[[contender]]
name = "apache"
address = "http://127.0.0.1:80{raid}2/"
reset = "restart ${raid} {raid} {print}"
"""


def plan_of(text: str, folder: Path, head: str = HEAD) -> Plan:
    path = folder / "p.toml"
    path.write_text(head + text)
    return resolve_plan(read_plan_file(path))


def test_contenders_times_factors(tmp_path: Path) -> None:
    plan = plan_of(TWO_BY_TWO, tmp_path)
    assert [contender.name for contender in plan.contenders] == ["nginx-5", "nginx-0", "apache-5", "apache-0"]
    assert [contender.address[17:] for contender in plan.contenders] == ["8051/", "8001/", "8052/", "8002/"]
    assert plan.contenders[1].levels == {"server": "nginx", "raid": "0"}
    assert [(factor.name, factor.levels) for factor in plan.factors] == [
        ("server", ("nginx", "apache")),
        ("raid", ("5", "0")),
    ]
    assert plan.contenders[3].reset == "restart ${raid} 0 {print}", "what is the shell's is left alone"
    first = [slot.contender for slot in order_slots(plan)][:4]
    assert sorted(first) == sorted(contender.name for contender in plan.contenders), "a block has all combinations"


TABLES = """
[factors.raid.5]
disk = 5
reset = "mount {raid.disk} # now"
[factors.raid.0]
disk = 0
address = "http://127.0.0.1:1/{cache}"
[factors.cache.on]
[factors.cache.off]
reset = "drop"
ready_timeout = "5s"
[[contender]]
name = "box-r{raid}-{cache}"
address = "http://127.0.0.1:2/{cache}"
reset = "start"
"""


def test_tables_of_levels_have_words_resets_and_addresses(tmp_path: Path) -> None:
    plan = plan_of(TABLES, tmp_path)
    assert [c.name for c in plan.contenders] == ["box-r5-on", "box-r5-off", "box-r0-on", "box-r0-off"]
    assert plan.contenders[0].reset == "{ mount 5 # now\n} && { start\n}"
    assert plan.contenders[1].reset == "{ mount 5 # now\n} && { drop\n} && { start\n}"
    assert plan.contenders[2].reset == "start"
    assert plan.contenders[2].address == "http://127.0.0.1:1/on"
    assert [c.ready_timeout_s for c in plan.contenders] == [30.0, 5.0, 30.0, 5.0]
    assert [factor.name for factor in plan.factors] == ["raid", "cache"], "one contender is no factor"


@pytest.mark.parametrize("number", range(3), ids=["lists", "tables", "of one"])
def test_a_plan_comes_back_by_its_hash(number: int, tmp_path: Path) -> None:
    text = (TWO_BY_TWO, TABLES, OF_ONE)[number]
    path = tmp_path / "p.toml"
    path.write_text(HEAD + text)
    given = read_plan_file(path)
    plan = resolve_plan(given)
    for toml in (plan_to_toml(given, plan), plan_to_toml(plan_input_of(Plan.from_dict(plan.to_dict()), "x"), plan)):
        again = tmp_path / "again.toml"
        again.write_text(toml)
        assert resolve_plan(read_plan_file(again)).hash == plan.hash
    assert Plan.from_dict(plan.to_dict()) == plan


def test_the_hash_of_a_plan_without_factors_is_what_it_was(tmp_path: Path) -> None:
    stored = plan_of('[[contender]]\nname = "a"\naddress = "http://127.0.0.1/"\n', tmp_path).to_dict()
    assert "factors" not in stored
    assert "levels" not in stored["contenders"][0]


def test_combinations_may_be_written_one_by_one(tmp_path: Path) -> None:
    text = '[factors]\nraid = ["0", "5"]\n' + "".join(
        f'[[contender]]\nname = "c{i}"\naddress = "http://127.0.0.1:{i + 1}/"\n'
        f'levels = {{ server = "{server}", raid = "{raid}" }}\n'
        for i, (server, raid) in enumerate([("x", "5"), ("x", "0"), ("y", "5")])
    )
    plan = plan_of(text, tmp_path)
    assert [(f.name, f.levels) for f in plan.factors] == [("raid", ("0", "5")), ("server", ("x", "y"))]
    assert len(plan.contenders) == 3, "not every combination need be there"


OF_ONE = """
[factors]
dma = ["on", "off"]

[[contender]]
name = "qube"
address = "http://127.0.0.1:1/{dma}"
factors = ["dma"]

[[contender]]
name = "plain"
address = "http://127.0.0.1:2/"
factors = []

[[contender]]
name = "other"
address = "http://127.0.0.1:3/"
factors = []
"""


def test_a_factor_of_one_contender_of_three(tmp_path: Path) -> None:
    plan = plan_of(OF_ONE, tmp_path)
    assert [(c.name, c.levels) for c in plan.contenders] == [
        ("qube-on", {"dma": "on"}),
        ("qube-off", {"dma": "off"}),
        ("plain", {}),
        ("other", {}),
    ]
    assert [(factor.name, factor.levels) for factor in plan.factors] == [("dma", ("on", "off"))], "no factor server"


def test_a_factor_of_some_beside_one_of_all(tmp_path: Path) -> None:
    text = OF_ONE.replace('dma = ["on", "off"]', 'dma = ["on", "off"]\nraid = ["5", "0"]')
    text = text.replace('["dma"]', '["dma", "raid"]').replace("/{dma}", "/{dma}{raid}", 1)
    text = text.replace("factors = []", 'factors = ["raid"]', 1).replace("2/", "2/{raid}")
    plan = plan_of(text, tmp_path)
    assert [c.name for c in plan.contenders[4:]] == ["plain-5", "plain-0", "other"] and len(plan.contenders) == 7
    assert plan.contenders[4].levels == {"server": "plain", "raid": "5"} and plan.contenders[6].levels == {}
    assert plan.factors[0].levels == ("qube", "plain"), "only those that have a factor"


ONE = [{"name": "a", "address": "http://{raid}/{cache}"}]
LEVELS = {"raid": ["0", "5"]}


@pytest.mark.parametrize(
    ("contenders", "factors", "words"),
    [
        ([{"name": "a", "address": "x"}], LEVELS, "a-0 and a-5 are the same server"),
        ([{"address": "http://{raid}"}], LEVELS, "give each [[contender]] a name"),
        ([{"name": "a", "address": "{riad}"}], LEVELS, "did you mean 'raid'"),
        ([{"name": "a", "address": "{raid.disk}"}], LEVELS, "give [factors.raid.0] a line `disk = …`"),
        (ONE, {"raid": ["0"]}, "two levels at least"),
        (ONE, {"raid": ["0", "0"]}, "stands there twice"),
        (ONE, {"raid": "0,5"}, "write the levels as a list"),
        (ONE, {"raid": [True, False]}, "write the levels as a list"),
        (ONE, {"raid": {"0": 1}}, "[factors.raid.0]"),
        (ONE, {"raid": {"0": {"disk": [1]}, "5": {}}}, "write text or a whole number"),
        (ONE, {"raid": ["0", "a b"]}, "becomes part of a name"),
        (ONE, {"ra id": ["0", "1"]}, "begins with a letter"),
        ([*ONE, {"name": "b", "address": "{raid}"}], {"server": ["x", "y"]}, "give the factor another name"),
        (ONE, {f"f{i}": ["0", "1"] for i in range(5)}, "at most 4"),
        (ONE, {"raid": [str(i) for i in range(7)], "cache": [str(i) for i in range(6)]}, "42 contenders, at most 36"),
        (ONE, {"raid": {"0": {"address": "p"}, "5": {}}, "cache": {"1": {"address": "q"}, "2": {}}}, "both"),
        ([{"name": "a", "levels": {"r": "1"}}, {"name": "b", "levels": {"q": "1"}}], {}, "r: 1 is its only level"),
        ([{"name": "a", "levels": {"r": "1"}}, {"name": "b"}], {}, "give it two levels at least"),
        ([{"name": "a", "levels": {"r": "1"}}, {"name": "b", "levels": {"r": "1"}}], {}, "the same levels"),
        ([{"name": "a", "levels": {"raid": "1"}}], LEVELS, "known are: 0, 5"),
        ([{"name": "a", "levels": {}}], {}, "or leave it out"),
        ([{"name": "a", "address": "x", "factors": ["riad"]}], LEVELS, "did you mean 'raid'"),
        ([{"name": "a", "address": "x", "factors": "raid"}], LEVELS, "write a list of names"),
        ([{"name": "a", "address": "x", "factors": []}], LEVELS, "no contender has it"),
        ([{"name": "a", "address": "{raid}", "factors": []}, *ONE], LEVELS, "there is no factor 'raid'"),
        ([{"name": "a", "levels": {"r": "1"}}], LEVELS, "no contender has a level of it"),
    ],
)
def test_what_cannot_be_meant(contenders: list[dict[str, Any]], factors: dict[str, Any], words: str) -> None:
    with pytest.raises(PlanError) as refused:
        expanded(contenders, factors, "plan.toml")
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_flags() -> None:
    assert parse_factors(["raid=0,5", "cache=on, off"]) == {"raid": ["0", "5"], "cache": ["on", "off"]}
    for wrong in (["raid"], ["raid=0,5", "raid=1,2"]):
        with pytest.raises(PlanError, match="NAME=LEVEL,LEVEL"):
            parse_factors(wrong)


@pytest.mark.parametrize("line", ['address = ""', 'watch = ""', "ready_timeout = 0"])
def test_what_a_level_says_in_place_of_the_contender_is_never_passed_over(line: str, tmp_path: Path) -> None:
    text = f'[factors.raid.5]\n{line}\n[factors.raid.0]\n[[contender]]\nname = "a"\naddress = "http://h/{{raid}}"\n'
    with pytest.raises(PlanError, match=line.partition(" ")[0]):
        plan_of(text, tmp_path)


CAMPAIGN = """
[factors]
raid = ["5", "0"]
[[contender]]
name = "blue"
web = "http://127.0.0.1:80{raid}1/"
files = "blue-{raid}"
[[contender]]
name = "green"
web = "http://127.0.0.1:80{raid}2/"
[[suite]]
suite = "web-url"
[[suite]]
suite = "file-mix"
"""


def test_campaigns_combine_for_every_suite(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(CAMPAIGN)
    campaign = read_campaign(path)
    assert campaign.contenders == ("blue-5", "blue-0", "green-5", "green-0")
    web, files = (suite_run.plan for suite_run in campaign.suite_runs)
    assert [factor.name for factor in web.factors] == ["server", "raid"]
    assert [c.address for c in files.contenders] == [str(tmp_path / "blue-5"), str(tmp_path / "blue-0")]
    assert files.contenders[0].levels == {"server": "blue", "raid": "5"}


def test_a_suite_in_which_one_server_takes_part_comes_back_by_its_hash(tmp_path: Path) -> None:
    path, again = tmp_path / "lab.toml", tmp_path / "again.toml"
    path.write_text(CAMPAIGN)
    for suite_run in read_campaign(path).suite_runs:
        again.write_text(plan_to_toml(plan_input_of(suite_run.plan, "x"), suite_run.plan))
        assert resolve_plan(read_plan_file(again)).hash == suite_run.plan.hash
