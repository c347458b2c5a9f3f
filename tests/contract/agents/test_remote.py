"""An agent that is reached over a line keeps the contract."""

from collections.abc import Iterator

import pytest

from bakeoff.agents.base import Agent
from tests.contract.agents.suite import AgentContract
from tests.unit.agents.direct import direct


class TestRemoteAgent(AgentContract):
    @pytest.fixture
    def agent(self) -> Iterator[Agent]:
        agent, _ = direct()
        yield agent
        agent.close()
