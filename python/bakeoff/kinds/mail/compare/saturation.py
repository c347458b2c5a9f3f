"""At which loads a mail server is saturated: where the mean step takes as long as the threshold of the plan."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from bakeoff.core.errors import PlanError
from bakeoff.kinds.mail.compare.summary import SIDES, Saturated, Saturation
from bakeoff.kinds.mail.figures import MailFigures, Steps
from bakeoff.kinds.mail.plan import mail_settings
from bakeoff.load.load_step import LoadStep
from bakeoff.store.records.run_records import ContenderRecord, RunRecord, TrialRecord
from bakeoff.testdata.mail.address import parse_mail_address


def threshold_s(run: RunRecord) -> float:
    """From which mean step on a contender is called saturated, s."""
    return mail_settings(run.planned.settings).saturated_at_s


def mean_steps(name: str, load_step: LoadStep, trials: list[TrialRecord]) -> Saturation:
    """Over all steps of all trials of a contender at a load step that did not fail: of a server that did nobody
    knows.
    """
    sides = [(one.sending, one.reading) for one in (trial.figures(MailFigures).response for trial in trials)]
    sending, reading = ([side[place] for side in sides] for place in (0, 1))
    return Saturation(name, load_step, _mean_s(sending), _mean_s(reading), _mean_s([*sending, *reading]))


def _mean_s(sides: Iterable[Steps]) -> float:
    """Over all steps of all trials: a block with few steps must not weigh more than one with many."""
    known = [side for side in sides if side.steps > 0 and math.isfinite(side.mean_s)]
    total = sum(side.steps for side in known)
    return sum(side.steps * side.mean_s for side in known) / total if total else math.nan


def saturated(run: RunRecord, means: Sequence[Saturation], at_s: float) -> tuple[Saturated, ...]:
    """Who is saturated, side by side: the lowest load step at which it is, and any higher ones at which it is not."""
    found = []
    for contender in run.contenders:
        own = [one for one in means if one.contender == contender.name]
        for side in SIDES:
            over = [one.mean_s(side) >= at_s for one in own]
            if not any(over):
                continue
            first = own[over.index(True)]
            below = tuple(one.load_step for one in own[over.index(True) :] if one.mean_s(side) < at_s)
            protocol = protocols(contender)[side]
            found.append(Saturated(contender.name, side, protocol, first.load_step, first.mean_s(side), below))
    return tuple(found)


def protocols(contender: ContenderRecord) -> dict[str, str]:
    """By which protocol each of `SIDES` speaks."""
    try:
        sending = parse_mail_address(contender.address).sending.protocol.upper()
    except PlanError:  # of a file that came from elsewhere
        sending = "SMTP"
    return {"sending": sending, "reading": "POP3", "together": f"{sending} and POP3"}
