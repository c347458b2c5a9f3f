"""`deploy/ssh.sh` against a real server of ssh, on machines of the bench."""

import shutil
import signal
import sys
from collections.abc import Callable

from tests.cluster.clusters import TOKEN, Cluster
from tests.cluster.machines import ROOT, Machine, Spawned, until
from tests.control import PATIENCE_S

SSH = "-i /tmp/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"


def serve_ssh(machine: Machine, key: str) -> Spawned:
    """A server of ssh on a machine, for who has the key, whose commands begin in /tmp/home."""
    machine.run(["mkdir", "-p", "/tmp/home/.ssh", "/tmp/home/.bakeoff-agent", "/run/sshd"])
    machine.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/tmp/host"])
    machine.path("/tmp/home/.ssh/keys").write_text(key)
    # The environment that an installation would have made: this test loads nothing from anywhere.
    machine.run(["ln", "-s", sys.prefix, "/tmp/home/.bakeoff-agent/venv"])
    settings = {
        "HostKey": "/tmp/host",
        "AuthorizedKeysFile": "/tmp/home/.ssh/keys",
        "StrictModes": "no",
        "PidFile": "none",
        "ForceCommand": 'export HOME=/tmp/home; cd; exec sh -c "$SSH_ORIGINAL_COMMAND"',
    }
    words = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    server = machine.spawn([str(shutil.which("sshd") or "/usr/sbin/sshd"), "-D", "-e", "-f", "/dev/null", *words])
    assert server.stdout is not None
    said = server.stdout.readline()
    assert "listening" in said, said
    return server


def test_machines_reached_by_ssh_join_and_leave_with_the_script(machines: Callable[[int], list[Machine]]) -> None:
    head, *agents = machines(2)
    head.run(["sh", "-c", "ssh-keygen -q -t ed25519 -N '' -f /tmp/key"])
    servers = [serve_ssh(agent, head.path("/tmp/key.pub").read_text()) for agent in agents]
    head.run(["bakeoff", "cluster", "start", "--bind", head.address, "--token-file", TOKEN])
    cluster = Cluster(head)
    script = head.spawn(
        ["bash", str(ROOT / "deploy/ssh.sh"), head.address, "-", *(agent.address for agent in agents)],
        environment={"SSH": SSH, "TOKEN_FILE": TOKEN},
    )
    assert script.stdout is not None
    said = {script.stdout.readline().strip() for _ in agents}
    assert said == {
        f"{agent.address}: agent {agent.name} has joined the cluster at {cluster.address} with address {agent.address}"
        for agent in agents
    }
    assert {agent.name for agent in agents} | {None} == set(cluster.status())
    for agent in agents:
        token = agent.path("/tmp/home/.bakeoff-agent/token")
        assert token.read_text().strip() == cluster.token and token.stat().st_mode & 0o077 == 0
    script.send_signal(signal.SIGTERM)
    assert script.wait(PATIENCE_S) == 130
    for server, agent in zip(servers, agents, strict=True):
        until(lambda agent=agent: set(agent.names()) <= {"sshd"})  # type: ignore[misc]
        server.kill()
