"""The generator capacity of mail: the plan's own mail, in every way of talking, to a server that keeps it in memory."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import NullWorkload, TrialSpec
from bakeoff.kinds.mail.spec import MailWorkload
from bakeoff.kinds.spec import NullCalibration
from bakeoff.load.load_step import Clients
from bakeoff.run.fleet.sessions import Fleet
from tests.control import PATIENCE_S

TLS = {"verify": True, "ca_file": "/none", "resumption": True}


def mail(security: str = "none", pop3_security: str | None = None, **changes: Any) -> MailWorkload:
    """Two mailboxes at a contender that does not exist."""
    smtp_changes = {name: changes.pop(name) for name in ("protocol", "auth", "pipelining") if name in changes}
    login = changes.pop("login", "auto")

    def side(security: str) -> dict[str, Any]:
        tls = None if security == "none" else TLS
        return {
            "addresses": ("192.0.2.1:1",), "server_name": "mail.example", "security": security, "tls": tls,
            "close_with_reset": False,
        }  # fmt: skip

    smtp = {"protocol": "smtp", "auth": False, "pipelining": False, "messages_per_connection": 2} | smtp_changes
    return MailWorkload.model_validate(
        {
            "smtp": side(security) | smtp,
            "pop3": side(pop3_security or security) | {"login": login},
            "mailboxes": [{"address": f"u{n}@a.test", "user": f"u{n}", "password": "p"} for n in range(2)],
            "mailboxes_per_client": 2, "shared_mailboxes": False, "sending_share": 0.5, "sizes": ((2_048, 1.0),),
            "recipients": ((1, 1.0), (3, 1.0)), "bodies": "plain", "sender": "u0@a.test", "run": "1" * 16,
            "initialise": "own", "retries": 1, "late_after_s": 5.0, "init_limit_s": 60.0, "drain_limit_s": 60.0,
            "linger_s": 60.0, "quiet_s": 60.0,
        }
        | changes
    )  # fmt: skip


def measured(nothing: NullCalibration, operations: int = 400) -> TrialResult:
    """A trial as the generator capacity is measured, of so many steps."""
    spec = TrialSpec(workload=NullWorkload(server=nothing), load=Clients(4), length_s=3600.0, max_operations=operations)
    spec = TrialSpec.model_validate_json(spec.to_json())
    outcome = LocalAgent().start(spec).go().wait(PATIENCE_S)
    assert outcome is not None
    return outcome.result


@pytest.mark.parametrize(
    ("security", "protocol", "login", "auth", "pipelining"),
    [
        *product(("none", "starttls", "tls"), ("smtp", "lmtp"), ("auto",), (False,), (False,)),
        ("none", "smtp", "user", True, True),
        ("starttls", "smtp", "plain", True, False),
        ("tls", "smtp", "plain", True, True),
    ],
)
def test_mail_is_sent_and_read_in_every_way(
    security: str, protocol: str, login: str, auth: bool, pipelining: bool
) -> None:
    """What was not read in the trial is read behind it, for which there is time here."""
    probe_handshake = {"protocol": protocol, "login": login, "auth": auth, "pipelining": pipelining}
    nothing = mail(security, sending_share=1.0, **probe_handshake).null_calibration
    assert nothing is not None and nothing.connects_every is not None
    patient = nothing.asked.model_copy(update={"drain_limit_s": PATIENCE_S / 2})
    result = measured(nothing.model_copy(update={"asked": patient}))
    assert sum(result.errors.values()) == 0 and result.operations >= 400
    assert result.connections.opened <= result.operations / nothing.connects_every + 16, "ports are left for the run"
    counts = (result.workload or {})["ledger"]["counts"]
    assert counts["delivered"] == counts["accepted"] > 5 and (result.workload or {})["ledger"]["balanced"]


def test_each_of_several_machines_asks_a_server_of_its_own_and_soon_ends() -> None:
    """Mail for those whom another machine reads never comes: it is not waited for as long as in a trial."""
    as_in_a_trial = dict.fromkeys(("late_after_s", "drain_limit_s", "linger_s", "quiet_s"), 2 * PATIENCE_S)
    nothing = mail(**as_in_a_trial).null_calibration
    assert nothing is not None
    fleet = Fleet([LocalAgent("one"), LocalAgent("two")])
    spec = TrialSpec(workload=NullWorkload(server=nothing), load=Clients(4), length_s=3600.0, max_operations=400)
    merged_by = spec.model_copy(update={"workload": nothing.asked.at("127.0.0.1:1")})
    outcome = fleet.start({agent.name: spec for agent in fleet.agents}, merged_by).wait(PATIENCE_S)
    assert outcome is not None and outcome.whole is not None and not outcome.lost
    parts = [part.outcome.result.operations for part in outcome.parts if part.outcome is not None]
    assert len(parts) == 2 and all(parts) and outcome.whole.result.operations == sum(parts)
    assert not sum(outcome.whole.result.errors.values())


def test_what_one_server_cannot_be_has_no_generator_capacity() -> None:
    assert mail("none", "tls").null_calibration is None and mail("none", "starttls").null_calibration is not None
    assert mail(sizes=((1 << 20, 1.0),)).null_calibration is None, "it would fill the memory of the machine"


def test_a_ceiling_asks_as_the_plan_does_and_takes_no_mailbox_of_it(tmp_path: Path) -> None:
    nothing = mail().null_calibration
    assert nothing is not None and isinstance(nothing.asked, MailWorkload)
    asked = nothing.asked.at("smtp=127.0.0.1:25,pop3=127.0.0.1:110", str(tmp_path / "c.pem"))
    assert isinstance(asked, MailWorkload)
    assert asked.peers == ("127.0.0.1:25", "127.0.0.1:110")
    assert asked.sending_share == 0.5 and asked.recipients == ((1, 1.0), (3, 1.0)) and asked.smtp.tls is None
    assert len(asked.mailboxes) >= nothing.most_clients * asked.mailboxes_per_client
    assert not {box.address for box in asked.mailboxes} & {box.address for box in mail().mailboxes}
