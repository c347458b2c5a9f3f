"""Plans of open-loop load: what is taken, what is refused and in which words, and what decides."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.load.arrivals import Arrivals, Burst, Constant, OnOff, Poisson, Ramp, Replay, Steps, Uniform
from bakeoff.load.load_step import Clients, Rate
from bakeoff.plan.input.rates import parse_arrivals
from bakeoff.plan.load import PlanInput, parse_contenders, read_plan_file, resolve_plan, with_flags
from bakeoff.plan.model import Plan


def plan(suite: str = "web-url", **settings: Any) -> Plan:
    address = "http://127.0.0.1:1/" if suite.startswith("web") else "127.0.0.1:1"
    given = PlanInput("command line", {"suite": suite}, {}, parse_contenders([f"a={address}"]))
    return resolve_plan(with_flags(given, {}, settings, {}))


@pytest.mark.parametrize("suite", ["web-url", "app"])
def test_rates_are_the_load_steps_of_a_plan(suite: str) -> None:
    made = plan(suite, rate="500,1000/s,120000/m", arrivals="poisson", most_connections="40")
    assert made.settings.load_steps == tuple(Rate(per_s, Poisson(), 40) for per_s in (500.0, 1000.0, 2000.0))
    assert made.settings.clients_by_step == (40, 40, 40)
    assert Plan.from_dict(made.to_dict()) == made
    assert plan(suite).settings.load_steps[0] == Clients(1), "without a rate nothing has changed"


def test_what_suites_say_of_their_clients_is_put_out_of_use() -> None:
    made = plan("web-static", rate="5", length="100s")
    assert (made.settings.virtual_users, made.settings.think_s, made.settings.clock.delay_s) == (1, 0.0, 0.0)


def test_one_plan_has_one_hash_and_other_arrivals_another() -> None:
    hashes = {plan(rate="500", arrivals=text).hash for text in ("constant", "poisson", "burst:2", "burst:3")}
    assert len(hashes) == 4 and plan(rate="500").hash == plan(rate="500.0/s").hash


@pytest.mark.parametrize(
    ("text", "arrivals"),
    [
        ("constant", Constant()),
        ("poisson", Poisson()),
        ("uniform", Uniform()),
        ("ramp:0.2-1.8", Ramp(0.2, 1.8)),
        ("steps:0.5x10s,2x5s,0x500ms", Steps(((0.5, 10.0), (2.0, 5.0), (0.0, 0.5)))),
        ("burst:10", Burst(10)),
        ("on-off:1s/4s", OnOff(1.0, 4.0)),
    ],
)
def test_shapes_as_people_write_them(text: str, arrivals: Arrivals) -> None:
    assert parse_arrivals(text) == arrivals
    assert parse_arrivals(str(arrivals)) == arrivals


@pytest.mark.parametrize(
    "text",
    [
        "", "often", "constant:3", "poisson:", "ramp", "ramp:1", "ramp:0-0", "ramp:-1-2", "ramp:1-nan", "ramp:1-1e9",
        "ramp:0-999999", "steps:", "steps:1x", "steps:1x5", "steps:0x5s", "steps:1x0s", "burst:", "burst:0",
        "burst:2.5", "burst:999999999", "on-off:1s", "on-off:0s/1s", "on-off:1/4", "on_off", "replay", "file:",
    ],
)  # fmt: skip
def test_what_is_no_shape_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(PlanError) as caught:
        plan(rate="500", arrivals=text)
    assert str(caught.value).startswith("--arrivals: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rate": "500", "clients": "4"}, "clients: a plan has clients or a rate"),
        ({"rate": "0"}, "rate: give different rates, all above 0, rising"),
        ({"rate": "5,5"}, "rate: give different rates"),
        ({"rate": "9,5"}, "rate: give different rates"),
        ({"rate": "10000001"}, "10,000,000 starts a second at most"),
        ({"rate": "6000000", "arrivals": "ramp:0-2"}, "in peaks of arrivals as well"),
        ({"rate": "often"}, "'often' is not a rate"),
        ({"rate": "500", "virtual_users": "2"}, "virtual_users: a rate has no clients"),
        ({"rate": "500", "think": "1ms"}, "think: an open loop waits for no reply"),
        ({"rate": "500", "think_distribution": "exponential"}, "it has no effect without think"),
        ({"rate": "500", "stagger": "1s"}, "stagger: a rate has no clients to spread"),
        ({"arrivals": "poisson"}, "--arrivals: belongs to a rate: give --rate, too"),
        ({"most_connections": "7"}, "--most-connections: belongs to a rate"),
        ({"rate": "500", "most_connections": "100001"}, "most-connections"),
        ({"rate": "0.1,500", "length": "5s"}, "length: at 0.1/s, evenly spaced, no start falls into the"),
        (
            {"rate": "500", "arrivals": "on-off:1s/5s", "length": "6s", "ramp_up": "2s"},
            "no start falls into the window from 2 to 5.6 s: make trials longer",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PlanError) as caught:
        plan("web-url", **settings)
    assert sentence in str(caught.value)


def test_file_suites_have_no_rates(tmp_path: Path) -> None:
    given = PlanInput("command line", {"suite": "file-mix"}, {}, parse_contenders([f"a={tmp_path}"]))
    with pytest.raises(PlanError, match="--rate: belongs to suites of kind web, mail"):
        resolve_plan(with_flags(given, {}, {"rate": "5"}, {}))


def test_recorded_moments_are_one_load_step_of_their_mean(tmp_path: Path) -> None:
    file = tmp_path / "times.txt"
    file.write_text("# from the log\n0\n0.5  # twice\n0.5\n\n9.75\n")
    made = plan(arrivals=f"file:{file}", length="10s")
    assert made.settings.load_steps == (Rate(0.4, Replay((0.0, 0.5, 0.5, 9.75)), 1000),)
    file.unlink()
    assert Plan.from_dict(made.to_dict()) == made, "a plan that is resumed reads no file"


def test_a_plan_file_names_its_moments_beside_it(tmp_path: Path) -> None:
    (tmp_path / "times.txt").write_text("1\n2\n")
    file = tmp_path / "x.toml"
    file.write_text(
        '[plan]\nsuite = "web-url"\n[settings]\narrivals = "file:times.txt"\nlength = "10s"\n'
        '[[contender]]\nname = "a"\naddress = "http://127.0.0.1:1/"\n'
    )
    assert resolve_plan(read_plan_file(file)).settings.load_steps[0].x == 0.2


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "names no moment"),
        ("# nothing\n", "names no moment"),
        ("1\n0.5\n", "line 2: time runs backwards, from 1 s to 0.5 s"),
        ("1\nsoon\n", "line 2: 'soon' is no moment"),
        ("-1\n", "line 1: '-1' is no moment"),
        ("nan\n", "'nan' is no moment"),
        ("1\n10\n", "the last of them is at 10 s"),
        ("1\n" * 10_001, "more than 10,000 moments"),
        (b"\xff\xfe", "not text in UTF-8"),
    ],
)
def test_a_file_of_moments_that_cannot_be_is_refused_by_line(tmp_path: Path, content: Any, sentence: str) -> None:
    file = tmp_path / "times.txt"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(PlanError) as caught:
        plan(arrivals=f"file:{file}", length="10s")
    assert sentence in str(caught.value)


def test_a_file_and_a_rate_contradict_each_other(tmp_path: Path) -> None:
    file = tmp_path / "times.txt"
    file.write_text("1\n")
    for other in ({"rate": "5"}, {"operations": "5"}):
        with pytest.raises(PlanError, match=r"leave (rate|operations) out"):
            plan(arrivals=f"file:{file}", length="10s", **other)


@pytest.mark.parametrize(
    ("settings", "figure"),
    [
        ({"rate": "50,500", "length": "10s"}, "99th percentile of response time"),
        ({"rate": "30,500", "length": "10s"}, "95th percentile of response time"),
        ({"rate": "5,500", "length": "10s"}, "median response time"),
        ({"rate": "5,500", "operations": "400"}, "99th percentile of response time"),
    ],
)
def test_what_decides_is_fixed_beforehand_by_the_fewest_starts(settings: dict[str, str], figure: str) -> None:
    made = plan(**settings)
    assert figure in made.primary and "is overloaded (it answers" in made.primary
    assert "response time" not in plan().primary
