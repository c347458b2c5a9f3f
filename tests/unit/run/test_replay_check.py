"""What is asked of contenders before a log is replayed."""

from pathlib import Path

import pytest

from bakeoff.core.errors import ContenderError
from bakeoff.kinds.replay.run import ReplayCheck, fits
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan, with_flags
from tests.conftest import Target


def check_of(log: Path, contenders: list[str], **settings: object) -> ReplayCheck:
    given = PlanInput("command line", {"suite": "replay"}, {}, parse_contenders(contenders))
    return ReplayCheck(resolve_plan(with_flags(given, {}, {"log": str(log), **settings}, {})))


def log_with(path: Path, *statuses: int) -> Path:
    line = '::1 - - [10/Oct/2026:13:55:{n:02d} +0000] "GET /{n} HTTP/1.1" {status} 5\n'
    path.write_text("".join(line.format(n=n, status=status) for n, status in enumerate(statuses)))
    return path


def test_the_check_and_the_engine_have_one_table_of_statuses() -> None:
    rust = (Path(__file__).parents[3] / "crates/workloads/src/replay/expect.rs").read_text()
    cases = [line.strip().strip("(),").split(", ") for line in rust.splitlines() if line.strip().startswith("(")]
    table = [(int(case[0]), int(case[1]), case[2] == "true") for case in cases if len(case) == 3]
    assert len(table) > 15
    assert [(logged, status, fits(logged, status)) for logged, status, _ in table] == table


def test_a_contender_that_answers_nothing_as_the_log_is_a_wrong_set_up(tmp_path: Path) -> None:
    server = Target()
    try:
        address = f"a=http://{server.address}"
        check = check_of(log_with(tmp_path / "log", 404, 404), [address])
        with pytest.raises(
            ContenderError, match="GET /0 is answered by status 200, the log has 404, and none of the 2"
        ):
            check.examine(check.plan.contenders[0])
        anything = check_of(tmp_path / "log", [address], statuses="any")
        anything.examine(anything.plan.contenders[0])
        partly = check_of(log_with(tmp_path / "log", 200, 404), [address])
        partly.examine(partly.plan.contenders[0])
        (note,) = partly.compare()
        assert note.text.startswith(
            "a answers 1 of 2 tried requests unlike the log: GET /1 by status 200, the log has 404"
        )
    finally:
        server.stop()


def test_different_pages_withhold_the_verdict_unless_they_may_differ(tmp_path: Path) -> None:
    servers = [Target(), Target(page_bytes=2_000)]
    try:
        addresses = [f"{name}=http://{server.address}" for name, server in zip("ab", servers, strict=True)]
        log = log_with(tmp_path / "log", 200, 200)
        assert _withheld(check_of(log, addresses))
        assert not _withheld(check_of(log, addresses, different=True))
    finally:
        for server in servers:
            server.stop()


def _withheld(check: ReplayCheck) -> bool:
    for contender in check.plan.contenders:
        check.examine(contender)
    (difference,) = check.facts()["differences"]
    assert difference["text"].startswith(
        "a and b answer '/0' differently: a status 200, 1,024 bytes; b status 200, 2,000"
    )
    return bool(difference["withhold"])
