"""From settings to what the engine is told."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass

from bakeoff.core.errors import PlanError
from bakeoff.kinds.httperf.plan import HttperfSettings, source_words
from bakeoff.kinds.httperf.spec import (
    BurstSpec,
    CallSpec,
    ClientSpec,
    ExponentialPeriod,
    FixedPeriod,
    HttperfWorkload,
    PrintSpec,
    ScriptSpec,
    ServerSpec,
    SslSpec,
    UniformPeriod,
    VariablePeriod,
    WlogSpec,
    WsesslogSpec,
    WsesspageSpec,
    WsessSpec,
    WsetSpec,
)
from bakeoff.kinds.httperf.values import Period, Wsesslog, octets

# Of the same length as that of the version that is packaged, so that requests have the same size.
USER_AGENT = "httperf/0.9.1"
PIPED_CALLS = 32
NOTHING = PrintSpec(header=False, body=False)


@dataclass(frozen=True)
class Telling:
    """What is told while it runs."""

    print_request: PrintSpec = NOTHING
    print_reply: PrintSpec = NOTHING
    periodic_stats: bool = False
    verbose: bool = False
    figures: bool = False


def workload(
    s: HttperfSettings, servers: Sequence[ServerSpec], uri: str, tls: bool, telling: Telling = Telling()
) -> HttperfWorkload:
    """The work at any rate: that of a trial is its load. Raises PlanError for a name in myaddr that is unknown."""
    return HttperfWorkload(
        servers=tuple(servers),
        server_name=s.server_name,
        uri=octets(s.uri or uri),
        method=s.method,
        http_version=s.http_version,
        no_host_hdr=s.no_host_hdr,
        user_agent=USER_AGENT,
        add_header=s.header_text,
        period=_period(s),
        num_conns=s.num_conns,
        num_calls=s.num_calls,
        burst_length=s.burst_length,
        wsess=None if s.wsess is None else WsessSpec(**vars(s.wsess)),
        wsesslog=None if s.wsesslog is None else _script(s.wsesslog),
        wsesspage=None
        if s.wsesspage is None
        else WsesspageSpec(sessions=s.wsesspage.sessions, pages=s.wsesspage.calls, think_s=s.wsesspage.think_s),
        wlog=None if s.wlog is None else WlogSpec(wrap=s.wlog.wraps, uris=s.wlog.uris),
        wset=None if s.wset is None else WsetSpec(files=s.wset.files, miss_rate=s.wset.miss_rate),
        max_connections=s.max_connections,
        max_piped_calls=PIPED_CALLS if s.max_piped_calls is None else s.max_piped_calls,
        timeout_s=s.timeout_s,
        think_timeout_s=s.think_timeout_s,
        runtime_s=s.runtime_s,
        client=ClientSpec(index=s.client.index, of=s.client.of),
        hog=s.hog,
        myaddr=_sources(s.myaddr),
        send_buffer=s.send_buffer,
        recv_buffer=s.recv_buffer,
        close_with_reset=s.close_with_reset,
        failure_status=s.failure_status,
        retry_on_failure=s.retry_on_failure,
        session_cookies=s.session_cookies,
        ssl=_ssl(s) if tls else None,
        print_request=telling.print_request,
        print_reply=telling.print_reply,
        periodic_stats=telling.periodic_stats,
        verbose=telling.verbose,
        tell_figures=telling.figures,
    )


def _period(s: HttperfSettings) -> FixedPeriod | UniformPeriod | ExponentialPeriod | VariablePeriod | None:
    return _shape(s.period) if s.period is not None and s.period.per_s else None


def _shape(period: Period) -> FixedPeriod | UniformPeriod | ExponentialPeriod | VariablePeriod:
    n = period.numbers
    if period.shape == "d":
        return FixedPeriod(shape="fixed", period_s=n[0])
    if period.shape == "u":
        return UniformPeriod(shape="uniform", from_s=n[0], to_s=n[1])
    if period.shape == "e":
        return ExponentialPeriod(shape="exponential", mean_s=n[0])
    return VariablePeriod(shape="variable", steps=tuple(zip(n[0::2], n[1::2], strict=True)))


def _script(log: Wsesslog) -> WsesslogSpec:
    return WsesslogSpec(
        sessions=log.sessions,
        scripts=tuple(
            ScriptSpec(
                bursts=tuple(
                    BurstSpec(
                        calls=tuple(CallSpec(uri=c.uri, method=c.method, contents=c.body) for c in burst.calls),
                        think_s=log.think_s if burst.think_s is None else burst.think_s,
                    )
                    for burst in session
                )
            )
            for session in log.script
        ),
    )


def _ssl(s: HttperfSettings) -> SslSpec:
    return SslSpec(
        protocol=s.ssl_protocol,
        ciphers=tuple(name for name in (s.ssl_ciphers or "").split(":") if name),
        no_reuse=s.ssl_no_reuse,
        certificate=s.ssl_certificate,
        key=s.ssl_key,
        verify=s.ssl_verify,
        ca_file=s.ssl_ca_file,
        ca_path=s.ssl_ca_path,
        server_name=s.tls_server_name,
    )


def _sources(words: Sequence[str]) -> tuple[str, ...]:
    found = []
    for word in source_words(words):
        try:
            found.append(str(socket.getaddrinfo(word, None, type=socket.SOCK_STREAM)[0][4][0]))
        except OSError as error:
            raise PlanError(f"myaddr: {word!r} is no address of this machine ({error.strerror})") from None
    return tuple(found)
