"""The how-to on factors is followed as it stands: four servers of known delays, a run, a report that is verified."""

import json
import math
import os
import re
import shlex
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from statistics import fmean

import pytest

from bakeoff.plan.load import read_plan_file, resolve_plan
from bakeoff.store.sqlite.read import read_run
from tests import forks
from tests.control import PATIENCE_S, went_well

PAGE = Path(__file__).parents[2] / "docs/how-to/settings-as-factors.md"


def blocks(language: str) -> list[str]:
    """What the page has in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_plan_of_the_page(tmp_path: Path) -> None:
    text, _ = blocks("toml")
    path = tmp_path / "storage.toml"
    path.write_text(text)
    plan = resolve_plan(read_plan_file(path))
    assert [contender.name for contender in plan.contenders][:3] == ["nginx-on-5", "nginx-on-0", "nginx-off-5"]
    assert plan.contenders[-1].reset == "ssh root@192.0.2.2 /root/restart apache /dev/md0 cache=off"


def test_the_way_of_asking_is_a_factor(tmp_path: Path) -> None:
    _, text = blocks("toml")
    path = tmp_path / "versions.toml"
    path.write_text(text)
    plan = resolve_plan(read_plan_file(path))
    asked = {c.name: getattr(plan.settings_of(c.name), "http") for c in plan.contenders}  # noqa: B009 - of its kind
    assert asked == {"nginx-1.1": "1.1", "nginx-2": "2", "caddy-1.1": "1.1", "caddy-2": "2"}


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which the page was followed, and what was printed."""
    (script,) = blocks("sh")
    folder = tmp_path_factory.mktemp("factors")
    # The command of the page is the patient one: other load of the machine decides nothing here.
    (folder / "bin").mkdir()
    (folder / "bin/bakeoff").write_text("#!/bin/sh\nexec " + shlex.join(forks.COMMAND) + ' "$@"\n')
    (folder / "bin/bakeoff").chmod(0o755)
    path = f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "200"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder, done.stdout


def logs_of(folder: Path) -> dict[int, dict[str, float]]:
    """ln(rate) of each contender by block, but for blocks with a trial that is void."""
    trials = sorted(read_run(folder / "boxes.bakeoff").trials, key=lambda trial: trial.block)
    assert all(went_well(trial.state, trial.reason) for trial in trials)
    void = {trial.block for trial in trials if trial.state != "ok"}
    return {
        block: {trial.contender: math.log(trial.operations_per_s) for trial in of_block}
        for block, of_block in groupby(trials, key=lambda trial: trial.block)
        if block not in void
    }


def test_the_effects_are_those_of_the_servers(followed: tuple[Path, str]) -> None:
    folder, printed = followed
    result = subprocess.run(
        [*forks.COMMAND, "compare", "boxes.bakeoff", "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    effects = {tuple(one["factors"]): one for one in json.loads(result.stdout)["factors"]["effects"]}
    by_hand = logs_of(folder)
    assert 10 <= len(by_hand) <= 12
    blue = [at["blue-0"] - at["blue-5"] for at in by_hand.values()]
    green = [at["green-0"] - at["green-5"] for at in by_hand.values()]
    main, both = effects["raid",], effects["server", "raid"]
    assert main["ratio"] == pytest.approx(math.exp(fmean([*blue, *green])), rel=1e-5)
    assert both["ratio"] == pytest.approx(math.exp(fmean(green) - fmean(blue)), rel=1e-5)
    # 60 over 20 and 60 over 40 ms; what a busy machine adds to each makes both smaller.
    assert both["verdict"]["kind"] == "shown" and 0.45 < both["ratio"] < 0.85
    assert main["verdict"]["kind"] == "shown" and 1.3 < main["ratio"] < 2.3
    assert "it depends on the server: on blue" in printed


def test_the_report_is_verified_and_a_changed_effect_is_found(followed: tuple[Path, str]) -> None:
    folder, printed = followed
    assert "boxes.html says what boxes.bakeoff gives" in printed
    page = (folder / "boxes.html").read_text()
    assert "Effects of the factors" in page and "server × raid" in page
    match = re.search(r"raid 0 gives on average ([0-9.]+)×", page)
    assert match is not None
    (folder / "forged.html").write_text(page.replace(match[0], match[0].replace(match[1], "9.99"), 1))
    command = [*forks.COMMAND, "verify", "forged.html", "boxes.bakeoff"]
    forged = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert forged.returncode == 1 and "9.99" in forged.stdout
