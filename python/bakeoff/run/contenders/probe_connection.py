"""What an exchange of a check before timing may take, and why one fails; connections themselves are the engine's."""

import ipaddress
import time
from collections.abc import Callable

from bakeoff.core.units import format_duration, format_size

# What the engine finds wrong with a certificate.
UNTRUSTED = ("expired", "not_yet_valid", "other_name", "untrusted")


class ProbeError(Exception):
    """Why an exchange failed, as words that fit behind the name of a contender and a colon."""


class SlowError(ProbeError):
    """Time ran out."""


class Bounds:
    """What the exchanges of a check may take together: `seconds` from now, by a `clock`, and `size` bytes."""

    def __init__(self, seconds: float, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self.size = seconds, size
        self._clock, self._until, self._spent = clock, clock() + seconds, 0

    def left_s(self) -> float:
        """Seconds left, more than 0. Raises SlowError when there are none."""
        left = self._until - self._clock()
        if left <= 0:
            raise SlowError(f"no complete reply within {format_duration(self.seconds)}")
        return left

    @property
    def left_bytes(self) -> int:
        """Bytes that may still come."""
        return max(0, self.size - self._spent)

    def spend(self, count: int) -> None:
        """Take received bytes. Raises WireError when they are too many."""
        self._spent += count
        if self._spent > self.size:
            raise ProbeError(f"the reply is longer than {format_size(self.size)}")


def shown(data: bytes) -> str:
    """Bytes of the other side as text for a message, cut where they are many."""
    text = data[:200].decode("utf-8", "backslashreplace")
    return text + (" …" if len(data) > 200 else "")


def untrusted(name: str, host: str, why: str) -> str:
    """Why a certificate does not vouch for its server, and what to do."""
    reason, advice = why, "name its authority with --ca-file FILE, or use --insecure"
    if name == "expired":
        reason, advice = "it has expired", "renew it, or use --insecure; --ca-file cannot make it valid"
    elif name == "not_yet_valid":
        reason, advice = "it is not valid yet", "set the clock, or use --insecure"
    elif name == "other_name" and _is_numeric(host):
        reason = f"IP address mismatch, it is not for {host}"
        advice = "write the host by a name that it has, give it this address, or use --insecure"
    elif name == "other_name":
        reason = f"hostname mismatch, it is not for {host}"
        advice = "write an address that it names, give it this name, or use --insecure"
    return f"its certificate is not trusted ({reason}): {advice}"


def _is_numeric(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
