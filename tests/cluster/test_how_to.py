"""What docs/how-to/drive-load-from-many-machines.md tells to type does what it says, on machines of the bench."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bakeoff.store.sqlite.read import read_run
from tests.cluster.machines import ROOT, Machine

PAGE = ROOT / "docs/how-to/drive-load-from-many-machines.md"
TOKEN = ".local/state/bakeoff/cluster/token"


def test_the_page_can_be_typed(machines: Callable[[int], list[Machine]], tmp_path: Path) -> None:
    start, join, status, run, stop = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    head, *agents, servers = machines(4)
    # Not fast ones: all machines of the bench share the processors of one.
    serve = ["bakeoff", "serve", "web", "--host", servers.address, "--port", "0", "--delay", "5ms"]
    addresses = []
    for _ in range(2):
        served = servers.spawn(serve)
        assert served.stdout is not None
        addresses.append(re.search(r"http://\S+", served.stdout.readline())[0])  # type: ignore[index]
    given = {"HEAD": head.address, "ONE": addresses[0], "TWO": addresses[1]}

    def typed(machine: Machine, block: str) -> str:
        return machine.run(["bash", "-eu", "-c", block], **given).stdout

    assert f"cluster join {head.address}:6379" in typed(head, start)
    for agent in agents:
        agent.path("/tmp/token").write_text(head.path(f"/tmp/home/{TOKEN}").read_text())
        agent.path("/tmp/token").chmod(0o600)
    with ThreadPoolExecutor() as pool:
        for agent, said in zip(agents, pool.map(lambda agent: typed(agent, join), agents), strict=True):
            assert f"agent {agent.name} has joined" in said
    assert [line.split()[0] for line in typed(head, status).splitlines()[1:]] == ["(head)", *(a.name for a in agents)]
    # But for this: machines of the bench share the processors of one, whose other work is nobody's fault.
    patient = run.replace(" --agents 2 ", " --agents 2 --start-spread 1m ").replace("700ms", "3s")
    assert patient.count("--start-spread") == 1 and "numbers without a verdict" in typed(head, patient)
    (tmp_path / "many.bakeoff").write_bytes(head.path("/tmp/many.bakeoff").read_bytes())
    done = read_run(tmp_path / "many.bakeoff")
    assert [agent.name for agent in done.agents] == [agent.name for agent in agents]
    assert {share.agent for trial in done.trials for share in trial.per_agent} == {agent.name for agent in agents}
    with ThreadPoolExecutor() as pool:
        left = [*pool.map(lambda agent: typed(agent, stop), agents), typed(head, stop)]
    assert all("has left the cluster" in said for said in left)
    assert [machine.processes for machine in (*agents, head)] == [[]] * 3
