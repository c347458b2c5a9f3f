"""Every plan in plans/ runs, shortened, against built-in targets or in folders of the local disk."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.plan.kind import plan_part
from bakeoff.plan.suites import load_suite
from bakeoff.store.sqlite.read import read_run
from bakeoff.testdata.corpus.write import write_corpus
from bakeoff.testdata.mail.accounts import new_accounts, write_accounts
from tests.conftest import Target
from tests.control import PATIENCE_S
from tests.forks import COMMAND

PLANS = sorted((Path(__file__).parents[2] / "plans").glob("*.toml"))
LOAD_STEPS = ["--clients", "1,2", "--blocks", "1"]
COUNTED = [*LOAD_STEPS, "--operations", "50", "--length", "5m"]
# What no count bounds is long enough for a machine that stands still for a moment.
TIMES = ["--length", "2.5s", "--ramp-up", "0.1s", "--ramp-down", "0.1s"]
SHORT = {
    "file-matrix": [*LOAD_STEPS, "--file-sizes", "64KiB", "--record-sizes", "4KiB"],
    "file-blocks": [*LOAD_STEPS, "--block-sizes", "4KiB", "--cell-time", "50ms", "--region", "1MiB"],
    "file-mix": [*COUNTED, "--stagger", "0s"],
    "web-session": [*LOAD_STEPS, "--operations", "10"],
    "replay": ["--blocks", "2", "--speed", "10"],
    "httperf": ["--rate", "50,100", "--num-conns", "20", "--blocks", "1"],
    "rates": ["--rate", "50,100", "--blocks", "1", *TIMES],
    "mail-pop": [*LOAD_STEPS, *TIMES, "--mailboxes", "4", "--sizes", "4KiB"],
}


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.stem)
def test_the_plan_runs(plan: Path, target: Callable[..., Target], tmp_path: Path) -> None:
    text = plan.read_text()
    suite = re.search(r'^suite = "(.+)"', text, re.MULTILINE)
    assert suite
    root = None
    if suite[1] in ("web-static", "web-dynamic"):
        root = tmp_path / "corpus"
        root.mkdir()
        write_corpus(suite[1], root, 1)
    if suite[1] == "mail-pop":
        write_accounts(tmp_path / "users.csv", new_accounts(8, "example.test"))
    if suite[1] == "replay":
        lines = (f'::1 - - [10/Oct/2026:13:55:{n // 9:02d} +0000] "GET /{n % 4} HTTP/1.1" 200 5\n' for n in range(90))
        (tmp_path / "access.log").write_text("".join(lines))
    if suite[1] == "web-session":
        steps = ('[[step]]\nname = "one"\npath = "/a"\n', '[[step]]\nname = "two"\npath = "/b"\n')
        (tmp_path / "shop.toml").write_text("".join(steps))
    kind = load_suite(suite[1]).suite.kind
    spec = {"root": str(root) if root else None} if kind == "web" else {"kind": plan_part(kind).target or kind}
    places = r'(?<=address = ")smtp=[^"]+' if suite[1] == "mail-pop" else r"127\.0\.0\.1:\d+"
    for found in dict.fromkeys(re.findall(places, text)):
        text = text.replace(found, target(**spec).address)
    for number, folder in enumerate(re.findall(r'"(/mnt/.+?)"', text)):
        made = tmp_path / f"folder-{number}"
        made.mkdir()
        text = text.replace(folder, str(made), 1)
    shortened = tmp_path / plan.name
    shortened.write_text(text)
    run_file = tmp_path / "run.bakeoff"
    at_rates = suite[1] not in SHORT and re.search(r"^rate = ", text, re.MULTILINE) is not None
    shorter = SHORT["rates"] if at_rates else SHORT.get(suite[1], COUNTED)
    command = [*COMMAND, "run", str(shortened), *shorter, "-o", str(run_file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    run = read_run(run_file)
    assert [trial.state for trial in run.trials] == ["ok"] * 4
    assert len(run.contenders) == 2
