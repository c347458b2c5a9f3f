"""What a comparison says of the steadiness of its trials; immutable values, ready to be written as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from bakeoff.compare.model.fact import Fact
from bakeoff.load.load_step import LoadStep


@dataclass(frozen=True)
class Unsteady(Fact):
    """A trial that was not steady. It `settled_s` seconds into its window, at `early` times its later rate before that;
    `changes` are seconds of the window at which the rate changed, each with the factor; `growth` is the factor of its
    trend, 1 without one.
    """

    trial_id: int
    contender: str
    load_step: LoadStep
    block: int
    settled_s: float
    early: float
    changes: tuple[tuple[float, float], ...]
    growth: float


@dataclass(frozen=True)
class ContenderSteadiness:
    """The steadiness of one contender's trials: `judged` were long enough, `effective_share` is the median of the
    independent seconds that the seconds of such a trial are worth, as a share of them; NaN without any.
    """

    contender: str
    judged: int
    effective_share: float
    unsteady: tuple[Unsteady, ...]

    @property
    def unsteady_trials(self) -> UnsteadyTrials | None:
        """That it was not steady; None where it was."""
        of = self.contender, len(self.unsteady), self.judged
        return UnsteadyTrials(*of, max(self.unsteady, key=size)) if self.unsteady else None

    @property
    def worst(self) -> float:
        """The largest change in any of its trials, as a share; 0 without one."""
        return max(map(size, self.unsteady), default=0.0)


def size(each: Unsteady) -> float:
    """The largest of its changes, as a share."""
    return max(abs(factor - 1.0) for factor in (each.early, each.growth, *(by for _, by in each.changes)))


@dataclass(frozen=True)
class UnsteadyTrials(Fact):
    """A contender was not steady in `trials` of `of`, of which this is the `worst`."""

    contender: str
    trials: int
    of: int
    worst: Unsteady


@dataclass(frozen=True)
class NotSteady(Fact):
    """Who was not steady. A longer `ramp_up_s` leaves out what most of their trials were unsteady by; None where it
    does not.
    """

    contenders: tuple[UnsteadyTrials, ...]
    ramp_up_s: int | None


@dataclass(frozen=True)
class SteadyState:
    """Of all contenders; `too_short` trials have fewer than `fewest_s` whole seconds in their window."""

    fewest_s: int
    too_short: int
    contenders: tuple[ContenderSteadiness, ...]
