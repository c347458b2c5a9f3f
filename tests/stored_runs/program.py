"""The command as the stored runs are made with it: patient (`tests/patient.py`), on a machine of whose facts none is
told, and with `--cluster two` as two agents in this process.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bakeoff.agents import make
from bakeoff.agents.base import Facts
from bakeoff.agents.local import LocalAgent
from bakeoff.cli import main
from tests.patient import be_patient
from tests.stored_runs.plain import FACTS

_own = LocalAgent.facts


def _facts(agent: LocalAgent) -> Facts:
    return replace(_own(agent), environment=dict(FACTS), addresses=("127.0.0.1",), links=())


def _two(*_: Any) -> Sequence[LocalAgent]:
    return [LocalAgent("one"), LocalAgent("two")]


if __name__ == "__main__":
    LocalAgent.facts = _facts  # type: ignore[method-assign]
    make.cluster_machines = _two  # type: ignore[assignment]
    be_patient()
    main()
