"""Which link leads to an address, and whose speed is believed."""

import socket
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.core.system import links
from bakeoff.core.system.links import LOOPBACK, MADE_UP, UNKNOWN, carrier, link_to
from bakeoff.core.system.mounts import Mount, server_address


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """A card, a bond of two, a VLAN on a card, a veth, and a bridge of a card and a veth."""
    for card in ("eth0", "eth1", "eth2"):
        (tmp_path / card / "device").mkdir(parents=True)
    (tmp_path / "veth0").mkdir()
    for name, below in (("bond0", ("eth1", "eth2")), ("eth0.7", ("eth0",)), ("br0", ("eth0", "veth0"))):
        (tmp_path / name).mkdir()
        for one in below:
            (tmp_path / name / f"lower_{one}").symlink_to(tmp_path / one)
    (tmp_path / "bond0/bonding").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "megabits", "loopback", "speed"),
    [
        ("eth0", 10_000, False, (10_000_000_000, "")),
        ("bond0", 20_000, False, (20_000_000_000, "")),
        ("eth0", 0, False, (None, UNKNOWN)),  # as virtio's
        ("eth0", 2**32 - 1, False, (None, UNKNOWN)),  # -1 of the driver, without a sign
        ("veth0", 10_000, False, (None, MADE_UP)),
        ("lo", 0, True, (None, LOOPBACK)),
    ],
)
def test_only_hardware_is_as_fast_as_it_says(
    system: Path, name: str, megabits: int, loopback: bool, speed: tuple[int | None, str]
) -> None:
    assert links._speed(name, megabits, loopback, system) == speed


@pytest.mark.parametrize(
    ("name", "by"), [("eth0.7", "eth0"), ("bond0", "bond0"), ("br0", "eth0"), ("veth0", "veth0"), ("eth0", "eth0")]
)
def test_a_card_carries_its_vlans_and_a_bond_itself(system: Path, name: str, by: str) -> None:
    assert carrier(name, system) == by


def test_the_kernel_is_asked_for_the_way_and_nothing_is_sent() -> None:
    assert link_to("127.0.0.1") == "lo" and link_to("127.0.0.1", "127.0.0.2") == "lo"
    assert link_to("fe80::1%some0") == "some0"
    assert link_to("240.0.0.1") is None or link_to("240.0.0.1") in {link.name for link in links.links()}


def test_the_address_of_this_machine_is_reached_by_the_loopback() -> None:
    def own() -> set[str]:
        return {address for link in links.links() for address in link.addresses if not address.startswith("fe80")}

    ways = {address: link_to(address) for address in own()}
    # Others may take links away meanwhile.
    assert {ways[address] for address in own() & ways.keys()} == {"lo"}


def test_answers_of_the_kernel_that_say_nothing_are_no_link() -> None:
    refused = struct.pack("=IHHII", 20, 2, 0, 1, 0) + b"\0" * 4
    assert links._answer(refused) is None
    empty = struct.pack("=IHHII", 28, 24, 0, 1, 0) + bytes(12)
    assert links._answer(empty) is None
    out = struct.pack("=HHI", 8, 4, socket.if_nametoindex("lo"))
    other = struct.pack("=HHI", 5, 9, 0)
    assert links._answer(struct.pack("=IHHII", 44, 24, 0, 1, 0) + bytes(12) + other + out) == "lo"


def all_links(known: dict[str, links.Link]) -> dict[str, links.Link]:
    return {link.name: link for link in links.links()}


@pytest.mark.parametrize("again", [all_links, links.recounted])
def test_counters_grow_with_what_goes_over_the_loopback(again: Callable[..., dict[str, links.Link]]) -> None:
    known = all_links({})
    before = known["lo"]
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        taken, _ = server.accept()
        with taken:
            client.sendall(bytes(10_000))
            taken.recv(10_000, socket.MSG_WAITALL)
    after = again(known)["lo"]
    assert after.bytes_in - before.bytes_in >= 10_000 and after.packets_out > before.packets_out
    assert (after.speed_bits_per_s, after.unjudged) == (None, LOOPBACK)


def test_a_link_that_is_gone_has_no_counts() -> None:
    known = {"lo": all_links({})["lo"], "gone0": links.Link("gone0", (), None, "")}
    assert {*links.recounted(known)} == {"lo"}


@pytest.mark.parametrize(
    ("options", "source", "address"),
    [
        ("rw,vers=4.2,addr=192.0.2.7", "nas:/export", "192.0.2.7"),
        ("rw", "127.0.0.1:/export", "127.0.0.1"),
        ("rw", "no.such.host.invalid:/export", None),
        ("rw", "export", None),
    ],
)
def test_the_server_of_a_mount(options: str, source: str, address: str | None) -> None:
    assert server_address(Mount("/mnt", "nfs4", source, options, "mount")) == address
