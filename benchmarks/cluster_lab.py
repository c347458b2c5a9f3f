"""Four machines on one, as network namespaces, over Ray: how close together they begin, how fast they stop, how soon a
machine that is killed or cut off is noticed, and what an agent over Ray does of the null workload against a local one.

Needs root, like the tests of clusters. `--write` puts the table into docs/performance.md.

    PYTHONPATH=. python benchmarks/cluster_lab.py [--trials 60] [--write]
"""

import argparse
import json
import signal
import statistics
import sys
import time

from common import ROOT, machine_line, put_table
from tests.cluster.clusters import TOKEN, start
from tests.cluster.machines import Bench, Machine, Spawned

CONTROL = """
import json, sys, time
from bakeoff.agents.local import LocalAgent
from bakeoff.agents.ray import cluster_agents
from bakeoff.agents.spec import NullWorkload, TrialSpec
from bakeoff.load.load_step import Clients
from bakeoff.run.fleet.sessions import Fleet

address, what, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
agents = cluster_agents(address, 3 if what == "cut" else 4, [])  # one was killed before

def spec(length_s, clients=4):
    return TrialSpec(workload=NullWorkload(), load=Clients(clients), length_s=length_s)

def begin(fleet, length_s, clients=4):
    session = fleet.start({agent.name: spec(length_s, clients) for agent in fleet.agents})
    session.wait(0.0)
    return session

def figures(agent, length_s):
    result = begin(Fleet([agent]), length_s, 1).wait(60.0).whole.result
    return result.operations / result.window_s, result.service.p999_ns

if what == "starts":
    spreads = []
    for _ in range(count):
        outcome = begin(Fleet(agents), 0.2).wait(30.0)
        spreads.append(max(part.start_offset_ns for part in outcome.parts))
    cancels = []
    for _ in range(max(3, count // 6)):
        session = begin(Fleet(agents), 60.0)
        while session.snapshot().phase != "window":
            session.wait(0.1)
        now = time.monotonic()
        session.cancel()
        session.wait(10.0)
        cancels.append(time.monotonic() - now)
    pairs = [(figures(agents[0], 1.0), figures(LocalAgent(), 1.0)) for _ in range(max(3, count // 6))]
    print(json.dumps({"spreads": spreads, "cancels": cancels, "pairs": pairs}), flush=True)
else:
    session = begin(Fleet(agents), 60.0)
    while session.snapshot().phase != "window":
        session.wait(0.1)
    print("now", flush=True)
    while (outcome := session.wait(0.02)) is None:
        pass
    print(json.dumps({"at": time.monotonic(), "lost": outcome.lost}), flush=True)
"""


def control(head: Machine, address: str, what: str, count: int) -> Spawned:
    """The controller, on its machine."""
    variables = {"BAKEOFF_CLUSTER_TOKEN_FILE": TOKEN, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": TOKEN}
    words = [sys.executable, "-c", CONTROL, address, what, str(count)]
    return head.spawn(words, variables | {"PYTHONPATH": str(ROOT / "python")})


def answer(run: Spawned) -> dict[str, object]:
    """The JSON that it ends with."""
    assert run.stdout is not None
    said = run.stdout.read()
    for line in said.splitlines():
        if line.startswith("{"):
            document: dict[str, object] = json.loads(line)
            return document
    raise SystemExit(said)


def noticed(head: Machine, address: str, victim: Machine, how: str) -> tuple[float, str]:
    """Seconds until the loss of a machine ended the trial, and what was said of it."""
    run = control(head, address, how, 0)
    assert run.stdout is not None
    said = run.stdout.readline()
    if said != "now\n":
        raise SystemExit(said + run.stdout.read())
    began = time.monotonic()
    if how == "kill":
        for process in victim.processes:
            if process.name().startswith("ray::"):
                process.send_signal(signal.SIGKILL)
    else:
        victim.cut()
    observed = answer(run)
    return float(str(observed["at"])) - began, str(observed["lost"])


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    bench = Bench()
    try:
        head, *agents = bench.add(5)
        address = start(head, *agents).address
        observed = answer(control(head, address, "starts", arguments.trials))
        killed_s, killed = noticed(head, address, agents[3], "kill")
        cut_s, cut = noticed(head, address, agents[2], "cut")
    finally:
        bench.remove()
    spreads, cancels, pairs = observed["spreads"], observed["cancels"], observed["pairs"]
    assert isinstance(spreads, list) and isinstance(cancels, list) and isinstance(pairs, list)
    over_ray, local = ([pair[side] for pair in pairs] for side in (0, 1))
    rate = statistics.median(one[0] / other[0] for one, other in zip(over_ray, local, strict=True))
    tail = statistics.median(one[1] / other[1] for one, other in zip(over_ray, local, strict=True))
    rows = [
        (f"spread of starts over {len(spreads)} trials, median", f"{statistics.median(spreads) / 1e6:.2f} ms"),
        ("the same, 99th percentile", f"{statistics.quantiles(spreads, n=100)[98] / 1e6:.2f} ms"),
        (f"from cancel to the outcome, longest of {len(cancels)}", f"{1e3 * max(cancels):.0f} ms"),
        ("a killed agent noticed, its trial ended", f"{killed_s:.2f} s"),
        ("a cut cable noticed, the trial ended", f"{cut_s:.2f} s"),
        (f"rate of the null workload, Ray ÷ local, median of {len(pairs)} pairs", f"{rate:.3f}"),
        ("p99.9 of it, Ray ÷ local", f"{tail:.3f}"),
    ]
    text = f"{machine_line()}; 4 agents and the controller share the machine\n\n| | |\n| :-- | --: |\n"
    text += "\n".join(f"| {name} | {value} |" for name, value in rows)
    print(text, f"\n{killed}\n{cut}")
    if arguments.write:
        put_table(ROOT / "docs/performance.md", "cluster-lab", text)


if __name__ == "__main__":
    main()
