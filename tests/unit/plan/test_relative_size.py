"""Sizes relative to the memory of the server: bytes in the plan, not less than asked for, refused without it."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.plan.load import PlanInput, read_plan_file, resolve_plan, with_flags
from bakeoff.plan.model import Plan
from bakeoff.run.kind import run_part

KIB, GIB = 1 << 10, 1 << 30
SIZES = [("file-matrix", "file_max"), ("file-blocks", "region"), ("file-mix", "workspace")]


def resolve(suite: str, folder: Path, size: str = "full", **given: Any) -> Plan:
    contenders = [{"name": "a", "address": str(folder)}]
    return resolve_plan(with_flags(PlanInput("test", {"suite": suite, "size": size}, {}, contenders), {}, given, {}))


def workload(plan: Plan) -> dict[str, Any]:
    contender = plan.contenders[0]
    return run_part(plan.kind).check(plan).workload(contender, (contender.address,)).model_dump()


@pytest.mark.parametrize("size", ["quick", "long", "full", "published"])
@pytest.mark.parametrize(("suite", "key"), SIZES)
def test_a_size_relative_to_the_memory_is_the_same_plan_as_its_bytes(
    suite: str, key: str, size: str, tmp_path: Path
) -> None:
    relative = resolve(suite, tmp_path, size, server_memory="16GiB", **{key: "2x"})
    assert relative.settings.stored()[key] == 32 * GIB and relative.settings.stored()["server_memory"] == 16 * GIB
    plain = resolve(suite, tmp_path, size, server_memory="16GiB", **{key: "32GiB"})
    assert relative == plain and relative.hash == plain.hash
    assert Plan.from_dict(relative.to_dict()) == relative and "2x" not in str(relative.to_dict())
    other = resolve(suite, tmp_path, size, server_memory="8GiB", **{key: "2x"})
    assert other.settings.stored()[key] == 16 * GIB and other.hash != relative.hash


@pytest.mark.parametrize(
    ("factor", "memory", "size"),
    [("1.5x", "16GiB", 24 * GIB), ("1.5 ×", "16GiB", 24 * GIB), ("0.3x", "16385", 4916), ("1.1x", "10GB", 11 * 10**9)],
)
def test_a_factor_is_exact_and_rounded_up_to_a_byte(factor: str, memory: str, size: int, tmp_path: Path) -> None:
    plan = resolve("file-blocks", tmp_path, region=factor, server_memory=memory, block_sizes="512")
    assert workload(plan)["region_bytes"] == size


@pytest.mark.parametrize(
    ("factor", "memory", "smallest", "largest"),
    [
        ("2x", "16GiB", "64KiB", 32 * GIB),
        ("2x", "12GiB", "64KiB", 32 * GIB),  # 24 GiB is between two sizes: not the 16 GiB below
        ("1.1x", "16GiB", "64KiB", 32 * GIB),
        ("2x", "12GiB", "3MiB", 24 * GIB),
        ("0.00001x", "1GiB", "64KiB", 64 * KIB),
    ],
)
def test_the_largest_file_of_the_matrix_is_the_next_size_of_its_doubling(
    factor: str, memory: str, smallest: str, largest: int, tmp_path: Path
) -> None:
    plan = resolve("file-matrix", tmp_path, file_max=factor, server_memory=memory, file_min=smallest)
    assert plan.settings.stored()["file_max"] == largest
    assert max(file for file, _ in workload(plan)["pairs"]) == largest


@pytest.mark.parametrize(("suite", "key"), SIZES)
@pytest.mark.parametrize(
    ("value", "memory", "part"),
    [
        ("2x", None, "give --server-memory 16GiB"),
        ("2x", "auto", "give --server-memory 16GiB"),
        ("0x", "16GiB", "a factor above 0"),
        ("9999999999999x", "16GiB", "smaller factor"),
        ("-1x", "16GiB", "is not a size"),
        ("xx", "16GiB", "is not a size"),
        ("1e3x", "16GiB", "is not a size"),
    ],
)
def test_what_is_no_size_is_refused_in_a_sentence(
    suite: str, key: str, value: str, memory: str | None, part: str, tmp_path: Path
) -> None:
    given = {key: value} | ({} if memory is None else {"server_memory": memory})
    with pytest.raises(PlanError) as caught:
        resolve(suite, tmp_path, **given)
    text = str(caught.value)
    assert text.startswith("--" + key.replace("_", "-")) and repr(value) in text and part in text and "\n" not in text


def test_a_plan_file_takes_relative_sizes_whatever_their_order(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        '[plan]\nsuite = "file-blocks"\n[settings]\nregion = "3x"\nserver_memory = "2GiB"\n'
        f'[[contender]]\nname = "a"\naddress = "{tmp_path}"\n'
    )
    assert workload(resolve_plan(read_plan_file(path)))["region_bytes"] == 6 * GIB


@pytest.mark.parametrize(("suite", "key"), SIZES)
def test_a_stored_plan_holds_bytes_only(suite: str, key: str, tmp_path: Path) -> None:
    stored = resolve(suite, tmp_path, server_memory="1GiB").to_dict()
    stored["settings"][key] = "2x"
    with pytest.raises(ValueError, match=key):
        Plan.from_dict(stored)
