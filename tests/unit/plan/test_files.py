"""Every file that a plan names goes with it to other machines."""

import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.kinds import KINDS
from bakeoff.plan.input import files as plan_files
from bakeoff.plan.input.files import gathered, paths_of, placed
from bakeoff.plan.kind import plan_part
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan, with_flags
from bakeoff.plan.model import Plan
from bakeoff.plan.settings.fields import absolute_path, extra_of
from bakeoff.run.kind import run_part
from bakeoff.testdata.corpus.manifest import MANIFEST_NAME
from tests.unit.run.test_every_setting import files, named  # noqa: F401

Given = dict[str, Any]
# A value of each setting that names a file or a folder, by words of the fixture `files`, and what it needs beside it.
VALUES: dict[str, Given] = {
    "users": {"users": "USERS", "mailboxes": 3},
    "ca_file": {"ca_file": "AUTHORITY"},
    "corpus": {},
    "loadfile": {"loadfile": "LOADFILE"},
    "log": {"log": "LOG"},
    "bodies": {"log": "LOG", "bodies": "BODIES"},
    "add_header_file": {"add_header_file": "HEADERS"},
    "ssl_certificate": {"ssl_certificate": "USERS", "ssl_key": "USERS"},
    "ssl_key": {"ssl_certificate": "USERS", "ssl_key": "USERS"},
    "ssl_ca_file": {"ssl_ca_file": "AUTHORITY", "ssl_verify": "yes"},
    "ssl_ca_path": {"ssl_ca_path": "BODIES", "ssl_verify": "yes"},
}
# Settings whose files are read into the plan when it is made.
IN_THE_PLAN = {"urls", "body", "session", "icf", "weights", "arrivals"}
SECURE = {"ca_file", "ssl_certificate", "ssl_key", "ssl_ca_file", "ssl_ca_path"}
SUITES = {"web": "web-url", "mail": "mail-pop", "app": "app", "replay": "replay", "httperf": "httperf"}


def path_settings() -> list[tuple[str, str]]:
    return [
        (kind, field.alias or name)
        for kind in KINDS
        for name, field in plan_part(kind).settings.model_fields.items()
        if extra_of(field).get("path")
    ]


def made(words: dict[str, str], kind: str, key: str) -> Plan:
    address = "https://127.0.0.1:1/" if key in SECURE else "http://127.0.0.1:1/"
    if kind == "mail":
        scheme = "s" if key in SECURE else ""
        address = f"smtp{scheme}=127.0.0.1:1,pop3{scheme}=127.0.0.1:2"
    given = {name: named(words, value) if isinstance(value, str) else value for name, value in VALUES[key].items()}
    if kind == "mail":
        given = {"users": words["USERS"], "mailboxes": 3, **given}
    if kind == "replay":
        given = {"log": words["LOG"], **given}
    if kind == "web-session":
        given = {"session": words["SESSION"], **given}
    if kind.startswith("file"):
        address = words["FOLDER"]
    suite, plan = SUITES.get(kind, kind), {}
    if key == "corpus":
        suite, plan = "web-static", {"corpus": words["BODIES"]}
        (Path(words["BODIES"]) / MANIFEST_NAME).write_text("manifest")
        (Path(words["BODIES"]) / "large.html").write_text("of no interest")
    base = PlanInput("test", {"suite": suite}, {}, parse_contenders([f"a={address}"]))
    return resolve_plan(with_flags(base, plan, given, {}))


def test_every_setting_that_names_a_file_is_known_here() -> None:
    assert {key for _, key in path_settings()} == VALUES.keys() | IN_THE_PLAN
    for kind in KINDS:
        for name, field in plan_part(kind).settings.model_fields.items():
            reads = any(getattr(part, "func", None) is absolute_path for part in field.metadata)
            assert not reads or extra_of(field).get("path"), f"{kind}: {name} is a path and does not say so"


@pytest.mark.parametrize(("kind", "key"), [case for case in path_settings() if case[1] in VALUES])
def test_a_file_goes_with_the_plan_and_is_read_where_it_was_put(
    kind: str,
    key: str,
    files: dict[str, str],  # noqa: F811
    tmp_path: Path,
) -> None:
    plan = made(files, kind, key)
    before = paths_of(plan)
    field = next(n for n, f in plan_part(kind).settings.model_fields.items() if (f.alias or n) == key)
    assert field in before
    packed = gathered(plan)
    contents = {path: Path(path).read_bytes() for path in before.values() if Path(path).is_file()}
    for path in before.values():
        shutil.rmtree(path) if Path(path).is_dir() else Path(path).unlink(missing_ok=True)
    away = tmp_path / "another machine"
    moved = placed(plan.to_dict(), packed, away)
    there = paths_of(moved)
    assert there.keys() == before.keys() and all(Path(path).exists() for path in there.values())
    for name, path in before.items():
        assert path not in json.dumps(moved.settings.stored())
        if path in contents:
            assert Path(there[name]).read_bytes() == contents[path]
            assert Path(there[name]).stat().st_mode & 0o077 == 0
    if key == "corpus":
        assert [path.name for path in Path(there[field]).iterdir()] == [MANIFEST_NAME]
    else:
        run_part(kind).check(moved)


def test_a_plan_without_files_is_as_it_was() -> None:
    base = PlanInput("test", {"suite": "web-url"}, {}, parse_contenders(["a=http://127.0.0.1:1/"]))
    plan = resolve_plan(base)
    assert placed(plan.to_dict(), gathered(plan), Path("/nowhere")) == plan


def test_files_that_cannot_be_sent_are_named(
    files: dict[str, str],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = made(files, "mail", "users")
    monkeypatch.setattr(plan_files, "MOST_BYTES", 100)
    with pytest.raises(PlanError, match=r"users: .*USERS is too large to be sent to other machines"):
        gathered(plan)
    Path(files["USERS"]).unlink()
    with pytest.raises(PlanError, match=r"users: .*USERS cannot be read \(No such file"):
        gathered(plan)


@pytest.mark.parametrize("name", ["../users", "/etc/passwd", "other", "users/../../x"])
def test_nothing_is_written_but_what_the_plan_names(
    name: str,
    files: dict[str, str],  # noqa: F811
    tmp_path: Path,
) -> None:
    plan, packed = made(files, "mail", "users"), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(PlanError, match="came with the plan, which does not name it"):
        placed(plan.to_dict(), packed.getvalue(), tmp_path / "away")
    assert not (tmp_path / "away").exists()
    with pytest.raises(PlanError, match="cannot be kept"):
        placed(plan.to_dict(), b"no archive", tmp_path / "away")
