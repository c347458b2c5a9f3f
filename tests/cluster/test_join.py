"""Who is in a cluster: start, join, status and stop, and who is refused."""

import json
import os
import signal
import sys

import pytest

from tests.cluster.clusters import TOKEN, Cluster, listeners, many
from tests.cluster.machines import ROOT, Machine, until
from tests.control import PATIENCE_S

# The processors that send load on the agent called `apart`.
AFFINITY = """
import json, sys
from bakeoff.agents import make
make._prepare_ray()
from bakeoff.agents.ray import cluster_agents
(agent,) = cluster_agents(sys.argv[1], 1, ["apart"])
print(json.dumps(agent.facts().limits.affinity))
"""


@pytest.fixture(scope="module", autouse=True)
def token_of_the_other(lab: tuple[Cluster, Machine, Machine]) -> None:
    """The machine that has not joined may."""
    cluster, _, other = lab
    cluster.give_token(other)


def test_status_tells_what_each_machine_is(lab: tuple[Cluster, Machine, Machine]) -> None:
    cluster, agent, _ = lab
    observed = cluster.status()
    assert set(observed) == {None, agent.name}
    assert observed[agent.name]["address"] == agent.address and not observed[agent.name]["busy"]
    assert observed[agent.name]["link"] == "eth0" and observed[agent.name]["cores"] == len(os.sched_getaffinity(0))
    for member in observed.values():
        assert (
            member["nice"] == 0
            and member["build"] == observed[None]["build"]
            and member["ray"] == observed[None]["ray"]
        )
        assert all(member["build"].values()) and member["open_files"]
    table = agent.run(["bakeoff", "cluster", "status"]).stdout
    assert [line.split()[0] for line in table.splitlines()] == ["agent", "(head)", agent.name]
    assert "free" in table


def test_everything_of_ray_runs_at_nice_0_and_keeps_to_its_ports(lab: tuple[Cluster, Machine, Machine]) -> None:
    cluster, agent, _ = lab
    for machine, first, last in ((cluster.head, 6379, 6409), (agent, 6420, 6449)):
        assert machine.niceness() == {0}
        listening = {address for _, address in listeners(machine)}
        assert listening and all(first <= port <= last for port in listening)


def test_who_may_not_join_is_told_what_mends_it(lab: tuple[Cluster, Machine, Machine]) -> None:
    cluster, agent, other = lab
    other.path("/tmp/wrong").write_text("0" * 64)
    other.path("/tmp/wrong").chmod(0o600)
    join = cluster.joining
    refusals: list[tuple[list[str], str]] = [
        (join("--token-file", "/tmp/nowhere"), "there is no token at /tmp/nowhere: copy the file"),
        (join("--token-file", "/tmp/wrong"), "does not take the token /tmp/wrong: copy the one that"),
        (join("--name", agent.name), f"the machine at {agent.address} is called {agent.name} already: choose another"),
        (join("--name", "a b"), "no machine can be called 'a b'"),
        (join("--bind", "10.77.1.1"), "this machine does not have the address 10.77.1.1"),
        (join("--pin", "999"), "cores 999 are not all among"),
        (["bakeoff", "cluster", "join", other.address, "--token-file", TOKEN], f"no head answers at {other.address}"),
        (["bakeoff", "cluster", "status"], "no cluster runs here"),
        (["bakeoff", "cluster", "stop", "--name", "x"], "no agent called x runs here"),
    ]
    for (code, said), (command, right) in zip(many(other, [words for words, _ in refusals]), refusals, strict=True):
        assert (code, right in said, said.count("\n")) == (2, True, 1), (command, said)
    assert many(other, [["bakeoff", "cluster", "stop"]]) == [(0, "no cluster runs here\n")]
    assert other.processes == []


def test_a_second_join_and_a_second_cluster_are_refused(lab: tuple[Cluster, Machine, Machine]) -> None:
    cluster, agent, _ = lab
    again, elsewhere, head = many(
        agent,
        [
            cluster.joining(),
            ["bakeoff", "cluster", "join", f"{cluster.head.address}:7000", "--token-file", TOKEN, "--name", "x"],
            ["bakeoff", "cluster", "start", "--bind", agent.address, "--port", "6410"],
        ],
    )
    assert again[0] == 2 and f"agent {agent.name} runs here already" in again[1]
    assert elsewhere[0] == 2 and f"is in the cluster at {cluster.address} already" in elsewhere[1]
    assert head[0] == 2 and "port 6420 of this machine is taken" in head[1]


def test_another_nice_value_build_or_ray_is_refused(lab: tuple[Cluster, Machine, Machine]) -> None:
    cluster, _, other = lab
    done = other.run(["nice", "-n", "5", *cluster.joining()], check=False)
    assert done.returncode == 2 and "runs at nice 5" in done.stderr and "without `nice`" in done.stderr
    module, ray = ROOT / "python/bakeoff/report/layout/detail.py", _metadata()
    other.run(["sh", "-c", f"cat {module} >/tmp/depth.py; echo '# another build' >>/tmp/depth.py"])
    other.run(["sh", "-c", f"sed 's/^Version: .*/Version: 2.61.0/' {ray} >/tmp/metadata"])
    other.run(["mount", "--bind", "/tmp/depth.py", str(module)])
    other.run(["mount", "--bind", "/tmp/metadata", ray])
    done = other.run(cluster.joining(), check=False)
    other.run(["umount", str(module), ray])
    assert done.returncode == 2 and "has another build of Bakeoff" in done.stderr
    assert "install the same wheel on both" in done.stderr
    assert "has Ray 2.61.0, and the machine that controls it" in done.stderr


def _metadata() -> str:
    import importlib.metadata

    found = [file for file in importlib.metadata.files("ray") or () if file.name == "METADATA"]
    return str(found[0].locate())


def test_a_machine_leaves_at_ctrl_c(lab: tuple[Cluster, Machine, Machine]) -> None:
    cluster, _, other = lab
    process = cluster.join(other, "--name", "guest")
    assert "guest" in cluster.status()
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE_S) == 0 and process.stdout
    assert process.stdout.read() == "agent guest has left the cluster\n"
    assert other.processes == []
    assert [path.name for path in other.path("/tmp").iterdir() if path.name.lstrip(".").startswith("bakeoff-")] == []


def test_what_is_killed_leaves_no_process(lab: tuple[Cluster, Machine, Machine]) -> None:
    cluster, _, other = lab
    process = cluster.join(other)
    process.inner.kill()
    process.wait(PATIENCE_S)
    until(lambda: other.processes == [])


def test_a_machine_joins_apart_from_its_terminal_with_a_core_to_spare(lab: tuple[Cluster, Machine, Machine]) -> None:
    cluster, _, other = lab
    cores = sorted(os.sched_getaffinity(0))
    core = ["--pin", str(cores[-1])]
    done = other.run([*cluster.joining(*core), "--detach", "--name", "apart"])
    assert done.stdout == f"agent apart has joined the cluster at {cluster.address} with address {other.address}\n"
    assert cluster.status()["apart"]["cores"] == 1
    used = cluster.head.run(
        [sys.executable, "-c", AFFINITY, cluster.address], BAKEOFF_CLUSTER_TOKEN_FILE=TOKEN, PYTHONPATH=str(ROOT)
    )
    assert json.loads(used.stdout) == [cores[-1]]
    ray = other.named("raylet")[0]
    assert ray.cpu_affinity() == (cores[:-1] or cores)
    assert (
        other.run(["bakeoff", "cluster", "stop"]).stdout == f"agent apart has left the cluster at {cluster.address}\n"
    )
    assert other.processes == []


def test_agents_end_when_their_head_is_gone_and_one_of_this_machine_alone_is_reached_by_nobody_else(
    lab: tuple[Cluster, Machine, Machine],
) -> None:
    cluster, agent, other = lab
    cluster.head.run(["bakeoff", "cluster", "stop"])
    assert cluster.head.processes == []
    other.run(["bakeoff", "cluster", "start"])  # while the agent still hopes
    other.run(["bakeoff", "cluster", "join", "127.0.0.1", "--detach", "--name", "one"])
    assert {host.removeprefix("::ffff:") for host, _ in listeners(other)} == {"127.0.0.1"}
    other.run(["bakeoff", "cluster", "stop"])
    assert other.processes == []
    process = cluster.joined[agent.name]
    assert process.wait(PATIENCE_S) == 2 and process.stdout
    assert f"agent {agent.name} left the cluster at {cluster.address}: the head is gone" in process.stdout.read()
    assert agent.processes == []


def test_a_public_address_takes_a_word(lab: tuple[Cluster, Machine, Machine]) -> None:
    cluster, _, other = lab
    other.run(["ip", "address", "add", "11.1.1.1/24", "dev", "eth0"])
    commands = [["bakeoff", "cluster", "start", "--bind", other.address], cluster.joining()]
    for code, said in many(other, commands):
        assert code == 2 and "would listen at 11.1.1.1, a public address" in said and "--public" in said
    other.run(["ip", "address", "del", "11.1.1.1/24", "dev", "eth0"])
