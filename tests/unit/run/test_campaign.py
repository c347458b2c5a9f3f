"""A campaign goes on with whoever is there: a dead contender takes its suite from nobody, and gains nothing by it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.collections.campaign import compare_folder
from bakeoff.core.errors import RunFileError
from bakeoff.plan.campaign import Campaign, SuiteRun
from bakeoff.report.narrate.collections.ranking_doubts import place_text
from bakeoff.run.driver import start_run
from bakeoff.run.modes.campaign import resume_campaign, start_campaign
from bakeoff.run.observe.observer import PlainObserver
from bakeoff.store.collections.campaign import CampaignFolder, read_campaign_folder
from bakeoff.store.records.run_records import FAILED, OK, TrialRecord
from bakeoff.testdata.corpus.manifest import MANIFEST_NAME
from tests.told import headline_of
from tests.unit.compare.synthetic import run
from tests.unit.run.fake import FakeAgent, Notebook, WebServer, plan_for, serving, small_manifest

# Nothing listens there.
GONE = "http://127.0.0.1:1"


@dataclass
class Lab:
    """Three servers of one corpus, and a folder."""

    servers: tuple[WebServer, ...]
    path: Path
    said: list[str] = field(default_factory=list)
    notebook: Notebook = field(default_factory=Notebook)

    def agents(self, _: object) -> list[FakeAgent]:
        return [FakeAgent()]

    def campaign(self, *gone: int, blocks: int = 2) -> Campaign:
        """Suite `two` finds those of `gone` dead; nobody is in `one`."""
        addresses = [server.address for server in self.servers]
        there = [GONE if place in gone else address for place, address in enumerate(addresses)]
        plans = [plan_for(*each, plan={"blocks": blocks}) for each in (addresses, there)]
        suite_runs = tuple(SuiteRun(name, plan, 1.0) for name, plan in zip(("one", "two"), plans, strict=True))
        return Campaign("lab", "Lab", 1, ("a", "b", "c"), suite_runs)

    def start(self, campaign: Campaign) -> CampaignFolder:
        start_campaign(campaign, self.path, self.agents, self.notebook, self.said.append)
        return read_campaign_folder(self.path)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    manifest, pages = small_manifest()
    pages = pages | {MANIFEST_NAME: manifest.to_bytes()}
    with serving(dict(pages)) as one, serving(dict(pages)) as two, serving(dict(pages)) as three:
        yield Lab((one, two, three), tmp_path / "lab.bakeoff")


def names(folder: CampaignFolder, suite: str) -> list[str]:
    return [contender.name for contender in folder.runs[suite].contenders]


def test_a_contender_that_is_dead_in_a_suite_takes_it_from_nobody(lab: Lab) -> None:
    folder = lab.start(lab.campaign(2))
    assert not folder.faults and not [text for text in lab.said if "put aside" in text]
    assert (names(folder, "one"), names(folder, "two")) == (["a", "b", "c"], ["a", "b"])
    assert [len(folder.runs[suite].trials) for suite in ("one", "two")] == [12, 8]
    warnings = [event.text for event in lab.notebook.events if event.level == "warning"]
    assert sum(text.startswith("c is missing from this run: ") for text in warnings) == 1
    found = compare_folder(folder)
    assert headline_of(found)[0].startswith("c could not be measured in two, which runs without it: c (127.0.0.1:1): ")
    assert found.suites[1].dead == ("c",) and GONE.removeprefix("http://") in found.suites[1].absent["c"]
    assert not found.whole and found.suites[0].dead == ()
    place = next(place for place in found.places if place.contender == "c")
    assert (place_text(place), place.first, found.places[-1]) == ("not measured in two", None, place)
    alone = compare_run(folder.runs["two"])
    assert list(alone.run.absent) == ["c"] and any("c is missing" in text for text in headline_of(alone))


def test_it_stays_missing_when_the_campaign_is_gone_on_with(lab: Lab) -> None:
    campaign = lab.campaign(2)
    lab.start(campaign)
    path = lab.path / "01-one.bakeoff"
    path.unlink()  # so that there is something to do
    resume_campaign(lab.path, lab.agents, lab.notebook, lab.said.append)
    folder = read_campaign_folder(lab.path)
    assert len(folder.runs["one"].trials) == 12 and names(folder, "two") == ["a", "b"] and not folder.faults


def test_one_that_dies_in_the_middle_loses_its_trials_and_no_other_does(lab: Lab) -> None:
    campaign, last = lab.campaign(blocks=2), lab.servers[2]

    def dead(path: str, count: int) -> tuple[int, bytes] | None:
        if any("block 2" in text for text in lab.said):
            raise ConnectionError
        return None

    last.fault = dead
    folder = lab.start(campaign)
    assert not folder.faults
    for suite in ("one", "two"):
        trials = folder.runs[suite].trials
        second = {t.contender: {u.state for u in trials if (u.contender, u.block) == (t.contender, 2)} for t in trials}
        assert second == {"a": {OK}, "b": {OK}, "c": {FAILED}}
    found = compare_folder(folder)
    assert all(suite.dead == () for suite in found.suites) and not found.suites[0].missing
    lost = found.suites[0].comparison
    assert lost is not None and {each.contender for each in lost.forfeited} == {"c"}


def test_of_one_that_is_left_there_are_numbers(lab: Lab) -> None:
    folder = lab.start(lab.campaign(1, 2))
    assert names(folder, "two") == ["a"] and not folder.faults
    found = compare_folder(folder)
    assert [place.first for place in found.places] == [None] * 3 and found.winner is None
    assert {verdict.suite for verdict in found.verdicts} == {"one"}
    assert place_text(found.places[0]) == "no other contender was measured in all suites"


def test_with_nobody_left_the_suite_is_put_aside(lab: Lab) -> None:
    folder = lab.start(lab.campaign(0, 1, 2))
    assert list(folder.faults) == ["two"] and "two" not in folder.runs and len(folder.runs["one"].trials) == 12
    assert all(f"{name} (127.0.0.1:1): " in folder.faults["two"] for name in "abc")


def test_what_is_to_be_known_of_a_suite_is_said_and_stored_once(lab: Lab) -> None:
    address = lab.servers[0].address
    twice = plan_for(address, address, plan={"blocks": 3})
    campaign = Campaign("lab", "Lab", 1, ("a", "b"), (SuiteRun("one", twice, 1.0),))
    folder = lab.start(campaign)
    for events in (lab.notebook.events, folder.runs["one"].events):
        texts = [event.text for event in events if event.text != "seen"]  # which the engine says of each trial
        assert sum("have one address" in text for text in texts) == 1
        assert len(set(texts)) == len(texts)


def test_what_marks_mean_is_said_once_for_all_blocks() -> None:
    lines = io.StringIO()
    observer = PlainObserver(lines)
    for marks in (("near-generator-capacity",), ("near-generator-capacity", "link-limited"), ()):
        observer.on_run_start(plan_for(GONE), 1)
        observer.on_trial_end(replace(trial_of_block(1), marks=marks))
        observer.on_run_end()
    found = [line for line in lines.getvalue().splitlines() if line.startswith("mark ")]
    assert [line.split(":")[0] for line in found] == ["mark near-generator-capacity", "mark link-limited"]


def trial_of_block(block: int) -> TrialRecord:
    return next(trial for trial in run(blocks=1).trials if trial.block == block)


def test_a_run_of_fewer_contenders_but_another_plan_is_not_taken_for_it(lab: Lab, tmp_path: Path) -> None:
    campaign = lab.campaign(2)
    lab.start(campaign)
    (lab.path / "02-two.bakeoff").unlink()
    other = plan_for(lab.servers[0].address, lab.servers[1].address, plan={"blocks": 2}, length="2s")
    start_run(other, lab.path / "02-two.bakeoff", [FakeAgent()], Notebook())
    with pytest.raises(RunFileError, match="is not the run that"):
        read_campaign_folder(lab.path)
