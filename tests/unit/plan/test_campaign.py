"""A campaign file: what it means, and what it is refused for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.plan.campaign import Campaign, is_campaign, read_campaign
from bakeoff.plan.settings.fields import read_toml

HEAD = '[campaign]\nname = "lab"\nblocks = 6\nseed = 7\n'
BLUE = '[[contender]]\nname = "blue"\nweb = "http://127.0.0.1:1"\nfiles = "share"\nreset = "true"\n'
RED = '[[contender]]\nname = "red"\nweb = "http://127.0.0.1:2"\n'
WEB = '[[suite]]\nsuite = "web-url"\nclients = "1,4"\nlength = "1s"\n'
FILES = '[[suite]]\nsuite = "file-mix"\nweight = 2\nblocks = 3\nclients = "1"\nlength = "1s"\n'


def read(tmp_path: Path, text: str) -> Campaign:
    (tmp_path / "share").mkdir(exist_ok=True)
    path = tmp_path / "lab.toml"
    path.write_text(text)
    assert is_campaign(read_toml(path, "plan file"))
    return read_campaign(path)


def test_contenders_take_part_where_they_have_an_address(tmp_path: Path) -> None:
    campaign = read(tmp_path, HEAD + BLUE + RED + WEB + FILES)
    web, files = campaign.suite_runs
    assert [(c.name, c.address) for c in web.plan.contenders] == [
        ("blue", "http://127.0.0.1:1"),
        ("red", "http://127.0.0.1:2"),
    ]
    assert [(c.name, c.address, c.reset) for c in files.plan.contenders] == [
        ("blue", str(tmp_path / "share"), "true")
    ], "folders are relative to the file"
    assert campaign.contenders == ("blue", "red") and (web.weight, files.weight) == (1.0, 2.0)
    assert (web.plan.blocks, files.plan.blocks, web.plan.seed) == (6, 3, 7)
    assert [load_step.x for load_step in web.plan.load_steps] == [1, 4]


def test_every_block_runs_once_and_orders_of_suites_are_balanced(tmp_path: Path) -> None:
    """Each suite stands in each place of a round equally often: the hours of a day hit all alike."""
    text = HEAD + BLUE + RED + WEB + WEB.replace("\n", '\nname = "two"\n', 1) + FILES.replace("blocks = 3\n", "")
    campaign = read(tmp_path, text)
    rounds = [[(suite_run.name, block) for suite_run, block in suite_runs] for suite_runs in campaign.rounds()]
    assert sorted(pair for suite_runs in rounds for pair in suite_runs) == sorted(
        (suite_run.name, block) for suite_run in campaign.suite_runs for block in range(1, 7)
    )
    places = Counter((name, place) for suite_runs in rounds for place, (name, _) in enumerate(suite_runs))
    assert set(places.values()) == {2}
    assert rounds == [
        [(suite_run.name, block) for suite_run, block in suite_runs] for suite_runs in read(tmp_path, text).rounds()
    ]


def test_a_suite_of_fewer_blocks_is_spread_over_all_rounds(tmp_path: Path) -> None:
    campaign = read(tmp_path, HEAD + BLUE + RED + WEB + FILES)
    at = [
        number
        for number, suite_runs in enumerate(campaign.rounds(), 1)
        for suite_run, _ in suite_runs
        if suite_run.name == "file-mix"
    ]
    assert at == [2, 4, 6]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + BLUE, r"\[\[suite\]\]"),
        (HEAD + WEB, r"\[\[contender\]\]"),
        (HEAD + BLUE + WEB + WEB, "two suites are called 'web-url'"),
        (HEAD + BLUE + WEB.replace("web-url", "web-uri"), "web-url"),
        (HEAD + BLUE + WEB + "lenght = '1s'\n", "lenght"),
        (HEAD + BLUE.replace("web =", "wbe =") + WEB, "wbe: unknown key"),
        (HEAD + RED + FILES, "no contender has an address for file-mix"),
        (HEAD + BLUE + RED + FILES, "'red' takes part in no suite"),
        (HEAD + BLUE + WEB + "seed = 3\n", r"\[campaign\]"),
        (HEAD + BLUE + WEB + "interim_analyses = [6, 12]\n", "interim_analyses: is of single runs: leave it out"),
        (HEAD + BLUE + WEB + 'dead_after = "5s"\n', "dead_after: is of single runs: leave it out"),
        (HEAD + BLUE + WEB + "weight = 0\n", "weight"),
        (HEAD + BLUE + BLUE + WEB, "two contenders are named 'blue'"),
        ("[plan]\nblocks = 2\n" + BLUE + WEB, "unknown table"),
        (HEAD.replace("lab", "a/b") + BLUE + WEB, "name"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(text)
    with pytest.raises(PlanError, match=said):
        read_campaign(path)


def test_a_suite_is_held_to_its_objective(tmp_path: Path) -> None:
    web = WEB.replace('length = "1s"', 'length = "20s"') + 'objective = "p99<=50ms"\n'
    (held, free) = read(tmp_path, HEAD + BLUE + RED + web + FILES).suite_runs
    assert held.plan.objective == "p99<=50ms" and held.plan.goal is not None and free.plan.objective == ""
    with pytest.raises(PlanError, match=r"\[\[suite\]\] web-url objective: 'p99<50ms'|p99 is bounded by <="):
        read(tmp_path, HEAD + BLUE + web.replace("<=", "<"))
    with pytest.raises(PlanError, match="only suites of web, mail and application servers can have one"):
        read(tmp_path, HEAD + BLUE + FILES + 'objective = "p99<=50ms"\n')
