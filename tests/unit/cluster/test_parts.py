"""Addresses, tokens, labels and settings of a cluster."""

import os
import random
import socket
import string
from dataclasses import replace
from pathlib import Path

import pytest

from bakeoff.agents.cluster import addresses, labels, settings, token
from bakeoff.agents.machine.limits import Limits
from bakeoff.core.errors import BakeoffError, GeneratorError, PlanError
from tests.ports import free_port


@pytest.mark.parametrize(
    ("text", "right"),
    [("10.0.0.1", ("10.0.0.1", 6379)), ("head.lab:7000", ("head.lab", 7000)), ("a-b", ("a-b", 6379))],
)
def test_an_address_has_a_port_or_gets_one(text: str, right: tuple[str, int]) -> None:
    assert addresses.split_address(text, 6379) == right


@pytest.mark.parametrize("text", ["", ":6379", "a b", "a:0", "a:70000", "http://a", "[::1]:6379", "a:6379:1", "a\n"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="is no address of a cluster"):
        addresses.split_address(text, 6379)


def test_public_addresses_are_told_from_those_of_a_lab() -> None:
    lab = ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.1.1", "::1", "fe80::1", "fd00::1"]
    assert addresses.public(lab) == []
    assert addresses.public([*lab, "8.8.8.8", "100.64.0.1", "2600::1"]) == ["8.8.8.8", "100.64.0.1", "2600::1"]


def test_this_machine_knows_its_addresses_and_ports() -> None:
    addresses.check_bind("127.0.0.1")
    with pytest.raises(GeneratorError, match=r"does not have the address 192\.0\.2\.1"):
        addresses.check_bind("192.0.2.1")
    assert addresses.way_to("127.0.0.1", 1) == "127.0.0.1"
    assert addresses.numeric("localhost").startswith("127.")
    with pytest.raises(GeneratorError, match="has no IPv4 address here"):
        addresses.numeric("no-such-host.invalid")
    port = free_port()  # which nobody else takes, before or after
    with socket.create_server(("127.0.0.1", port)):
        addresses.reach("127.0.0.1", port)
        assert addresses.taken([port]) == [port]
    assert addresses.taken([port]) == []
    with pytest.raises(
        GeneratorError, match=f"no head answers at 127.0.0.1:{port} .*bakeoff cluster start --bind 127.0.0.1"
    ):
        addresses.reach("127.0.0.1", port)


def test_a_token_is_made_once_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep/token"
    token.make_token(path)
    text = path.read_text()
    assert len(text.strip()) == 64 and path.stat().st_mode & 0o777 == 0o600
    token.make_token(path)
    assert path.read_text() == text
    other = tmp_path / "other"
    token.make_token(other)
    assert other.read_text() != text


def test_a_token_that_others_can_read_or_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    with pytest.raises(GeneratorError, match=r"there is no token at .*scp"):
        token.check_token(path)
    token.make_token(path)
    path.chmod(0o640)
    with pytest.raises(GeneratorError, match=f"chmod 600 {path}"):
        token.check_token(path)
    path.chmod(0o600)
    for text in (b"", b"short", b"x" * 300, b"\xff" * 64, b"two words " * 8):
        path.write_bytes(text)
        with pytest.raises(GeneratorError, match="is no token"):
            token.check_token(path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(GeneratorError, match="is no token"):
        token.check_token(pipe)
    with pytest.raises(GeneratorError, match="cannot be written"):
        token.make_token(Path("/proc/token"))


def test_where_the_token_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert token.default_token_file() == tmp_path / "bakeoff/cluster/token"
    monkeypatch.setenv(token.VARIABLE, "/run/secrets/token")
    assert token.default_token_file() == Path("/run/secrets/token")


LIMITS = Limits(0, 1024, (0, 1, 2), 1.5, "3.11.2", "2.60.0", "0.1.0", "abc", "def")


def test_limits_are_told_in_labels() -> None:
    assert labels.from_labels(labels.to_labels(LIMITS)) == LIMITS
    for other in (replace(LIMITS, nice=-3), replace(LIMITS, open_files=None, quota_cores=None, ray=None)):
        assert labels.from_labels(labels.to_labels(other)) == other
    assert all(labels.LABEL.fullmatch(text) for text in labels.to_labels(LIMITS).values())


def test_labels_of_anybody_are_read_as_far_as_they_make_sense() -> None:
    chance = random.Random(7)
    for _ in range(500):
        names = [*labels.to_labels(LIMITS), "x"]
        made = {
            chance.choice(names): "".join(chance.choices(string.printable, k=chance.randrange(9))) for _ in range(5)
        }
        assert isinstance(labels.from_labels(made), Limits)
    assert labels.from_labels({}).open_files is None


@pytest.mark.parametrize("name", ["a", "load-1.lab", "A_b", "0"])
def test_machines_have_names(name: str) -> None:
    assert labels.check_name(name) == name


@pytest.mark.parametrize("name", ["", "-a", "a b", "ä", "a/b", "x" * 64, "a,b=c", "a\n", "../a"])
def test_names_that_cannot_be_are_refused(name: str) -> None:
    with pytest.raises(BakeoffError, match="no machine can be called"):
        labels.check_name(name)


def test_every_setting_that_a_measurement_needs_is_written() -> None:
    observed = settings.environment(Path("/t"))
    assert observed["RAY_AUTH_MODE"] == "token" and observed["RAY_AUTH_TOKEN_PATH"] == "/t"
    assert observed["RAY_worker_niceness"] == "0" and observed["RAY_memory_monitor_refresh_ms"] == "0"
    assert observed["RAY_USAGE_STATS_ENABLED"] == "0"
    head = settings.head_command("10.0.0.1", 6379, Path("/tmp/x"), {"bakeoff.nice": "0"})
    join = settings.join_command(
        "10.0.0.1:6379", "10.0.0.2", settings.Ports(6420), Path("/tmp/x"), {"a": "b", "c": "d"}
    )
    for command in (head, join):
        words = " ".join(command)
        for needed in (
            "--block",
            "--disable-usage-stats",
            "--object-store-memory 100000000",
            "--node-ip-address 10.0.0",
        ):
            assert needed in words
        assert words.count("-port ") == 9 - (command is join)
    assert "--include-dashboard false" in " ".join(head) and "--num-cpus 0" in " ".join(head)
    assert "--labels a=b,c=d" in " ".join(join) and '{"bakeoff": 1}' in join


def test_ports_are_fixed_and_no_two_alike() -> None:
    head, join = settings.Ports(settings.HEAD_PORT + 1), settings.Ports(settings.JOIN_PORTS)
    assert not set(head.all) & set(join.all) and settings.HEAD_PORT not in head.all
    for ports in (head, join):
        assert len(set(ports.named.values())) == len(ports.named) == 6
        assert set(ports.named.values()) <= set(ports.all) - set(range(ports.workers[0], ports.workers[1] + 1))
        assert ports.workers[1] == ports.all[-1]
