"""The report of run files or of a campaign, as it was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bakeoff.errors import PlanError
from bakeoff.kinds import KINDS, compare_part
from bakeoff.paper.read import paper_of, read_paper
from bakeoff.store.campaign import campaign_of
from bakeoff.store.join import join
from bakeoff.store.read import read_run

if TYPE_CHECKING:
    from bakeoff.compare.model import Comparison
    from bakeoff.report.blocks import Report
    from bakeoff.report.edition import Edition


def make_report(paths: Sequence[Path], edition: Edition) -> tuple[Report, Sequence[str]]:
    """The report, and its result in sentences. Raises PlanError where it cannot be made like this."""
    from bakeoff.report.brief import brief  # these take a moment to load
    from bakeoff.report.edition import KEY

    made, result, comparisons = _of_campaign(paths, edition) if campaign_of(paths) else _of_runs(paths, edition)
    if edition.paper is not None:
        from bakeoff.report.paper import with_paper

        made = with_paper(made, paper_of(edition.paper), comparisons)
    made = replace(made, embedded={**made.embedded, KEY: edition.model_dump()})
    return (brief(made) if edition.short else made), result


def paper_tables(path: Path | None) -> dict[str, Any] | None:
    """The tables of a paper file without secrets, when there is one. Raises PlanError."""
    if path is None:
        return None
    from bakeoff.report.redact import without_secrets

    return without_secrets(read_paper(path).tables)


Made = tuple["Report", Sequence[str], Mapping[str, "Comparison"]]


def _of_campaign(paths: Sequence[Path], edition: Edition) -> Made:
    from bakeoff.cli.campaign import compared, facts_of
    from bakeoff.report.campaign import compose_campaign

    folder, comparison = compared(paths[0], edition.baseline, edition.delta)
    made = compose_campaign(comparison, folder.runs, facts_of(folder), edition.surfaces)
    suites = {suite.name: suite.comparison for suite in comparison.suites if suite.comparison is not None}
    return made, comparison.headline[:1], suites


def _of_runs(paths: Sequence[Path], edition: Edition) -> Made:
    from bakeoff.compare import compare_run
    from bakeoff.report.compose import compose

    run = join([read_run(path) for path in paths])
    if edition.surfaces and not _has_surfaces(run.kind):
        drawn = ", ".join(filter(_has_surfaces, KINDS))
        raise PlanError(f"--surfaces draws runs of {drawn}, {paths[0]} is one of {run.kind}: leave it out")
    comparison = compare_run(run, edition.baseline, edition.delta)
    return compose(run, comparison, edition.surfaces), comparison.result(), {run.suite: comparison}


def _has_surfaces(kind: str) -> bool:
    """Whether the cells of a kind differ by two sizes."""
    cells = compare_part(kind).cells
    return cells is not None and len(cells.axes) == 2
