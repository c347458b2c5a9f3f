"""Who is let in: every account is tried before a run, several at a time, and bounded in time."""

import base64
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from bakeoff.core.errors import ContenderError
from bakeoff.kinds.mail.plan import MailSettings
from bakeoff.kinds.mail.talk import probe_handshake
from bakeoff.run.contenders.probe_connection import ProbeError
from bakeoff.testdata.mail.accounts import Account
from bakeoff.testdata.mail.address import Place

PARALLEL = 8
# A server that takes few sessions at once refuses some of them: who failed is tried again alone.
# Once so many have failed alone, too, the others are believed.
TRIES, PAUSE_S, CONFIRMED = 3, 0.05, 20

Fault = Callable[[Account], str | None]


def refused(
    accounts: Sequence[Account], fault: Fault, limit_s: float, most: int, parallel: int = PARALLEL
) -> list[tuple[Account, str]]:
    """The accounts, `most` at most, for which `fault` gives a reason, also when it is asked alone, in their order.
    Those that were not reached in `limit_s` count as good.
    """
    until, reasons = time.monotonic() + limit_s, dict[int, str]()

    def look(number: int) -> None:
        if time.monotonic() < until and (why := fault(accounts[number])) is not None:
            reasons[number] = why

    pool = ThreadPoolExecutor(parallel)
    try:
        list(pool.map(look, range(len(accounts))))
    finally:
        pool.shutdown(cancel_futures=True)
    until, found = time.monotonic() + limit_s, list[tuple[Account, str]]()
    for number in sorted(reasons):
        why = reasons[number]
        again = why if len(found) >= CONFIRMED else _alone(accounts[number], why, fault, until)
        if again is not None:
            found.append((accounts[number], again))
        if len(found) == most:
            break
    return found


def _alone(account: Account, why: str, fault: Fault, until: float) -> str | None:
    """The reason when it is asked again with nobody beside it, None when it is let in."""
    for _ in range(TRIES):
        if time.monotonic() > until:
            return why
        again = fault(account)
        if again is None:
            return None
        why = again
        time.sleep(PAUSE_S)
    return why


def login_fault(account: Account, place: Place, mail: MailSettings) -> str | None:
    """Why POP3 does not let an account in, or None."""
    try:
        return probe_handshake(place, mail, *login(account, mail.pop3_login)).refusal
    except (ProbeError, ContenderError) as error:
        return str(error)


def login(account: Account, how: str = "user") -> Sequence[str]:
    """The steps of a login by POP3: USER and PASS, or AUTH PLAIN when `how` is `plain`."""
    if how != "plain":
        return (f"USER {account.address}", f"PASS {account.password}")
    token = base64.b64encode(f"\0{account.address}\0{account.password}".encode()).decode("ascii")
    return (f"AUTH PLAIN {token}",)
