"""How a head begins and how a machine joins: everything that is asked before, then Ray."""

import os
import socket
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bakeoff.agents.base import Facts
from bakeoff.agents.cluster import addresses
from bakeoff.agents.cluster.ask import Member, members, need_ray
from bakeoff.agents.cluster.cores import divide
from bakeoff.agents.cluster.hello import refuse_incompatible
from bakeoff.agents.cluster.keep import keep
from bakeoff.agents.cluster.labels import LABEL, NAME, check_name, to_labels
from bakeoff.agents.cluster.records import Record, claim, folder, records
from bakeoff.agents.cluster.settings import (
    CORES_VARIABLE,
    HEAD_PORT,
    JOIN_PORTS,
    Ports,
    environment,
    head_command,
    join_command,
)
from bakeoff.agents.cluster.token import check_token, make_token
from bakeoff.agents.machine.environment import own_addresses
from bakeoff.agents.machine.limits import limits
from bakeoff.agents.machine.preflight import raise_open_files
from bakeoff.core.errors import GeneratorError, PlanError
from bakeoff.core.system.links import links

RETRY_S = 1.0
ALONE = "127.0.0.1"
SHORT = "/tmp"  # Ray's sockets lie below it, and the name of a socket has 107 characters at most


@dataclass(frozen=True)
class Joining:
    """What a user says of a machine that is to join; None where nothing was said."""

    cluster: str
    token_file: Path
    name: str
    bind: str | None = None
    ports: int = JOIN_PORTS
    pin: str | None = None
    spare_core: bool = False
    public: bool = False
    wait_s: float = 0.0


def start_head(bind: str, port: int, token_file: Path, public: bool, begun: Callable[[Record], None]) -> None:
    """Be the head of a cluster until asked to end; `begun` is called once machines can join. Raises GeneratorError."""
    need_ray()
    bind = addresses.numeric(bind)
    addresses.check_bind(bind)
    _refuse_public(bind, public)
    _check_ports(port, Ports(port + 1))
    make_token(token_file)
    with claim(_record("", f"{bind}:{port}", bind, token_file)) as mine:
        mine.tell(folder=tempfile.mkdtemp(prefix="bakeoff-", dir=SHORT))
        command = head_command(bind, port, Path(mine.record.folder), to_labels(limits()))

        def joined() -> None:
            mine.tell(joined=True)
            begun(mine.record)

        keep(mine, command, environment(token_file), None, joined)


def join(joining: Joining, begun: Callable[[Record], None]) -> None:
    """Be a machine that sends load for the cluster until asked to end; `begun` is called when it is in.

    Raises GeneratorError for a machine that may not join, with what is to be done, and PlanError.
    """
    need_ray()
    name = joining.name
    load, rest = divide(joining.pin, joining.spare_core)
    host, port = addresses.split_address(joining.cluster, HEAD_PORT)
    cluster = f"{addresses.numeric(host)}:{port}"
    check_token(joining.token_file)
    ports = _ports(joining.ports)
    bind = addresses.numeric(joining.bind) if joining.bind else addresses.way_to(addresses.numeric(host), port)
    addresses.check_bind(bind)
    _refuse_public(bind, joining.public)
    _refuse_second(name, cluster)
    raise_open_files(0)
    _refuse_incompatible(name, _wait_for_head(cluster, joining))
    _check_ports(None, ports)
    with claim(_record(name, cluster, bind, joining.token_file)) as mine:
        mine.tell(folder=tempfile.mkdtemp(prefix="bakeoff-", dir=SHORT))
        labels = {NAME: name, **to_labels(replace(limits(), affinity=load), link_of(bind))}
        command = join_command(cluster, bind, ports, Path(mine.record.folder), labels)
        settings = environment(joining.token_file) | {CORES_VARIABLE: ",".join(map(str, load))}

        def joined() -> None:
            mine.tell(joined=True)
            begun(mine.record)

        keep(mine, command, settings, rest, joined)


def name_here(name: str | None) -> str:
    """What this machine is called: as told, or by its hostname. Raises PlanError when no machine can be called so."""
    return check_name(name or socket.gethostname())


def link_of(address: str) -> str:
    """The interface with this address and what it carries, such as `eth0-10Gb`; nothing when it is not known."""
    for link in links():
        if address in link.addresses:
            text = f"{link.name}-{link.speed_bits_per_s / 1e9:g}Gb" if link.speed_bits_per_s else link.name
            return text if LABEL.fullmatch(text) else ""
    return ""


def _record(name: str, cluster: str, address: str, token_file: Path) -> Record:
    log = folder() / f"{f'agent-{name}' if name else 'head'}.log"
    return Record(name, cluster, address, os.getpid(), str(token_file), "", str(log))


def _ports(first: int) -> Ports:
    if not 1024 <= first <= 65535 - len(Ports(first).all):
        raise PlanError(f"a machine's ports begin at {first}: choose a number between 1024 and 65000 (--ports)")
    return Ports(first)


def _check_ports(head: int | None, ports: Ports) -> None:
    taken = addresses.taken([*([] if head is None else [head]), *ports.all])
    if taken:
        flag = "--ports" if head is None else "--port"
        raise GeneratorError(
            f"port {taken[0]} of this machine is taken: another cluster may run here (`bakeoff cluster status`); "
            f"choose other ports with {flag}"
        )


def _refuse_public(bind: str, agreed: bool) -> None:
    """Ray executes what it is sent, and listens with every address of the machine unless it is given 127.0.0.1."""
    reachable = [] if bind == ALONE else addresses.public([bind, *own_addresses()])
    if reachable and not agreed:
        raise GeneratorError(
            f"this machine would listen at {reachable[0]}, a public address, and any machine with the token could run "
            "programs through it: close the cluster's ports by a firewall and say --public, or use a machine without "
            "public addresses"
        )


def _refuse_second(name: str, cluster: str) -> None:
    for record in records():
        if record.cluster != cluster:
            raise GeneratorError(
                f"this machine is in the cluster at {record.cluster} already, as {record.title}: end that first with "
                f"`bakeoff cluster stop`"
            )
        if record.name == name:
            raise GeneratorError(
                f"agent {name} runs here already (process {record.pid}): end it first with `bakeoff cluster stop "
                f"--name {name}`, or choose another --name"
            )


def _wait_for_head(cluster: str, joining: Joining) -> list[Member]:
    until = time.monotonic() + joining.wait_s
    host, port = addresses.split_address(cluster, HEAD_PORT)
    while True:
        try:
            addresses.reach(host, port)
            break
        except GeneratorError:
            if time.monotonic() > until:
                raise
            time.sleep(RETRY_S)
    return members(cluster, joining.token_file)


def _refuse_incompatible(name: str, there: list[Member]) -> None:
    head = next((member for member in there if not member.name), None)
    if head is None:
        raise GeneratorError("the cluster has no head that Bakeoff started: start one with `bakeoff cluster start`")
    for member in there:
        if member.name == name:
            raise GeneratorError(
                f"the machine at {member.address} is called {name} already: choose another --name for this one"
            )
    refuse_incompatible(head.limits, {name: Facts({}, {}, (), (), limits())})
