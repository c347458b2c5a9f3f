"""Access logs as plans have them: what is read, what is refused, and how long and how fast it is replayed."""

import bz2
import gzip
import os
import re
from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.kinds.replay import log as log_module
from bakeoff.kinds.replay.log import read_log, trace_of
from bakeoff.kinds.replay.plan import ReplaySettings, replay_settings
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan, with_flags
from bakeoff.plan.model import Plan

LINE = '192.0.2.{n} - - [10/Oct/2026:13:{m:02d}:{s:02d} +0200] "{request} HTTP/1.1" 200 5 "-" "x"\n'


def lines(count: int, requests: tuple[str, ...] = ("GET /", "GET /a?b", "HEAD /c"), per_s: int = 2) -> str:
    """A log with `per_s` requests in each second."""
    made = []
    for n in range(count):
        minute, second = divmod(n // per_s, 60)
        made.append(LINE.format(n=n % 250, m=minute, s=second, request=requests[n % len(requests)]))
    return "".join(made)


def resolve(log: Path, **settings: Any) -> Plan:
    given = PlanInput("command line", {"suite": "replay"}, {}, parse_contenders(["a=http://127.0.0.1:1"]))
    return resolve_plan(with_flags(given, {}, {"log": str(log), **settings}, {}))


def settings_of(log: Path, **settings: Any) -> ReplaySettings:
    return replay_settings(resolve(log, **settings).settings)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """20 requests in 10 s."""
    path = tmp_path / "access.log"
    path.write_text(lines(20))
    return path


def test_a_log_without_virtual_hosts_has_none_to_take(log: Path) -> None:
    with pytest.raises(PlanError, match="no line of this log has a virtual host"):
        resolve(log, host="from-log")
    log.write_text("".join(f"www.test:80 {line}\n" for line in log.read_text().splitlines()))
    assert settings_of(log, host="from-log").keeps_hosts


def test_a_packed_log_is_the_log(log: Path, tmp_path: Path) -> None:
    plain = read_log(log, (), False)
    text = log.read_bytes()
    for name, packed in (
        ("whole.gz", gzip.compress(text)),
        ("members.gz", gzip.compress(text[:333]) + gzip.compress(b"") + gzip.compress(text[333:]) + b"\0" * 9),
    ):
        path = tmp_path / name
        path.write_bytes(packed)
        assert read_log(path, (), False) == plain.model_copy(update={"path": str(path)})
    assert (plain.requests, plain.different, plain.period_s, plain.per_s) == (20, 3, 10.0, 2.0)


def test_what_is_packed_otherwise_or_not_whole_is_refused(log: Path, tmp_path: Path) -> None:
    text = log.read_bytes()
    packed = gzip.compress(text)
    path = tmp_path / "log"
    for content, why in (
        (bz2.compress(text), "is packed by bzip2: unpack it"),
        (packed[:-9], "ends in the middle of its gzip part"),
        (packed[:20] + b"\xff" * 20 + packed[40:], "is not a sound gzip file"),
        (packed + b"more", "has something behind its gzip part"),
        (b"", "it has no lines"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=why):
            read_log(path, (), False)


def test_a_bomb_is_refused_before_it_has_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "PACKED_FREE", 1 << 20)
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(b"x" * (8 << 20)))
    pieces = 0
    with pytest.raises(ValueError, match="unpacks to more than 250 times its size"):
        for _ in log_module._pieces(bomb):
            pieces += 1
    assert pieces <= 2


def test_a_file_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "UNPACKED_MAX", 3 << 20)
    with pytest.raises(ValueError, match="is it the right file"):
        read_log(Path("/dev/zero"), (), False)


def test_random_bytes_are_a_log_or_a_sentence(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "spoilt"
    text = log.read_bytes()
    for size in range(1, 60):
        path.write_bytes(os.urandom(size) + text[: size * 20] + os.urandom(size))
        try:
            assert read_log(path, (), False).requests > 0
        except ValueError as error:
            assert "\n" not in str(error) and str(path) in str(error)


def test_the_length_is_the_logs_at_its_speed(log: Path) -> None:
    assert settings_of(log).length_s == 10.0
    assert settings_of(log, speed="2").length_s == 5.0
    at = settings_of(log, rate="40")
    assert (at.length_s, at.speeds, [load_step.x for load_step in at.load_steps]) == (0.5, (20.0,), [40.0])
    several = settings_of(log, speed="1,2,10", length="10s", loop=True)
    assert [load_step.x for load_step in several.load_steps] == [2.0, 4.0, 20.0]
    assert settings_of(log, length="3s").length_s == 3.0


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"speed": "1,2"}, "length: trials last as long whatever their speed: give --length, and --loop"),
        ({"speed": "2", "length": "6s"}, "length: at 2 times its speed the log is over after 5s: give --loop"),
        ({"speed": "2", "rate": "5"}, "speed: the log's pace is given by speed or by rate"),
        ({"speed": "fast"}, "'fast' is no speed"),
        ({"speed": "0"}, "speed: give different ones, all above 0, rising"),
        ({"speed": "1e9"}, "speed: at 1e[+]09 times its speed the log has"),
        ({"loop": True}, "--loop: the trial is over before the log is"),
        ({"clients": "4"}, "clients: a log says itself when each request begins"),
        ({"virtual_users": 2}, "virtual_users: "),
        ({"think": "1s"}, "think: "),
        ({"arrivals": "poisson"}, "arrivals: a log says itself"),
        ({"host": "a b"}, "host: 'a b' is no name of a host"),
        ({"http": "2"}, "http: this suite asks by HTTP/1"),
        ({"bodies": "/nowhere"}, "bodies: /nowhere/bodies.txt cannot be read"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(log: Path, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PlanError, match=sentence):
        resolve(log, **given)


def test_a_log_is_needed_and_must_be_one(tmp_path: Path, log: Path) -> None:
    bare = PlanInput("command line", {"suite": "replay"}, {}, parse_contenders(["a=http://127.0.0.1:1"]))
    with pytest.raises(PlanError, match="log: name the access log"):
        resolve_plan(bare)
    with pytest.raises(PlanError, match=r"log: .*nothing cannot be read .No such file"):
        resolve(tmp_path / "nothing")
    backwards = tmp_path / "backwards"
    backwards.write_text(lines(4) + lines(4).replace(":13:00:", ":12:00:"))
    with pytest.raises(PlanError, match="line 5 is stamped 3601 s before line 4"):
        resolve(backwards)


def test_a_run_is_of_one_log(log: Path) -> None:
    plan = resolve(log)
    assert Plan.from_dict(plan.to_dict()) == plan
    facts = replay_settings(plan.settings).log
    assert facts is not None and re.fullmatch("[0-9a-f]{64}", facts.sha256)
    log.write_text(lines(22))
    assert resolve(log).hash != plan.hash
    assert trace_of(facts, (), False)[0].is_file(), "this process has read it"
    other = facts.model_copy(update={"sha256": "0" * 64})
    with pytest.raises(PlanError, match=r"is not the log that the plan was made of .20 requests then, 22 now"):
        trace_of(other, (), False)


def test_bodies_are_read_as_their_list_says(log: Path, tmp_path: Path) -> None:
    log.write_text(lines(6, ("GET /", "POST /form?x", "PUT /form")))
    folder = tmp_path / "bodies"
    folder.mkdir()
    (folder / "a.json").write_text("{}")
    listing = folder / "bodies.txt"
    listing.write_text("# those of the form\nPOST /form a.json application/json; charset=utf-8\n\nPUT /form -\n")
    facts = settings_of(log, bodies=str(folder)).log
    assert facts is not None and facts.methods == {"GET": 2, "POST": 2, "PUT": 2} and not facts.left_out
    for text, why in (
        ("POST /form", "line 1: this is not METHOD PATH FILE TYPE"),
        ("GET / -", "GET requests have no body"),
        ("POST /form ../../etc/passwd", "name a file in"),
        ("POST /form b.json", "b.json cannot be read"),
        ("POST /form a.json a\x01b", "is no content type"),
        ("# nothing", "lists nothing"),
    ):
        listing.write_text(text + "\n")
        with pytest.raises(PlanError, match=why):
            resolve(log, bodies=str(folder))
