"""Samples of the load generator at itself, which share processors with what is measured."""

import os
from pathlib import Path

import pytest

from bakeoff.telemetry.readers import this_machine


def test_what_cannot_change_is_read_by_the_first_sample_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    read, asked = this_machine.read, list[str]()

    def fake_read(path: Path) -> str | None:
        asked.append(str(path))
        return read(path)

    monkeypatch.setattr(this_machine, "read", fake_read)
    source = this_machine.ThisProcess()
    first = source.sample(1.0)
    at_first = list(asked)
    asked.clear()
    second = source.sample(1.0)
    assert "/proc/sys/kernel/random/boot_id" in at_first and "/proc/stat" in asked
    assert not [path for path in asked if "boot_id" in path or path.startswith("/sys")]
    assert second.facts == first.facts and second.counters.keys() == first.counters.keys()


def test_a_file_is_read_whole_up_to_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(os.urandom(3) + b"x" * 100_000)
    assert len((this_machine.read(file) or "").encode("utf-8", "replace")) >= 100_000
    monkeypatch.setattr(this_machine, "MOST_BYTES", 10)
    assert len(this_machine.read(file) or "") <= 10
    assert this_machine.read(tmp_path) is None and this_machine.read(tmp_path / "none") is None
