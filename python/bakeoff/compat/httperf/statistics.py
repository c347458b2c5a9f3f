"""httperf's report: its lines, its formats, its rounding, its rules, from the sums of a trial."""

from collections.abc import Iterator

from bakeoff.kinds.httperf.figures import HttperfFigures, SessionFigures
from bakeoff.kinds.httperf.lines import deviation, mean, moved_bytes, share

BIN_MS = 1.0


def statistics(f: HttperfFigures, lifetimes: bool = False, periodic: bool = False) -> str:
    """All lines from the burst on; with `lifetimes` their histogram, with `periodic` the totals of those counts."""
    lines = [f"Maximum connect burst length: {f.connect_burst_max}"]
    if lifetimes:
        lines += ["", "Connection lifetime histogram (time in ms):", *_histogram(f)]
    lines += ["", *_connections(f), "", *_requests(f), "", *_replies(f), ""]
    if periodic:
        lines += [f"Periodic stats: 200={f.statuses.s200} 302={f.statuses.s302}", ""]
    lines += [*_costs(f), "", *_errors(f)]
    if f.sessions is not None:
        lines += ["", *_sessions(f.sessions, f.test_duration_s)]
    return "\n".join(lines) + "\n"


def _histogram(f: HttperfFigures) -> Iterator[str]:
    """One line for each bin that is not empty, a colon where some are."""
    before = None
    for number, count in f.lifetimes:
        if before is not None and number > before + 1:
            yield f"{':':>14}"
        yield f"{(number + 0.5) * BIN_MS:16.1f} {count}"
        before = number


def _connections(f: HttperfFigures) -> Iterator[str]:
    length_s, life = f.test_duration_s, f.lifetime
    yield (
        f"Total: connections {f.connections} requests {f.requests} replies {f.replies} test-duration {length_s:.3f} s"
    )
    yield ""
    yield (
        f"Connection rate: {share(f.connections, length_s):.1f} conn/s "
        f"({1e3 * share(length_s, f.connections):.1f} ms/conn, <={f.concurrent_max} concurrent connections)"
    )
    yield (
        f"Connection time [ms]: min {1e3 * life.min:.1f} avg {1e3 * mean(life):.1f} max {1e3 * life.max:.1f} "
        f"median {1e3 * f.lifetime_median_s:.1f} stddev {1e3 * deviation(life):.1f}"
    )
    yield f"Connection time [ms]: connect {1e3 * mean(f.connect):.1f}"
    yield f"Connection length [replies/conn]: {share(f.replies, life.count):.3f}"


def _requests(f: HttperfFigures) -> Iterator[str]:
    length_s = f.test_duration_s
    yield f"Request rate: {share(f.requests, length_s):.1f} req/s ({1e3 * share(length_s, f.requests):.1f} ms/req)"
    yield f"Request size [B]: {_whole(f.request_bytes, f.requests):.1f}"


def _whole(part: int, of: int) -> int:
    """httperf divides whole numbers here, and drops what is left."""
    return part // of if of else 0


def _replies(f: HttperfFigures) -> Iterator[str]:
    rate = f.reply_rate
    yield (
        f"Reply rate [replies/s]: min {rate.min:.1f} avg {mean(rate):.1f} max {rate.max:.1f} "
        f"stddev {deviation(rate):.1f} ({rate.count} samples)"
    )
    yield f"Reply time [ms]: response {1e3 * mean(f.response):.1f} transfer {1e3 * mean(f.transfer):.1f}"
    header = _whole(f.reply_header_bytes, f.replies)
    content = _whole(f.reply_content_bytes, f.replies)
    footer = _whole(f.reply_footer_bytes, f.replies)
    yield (
        f"Reply size [B]: header {header:.1f} content {content:.1f} footer {footer:.1f} "
        f"(total {header + content + footer:.1f})"
    )
    s = f.statuses
    yield f"Reply status: 1xx={s.s1xx} 2xx={s.s2xx} 3xx={s.s3xx} 4xx={s.s4xx} 5xx={s.s5xx}"


def _costs(f: HttperfFigures) -> Iterator[str]:
    length_s, user_s, system_s = f.test_duration_s, f.cpu_user_s, f.cpu_system_s
    yield (
        f"CPU time [s]: user {user_s:.2f} system {system_s:.2f} (user {100 * share(user_s, length_s):.1f}% "
        f"system {100 * share(system_s, length_s):.1f}% total {100 * share(user_s + system_s, length_s):.1f}%)"
    )
    per_s = share(moved_bytes(f), length_s)
    yield f"Net I/O: {per_s / 1024:.1f} KB/s ({8e-6 * per_s:.1f}*10^6 bps)"


def _errors(f: HttperfFigures) -> Iterator[str]:
    e = f.errors
    yield (
        f"Errors: total {e.total} client-timo {e.client_timo} socket-timo {e.socket_timo} "
        f"connrefused {e.connrefused} connreset {e.connreset}"
    )
    yield (f"Errors: fd-unavail {e.fd_unavail} addrunavail {e.addrunavail} ftab-full {e.ftab_full} other {e.other}")


def _sessions(s: SessionFigures, length_s: float) -> Iterator[str]:
    yield (
        f"Session rate [sess/s]: min {s.rate.min:.2f} avg {share(s.completed, length_s):.2f} max {s.rate.max:.2f} "
        f"stddev {deviation(s.rate):.2f} ({s.completed}/{s.completed + s.failed})"
    )
    yield f"Session: avg {share(s.connections, s.completed):.2f} connections/session"
    yield f"Session lifetime [s]: {mean(s.lifetime):.1f}"
    yield f"Session failtime [s]: {mean(s.failtime):.1f}"
    yield "Session length histogram: " + " ".join(map(str, s.lengths))
