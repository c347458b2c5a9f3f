"""The numbers of httperf's report as values: each with its name, its unit and how it comes from the sums."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bakeoff.kinds.httperf.figures import HttperfFigures, Moments, SessionFigures, Sum


def share(part: float, of: float) -> float:
    """A quotient, 0 of nothing."""
    return part / of if of > 0 else 0.0


def mean(values: Moments | Sum) -> float:
    """0 of nothing."""
    return share(values.sum_s if isinstance(values, Sum) else values.sum, values.count)


def deviation(values: Moments) -> float:
    """The standard deviation of a sample; 0 of fewer than two."""
    if values.count < 2:
        return 0.0
    spread = values.sum_of_squares - values.sum * values.sum / values.count
    return math.sqrt(max(0.0, spread / (values.count - 1)))


@dataclass(frozen=True)
class Line:
    """One number: its key in JSON, its title, its unit ("" for a count) and its decimals."""

    key: str
    title: str
    unit: str
    decimals: int
    value: Callable[[HttperfFigures], float]

    def text(self, number: float) -> str:
        """As it is shown in a table."""
        return f"{number:,.{self.decimals}f}"


def _count(key: str, title: str, value: Callable[[HttperfFigures], float]) -> Line:
    return Line(key, title, "", 0, value)


def _status(name: str) -> Line:
    return _count(f"status_{name}", f"Replies {name}", lambda f: getattr(f.statuses, f"s{name}"))


def _error(name: str) -> Line:
    return _count(f"error_{name}", f"Errors {name.replace('_', '-')}", lambda f: getattr(f.errors, name))


def _ms(key: str, title: str, value: Callable[[HttperfFigures], float]) -> Line:
    return Line(f"{key}_ms", title, "ms", 3, lambda f: 1e3 * value(f))


def _rate(key: str, title: str, unit: str, value: Callable[[HttperfFigures], float]) -> Line:
    return Line(f"{key}_per_s", title, unit, 1, value)


def _bytes(key: str, title: str, part: Callable[[HttperfFigures], int], of: Callable[[HttperfFigures], int]) -> Line:
    return Line(f"{key}_bytes", title, "B", 1, lambda f: share(part(f), of(f)))


LINES = (
    _count("connections", "Connections", lambda f: f.connections),
    _count("requests", "Requests", lambda f: f.requests),
    _count("replies", "Replies", lambda f: f.replies),
    Line("test_duration_s", "Test duration", "s", 3, lambda f: f.test_duration_s),
    _rate("connection_rate", "Connection rate", "conn/s", lambda f: share(f.connections, f.test_duration_s)),
    _count("concurrent_connections_max", "Concurrent connections, most", lambda f: f.concurrent_max),
    _ms("connection_time_min", "Connection time, least", lambda f: f.lifetime.min),
    _ms("connection_time_avg", "Connection time, mean", lambda f: mean(f.lifetime)),
    _ms("connection_time_max", "Connection time, most", lambda f: f.lifetime.max),
    _ms("connection_time_median", "Connection time, median", lambda f: f.lifetime_median_s),
    _ms("connection_time_stddev", "Connection time, standard deviation", lambda f: deviation(f.lifetime)),
    _ms("connect_time", "Connect", lambda f: mean(f.connect)),
    Line(
        "connection_length_replies",
        "Connection length",
        "replies/conn",
        3,
        lambda f: share(f.replies, f.lifetime.count),
    ),
    _rate("request_rate", "Request rate", "req/s", lambda f: share(f.requests, f.test_duration_s)),
    _bytes("request_size", "Request size", lambda f: f.request_bytes, lambda f: f.requests),
    _rate("reply_rate_min", "Reply rate, least of 5 s", "replies/s", lambda f: f.reply_rate.min),
    _rate("reply_rate_avg", "Reply rate, mean of 5 s", "replies/s", lambda f: mean(f.reply_rate)),
    _rate("reply_rate_max", "Reply rate, most of 5 s", "replies/s", lambda f: f.reply_rate.max),
    _rate("reply_rate_stddev", "Reply rate, standard deviation of 5 s", "replies/s", lambda f: deviation(f.reply_rate)),
    _count("reply_rate_samples", "Reply rate, samples of 5 s", lambda f: f.reply_rate.count),
    _rate("reply_rate", "Reply rate, whole test", "replies/s", lambda f: share(f.replies, f.test_duration_s)),
    _ms("response_time", "Reply time, response", lambda f: mean(f.response)),
    _ms("transfer_time", "Reply time, transfer", lambda f: mean(f.transfer)),
    _bytes("reply_header", "Reply size, header", lambda f: f.reply_header_bytes, lambda f: f.replies),
    _bytes("reply_content", "Reply size, content", lambda f: f.reply_content_bytes, lambda f: f.replies),
    _bytes("reply_footer", "Reply size, footer", lambda f: f.reply_footer_bytes, lambda f: f.replies),
    *map(_status, ("1xx", "2xx", "3xx", "4xx", "5xx")),
    Line("cpu_user_s", "CPU time, user", "s", 2, lambda f: f.cpu_user_s),
    Line("cpu_system_s", "CPU time, system", "s", 2, lambda f: f.cpu_system_s),
    Line(
        "cpu_percent",
        "CPU time, total",
        "%",
        1,
        lambda f: 100 * share(f.cpu_user_s + f.cpu_system_s, f.test_duration_s),
    ),
    Line(
        "net_io_kb_per_s",
        "Net I/O",
        "KB/s",
        1,
        lambda f: share(moved_bytes(f), f.test_duration_s) / 1024,
    ),
    _count("errors_total", "Errors", lambda f: f.errors.total),
    *map(
        _error,
        (
            "client_timo",
            "socket_timo",
            "connrefused",
            "connreset",
            "fd_unavail",
            "addrunavail",
            "ftab_full",
            "other",
        ),
    ),
    _count("starts_missed", "Planned and never begun", lambda f: max(0, f.starts_planned - f.starts)),
)


def _of(value: Callable[[SessionFigures], float]) -> Callable[[HttperfFigures], float]:
    return lambda f: value(f.sessions or SessionFigures())


SESSION_LINES = (
    _count("sessions_completed", "Sessions completed", _of(lambda s: s.completed)),
    _count("sessions_failed", "Sessions failed", _of(lambda s: s.failed)),
    Line(
        "session_rate_per_s",
        "Session rate",
        "sess/s",
        2,
        lambda f: share((f.sessions or SessionFigures()).completed, f.test_duration_s),
    ),
    Line("session_connections", "Connections per session", "", 2, _of(lambda s: share(s.connections, s.completed))),
    Line("session_lifetime_s", "Session lifetime", "s", 3, _of(lambda s: mean(s.lifetime))),
    Line("session_failtime_s", "Session failtime", "s", 3, _of(lambda s: mean(s.failtime))),
)


def moved_bytes(f: HttperfFigures) -> int:
    """What httperf counts as traffic: requests, and heads and contents of replies."""
    return f.request_bytes + f.reply_header_bytes + f.reply_content_bytes


def lines_of(f: HttperfFigures) -> tuple[Line, ...]:
    """Those that mean something of such a trial."""
    return LINES if f.sessions is None else LINES + SESSION_LINES


def values_of(f: HttperfFigures) -> Mapping[str, float]:
    """By key, for JSON."""
    return {line.key: line.value(f) for line in lines_of(f)}
