"""What a plan needs of the machine's sockets, against made-up machines."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.machine.preflight import preflight
from bakeoff.agents.machine.socket_capacity import Demand, Machine, check_ports, check_queues, open_files, this_machine
from bakeoff.agents.spec import Slice
from bakeoff.core.errors import GeneratorError
from bakeoff.run.checks.preflight import demand_of, is_local
from tests.unit.run.fake import plan_for

LOCAL, AWAY = "http://127.0.0.1:1", "http://192.0.2.1:1"
MACHINE = Machine(ports=28_232, reuse=2, listen_queue=4096)


@pytest.mark.parametrize(
    ("demand", "files"),
    [
        (Demand(10), 10 + 64 + 128),
        (Demand(10_000), 10_000 + 64 + 128),
        (Demand(1000, threads_at_work=2), 1000 + 2 * 64 + 128),
        (Demand(100, threads_at_work=3), 100 + 3 * 64 + 128),
        (Demand(1000, leaves=False), 1000 + 128),
    ],
)
def test_open_files(demand: Demand, files: int) -> None:
    assert open_files(demand) == files


@pytest.mark.parametrize(
    ("demand", "machine", "warning"),
    [
        (Demand(28_232), MACHINE, None),
        (Demand(40, closes=28_192), MACHINE, None),
        (Demand(40, closes=28_193), MACHINE, "each of 28,193 connections of a trial is closed from this side "
         "and holds its port for 60 s; 28,232 local ports × 1 source address allow 471 connections/s to one contender"),
        (Demand(40, closes=28_193, addresses=2), MACHINE, None),
        (Demand(40, closes=None, addresses=2), MACHINE, "28,232 local ports × 2 source addresses allow 941 conn"),
        (Demand(40, closes=None, all_loopback=True), MACHINE, "holds its port for 1 s; 28,232 local ports × 1 "),
        (Demand(40, closes=None), Machine(600, 1, None), "for 1 s; 600 local ports × 1 source address allow 600 "),
        (Demand(40, closes=None, by_port=False), MACHINE, None),
        (Demand(40_000, closes=None), Machine(None, 0, None), None),
    ],
)  # fmt: skip
def test_ports(demand: Demand, machine: Machine, warning: str | None) -> None:
    found = check_ports(demand, machine)
    assert len(found) == (warning is not None)
    assert warning is None or warning in found[0]
    assert all("`sysctl -w net.ipv4.ip_local_port_range='1024 65535'`" in text for text in found)


def test_more_sessions_than_ports() -> None:
    with pytest.raises(GeneratorError, match=r"opens 28,233 connections to one contender at once, and .* 28,232"):
        check_ports(Demand(28_233), MACHINE)
    with pytest.raises(GeneratorError, match=r"--source-addresses\); 2 are enough"):
        check_ports(Demand(28_233), MACHINE)
    assert check_ports(Demand(28_233, addresses=2), MACHINE) == []


@pytest.mark.parametrize(
    ("demand", "warns"),
    [
        (Demand(4096, loopback=("a",)), False),
        (Demand(4097, loopback=("a",)), True),
        (Demand(4097), False),
    ],
)
def test_queues_of_listeners(demand: Demand, warns: bool) -> None:
    found = check_queues(demand, MACHINE)
    assert bool(found) == warns
    if warns:
        assert "a can queue 4,096 connections at most" in found[0] and "opens 4,097 at once" in found[0]
        assert "`sysctl -w net.core.somaxconn=4097`" in found[0]


@pytest.mark.parametrize(
    ("addresses", "settings", "expected"),
    [
        ((LOCAL, AWAY), {}, {"closes": 0, "loopback": ("a",), "all_loopback": False}),
        ((LOCAL,), {"keep_alive": True, "requests_per_connection": 7}, {"closes": None, "all_loopback": True}),
        ((AWAY,), {"keep_alive": True, "requests_per_connection": 7, "operations": 50}, {"closes": 8}),
        ((AWAY,), {"keep_alive": True, "requests_per_connection": 7, "close_with_reset": True}, {"closes": 0}),
        ((AWAY,), {"clients": "3", "virtual_users": 5, "load_threads": 9}, {"sessions": 15, "threads_at_work": 3}),
        ((AWAY,), {"source_addresses": "127.0.0.2,127.0.0.3"}, {"addresses": 2}),
        (("unix:/x",), {}, {"by_port": False, "loopback": ("a",)}),
    ],
)
def test_the_demand_of_a_plan(addresses: tuple[str, ...], settings: dict[str, Any], expected: dict[str, Any]) -> None:
    demand = demand_of(plan_for(*addresses, **settings))
    assert {name: getattr(demand, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("smtp=127.0.0.1:2525,pop3=127.0.0.1:2110", True),
        ("lmtp=[::1]:24,pop3=localhost:110", True),
        ("smtp=127.0.0.1:2525,pop3=mail.example.test:110", False),
        ("localhost", True),
        ("127.0.0.1:8007", True),
        ("mail.example.test", False),
        ("http://127.0.0.1:80/?a=b,c=d", True),
        ("http://web.example.test/?a=127.0.0.1,localhost", False),
        ("unix:/run/a,b=c", True),
    ],
)
def test_who_is_plainly_on_this_machine(address: str, here: bool) -> None:
    assert is_local(address) is here


def test_the_preflight_says_all_of_it() -> None:
    plan = plan_for(LOCAL, keep_alive=True, requests_per_connection=7, clients="5")
    found = preflight(demand_of(plan), Machine(600, 0, 4))
    assert ["holds its port for 60 s" in found[0], "can queue 4 connections" in found[1]] == [True, True]


def test_facts_are_read_from_the_kernel(tmp_path: Path) -> None:
    texts = {"ipv4/ip_local_port_range": "32768\t60999\n", "ipv4/ip_local_reserved_ports": "80,40000-40009\n",
             "ipv4/tcp_tw_reuse": "1\n", "core/somaxconn": "128\n"}  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = this_machine(tmp_path)
    assert (found.ports, found.reuse, found.listen_queue) == (28_232 - 10, 1, 128)
    nothing = this_machine(tmp_path / "none")
    assert (nothing.ports, nothing.reuse, nothing.listen_queue) == (None, 0, None)


def test_an_agent_carries_its_part_of_the_largest_load_step() -> None:
    plan = plan_for(
        AWAY, clients="3,10", virtual_users=2, load_threads=3, keep_alive=True, requests_per_connection=7, operations=50
    )
    parts = [demand_of(plan, Slice(index=index, of=4)) for index in range(4)]
    assert [part.sessions for part in parts] == [4, 6, 4, 6] and sum(part.sessions for part in parts) == 20
    assert [part.threads_at_work for part in parts] == [2, 3, 2, 3]
    assert {part.closes for part in parts} == {2}
