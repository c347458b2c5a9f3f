"""Errors by whose fault they are; each message says in one sentence what is wrong and what to do.

The command line prints the message and ends with exit code 2 for every one of them; anything else that
escapes is a defect of Bakeoff and keeps its traceback.
"""

from collections.abc import Mapping


class BakeoffError(Exception):
    """Base of every error that the user can put right."""


class PlanError(BakeoffError):
    """The plan, a suite name, a setting or a flag is wrong."""


class GeneratorError(BakeoffError):
    """The load-generating machine cannot do what is asked: rights, limits, disk, engine."""


class AgentLostError(GeneratorError):
    """A machine that sends load is gone."""

    def __init__(self, agent: str, reason: str) -> None:
        super().__init__(f"agent {agent} was lost: {reason}")
        self.agent = agent
        self.reason = reason


class ContenderError(BakeoffError):
    """A contender cannot be used as it is: unreachable, refused, wrong content."""


class RunFileError(BakeoffError):
    """A run file is missing, damaged, too new, in use or cannot be written."""


class AbsentError(ContenderError):
    """Some contenders cannot be used as they are: `reasons` says why, by name."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__("; ".join(reasons.values()))
        self.reasons = dict(reasons)
