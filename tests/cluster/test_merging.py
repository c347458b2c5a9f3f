"""Machines of a cluster heard through relays, two by two: one trial of all, and what happens when one is killed."""

import json
import signal
import sys

from tests.cluster.clusters import TOKEN, Cluster
from tests.cluster.machines import ROOT, Machine

# A controller whose relays hear two machines each: a trial of the null workload, and one in which a machine is killed.
CONTROL = """
import json, os, sys, time
from bakeoff.agents.remote import agent, relay
relay.groups.__defaults__ = (2,)
agent.SILENCE_S = 60.0  # how busy the machine of the test is decides nothing
from bakeoff.agents.ray import cluster_agents
from bakeoff.agents.spec import NullWorkload, TrialSpec
from bakeoff.load.load_step import Clients
from bakeoff.run.fleet.sessions import Fleet

agents = cluster_agents(sys.argv[1], 3, [])
fleet = Fleet(agents)

def trial(length_s, seen):
    spec = TrialSpec(workload=NullWorkload(), load=Clients(3), length_s=length_s)
    session = fleet.start({one.name: spec for one in agents})
    while (outcome := session.wait(0.2)) is None:
        seen(session.snapshot())
    return outcome

views = []
outcome = trial(6.0, views.append)
assert not outcome.lost, outcome.lost
most = max(views, key=lambda view: len(view.per_agent))
told = {
    "operations": outcome.whole.result.operations,
    "parts": [part.outcome.result.operations for part in outcome.parts],
    "seen": sorted(one.agent for one in most.per_agent),
    "sum": most.operations == sum(one.operations for one in most.per_agent),
}
victim = agents[2]

def kill(view):
    if len(view.per_agent) == 3 and "began" not in told:
        told["began"] = time.monotonic()
        print("now", flush=True)

lost = trial(60.0, kill)
told["lost"], told["after_s"] = lost.lost, time.monotonic() - told.pop("began")
print(json.dumps(told), flush=True)
"""


def test_a_trial_is_seen_whole_and_a_machine_that_is_killed_is_named(fleet: tuple[Cluster, list[Machine]]) -> None:
    cluster, agents = fleet
    variables = {"BAKEOFF_CLUSTER_TOKEN_FILE": TOKEN, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": TOKEN}
    run = cluster.head.spawn(
        [sys.executable, "-c", CONTROL, cluster.address], variables | {"PYTHONPATH": str(ROOT / "python")}
    )
    assert run.stdout is not None
    said = run.stdout.readline()
    assert said == "now\n", said + run.stdout.read()
    for process in agents[2].named("ray::Actor"):
        process.send_signal(signal.SIGKILL)
    said = run.stdout.read()
    document = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    assert document["seen"] == sorted(machine.name for machine in agents) and document["sum"]
    assert document["operations"] == sum(document["parts"]) and all(document["parts"])
    assert agents[2].name in document["lost"]
