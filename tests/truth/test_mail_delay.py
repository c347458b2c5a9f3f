"""Known answer: a mail target with a programmed delay must be reported as it behaves."""

from collections.abc import Callable
from typing import Any

from tests.conftest import Target, run_trial
from tests.control import asking, assert_no_later, no_operation, read_line

MakeTarget = Callable[..., Target]

STEPS = ("smtp-ehlo", "smtp-mail", "smtp-rcpt", "smtp-data", "smtp-body", "pop3-stat", "pop3-retr", "pop3-quit")

CLIENTS = 8


def workload(address: str) -> dict[str, Any]:
    smtp, _, pop3 = address.partition(",")
    names = [f"u{number}@bakeoff.test" for number in range(CLIENTS)]
    return {
        "kind": "mail",
        "smtp": {"addresses": [smtp.removeprefix("smtp=")]},
        "pop3": {"addresses": [pop3.removeprefix("pop3=")]},
        "mailboxes": [{"address": name, "user": name, "password": "x"} for name in names],
        "mailboxes_per_client": 1,
        "sending_share": 0.5,
        "sizes": [[1024, 1]],
        "run": "00112233445566aa",
        "initialise": "nothing",
    }


def test_a_delay_of_5_ms_is_reported_as_5_ms_in_every_step(target: MakeTarget) -> None:
    """Never shorter; and the p50 of each step is no longer than bare clients see it that ask the server meanwhile."""
    server = target(kind="mail", delay_s=0.005)
    smtp = server.address.partition(",")[0].removeprefix("smtp=")
    with asking(smtp, no_operation, clients=4, greet=read_line) as bare:
        result = run_trial(workload(server.address), clients=CLIENTS, length_s=600, max_operations=3000)
    assert min(bare.times_s) >= 0.00499
    seen = {row["name"]: row for row in result["per_operation"]}
    for name in STEPS:
        service = seen[name]["service"]
        assert service["min_ns"] / 1e6 >= 4.99, "no reply can be faster than the delay"
        assert_no_later(name, 0.5, service["p50_ns"] / 1e9, service["count"], bare, slack_s=0.0002)
