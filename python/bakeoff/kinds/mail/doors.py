"""Who is let in: every account is tried before a run, several at a time, and bounded in time."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from bakeoff.errors import TargetError
from bakeoff.kinds.mail.plan import MailSettings
from bakeoff.kinds.mail.talk import OtherError, PlainError, open_pop3
from bakeoff.mail.accounts import Account
from bakeoff.mail.address import Place
from bakeoff.run.wire import ClearError, HandshakeError, UntrustedError, WireError

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
        session = open_pop3(place, mail)
        try:
            session.login(account.address, account.password, mail.pop3_login)
        finally:
            session.quit()
    except ClearError as error:
        return unanswered(error)
    except (WireError, TargetError) as error:
        return str(error)
    return None


def unanswered(error: WireError) -> str:
    """What follows the place of a server that does not greet: why, and what to do."""
    if isinstance(error, UntrustedError):
        return f"cannot be trusted: {error}: {error.advice}"
    if isinstance(error, PlainError):
        return f"does not turn to TLS ({error}): let the server offer it, or leave --starttls out"
    if isinstance(error, OtherError):
        return (
            f"is a server of {error.protocol} ({error}): name both ports, as in smtp=HOST:PORT,pop3=HOST:PORT; "
            "HOST:PORT alone is one for both"
        )
    if isinstance(error, ClearError):
        return (
            "speaks plain text: write smtp= or pop3= for it, with --starttls where it turns to TLS later; smtps= and "
            "pop3s= are for ports that begin with TLS"
        )
    if isinstance(error, HandshakeError):
        return (
            f"does not speak TLS as it should ({error}): smtps= and pop3s= are for ports that begin with TLS, smtp= "
            "and pop3= for others; --insecure and --ca-file FILE are for certificates"
        )
    if r"\x15\x03" in str(error):
        return "begins with TLS: write smtps= or pop3s= for it"
    return f"does not answer ({error}): is it running, and is the port right?"
