"""A report is challenged: its plan is carried out for another contender, and nothing of it is done unseen."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bakeoff.cli.app import app
from bakeoff.compare import compare_run
from bakeoff.core.errors import BakeoffError, PlanError, RunFileError
from bakeoff.plan.model import Plan
from bakeoff.report.compose import compose
from bakeoff.report.embed.embedded_data import data_of
from bakeoff.run.driver import start_run
from bakeoff.run.modes.challenge import refuse_hidden
from bakeoff.store.sqlite.read import read_run
from bakeoff.testdata.corpus.manifest import MANIFEST_NAME
from tests.told import headline_of
from tests.unit.run.fake import (
    FakeAgent,
    Notebook,
    count_lines,
    plan_for,
    result,
    serving,
    small_manifest,
    two_contenders,
)


def invoke(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@dataclass(frozen=True)
class Lab:
    """A report of a and b, of which b is gone by now, and where a third one answers."""

    folder: Path
    plan: Plan
    third: str
    log: Path

    @property
    def report(self) -> Path:
        return self.folder / "report.html"

    def challenge(self, *words: object, name: str = "c") -> Result:
        return invoke("challenge", self.report, f"{name}={self.third}", "-o", self.folder / "new.bakeoff", *words)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Made once, while the third one serves all tests."""
    folder = tmp_path_factory.mktemp("challenge")
    log = folder / "log"
    with two_contenders() as (one, three):
        with serving(dict(small_manifest()[1]) | {MANIFEST_NAME: small_manifest()[0].to_bytes()}) as two:
            plan = plan_for(one.address, two.address, resets={"a": f"echo reset >> {log}"}, plan={"blocks": 6})
            start_run(plan, folder / "first.bakeoff", [FakeAgent()], Notebook())
        assert invoke("report", folder / "first.bakeoff", "-o", folder / "report.html").exit_code == 0
        yield Lab(folder, plan, three.address, log)


@pytest.fixture
def lab(first: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Nothing was run of it yet."""
    monkeypatch.setattr("bakeoff.agents.make.make_agent", FakeAgent)
    for path in (first.log, first.folder / "new.bakeoff", first.folder / "new.html"):
        path.unlink(missing_ok=True)
    return first


def test_who_answers_is_measured_again_beside_the_challenger(lab: Lab) -> None:
    done = lab.challenge("--trust", "--report", lab.folder / "new.html")
    assert done.exit_code == 0, done.output
    run = read_run(lab.folder / "new.bakeoff")
    assert [contender.name for contender in run.contenders] == ["a", "c"]
    plans = [{**table, "contenders": None, "fleet": None} for table in (run.plan, lab.plan.to_dict())]
    assert plans[0] == plans[1]
    assert count_lines(lab.log) > 6  # before each block of a
    made = compare_run(run)
    assert made.challenge is not None and made.challenge.again == ("a",) and list(made.challenge.absent) == ["b"]
    assert made.challenge.sha256 == hashlib.sha256(lab.report.read_bytes()).hexdigest()
    assert [(one.contender, one.reference, one.over) for one in made.challenge.ratios] == [
        ("a", "a", ()),
        ("c", "b", ("a",)),
    ]
    assert all(one.ratio == pytest.approx(1.0) for one in made.challenge.ratios)
    assert made.challenge.seal == read_run(lab.folder / "first.bakeoff").seal != run.seal
    assert not made.challenge.differences and not made.challenge.other_settings
    assert (
        headline_of(made)[0].startswith("c challenges report.html: ") and "of a (95 % interval" in headline_of(made)[0]
    )
    assert headline_of(made)[-1] == "b was not measured again, so there is no verdict on b."
    assert {pair.contender for pair in made.pairs} == {"c"}
    page = (lab.folder / "new.html").read_text()
    assert "The report that is challenged" in page and "Unpaired" in page
    held = data_of("html", page.encode(), "it")
    assert held["challenged"]["comparison"] == data_of("html", lab.report.read_bytes(), "it")["comparison"]
    for runs in ([lab.folder / "new.bakeoff"], []):
        assert invoke("verify", lab.folder / "new.html", *runs).exit_code == 0
    again = invoke("challenge", lab.folder / "new.html", f"d={lab.third}", "-o", lab.folder / "d.bakeoff", "--trust")
    assert again.exit_code == 0, again.output
    assert "c challenges" in str(compare_run(read_run(lab.folder / "d.bakeoff")).challenge)


def test_alone_there_is_no_verdict(lab: Lab) -> None:
    done = lab.challenge("--rerun", "none")
    assert done.exit_code == 0, done.output
    made = compare_run(read_run(lab.folder / "new.bakeoff"))
    assert not lab.log.exists() and not made.pairs and made.challenge is not None
    assert [(one.contender, one.reference, one.over) for one in made.challenge.ratios] == [
        ("c", "a", ()),
        ("c", "b", ()),
    ]
    assert all(math.isnan(one.low) and one.ratio == pytest.approx(1.0) for one in made.challenge.ratios)
    assert headline_of(made)[0].startswith(
        "c challenges report.html alone: a and b were measured at another time, so there"
    )
    assert "no verdict. Unpaired, in " in headline_of(made)[0] and "1.00× b" in headline_of(made)[0].replace(
        "1.000×", "1.00×"
    )
    text = invoke("compare", lab.folder / "new.bakeoff", "--details").output
    assert "c ÷ b" in text and "no verdict and no interval" in " ".join(text.split())


def test_nothing_of_a_foreign_plan_is_done_without_a_word(lab: Lab) -> None:
    done = lab.challenge()
    assert isinstance(done.exception, RunFileError) and not lab.log.exists()
    message = str(done.exception)
    assert f"echo reset >> {lab.log}" in message and lab.plan.contenders[1].address in message and "--trust" in message
    assert not (lab.folder / "new.bakeoff").exists()
    assert isinstance(lab.challenge("--rerun", "a").exception, RunFileError) and not lab.log.exists()


@pytest.mark.parametrize(
    ("words", "name", "why"),
    [
        (["--rerun", "x"], "c", "no contender 'x'"),
        (["--rerun", "a,none"], "c", "stands alone"),
        ([], "a", "has a contender 'a' already"),
        ([], "c:files", "c:files=… is for no suite of"),
        (["--rerun", "b", "--trust"], "c", "127.0.0.1"),
    ],
)
def test_what_cannot_be_is_one_sentence(lab: Lab, words: list[str], name: str, why: str) -> None:
    done = lab.challenge(*words, name=name)
    assert isinstance(done.exception, BakeoffError) and why in str(done.exception), done.output
    assert not (lab.folder / "new.bakeoff").exists()


def test_its_run_file_is_challenged_as_well_and_by_who_began_it_without_asking(lab: Lab) -> None:
    words = ("challenge", lab.folder / "first.bakeoff", f"c={lab.third}", "-o", lab.folder / "new.bakeoff")
    assert invoke(*words).exit_code == 0 and count_lines(lab.log) > 6


def test_a_slower_machine_shows_in_those_who_were_measured_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = FakeAgent(lambda spec: result(spec.load.clients, operations=250))
    monkeypatch.setattr("bakeoff.agents.make.make_agent", lambda: slow)
    assert lab.challenge("--trust").exit_code == 0
    run = read_run(lab.folder / "new.bakeoff")
    text = str(compose(run, compare_run(run)).sections)
    assert "Measured again, a is 0.50" in text and "of what it was" in text
    found = compare_run(run).challenge
    assert found is not None and [one.ratio for one in found.ratios] == pytest.approx(
        [0.5, 1.0]
    )  # over a, which is slower


def test_a_report_that_was_changed_says_nothing_of_other_settings(lab: Lab) -> None:
    """Whoever writes a run file can write into it what it challenges; what is told of the plan is compared."""
    run = read_run(lab.folder / "first.bakeoff")
    data = dict(data_of("html", lab.report.read_bytes(), "it"))
    data["plan"] = {**data["plan"], "settings": {**data["plan"]["settings"], "length_s": 99.0}}
    challenges = {"report": "r.html", "challenger": "b", "contenders": ["a"], "data": data}
    run.environment["challenges"] = challenges
    made = compare_run(run).challenge
    assert made is not None and made.other_settings == ("settings.length_s",)
    run.environment["challenges"] = {**challenges, "data": {"comparison": []}}
    assert compare_run(run).challenge is None


def test_what_a_report_hides_is_asked_for() -> None:
    refuse_hidden({"settings": {"length_s": 1.0}}, "r.html", "run file")
    for plan in ({"settings": {"basic_auth": "(hidden)"}}, {"settings": {"header": ["Cookie: (hidden)"]}}):
        with pytest.raises(PlanError, match=r"r\.html does not hold settings\.\w+, which may be secret"):
            refuse_hidden(plan, "r.html", "run file")
    with pytest.raises(PlanError, match=r"r\.html does not hold contenders\.reset"):
        refuse_hidden({"contenders": [{"reset": "mysql --password (hidden) < load.sql"}]}, "r.html", "run file")


def page(**data: object) -> bytes:
    scripts = "".join(
        f'<script type="application/json" id="bakeoff-{name}">{value if isinstance(value, str) else json.dumps(value)}'
        "</script>"
        for name, value in data.items()
    )
    return f"<html><body>{scripts}</body></html>".encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html></html>",
        b"\xff\xfe\x00" * 1000,
        page(plan="{"),
        page(plan="[" * 100_000),
        page(plan={}),
        page(plan=[]),
        page(plan={"format": 2}),
        page(plan={"format": 2, "kind": "nothing", "settings": {}}),
        page(plan='{"delta": 1e999}'),
        page(plan='{"seed": ' + "9" * 5000 + "}"),
        page(plan='{"name": "\\ud800"}'),
        page(plan='{"delta": NaN}'),
        page(campaign={}, plan={"format": 2}),
    ],
)
def test_whatever_calls_itself_a_report_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "it.html").write_bytes(content)
    done = invoke("challenge", tmp_path / "it.html", "c=http://127.0.0.1:1/", "-o", tmp_path / "n.bakeoff", "--trust")
    assert isinstance(done.exception, BakeoffError) and not (tmp_path / "n.bakeoff").exists()
    assert len(str(done.exception)) < 600
