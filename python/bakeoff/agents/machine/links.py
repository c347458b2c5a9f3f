"""What a trial sends and receives over the links of this machine, against what they carry."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bakeoff.core.system.links import Link, carrier, link_to, links, recounted
from bakeoff.core.system.mounts import mount_of, server_address
from bakeoff.kinds.spec import Workload
from bakeoff.store.records.trial_parts import LinkRecord

SETTLED_S = 0.5  # the least time over which counters say how full a link is


def links_to(workload: Workload) -> tuple[str, ...]:
    """The links by which this machine does such work; none where it stays on the machine without a socket."""
    hosts = [_host(peer) for peer in workload.peers]
    if workload.mounted is not None:
        server = server_address(mount_of(workload.mounted))
        hosts += [] if server is None else [server]
    names = [link_to(host, source) for host in dict.fromkeys(hosts) for source in (workload.sources or (None,))]
    return tuple(dict.fromkeys(carrier(name) for name in names if name is not None))


def _host(peer: str) -> str:
    """The host of `host:port`; of IPv6 in brackets."""
    return peer.rpartition(":")[0].strip("[]")


def counted(known: Mapping[str, Link]) -> Mapping[str, Link]:
    """The links by name, as they are now. Of those that are `known` only what they carried is asked again."""
    return recounted(known) if known else {link.name: link for link in links()}


class Meter:
    """What goes over some links while a trial measures. It is told the phase with every sample of the trial, since
    ramps and the wait before the start would hide how full a link is in the window.
    """

    def __init__(
        self,
        names: Sequence[str],
        read: Callable[[Mapping[str, Link]], Mapping[str, Link]] = counted,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._names, self._read, self._clock = tuple(names), read, clock
        self._links: Mapping[str, Link] = {}
        self._before = self._sample()
        self._first: _Reading | None = None
        self._last: _Reading | None = None

    def sample(self, phase: str) -> None:
        """The trial is in this phase now."""
        if not self._names:
            return
        if phase == "window":
            self._last = self._sample()
            self._first = self._first or self._last
        elif self._first is None:
            self._before = self._sample()

    def used(self) -> tuple[LinkRecord, ...]:
        """What went over each of them in the window; of a short one from the last sample before to the first after."""
        if not self._names:
            return ()
        first, last = self._first, self._last
        if first is None or last is None or last.at_s - first.at_s < SETTLED_S:
            first, last = self._before, self._sample()
        both = [(first.links.get(name), last.links.get(name)) for name in self._names]
        span_s = last.at_s - first.at_s
        return tuple(_use(one, other, span_s) for one, other in both if one is not None and other is not None)

    def _sample(self) -> "_Reading":
        if self._names:
            self._links = self._read(self._links)
        return _Reading(self._clock(), self._links)


@dataclass(frozen=True)
class _Reading:
    at_s: float
    links: Mapping[str, Link]


def _use(before: Link, after: Link, span_s: float) -> LinkRecord:
    grown = {
        name: max(0, getattr(after, name) - getattr(before, name))
        for name in ("bytes_in", "bytes_out", "packets_in", "packets_out")
    }
    return LinkRecord(
        name=after.name, bits_per_s=after.speed_bits_per_s, unjudged=after.unjudged, span_s=span_s, **grown
    )
