"""The sizes that follow the publications, and what every other size says of its difference to them."""

from pathlib import Path

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.plan.design.differences import differences
from bakeoff.plan.kind import plan_part
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.plan.suites import PUBLISHED, load_suite, suite_names

PUBLISHED_SUITES = ["web-static", "web-dynamic", "app", "file-mix", "file-matrix", "file-blocks"]


def plan(suite: str, size: str, address: str = "http://127.0.0.1:1", **settings: object) -> Plan:
    given = PlanInput("command line", {"suite": suite, "size": size}, settings, parse_contenders([f"a={address}"]))
    return resolve_plan(given)


@pytest.mark.parametrize("suite", PUBLISHED_SUITES)
def test_the_size_published_differs_in_nothing_and_quick_says_in_what(suite: str) -> None:
    of = load_suite(suite)
    model = plan_part(of.suite.kind).settings
    assert differences(of, model.model_validate(of.defaults(PUBLISHED)), {}) == ()
    quick = differences(of, model.model_validate(of.defaults("quick")), {})
    assert any(line.startswith("length: ") and ", published " in line for line in quick), quick


def test_a_suite_without_a_publication_has_no_such_size() -> None:
    assert "published" not in load_suite("web-url").sizes
    with pytest.raises(PlanError, match="web-url has the sizes quick, medium, long, full"):
        plan("web-url", "published")


def test_web_static_as_published_ends_connections_by_reset_and_has_a_small_window() -> None:
    published = plan("web-static", "published").settings.stored()
    assert (published["close_with_reset"], published["receive_buffer_bytes"]) == (True, 4096)
    differences = ("receive_buffer: auto, published 4KiB", "close_with_reset: no, published yes")
    assert plan("web-static", "full").differences == differences


def test_a_changed_setting_is_a_difference_too(tmp_path: Path) -> None:
    assert plan("web-static", "published", virtual_users=2).differences == ("virtual_users: 2, published 1",)
    mix = plan("file-mix", "netbench7", str(tmp_path))
    assert (mix.settings.clients[0], mix.settings.clients[-1], len(mix.settings.clients)) == (1, 36, 10)
    stored = mix.settings.stored()
    assert (stored["iteration_bytes"], stored["iteration_pause_s"]) == (2_000_000, 2.36)
    assert Plan.from_dict(mix.to_dict()).hash == mix.hash


def test_what_the_servers_are_and_how_the_tool_waits_is_no_difference(tmp_path: Path) -> None:
    assert plan("web-static", "published", poll="on").differences == ()
    relative = plan("file-mix", "netbench7", str(tmp_path), server_memory="4GiB", workspace="2x")
    assert relative.differences == plan("file-mix", "netbench7", str(tmp_path), workspace="8GiB").differences


def test_every_size_of_every_suite_can_be_planned() -> None:
    for name in suite_names():
        suite = load_suite(name)
        for size in suite.sizes:
            plan_part(suite.suite.kind).settings.model_validate(suite.defaults(size))
