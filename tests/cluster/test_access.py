"""Only who has the token of a cluster can do anything with it: every method of every port is asked for."""

import contextlib
import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

import psutil

from tests.cluster.clusters import TOKEN, Cluster, listeners
from tests.cluster.machines import ROOT, Machine, until
from tests.control import PATIENCE_S

METHOD = re.compile(rb"/ray\.rpc\.[A-Za-z.]+Service/[A-Za-z]+")
UNAUTHENTICATED, UNIMPLEMENTED = "16", "12"
FLOOD_BYTES = 100 << 20
# Of a server that keeps what strangers send, each takes as much again.
FLOODS = 5
RUNTIME_ENVIRONMENT = ["/get_or_create_runtime_env", "/delete_runtime_env_if_possible", "/get_runtime_envs_info"]
# Some whose names this test must have found.
KNOWN = {"/ray.rpc.NodeInfoGcsService/GetAllNodeInfo", "/ray.rpc.NodeManagerService/GetNodeStats"}
# An actor of whoever has a token, which says that it is there and waits for the end of its input.
DRIVER = """
import os, sys
from pathlib import Path
from bakeoff.agents.cluster.settings import environment
os.environ.update(environment(Path(sys.argv[2])))
import ray
try:
    here = sys.argv[1].split(":")[0]
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level="error", _node_ip_address=here)
except BaseException as error:
    sys.exit(f"refused: {type(error).__name__}: {error}")
@ray.remote(num_cpus=1, resources={"bakeoff": 1})
class Worker:
    def pid(self):
        return os.getpid()
worker = Worker.remote()
print(ray.get(worker.pid.remote()), flush=True)
sys.stdin.read()
"""


def methods() -> list[str]:
    """Every method of gRPC that a program of Ray knows."""
    spec = importlib.util.find_spec("ray")
    assert spec is not None and spec.origin is not None
    programs = [Path(spec.origin).parent / "core/src/ray" / path for path in ("gcs/gcs_server", "raylet/raylet")]
    found = {name.decode() for program in programs for name in METHOD.findall(program.read_bytes())}
    assert found > KNOWN and len(found) > 100
    return sorted(found)


def probe(
    machine: Machine, hosts: list[tuple[str, int]], paths: list[str], token: str | None
) -> dict[str, dict[str, str]]:
    """What each port answers to somebody on `machine` with this token, by `host:port` and method."""
    asked = {"token": token, "hosts": [[host, port, paths] for host, port in hosts]}
    machine.path("/tmp/asked").write_text(json.dumps(asked))
    script = f"exec {sys.executable} -m tests.cluster.grpc_probe </tmp/asked"
    answers = json.loads(machine.run(["sh", "-c", script], PYTHONPATH=str(ROOT)).stdout)
    return {f"{host}:{port}": answer for (host, port), answer in zip(hosts, answers, strict=True)}


def test_no_port_does_anything_for_who_has_no_token(lab: tuple[Cluster, Machine, Machine]) -> None:
    cluster, agent, stranger = lab
    words = [sys.executable, "-c", DRIVER, cluster.address, TOKEN]
    driver = cluster.head.spawn(words, environment={"PYTHONPATH": str(ROOT)}, stdin=-1)
    assert driver.stdout is not None and driver.stdin is not None
    said: Any = driver.stdout.readline()
    while not said.strip().isdigit():  # what Ray warns of
        assert said, "no actor"
        said = driver.stdout.readline()
    hosts = sorted((m.address, port) for m in (cluster.head, agent) for _, port in listeners(m))
    assert (cluster.head.address, 6379) in hosts and (agent.address, 6420) in hosts
    assert [port for host, port in hosts if host == agent.address and port >= 6430], "the actor's process listens"
    paths = [*methods(), *RUNTIME_ENVIRONMENT]
    right = probe(stranger, hosts, [*KNOWN, *RUNTIME_ENVIRONMENT], cluster.token)
    assert right[f"{cluster.head.address}:6379"]["/ray.rpc.NodeInfoGcsService/GetAllNodeInfo"] == "0"
    for token in (None, "0" * 64, cluster.token[:-1]):
        measured = probe(stranger, hosts, paths, token)
        for place, answers in measured.items():
            if all(answer.startswith("HTTP") for answer in answers.values()):
                assert set(answers) == set(RUNTIME_ENVIRONMENT), place
                assert set(answers.values()) <= {"HTTP 401", "HTTP 403"}, (place, answers)
                assert set(right[place].values()) - {"HTTP 401", "HTTP 403"}, "the token opens it"
                continue
            wrong = {path: status for path, status in answers.items() if status not in (UNAUTHENTICATED, UNIMPLEMENTED)}
            assert not wrong, (place, wrong)
            assert UNAUTHENTICATED in answers.values(), place
    driver.stdin.close()
    driver.wait(PATIENCE_S)


def test_no_program_runs_for_who_has_another_token(lab: tuple[Cluster, Machine, Machine]) -> None:
    cluster, _, _ = lab
    cluster.head.path("/tmp/other").write_text("0" * 64)
    cluster.head.path("/tmp/other").chmod(0o600)
    done = cluster.head.run(
        [sys.executable, "-c", DRIVER, cluster.address, "/tmp/other"], check=False, PYTHONPATH=str(ROOT)
    )
    assert done.returncode == 1 and "refused: " in done.stderr
    until(lambda: not any(member["busy"] for member in cluster.status().values()))


def test_a_hundred_megabytes_of_a_stranger_are_kept_by_nobody(lab: tuple[Cluster, Machine, Machine]) -> None:
    """As bytes at random, and as a message of gRPC, to every port, again and again: the cluster goes on. Ray reads a
    message before it asks for the token; what one took is there for a later one, of the same thread of Ray's.
    """
    cluster, agent, stranger = lab
    places = sorted(f"{m.address}:{port}" for m in (cluster.head, agent) for _, port in listeners(m))
    words = [sys.executable, "-m", "tests.cluster.flood", "0" * 64, str(FLOOD_BYTES), *places]
    stranger.run(words, PYTHONPATH=str(ROOT))
    for _ in range(FLOODS):
        before = memory_bytes(cluster.head, agent)
        stranger.run(words, PYTHONPATH=str(ROOT))
        grown = {pid: size - before.get(pid, size) for pid, size in memory_bytes(cluster.head, agent).items()}
        if max(grown.values()) < FLOOD_BYTES / 2:
            break
    assert max(grown.values()) < FLOOD_BYTES / 2, grown
    assert set(cluster.status()) == {None, agent.name}


def memory_bytes(*machines: Machine) -> dict[int, int]:
    """What each process of these machines has in memory of its own, by pid."""
    found = {}
    for process in (process for machine in machines for process in machine.processes):
        with contextlib.suppress(psutil.NoSuchProcess):
            found[process.pid] = process.memory_full_info().uss
    return found
