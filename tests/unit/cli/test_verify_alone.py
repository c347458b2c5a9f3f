"""A report is computed again from what it holds itself: whatever was changed in it is found without its run file."""

from __future__ import annotations

import base64
import hashlib
import json
import lzma
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.core.errors import BakeoffError
from bakeoff.report.embed.packing import script_of, text_of
from bakeoff.store.collections.campaign import StoredCampaign, StoredSuiteRun, write_campaign
from bakeoff.store.records.run_records import RunRecord
from bakeoff.store.sqlite.canonical import plan_hash
from tests.unit.compare.synthetic import Server, change, run
from tests.unit.compare.test_noise import aa
from tests.unit.store.builders import stored

PAPER = '[paper]\nsummary = "On web: {ratio suite=web contender=apache}, password=planted."\n'
NOTE = "2026-11-21: new driver, run again"


def run_verb(*words: object) -> tuple[int, str]:
    """Exit code and output of a command line; of a refusal its sentence."""
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(word) for word in words])
    if isinstance(done.exception, BakeoffError):
        return 2, str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def campaign(folder: Path) -> Path:
    """Two suites that were measured, and one that could not start."""
    folder.mkdir()
    runs = {"web": run(load_steps=(4,)), "other": run(load_steps=(4,), seed=2)}
    suite_runs = tuple(
        StoredSuiteRun(name=name, file=f"{name}.bakeoff", weight=1.0, plan=(runs.get(name) or runs["web"]).plan)
        for name in ("web", "other", "mail")
    )
    names = ("nginx", "apache")
    write_campaign(
        folder, StoredCampaign(format=1, name="lab", title="Lab", seed=1, contenders=names, suite_runs=suite_runs)
    )
    (folder / "faults.json").write_text('{"mail": "nothing answers"}')
    for name, one in runs.items():
        stored(replace(one, plan_hash=plan_hash(one.plan)), folder / f"{name}.bakeoff")
    return folder


def again(record: RunRecord, day: int) -> RunRecord:
    return replace(record, created_at=f"2026-11-2{day}T10:00:00.000+00:00")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run files of several sorts, and reports of them."""
    place = tmp_path_factory.mktemp("alone")
    stored(run(window_s=24.0, load_steps=(4,)), place / "demo.bakeoff")
    few = Server("qube", 30_000.0, 0.12), Server("raq", 40_000.0, 0.1), Server("zeus", 20_000.0, 0.1)
    stored(again(run(few, (4,), window_s=2.0), 1), place / "monday.bakeoff")
    stored(again(run(few[:2], (4,), window_s=2.0, seed=2), 2), place / "tuesday.bakeoff")
    broken = change(run(few[:2], (4,), window_s=2.0, seed=3), "qube", 4, None, state="failed", reason="crashed")
    stored(again(broken, 3), place / "broken.bakeoff")
    other = replace(run(load_steps=(4,), window_s=2.0, seed=4), suite="web-dynamic")
    stored(other, place / "dynamic.bakeoff")
    (place / "paper.toml").write_text(PAPER)
    campaign(place / "lab.bakeoff")
    sorts: dict[str, tuple[object, ...]] = {
        "demo.html": ("demo.bakeoff",),
        "demo.pdf": ("demo.bakeoff", "--brief"),
        "pair.html": ("monday.bakeoff", "--pair", "raq,zeus", "--baseline", "raq", "--delta", "2%"),
        "several.html": (
            "broken.bakeoff", place / "tuesday.bakeoff", "--failed-run", place / "broken.bakeoff", "--note", NOTE,
        ),
        "suites.html": ("demo.bakeoff", place / "dynamic.bakeoff", "--brief"),
        "campaign.html": ("lab.bakeoff",),
        "campaign.pdf": ("lab.bakeoff", "--brief", "--paper", place / "paper.toml"),
        "demo.md": ("demo.bakeoff",),
    }  # fmt: skip
    for name, (first, *words) in sorts.items():
        code, out = run_verb("report", place / str(first), *words, "-o", place / name)
        assert code == 0, (name, out)
    return place


SORTS = ("demo", "pair", "several", "suites", "campaign")


@pytest.mark.parametrize("name", [*(f"{sort}.html" for sort in SORTS), "demo.pdf", "campaign.pdf"])
def test_an_untouched_report_follows_from_what_it_holds(lab: Path, tmp_path: Path, name: str) -> None:
    """Wherever it is: no file of those that it was made of is there."""
    (tmp_path / name).write_bytes((lab / name).read_bytes())
    code, out = run_verb("verify", tmp_path / name)
    assert code == 0 and "trials that it holds" in out and "seal " in out and "signature (--signed-by) proves" in out, (
        out
    )
    assert ("Statements of its author" in out) == (name == "campaign.pdf")


def test_text_says_that_it_needs_its_run_and_without_its_flags_also_these(lab: Path, tmp_path: Path) -> None:
    code, sentence = run_verb("verify", lab / "demo.md")
    assert code == 2 and "needs its run file" in sentence
    assert run_verb("verify", lab / "demo.md", lab / "demo.bakeoff")[0] == 0
    text = tmp_path / "demo.txt"
    assert run_verb("report", lab / "demo.bakeoff", "--note", NOTE, "-o", text)[0] == 0
    assert run_verb("verify", text, lab / "demo.bakeoff")[0] == 0
    text.write_text("\n".join(text.read_text().splitlines()[:-1]))
    code, out = run_verb("verify", text, lab / "demo.bakeoff")
    assert code == 1 and "name what it was made with" in out and "--paper" in out


def rows_of(page: str) -> Any:
    """What a page holds of its runs."""
    return json.loads(lzma.decompress(base64.b64decode(data_of(page, "runs"))))


def data_of(page: str, name: str) -> Any:
    found = _script(page, name)
    return json.loads(text_of(found[1], found[2]))


def _script(page: str, name: str) -> re.Match[str]:
    found = re.search(rf'<script type="([^"]*)" id="bakeoff-{name}">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return found


def with_data(page: str, name: str, value: Any) -> str:
    """The page with other data under a name."""
    type_, content = script_of(value)
    old = _script(page, name)
    return f'{page[: old.start()]}<script type="{type_}" id="bakeoff-{name}">{content}</script>{page[old.end() :]}'


def with_rows(page: str, given: Any, known: bool) -> str:
    """The page with other rows; with their hash where they are to pass for those that it is `known` by."""
    text = json.dumps(given, separators=(",", ":")).encode()
    page = with_data(page, "runs", base64.b64encode(lzma.compress(text)).decode())
    about = data_of(page, "embedded")
    return with_data(page, "embedded", {**about, "sha256": hashlib.sha256(text).hexdigest()}) if known else page


def cell(table: str, column: str, value: Callable[[Any], Any], known: bool = True) -> Callable[[str], str]:
    """Changes all values of a column of the rows."""

    def changed(page: str) -> str:
        observed = rows_of(page)
        values = observed["files"][0]["tables"][table][column]
        values[:] = map(value, values)
        return with_rows(page, observed, known)

    return changed


def datum(page: str) -> str:
    comparison = data_of(page, "comparison")
    comparison["pairs"][0]["primary"]["ratio"] *= 1.01
    return with_data(page, "comparison", comparison)


def point(page: str) -> str:
    at = page.index(' d="M', page.index("<svg")) + 5
    return page[:at] + ("9" if page[at] != "9" else "8") + page[at + 1 :]


MUTATIONS: dict[str, Callable[[str], str]] = {
    "a number in the text": lambda page: page.replace("0.80×", "1.80×", 1),
    "a word": lambda page: page.replace("nginx", "Nginx", 1),
    "a point of a drawing": point,
    "a datum of the comparison": datum,
    "a datum of a drawing": lambda page: with_data(page, "charts", {}),
    "a setting of the plan": lambda page: with_data(page, "plan", {**data_of(page, "plan"), "delta": 0.5}),
    "the seal": lambda page: with_data(page, "measured", {**data_of(page, "measured"), "seal": "0" * 64}),
    "a rate of a trial": cell("trials", "operations_per_s", lambda value: value * 1.01),
    "the operations of a client": cell("clients", "operations", lambda value: value + 1),
    "a second": cell("seconds", "operations", lambda value: value * 2),
    "a response time": cell("trials", "service_p99_ns", lambda value: (value or 0) + 1_000_000),
    "who was measured": cell("planned", "contender", lambda value: "apache" if value == "nginx" else "nginx"),
    "whether it counts": cell("trials", "state", lambda value: "voided"),
    "what no number is made of": cell("planned", "seed", lambda value: value + 1, known=False),
    "what is said of them": lambda page: with_data(page, "embedded", {**data_of(page, "embedded"), "trials": 1}),
    "data that were added": lambda page: page.replace("</body>", '<script id="bakeoff-x">1</script></body>'),
    "rows that were added": lambda page: page.replace("</body>", f"{_script(page, 'runs')[0]}</body>"),
}


@pytest.mark.parametrize("what", MUTATIONS)
def test_whatever_is_changed_is_found(lab: Path, tmp_path: Path, what: str) -> None:
    page = (lab / "demo.html").read_text()
    changed = MUTATIONS[what](page)
    assert changed != page
    (tmp_path / "demo.html").write_text(changed)
    code, out = run_verb("verify", tmp_path / "demo.html")
    assert code == 1 and "difference" in out, (code, out)


def test_a_pdf_whose_trials_are_others_is_found(lab: Path, tmp_path: Path) -> None:
    """Its attachment was changed, and its pages were not."""
    document = pypdfium2.PdfDocument(lab / "demo.pdf")
    attached = document.get_attachment(0)
    data = json.loads(bytes(attached.get_data()))
    rows = json.loads(lzma.decompress(base64.b64decode(data["runs"])))
    values = rows["files"][0]["tables"]["trials"]["operations_per_s"]
    values[1] *= 1.5
    text = json.dumps(rows, separators=(",", ":")).encode()
    data["runs"] = base64.b64encode(lzma.compress(text)).decode()
    data["embedded"]["sha256"] = hashlib.sha256(text).hexdigest()
    attached.set_data(json.dumps(data, ensure_ascii=False).encode())
    document.save(tmp_path / "demo.pdf")
    code, out = run_verb("verify", tmp_path / "demo.pdf")
    assert code == 1 and "difference" in out


def test_who_changes_all_of_it_alike_is_found_by_the_run_file_alone(lab: Path, tmp_path: Path) -> None:
    """The limit that the help tells: figures that follow from trials which nobody measured."""
    stored(run(window_s=24.0, load_steps=(4,), seed=9), tmp_path / "demo.bakeoff")
    assert run_verb("report", tmp_path / "demo.bakeoff", "-o", tmp_path / "demo.html")[0] == 0
    code, out = run_verb("verify", tmp_path / "demo.html")
    assert code == 0 and "Whether these trials were measured, the run file (demo.bakeoff, seal" in out
    assert run_verb("verify", tmp_path / "demo.html", lab / "demo.bakeoff")[0] == 1


SECRETS = ("planted1", "planted2", "planted3", "planted4", "planted5", "planted6")


def with_secrets(record: RunRecord, other: str) -> RunRecord:
    """A run with a secret wherever people put them."""
    settings = {**record.plan["settings"], "basic_auth": other, "headers": [f"Cookie: {SECRETS[1]}"]}
    plan = {**record.plan, "settings": settings}
    first, *others = record.contenders
    return replace(
        record,
        plan=plan,
        plan_hash=plan_hash(plan),
        contenders=(replace(first, reset=f"mysql --password {SECRETS[2]}"), *others),
        environment={**record.environment, "api_token": SECRETS[3]},
        events=tuple(replace(one, text=f"{one.text} password={SECRETS[4]}") for one in record.events),
        trials=(
            replace(record.trials[0], state="voided", reason=f"refused http://u:{SECRETS[5]}@h/"), *record.trials[1:],
        ),
    )  # fmt: skip


@pytest.mark.parametrize("form", ["html", "pdf"])
def test_what_a_report_hides_is_not_in_what_it_holds(tmp_path: Path, form: str) -> None:
    """Also where two files differ by secrets alone, of which it is told that they differ."""
    small = run(load_steps=(1, 4), blocks=2, window_s=2.0)
    stored(with_secrets(small, SECRETS[0]), tmp_path / "a.bakeoff")
    stored(again(with_secrets(small, "planted7"), 2), tmp_path / "b.bakeoff")
    report = tmp_path / f"r.{form}"
    assert run_verb("report", tmp_path / "a.bakeoff", tmp_path / "b.bakeoff", "-o", report)[0] == 0
    if form == "html":
        whole = report.read_text() + json.dumps(rows_of(report.read_text()))
        assert "set, not shown" in whole
    else:
        data = bytes(pypdfium2.PdfDocument(report).get_attachment(0).get_data()).decode()
        whole = data + lzma.decompress(base64.b64decode(json.loads(data)["runs"])).decode()
    assert "(hidden" in whole and not [secret for secret in (*SECRETS, "planted7") if secret in whole]
    code, out = run_verb("verify", report)
    assert code == 0, out


def test_a_run_that_is_too_large_is_left_out_and_said_to_be(
    lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bakeoff.report.embed.embedded_runs.MOST_CHARACTERS", 1_000)
    report = tmp_path / "large.html"
    assert run_verb("report", lab / "demo.bakeoff", "-o", report)[0] == 0
    code, sentence = run_verb("verify", report)
    assert code == 2 and "needs its run file" in sentence and "at most" in sentence
    assert run_verb("verify", report, lab / "demo.bakeoff")[0] == 0


def test_a_noise_floor_is_computed_again_from_the_run_that_the_report_holds(lab: Path, tmp_path: Path) -> None:
    floor, report = stored(aa(), tmp_path / "floor.bakeoff"), tmp_path / "quoted.html"
    assert run_verb("report", lab / "demo.bakeoff", "-o", report, "--aa", floor)[0] == 0
    floor.rename(tmp_path / "elsewhere.bakeoff")
    code, out = run_verb("verify", report)
    assert code == 0 and "demo.bakeoff, seal" in out and "floor.bakeoff, seal" in out, out
    assert run_verb("verify", report, lab / "demo.bakeoff")[0] == 0
    (tmp_path / "elsewhere.bakeoff").rename(floor)
    assert run_verb("verify", report, lab / "demo.bakeoff", "--aa", floor)[0] == 0
    assert run_verb("verify", report, "--aa", stored(aa(spread=0.05), tmp_path / "other.bakeoff"))[0] == 1


def test_a_noise_floor_that_was_changed_is_found(lab: Path, tmp_path: Path) -> None:
    """Together with all that is made of it: the trials of the A/A run give another."""
    floor, report = stored(aa(), tmp_path / "floor.bakeoff"), tmp_path / "quoted.html"
    assert run_verb("report", lab / "demo.bakeoff", "-o", report, "--aa", floor)[0] == 0
    (tmp_path / "better").mkdir()
    better = stored(aa(spread=0.002), tmp_path / "better" / "floor.bakeoff")
    nicer = tmp_path / "nicer.html"
    assert run_verb("report", lab / "demo.bakeoff", "-o", nicer, "--aa", better)[0] == 0
    page, own = nicer.read_text(), rows_of(report.read_text())
    (tmp_path / "mixed.html").write_text(with_rows(page, own, True))
    assert run_verb("verify", tmp_path / "mixed.html")[0] == 1
    assert run_verb("verify", tmp_path / "mixed.html", lab / "demo.bakeoff")[0] == 1
    without = {name: value for name, value in own.items() if name != "aa"}
    (tmp_path / "bare.html").write_text(with_rows(page, without, True))
    code, out = run_verb("verify", tmp_path / "bare.html")
    assert code == 2 and "name that A/A run by --aa" in out


def test_a_page_without_room_for_the_aa_run_says_that_it_takes_it(
    lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor, report = stored(aa(), tmp_path / "floor.bakeoff"), tmp_path / "quoted.html"
    assert run_verb("report", lab / "demo.bakeoff", "-o", report)[0] == 0
    most = len(data_of(report.read_text(), "runs"))
    monkeypatch.setattr("bakeoff.report.embed.embedded_runs.MOST_CHARACTERS", most)
    assert run_verb("report", lab / "demo.bakeoff", "-o", report, "--aa", floor, "--force")[0] == 0
    code, out = run_verb("verify", report)
    assert code == 2 and "name that A/A run by --aa" in out
    assert run_verb("verify", report, "--aa", floor)[0] == 0
    assert run_verb("verify", report, lab / "demo.bakeoff", "--aa", floor)[0] == 0


def test_the_pdf_of_a_campaign_holds_what_it_quotes(lab: Path, tmp_path: Path) -> None:
    floor, report = stored(aa(), tmp_path / "floor.bakeoff"), tmp_path / "lab.pdf"
    assert run_verb("report", lab / "lab.bakeoff", "--brief", "-o", report, "--aa", floor)[0] == 0
    floor.unlink()
    code, out = run_verb("verify", report)
    assert code == 0 and "floor.bakeoff, seal" in out, out
