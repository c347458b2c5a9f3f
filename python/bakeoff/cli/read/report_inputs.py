"""The report of run files or of a campaign, as it was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bakeoff.core.errors import PlanError
from bakeoff.disclosure.paper.read import paper_of, read_paper
from bakeoff.kinds import KINDS
from bakeoff.noise_floors import floors_for, noise_for
from bakeoff.report.renderers import FORMS
from bakeoff.store.collections.collection import Collection, collection_of, folder_of

if TYPE_CHECKING:
    from bakeoff.compare.model.comparison import Comparison
    from bakeoff.compare.planning.noise_model import NoiseFloor
    from bakeoff.report.blocks.tree import Report
    from bakeoff.report.charts.palette import Placed
    from bakeoff.report.embed.embedded_runs import EmbeddedFile, EmbeddedRuns, Packed
    from bakeoff.report.embed.report_options import ReportOptions
    from bakeoff.report.paper.testbed import Generators
    from bakeoff.store.collections.campaign import CampaignFolder
    from bakeoff.store.records.run_records import AgentRecord, JoinedFile, RunRecord


def make_report(
    paths: Sequence[Path], options: ReportOptions, form: str, aa: Sequence[Path] | None = None
) -> tuple[Report, Sequence[str]]:
    """The report of run files or of a campaign in this form, with the noise floors of A/A runs that are named or lie
    near, and its result in sentences. Raises RunFileError, and PlanError where it cannot be made like this.
    """
    from bakeoff.report.embed.embedded_runs import packed

    embedded, noise = runs_for(paths, options, aa)
    options = options.model_copy(update={"noise": noise})
    return compose_embedded(embedded, options, packed(embedded) if FORMS[form].holds_data else None)


def runs_for(
    paths: Sequence[Path], options: ReportOptions, aa: Sequence[Path] | None = None
) -> tuple[EmbeddedRuns, dict[str, dict[str, Any]] | None]:
    """What of run files or of a campaign may be told in such a report, and the noise floors to quote as they are
    embedded. Raises RunFileError and PlanError.
    """
    found = {name: each.path for name, each in floors_for(paths, aa).items()}
    files = list(dict.fromkeys(found.values()))
    embedded = runs_to_embed(paths, options, files)
    return embedded, noise_of_files({name: embedded.aa[files.index(path)] for name, path in found.items()})


def runs_to_embed(paths: Sequence[Path], options: ReportOptions, aa: Sequence[Path] = ()) -> EmbeddedRuns:
    """What of run files or of a campaign may be told in such a report, and of these A/A runs. Raises as `held_for`."""
    from bakeoff.report.embed.embedded_runs import embedded_from

    folder_of(paths, options.failed, options.notes)  # which refuses what a campaign does not have
    return embedded_from(paths, aa)


def noise_of_files(files: Mapping[str, EmbeddedFile]) -> dict[str, dict[str, Any]] | None:
    """What A/A runs have shown, as it is embedded, by the names under which it is quoted."""
    from bakeoff.compare.planning.noise import noise_of, stored_noise  # NumPy takes a moment to load

    found = {name: noise_of(file.record) for name, file in files.items()}
    return {name: stored_noise(floor) for name, floor in found.items() if floor is not None} or None


def compose_embedded(
    embedded: EmbeddedRuns, options: ReportOptions, inside: Packed | None
) -> tuple[Report, Sequence[str]]:
    """The same of what may be told of them; `inside` is what the report holds of that. Raises as `make_report`."""
    from bakeoff.report.embed.report_options import KEY
    from bakeoff.report.layout.extents import in_extent  # these take a moment to load

    made, options, result, comparisons, places = _made(embedded, options)
    if options.paper is not None:
        from bakeoff.report.paper.authored import with_paper

        made = with_paper(made, paper_of(options.paper), comparisons, places, options.extent)
    data = {} if inside is None else inside.data
    made = replace(made, embedded={**made.embedded, KEY: options.model_dump(), **data})
    made = made if made.chapters else in_extent(made, options.extent)
    if options.paper is not None:
        from bakeoff.report.paper.display_names import with_names

        made = with_names(made, paper_of(options.paper))
    return made, result


def collection_in(embedded: EmbeddedRuns, options: ReportOptions) -> Collection:
    """The runs with what was asked for of them. Raises PlanError."""
    if embedded.campaign is not None:
        return Collection(embedded.folder.runs, embedded.folder)
    return collection_of([file.record for file in embedded.files], options.failed, options.notes)


def paper_tables(path: Path | None) -> dict[str, Any] | None:
    """The tables of a paper file without secrets, when there is one. Raises PlanError."""
    if path is None:
        return None
    from bakeoff.core.redact import without_secrets

    return without_secrets(read_paper(path).tables)


def noise_table(
    paths: Sequence[Path], named: Sequence[Path] | None = None, embedded: CampaignFolder | None = None
) -> dict[str, dict[str, Any]] | None:
    """The noise floors of A/A runs that a report does not hold, as they are embedded. Raises PlanError."""
    found = noise_for(paths, named, embedded)
    if not found:
        return None
    from bakeoff.compare.planning.noise import stored_noise

    return {name: stored_noise(floor) for name, floor in found.items()}


Made = tuple["Report", "ReportOptions", Sequence[str], Mapping[str, "Comparison"], Mapping[str, "Generators"]]


def _made(embedded: EmbeddedRuns, options: ReportOptions) -> Made:
    from bakeoff.compare.collections.collection import compare_collection
    from bakeoff.compare.model.comparison import Comparison
    from bakeoff.report.collections.collection import compose_collection
    from bakeoff.report.layout.shown_pairs import shown_pairs
    from bakeoff.report.narrate.collections.headlines import result
    from bakeoff.report.paper.contender_styles import arranged

    collection = collection_in(embedded, options)
    # By letter: another may have the files elsewhere.
    options = options.model_copy(update={"failed": collection.failed})
    found = compare_collection(collection, options.baseline, options.delta, _floors(options))
    among = _styles(options, collection)
    runs, found = collection.runs, arranged(found, among)
    _check_surfaces(options, collection.path, [run.kind for run in runs.values()])
    shown = shown_pairs(options.pairs, collection.contenders)
    made = compose_collection(collection, found, options.surfaces, shown=shown, among=among)
    if isinstance(found, Comparison):
        (run,) = runs.values()
        return made, options, result(found), {run.suite: found}, _places(run)
    suites = {suite.name: suite.comparison for suite in found.suites if suite.comparison is not None}
    places = {name: _generators(run.agents, run) for name, run in runs.items()}
    return made, options, result(found), suites, places


def _styles(options: ReportOptions, collection: Collection) -> Placed:
    """The contenders in the author's order and colours, where there are any. Raises PlanError."""
    from bakeoff.report.charts.palette import AS_PLANNED
    from bakeoff.report.paper.contender_styles import styles_of

    return AS_PLANNED if options.paper is None else styles_of(paper_of(options.paper), collection.contenders)


def _floors(options: ReportOptions) -> dict[str, NoiseFloor]:
    """What was measured of the set-up, as the report has it. Raises PlanError."""
    if not options.noise:
        return {}
    from bakeoff.compare.planning.noise import read_noise

    return {name: read_noise(stored) for name, stored in options.noise.items()}


def _places(run: RunRecord) -> dict[str, Generators]:
    """Who sent the load, and whereto: of the suite, or of several run files by their letters."""
    return {f.label or run.suite: _generators(run.agents or _by_file(f), f.run) for f in run.files}


def _generators(agents: Sequence[AgentRecord], run: RunRecord) -> Generators:
    from bakeoff.report.paper.testbed import Generators

    addresses = tuple((one.name, one.address) for one in run.contenders)
    return Generators(tuple(agents), addresses, (run.created_at[:10],) if run.created_at else ())


def _by_file(file: JoinedFile) -> list[AgentRecord]:
    """Of several run files whose machines differ, each with the letter of its file."""
    return [replace(agent, name=f"{agent.name} ({file.label})") for agent in file.run.agents]


def _check_surfaces(options: ReportOptions, path: Path, kinds: Sequence[str]) -> None:
    """Raises PlanError where they are asked for, and nothing that was measured has any."""
    if options.surfaces and kinds and not any(map(_has_surfaces, kinds)):
        drawn, of = ", ".join(filter(_has_surfaces, KINDS)), ", ".join(dict.fromkeys(kinds))
        raise PlanError(f"--surfaces draws runs of {drawn}, {path} is one of {of}: leave it out")


def _has_surfaces(kind: str) -> bool:
    """Whether the cells of a kind differ by two sizes."""
    from bakeoff.compare.kind import compare_part

    cells = compare_part(kind).cells
    return cells is not None and len(cells.axes) == 2
