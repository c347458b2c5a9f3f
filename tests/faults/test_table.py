"""The table is whole: nothing that the program can be told, asked or loaded with is without its cells."""

from pathlib import Path

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.kinds.app import run as app_run
from tests.faults import sorts, table
from tests.faults.bench import EVIL, GOOD, RefusedError, measure, plan_of
from tests.faults.faults import FAULTS, NO_FAULT, NOTHING, Fault
from tests.faults.scenes import SCENES, Stage, tables_of

FAMILIES = {"web": "web", "null": "web", "app": "app", "mail": "mail"}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("stage"))


def test_every_target_is_in_a_family() -> None:
    assert set(sorts.TARGETS) == set(FAMILIES) == set(NO_FAULT)


@pytest.mark.parametrize("target", sorts.TARGETS)
def test_every_setting_of_a_target_is_a_fault_or_has_a_reason_why_not(target: str) -> None:
    instructed = {key for fault in FAULTS.values() if fault.target == target for key in fault.keys}
    keys = set(sorts.keys_of(target))
    assert keys - instructed - set(NO_FAULT[target]) == set(), "add a fault with its row, or say why it is none"
    assert (instructed | set(NO_FAULT[target])) - keys == set(), "no such setting any more"
    assert instructed & set(NO_FAULT[target]) <= {"threads"}, "it is a fault, or it is none"


def test_every_suite_and_every_way_to_load_is_in_the_table() -> None:
    assert set(SCENES) == set(sorts.SUITES), "a suite needs a scene, and with it its column"
    assert sorts.without_a_load() == [], "a way to load needs a load of the table, or a reason why it is none"


def test_every_fault_has_its_row_and_every_family_one_without_a_fault() -> None:
    assert set(table.ROWS) == set(FAULTS)
    assert {f"{target}: {NOTHING}" for target in ("web", "app", "mail")} <= set(FAULTS)
    assert {fault.family for fault in FAULTS.values()} <= {scene.family for scene in SCENES.values()}


def test_every_cell_says_one_thing_and_why() -> None:
    cells = table.cells()
    assert len(cells) == len(FAULTS) * len(sorts.SUITES) * len(sorts.LOADS)
    for cell in cells:
        assert cell.says.outcome in table.OUTCOMES and cell.says.why, cell


def test_what_is_told_apart_is_there() -> None:
    """Each exception hits some cell."""
    for name, row in table.ROWS.items():
        for suites, loads in row.apart:
            assert set(suites) <= set(sorts.SUITES) and set(loads) <= set(sorts.LOADS), name
            assert any(
                table.Cell(name, suite, load, table.says(name, suite, load)).is_run
                for suite in suites
                for load in loads
            )


@pytest.mark.parametrize(("suite", "load"), table.MISSING)
def test_a_load_that_a_suite_does_not_have_is_refused_by_its_plan(stage: Stage, suite: str, load: str) -> None:
    tables, _ = stage.tables(suite, load)
    with pytest.raises(PlanError) as refused:
        plan_of(suite, tables, addresses_of(SCENES[suite].family, stage))
    assert table.MISSING[suite, load].words in str(refused.value)


def test_every_other_load_is_planned(stage: Stage) -> None:
    for suite in sorts.SUITES:
        for load in sorts.LOADS:
            if (suite, load) not in table.MISSING:
                addresses = addresses_of(SCENES[suite].family, stage)
                if load == sorts.HTTP_3:
                    addresses = {name: address.replace("http:", "https:") for name, address in addresses.items()}
                plan_of(suite, stage.tables(suite, load)[0], addresses)


def addresses_of(family: str, stage: Stage) -> dict[str, str]:
    """Two contenders of this sort where nobody listens."""
    places = {"web": "http://127.0.0.1:{}", "app": "127.0.0.1:{}", "mail": "smtp=127.0.0.1:{0},pop3=127.0.0.1:{0}"}
    if family == "files":
        return {name: str(folder(stage, name)) for name in (GOOD, EVIL)}
    return {GOOD: places[family].format(1), EVIL: places[family].format(2)}


def folder(stage: Stage, name: str) -> Path:
    """An empty folder."""
    found = stage.folder / f"folder of {name}"
    found.mkdir(exist_ok=True)
    return found


STRANGERS = [
    (fault, suite)
    for fault in FAULTS.values()
    if fault.name.endswith(NOTHING)
    for suite in sorts.SUITES
    if SCENES[suite].family != fault.family
]


@pytest.mark.parametrize(("fault", "suite"), STRANGERS, ids=lambda one: getattr(one, "name", one))
def test_a_contender_of_another_protocol_never_comes_to_a_figure(
    stage: Stage, fault: Fault, suite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who says nothing is not waited for as long as a user's server would be."""
    monkeypatch.setattr(app_run, "GREETING_S", 1.0)
    load = sorts.RATE if suite == "replay" else sorts.CLOSED
    with fault.start(None) as bare, fault.start(None) as other:
        addresses = {GOOD: bare, EVIL: other}
        if SCENES[suite].family == "web":
            addresses = {name: f"http://{place.split(',')[0].rpartition('=')[2]}" for name, place in addresses.items()}
        elif SCENES[suite].family == "mail" and "=" not in bare:
            addresses = {name: f"smtp={place},pop3={place}" for name, place in addresses.items()}
        tables, agents = stage.tables(suite, load)
        tables["settings"] |= {"reply_timeout": "1s"} if suite != "httperf" else {"timeout": 1}
        if SCENES[suite].family == "mail":
            tables["settings"]["connect_timeout"] = "1s"
        try:
            measured = measure(plan_of(suite, tables, addresses), agents, lambda spec: spec, {})
        except (PlanError, RefusedError):
            return
    # httperf asks nobody beforehand: nothing that it asks for in a trial comes.
    assert suite == "httperf" and [result.operations for result in measured.results.values()] == [0, 0]


def test_scenes_are_told_for_every_load() -> None:
    assert all(tables_of(suite, load)[1] >= 1 for suite in sorts.SUITES for load in sorts.LOADS)
