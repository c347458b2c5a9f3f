"""The machines of a cluster as its head knows them. What is asked for needs a token, but nothing of Ray on this machine
besides the library.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from bakeoff.agents.cluster.settings import RESOURCE, environment
from bakeoff.core.errors import GeneratorError

ANSWER_S = 10.0


@dataclass(frozen=True)
class Node:
    """A machine that is in the cluster now: its address, what it says of itself, and whether it sends load now."""

    address: str
    labels: Mapping[str, str]
    head: bool
    busy: bool
    port: int


def nodes(address: str, token_file: Path) -> list[Node]:
    """The machines that are there. The head must have been reached before. Raises GeneratorError when the token is
    not its.

    Settings are read when Ray is loaded: it must not have been before with others.
    """
    os.environ.update(environment(token_file))
    from ray._raylet import GcsClient  # type: ignore[attr-defined]
    from ray.exceptions import AuthenticationError

    try:
        client = GcsClient(address=address)
        known = client.get_all_node_info(timeout=ANSWER_S)
        used = client.get_all_resource_usage(timeout=ANSWER_S)
    except AuthenticationError:
        raise GeneratorError(
            f"the cluster at {address} does not take the token {token_file}: copy the one that `bakeoff cluster start` "
            "named there"
        ) from None
    except Exception as error:  # of many classes, some of them of C++
        text = str(error).splitlines()
        raise GeneratorError(
            f"the cluster at {address} does not answer ({text[0][:200] if text else type(error).__name__}): see "
            "`bakeoff cluster status` there"
        ) from None
    free = {
        usage.node_id: dict(usage.resources_available).get(RESOURCE, 0.0) for usage in used.resource_usage_data.batch
    }
    return [
        Node(
            address=info.node_manager_address,
            labels=dict(info.labels),
            head=info.is_head_node,
            busy=RESOURCE in info.resources_total and free.get(info.node_id, 1.0) < 1.0,
            port=info.node_manager_port,
        )
        for info in known.values()
        if info.state == 0  # ALIVE
    ]


def main() -> None:
    """`python -m bakeoff.agents.ray_nodes ADDRESS TOKEN-FILE`: the nodes as JSON, or the error's sentence."""
    address, token_file = sys.argv[1:]
    try:
        reply: dict[str, object] = {"nodes": [asdict(node) for node in nodes(address, Path(token_file))]}
    except GeneratorError as error:
        reply = {"error": str(error)}
    sys.stdout.write(json.dumps(reply) + "\n")


if __name__ == "__main__":
    main()
