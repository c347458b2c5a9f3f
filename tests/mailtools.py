"""A mail trial straight on the engine, for tests that know its right answer."""

import json
from pathlib import Path
from typing import Any

from bakeoff.agents.engine import load_engine
from tests.control import PATIENCE_S

RUN = "00112233445566aa"
# States of /proc/net/tcp.
SYN_SENT, TIME_WAIT = "02", "06"


def places(address: str) -> dict[str, str]:
    """`smtp=127.0.0.1:1,pop3=127.0.0.1:2` taken apart."""
    return dict(part.split("=", 1) for part in address.split(","))


def accounts(count: int, domain: str = "bakeoff.test") -> list[dict[str, str]]:
    """Accounts as `bakeoff users new` names them."""
    found = []
    for number in range(1, count + 1):
        user = f"u{number:04d}@{domain}"
        found.append({"address": user, "user": user, "password": f"pw{number:04d}"})
    return found


def spec(smtp: str | None, pop3: str | None, **changes: Any) -> dict[str, Any]:
    """A short trial: 4 clients with 5 mailboxes each, plain 2 KiB messages. `trial`: changes outside `workload`; with
    `max_operations`, of commands and refusals, it has all the time that it needs.
    """
    trial = {"clients": 4, **changes.pop("trial", {})}
    length_s = 600.0 if "max_operations" in trial else 2.0
    workload = {
        "kind": "mail",
        "smtp": None if smtp is None else {"addresses": [smtp], **changes.pop("smtp_settings", {})},
        "pop3": None if pop3 is None else {"addresses": [pop3], **changes.pop("pop3_settings", {})},
        "mailboxes": accounts(20),
        "mailboxes_per_client": 5,
        "sizes": [[2048, 1.0]],
        "run": RUN,
        **changes,
    }
    return {
        "workload": workload,
        "load": {"clients": trial.pop("clients")},
        "virtual_users": 1,
        "length_s": length_s,
        "ramp_up_s": 0.2,
        "ramp_down_s": 0.2,
        "connect_timeout_s": 10.0,
        "reply_timeout_s": 20.0,
        "seed": 7,
        **trial,
    }


def run(description: dict[str, Any], timeout_s: float = PATIENCE_S) -> dict[str, Any]:
    """The result of a trial."""
    handle = load_engine().start(json.dumps(description)).go()
    outcome = handle.wait(timeout_s)
    assert outcome is not None, "the trial did not end"
    result: dict[str, Any] = json.loads(outcome.json())
    return result


def listed(ledger: dict[str, Any], kind: str) -> set[str]:
    """The messages of a class as `c.t.n in address`."""
    return {f"{message['id']} in {message['mailbox']}" for message in ledger["ids"][kind]}


def serve(**settings: Any) -> Any:
    """The built-in mail target."""
    return load_engine().serve(json.dumps({"kind": "mail", **settings}))


def tcp_connections(port: int, state: str) -> int:
    """How many connections to or from a local port are in a state."""
    rows = [line.split()[1:4] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(found == state and f"{port:04X}" in (own[-4:], other[-4:]) for own, other, found in rows)
