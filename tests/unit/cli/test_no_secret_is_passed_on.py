"""Secrets planted in every place of a plan and a run: nothing that is printed, exported or published has them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.formats.exporters import EXPORTERS
from bakeoff.report.embed.document_words import content_of
from bakeoff.report.embed.embedded_runs import _unpacked
from bakeoff.store.records.run_records import EventRecord
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import stored

PLACES = {
    "address": "http://127.0.0.1/?token=planted1",
    "reset": "curl -u admin:planted2 http://127.0.0.1/reset; mysql -u root -pplanted3 -e 'truncate t'",
    "headers": ["X-Session: planted4", "Authorization: Bearer planted5aaaaaaaaaa"],
    "urls": [{"weight": 1.0, "path": "/a?sig=planted6"}],
    "cookie": "id=planted7",
    "basic_auth": "me:planted8",
    "fact": {"url": "http://127.0.0.1/a?api_key=planted9"},
    "event": "http://127.0.0.1/b?access_token=planted10 answered 500",
    "reason": "GET /c?session=planted11 failed",
    "operation": "/d?password=planted12",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    record = run(blocks=6, load_steps=(1, 4))
    plan = json.loads(json.dumps(record.plan)) | {"cookie": PLACES["cookie"], "basic_auth": PLACES["basic_auth"]}
    plan["settings"] = {**plan.get("settings", {}), "headers": PLACES["headers"], "urls": PLACES["urls"]}
    first, *others = record.contenders
    trials = [
        replace(one, per_operation=tuple(replace(each, name=PLACES["operation"]) for each in one.per_operation[:1]))
        for one in record.trials
    ]
    trials[0] = replace(trials[0], state="failed", reason=PLACES["reason"])
    changed = replace(
        record,
        plan=plan,
        contenders=(replace(first, address=PLACES["address"], reset=PLACES["reset"]), *others),
        environment={**record.environment, "content": {first.name: PLACES["fact"]}},
        events=(EventRecord("2026-11-20T10:00:00.000+00:00", "warning", PLACES["event"], None),),
        trials=tuple(trials),
    )
    return stored(changed, tmp_path / "run.bakeoff")


def printed(*words: str) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code in (0, 4), (words, done.output, done.exception)
    return done.output


def test_the_run_file_itself_has_them(path: Path) -> None:
    data = path.read_bytes()
    assert all(f"planted{number}".encode() in data for number in range(1, 13))


@pytest.mark.parametrize("ending", ["html", "md", "txt"])
def test_reports(path: Path, ending: str, tmp_path: Path) -> None:
    report = tmp_path / f"report.{ending}"
    printed("report", str(path), "-o", str(report))
    assert "planted" not in report.read_text()
    if ending == "html":
        rows = content_of("html", report.read_bytes()).inside.rows
        assert rows and b"planted" not in _unpacked(rows, "report.html")


@pytest.mark.parametrize("words", [["show"], ["show", "--json"], ["compare"], ["compare", "--json"]])
def test_prints(path: Path, words: list[str]) -> None:
    assert "planted" not in printed(words[0], str(path), *words[1:])


OF_OTHER_RUNS = ("lost-messages", "iometer-csv", "iozone")


@pytest.mark.parametrize("name", [n for n, one in EXPORTERS.items() if not one.several and n not in OF_OTHER_RUNS])
def test_exports(path: Path, name: str, tmp_path: Path) -> None:
    made, kept = tmp_path / "made", tmp_path / "kept"
    printed("export", str(path), "--to", name, "-o", str(made))
    assert b"planted" not in made.read_bytes()
    printed("export", str(path), "--to", name, "-o", str(kept), "--with-secrets")
    if name == "json":
        assert b"planted1" in kept.read_bytes() and b"planted2" in kept.read_bytes()
