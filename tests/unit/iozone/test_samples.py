"""`bakeoff iozone` against what IOzone 3.489 printed: line for line, with measured figures masked by their width.

Each file of tests/data/iozone begins with the command that made it.

For remount.txt (-U) share was a bind mount of another folder, in a mount namespace whose /etc/fstab had it. IOzone ran
`umount share` and `mount share` before each of the four tests.
"""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bakeoff.compat.iozone.options import Options, parse
from bakeoff.compat.iozone.run import processors_of, run, value_of
from bakeoff.core.errors import PlanError

SAMPLES = sorted((Path(__file__).parents[2] / "data/iozone").glob("*.txt"))
SIZES = 24  # characters of a row before its figures


class KnownAgent:
    """Gives every cell the same figures: a mebibyte a second for each client."""

    def start(self, spec: Any) -> "KnownAgent":
        self.spec = spec
        return self

    def go(self) -> "KnownAgent":
        return self

    def wait(self, timeout_s: float) -> Any:
        work = self.spec.workload
        cells = [self.cell(test, file, record) for file, record in work.pairs for test in work.tests]
        return SimpleNamespace(result=SimpleNamespace(fatal=None, workload={"cells": cells}))

    def cell(self, test: str, file: int, record: int) -> dict[str, Any]:
        clients = self.spec.load.clients
        return {
            "test": test, "skipped": None, "bytes": clients * file, "operations": clients * (file // record),
            "elapsed_s": file / (1 << 20), "last_done_s": file / (1 << 20), "per_client": [(file, 1024.0)] * clients,
        }  # fmt: skip

    def describe(self) -> dict[str, str]:
        return {}


def masked(line: str) -> str:
    """The line with measured figures as # of their width."""
    hide = lambda found: "#" * len(found.group())  # noqa: E731
    if re.match(r"\s+\d+\s+\d+ ", line):
        return line[:SIZES] + re.sub(r" *\d+", hide, line[SIZES:])
    if re.match(r'"\d+" ', line) or re.match(r'" +[A-Z][\w -]+ " ?[\d ]', line):
        title, figures = re.match(r'("[^"]+" *)(.*)', line).groups()  # type: ignore[union-attr]
        return title.rstrip() + "".join(" #" for _ in figures.split())
    # %10.2f, and what does not fit into it is longer.
    return re.sub(r"= *[\d.]+(?= (kB|ops))", lambda found: "#" * min(12, len(found.group())), line)


def printed(words: list[str]) -> list[str]:
    text: list[str] = []
    run(parse(words), KnownAgent(), text.append)  # type: ignore[arg-type]
    lines = "".join(text).split("\n")
    return lines[next(i for i, line in enumerate(lines) if "Run began" in line) + 1 :]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_output_is_that_of_iozone_line_for_line(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command, *theirs = sample.read_text().split("\n")
    ours = printed(command.removeprefix("# iozone ").split())
    assert [masked(line) for line in ours] == [masked(line) for line in theirs]


def figures(words: str) -> Options:
    return parse(words.split())


@pytest.mark.parametrize(("unit", "value"), [("", 1024), ("-O", 64), ("-N", 15625)])
def test_the_units_of_a_cell_are_one_figure(unit: str, value: int) -> None:
    cell = {"elapsed_s": 0.25, "operations": 16, "bytes": 256 << 10}
    assert value_of(figures(f"-s 256k -r 16k -i 0 {unit}"), cell) == value


def test_a_share_is_mounted_anew_with_the_commands_of_iozone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    agent = KnownAgent()
    for mount, one in (("share", "umount share && mount share"), ("a b", "umount 'a b' && mount 'a b'")):
        run(parse(["-s", "64k", "-r", "16k", "-i", "0", "-f", "share/file", "-U", mount]), agent, str)  # type: ignore[arg-type]
        assert (agent.spec.workload.cache, agent.spec.workload.cold_command) == ("cold", one)


def test_throughput_in_operations_is_that_in_kilobytes_over_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = "-t 2 -s 256k -r 16k -i 0 -C"
    kilobytes, operations = ("\n".join(printed([*words.split(), *more])) for more in ([], ["-O"]))

    def seen(text: str) -> list[float]:
        return [float(figure) for figure in re.findall(r"= +([\d.]+) (?:kB|ops)", text)]

    assert [figure / 16 for figure in seen(kilobytes)] == pytest.approx(seen(operations))


@pytest.mark.parametrize(("words", "why"), [("-V 85", "checked anyway"), ("-+d", "checked anyway")])
def test_checks_that_would_change_nothing_are_refused(words: str, why: str) -> None:
    with pytest.raises(PlanError, match=why):
        figures(words)


def test_clients_are_bound_to_processors_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1, 2, 3})
    assert processors_of(figures("-P 3 -t 2"), 2) == (3, 0)
    assert processors_of(figures("-t 2"), 2) is None
    with pytest.raises(PlanError, match="name one of these"):
        processors_of(figures("-P 4"), 1)
