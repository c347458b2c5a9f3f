"""What stands on a machine that sends load for a controller elsewhere: a local agent, asked by name of the method.

It knows nothing of how the questions arrive. Many threads ask at once; one hears the pulses.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.remote.plan_folder import plan_folder
from bakeoff.agents.remote.spec import CutSpec, Parts
from bakeoff.agents.remote.spooled import Keeper
from bakeoff.agents.remote.trial import HostedTrial
from bakeoff.agents.remote.wire import DEMAND, FACTS, PULSE_S, Answer, Pulse, answered
from bakeoff.agents.result import EngineEvent, Outcome, SpooledResult
from bakeoff.agents.spec import TrialSpec
from bakeoff.core.errors import GeneratorError
from bakeoff.plan.input.files import placed
from bakeoff.plan.model import Contender
from bakeoff.run.kind import Check, Note

# Pulses end now and then and are asked for again, so that nothing grows with the length of a soak.
PULSES = 1000
CLEAR_S = 5.0


class Host:
    """The agent of this machine for a controller elsewhere, which calls it `name`. `folder` is where results are kept,
    by default in the user's state folder.
    """

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self._name = name
        self._keeper = Keeper(name, folder)
        self._agent: LocalAgent | None = None
        self._heard = time.monotonic()
        self._parts = Parts()
        self._checks: list[Check] = []
        self._files = bytearray()
        self._trial: HostedTrial | None = None
        self._changed = threading.Event()
        self._lock = threading.Lock()

    def answer(self, method: str, *words: Any) -> Answer:
        """What the method called so gives, or the error that a user can put right."""
        self._heard = time.monotonic()
        asked: Callable[..., Any] = getattr(self, f"do_{method}")
        return answered(lambda: asked(*words))

    def pulses(self) -> Iterator[str]:
        """How the trial of this machine is, every 200 ms, once a second while traffic runs, and whenever something
        happens to it.
        """
        for _ in range(PULSES):
            self._changed.clear()
            trial = self._trial
            yield (Pulse() if trial is None else trial.pulse()).model_dump_json()
            self._changed.wait(PULSE_S if trial is None else trial.pulse_s)

    def do_heard(self) -> int:
        """The controller is there; the process that it talks to."""
        return os.getpid()

    def do_clock(self) -> int:
        return time.monotonic_ns()

    def do_facts(self) -> str:
        return FACTS.dump_json(self._local().facts()).decode()

    def do_preflight(self, demand: str) -> list[str]:
        return list(self._local().preflight(DEMAND.validate_json(demand)))

    def do_part(self, digest: str, piece: bytes, last: bool) -> None:
        """A piece of what is large in specifications."""
        self._parts.take(digest, piece, last)

    def do_accept(self, head: str, work: str, parts: dict[str, str]) -> None:
        spec = self._spec(head, work, parts)
        self._local().accept(spec, spec.slice)

    def do_spooled(self, key: str) -> str | None:
        return self._keeper.find(key)

    def do_forget(self, key: str) -> None:
        self._keeper.forget(key)

    def do_start(self, head: str, work: str, parts: dict[str, str], key: str) -> int:
        """See Agent; gives the number of the trial. One at a time runs."""
        with self._lock:
            before = self._trial
            if before is not None and not before.over:
                before.cancel()
                if not before.wait(CLEAR_S):
                    raise GeneratorError(
                        "its trial of before does not end: stop `bakeoff cluster join` there, join it again"
                    )
            spec = self._spec(head, work, parts)
            self._keeper.forget(key)  # of an attempt before, whose other parts may be gone
            session = self._local().start(spec, spec.slice)
            number = 1 if before is None else before.number + 1
            keep = partial(self._keep, key, datetime.now(UTC).isoformat(timespec="milliseconds"))
            self._trial = HostedTrial(number, session, self._last_heard, self._changed.set, keep)
            return number

    def do_go(self, trial: int, at_ns: int) -> None:
        self._of(trial).go(at_ns)

    def do_release_barrier(self, trial: int, number: int, at_ns: int) -> None:
        self._of(trial).release_barrier(number, at_ns)

    def do_cancel(self, trial: int) -> None:
        self._of(trial).cancel()

    def do_outcome(self, trial: int) -> tuple[str, dict[str, bytes]]:
        """The outcome of a trial that is over."""
        return self._of(trial).outcome()

    def do_events(self, trial: int, since: int) -> str:
        """Events of a trial from number `since` on."""
        return self._of(trial).events(since)

    def do_rows(self, trial: int, since: int) -> list[Any]:
        """Rows of a soak from number `since` on."""
        return self._of(trial).rows(since)

    def do_files(self, piece: bytes) -> None:
        """A piece of the files that the plan of the next check names."""
        self._files += piece

    def do_check(self, plan: str) -> int:
        """See Agent; gives the number of the check. What the plan names is kept for as long as this process lives."""
        packed, self._files = bytes(self._files), bytearray()
        self._checks.append(self._local().check(placed(json.loads(plan), packed, plan_folder(self))))
        return len(self._checks) - 1

    def do_examine(self, check: int, contender: str) -> None:
        self._checks[check].examine(self._contender(check, contender))

    def do_answers(self, check: int, contender: str) -> None:
        self._checks[check].answers(self._contender(check, contender))

    def do_unchanged(self, check: int, contender: str) -> None:
        self._checks[check].unchanged(self._contender(check, contender))

    def do_compare(self, check: int) -> str:
        return _notes(self._checks[check].compare())

    def do_addresses(self, check: int, contender: str) -> list[str]:
        return list(self._checks[check].addresses(self._contender(check, contender)))

    def do_workload(self, check: int, contender: str, addresses: list[str]) -> str:
        return self._checks[check].checked_workload(self._contender(check, contender), addresses).model_dump_json()

    def do_learn(self, check: int, contender: str, lessons: str) -> None:
        self._checks[check].learn(self._contender(check, contender), json.loads(lessons))

    def do_found(self, check: int) -> str:
        return json.dumps(self._checks[check].facts())

    def do_close(self, check: int) -> str:
        return _notes(self._checks[check].close())

    def _keep(self, key: str, started_at: str, outcome: Outcome, events: list[EngineEvent]) -> None:
        """Keep what a trial came to, if it came to its end."""
        if key and not outcome.result.cancelled and outcome.result.fatal is None:
            self._keeper.keep(key, SpooledResult(started_at, outcome, tuple(events)))

    def _spec(self, head: str, work: str, parts: dict[str, str]) -> TrialSpec:
        return TrialSpec.model_validate_json(self._parts.joined(CutSpec(head, work, parts)))

    def _of(self, number: int) -> HostedTrial:
        trial = self._trial
        if trial is None or trial.number != number:
            raise GeneratorError("its trial is over and was followed by another one")
        return trial

    def _last_heard(self) -> float:
        return self._heard

    def _local(self) -> LocalAgent:
        """The agent here; where its engine is missing, whoever asks is told."""
        if self._agent is None:
            self._agent = LocalAgent(self._name)
        return self._agent

    def _contender(self, check: int, name: str) -> Contender:
        return next(one for one in self._checks[check].plan.contenders if one.name == name)


def _notes(notes: Any) -> str:
    return json.dumps([asdict(note) for note in notes])


def notes_heard(text: str) -> list[Note]:
    """The notes that crossed."""
    return [Note(**note) for note in json.loads(text)]
