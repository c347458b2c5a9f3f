"""What planning by a pilot assumes, and why a suite has no answer, in words."""

from __future__ import annotations

from bakeoff.compare.planning.power import Assumption, OtherSetting
from bakeoff.compare.planning.power_suites import NotKnown
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence

LONGEST = 40


@sentence.register
def assumed(one: Assumption) -> str:
    """ "all pairs vary as a and b, the widest of the pilot"."""
    pair = " and ".join(one.pilot)
    match one.kind:
        case "alone":
            return (
                f"{pair} stands for both of a pair, whose blocks have nothing in common: pairs that drift together "
                "vary less"
            )
        case "other_pair":
            return f"{wording.names(one.names)} vary against each other as {pair} did"
        case "widest_pair":
            return f"all pairs vary as {pair}, the widest of the pilot"
        case "other_work":
            (work,) = one.names
            return f"{work} varies as {pair} did, which is another work: take a pilot of {work}"
        case "other_settings":
            more = [f"and {one.number} more"] if one.number else []
            listed = "; ".join([*map(_setting, one.settings), *more])
            return f"the spread is as in the pilot, though its settings differ: {listed}"
        case "lost":
            were = "was" if one.number == 1 else "were"
            return f"{wording.plural(one.number, 'trial')} of the pilot {were} forfeited, which widens it"
        case "few_blocks":
            return f"the spread of {one.number} blocks is a rough guess: see its range"


def _setting(one: OtherSetting) -> str:
    return f"{one.name} {_short(one.pilot)}, here {_short(one.here)}" if one.name else "settings of single contenders"


def _short(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else f"{value}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]} …"


@sentence.register
def not_known(why: NotKnown) -> str:
    """Why nothing is told of a suite."""
    match why.kind:
        case "no_pilot":
            return f"no pilot of {why.suite}"
        case "alone":
            return "one contender, none to compare it with"
        case "unusable":
            return why.fault
