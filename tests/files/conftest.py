"""What tests on file systems share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.files.mounts import LoopDisk


@pytest.fixture(autouse=True)
def always_patient(patient: None) -> None:
    """Runs of this process count although the machine stood still for a moment."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[LoopDisk]:
    """An ext4 file system of its own that can be mounted again."""
    found = LoopDisk(tmp_path)
    yield found
    found.close()
