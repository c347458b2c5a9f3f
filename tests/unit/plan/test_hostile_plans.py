"""Whatever a plan says, the answer is a plan or one sentence, and soon."""

import datetime
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bakeoff.core.errors import PlanError
from bakeoff.kinds import KINDS
from bakeoff.plan.design.order import order_trials
from bakeoff.plan.input.messages import input_names
from bakeoff.plan.kind import plan_part
from bakeoff.plan.load import CONTENDERS_MAX, PlanInput, read_plan_file, resolve_plan
from bakeoff.plan.model import Contender
from bakeoff.plan.settings.plan_section import PlanSection
from bakeoff.plan.suites import load_suite, suite_names

HEAD = '[plan]\nsuite = "web-url"\n[[contender]]\nname = "a"\naddress = "http://127.0.0.1:1"\n'
ADDRESSES = {"web": "http://127.0.0.1:1", "mail": "127.0.0.1", "app": "127.0.0.1:1"}
SETTINGS = sorted({name for kind in map(plan_part, KINDS) for name in input_names(kind.settings)})
HUGE = 16**5000  # a hexadecimal number of TOML may be as long as it likes
ODD = (
    *(True, False, 0, 1, -1, 3, 2**63, -(2**70), 10**400, math.nan, math.inf, -0.0, 1e308, 0.5),
    *("", "x", "1", "-1", "1,2", "1s", "5%", "auto", "none", "nan", "inf", "1e999", "²", "٣s", "1=2", "=", "1=nan"),
    *("9" * 5000 + "s", "9" * 5000, "9" * 400 + "GiB", "inf=1", "a\0b", "\udcff", "\x1b[2J", "/", "/dev/zero"),
    *("http://[::1", "http://x:99999999999", "unix:", "y" * 300, "x" * 100_000, "1KiB,-2", "a" * 70 + ".b"),
    *([], [[]], [True], [1, 2], ["a"], [1.5], [math.nan], [10**30], [[1, "/x"]], {}, {"a": 1}, {"a": {"b": []}}),
    *([{}], datetime.date(2020, 1, 1), datetime.time(1, 2), {"x" * 5000: "y"}),
)
PLAIN = st.sampled_from(ODD) | st.text(max_size=20) | st.integers() | st.floats() | st.characters(categories=["Cs"])
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


def tables(names: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(names) | st.text(max_size=8), VALUES, max_size=3)


def answered(suite: str, plan: dict[str, Any], options: dict[str, Any], contenders: list[dict[str, Any]]) -> None:
    try:
        found = resolve_plan(PlanInput("plan.toml", {"suite": suite, **plan}, options, contenders))
    except PlanError as error:
        assert str(error).strip()
        str(error).encode("utf-8", "surrogatepass")
    else:
        assert found.hash and found.trials <= 500_000


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[dict[str, Any], str]]:
    """What a plan of each suite needs: settings, and an address."""
    folder = tmp_path_factory.mktemp("share")
    users = folder / "users.csv"
    users.write_text("".join(f"u{i},pw{i},b.test\n" for i in range(200)))
    found: dict[str, tuple[dict[str, Any], str]] = {}
    for suite in suite_names():
        kind = load_suite(suite).suite.kind
        found[suite] = ({"users": str(users)} if kind == "mail" else {}, ADDRESSES.get(kind, str(folder)))
    return found


@pytest.mark.parametrize("suite", suite_names())
def test_every_setting_bears_every_odd_value(suite: str, base: dict[str, tuple[dict[str, Any], str]]) -> None:
    options, address = base[suite]
    contender = {"name": "a", "address": address}
    own = [name for name in SETTINGS if name in input_names(plan_part(load_suite(suite).suite.kind).settings)]
    for value in (*ODD, HUGE, [HUGE], {"a": HUGE}):
        for name in own:
            answered(suite, {}, {**options, name: value}, [contender])
        for name in PlanSection.model_fields:
            answered(suite, {name: value}, options, [contender])
        for name in input_names(Contender):
            answered(suite, {}, options, [{**contender, name: value}])


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    suite=st.sampled_from(suite_names()),
    plan=tables(list(PlanSection.model_fields)),
    options=tables(SETTINGS),
    contenders=st.lists(tables(input_names(Contender)), max_size=3),
)
def test_random_plans_bring_nothing_but_sentences(
    base: dict[str, tuple[dict[str, Any], str]],
    suite: str,
    plan: dict[str, Any],
    options: dict[str, Any],
    contenders: list[dict[str, Any]],
) -> None:
    own, address = base[suite]
    answered(suite, plan, {**own, **options}, contenders)
    answered(suite, {}, {**own, **options}, [{"name": "a", "address": address}])


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    text=st.binary(max_size=60) | st.text(alphabet='[]{}="\\.,#\n1ax-', max_size=40).map(str.encode),
    where=st.integers(0, len(HEAD)),
)
def test_random_bytes_in_a_plan_file(tmp_path_factory: pytest.TempPathFactory, text: bytes, where: int) -> None:
    path = tmp_path_factory.getbasetemp() / "random.toml"
    path.write_bytes(HEAD[:where].encode() + text + HEAD[where:].encode())
    try:
        resolve_plan(read_plan_file(path))
    except PlanError as error:
        assert str(error).strip()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = " + "[" * 50_000, "nested too deeply"),
        ("a" + ".a" * 100_000 + " = 1", "a key of more than 64 parts"),
        ("[" + "a." * 100_000 + "a]", "a key of more than 64 parts"),
        ("b = 1\n" + '"a" . ' * 20_000 + "c = 2", "a key of more than 64 parts"),
        ("b = { " + "a." * 100_000 + "a = 1 }", "a key of more than 64 parts"),
        ("b = [\n1, { c = 1, " + "a." * 100_000 + "a = 1 }]", "a key of more than 64 parts"),
        ("b.'\u2028'." + "a." * 100_000 + "a = 1", "a key of more than 64 parts"),
        ("a = " + "[" * 500 + "]" * 500, "nested too deeply|unknown"),
        ("[settings]\nlength = " + "9" * 10_000, "is not valid TOML"),
        ("x = '" + "y" * (5 << 20) + "'", "more than 4.19 MB"),
        (HEAD + "[settings]\nclients = [true]", "true and false are not numbers"),
        (HEAD + "[settings]\nvirtual_users = true", "True is not a whole number"),
        (HEAD + "[settings]\nclients = [1, 100001]", "clients"),
        (HEAD + "[settings]\nclients = [1000]\nvirtual_users = 1000", "clients"),
        (HEAD + '[settings]\nlength = "721h"', "less than or equal to 2592000"),
        (
            HEAD.replace("[[con", "blocks = 1000\n[[con") + f"[settings]\nclients = {list(range(1, 600))}",
            "too many for one",
        ),
    ],
)
def test_a_hostile_plan_file_gets_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(PlanError, match=words):
        resolve_plan(read_plan_file(path))


def test_a_plan_file_that_never_ends() -> None:
    with pytest.raises(PlanError, match="is it the right file"):
        read_plan_file(Path("/dev/zero"))


def test_so_many_contenders_and_no_more() -> None:
    def plan_of(count: int) -> PlanInput:
        contenders = [{"name": f"c{i}", "address": "http://127.0.0.1:1"} for i in range(count)]
        return PlanInput("plan.toml", {"suite": "web-url"}, {}, contenders)

    assert len(order_trials(resolve_plan(plan_of(CONTENDERS_MAX)))) == 6 * 3 * CONTENDERS_MAX
    with pytest.raises(PlanError, match=r"20,000 contenders are too many for one run: at most 100"):
        resolve_plan(plan_of(20_000))
