"""Known answer: a mail target with a programmed delay must be reported as it behaves."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Target, run_trial
from tests.control import asking, assert_no_later, assert_not_always_later, later, no_operation, read_line

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

    def measure() -> str:
        with asking(smtp, no_operation, clients=4, greet=read_line) as bare:
            result = run_trial(workload(server.address), clients=CLIENTS, length_s=600, max_operations=3000)
        assert min(bare.times_s) >= 0.00499
        seen = {row["name"]: row["service"] for row in result["per_operation"]}
        assert all(seen[name]["min_ns"] / 1e6 >= 4.99 for name in STEPS), "no reply can be faster than the delay"
        return "".join(
            later(name, 0.5, seen[name]["p50_ns"] / 1e9, seen[name]["count"], bare, slack_s=0.0002) for name in STEPS
        )

    assert_not_always_later(measure)


# Half of the 40 ms after which Linux acknowledges at the latest what nothing is sent after.
DELAYED_ACKNOWLEDGEMENT_HALF_S = 0.020


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_no_step_after_a_handshake_waits_for_an_acknowledgement(target: MakeTarget, security: str) -> None:
    """The end of a handshake and the first command are small writes, one after the other. Bare clients without TLS ask
    the same server meanwhile.
    """
    server = target(kind="mail", tls={}, implicit_tls=security == "tls")
    plain = target(kind="mail")
    secured = workload(server.address)
    for side in ("smtp", "pop3"):
        secured[side] |= {"security": security, "tls": {"verify": False}}
    door = plain.address.partition(",")[0].removeprefix("smtp=")
    with asking(door, no_operation, clients=4, greet=read_line) as bare:
        result = run_trial(secured, clients=CLIENTS, length_s=600, max_operations=5000)
    seen = {row["name"]: row["service"] for row in result["per_operation"] if row["service"]["count"]}
    assert {"smtp-ehlo", "smtp-mail", "pop3-user", "pop3-pass", "pop3-stat"} <= set(seen)
    for name in ("smtp-ehlo", "smtp-mail", "pop3-user", "pop3-pass", "pop3-stat"):
        service = seen[name]
        assert_no_later(name, 0.5, service["p50_ns"] / 1e9, service["count"], bare, DELAYED_ACKNOWLEDGEMENT_HALF_S)
