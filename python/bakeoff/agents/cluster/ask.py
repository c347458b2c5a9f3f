"""Who is in a cluster, asked of its head by a process of its own: this one loads nothing of Ray."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from bakeoff.agents.cluster.addresses import reach, split_address
from bakeoff.agents.cluster.labels import LINK, NAME, from_labels
from bakeoff.agents.cluster.settings import HEAD_PORT
from bakeoff.agents.cluster.token import check_token
from bakeoff.agents.machine.limits import Limits
from bakeoff.core.errors import GeneratorError

ANSWER_S = 60.0


@dataclass(frozen=True)
class Member:
    """A machine of a cluster. `name` is empty for the head, which sends no load."""

    name: str
    address: str
    limits: Limits
    link: str
    busy: bool
    labels: Mapping[str, str]


def need_ray() -> None:
    """Raises GeneratorError where Ray is not installed."""
    if find_spec("ray") is None:
        raise GeneratorError("a cluster needs Ray, which is not installed here: `pip install 'bakeoff[cluster]'`")


def members(cluster: str, token_file: Path) -> list[Member]:
    """The head, then the machines that joined, by name. Raises GeneratorError."""
    need_ray()
    check_token(token_file)
    host, port = split_address(cluster, HEAD_PORT)
    reach(host, port)
    command = [sys.executable, "-m", "bakeoff.agents.ray_nodes", f"{host}:{port}", str(token_file)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=ANSWER_S)
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise GeneratorError(
            f"the cluster at {host}:{port} does not answer within {ANSWER_S:g} s: is its network cut?"
        ) from None
    except ValueError:
        text = next(iter(reversed(done.stderr.strip().splitlines())), "nothing")[:200]
        raise GeneratorError(f"the cluster at {host}:{port} cannot be asked: Ray said {text}") from None
    if "error" in answer:
        raise GeneratorError(answer["error"])
    found = [_member(node) for node in answer["nodes"] if node["head"] or NAME in node["labels"]]
    return sorted(found, key=lambda member: member.name)


def _member(node: Mapping[str, object]) -> Member:
    labels = node["labels"]
    assert isinstance(labels, dict)
    return Member(
        name="" if node["head"] else labels[NAME],
        address=str(node["address"]),
        limits=from_labels(labels),
        link=labels.get(LINK, ""),
        busy=bool(node["busy"]),
        labels=labels,
    )
