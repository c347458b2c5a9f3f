"""Whether application servers kept what was written and worked out what was asked, looked at again after each trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bakeoff.compare.failures.faults import FaultSource
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.gate import GateDetail
from bakeoff.compare.model.pair import Gate
from bakeoff.kinds.app.figures import AppFigures, ReadBack
from bakeoff.store.records.run_records import RunRecord, TrialRecord

UNREAD = "unreturned data"
# Of fewer replies than one in a hundred the times may be those of a moment that a clock jumped.
IMPOSSIBLE_SHARE = 0.01


@dataclass(frozen=True)
class Unread(GateDetail):
    """Records that were not given back, of those that were asked for again after the trials."""

    unread: int
    asked: int


@dataclass(frozen=True)
class ImpossibleTimes(Fact):
    """Of the replies that told queue and service times of a contender, how many cannot be."""

    contender: str
    too_long: int
    too_short: int
    told: int


def _lost(trial: TrialRecord) -> dict[str, int]:
    figures = trial.figures(AppFigures)
    later = figures.read_back
    return {
        "lost": figures.verified.lost + (later.lost if later else 0),
        "damaged": figures.verified.damaged + (later.damaged if later else 0),
    }


def _writes(trial: TrialRecord) -> int:
    figures = trial.figures(AppFigures)
    return figures.read_back.writes if figures.read_back else figures.verified.records


def _worked_wrong(trial: TrialRecord) -> dict[str, int]:
    again = trial.figures(AppFigures).worked_again
    return {"wrong": again.wrong if again else 0}


def _worked(trial: TrialRecord) -> int:
    again = trial.figures(AppFigures).worked_again
    return again.checked if again else 0


WRITES = FaultSource("kept", ("lost", "damaged"), _lost, _writes)
WORK = FaultSource("worked_out", ("wrong",), _worked_wrong, _worked)


def read_back(trials: Sequence[TrialRecord]) -> ReadBack | None:
    """What was read again after all these trials; None when nothing was."""
    results = [found for trial in trials if (found := trial.figures(AppFigures).read_back) is not None]
    if not results:
        return None
    names = tuple(ReadBack.model_fields)
    return ReadBack(**{name: sum(getattr(found, name) for found in results) for name in names})


def unread_gates(name: str, usable: Sequence[TrialRecord], ahead: bool) -> list[Gate]:
    """A server that does not give back what it has acknowledged cannot be the better one: nobody knows what it lost."""
    found = read_back(usable)
    if found is None or not found.unread:
        return []
    return [Gate(UNREAD, "red" if ahead else "amber", name, Unread(found.unread, found.asked))]


def impossible_times(run: RunRecord) -> list[Fact]:
    """Contenders whose replies tell queue and service times that cannot be."""
    listed = list[Fact]()
    for contender in run.contenders:
        times = [t.figures(AppFigures).times for t in run.trials if t.contender == contender.name]
        reported = sum(one.told for one in times)
        long, short = sum(one.too_long for one in times), sum(one.too_short for one in times)
        if long + short > IMPOSSIBLE_SHARE * reported:
            listed.append(ImpossibleTimes(contender.name, long, short, reported))
    return listed
