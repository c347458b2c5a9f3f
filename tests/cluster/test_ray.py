"""Runs that several machines carry out: what the server counted, and what happens when something is killed or cut."""

import json
import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from bakeoff.agents.remote.wire import SILENCE_S
from tests.cluster.clusters import TOKEN, Cluster
from tests.cluster.machines import Machine, Spawned, until
from tests.control import PATIENCE_S

AGENTS, PORT, HOST = 3, 8080, "ray::Actor"
RESULTS = "/tmp/home/.local/state/bakeoff/results"
CONF = """daemon off; master_process off; pid /tmp/nginx.pid; error_log stderr;
events { worker_connections 1024; }
http { log_format plain '$remote_addr $request_uri'; access_log /tmp/access.log plain;
  client_body_temp_path /tmp/b; proxy_temp_path /tmp/p; fastcgi_temp_path /tmp/f; uwsgi_temp_path /tmp/u;
  scgi_temp_path /tmp/s; keepalive_requests 100000000;
  server { listen 8080; location / { return 200 "some text\\n"; } } }
"""


# How often a run is made of which a busy machine has voided a trial.
TRIES = 4


class Lab:
    """A cluster whose head controls runs, its agents, and nginx on a machine of its own."""

    def __init__(self, cluster: Cluster, agents: list[Machine], server: Machine) -> None:
        self.cluster, self.agents, self.server = cluster, agents, server
        server.path("/tmp/nginx.conf").write_text(CONF)
        self.nginx = server.spawn(["nginx", "-c", "/tmp/nginx.conf", "-p", "/tmp"])
        until(server.path("/tmp/access.log").exists)
        self._runs = 0

    def command(self, *words: str, length: str = "1s") -> tuple[list[str], Path]:
        """The command of a run of one contender, and its run file as it is seen from here."""
        self._runs += 1
        file = f"/tmp/run{self._runs}.bakeoff"
        flags = ["--agents", str(len(self.agents)), "--cluster", self.cluster.address, "--start-spread", "1m"]
        plan = ["--clients", str(2 * len(self.agents)), "--blocks", "2", "--length", length, *flags, "-o", file]
        contender = f"x=http://{self.server.address}:8080/"
        return ["bakeoff", "run", "web-url", contender, *plan, *words], self.cluster.head.path(file)

    def begin(self, length: str) -> tuple[Spawned, str]:
        """A run that has begun to send load, and the name of its file on the head."""
        before = len(self.log())
        words, file = self.command(length=length)
        run = self.cluster.head.spawn(words, {"BAKEOFF_CLUSTER_TOKEN_FILE": TOKEN})
        enough = 40 * len(self.agents)  # more than checks ask for
        until(lambda: run.poll() is not None or len(self.log()) > before + enough)
        assert run.poll() is None, run.stdout and run.stdout.read()
        return run, f"/tmp/{file.name}"

    def resume(self, file: str) -> str:
        """Go on with a run; what it said."""
        words = ["bakeoff", "resume", file, "--cluster", self.cluster.address]
        done = self.cluster.head.run(words, BAKEOFF_CLUSTER_TOKEN_FILE=TOKEN)
        return done.stdout + done.stderr

    def resuming(self, file: str) -> Spawned:
        """The same, while it goes on."""
        words = ["bakeoff", "resume", file, "--cluster", self.cluster.address]
        return self.cluster.head.spawn(words, {"BAKEOFF_CLUSTER_TOKEN_FILE": TOKEN})

    def show(self, file: str) -> list[dict[str, Any]]:
        """The trials of a run file."""
        shown = json.loads(self.cluster.head.run(["bakeoff", "show", file, "--json"]).stdout)
        return list(shown["trials"])

    def log(self) -> list[str]:
        """The requests that nginx answered: address and path."""
        return self.server.path("/tmp/access.log").read_text().splitlines()

    def hosts(self) -> list[psutil.Process]:
        """The processes that send load, of all machines."""
        return [process for machine in self.agents for process in machine.named(HOST)]


@pytest.fixture(scope="module")
def lab(fleet: tuple[Cluster, list[Machine]], machines: Callable[[int], list[Machine]]) -> Iterator[Lab]:
    (cluster, agents), (server,) = fleet, machines(1)
    assert len(agents) == AGENTS
    made = Lab(cluster, agents, server)
    yield made
    made.nginx.terminate()
    made.nginx.wait(PATIENCE_S)


def said_by(run: Spawned) -> str:
    """All that a run said until its end."""
    assert run.stdout is not None
    said = run.stdout.read()
    run.wait(PATIENCE_S)
    return said


def states(trials: list[dict[str, Any]]) -> list[str]:
    return [trial["state"] for trial in trials]


def all_done(trials: list[dict[str, Any]]) -> bool:
    """Whether both trials were done; one that a busy machine has voided says so."""
    busy = re.compile("nothing was heard from it for|did not answer for|did not run for|hypervisor")
    return len(trials) == 2 and all(
        trial["state"] == "ok" or (trial["state"] == "voided" and busy.search(trial["reason"])) for trial in trials
    )


def host(machine: Machine) -> psutil.Process:
    """The process of a machine that sends load."""
    return machine.named(HOST)[0]


def sends(machine: Machine) -> bool:
    """Whether it has connections to the server that neither side has begun to close."""
    sockets = [line.split() for line in Path(f"/proc/{machine.first}/net/tcp").read_text().splitlines()[1:]]
    return any(words[2].endswith(f":{PORT:04X}") and words[3] == "01" for words in sockets)


def test_the_server_counts_what_each_machine_says_it_sent(lab: Lab) -> None:
    found: list[dict[str, Any]] = []
    for _ in range(TRIES):
        before = len(lab.log())
        words, file = lab.command(length="3s")
        lab.cluster.head.run(words, BAKEOFF_CLUSTER_TOKEN_FILE=TOKEN)
        found = lab.show(f"/tmp/{file.name}")
        assert all_done(found), found
        if states(found) == ["ok", "ok"]:
            break
    # A machine that is busy all the time may leave one of the two.
    found = [trial for trial in found if trial["state"] == "ok"]
    assert found
    counted = Counter(line.split()[0] for line in lab.log()[before:])
    for machine in lab.agents:
        sent = sum(trial["per_agent"][machine.name]["operations"] for trial in found)
        assert 0 < sent <= counted[machine.address], machine.name
    for trial in found:
        shares = trial["per_agent"].values()
        assert sum(share["operations"] for share in shares) == trial["operations"]
        assert [share["clients"] for share in shares] == [2] * AGENTS


def test_a_killed_agent_voids_its_trial_by_name(lab: Lab) -> None:
    run, file = lab.begin("100s")
    victim = lab.agents[1]
    host(victim).kill()
    said = said_by(run)
    assert f"voided: agent {victim.name} was lost: its process ended" in said
    assert run.returncode == 2 and f"bakeoff resume {file}" in said and "Traceback" not in said
    until(lambda: not lab.hosts())


def test_a_controller_that_is_killed_loses_no_trial_that_had_ended_and_takes_the_load_of_another_with_it(
    lab: Lab,
) -> None:
    run, file = lab.begin("4s")
    run.send_signal(signal.SIGSTOP)
    until(lambda: all(list(agent.path(RESULTS).glob("*/*.json")) for agent in lab.agents))
    run.kill()
    os.kill(run.pid, signal.SIGCONT)  # `nsenter` stopped with it
    run.wait(PATIENCE_S)
    before, counted = lab.show(file), len(lab.log())
    assert len(before) < 2
    until(lambda: not lab.hosts())
    again = lab.resuming(file)
    assert again.stdout is not None
    said = ""
    while "had ended before" not in said:
        line = again.stdout.readline()
        assert line, said
        said += line
    names = ", ".join(agent.name for agent in lab.agents)
    assert f"had ended before the controller did: its result is from the disk of {names}" in said
    enough = counted + 40 * len(lab.agents)
    until(lambda: again.poll() is not None or len(lab.log()) > enough)
    assert again.poll() is None, "it is in the middle of the other trial"
    again.kill()
    until(lambda: not lab.hosts())
    again.wait(PATIENCE_S)
    counted = len(lab.log())
    said = lab.resume(file)
    trials = lab.show(file)
    # The first may be voided for a machine that stood still, and for nothing else: what it measured is there.
    assert all_done(trials) and trials[0]["operations"] > 0 and "resumed with" in said, trials
    assert len(lab.log()) > counted
    assert all(len(trial["per_agent"]) == AGENTS for trial in trials)
    assert not any(list(agent.path(RESULTS).glob("*/*.json")) for agent in lab.agents)


def test_a_cable_that_is_cut_voids_the_trial_and_its_machine_stops_alone(lab: Lab) -> None:
    run, _ = lab.begin("100s")
    victim = lab.agents[2]
    assert sends(victim)
    victim.cut()
    said = said_by(run)
    silent = f"nothing was heard from it for {SILENCE_S:g} s"
    assert re.search(rf"voided: agent {victim.name} was lost: ({silent}|its machine)", said)
    assert run.returncode == 2 and "Traceback" not in said
    until(lambda: not sends(victim))  # its controller was silent for too long
    victim.mend()
    joined = lab.cluster.joined[victim.name]  # which may have ended by itself: the head gives a silent machine up
    joined.terminate()
    joined.wait(PATIENCE_S)
    lab.cluster.join(victim)
    words, file = lab.command()
    lab.cluster.head.run(words, BAKEOFF_CLUSTER_TOKEN_FILE=TOKEN)
    observed = lab.show(f"/tmp/{file.name}")
    assert all_done(observed), observed


def test_without_its_head_a_run_ends_with_a_sentence(lab: Lab) -> None:
    run, file = lab.begin("100s")
    lab.cluster.head.named("gcs_server")[0].kill()
    said = said_by(run)
    assert f"the head of the cluster at {lab.cluster.address} is gone" in said
    assert run.returncode == 2 and f"bakeoff resume {file}" in said and "Traceback" not in said
    until(lambda: not any(map(sends, lab.agents)))
