"""The published examples tell nothing of the machine that made them but what is on the lists of what is disclosed."""

import re
import tomllib
from pathlib import Path

import pypdfium2
import pytest

from bakeoff.disclosure.collect.disks import DATA, OPTIONS
from bakeoff.disclosure.collect.kernel import PARAMETERS
from bakeoff.report.embed.document_words import content_of
from bakeoff.report.embed.embedded_runs import _unpacked, checked, read_embedded

EXAMPLES = Path(__file__).parents[3] / "docs/examples"
# Words of kernel command lines and of builds, and folders of users and builders.
FORBIDDEN = re.compile(
    r"kernel started with|BOOT_IMAGE|\bconsole=|\brdinit=|\bpanic=|\binit=|firecracker-|"
    r"/(?:work|root|home|build|builds|workspace|mnt|Users|github|runner)/|\.cargo/|\.venv/|site-packages|target/release"
)
OWN = ("/var/tmp/bakeoff-paper/", "/etc/", "/usr/sbin/", "/usr/lib/", "/dev/", "/proc/", "/sys/", "/run/", "/var/mail")


def pages(path: Path) -> str:
    document = pypdfium2.PdfDocument(path)
    return "\n".join(page.get_textpage().get_text_bounded() for page in document)


def texts() -> dict[str, str]:
    found = {path.name: path.read_text() for path in sorted(EXAMPLES.glob("*.toml*"))}
    for path in sorted(EXAMPLES.glob("*.html")):
        page = path.read_bytes()
        found[path.name] = page.decode()
        found[f"rows of {path.name}"] = _unpacked(content_of("html", page).inside.rows, path.name).decode()
    return found | {path.name: pages(path) for path in sorted(EXAMPLES.glob("*.pdf"))}


TEXTS = texts()


@pytest.mark.parametrize("name", list(TEXTS))
def test_no_word_of_a_command_line_or_a_build(name: str) -> None:
    assert [text[:80] for text in FORBIDDEN.findall(TEXTS[name])] == []


@pytest.mark.parametrize(("name", "trials"), [("paper.html", 192)])
def test_the_trials_that_an_example_holds_are_read_by_this_version(name: str, trials: int) -> None:
    inside = content_of("html", TEXTS[name].encode()).inside
    assert checked(read_embedded(inside.rows, name), name).trials == trials


@pytest.mark.parametrize("planted", ["x console=ttyS0", "/root/.cargo/registry", "/work/main/x", "rdinit=/a"])
def test_such_words_would_be_found(planted: str) -> None:
    assert FORBIDDEN.search(planted)


def test_paths_of_configuration_are_those_of_the_servers() -> None:
    disclosed = tomllib.loads(TEXTS["disclosure.toml"])["contenders"]
    paths = [file["path"] for one in disclosed.values() for file in one["collected"]["files"]]
    assert paths and all(path.startswith(OWN) for path in paths)


def test_parameters_and_file_systems_are_on_the_lists() -> None:
    for one in tomllib.loads(TEXTS["disclosure.toml"])["contenders"].values():
        facts = one["collected"]["facts"]
        for line in facts["tuning_hardware"].splitlines():
            if line.startswith("kernel parameters: "):
                assert all(word.partition("=")[0] in PARAMETERS for word in line.split(": ")[1].split())
        for line in facts["file_systems"].splitlines():
            found = re.fullmatch(r"\S+: (\S+) \((\S*)\) on \S+", line)
            assert found and found[1] in DATA.split()
            assert all(option.partition("=")[0] in OPTIONS.split() for option in found[2].split(","))
