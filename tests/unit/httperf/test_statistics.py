"""httperf's report line for line: the worked example of its manual page, its whole numbers, and nothing at all."""

from bakeoff.compat.httperf.statistics import statistics
from bakeoff.kinds.httperf.figures import HttperfFigures, Moments, SessionFigures
from bakeoff.kinds.httperf.lines import LINES, deviation, values_of

# Of sums that give the numbers of the example in httperf(1).
EXAMPLE = {
    "test_duration_s": 299.992, "connect_burst_max": 1, "connections": 30_000, "requests": 29_997, "replies": 29_997,
    "concurrent_max": 9, "starts": 30_000, "starts_planned": 30_000,
    "lifetime": {"count": 29_997, "sum": 29_997 * 0.0055, "sum_of_squares": 1.2, "min": 0.0041, "max": 0.0205},
    "lifetime_median_s": 0.0045, "connect": {"count": 29_997, "sum_s": 29_997 * 0.0012},
    "request_bytes": 29_997 * 75 + 29_000, "reply_header_bytes": 29_997 * 222, "reply_content_bytes": 29_997 * 1024 + 9,
    "reply_rate": {"count": 2, "sum": 200.0, "sum_of_squares": 20_000.08, "min": 99.8, "max": 100.2},
    "response": {"count": 29_997, "sum_s": 29_997 * 0.0041}, "transfer": {"count": 29_997, "sum_s": 29_997 * 0.0002},
    "statuses": {"s2xx": 29_997, "s200": 29_997}, "cpu_user_s": 94.31, "cpu_system_s": 205.26,
    "errors": {"client_timo": 2, "connreset": 1},
}  # fmt: skip

LINES_OF_IT = """\
Maximum connect burst length: 1

Total: connections 30000 requests 29997 replies 29997 test-duration 299.992 s

Connection rate: 100.0 conn/s (10.0 ms/conn, <=9 concurrent connections)
Connection time [ms]: min 4.1 avg 5.5 max 20.5 median 4.5 stddev 3.1
Connection time [ms]: connect 1.2
Connection length [replies/conn]: 1.000

Request rate: 100.0 req/s (10.0 ms/req)
Request size [B]: 75.0

Reply rate [replies/s]: min 99.8 avg 100.0 max 100.2 stddev 0.3 (2 samples)
Reply time [ms]: response 4.1 transfer 0.2
Reply size [B]: header 222.0 content 1024.0 footer 0.0 (total 1246.0)
Reply status: 1xx=0 2xx=29997 3xx=0 4xx=0 5xx=0

CPU time [s]: user 94.31 system 205.26 (user 31.4% system 68.4% total 99.9%)
Net I/O: 129.1 KB/s (1.1*10^6 bps)

Errors: total 3 client-timo 2 socket-timo 0 connrefused 0 connreset 1
Errors: fd-unavail 0 addrunavail 0 ftab-full 0 other 0
"""

NOTHING = """\
Maximum connect burst length: 0

Total: connections 0 requests 0 replies 0 test-duration 0.000 s

Connection rate: 0.0 conn/s (0.0 ms/conn, <=0 concurrent connections)
Connection time [ms]: min 0.0 avg 0.0 max 0.0 median 0.0 stddev 0.0
Connection time [ms]: connect 0.0
Connection length [replies/conn]: 0.000

Request rate: 0.0 req/s (0.0 ms/req)
Request size [B]: 0.0

Reply rate [replies/s]: min 0.0 avg 0.0 max 0.0 stddev 0.0 (0 samples)
Reply time [ms]: response 0.0 transfer 0.0
Reply size [B]: header 0.0 content 0.0 footer 0.0 (total 0.0)
Reply status: 1xx=0 2xx=0 3xx=0 4xx=0 5xx=0

CPU time [s]: user 0.00 system 0.00 (user 0.0% system 0.0% total 0.0%)
Net I/O: 0.0 KB/s (0.0*10^6 bps)

Errors: total 0 client-timo 0 socket-timo 0 connrefused 0 connreset 0
Errors: fd-unavail 0 addrunavail 0 ftab-full 0 other 0
"""

SESSIONS = """
Session rate [sess/s]: min 0.60 avg 0.90 max 1.00 stddev 0.20 (9/10)
Session: avg 1.00 connections/session
Session lifetime [s]: 8.5
Session failtime [s]: 5.0
Session length histogram: 1 0 0 0 0 9
"""


def figures(**changes: object) -> HttperfFigures:
    return HttperfFigures.model_validate(EXAMPLE | changes)


def test_the_example_of_the_manual() -> None:
    assert statistics(figures()) == LINES_OF_IT


def test_nothing_is_no_division_by_it() -> None:
    assert statistics(HttperfFigures()) == NOTHING
    assert all(value == 0 for value in values_of(HttperfFigures()).values())


def test_sizes_are_whole_numbers_whose_rest_is_dropped() -> None:
    text = statistics(figures(request_bytes=29_997 * 76 - 1, reply_header_bytes=29_997 * 223 - 1))
    assert "Request size [B]: 75.0\n" in text and "header 222.0 content 1024.0 footer 0.0 (total 1246.0)" in text
    exact = {line.key: line for line in LINES}["request_size_bytes"].value(figures(request_bytes=29_997 * 76 - 1))
    assert 75.9 < exact < 76.0


def test_footers_are_no_traffic() -> None:
    assert statistics(figures(reply_footer_bytes=10**9)).count("Net I/O: 129.1 KB/s") == 1


def test_the_deviation_is_that_of_a_sample() -> None:
    assert deviation(Moments(count=1, sum=5, sum_of_squares=25)) == 0.0
    assert deviation(Moments(count=2, sum=6, sum_of_squares=20)) == 2**0.5
    assert deviation(Moments(count=3, sum=0.3, sum_of_squares=0.03 - 1e-18)) == 0.0


def test_sessions_have_lines_of_their_own() -> None:
    sessions = {
        "completed": 9, "failed": 1, "connections": 9, "lengths": [1, 0, 0, 0, 0, 9],
        "rate": {"count": 4, "sum": 3.6, "sum_of_squares": 3.36, "min": 0.6, "max": 1.0},
        "lifetime": {"count": 9, "sum_s": 76.5}, "failtime": {"count": 1, "sum_s": 5.0},
    }  # fmt: skip
    text = statistics(figures(sessions=sessions, test_duration_s=10.0))
    assert text.endswith(SESSIONS)
    assert values_of(figures(sessions=sessions, test_duration_s=10.0))["session_rate_per_s"] == 0.9
    assert statistics(figures(sessions=SessionFigures())).endswith("Session length histogram: \n")


def test_lifetimes_are_told_bin_by_bin_with_a_colon_at_each_gap() -> None:
    lines = statistics(figures(lifetimes=[(0, 3), (1, 2), (7, 1)]), lifetimes=True).splitlines()
    assert lines[1:7] == [
        "",
        "Connection lifetime histogram (time in ms):",
        "             0.5 3",
        "             1.5 2",
        "             :",
        "             7.5 1",
    ]


def test_periodic_counts_have_a_total() -> None:
    text = statistics(figures(), periodic=True)
    assert "\n\nPeriodic stats: 200=29997 302=0\n\nCPU time" in text
