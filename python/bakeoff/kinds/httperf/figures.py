"""What a trial of httperf's work tells: the raw sums of which httperf's report is made. Times in s."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bakeoff.store.records.figures import Count, Figures, Number, Shape

MOST_LENGTHS = 100_001
MOST_BINS = 100_000


class Moments(Shape):
    """Count, sum, sum of squares, least and greatest of some values; all 0 of none."""

    count: Count = 0
    sum: Number = 0.0
    sum_of_squares: Number = 0.0
    min: Number = 0.0
    max: Number = 0.0


class Sum(Shape):
    """How many times something was measured, and the sum of the times."""

    count: Count = 0
    sum_s: Number = 0.0


class Errors(Shape):
    """Errors by httperf's classes."""

    client_timo: Count = 0
    socket_timo: Count = 0
    connrefused: Count = 0
    connreset: Count = 0
    fd_unavail: Count = 0
    addrunavail: Count = 0
    ftab_full: Count = 0
    other: Count = 0

    @property
    def total(self) -> int:
        """Of all classes."""
        return sum(self.model_dump().values())


class Statuses(Shape):
    """Replies by status; `interim` are 1xx on the way to a reply."""

    s1xx: Count = 0
    s2xx: Count = 0
    s3xx: Count = 0
    s4xx: Count = 0
    s5xx: Count = 0
    other: Count = 0
    s200: Count = 0
    s302: Count = 0
    interim: Count = 0


class SessionFigures(Shape):
    """What session loads have beside the rest; `lengths` are how many sessions got 0, 1, 2 … replies."""

    completed: Count = 0
    failed: Count = 0
    unfinished: Count = 0
    rate: Moments = Moments()
    connections: Count = 0
    lifetime: Sum = Sum()
    failtime: Sum = Sum()
    lengths: Annotated[tuple[Count, ...], Field(max_length=MOST_LENGTHS)] = ()


class HttperfFigures(Figures):
    """See bakeoff_httperf::figures, whose names these are."""

    test_duration_s: Number = 0.0
    connections: Count = 0
    connections_unfinished: Count = 0
    requests: Count = 0
    requests_unfinished: Count = 0
    requests_failed: Count = 0
    replies: Count = 0
    concurrent_max: Count = 0
    connect_burst_max: Count = 0
    starts: Count = 0
    starts_planned: Count = 0
    connect: Sum = Sum()
    lifetime: Moments = Moments()
    lifetime_median_s: Number = 0.0
    lifetimes: Annotated[tuple[tuple[Count, Count], ...], Field(max_length=MOST_BINS)] = ()
    request_bytes: Count = 0
    reply_rate: Moments = Moments()
    response: Sum = Sum()
    transfer: Sum = Sum()
    reply_header_bytes: Count = 0
    reply_content_bytes: Count = 0
    reply_footer_bytes: Count = 0
    statuses: Statuses = Statuses()
    cpu_user_s: Number = 0.0
    cpu_system_s: Number = 0.0
    errors: Errors = Errors()
    descriptors_max: Count = 0
    prints_lost: Count = 0
    tls_full: Count = 0
    tls_resumed: Count = 0
    sessions: SessionFigures | None = None


PART = HttperfFigures
