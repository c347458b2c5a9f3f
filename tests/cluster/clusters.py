"""Clusters on machines of the bench: a head, and who joined it, by the command as users type it."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.cluster.machines import ROOT, Machine, Spawned

TOKEN = "/tmp/token"
# `bakeoff` many times in one process that has loaded it once: words of each, then exit code and what was said of each.
MANY = """
import json, os, sys, tempfile
from bakeoff.cli import main
import bakeoff.cli.app, bakeoff.cli.machines.cluster
told = []
for words in json.loads(sys.argv[1]):
    with tempfile.TemporaryFile() as said:
        if (child := os.fork()) == 0:
            os.dup2(said.fileno(), 1); os.dup2(said.fileno(), 2)
            sys.argv = ["bakeoff", *words]
            main()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        told.append([code, said.read().decode()])
print(json.dumps(told))
"""


@dataclass
class Cluster:
    """A head that runs, and machines that have joined it, by name; each has the token in TOKEN."""

    head: Machine
    joined: dict[str, Spawned] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Where its head is."""
        return f"{self.head.address}:6379"

    @property
    def token(self) -> str:
        """Its token."""
        return self.head.path(TOKEN).read_text().strip()

    def give_token(self, machine: Machine) -> None:
        """Copy the token to a machine."""
        path = machine.path(TOKEN)
        path.write_text(self.token)
        path.chmod(0o600)

    def join(self, machine: Machine, *words: str) -> Spawned:
        """Let a machine join, called by its hostname unless told otherwise; returns when it has."""
        self.join_all(machine, words=words)
        return self.joined[machine.name]

    def join_all(self, *machines: Machine, words: Sequence[str] = ()) -> None:
        """Let machines join beside each other; returns when all have."""
        for machine in machines:
            self.give_token(machine)
            self.joined[machine.name] = machine.spawn(self.joining(*words))
        for machine in machines:
            said_by = self.joined[machine.name].stdout
            assert said_by is not None
            said = said_by.readline()
            assert " has joined the cluster " in said, said + said_by.read()

    def joining(self, *words: str) -> list[str]:
        """The command that joins it."""
        return ["bakeoff", "cluster", "join", self.head.address, "--token-file", TOKEN, *words]

    def status(self, code: int = 0) -> dict[str | None, Any]:
        """What `bakeoff cluster status --json` says of it on the head, by agent."""
        words = ["bakeoff", "cluster", "status", self.address, "--token-file", TOKEN, "--json"]
        done = self.head.run(words, check=False)
        assert done.returncode == code, done.stderr
        return {member["agent"]: member for member in json.loads(done.stdout)["members"]}


def start(head: Machine, *machines: Machine) -> Cluster:
    """A cluster of these machines, which join under their hostnames."""
    head.run(["bakeoff", "cluster", "start", "--bind", head.address, "--token-file", TOKEN])
    cluster = Cluster(head)
    cluster.join_all(*machines)
    return cluster


def listeners(machine: Machine) -> set[tuple[str, int]]:
    """Where a machine listens."""
    script = (
        "import psutil, json; print(json.dumps([list(c.laddr) for c in psutil.net_connections('tcp') "
        "if c.status == 'LISTEN']))"
    )
    return {(host, port) for host, port in json.loads(machine.run([sys.executable, "-c", script]).stdout)}


def many(machine: Machine, commands: Sequence[Sequence[str]]) -> list[tuple[int, str]]:
    """Exit code and output of each of these commands of `bakeoff` on a machine."""
    words = [list(command)[1:] for command in commands]
    done = machine.run([sys.executable, "-c", MANY, json.dumps(words)], PYTHONPATH=str(ROOT))
    return [(code, said) for code, said in json.loads(done.stdout)]
