"""What a machine says of itself when it joins, as labels that everybody with the token can read without asking it."""

import re
from collections.abc import Mapping
from dataclasses import replace

from bakeoff.agents.machine.limits import Limits
from bakeoff.core.errors import PlanError

PREFIX = "bakeoff."
NAME = "bakeoff.agent"  # how plans and reports call the machine; the head has none
LINK = "bakeoff.link"
LABEL = re.compile(r"[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?")
NONE = "none"


def check_name(name: str) -> str:
    """The name, when a machine can be called so. Raises PlanError."""
    if not LABEL.fullmatch(name):
        raise PlanError(
            f"no machine can be called {name!r}: use up to 63 letters, digits, '-', '_' and '.', first and last a "
            "letter or a digit (--name)"
        )
    return name


def to_labels(limits: Limits, link: str = "") -> dict[str, str]:
    """The limits of a process, and how it is linked, as labels."""
    labels = {
        "nice": str(limits.nice).replace("-", "minus"),
        "files": NONE if limits.open_files is None else str(limits.open_files),
        "cores": str(len(limits.affinity)),
        "quota": NONE if limits.quota_cores is None else f"{limits.quota_cores:g}",
        "python": limits.python,
        "ray": limits.ray or NONE,
        "package": limits.package,
        "engine": limits.engine,
        "sources": limits.sources,
        "link": link,
    }
    return {PREFIX + name: value for name, value in labels.items() if LABEL.fullmatch(value)}


def from_labels(labels: Mapping[str, str]) -> Limits:
    """The limits that a machine told; its processors are counted, not named."""

    def label(name: str) -> str:
        value = labels.get(PREFIX + name, "")
        return "" if value == NONE else value

    def number(name: str) -> int | None:
        return int(label(name)) if label(name).isdigit() else None

    nice = label("nice").replace("minus", "-")
    quota = label("quota")
    limits = Limits(
        open_files=number("files"),
        affinity=tuple(range(min(number("cores") or 1, 65536))),
        quota_cores=float(quota) if re.fullmatch(r"\d+(\.\d+)?", quota) else None,
        python=label("python"),
        ray=label("ray") or None,
        package=label("package"),
        engine=label("engine"),
        sources=label("sources"),
    )
    return replace(limits, nice=int(nice)) if re.fullmatch(r"-?\d+", nice) else limits
