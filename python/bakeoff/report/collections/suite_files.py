"""Where and when each suite of a report on several run files was measured: what differs first."""

from __future__ import annotations

from collections.abc import Mapping

from bakeoff.report.blocks.tree import Block, Column, Section, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.narrate import wording
from bakeoff.report.paper.testbed import UNKNOWN, Generators, of_generators
from bakeoff.store.records.run_records import RunRecord

NOTE = (
    "Each suite is a run of its own, by a plan of its own: nothing was planned over all of them, and a contender is "
    "the same in two of them because it has the same name."
)


def suite_files(runs: Mapping[str, RunRecord]) -> Section:
    """A column for each suite: its file, when and by which machines it was measured, addresses of contenders."""
    facts = {suite: _facts(run) for suite, run in runs.items()}
    items = list(dict.fromkeys(item for found in facts.values() for item in found))
    rows = [(item, *(found.get(item, "–") for found in facts.values())) for item in items]
    differing = [row for row in rows if len(set(row[1:])) > 1]
    same = [row[:2] for row in rows if len(set(row[1:])) == 1]
    machines = [row[0].lower() for row in differing if row[0] in MACHINES]
    text = "The suites were measured by the same machines, as far as the run files tell."
    if machines:
        text = f"The suites were not measured in one place: {wording.names(machines)} differ."
    columns = (Column("Item", numeric=False), *(Column(suite, numeric=False) for suite in runs))
    blocks: list[Block] = [Text(text, "warning" if machines else "plain", detail=Detail.COMPARISON)]
    blocks.append(Table("What differs between the suites' run files", columns, tuple(differing), NOTE))
    if same:
        same_columns = (Column("Item", numeric=False), Column("All", numeric=False))
        blocks.append(Table("The same of all suites", same_columns, tuple(same), folded=True))
    return Section("The run files", tuple(blocks), "run-files", ReportPart.FRONT)


MACHINES = ("Load generators", "Their software")


def _facts(run: RunRecord) -> dict[str, str]:
    facts = of_generators(Generators(run.agents))
    return {
        "File": run.path.name,
        "Started": Context.moment(run.created_at),
        "Load generators": facts.get("load_generators", UNKNOWN),
        "Their software": facts.get("load_generator_software", UNKNOWN),
        "Bakeoff": run.tool.get("version", "unknown version"),
        **{f"Address of {one.name}": one.address for one in run.contenders},
    }
