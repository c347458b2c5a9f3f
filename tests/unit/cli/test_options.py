import inspect
from collections import Counter
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from bakeoff.cli.options import with_plan_options
from bakeoff.core.errors import PlanError
from bakeoff.kinds import KINDS
from bakeoff.plan.kind import plan_part, plan_section_keys
from bakeoff.plan.load import PlanInput, resolve_plan

GOT: list[PlanInput] = []


def app() -> typer.Typer:
    """A command line with one verb that remembers what it was given."""

    def verb(given: PlanInput) -> None:
        GOT.append(given)

    made = typer.Typer()
    made.command()(with_plan_options(verb))
    return made


def given(*words: str) -> PlanInput:
    outcome = CliRunner().invoke(app(), list(words), catch_exceptions=True)
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    assert outcome.exit_code == 0, outcome.output
    return GOT.pop()


def test_every_setting_of_every_kind_is_a_flag() -> None:
    names = inspect.signature(with_plan_options(lambda given: None)).parameters
    for kind in map(plan_part, KINDS):
        for name, field in kind.settings.model_fields.items():
            table = "plan" if (field.alias or name) in plan_section_keys() else "setting"
            assert f"{table}_{field.alias or name}" in names, name


def test_no_flag_means_two_settings() -> None:
    flags = Counter(
        flag for option in typer.main.get_command(app()).params for flag in {*option.opts, *option.secondary_opts}
    )
    assert {flag for flag, settings in flags.items() if settings > 1} == set()


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        (["--keep-alive"], "keep_alive", True),
        (["--close"], "keep_alive", False),
        (["--insecure"], "insecure", True),
        (["--verify"], "insecure", False),
        (["--full-handshake"], "full_handshake", True),
        (["--resumption"], "full_handshake", False),
        (["--close-with-reset"], "close_with_reset", True),
        (["--http", "1.1"], "http", "1.1"),
        (["--virtual-users", "3"], "virtual_users", 3),
        (["--load-threads", "2"], "load_threads", 2),
        (["--pin", "1"], "pin", (1,)),
        (["--clients", "2,5"], "clients", (2, 5)),
        (["--clients", "2,5"], "clients", (2, 5)),
        (["--length", "10s"], "length_s", 10.0),
        (["--ramp-up", "1s"], "ramp_up_s", 1.0),
        (["--ramp-down", "200ms"], "ramp_down_s", 0.2),
        (["--stagger", "5ms"], "delay_s", 0.005),
        (["--think", "0"], "think_s", 0.0),
        (["--operations", "100"], "operations", 100),
        (["--connect-timeout", "1s"], "connect_timeout_s", 1.0),
        (["--reply-timeout", "2s"], "reply_timeout_s", 2.0),
        (["--receive-buffer", "64KiB"], "receive_buffer_bytes", 65536),
        (["--source-addresses", "127.0.0.2,127.0.0.3"], "source_addresses", ("127.0.0.2", "127.0.0.3")),
        (["--check-every", "0"], "check_every", 0),
        (["--headers", "A: b,c", "--headers", "D: e"], "headers", ("A: b,c", "D: e")),
        (["--weights", "223=1,404=0"], "weights", {"223": 1.0, "404": 0.0}),
    ],
)
def test_flags_reach_the_settings(words: list[str], field: str, value: Any) -> None:
    plan = resolve_plan(given("web-static", "a=https://h", *words))
    assert getattr(plan.settings, field) == value


def test_flags_of_the_plan() -> None:
    words = [
        "--size",
        "long",
        "--blocks",
        "7",
        "--seed",
        "9",
        "--delta",
        "2%",
        "--error-limit",
        "0",
        "--name",
        "N",
        "--corpus",
        "/c",
    ]
    plan = resolve_plan(given("web-static", "a=http://h", "--reset", "a=systemctl restart a=b", *words))
    assert (plan.size, plan.blocks, plan.seed, plan.delta) == ("long", 7, 9, 0.02)
    assert (plan.error_limit, plan.name, plan.settings.stored()["corpus"]) == (0.0, "N", "/c")
    assert plan.contenders[0].reset == "systemctl restart a=b"


def test_contenders_on_the_command_line_replace_those_of_the_file(tmp_path: Any) -> None:
    path = tmp_path / "p.toml"
    path.write_text('[plan]\nsuite = "web-static"\n[[contender]]\nname = "a"\naddress = "http://one"\nreset = "true"\n')
    assert resolve_plan(given(str(path))).contenders[0].address == "http://one"
    a, b = resolve_plan(given(str(path), "a=http://two", "b=http://three")).contenders
    assert (a.address, a.reset, b.address, b.reset) == ("http://two", "true", "http://three", None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a=http://h"], "name the suite first"),
        (["web-static", "--reset", "a"], "write NAME=COMMAND"),
        (["web-static", "x"], "is not a contender: write NAME=ADDRESS"),
        (["./none.toml"], "does not exist"),
    ],
)
def test_words_that_make_no_sense(words: list[str], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        given(*words)
