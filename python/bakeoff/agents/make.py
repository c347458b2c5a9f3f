"""The machines that send load: this one."""

from bakeoff.agents.base import Agent
from bakeoff.agents.local import LocalAgent


def make_agent() -> Agent:
    """The agent of this machine. Raises LabError with advice when the engine was not built."""
    return LocalAgent()
