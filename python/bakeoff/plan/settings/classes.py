"""Classes of operations in a suite, each with its share of all."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import Field

from bakeoff.core.errors import PlanError
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.plan.settings.fields import Strict


class SuiteClass(Strict):
    """One class of operations: a `[[class]]` table of a suite. A kind that says more of its classes derives from it."""

    name: str
    weight: float = Field(gt=0)


C = TypeVar("C", bound=SuiteClass)


def reweighted(classes: Sequence[C], given: Mapping[str, float], what: str) -> list[C]:
    """`classes` with the weights `given` in place of their own, in percent of all; those without weight are left out.

    `what` says in messages what a class is. Raises PlanError for weights of other classes, and for weights that leave
    nothing to do.
    """
    weights = {c.name: c.weight for c in classes}
    for name, weight in given.items():
        if name not in weights:
            raise PlanError(f"weights: there is no {what} {name!r}: {did_you_mean(name, weights)}")
        weights[name] = weight
    total = sum(weights.values())
    if min(weights.values()) < 0 or total <= 0:
        raise PlanError("weights: give shares of 0 or more, not all of them 0")
    return [c.model_copy(update={"weight": 100 * weights[c.name] / total}) for c in classes if weights[c.name] > 0]
