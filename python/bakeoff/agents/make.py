"""The machines that send load: this one, or those of a cluster."""

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bakeoff.agents.base import Agent
from bakeoff.agents.local import LocalAgent
from bakeoff.core.errors import GeneratorError, PlanError

if TYPE_CHECKING:
    from bakeoff.plan.model import Plan


def make_agent() -> Agent:
    """The agent of this machine. Raises GeneratorError with advice when the engine was not built."""
    return LocalAgent()


def make_agents(plan: "Plan", cluster: str | None, names: Sequence[str] = ()) -> list[Agent]:
    """The agents that carry out a plan: this machine, or machines of the cluster whose head is at `cluster`, sorted by
    their names; `names` are those of a run that is gone on with.

    Raises PlanError for several machines without a cluster, GeneratorError with advice when the engine was not built,
    or when the cluster cannot be used.
    """
    if cluster is None:
        if plan.fleet.agents > 1:
            raise PlanError(
                f"the plan divides the load among {plan.fleet.agents} machines: say with --cluster ADDRESS where they "
                "are" + ("" if names else ", or give --agents 1")
            )
        return [make_agent()]
    return cluster_machines(cluster, plan.fleet.agents, names)


def cluster_machines(cluster: str, count: int, names: Sequence[str] = ()) -> list[Agent]:
    """So many machines of a cluster, sorted by their names. Raises GeneratorError with advice when it cannot be
    used.
    """
    _prepare_ray()
    from bakeoff.agents.ray import cluster_agents

    return [*cluster_agents(cluster, count, names)]


def _prepare_ray() -> None:
    """Tell the library that reaches other machines how it is to behave, before it is loaded.

    Raises GeneratorError where it is not installed, or where this user has no token of a cluster.
    """
    if find_spec("ray") is None:
        raise GeneratorError(
            "--cluster needs Ray, which is not installed here: `pip install 'bakeoff[cluster]'`, on every machine"
        )
    from bakeoff.agents.cluster.settings import environment
    from bakeoff.agents.cluster.token import check_token, default_token_file

    token = default_token_file()
    check_token(token)
    os.environ.update(environment(token))
