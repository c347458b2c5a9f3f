"""What is disclosed stands side by side, differences first; what is missing is said to be, and secrets are gone."""

from __future__ import annotations

import tomllib

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.disclosure import CONTENDER, TESTBED, label_of, template
from bakeoff.disclosure.paper.read import paper_of
from bakeoff.report.blocks.tree import Table
from bakeoff.report.paper.disclosed import MISSING
from tests.unit.report.test_author_tables import section


def test_differences_come_first_and_equal_lines_are_folded() -> None:
    table = {
        "nginx": {"memory": "16 GB", "storage": "1 disk"},
        "apache": {"memory": "16 GB", "tuning_software": "password=planted"},
    }
    tables: dict[str, object] = {"contenders": {name: {"disclosure": fields} for name, fields in table.items()}}
    differ, same_machines, bed = section(tables | {"testbed": {"network": "1 Gbit/s"}}, "author-disclosure").blocks
    assert isinstance(differ, Table) and isinstance(same_machines, Table) and isinstance(bed, Table)
    assert differ.rows == (
        (label_of(CONTENDER["tuning_software"]), MISSING, "password=(hidden)"),
        (label_of(CONTENDER["storage"]), "1 disk", MISSING),
    )
    assert (
        same_machines.folded
        and (label_of(CONTENDER["memory"]), "16 GB") in same_machines.rows
        and (label_of(CONTENDER["notes"]), MISSING) in same_machines.rows
    )
    assert len(differ.rows) + len(same_machines.rows) == len(CONTENDER)
    assert (label_of(TESTBED["network"]), "1 Gbit/s") in bed.rows and (
        label_of(TESTBED["topology"]),
        MISSING,
    ) in bed.rows


def test_the_template_has_every_field_and_is_read_when_it_is_filled_in() -> None:
    assert tomllib.loads(template()) == {}
    filled = "\n".join(
        line.removeprefix("#").removeprefix(" ")
        for line in template().splitlines()
        if line.startswith("# [") or (line.startswith("#") and not line.startswith("# "))
    )
    tables = tomllib.loads(filled)
    assert set(tables["contenders"]["NAME"]["disclosure"]) == {*CONTENDER, "collect", "config"}
    assert set(tables["testbed"]) == {*TESTBED, "machines", "links"}
    paper_of(tables)


@pytest.mark.parametrize(
    "tables", [{"testbed": {"netwrok": "x"}}, {"contenders": {"a": {"disclosure": {"memroy": "x"}}}}]
)
def test_an_unknown_field_is_refused_with_the_nearest(tables: dict[str, object]) -> None:
    with pytest.raises(PlanError, match=r"did you mean '(network|memory)'"):
        paper_of(tables)
