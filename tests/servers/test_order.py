"""What a real server logs of a run: who was asked after whom, and how often."""

import re
import subprocess
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

from bakeoff.store.sqlite.read import read_run
from tests.control import PATIENCE_S
from tests.forks import COMMAND
from tests.servers.conftest import Server
from tests.servers.test_replay_logs import log_of

OPERATIONS = 25


@pytest.mark.parametrize("order", ["load_steps", "contenders"])
def test_a_server_is_asked_in_the_order_of_the_plan(
    start_server: Callable[..., Server], public_folder: Callable[[str], Path], order: str, tmp_path: Path
) -> None:
    """One server is both contenders, told apart by their paths, and writes down each request in its turn."""
    root = public_folder(f"order-{order}")
    for name in "ab":
        (root / f"{name}.html").write_text("<p>page</p>" * 30)
    server, run_file = start_server("nginx-log", root), tmp_path / "run.bakeoff"
    contenders = [f"{name}={server.url}/{name}.html" for name in "ab"]
    flags = ["--order", order, "--blocks", "2", "--clients", "1,3", "--operations", str(OPERATIONS)]
    command = [*COMMAND, "run", "web-url", *contenders, *flags, "-o", str(run_file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr

    trials = read_run(run_file).trials
    turns = [(name, len(list(turn))) for name, turn in groupby(trials, key=lambda trial: trial.contender)]
    assert len(trials) == 8 and max(count for _, count in turns) <= (2 if order == "load_steps" else 4)
    assert {(t.state, t.operations) for t in trials} == {("ok", OPERATIONS)}
    # Each is asked before the first turn and, as the last thing, once more: whether it still answers.
    least = OPERATIONS * len(trials) + 4
    asked = [match[1] for line in log_of(server, least) if (match := re.search(r'"GET /([ab])\.html', line))]
    for name in "ab":
        del asked[len(asked) - 1 - asked[::-1].index(name)]
    logged = [(name, len(list(run))) for name, run in groupby(asked)][-len(turns) :]
    assert [name for name, _ in logged] == [name for name, _ in turns]
    # Whoever has a request on its way when the last one is counted is one more; checks come before the first turn.
    for (_, times), (_, count) in list(zip(logged, turns, strict=True))[1:]:
        assert OPERATIONS * count <= times <= (OPERATIONS + 3) * count
