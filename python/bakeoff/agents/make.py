"""The machines that send load: this one, or those of a cluster."""

import importlib
from typing import TYPE_CHECKING

from bakeoff.agents.base import Agent
from bakeoff.agents.local import LocalAgent
from bakeoff.errors import LabError

if TYPE_CHECKING:
    from bakeoff.plan.model import Plan


def make_agent() -> Agent:
    """The agent of this machine. Raises LabError with advice when the engine was not built."""
    return LocalAgent()


def make_agents(plan: "Plan", cluster: str | None) -> list[Agent]:
    """The agents that carry out a plan: this machine, or machines of the cluster whose head is at `cluster`, sorted by
    their names.

    Raises LabError with advice when the engine was not built, or when the cluster cannot be used.
    """
    if cluster is None:
        return [make_agent()]
    _need_ray()
    raise LabError(f"no machine has joined the cluster at {cluster}: start one there")


def _need_ray() -> None:
    """Raises LabError where the library that reaches other machines is not installed."""
    try:
        importlib.import_module("ray")
    except ImportError:
        raise LabError(
            "--cluster needs Ray, which is not installed here: `pip install 'bakeoff[cluster]'`, on every machine"
        ) from None
