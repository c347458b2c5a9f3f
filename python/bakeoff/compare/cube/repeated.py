"""Trials that were repeated because they had failed or were void, and contenders that a run went on without.

The repetition counts, at the user's word; the failed trial stays in the file and in the report, and whoever failed it
is named beside every verdict: a server that fails now and then must not look as good as one that does not.
"""

from __future__ import annotations

from bakeoff.compare.model.comparison import LeftOutContender, Repeated
from bakeoff.store.records.run_records import INTERRUPTED, LEFT_OUT, RunRecord


def repeated_trials(run: RunRecord) -> tuple[Repeated, ...]:
    """All of them, in the order in which they were done first."""
    now = {trial.order: trial.state for trial in run.trials}
    return tuple(
        Repeated(t.id, t.contender, t.load_step, t.block, t.order, t.state, t.reason, _again(now.get(t.order)))
        for t in sorted(run.earlier, key=lambda trial: trial.id)
    )


def _again(state: str | None) -> str:
    return "" if state is None or state == INTERRUPTED else state


def left_out_contenders(run: RunRecord) -> tuple[LeftOutContender, ...]:
    """Those that the run went on without, and has not taken in again by repeating what they failed."""
    by_name = {each.contender: each for each in run.amended(LEFT_OUT) if each.contender is not None}
    found = []
    for name, each in by_name.items():
        own = [trial for trial in run.trials if trial.contender == name]
        missing = [t.block for t in own if t.code == LEFT_OUT]
        missing += [s.block for s in run.searches if s.contender == name and s.code == LEFT_OUT]
        if missing:
            found.append(LeftOutContender(name, min(missing), each.text))
    return tuple(found)
