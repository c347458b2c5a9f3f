"""Dead contenders: their trials are cut, their slots end early, and after some of these the run goes on without them.

What a contender is not asked any more is stored as failed, trial by trial: it has lost it, as if it had been asked.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable

from bakeoff.agents.result import Snapshot
from bakeoff.plan.model import Plan
from bakeoff.plan.settings.network import NetworkSettings
from bakeoff.run.kind import Note
from bakeoff.run.observe.observer import short_duration
from bakeoff.store.records.run_records import (
    DIED,
    FAILED,
    INTERRUPTED,
    LEFT_OUT,
    VOIDED,
    AmendmentRecord,
    RunRecord,
    TrialRecord,
)
from bakeoff.store.sqlite.write import RunWriter, utc_now

# So many failures without a success between them, the last of them not long ago: fewer may be one client's.
FAILURES = 10


class Silence:
    """Sees in the snapshots of one trial when nothing but failures comes back. Trials whose load changes as they go on,
    as those of cells do, may fail at one thing and not at the next: they are never cut.
    """

    def __init__(self, plan: Plan) -> None:
        s = plan.settings
        trial_s = s.setup_teardown_s + s.length_s
        cuts = plan.dead_after_s is not None and isinstance(s, NetworkSettings)
        # Not before it would be failed anyway: a server that comes back in time has its errors counted, no more.
        self._patience_s = max(plan.dead_after_s or 0.0, plan.error_limit * trial_s) if cuts else float("inf")
        self._operations, self._errors, self._failures = 0, 0, 0
        self._success_s, self._failure_s = 0.0, 0.0

    def add(self, snapshot: Snapshot) -> str | None:
        """Why the contender is dead, or None."""
        if snapshot.operations > self._operations:
            self._operations, self._success_s, self._failures = snapshot.operations, snapshot.elapsed_s, 0
        elif snapshot.errors > self._errors:
            self._failures += snapshot.errors - self._errors
            self._failure_s = snapshot.elapsed_s
        self._errors = snapshot.errors
        unresponsive_s, quiet_s = snapshot.elapsed_s - self._success_s, snapshot.elapsed_s - self._failure_s
        if unresponsive_s < self._patience_s or self._failures < FAILURES or quiet_s > self._patience_s / 2.0:
            return None
        return (
            f"dead: nothing but failures came back for {short_duration(unresponsive_s)} ({self._failures:,} of them), "
            f"so that the trial was cut after {short_duration(snapshot.elapsed_s)}"
        )


def is_dead(trials: Iterable[TrialRecord]) -> bool | None:
    """Whether nothing succeeded in the trials of a slot; None when they say nothing about the contender."""
    judged = [trial for trial in trials if trial.state not in (VOIDED, INTERRUPTED)]
    return all(t.state == FAILED and t.operations == 0 for t in judged) if judged else None


class Deaths:
    """Keeps count of dead blocks in a run, and knows without whom it goes on. `retried` contenders are asked again."""

    def __init__(
        self,
        plan: Plan,
        run: RunRecord,
        writer: RunWriter,
        ask: Callable[[str], bool] | None,
        tell: Callable[[Note], None],
        retry: bool = False,
    ) -> None:
        self._plan, self._writer, self._ask, self._tell = plan, writer, ask, tell
        self._run, self._in_a_row, self._dead = run, defaultdict[str, int](int), defaultdict[str, list[int]](list)
        self._left_out: dict[str, str] = {}
        if not retry:
            self._remember(run)

    def _remember(self, run: RunRecord) -> None:
        """What a run that is gone on with has come to."""
        slots: dict[tuple[int, str], list[TrialRecord]] = defaultdict(list)
        for trial in run.trials:
            slots[trial.block, trial.contender].append(trial)
        pending = {(trial.block, trial.contender) for trial in run.pending}
        dead = {slot: is_dead(trials) for slot, trials in slots.items() if slot not in pending}
        if run.searches:
            dead = {(search.block, search.contender): search.outcome == DIED for search in run.searches}
        for (block, contender), is_so in sorted(dead.items()):
            self._count(contender, block, is_so)
        outcomes = [(t.contender, t.block, t.code) for t in run.trials]
        outcomes += [(s.contender, s.block, s.code) for s in run.searches]
        for each in run.amended(LEFT_OUT):
            since = [code for name, block, code in outcomes if name == each.contender and block > each.blocks_seen + 1]
            # Who was asked again since then is there again.
            if each.contender is not None and all(code == LEFT_OUT for code in since):
                self._left_out[each.contender] = each.text

    def why_left_out(self, contender: str) -> str | None:
        """Why nothing is asked of it any more, as the reason of its trials; None when it takes part."""
        why = self._left_out.get(contender)
        return None if why is None else f"left out: {why}"

    def code_of(self, contender: str) -> str:
        """What the reason of its trials is about, as it is stored."""
        return LEFT_OUT if contender in self._left_out else ""

    def slot_ended(self, contender: str, block: int, dead: bool | None) -> None:
        """A slot is over. Decides whether the run goes on with its contender."""
        if contender in self._left_out:
            return
        self._count(contender, block, dead)
        if self._in_a_row[contender] < self._plan.dead_blocks or block >= self._plan.blocks or not dead:
            return
        blocks = self._dead[contender]
        words = f"dead in {len(blocks)} of {self._plan.blocks} blocks"
        if not self._leaves(contender, words):
            self._in_a_row[contender] = 0
            return
        self._left_out[contender] = f"{words}, left out from block {block + 1}"
        self._tell(Note("warning", f"{contender}: {self._left_out[contender]}; what it is not asked counts as failed"))
        seen, run = max(0, block - 1), self._run
        self._writer.amend(
            AmendmentRecord(
                utc_now(), LEFT_OUT, self._left_out[contender], seen, self._plan.blocks, self._plan.blocks, contender,
                run.plan_hash,
            )
        )  # fmt: skip

    def _count(self, contender: str, block: int, dead: bool | None) -> None:
        if dead is None:
            return
        self._in_a_row[contender] = self._in_a_row[contender] + 1 if dead else 0
        if dead:
            self._dead[contender].append(block)

    def _leaves(self, contender: str, words: str) -> bool:
        """Whether the run goes on without it: by the plan, or by who sits at the terminal."""
        if self._plan.when_dead != "ask" or self._ask is None:
            return self._plan.when_dead != "go-on"
        return self._ask(f"{contender} was {words}. Go on without it? What it is not asked counts as failed.")
