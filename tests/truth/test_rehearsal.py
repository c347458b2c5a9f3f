"""What the engine's own client would refuse in every trial is refused before the first one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.core.errors import ContenderError
from bakeoff.run.checks.rehearsal import rehearse
from bakeoff.run.checks.specs import trial_spec
from tests.conftest import Target
from tests.unit.run.fake import WEB, plan_for


def rehearsed(server: Target, certificate: Path) -> None:
    plan = plan_for(f"https://{server.address}/", suite="web-url", ca_file=str(certificate))
    agent = LocalAgent()
    specs = {"a": trial_spec(WEB.check(plan), plan.contenders[0], [server.address], agent.facts())}
    rehearse(plan, specs, agent)


def test_a_certificate_for_another_name_is_refused_before_the_trials(
    target: Callable[..., Target], tmp_path: Path
) -> None:
    certificate = tmp_path / "cert.pem"
    other = target(tls={"certificate_file": str(certificate), "names": ["other.test"]})
    with pytest.raises(
        ContenderError, match=r"cannot speak TLS with it \(invalid peer certificate: certificate not valid"
    ):
        rehearsed(other, certificate)
    right = target(tls={"certificate_file": str(certificate), "names": ["127.0.0.1"]})
    rehearsed(right, certificate)
    assert right.counts()["requests"] == 1
