"""What `bakeoff challenge` reads, and the user's word on what its plans do."""

from __future__ import annotations

import hashlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from bakeoff.core.errors import PlanError
from bakeoff.core.sanitize import sanitize
from bakeoff.core.system.bounded_read import MIB, read_bounded
from bakeoff.plan.model import LOAD_STEPS, Contender, Plan
from bakeoff.report.renderers import form_of
from bakeoff.run.checks.plan_origin import is_marked
from bakeoff.run.checks.trust import agreed
from bakeoff.run.modes.challenge import foreign_acts
from bakeoff.store.collections.campaign import CAMPAIGN, is_campaign_folder, read_mark, sha256_of
from bakeoff.store.collections.collection import THE_RUN, read_collection

MOST_BYTES = 256 * MIB
RUN_ENDING = ".bakeoff"
WITH_PLAN = ("html", "pdf")
"""The forms of reports that hold their plan."""


@dataclass(frozen=True)
class ChallengeSource:
    """What is challenged: the data that a report of it holds, and its SHA-256. A run file or a campaign's folder is
    `stored`: it has what reports hide. `is_own` says that this user started it here.
    """

    path: Path
    data: Mapping[str, Any]
    sha256: str
    stored: bool = False
    is_own: bool = False


def read_source(path: Path) -> ChallengeSource:
    """Read a report, a run file, or the folder of a campaign. Raises PlanError or RunFileError."""
    if is_campaign_folder(path):
        return _stored(path, "")
    form = form_of(path)
    if form is None and path.suffix != RUN_ENDING:
        raise PlanError(
            f"{path} is neither a report (.html or .pdf), nor a run file ({RUN_ENDING}), nor the folder of a campaign: "
            "name one"
        )
    if form is not None and form not in WITH_PLAN:
        raise PlanError(
            f"{path} holds no plan: no report in {form if form != 'terminal' else 'plain text'} does: name the same "
            "report as .html or .pdf, its run file, or the folder of its campaign"
        )
    try:
        content = read_bounded(path, MOST_BYTES)
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {error.strerror or error}") from None
    sha256 = hashlib.sha256(content).hexdigest()
    return _stored(path, sha256) if form is None else _report(path, form, content, sha256)


def _report(path: Path, form: str, content: bytes, sha256: str) -> ChallengeSource:
    from bakeoff.report.embed.embedded_data import data_of

    data = data_of(form, content, str(path))
    if "plans" in data:
        raise PlanError(f"{path} covers several run files: challenge one of them")
    return ChallengeSource(path, data, sha256)


def _stored(path: Path, sha256: str) -> ChallengeSource:
    """A run file, or the folder of a campaign, which is known by the SHA-256 of its files."""
    from bakeoff.compare.collections.collection import compare_collection
    from bakeoff.report.collections.collection import data_of_collection

    collection = read_collection([path])
    data = data_of_collection(collection, compare_collection(collection))
    if (folder := collection.folder) is not None:
        own = is_marked(path / CAMPAIGN, folder.campaign.hash, read_mark(path))
        return ChallengeSource(path, data, sha256_of(folder), stored=True, is_own=own)
    run = collection.runs[THE_RUN]
    return ChallengeSource(path, data, sha256, stored=True, is_own=is_marked(path, run.plan_hash, run.started_here))


def agree(source: ChallengeSource, plans: Sequence[Plan], own: Sequence[Contender], trust: bool) -> None:
    """Ends with exit code 2 where the user does not agree to what the `plans` do beside asking the challenger, whose
    contenders are `own`.
    """
    lines = list(dict.fromkeys(line for plan in plans for line in foreign_acts(plan, plan.contenders)))
    asks = sys.stdin.isatty() and sys.stderr.isatty()
    how = f"bakeoff challenge {shlex.quote(str(source.path))} … --trust (and --rerun none without its contenders)"
    trust = trust or source.is_own
    if not agreed(lines, str(source.path), trust, _ask if asks else None, how):
        typer.echo("nothing was done", err=True)
        raise typer.Exit(2)
    if not asks or trust:
        for line in lines:
            typer.echo(f"trusted: {line}", err=True)
    when = "trial" if any(plan.order == LOAD_STEPS for plan in plans) else "block"
    for contender in own[:1]:
        if contender.reset is not None:
            typer.echo(f"run in a shell before each {when} of {contender.name}: {sanitize(contender.reset)}", err=True)


def _ask(lines: list[str]) -> bool:
    typer.echo("To challenge this report would:\n" + "".join(f"  {line}\n" for line in lines), err=True, nl=False)
    return typer.confirm("Do all of this?", err=True)
