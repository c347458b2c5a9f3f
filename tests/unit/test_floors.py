"""Which noise floor a run or a campaign quotes: the named ones, or the newest of its set-up that lies near."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.noise_floors import noise_for
from bakeoff.store.collections.campaign import FORMAT, CampaignFolder, StoredCampaign
from bakeoff.store.collections.collection import THE_RUN
from tests.unit.compare.synthetic import run
from tests.unit.compare.test_noise import aa
from tests.unit.store.builders import stored


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a campaign with an A/A run beside it, a newer one in it, and a file that is none."""
    above = tmp_path_factory.mktemp("noise")
    folder = above / "lab.bakeoff"
    folder.mkdir()
    (folder / "campaign.json").write_text("{}")
    stored(aa(seed=4), above / "aa-old.bakeoff")
    os.utime(above / "aa-old.bakeoff", (1, 1))
    stored(aa(seed=5), folder / "aa-new.bakeoff")
    stored(run(blocks=6), folder / "aa-none.bakeoff")
    return folder


def campaign(folder: Path) -> CampaignFolder:
    """Of the suite of the A/A runs, twice, and of another."""
    own = run(blocks=6)
    runs = {"one": own, "again": own, "other": replace(own, suite="web-dynamic")}
    plan = StoredCampaign(format=FORMAT, name="lab", title="Lab", seed=1, contenders=("nginx", "apache"), suite_runs=())
    return CampaignFolder(folder, plan, runs, {})


def test_a_campaign_quotes_the_nearest_for_each_suite_that_it_is_of(lab: Path) -> None:
    found = noise_for([lab], None, campaign(lab))
    assert {name: floor.file for name, floor in found.items()} == {"one": "aa-new.bakeoff", "again": "aa-new.bakeoff"}


def test_what_is_named_is_quoted_by_its_suite_alone(lab: Path) -> None:
    old, observed = lab.parent / "aa-old.bakeoff", campaign(lab)
    found = noise_for([lab], [old], observed)
    assert {name: floor.file for name, floor in found.items()} == {"one": old.name, "again": old.name}
    assert noise_for([], [old], observed) == found, "also where a report alone holds the campaign"
    with pytest.raises(PlanError, match="is a second noise floor of web-static"):
        noise_for([lab], [old, lab / "aa-new.bakeoff"], observed)
    with pytest.raises(PlanError, match="is of web-static, and these are of web-dynamic"):
        noise_for([lab], [old], replace(observed, runs={"other": observed.runs["other"]}))
    with pytest.raises(PlanError, match="is no A/A run of six whole blocks"):
        noise_for([lab], [lab / "aa-none.bakeoff"], observed)


def test_a_run_quotes_one(lab: Path) -> None:
    old, new = lab.parent / "aa-old.bakeoff", lab / "aa-new.bakeoff"
    assert noise_for([lab / "aa-none.bakeoff"])[THE_RUN].file == new.name
    assert noise_for([lab / "aa-none.bakeoff"], [old])[THE_RUN].file == old.name
    with pytest.raises(PlanError, match="a run quotes one noise floor"):
        noise_for([lab / "aa-none.bakeoff"], [old, new])
