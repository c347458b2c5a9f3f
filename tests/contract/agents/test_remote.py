"""An agent that is reached over a line keeps the contract."""

from collections.abc import Iterator

import pytest

from bakeoff.agents.base import Agent
from bakeoff.agents.remote import agent as near
from bakeoff.agents.remote import trial as there
from tests.contract.agents.suite import AgentContract
from tests.control import PATIENCE_S
from tests.unit.agents.direct import direct


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is lost because the machine is busy."""
    for name in ("SILENCE_S", "IDLE_SILENCE_S", "BEGIN_S", "ANSWER_S"):
        monkeypatch.setattr(near, name, PATIENCE_S)
    monkeypatch.setattr(there, "DEAD_MAN_S", PATIENCE_S)


class TestRemoteAgent(AgentContract):
    @pytest.fixture
    def agent(self) -> Iterator[Agent]:
        agent, _ = direct()
        yield agent
        agent.close()
