"""The app server alone on another machine: two network namespaces, joined by a virtual cable."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts.run_tests import ALL_CRATES

from tests.control import PATIENCE_S, went_well

ROOT = Path(__file__).parents[2]
SERVER, CLIENT = (f"bakeoff-{name}-{os.getpid()}" for name in ("srv", "cli"))
SERVER_ADDRESS, CLIENT_ADDRESS = "10.213.7.1", "10.213.7.2"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@pytest.fixture
def hosts() -> Iterator[None]:
    """Two hosts that see each other and nothing else."""
    for name in (SERVER, CLIENT):
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
    try:
        ip("netns", "add", SERVER)
        ip("netns", "add", CLIENT)
        ip("link", "add", "bk-srv", "netns", SERVER, "type", "veth", "peer", "name", "bk-cli", "netns", CLIENT)
        for name, link, address in ((SERVER, "bk-srv", SERVER_ADDRESS), (CLIENT, "bk-cli", CLIENT_ADDRESS)):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", link)
            ip("-n", name, "link", "set", link, "up")
        yield
    finally:
        for name in (SERVER, CLIENT):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


@pytest.fixture(scope="session")
def program() -> str:
    """The bare program, as it would be copied to a machine without Python."""
    # As `make test` builds it: another selection of crates would compile what they share a second time.
    subprocess.run([*ALL_CRATES, "--no-run"], cwd=ROOT, check=True, capture_output=True, text=True)
    return str(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "bakeoff-targets")


def on(host: str, *command: str) -> list[str]:
    return ["ip", "netns", "exec", host, *command]


def test_a_client_machine_measures_two_settings_of_a_server_machine(hosts: None, program: str, tmp_path: Path) -> None:
    """One server by the bare program, one by `bakeoff serve`; the run is stored and both have their split."""
    settings = ("app", "--host", SERVER_ADDRESS, "--port")
    bare = subprocess.Popen(on(SERVER, program, *settings, "9001"), stdout=subprocess.PIPE, text=True)
    python = (sys.executable, "-m", "bakeoff", "serve", *settings, "9002", "--threads", "2")
    served = subprocess.Popen(on(SERVER, *python), stdout=subprocess.PIPE, text=True)
    try:
        assert bare.stdout is not None and served.stdout is not None
        assert json.loads(bare.stdout.readline()) == {"address": f"{SERVER_ADDRESS}:9001"}
        assert f"app://{SERVER_ADDRESS}:9002" in served.stdout.readline()
        contenders = (f"bare={SERVER_ADDRESS}:9001", f"served={SERVER_ADDRESS}:9002")
        short = ("--clients", "1,4", "--operations", "300", "--blocks", "1", "-o", "r.bakeoff")
        run = on(CLIENT, sys.executable, "-m", "bakeoff", "run", "app", *contenders, *short)
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        assert done.returncode == 0, done.stderr
        assert "service threads differ" in done.stderr
    finally:
        bare.terminate()
        served.terminate()
        last = bare.communicate(timeout=PATIENCE_S)[0].splitlines()[-1]
        served.wait(PATIENCE_S)
    counts = json.loads(last)
    assert counts["requests"] > 100 and counts["refused"] == {}
    from bakeoff.compare.validity.generator_capacity import unmeasured_capacities
    from bakeoff.store.sqlite.read import read_run

    record = read_run(tmp_path / "r.bakeoff")
    # A machine without a loopback of its own has no generator capacity, and says why: its contenders are measured all
    # the same.
    assert {name: "cannot listen" in why for name, why in unmeasured_capacities(record).items()} == dict.fromkeys(
        ("bare", "served"), True
    )
    trials = record.trials
    assert [went_well(trial.state, trial.reason) for trial in trials] == [True] * 4
    for trial in trials:
        assert {"network", "queue", "service"} <= {step.name for step in trial.steps}
        assert trial.workload["server"]["threads"] == (2 if trial.contender == "served" else counts["threads"])
