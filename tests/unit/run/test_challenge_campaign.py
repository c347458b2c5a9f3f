"""A report on a campaign is challenged: all suites for which there is an address, and nothing is dropped silently."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bakeoff.agents.spec import TrialSpec
from bakeoff.cli.app import app
from bakeoff.compare.collections.campaign import compare_folder
from bakeoff.compare.collections.campaign_model import CampaignComparison, NotBothIn
from bakeoff.compare.collections.challenge_model import NoFigures
from bakeoff.core.errors import BakeoffError, PlanError, RunFileError
from bakeoff.plan.campaign import Campaign, SuiteRun
from bakeoff.plan.load import PlanInput, resolve_plan
from bakeoff.report.embed.embedded_data import data_of
from bakeoff.run.modes.campaign import start_campaign
from bakeoff.run.modes.challenge import challenger
from bakeoff.run.modes.challenged_report import report_to_challenge
from bakeoff.store.collections.campaign import CHALLENGED, read_campaign_folder
from bakeoff.store.sqlite.read import read_run
from bakeoff.testdata.corpus.manifest import MANIFEST_NAME
from tests.told import headline_of
from tests.unit.run.fake import (
    FakeAgent,
    Notebook,
    count_lines,
    plan_for,
    serving,
    small_manifest,
    two_contenders,
)

BLOCKS = 2


def invoke(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def words_of(done: Result) -> str:
    return " ".join(done.output.split())


@dataclass(frozen=True)
class Lab:
    """A report on a campaign of a and b under two suites; b is gone by now from the second, and a third one answers."""

    folder: Path
    third: str

    @property
    def report(self) -> Path:
        return self.folder / "paper.html"

    @property
    def new(self) -> Path:
        return self.folder / "new.bakeoff"

    def challenge(self, *words: object) -> Result:
        return invoke("challenge", self.report, f"c:web={self.third}", "-o", self.new, *words)

    def compared(self) -> CampaignComparison:
        return compare_folder(read_campaign_folder(self.new))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("challenge")
    with two_contenders() as (one, three):
        with serving(dict(small_manifest()[1]) | {MANIFEST_NAME: small_manifest()[0].to_bytes()}) as two:
            resets = {"a": f"echo reset >> {folder / 'log'}"}
            plans = plan_for(one.address, three.address), plan_for(one.address, two.address, resets=resets)
            suite_runs = tuple(
                SuiteRun(name, plan.model_copy(update={"blocks": BLOCKS}), weight)
                for name, plan, weight in zip(("near", "far"), plans, (1.0, 2.0), strict=True)
            )
            campaign = Campaign("lab", "Two boxes", 1, ("a", "b"), suite_runs)
            start_campaign(campaign, folder / "lab.bakeoff", lambda plan: [FakeAgent()], Notebook(), str)
        assert invoke("report", folder / "lab.bakeoff", "-o", folder / "paper.html", "--brief").exit_code == 0
        yield Lab(folder, three.address)


@pytest.fixture
def lab(first: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Nothing was run of it yet."""
    monkeypatch.setattr("bakeoff.agents.make.make_agent", FakeAgent)
    for path in (*first.new.glob("*"), first.folder / "new.html", first.folder / "log"):
        path.unlink(missing_ok=True)
    if first.new.exists():
        first.new.rmdir()
    return first


def test_all_suites_are_run_beside_those_who_answer(lab: Lab) -> None:
    done = lab.challenge("--trust", "--report", lab.folder / "new.html")
    assert done.exit_code == 0, done.output
    assert count_lines(lab.folder / "log") > BLOCKS, "before each block of a in the suite that says so"
    assert "far: b is left out: " in done.output and "near: c is measured beside a and b" in done.output
    runs = read_campaign_folder(lab.new).runs
    assert {name: [c.name for c in run.contenders] for name, run in runs.items()} == {
        "near": ["a", "b", "c"],
        "far": ["a", "c"],
    }
    made = lab.compared()
    assert [(suite.name, suite.weight) for suite in made.suites] == [("near", 1.0), ("far", 2.0)]
    assert made.title == "Two boxes: challenged by c" and made.challenge is not None
    assert made.challenge.again == ("a",) and made.challenge.absent == {"b": ("far",)}
    lead = headline_of(made)[0]
    assert lead.startswith("c challenges paper.html: over 2 suites ") and "as good as a" in lead
    assert (
        "c challenges paper.html in all of its suites, beside a; b was not measured again in far, so there is no "
        "verdict on b there."
    ) in headline_of(made)
    near, far = (suite.comparison for suite in made.suites)
    assert near is not None and far is not None and near.challenge is not None and far.challenge is not None
    assert [(one.contender, one.reference, one.over) for one in far.challenge.ratios] == [
        ("a", "a", ()),
        ("c", "b", ("a",)),
    ]
    assert all(one.ratio == pytest.approx(1.0) for one in far.challenge.ratios)
    assert all("c" not in pair.winner for pair in made.overall if pair.winner)
    page = (lab.folder / "new.html").read_text()
    assert "The challenge, suite by suite" in page and "The report that is challenged" in page
    assert len(page) < 2_000_000
    for runs in ([lab.new], []):
        assert invoke("verify", lab.folder / "new.html", *runs).exit_code == 0
    assert "resume" not in done.output and invoke("resume", lab.new).exit_code == 0


def test_its_folder_and_its_challenge_are_challenged_as_well(lab: Lab) -> None:
    """Of a folder that was started here nobody is asked; data of the whole chain stay readable."""
    words = ("challenge", lab.folder / "lab.bakeoff", f"c:web={lab.third}", "-o", lab.new)
    assert invoke(*words, "--rerun", "none").exit_code == 0
    assert invoke("report", lab.new, "-o", lab.folder / "new.html", "--brief").exit_code == 0
    other = lab.folder / "other.bakeoff"
    done = invoke("challenge", lab.folder / "new.html", f"d={lab.third}", "-o", other, "--trust")
    assert done.exit_code == 0, done.output
    assert [c.name for c in read_run(other / "01-near.bakeoff").contenders] == ["c", "d"]


def test_alone_in_every_suite_there_is_no_verdict(lab: Lab) -> None:
    done = lab.challenge("--rerun", "none")
    made = lab.compared()
    assert done.exit_code == 0 and not made.verdicts and made.winner is None, "as of a single run"
    assert (
        "c was measured alone" in headline_of(made)[1]
        and "with none of its contenders measured again" in headline_of(made)[0]
        and "no verdict on a" in headline_of(made)[0]
    )
    ratios = [
        one
        for suite in made.suites
        if suite.comparison and suite.comparison.challenge
        for one in suite.comparison.challenge.ratios
    ]
    assert len(ratios) == 4 and all(one.low != one.low for one in ratios)


def test_nothing_of_foreign_plans_is_done_without_a_word(lab: Lab) -> None:
    done = lab.challenge()
    assert isinstance(done.exception, RunFileError) and not lab.new.exists()
    message = str(done.exception)
    assert "(contender a)" in message and "(contender b)" in message and "--trust" in message
    assert f"echo reset >> {lab.folder / 'log'}" in message and not (lab.folder / "log").exists()
    assert message.count("(contender a)") == 1, "what several suites do alike is told once"


def test_who_is_gone_from_a_suite_is_missing_there_and_said(lab: Lab) -> None:
    done = lab.challenge("--rerun", "b", "--trust")  # b is gone from the second suite
    assert done.exit_code == 4 and "b is missing from this run" in done.output and "put aside" not in done.output
    made = lab.compared()
    assert made.winner is None and {place.first for place in made.places} == {None}
    assert headline_of(made)[0].startswith("b could not be measured in far, which runs without it: ")
    assert [suite.dead for suite in made.suites] == [(), ("b",)]
    assert "; b was not measured again in far, so there is no verdict on b there" in " ".join(headline_of(made))
    far = made.suites[1].comparison
    assert far is not None and far.challenge is not None and set(far.challenge.absent) == {"a", "b"}


def test_a_suite_in_which_nobody_is_left_is_put_aside_and_said(lab: Lab) -> None:
    done = replace(lab, third="http://127.0.0.1:1").challenge("--rerun", "b", "--trust")
    assert done.exit_code in (3, 4) and "far is put aside" in done.output
    made = lab.compared()
    assert made.winner is None
    assert (
        "c was to challenge paper.html and was measured in none of its suites; near has no figures of c and far has no "
        "figures of c, so there is no verdict over all suites."
    ) in headline_of(made)
    near = made.suites[0].comparison
    assert near is not None and "c was to challenge paper.html and could not be measured" in headline_of(near)[0]
    assert headline_of(made)[0].startswith("c could not be measured in near, which runs without it: ")


def test_it_goes_on_where_it_was_stopped_with_what_it_challenges(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(spec: TrialSpec, number: int) -> None:
        raise KeyboardInterrupt

    stopping = FakeAgent(before=stop)
    monkeypatch.setattr("bakeoff.agents.make.make_agent", lambda: stopping)
    done = lab.challenge("--trust", "--rerun", "a", "--report", lab.folder / "new.html")
    assert done.exit_code == 130 and "bakeoff resume" in done.output and not (lab.folder / "new.html").exists()
    assert not all((lab.new / name).exists() for name in ("01-near.bakeoff", "02-far.bakeoff"))
    monkeypatch.setattr("bakeoff.agents.make.make_agent", FakeAgent)
    again = invoke("resume", lab.new)
    assert again.exit_code == 0, again.output
    made = lab.compared()
    assert all(s.comparison and s.comparison.run.blocks_measured == BLOCKS for s in made.suites)
    assert all(s.comparison and s.comparison.challenge for s in made.suites) and made.challenge is not None


def test_what_is_challenged_cannot_be_exchanged_or_taken_away(lab: Lab) -> None:
    assert lab.challenge("--trust", "--rerun", "a").exit_code == 0
    held = lab.new / CHALLENGED
    whole, planned = held.read_text(), (lab.new / "campaign.json").read_text()
    held.write_text(whole.replace("Two boxes", "Too boxes"))
    assert "is not what" in str(invoke("compare", lab.new).exception)
    held.unlink()
    assert isinstance(invoke("compare", lab.new).exception, RunFileError)
    stored = json.loads(planned)
    del stored["challenges"]
    (lab.new / "campaign.json").write_text(json.dumps(stored))
    assert "is not the run" in str(invoke("compare", lab.new).exception), "a campaign that hides what it challenges"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["c=http://h/", "c:web=http://h/"], "c has two addresses for web"),
        (["c=http://h/", "d=http://h/"], "two addresses without a sort|cannot challenge together"),
        (["c:web=http://h/", "d:web=http://h/"], "two addresses|cannot challenge together"),
        (["c:web=http://h/", "c:web=http://i/"], "c has two addresses for web"),
        (["c:files=/tmp"], "c:files=… is for no suite of"),
        (["c:=http://h/"], "is not a contender: write NAME=ADDRESS"),
        (["c:web"], "is not a contender: write NAME=ADDRESS"),
        (["a:web=http://h/"], "has a contender 'a' already"),
        (["c:web=/tmp"], "http"),
        (["c:web=http://h/", "--rerun", "x"], "no contender 'x'"),
        (["c:web=http://h/", "--settings-of", "x"], "--settings-of: the report has no contender 'x'"),
    ],
)
def test_what_cannot_be_is_one_sentence(lab: Lab, words: list[str], why: str) -> None:
    done = invoke("challenge", lab.report, *words, "-o", lab.new, "--trust")
    assert isinstance(done.exception, BakeoffError), done.output
    assert any(each in str(done.exception) for each in why.split("|")), str(done.exception)
    assert not lab.new.exists()


@pytest.mark.parametrize("name", ["paper.md", "paper.txt"])
def test_reports_without_a_plan_say_what_to_name(lab: Lab, name: str) -> None:
    assert invoke("report", lab.folder / "lab.bakeoff", "-o", lab.folder / name, "--force").exit_code == 0
    done = invoke("challenge", lab.folder / name, f"c:web={lab.third}", "-o", lab.new)
    assert isinstance(done.exception, PlanError) and "holds no plan" in str(done.exception)
    assert "name the same report as .html or .pdf, its run file, or the folder of its campaign" in str(done.exception)


def held(lab: Lab) -> dict[str, Any]:
    return json.loads(json.dumps(data_of("html", lab.report.read_bytes(), "it")))


def test_a_suite_without_an_address_is_a_suite_that_was_not_won(lab: Lab) -> None:
    """Or one of which the report has no plan: who stays away from a suite cannot win by the others."""
    data = held(lab)
    del data["plan-2"]
    data["campaign"]["suites"][1] |= {"comparison": None, "missing": "put aside: b was gone"}
    page(lab, data)
    done = invoke("challenge", lab.folder / "it.html", f"c={lab.third}", "-o", lab.new, "--trust")
    assert done.exit_code == 0, done.output
    assert "far is left out: that report holds no plan of it" in done.output
    made = lab.compared()
    assert [(s.name, s.weight, s.comparison is None) for s in made.suites] == [("near", 1.0, False), ("far", 2.0, True)]
    assert made.winner is None and all(NotBothIn(("far",)) in pair.why_not for pair in made.overall)
    assert "far was left out, so there is no verdict over all suites" in " ".join(headline_of(made))
    assert invoke("report", lab.new, "-o", lab.folder / "new.html", "--brief").exit_code == 0
    assert invoke("verify", lab.folder / "new.html", lab.new).exit_code == 0


def test_a_suite_of_which_the_report_has_no_figures_is_measured(lab: Lab) -> None:
    data = held(lab)
    data["campaign"]["name"] = "near: one + far: two"  # as that of run files that nobody planned together
    data["campaign"]["suites"][0] |= {"comparison": None, "missing": "put aside: a was gone"}
    page(lab, data)
    done = invoke("challenge", lab.folder / "it.html", f"c={lab.third}", "-o", lab.new, "--trust", "--rerun", "a")
    assert done.exit_code == 0, done.output
    near = lab.compared().suites[0].comparison
    assert near is not None and near.challenge is not None and near.challenge.again == ("a",)
    assert not near.challenge.ratios and near.challenge.why_none == NoFigures("put aside: a was gone")


def page(lab: Lab, data: Mapping[str, Any]) -> None:
    scripts = "".join(
        f'<script type="application/json" id="bakeoff-{name}">{json.dumps(value)}</script>'.replace("<!", "\\u003c!")
        for name, value in data.items()
    )
    (lab.folder / "it.html").write_text(f"<!DOCTYPE html><html><body>{scripts}</body></html>")


HOSTILE: list[tuple[str, Any]] = [
    ("campaign", []),
    ("campaign", {}),
    ("campaign.suites", []),
    ("campaign.suites", [{"name": "x", "weight": 1}] * 21),
    ("campaign.suites.0.name", "../../etc/x"),
    ("campaign.suites.0.name", "far"),
    ("campaign.suites.0.weight", -1),
    ("campaign.suites.0.weight", "1e9"),
    ("campaign.suites.0.missing", "x" * 3000),
    ("campaign.suites.0.comparison", "x"),
    ("campaign.name", "a" * 3000),
    ("campaign.suites.0.comparison", {"joined": {"files": []}}),
    ("plan-1.contenders", []),
    ("campaign.title", ""),
    ("plan-1.settings.length_s", -1),
    ("plan-1.kind", "nothing"),
    ("plan-1.contenders.1.name", "a"),
    ("plan-1.blocks", 10**9),
    ("plans", {"A": {}, "B": {}}),
    ("plan-1.contenders.0.reset", "mysql --password (hidden)"),
]


@pytest.mark.parametrize(("place", "value"), HOSTILE)
def test_whatever_calls_itself_a_campaign_is_refused_in_one_sentence(lab: Lab, place: str, value: Any) -> None:
    data = held(lab)
    at: Any = data
    *way, last = place.split(".")
    for step in way:
        at = at[int(step)] if isinstance(at, list) else at[step]
    at[int(last) if isinstance(at, list) else last] = value
    page(lab, data)
    done = invoke("challenge", lab.folder / "it.html", f"c:web={lab.third}", "-o", lab.new, "--trust")
    assert isinstance(done.exception, BakeoffError) and not lab.new.exists(), done.output
    assert len(str(done.exception)) < 600


def test_a_comparison_that_is_none_is_told_as_nothing(lab: Lab) -> None:
    """What the report says is not believed to be a comparison: there is no ratio to it then, and no traceback."""
    data = held(lab)
    data["campaign"]["suites"][0]["comparison"] = {"headline": [1, {"x": 2}], "run": 3, "levels": "no"}
    page(lab, data)
    done = invoke("challenge", lab.folder / "it.html", f"c:web={lab.third}", "-o", lab.new, "--trust", "--rerun", "a")
    assert done.exit_code == 0, done.output
    for name in ("new.md", "new.txt"):
        assert invoke("report", lab.new, "-o", lab.folder / name, "--force").exit_code == 0


def test_addresses_are_matched_by_sort(tmp_path: Path) -> None:
    """One for each sort that the suites ask for; of a sort without an address the suite is left out and named."""
    (tmp_path / "f").mkdir()
    web, files = plan_for("http://h/"), plan_for(str(tmp_path / "f"), suite="file-mix")
    suites = [{"name": name, "weight": 1.0, "missing": "no"} for name in ("one", "two")]
    data = {
        "campaign": {"name": "lab", "title": "Lab", "contenders": ["a"], "suites": suites},
        "plan-1": web.to_dict(),
        "plan-2": files.to_dict(),
    }
    both = report_to_challenge(data, challenger(["c:files=f", "c:web=http://i/"], None), "r.html", stored=False)
    assert [own.address for _, _, own in both.again] == ["http://i/", str(Path.cwd() / "f")]
    only = report_to_challenge(data, challenger(["c:files=/mnt"], "sync"), "r.html", stored=False)
    assert [(s.name, s.left_out) for s in only.suites] == [
        ("one", "c has no address for it (web)"),
        ("two", ""),
    ]
    assert [own.reset for _, _, own in only.again] == ["sync"]
    with pytest.raises(PlanError, match=r"say for which the address f is: c:web=ADDRESS c:files=ADDRESS"):
        report_to_challenge(data, challenger(["c=f"], None), "r.html", stored=False)
    objective, contender = {"objective": "p99<=9ms"}, {"name": "a", "address": "http://h/"}
    given = PlanInput("it", {"suite": "web-url"}, {}, [contender], {}, objective)
    with pytest.raises(PlanError, match=r"r\.html \(one\) holds a search, which no campaign has"):
        search = resolve_plan(given).to_dict()
        report_to_challenge({**data, "plan-1": search}, challenger(["c:web=http://i/"], None), "r.html", stored=False)
    twice = {**data, "campaign": {**data["campaign"], "suites": suites[:1] * 2}}
    for damaged in ({"campaign": {}}, {"campaign": 3}, twice):
        with pytest.raises(PlanError, match=r"^the data in r\.html is damaged: get the report again"):
            report_to_challenge(damaged, challenger(["c:web=http://i/"], None), "r.html", stored=False)
    with pytest.raises(PlanError, match=r"c:web=… is for no suite of r\.html: .*c:files=ADDRESS"):
        report_to_challenge({**data, "plan-1": None}, challenger(["c:web=http://i/"], None), "r.html", stored=False)
