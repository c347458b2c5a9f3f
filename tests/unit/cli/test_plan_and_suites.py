from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.cli.measure.soak import as_soak
from bakeoff.cli.planning.reach import smallest_p
from bakeoff.core.units import parse_duration
from bakeoff.plan.design.differences import text_of
from bakeoff.plan.kind import plan_part
from bakeoff.plan.load import PlanInput, read_plan_file, resolve_plan
from bakeoff.plan.suites import load_suite, suite_names


def output(*words: str) -> str:
    outcome = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert outcome.exit_code == 0
    return outcome.output


def test_a_plan_shows_trials_order_duration_and_blocks() -> None:
    text = output("plan", "web-static", "a=http://127.0.0.1:1", "b=http://127.0.0.1:2")
    assert "36 trials = 2 contenders x 3 load steps x 6 blocks" in text
    assert "duration: about 1m" in text
    assert "(assumed) Shares of the request classes" in text
    assert "fewest for a verdict" in text and "0.0625" in text and "0.0312" in text


def test_a_plan_of_mail_tells_what_servers_may_take_on_top_of_its_length(tmp_path: Path) -> None:
    """Seen: 1m51s were told, and emptying mailboxes and reading what was left made it 7m10s."""
    users = tmp_path / "users.csv"
    users.write_text("".join(f"u{number},pw,bakeoff.test\n" for number in range(40)))
    text = output("plan", "mail-pop", "--users", str(users), "--init-limit", "2m", "--drain-limit", "20s")
    (line,) = (line for line in text.splitlines() if line.startswith("duration: "))
    assert "; the servers add at most 36 x 2m40s = 1h36m: emptying the mailboxes before" in line
    assert "2m at most (init_limit)" in line and "40s (drain_limit and reply_timeout)" in line
    assert "on top" not in output("plan", "web-static").partition("duration: ")[2].partition("\n")[0]


def test_few_blocks_are_called_what_they_are() -> None:
    assert "5 blocks give numbers but no verdict" in output("plan", "web-static", "--blocks", "5")
    assert "One contender: figures only" in output("plan", "web-static", "a=http://h")
    assert "enough for the verdict of the suite and for single load steps" in output(
        "plan", "web-static", "--blocks", "13"
    )


@pytest.mark.parametrize(
    ("contenders", "blocks", "needed"), [(2, 6, None), (3, 6, 8), (4, 6, 9), (4, 8, 9), (4, 9, None), (5, 8, 9)]
)
def test_of_several_contenders_lost_trials_take_more_blocks(contenders: int, blocks: int, needed: int | None) -> None:
    """Seen: six blocks "are enough" for the six pairs of four, of which one with a lost trial never could be told."""
    words = [f"{name}=http://{name}" for name in "abcde"[:contenders]]
    text = output("plan", "web-static", *words, "--blocks", str(blocks))
    assert ("none to spare" in text) == (blocks == 6)
    assert ("in which a trial is lost" in text) == (needed is not None)
    if needed is not None:
        pairs = contenders * (contenders - 1) // 2
        assert f"use --blocks {needed} where" in text and f"of {pairs} pairs one must reach" in text
        assert smallest_p(needed) * pairs <= 0.045 < smallest_p(needed - 1) * pairs


CAMPAIGN = """
[campaign]
name = "lab"
seed = 7
blocks = {blocks}
[[contender]]
name = "a"
web = "http://127.0.0.1:8080/"
[[contender]]
name = "b"
web = "http://127.0.0.1:8081/"
{third}
[[suite]]
suite = "web-static"
clients = [1, 4]
[[suite]]
suite = "web-url"
clients = [4]
"""
THIRD = """
[[contender]]
name = "c"
web = "http://127.0.0.1:8082/"
"""


def planned_campaign(folder: Path, blocks: int, third: str = "") -> str:
    path = folder / "lab.toml"
    path.write_text(CAMPAIGN.format(blocks=blocks, third=third))
    return output("plan", str(path))


@pytest.mark.parametrize(("blocks", "pairs", "needed"), [(6, 2, 7), (7, 2, None), (6, 6, 9), (8, 6, 9), (9, 6, None)])
def test_a_campaign_says_beforehand_that_holm_over_all_suites_asks_for_more_blocks(
    blocks: int, pairs: int, needed: int | None, tmp_path: Path
) -> None:
    """A sign-flip test of six blocks reaches 0.031; of two suites with a pair each one must reach 0.022."""
    text = planned_campaign(tmp_path, blocks, THIRD if pairs == 6 else "")
    assert ("no verdict on pairs in which a trial is lost" in text) == (needed is not None)
    if needed is not None:
        assert f"web-static ({blocks} blocks) and web-url ({blocks} blocks): no verdict on pairs" in text
        assert f"of {pairs} pairs of all suites one must reach" in text and f"Use blocks = {needed} where" in text
        assert smallest_p(needed) * pairs <= 0.045 < smallest_p(needed - 1) * pairs


def test_a_campaign_of_five_blocks_gives_no_verdict(tmp_path: Path) -> None:
    text = planned_campaign(tmp_path, 5)
    assert "web-static (5 blocks) and web-url (5 blocks) give numbers but no verdict, so no contender is" in text
    assert "Use blocks = 6 or more." in text and "judged by signs" not in text


def test_other_designs_say_beforehand_what_they_cannot_reach() -> None:
    two = ("a=http://h", "b=http://i")
    soaked = output(
        "plan", "web-static", *two, "--blocks", "1", "--interval", "10s", "--length", "60s", "--clients", "4"
    )
    assert "1 block gives numbers but no verdict" in soaked
    searched = ("plan", "web-static", *two, "--objective", "p99<=50ms")
    assert "5 blocks give numbers but no verdict" in output(*searched, "--blocks", "5")
    assert "6 blocks are enough for the verdict on capacities, with none to spare" in output(*searched, "--blocks", "6")
    three = output(*searched, "c=http://j", "--blocks", "6")
    assert "Not for pairs in which a search finds no load" in three and "use --blocks 8 where" in three


def test_trials_that_are_too_short_for_the_p99_are_named_beforehand() -> None:
    """20 a second in 8 s are 160 starts: the p95 takes 72, the p99 368, which are 19 s."""
    two = ("plan", "web-static", "a=http://h", "b=http://i")
    words = (*two, "--length", "10s", "--ramp-up", "1s", "--ramp-down", "1s")
    text = output(*words, "--rate", "20,100")
    assert "needs 368 starts in the window: 19 s at 20/s." in text
    assert "The 95th percentile of response time decides." in text
    assert "The median response time decides." in output(*words, "--rate", "5")
    assert "for a p99" not in output(*words, "--rate", "100") + output(*words, "--clients", "4")
    bounded = output(*two, "--operations", "100", "--clients", "4")
    assert "A trial has 100 operations, too few for a p99, which needs 368." in bounded


def test_effects_of_factors_need_blocks_as_pairs_do() -> None:
    words = ("plan", "web-url", "a=http://h:{port}/", "b=http://i:{port}/", "--factor", "port=80,81", "--blocks")
    assert "5 blocks give numbers but no verdict, neither on pairs nor on effects" in output(*words, "5")
    text = output(*words, "6")
    assert "6 blocks are enough for the verdict of the suite and on effects of factors, with none to spare" in text
    assert "of 6 pairs one must reach" in text and "use --blocks 9 where" in text


def test_single_claims_are_about_cells_where_a_trial_has_them(tmp_path: Path) -> None:
    words = ("plan", "file-blocks", f"a={tmp_path}", f"b={tmp_path}", "--no-calibration", "--region", "16MiB")
    text = output(*words, "--clients", "1")
    assert "12 trials = 2 contenders x 1 load step x 6 blocks" in text
    assert "use --blocks 13 for claims about single cells" in text and "single load steps" not in text


def test_the_order_can_be_listed() -> None:
    words = ["web-static", "--blocks", "1", "--clients", "3"]
    rows = [line.split() for line in output("plan", *words, "--trials").splitlines()]
    assert ["0", "1", "A", "3"] in rows or ["0", "1", "B", "3"] in rows
    assert ["1", "1", "A", "3"] in rows or ["1", "1", "B", "3"] in rows


def test_the_plan_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(
        output("plan", "web-static", "a=http://h", "b=http://i", "--length", "3s", "--keep-alive", "--toml")
    )
    plan = resolve_plan(read_plan_file(path))
    assert (plan.settings.length_s, [c.name for c in plan.contenders]) == (3.0, ["a", "b"])


@pytest.mark.parametrize(("blocks", "p"), [(1, 1.0), (3, 0.25), (4, 0.125), (5, 0.0625), (6, 0.03125), (8, 0.0078125)])
def test_smallest_p(blocks: int, p: float) -> None:
    assert smallest_p(blocks) == p


def test_suites_are_listed_with_every_setting() -> None:
    assert "WebBench 3.0 STATIC" in output("suites")
    text = output("suites", "web-static")
    for name in ("ramp_up", "receive_buffer", "keep_alive", "check_every", "clients"):
        assert name in text
    assert "(assumed)" in text


def test_a_length_that_is_a_limit_is_called_one() -> None:
    text = output("plan", "httperf", "--blocks", "1")
    assert "each ends when its work is done, or at the latest after 1h" in text
    assert "duration: at most 2h" in text
    assert "duration: about" not in text
    assert "each ends after 7 operations" in output("plan", "web-static", "--operations", "7")


def test_work_that_is_counted_takes_what_a_link_takes_for_it() -> None:
    text = output("plan", "file-matrix", "--size", "full")
    assert "or at the latest after 24h" in text
    assert "1,638 cells, 127 GB" in text
    assert "duration: about 5h7m51s at 110 MB/s" in text
    assert "at most" not in text
    assert "duration: about 12h6m6s" in output("plan", "file-blocks", "--size", "full")


@pytest.mark.parametrize("suite", [name for name in suite_names() if name not in ("mail-pop", "replay", "web-session")])
def test_contenders_may_be_left_out(suite: str) -> None:
    assert "(assumed)" in output("plan", suite, "--size", "medium")


def test_sizes_are_listed_with_what_they_cost() -> None:
    rows = {line.split()[0]: line for line in output("suites").splitlines() if line.strip()}
    assert "17 min" in rows["web-url"] and "40 min" in rows["web-url"]
    assert "17 min" in output("suites", "web-static")


@pytest.mark.parametrize("suite", suite_names())
def test_a_suite_shows_values_as_one_would_write_them(suite: str) -> None:
    """Every value that is shown can be given, and means what the suite has."""
    made = load_suite(suite)
    model = plan_part(made.suite.kind).settings
    for size in made.sizes:
        settings = model.model_validate(made.defaults(size))
        for name, field in model.model_fields.items():
            value = getattr(settings, name)
            text = text_of(name, field, value)
            if text in ("-", "yes", "no"):
                continue
            given = model.model_validate({**made.defaults(size), field.alias or name: text})
            assert getattr(given, name) == value, (name, text)


@pytest.mark.parametrize(
    ("length", "interval"),
    [("1s", "100ms"), ("10s", "500ms"), ("1m", "2s"), ("10m", "20s"), ("1h", "2m"), ("12h", "30m"), ("28h", "1h")],
)
def test_a_soak_has_some_two_dozen_intervals_or_one_an_hour(length: str, interval: str) -> None:
    given = PlanInput("x", {"suite": "web-url"}, {"clients": "1"}, [{"name": "a", "address": "http://h"}])
    assert parse_duration(as_soak(given, length).settings["interval"]) == parse_duration(interval)


def test_a_plan_promises_effects_of_what_has_levels_alone(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    rows = [("a", "raid", "on"), ("b", "raid", "off")]
    path.write_text(
        '[plan]\nsuite = "web-url"\n'
        + "".join(
            f'[[contender]]\nname = "{name}"\naddress = "http://{name}/"\n'
            f'levels = {{ disk = "{disk}", cache = "{cache}" }}\n'
            for name, disk, cache in rows
        )
    )
    assert "disk (raid) x cache (on, off): 2 combinations; tells 1 main effect, from" in output("plan", str(path))
