"""NFS and SMB mounts, by the clients of a kernel that has them: it has a page cache of its own."""

import pytest

from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.read import read_run
from tests.control import PATIENCE_S
from tests.files import guest
from tests.files.test_file_systems import (
    BLOCKS,
    MATRIX,
    MIX,
    ONE_CELL,
    cells,
    check_blocks,
    check_environment,
    check_matrix,
    check_mix,
)

NETWORK = [
    ("matrix", MATRIX),
    ("flushed", [*ONE_CELL, "--direct", "--fsync"]),
    ("cold", [*ONE_CELL, "--tests", "write,read,random_read", "--cache", "cold", "--drop-caches"]),
    ("blocks", [*BLOCKS, "--outstanding", "8", "--region", "2MiB"]),
    ("mix", MIX),
]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunRecord]:
    """Runs on an NFS and an SMB mount, which were measured inside of the guest."""
    base = tmp_path_factory.mktemp("guest")
    commands = [
        ["run", suite, f"nfs={base}/nfs", f"smb={base}/smb", *options, "-o", f"/run/runs/{name}.bakeoff"]
        for name, (suite, *options) in NETWORK
    ]
    said = guest.run_in_guest(base, commands, 1.5 * PATIENCE_S)  # an emulated processor, a tenth as fast
    assert (said.left_on_nfs, said.left_on_smb) == ([], []), said.text
    return {name: read_run(base / "runs" / f"{name}.bakeoff") for name, _ in NETWORK}


def test_the_matrix_runs_on_nfs_and_smb(network: dict[str, RunRecord]) -> None:
    check_matrix(network["matrix"])
    check_environment(network["matrix"], nfs="vers=4.2", smb="vers=3.1.1")
    facts = network["matrix"].environment["content"]["contenders"]
    assert {found["server"] for found in facts.values()} == {guest.HERE}


def test_flushed_direct_work_on_nfs_and_smb_crosses_the_wire(network: dict[str, RunRecord]) -> None:
    for trial in network["flushed"].trials:
        for cell in cells(trial):
            if not cell["test"].startswith(("f", "ref")):  # streams have no direct I/O
                assert cell["cached"] is False and cell["carried_bytes"] >= 0.95 * cell["bytes"], cell


def test_a_cold_read_of_nfs_and_smb_comes_from_the_server(network: dict[str, RunRecord]) -> None:
    for trial in network["cold"].trials:
        for cell in cells(trial)[1:]:
            assert (cell["cache"]["level"], cell["cached"]) == (3, False), cell
            assert cell["carried_bytes"] >= 1 << 20


def test_blocks_run_on_nfs_and_smb_through_a_ring(network: dict[str, RunRecord]) -> None:
    check_blocks(network["blocks"])


def test_the_office_mix_runs_on_nfs_and_smb(network: dict[str, RunRecord]) -> None:
    check_mix(network["mix"])
