"""A warning where all that was worked on fits into a memory, and none where it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.validity.working_set import working_set_bytes
from bakeoff.load.load_step import Clients
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.records.figures import figures_of
from bakeoff.store.records.run_records import RunRecord
from tests.unit.compare.synthetic_cells import KIB, MIB, blocks_run, matrix_run

GIB = 1 << 30


def with_memory(record: RunRecord, own: int, server: int | None = None, **given: object) -> RunRecord:
    """The same on a machine with so much memory, and a server with so much."""
    stored = {**record.plan.get("settings", {}), "server_memory": server, **given}
    plan = {**record.plan, "settings": stored}
    return replace(record, environment={**record.environment, "memory_bytes": own}, plan=plan)


def matrix() -> RunRecord:
    return matrix_run(lambda *_: 1.2, tests=("read",), sizes=[(64 * KIB, 4 * KIB), (512 * MIB, 64 * KIB)])


@pytest.mark.parametrize(
    ("own", "server", "given", "named"),
    [
        (8 * GIB, None, {}, "of this machine (8 GiB)"),
        (GIB >> 4, 4 * GIB, {}, "of the server (4 GiB)"),
        (8 * GIB, 4 * GIB, {}, "of this machine (8 GiB) and of the server (4 GiB)"),
        (GIB >> 4, GIB >> 4, {}, ""),
        (8 * GIB, None, {"direct": True}, ""),
    ],
)
def test_what_fits_into_a_memory_is_said_with_its_name(
    own: int, server: int | None, given: dict[str, object], named: str
) -> None:
    comparison = compare_run(with_memory(matrix(), own, server, **given))
    texts = [warning.text for warning in warnings_of(comparison) if "fit into the memory" in warning.text]
    assert [named in text for text in texts] == ([True] if named else [])


def test_what_the_control_group_allows_decides_not_what_the_machine_has() -> None:
    """Files of 512 MiB do not fit into 256 MiB that a container has of 64 GiB."""
    record = with_memory(matrix(), 64 * GIB)
    bounded = replace(record, environment={**record.environment, "memory_limit_bytes": GIB >> 2})
    assert not [w for w in warnings_of(compare_run(bounded)) if "fit into the memory" in w.text]
    bounded = replace(record, environment={**record.environment, "memory_limit_bytes": GIB})
    (warning_texts,) = [w for w in warnings_of(compare_run(bounded)) if "fit into the memory" in w.text]
    assert "of the control group of the generator (1 GiB)" in warning_texts.text


def cold(blocks_shown: tuple[int, ...], level: str = "drop_caches") -> RunRecord:
    def change_cell(contender: str, block: int, cell: dict[str, Any]) -> None:
        shown = block in blocks_shown and level != "fresh"
        cell["cache"] = {"asked": "cold", "name": level, "proved": shown}

    return matrix_run(lambda *_: 1.2, tests=("read", "write"), sizes=[(512 * MIB, 64 * KIB)], change=change_cell)


def warned(record: RunRecord) -> list[str]:
    found = warnings_of(compare_run(record))
    return [f"{one.text} {one.advice}" for one in found if "fit into the memory" in one.text]


@pytest.mark.parametrize(
    ("shown", "level", "server", "named"),
    [
        ((1, 2, 3, 4, 5, 6), "drop_caches", None, []),
        ((1, 2, 3, 4, 5, 6), "drop_caches", 8 * GIB, ["the server"]),
        ((1, 2, 3, 4, 5), "drop_caches", None, ["this machine"]),
        ((), "fresh", None, ["this machine"]),
    ],
)
def test_a_cache_that_was_shown_empty_explains_nothing(
    shown: tuple[int, ...], level: str, server: int | None, named: list[str]
) -> None:
    """What the kernel shows empty is this machine's cache; nobody can see the server's."""
    texts = warned(with_memory(cold(shown, level), 8 * GIB, server))
    assert len(texts) == len(named) and all(name in text for name, text in zip(named, texts, strict=True))
    assert all(("this machine" in text) == (named == ["this machine"]) for text in texts)


def test_caches_that_could_not_be_emptied_are_told_first() -> None:
    """Seen: a tmpfs won by 106× over a share whose cache was emptied, and only a table in the report told why."""

    def emptied(cold: dict[str, str]) -> list[str]:
        def change_cell(contender: str, block: int, cell: dict[str, Any]) -> None:
            name = "fresh" if cell["test"] == "write" else cold[contender]
            cell["cache"] = {"asked": "cold", "name": name, "proved": name == "dropped"}

        made = matrix_run(lambda *_: 1.2, tests=("read", "write"), sizes=[(MIB, 64 * KIB)], change=change_cell)
        return [w.text for w in warnings_of(compare_run(made)) if w.first and "cold caches" in w.text]

    assert emptied({"nfs": "dropped", "cifs": "warm"}) == [
        "The plan asks for cold caches, but these were not emptied: cifs before 6 of 6 cells; the caches of nfs were "
        "emptied."
    ]
    assert emptied({"nfs": "warm", "cifs": "warm"}) == [
        "The plan asks for cold caches, but these were not emptied: nfs before 6 of 6 cells "
        "and cifs before 6 of 6 cells."
    ]
    assert emptied({"nfs": "dropped", "cifs": "command"}) == []


def test_a_quick_run_is_told_in_one_line() -> None:
    record = with_memory(matrix(), 8 * GIB)
    quick = replace(record, plan={**record.plan, "size": "quick"})
    full = replace(record, plan={**record.plan, "size": "full"})
    (short,), (long,) = warned(quick), warned(full)
    assert len(short) < 120 and "cold caches" in long


def test_clients_of_a_matrix_have_files_of_their_own_and_those_of_blocks_share_one() -> None:
    trial = matrix().trials[0]
    assert working_set_bytes(replace(trial, load_step=Clients(3)), figures_of("file-matrix")) == 3 * 512 * MIB
    shared = blocks_run(lambda *_: 1.0).trials[0]
    size = max(cell["file_bytes"] for cell in shared.workload["cells"])
    of_region = replace(shared, load_step=Clients(3), workload={**shared.workload, "region_bytes": size})
    assert working_set_bytes(of_region, figures_of("file-blocks")) == size
