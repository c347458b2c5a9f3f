"""Where the time of contenders went, in words: a step that is most of it, or that waits."""

from __future__ import annotations

from collections.abc import Sequence

from bakeoff.compare.model.comparison import DelayedStep, DominantStep, StepName
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advised import advised
from bakeoff.report.narrate.kind import words_part
from bakeoff.report.narrate.sentences import sentence


def dominant_sentences(found: Sequence[DominantStep]) -> list[str]:
    """ "97 % of the sending time of exim is the reply to QUIT (of postfix 3 %)."."""
    return [_sentence(one) for one in found]


def _sentence(one: DominantStep) -> str:
    others = ", ".join(f"of {name} {wording.percent(share)}" for name, share in one.others.items())
    return f"{wording.percent(one.share)} of the {one.of} of {one.contender} is {step_name(one.words)} ({others})."


@sentence.register
def step_name(of: StepName) -> str:
    """ "the reply to QUIT"."""
    return words_part(of.kind_of_suite).step_words.get(of.step, of.step)


@advised.register
def _(one: DelayedStep) -> tuple[str, str]:
    return (
        f"{one.contender} waits for a delayed acknowledgement: {step_name(one.words)} takes about "
        f"{wording.figures(one.typical_ms, 3)} ms in {wording.percent(one.share)} of the cases or more, in "
        f"{wording.plural(one.trials, 'trial')}, beside steps of {wording.figures(one.other_steps_ms, 2)} ms.",
        "One side writes twice in a row and holds the second write back until the first is acknowledged (Nagle's "
        "algorithm). A server that sets TCP_NODELAY does not wait. The client's writes matter, too: after a TLS "
        "handshake of mail try --factor handshake_apart=no,yes.",
    )
