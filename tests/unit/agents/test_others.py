"""What others took of the machine: made-up tables of processes, and real ones that burn a known share."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from bakeoff.agents.machine.listeners import owners, with_children
from bakeoff.agents.machine.other_load import Others, other_load_texts, spent
from bakeoff.agents.result import OtherLoad, OtherProcess
from bakeoff.kinds.spec import Workload
from bakeoff.telemetry.readers.processes import Process

LISTEN = """
import socket, sys, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
end = time.monotonic() + 60
while time.monotonic() < end and sys.argv[1] == "burn":
    pass
time.sleep(60)
"""


class Asking(Workload):
    """Work that is asked of one address."""

    address: str = ""

    @property
    def peers(self) -> tuple[str, ...]:
        return (self.address,)


def process(pid: int, parent: int = 1, user: int = 0, waited: int = 0, started: int = 7) -> Process:
    """A line of /proc/PID/stat."""
    return Process(pid, parent, started, user, 0, waited, 0, 1)


def keyed(*processes: Process) -> dict[tuple[int, int], Process]:
    """As looks have them."""
    return {each.key: each for each in processes}


def test_time_between_two_samples_is_told_once() -> None:
    before = keyed(process(10, user=100, waited=50), process(11, 10, user=30), process(12, user=5, started=8))
    # 11 ended and was waited for by 10, after 10 ticks more; 12 is another process now; 13 is new.
    after = keyed(process(10, user=103, waited=90), process(12, user=2, started=9), process(13, user=4))
    assert spent(before, after) == {10: 3 + 10, 12: 2, 13: 4}


def test_children_of_children_belong_to_a_server() -> None:
    seen = {each.pid: each for each in (process(10), process(11, 10), process(12, 11), process(13))}
    assert with_children(frozenset({10}), seen) == {10, 11, 12}


@pytest.mark.parametrize("doing", ["burn", "rest"])
def test_a_contender_that_is_not_measured_is_one_of_the_others(doing: str) -> None:
    servers = [subprocess.Popen([sys.executable, "-c", LISTEN, how], stdout=subprocess.PIPE, text=True)
               for how in (doing, "rest")]  # fmt: skip
    try:
        ports = [int(server.stdout.readline()) for server in servers if server.stdout is not None]
        assert [owners(frozenset({port})) for port in ports] == [frozenset({server.pid}) for server in servers]
        measured, other = (Others(Asking(kind="web", address=f"127.0.0.1:{port}")) for port in ports)
        time.sleep(1.0)
        one, two = measured.measure(), other.measure()
    finally:
        for server in servers:
            server.kill()
            server.wait()
    assert one is not None and two is not None
    assert servers[0].pid not in [each.pid for each in one.processes]
    burns = doing == "burn"
    assert (one.contender or 0.0) > 0.01 if burns else (one.contender or 0.0) < 0.5
    assert (two.contender or 0.0) < 0.5
    # How much it gets beside others is the machine's affair; who rests gets next to nothing.
    assert any(each.pid == servers[0].pid for each in two.processes) or not burns or two.taken > 0.01


def test_a_port_on_which_nobody_listens_is_not_told_of() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert owners(frozenset({port})) == {os.getpid()}
    assert owners(frozenset({port})) == frozenset()
    assert Others(Asking(kind="web", address=f"127.0.0.1:{port}")).measure() is None


TCP = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def tcp_line(port: int, state: str, inode: int) -> str:
    return f"   0: 0100007F:{port:04X} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 0 0 {inode} 1\n"


def process_of(proc: Path, pid: str, table: str, inodes: Sequence[int]) -> None:
    for folder in ("ns", "net", "fd"):
        (proc / pid / folder).mkdir(parents=True)
    (proc / pid / "ns/net").write_text(pid)
    (proc / pid / "net/tcp").write_text(TCP + table)
    for number, inode in enumerate(inodes):
        (proc / pid / "fd" / str(number)).symlink_to(f"socket:[{inode}]")


def test_who_listens_in_the_own_network_answers_and_else_who_does_in_another(tmp_path: Path) -> None:
    process_of(tmp_path, "self", tcp_line(80, "0A", 11), ())
    process_of(tmp_path, "7", tcp_line(80, "0A", 11), (11,))
    process_of(tmp_path, "8", tcp_line(80, "0A", 12) + tcp_line(25, "0A", 13), (12, 13))
    assert owners(frozenset({80}), proc=tmp_path) == {7}
    assert owners(frozenset({25}), proc=tmp_path) == {8}
    assert owners(frozenset({25, 80}), proc=tmp_path) == {7, 8}


def test_a_table_is_read_no_further_than_its_listening_sockets(tmp_path: Path) -> None:
    """The kernel walks all connections of the machine for the rest: a tenth of a second of 30,000."""
    many = "".join(tcp_line(9, "0A", 100 + number) for number in range(2_000))
    process_of(tmp_path, "self", many + tcp_line(80, "0A", 11) + tcp_line(80, "01", 12) + tcp_line(81, "0A", 13), ())
    process_of(tmp_path, "7", "", (11, 13))
    assert owners(frozenset({80}), proc=tmp_path) == {7}
    assert owners(frozenset({81}), proc=tmp_path) == frozenset(), "behind the first that does not listen"


def test_a_contender_elsewhere_leaves_all_processes_here_to_others(tmp_path: Path) -> None:
    measured = Others(Asking(kind="web", address="192.0.2.1:80")).measure()
    assert measured is not None and measured.contender is None and 0.0 <= measured.share <= 1.0
    assert owners(frozenset({80}), proc=tmp_path) == frozenset()


def test_what_others_take_before_a_run_is_said_with_names_and_what_to_do() -> None:
    names = (OtherProcess(name="stress", pid=7, taken=1.0), OtherProcess(name="cc1", pid=8, taken=0.9))
    found = OtherLoad(span_s=0.3, cores=2, taken=1.9, processes=names)
    assert other_load_texts(found) == [
        "other processes take 1.9 of 2 processors (stress 1.0, cc1 0.9): stop them, or sizes of differences will be "
        "withheld"
    ]
    assert other_load_texts(None) == other_load_texts(found.model_copy(update={"taken": 0.2})) == []
    # One tick of a short look is no load.
    assert other_load_texts(found.model_copy(update={"span_s": 0.02})) == []
