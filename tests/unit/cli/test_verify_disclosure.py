"""What was disclosed is on every page as it was collected: `verify` makes it again, and finds a touched word."""

from __future__ import annotations

from pathlib import Path

import pytest

from bakeoff.disclosure.paper.collected import Collected, ConfigFile, collected_to_toml, sealed
from tests.unit.cli.test_verify import call
from tests.unit.compare.synthetic import run
from tests.unit.report.test_pdf import pages, signs
from tests.unit.store.builders import stored

SETTING = "net.ipv4.tcp_slow_start_after_idle"
PAPER = """\
[paper]
disclosure = "told.toml"
[[testbed.machines]]
name = "client"
role = "generator"
count = 12
[[testbed.machines]]
name = "box"
role = "server"
serves = ["nginx", "apache"]
[[testbed.links]]
ends = ["client", "box"]
speed = "25 Gbit/s"
duplex = "half"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run file with a paper of which the facts were collected."""
    place = tmp_path_factory.mktemp("disclosed")
    stored(run(), place / "demo.bakeoff")
    found = []
    for number, name in enumerate(("nginx", "apache")):
        text = f"workers {number}7317\npassword = (hidden)\n"
        file = ConfigFile(path="/etc/s.conf", bytes=9, sha256=f"{number}" * 64, redacted=True, text=text)
        one = Collected(way="local", date="2026-11-22", sysctls={SETTING: f"{number}"}, files=(file,))
        found.append(collected_to_toml(name, sealed(one)))
    (place / "told.toml").write_text("\n".join(found))
    (place / "paper.toml").write_text(PAPER)
    return place


@pytest.mark.parametrize("form", ["pdf", "txt"])
def test_reports_with_collected_facts_are_what_they_are_made_of(folder: Path, form: str) -> None:
    report = folder / f"demo.{form}"
    call("report", folder / "demo.bakeoff", "--paper", folder / "paper.toml", "--full", "-o", report)
    extra = ["--paper", folder / "paper.toml"] if form == "txt" else []
    done = call("verify", report, folder / "demo.bakeoff", *extra)
    assert done.exit_code == 0, done.output
    if form == "pdf":
        words = signs("".join(pages(report.read_bytes())))
        assert signs(SETTING) in words and signs("25 Gbit/s") in words, "a broken word is copied whole"
        return
    text = report.read_text()
    assert "box: 25 Gbit/s, half duplex" in text
    assert "edited" not in text.partition("How facts were collected")[2][:900]
    report.write_text(text.replace("07317", "07318", 1))
    assert call("verify", report, folder / "demo.bakeoff", *extra).exit_code == 1
