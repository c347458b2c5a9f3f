"""Machines of a cluster as agents, reached by Ray: one actor on each, which is a `Host` there.

Ray brings questions and answers and says when a machine is gone; everything else is in bakeoff.agents.remote. Nothing
is restarted or tried again by Ray: a trial that was sent twice would be two loads.
"""

import atexit
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import ray
import ray._private.worker as ray_worker
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy, PlacementGroupSchedulingStrategy

from bakeoff.agents.base import Facts
from bakeoff.agents.cluster.addresses import numeric, reach, split_address
from bakeoff.agents.cluster.cores import use_agent_cores
from bakeoff.agents.cluster.hello import refuse_incompatible
from bakeoff.agents.cluster.labels import NAME, from_labels
from bakeoff.agents.cluster.settings import HEAD_PORT, RESOURCE
from bakeoff.agents.machine.limits import limits
from bakeoff.agents.remote.agent import RemoteAgent
from bakeoff.agents.remote.head import watch_head
from bakeoff.agents.remote.host import Host
from bakeoff.agents.remote.relay import Group, Relay, groups
from bakeoff.agents.remote.wire import Answer, LineDownError
from bakeoff.core.errors import GeneratorError
from bakeoff.core.system.own_process import own_process
from bakeoff.core.units import plural

NODE = "ray.io/node-id"
PLACES_S = 30.0
THREADS = 16  # questions that a machine answers at once, one of which hears the pulses


class RayReply:
    """An answer that Ray brings."""

    def __init__(self, future: Any) -> None:
        self._future = future

    def get(self, timeout_s: float) -> Answer:
        try:
            kind, content = self._future.result(timeout_s)
        except RayTaskError:
            raise  # a defect of ours, with its traceback
        except RayError as error:
            raise LineDownError(why(error)) from None
        return kind, content


class RayLine:
    """The way to a machine that is an actor."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor
        self._pulses: Any = None

    def ask(self, method: str, *words: Any) -> RayReply:
        try:
            return RayReply(self._actor.answer.remote(method, *words).future())
        except RayError as error:
            raise LineDownError(why(error)) from None

    def pulse(self, timeout_s: float) -> str | None:
        try:
            if self._pulses is None:
                self._pulses = self._actor.pulses.options(num_returns="streaming").remote()
            ready, _ = ray.wait([self._pulses], timeout=timeout_s)
            return str(ray.get(next(self._pulses), timeout=timeout_s)) if ready else None
        except StopIteration:  # they end now and then
            self._pulses = None
            return self.pulse(timeout_s)
        except GetTimeoutError:
            return None
        except RayTaskError:
            raise
        except RayError as error:
            raise LineDownError(why(error)) from None

    def drop(self) -> None:
        with suppress(RayError, ValueError):
            ray.kill(self._actor)


def why(error: RayError) -> str:
    """What an error of Ray means for the machine, as the end of a sentence."""
    text = str(error)
    if isinstance(error, RayActorError):
        if "creation task" in text or "failed to import" in text:
            return "its agent could not begin, as with another build of Bakeoff: install the same wheel there"
        if "node has died" in text:
            return "its machine is gone, or the network to it"
        return "its process ended" if "process has died" in text else "it cannot be reached"
    return f"Ray cannot reach it ({type(error).__name__})"


def connect(address: str) -> None:
    """Become a controller of the cluster whose head is at `address`. Raises GeneratorError with advice."""
    reach(*split_address(address, HEAD_PORT))
    if ray.is_initialized():
        return
    ray_worker.print_to_stdstream = _say_nothing  # what it has to say of lost processes would go to standard output
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
    except (ConnectionError, RayError, ValueError, RuntimeError) as error:
        raise GeneratorError(
            f"the cluster at {address} does not let this machine control it ({_first_line(error)}): run on the machine "
            "where it was started, as the same user"
        ) from None
    logging.getLogger("ray").setLevel(logging.CRITICAL)


def cluster_agents(address: str, count: int, wanted: Sequence[str]) -> list[RemoteAgent]:
    """The agents of `count` machines of the cluster, sorted by name; those that are `wanted`, where any are.

    Raises GeneratorError with advice when there are not so many, or when others use them.
    """
    host, port = split_address(address, HEAD_PORT)
    address = f"{numeric(host)}:{port}"
    connect(address)
    joined = machines()
    chosen = choose(address, sorted(joined), count, wanted)
    ours = limits()
    refuse_incompatible(ours, {name: _facts_of(joined[name]["Labels"]) for name in chosen})
    nodes = [joined[name]["NodeID"] for name in chosen]
    group = placement_group(
        [{RESOURCE: 1.0}] * len(nodes),
        strategy="STRICT_SPREAD",
        bundle_label_selector=[{NODE: node} for node in nodes],
    )
    try:
        ray.get(group.ready(), timeout=PLACES_S)
    except GetTimeoutError:
        raise GeneratorError(
            f"{', '.join(chosen)} did not become free within {PLACES_S:g} s: another run uses them; wait for its end"
        ) from None
    agents = _heard({name: _actor(name, group, index) for index, name in enumerate(chosen)})
    for agent in agents:
        atexit.register(agent.close)
    watch_head(*split_address(address, HEAD_PORT), lambda: _head_is_gone(address, agents))
    refuse_incompatible(
        ours, {agent.name: agent.facts() for agent in agents}
    )  # another wheel may have been put there since
    return agents


def _facts_of(labels: Mapping[str, str]) -> Facts:
    """What a machine said of itself when it joined."""
    return Facts({}, {}, (), (), from_labels(labels))


def _head_is_gone(address: str, agents: Sequence[RemoteAgent]) -> None:
    for agent in agents:
        agent.give_up(f"the head of the cluster at {address} is gone, and the cluster ends with it")


def machines() -> dict[str, dict[str, Any]]:
    """What Ray knows of the nodes that joined to send load and are alive, by agent's name."""
    there = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get(RESOURCE)]
    return {node["Labels"].get(NAME) or node["NodeManagerHostname"]: node for node in there}


def choose(address: str, joined: Sequence[str], count: int, wanted: Sequence[str]) -> list[str]:
    """The machines to use, by name and sorted. Raises GeneratorError when there are too few."""
    missing = [name for name in wanted if name not in joined]
    here = ", ".join(joined) or "none"
    if missing:
        raise GeneratorError(
            f"the run was begun with {', '.join(missing)}, and the cluster at {address} has {here}: join "
            f"{'it' if len(missing) == 1 else 'them'} again by `bakeoff cluster join`"
        )
    if len(joined) < count:
        raise GeneratorError(
            f"the plan asks for {plural(count, 'machine')}, and the cluster at {address} has "
            f"{len(joined)} ({here}): join more by `bakeoff cluster join`, or give a smaller --agents"
        )
    return sorted(wanted) or list(joined[:count])


class Actor(Host):
    """A host in a process that Ray started, which sends load from the cores that `join` set apart for it."""

    def __init__(self, name: str) -> None:
        use_agent_cores()
        own_process(may_idle=False)  # Ray's threads and the pulses must be heard however busy the machine is
        super().__init__(name)


class RayRelay:
    """A relay as an actor, beside the controller."""

    def __init__(self, actors: Mapping[str, Any]) -> None:
        self._relay = Relay({name: RayLine(actor) for name, actor in actors.items()})

    def pulses(self) -> Iterator[str]:
        """Its bundles, as a machine tells its pulses."""
        yield from self._relay.bundles()


def _heard(actors: Mapping[str, Any]) -> list[RemoteAgent]:
    """The machines of these actors: a few are heard directly, many by relays on this machine."""
    parts = groups(list(actors))
    if not parts:
        return [RemoteAgent(name, RayLine(actor)) for name, actor in actors.items()]
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    relays = ray.remote(RayRelay).options(num_cpus=0, max_restarts=0, max_task_retries=0, scheduling_strategy=here)
    agents: list[RemoteAgent] = []
    for names in parts:
        heard = Group(RayLine(relays.remote({name: actors[name] for name in names})).pulse)
        agents += [RemoteAgent(name, heard.line(name, RayLine(actors[name]))) for name in names]
    return agents


def _actor(name: str, group: Any, index: int) -> Any:
    actor = ray.remote(Actor).options(
        num_cpus=0,
        resources={RESOURCE: 1},
        max_concurrency=THREADS,
        max_restarts=0,
        max_task_retries=0,
        scheduling_strategy=PlacementGroupSchedulingStrategy(group, index),
    )
    return actor.remote(name)


def _say_nothing(*_data: Any, **_how: Any) -> None:
    pass


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]
