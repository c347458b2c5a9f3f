"""Plans of file-matrix: rows as in the automatic mode, the cut-off, what is refused, what the endpoint is."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.spec import TrialSpec
from bakeoff.core.errors import PlanError
from bakeoff.kinds.file_matrix.plan import AUTOMATIC, TESTS, FileMatrixSettings, pairs
from bakeoff.plan.load import PlanInput, read_plan_file, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.run.kind import run_part

KIB, MIB = 1 << 10, 1 << 20


def resolve(folder: Path, suite: str = "file-matrix", size: str = "full", **given: Any) -> Plan:
    return resolve_plan(
        PlanInput("test", {"suite": suite, "size": size}, given, [{"name": "a", "address": str(folder)}])
    )


def rows(folder: Path, **given: Any) -> list[tuple[int, int]]:
    settings = resolve(folder, **given).settings
    assert isinstance(settings, FileMatrixSettings)
    return pairs(settings)


def workload(plan: Plan) -> dict[str, Any]:
    contender = plan.contenders[0]
    return run_part(plan.kind).check(plan).workload(contender, (contender.address,)).model_dump()


def test_the_automatic_mode_has_126_rows_and_146_without_the_cut_off(tmp_path: Path) -> None:
    assert len(rows(tmp_path)) == 126
    assert len(rows(tmp_path, cut_off="auto")) == 146
    assert len(resolve(tmp_path).settings.stored()["tests"]) == 13


def test_the_cut_off_drops_small_records_of_large_files_only(tmp_path: Path) -> None:
    found = rows(tmp_path)
    assert {record for file, record in found if file == 16 * MIB} == {4 * KIB << power for power in range(13)}
    assert min(record for file, record in found if file == 32 * MIB) == 64 * KIB
    assert all(record <= file for file, record in found)
    assert found[:3] == [(64 * KIB, 4 * KIB), (64 * KIB, 8 * KIB), (64 * KIB, 16 * KIB)]
    asked = rows(tmp_path, record_sizes="4KiB,64KiB", file_sizes="32MiB")
    assert asked == [(32 * MIB, 4 * KIB), (32 * MIB, 64 * KIB)], "records that were named are done"


def test_the_trial_gets_what_the_plan_says(tmp_path: Path) -> None:
    work = workload(resolve(tmp_path, fsync=True, close=True, dsync=True, stonewall=True, clients="2,4", tests="all"))
    assert (work["fsync"], work["close"], work["dsync"], work["stonewall"], work["stride"]) == (True,) * 4 + (17,)
    assert tuple(work["tests"]) == AUTOMATIC and set(AUTOMATIC) < set(TESTS)
    TrialSpec.model_validate({"workload": work, "load": {"clients": 2}, "length_s": 1})


def test_a_length_bounds_the_trial_and_takes_no_ramps_with_it(tmp_path: Path) -> None:
    settings = resolve(tmp_path, length="30s").settings
    assert (settings.length_s, settings.clock.ramp_up_s, settings.clock.ramp_down_s) == (30.0, 0.0, 0.0)


def test_a_shorter_length_of_the_load_step_takes_ramps_and_delay_with_it(tmp_path: Path) -> None:
    settings = resolve(tmp_path, "file-mix", length="20s").settings
    assert (settings.ramp_up_s, settings.ramp_down_s, settings.delay_s) == (2.0, 2.0, 2.0)
    named = resolve(tmp_path, "file-mix", length="20s", stagger="4s").settings
    assert (named.ramp_up_s, named.delay_s) == (2.0, 4.0)
    full = resolve(tmp_path, "file-mix").settings
    assert (full.ramp_up_s, full.delay_s) == (30.0, 5.0)


@pytest.mark.parametrize(("suite", "unit"), [("file-matrix", "MB/s"), ("file-blocks", "MB/s"), ("file-mix", "Mbit/s")])
def test_the_primary_endpoint_names_its_unit(suite: str, unit: str, tmp_path: Path) -> None:
    primary = resolve(tmp_path, suite).primary
    assert unit in primary and "operations per second" not in primary


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"tests": "read,reed"}, "'reed'"),
        ({"tests": "read,read"}, "once"),
        ({"direct": True, "mmap": True}, "exclude"),
        ({"cold_command": "true"}, "cache = cold"),
        ({"tests": "mixed"}, "two clients"),
        ({"record_min": "1MiB", "file_max": "64KiB"}, "no record size fits"),
        ({"ramp_up": "1s"}, "leave it out"),
        ({"mixed_read_percent": 101}, "mixed_read_percent"),
        ({"stride": 0}, "stride"),
    ],
)
def test_settings_that_do_not_fit_are_refused(given: dict[str, Any], part: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        resolve(tmp_path, **given)
    assert part in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("address", ["/", "/home", "/root", "~", "http://127.0.0.1/x"])
def test_roots_homes_and_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(PlanError):
        resolve(Path(address) if "://" not in address else address)  # type: ignore[arg-type]


def test_a_link_to_the_root_is_the_root(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/")
    with pytest.raises(PlanError, match="root of this machine"):
        resolve(link)


INVENTORY = "[inventory]\nfolder = '/srv/share'\ncomplete = true\nerrors = 0\n"
SIZE = "[[size]]\nup_to_bytes = 65536\nfiles = {files}\nbytes = 99999\n"


def test_the_weights_of_a_share_are_part_of_the_plan_and_its_hash(tmp_path: Path) -> None:
    file = tmp_path / "share.toml"
    file.write_text(INVENTORY + SIZE.format(files=3))
    three = resolve(tmp_path, weights=str(file))
    assert "weighted by the file sizes of /srv/share" in three.primary
    assert str(file) not in str(three.to_dict()) and Plan.from_dict(three.to_dict()) == three
    file.write_text(INVENTORY + SIZE.format(files=4))
    assert len({three.hash, resolve(tmp_path, weights=str(file)).hash, resolve(tmp_path).hash}) == 3


def test_weights_stand_beside_the_plan_file_and_those_of_other_suites_are_no_path(tmp_path: Path) -> None:
    (tmp_path / "share.toml").write_text(INVENTORY + SIZE.format(files=3))
    plan = tmp_path / "plan.toml"
    text = '[plan]\nsuite = "{}"\n[settings]\nweights = "{}"\n'
    plan.write_text(text.format("file-matrix", "share.toml"))
    assert read_plan_file(plan).settings["weights"] == str(tmp_path / "share.toml")
    plan.write_text(text.format("web-static", "735=1"))
    assert read_plan_file(plan).settings["weights"] == "735=1"


def test_weights_over_one_file_size_or_of_a_wrong_file_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "share.toml"
    file.write_text(INVENTORY + SIZE.format(files=3))
    with pytest.raises(PlanError, match="one file size only"):
        resolve(tmp_path, weights=str(file), file_sizes="1MiB")
    for text in ("", "[inventory", INVENTORY, INVENTORY.replace("true", "false"), SIZE.format(files=-1)):
        file.write_text(text)
        with pytest.raises(PlanError) as caught:
            resolve(tmp_path, weights=str(file))
        assert str(file) in str(caught.value) and "Traceback" not in str(caught.value)
