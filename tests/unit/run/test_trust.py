"""A run file is data: what its plan says is done only when the user says the same."""

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bakeoff.agents.spec import TrialSpec
from bakeoff.compare.failures.content import changed_of
from bakeoff.core.errors import RunFileError
from bakeoff.kinds import KINDS
from bakeoff.plan.kind import plan_part
from bakeoff.plan.model import Plan
from bakeoff.plan.settings.fields import extra_of
from bakeoff.report.narrate.validity.content import changed_sentences
from bakeoff.run.checks.plan_origin import is_marked, mark
from bakeoff.run.checks.trust import acts, resume_command, trusted_plan
from bakeoff.run.driver import RunInterruptedError, resume_run, start_run
from bakeoff.store.sqlite.canonical import plan_hash, to_json
from bakeoff.store.sqlite.read import read_run
from tests.unit.run.fake import FakeAgent, Notebook, WebServer, count_lines, plan_for, two_contenders
from tests.unit.store.test_damage import seal_anew

Interrupted = tuple[Path, Plan, WebServer, Path]


def stop(_: TrialSpec, trial: int) -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def interrupted(tmp_path: Path) -> Iterator[Interrupted]:
    """A run file whose plan has a reset, the server it names, and the log of resets."""
    log, path = tmp_path / "log", tmp_path / "x.bakeoff"
    with two_contenders() as (one, two):
        plan = plan_for(one.address, two.address, resets={"a": f"echo reset >> {log}"})
        with pytest.raises(RunInterruptedError):
            start_run(plan, path, [FakeAgent(before=stop)], Notebook())
        log.unlink()
        one.requests.clear()
        yield path, plan, one, log


def edited(path: Path, **contender: object) -> None:
    """Another plan in the file, with seals and hash that fit it."""
    with closing(sqlite3.connect(path)) as connection:
        plan = read_run(path).plan
        plan["contenders"][0] |= contender
        connection.execute("UPDATE run SET plan = ?, plan_hash = ?", (to_json(plan), plan_hash(plan)))
        connection.commit()
    seal_anew(path)


def moved_to_another_user(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(path.parent / "state of somebody else"))


def copied(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = path.with_name("kept")
    path.rename(kept)
    shutil.copy(kept, path)


def carried_to_another_machine(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bakeoff.run.checks.plan_origin._machine", lambda: "another")


def edited_by_somebody(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited(path, ready_timeout_s=29.0)


def robbed_of_its_mark(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE run SET started_here = NULL")
        connection.commit()
    seal_anew(path)


def with_a_key_that_others_can_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = path.parent / "open"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    mark(path, "")
    (folder / "bakeoff/key").chmod(0o644)


def test_the_user_who_started_it_goes_on_without_a_word(interrupted: Interrupted) -> None:
    path, _, _, log = interrupted
    assert resume_command(read_run(path)) == f"bakeoff resume {path}"
    assert resume_run(path, [FakeAgent()], Notebook()) == 8
    assert count_lines(log) == 3


@pytest.mark.parametrize(
    "foreign",
    [
        moved_to_another_user,
        copied,
        carried_to_another_machine,
        edited_by_somebody,
        robbed_of_its_mark,
        with_a_key_that_others_can_read,
    ],
)
def test_a_file_from_elsewhere_does_nothing_and_says_what_it_would_do(
    interrupted: Interrupted, monkeypatch: pytest.MonkeyPatch, foreign: Callable[[Path, pytest.MonkeyPatch], None]
) -> None:
    path, _, server, log = interrupted
    foreign(path, monkeypatch)
    before = path.read_bytes()
    with pytest.raises(RunFileError) as caught:
        resume_run(path, [FakeAgent()], Notebook())
    said = str(caught.value)
    assert f"run in a shell before each block of a: echo reset >> {log}" in said
    assert f"send load to {server.address} (contender a)" in said
    assert f"bakeoff resume {path} --plan PLAN.toml" in said and f"bakeoff resume {path} --trust" in said
    assert not log.exists() and server.requests == [] and path.read_bytes() == before
    assert resume_command(read_run(path)) == f"bakeoff resume {path} --trust"


def test_trust_is_given_once(interrupted: Interrupted, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _, _, log = interrupted
    moved_to_another_user(path, monkeypatch)
    with pytest.raises(RunInterruptedError):
        resume_run(path, [FakeAgent(before=stop)], Notebook(), trust=True)
    assert count_lines(log) == 2
    assert resume_run(path, [FakeAgent()], Notebook()) == 8


def test_the_same_plan_beside_it_is_enough_and_another_is_not(
    interrupted: Interrupted, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, plan, server, log = interrupted
    moved_to_another_user(path, monkeypatch)
    other = plan.model_copy(update={"seed": 9, "contenders": plan.contenders[::-1]})
    with pytest.raises(RunFileError, match=r"differ in .*seed") as caught:
        resume_run(path, [FakeAgent()], Notebook(), other)
    assert "contenders.a" not in str(caught.value), "their order is no difference of a contender"
    with pytest.raises(RunFileError, match=r"differ in contenders\.a\.reset;"):
        contenders = (plan.contenders[0].model_copy(update={"reset": "true"}), plan.contenders[1])
        resume_run(path, [FakeAgent()], Notebook(), plan.model_copy(update={"contenders": contenders}))
    with pytest.raises(RunFileError, match="differ in the order of their contenders;"):
        trusted_plan(read_run(path), plan.model_copy(update={"contenders": plan.contenders[::-1]}))
    assert not log.exists() and server.requests == []
    assert resume_run(path, [FakeAgent()], Notebook(), plan) == 8


def test_figures_of_another_plan_are_refused(interrupted: Interrupted) -> None:
    path = interrupted[0]
    edited(path, address="http://127.0.0.1:9")
    for trust in (False, True):
        with pytest.raises(RunFileError, match="its figures do not fit its plan"):
            trusted_plan(read_run(path), trust=trust)


def test_another_plan_under_the_hash_of_the_first_is_refused(interrupted: Interrupted) -> None:
    """The mark of who started the run is of that hash: what stands beside it must be its plan."""
    path, _, server, log = interrupted
    with closing(sqlite3.connect(path)) as connection:
        plan = read_run(path).plan
        plan["contenders"][0] |= {"reset": f"echo evil >> {log}"}
        connection.execute("UPDATE run SET plan = ?", (to_json(plan),))
        connection.execute("UPDATE contenders SET reset = ? WHERE position = 0", (f"echo evil >> {log}",))
        connection.commit()
    seal_anew(path)
    with pytest.raises(RunFileError):
        resume_run(path, [FakeAgent()], Notebook())
    assert not log.exists() and server.requests == []


def test_a_reset_in_the_table_of_contenders_alone_is_never_done(interrupted: Interrupted) -> None:
    path, _, _, log = interrupted
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE contenders SET reset = ? WHERE position = 0", (f"echo evil >> {log}",))
        connection.commit()
    seal_anew(path)
    resume_run(path, [FakeAgent()], Notebook())
    assert "evil" not in log.read_text()


def test_facts_of_trials_that_somebody_made_up_move_no_cursor(interrupted: Interrupted) -> None:
    path = interrupted[0]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE trials SET found = ?", (to_json({"server\x1b[2J": "\x1b[2K\r" + "x" * 5_000}),))
        connection.commit()
    seal_anew(path)
    texts = "".join(changed_sentences(changed_of(read_run(path))))
    assert "server" in texts and "\x1b" not in texts and "\r" not in texts and len(texts) < 1_000


def test_another_order_of_trials_is_refused(interrupted: Interrupted) -> None:
    path = interrupted[0]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE planned SET seed = seed + 1")
        connection.commit()
    seal_anew(path)
    with pytest.raises(RunFileError, match="its order of trials is not the plan's"):
        resume_run(path, [FakeAgent()], Notebook(), trust=True)


def test_nothing_that_is_shown_moves_the_cursor(interrupted: Interrupted) -> None:
    path = interrupted[0]
    edited(path, reset="rm -rf / \x1b[2K\rtrue\n\u202e")
    with pytest.raises(RunFileError) as caught:
        trusted_plan(read_run(path))
    assert r"rm -rf / \x1b[2K\rtrue\n\u202e" in str(caught.value)


def test_a_plan_that_is_none_is_refused_in_one_sentence(interrupted: Interrupted) -> None:
    path = interrupted[0]
    edited(path, **{"\x1bevil": 1})
    with pytest.raises(RunFileError, match=r"cannot read \(contenders\.0\.\\x1bevil: ") as caught:
        trusted_plan(read_run(path), trust=True)
    assert "\n" not in str(caught.value)


def test_every_text_of_a_plan_that_does_something_is_listed() -> None:
    """A new setting that is a text or a path must say what it is: `path` and `command` are what `acts` looks for."""
    harmless = {
        "headers",
        "dynamic_url",
        "source_addresses",
        "sender",
        "patterns",
        "tests",
        "http",
        "expect",
        "stop_if",
        # Of httperf: read with the plan, whose contents it then has, or what requests say.
        "wsesslog",
        "wlog",
        "uri",
        "method",
        "add_header",
        "server_name",
        "tls_server_name",
        "myaddr",
        "ssl_ciphers",
        "ssl_protocol",
        # What requests say.
        "cookie",
        "basic_auth",
        "host",
    }
    for kind in KINDS:
        for name, field in plan_part(kind).settings.model_fields.items():
            extra = extra_of(field)
            if "str" in str(field.annotation) and "Literal" not in str(field.annotation):
                known = extra.get("path") or extra.get("command") or name in harmless | {"weights", "urls"}
                assert known, f"{kind}: {name}"


def test_commands_folders_and_files_are_listed(tmp_path: Path) -> None:
    plan = plan_for(
        str(tmp_path),
        suite="file-matrix",
        clients="1",
        length="9s",
        cache="cold",
        cold_command="remount",
        drop_caches=True,
    )
    assert acts(plan) == [
        "run in a shell (cold_command): remount",
        "drop the caches of this machine (drop_caches)",
        f"write, read and remove files in {tmp_path} (contender a)",
    ]


def test_without_a_place_for_a_key_there_is_no_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_file = tmp_path / "x"
    run_file.write_text("")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert mark(run_file, "plan") is None and not is_marked(run_file, "plan", None)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = mark(run_file, "plan")
    assert made is not None and is_marked(run_file, "plan", made) and mark(run_file, "plan") == made
    assert not is_marked(run_file, "another plan", made) and not is_marked(run_file, "plan", "é")
    assert not is_marked(tmp_path / "none", "plan", made)
