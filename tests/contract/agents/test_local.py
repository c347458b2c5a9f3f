"""The agent in this process keeps the contract."""

import pytest

from bakeoff.agents.base import Agent
from bakeoff.agents.local import LocalAgent
from tests.contract.agents.suite import AgentContract


class TestLocalAgent(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return LocalAgent()
