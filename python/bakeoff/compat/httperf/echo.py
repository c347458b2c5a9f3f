"""The command line as httperf repeats it: its order, its numbers, its spellings."""

from collections.abc import Iterator

from bakeoff.compat.httperf.options import Options
from bakeoff.kinds.httperf.plan import HttperfSettings


def echo(options: Options) -> str:
    """The first line of the output."""
    return " ".join(["httperf", *_telling(options), *_place(options), *_load(options), *_work(options.settings)])


def _telling(options: Options) -> Iterator[str]:
    s = options.settings
    if options.verbose:
        yield "--verbose"
    for name, part in (("print-reply", options.print_reply), ("print-request", options.print_request)):
        if part is not None:
            yield f"--{name}" + (f"={part}" if part else "")
    if s.hog:
        yield "--hog"
    if s.close_with_reset:
        yield "--close-with-reset"
    if s.think_timeout_s:
        yield f"--think-timeout={s.think_timeout_s:g}"
    if s.timeout_s is not None:
        yield f"--timeout={s.timeout_s:g}"
    if s.runtime_s is not None:
        yield f"--runtime={s.runtime_s:g}"


def _place(options: Options) -> Iterator[str]:
    s = options.settings
    yield f"--client={s.client.index}/{s.client.of}"
    yield f"--server={options.server}"
    if s.server_name is not None:
        yield f"--server_name={s.server_name}"
    if options.servers_file is not None:
        yield f"--servers={options.servers_file}"
    yield f"--port={options.port}"
    yield f"--uri={options.uri}"


def _load(options: Options) -> Iterator[str]:
    s = options.settings
    if s.failure_status is not None:
        yield f"--failure-status={s.failure_status}"
    if s.http_version != "1.1":
        yield f"--http-version={s.http_version}"
    if s.max_connections is not None:
        yield f"--max-connections={s.max_connections}"
    if s.max_piped_calls is not None:
        yield f"--max-piped-calls={s.max_piped_calls}"
    if s.period is None and s.rates[0]:
        yield f"--rate={s.rates[0]:g}"
    elif s.period is not None and s.period.per_s:
        yield s.period.echo
    yield f"--send-buffer={s.send_buffer}"
    if s.retry_on_failure:
        yield "--retry-on-failure"
    yield f"--recv-buffer={s.recv_buffer}"
    if s.session_cookies:
        yield "--session-cookies"
    yield from _tls(s, options.tls)


def _tls(s: HttperfSettings, tls: bool) -> Iterator[str]:
    if tls:
        yield "--ssl"
    if s.ssl_ciphers is not None:
        yield f"--ssl-ciphers={s.ssl_ciphers}"
    if s.ssl_no_reuse:
        yield "--ssl-no-reuse"
    if s.ssl_certificate is not None:
        yield f"--ssl-cert={s.ssl_certificate}"
        yield f"--ssl-key={s.ssl_key}"
    if s.ssl_verify:
        yield "--ssl-verify=yes"
    if s.ssl_ca_file is not None:
        yield f"--ssl-ca-file={s.ssl_ca_file}"
    if s.ssl_ca_path is not None:
        yield f"--ssl-ca-path={s.ssl_ca_path}"
    if s.ssl_protocol != "auto":
        yield f"--ssl-protocol={s.ssl_protocol}"
    if s.tls_server_name is not None:
        yield f"--tls-server-name={s.tls_server_name}"


def _work(s: HttperfSettings) -> Iterator[str]:
    if s.add_header:
        yield f"--add-header='{''.join(s.add_header)}'"
    if s.method != "GET":
        yield f"--method={s.method}"
    if s.wsesslog is not None:
        yield f"--wsesslog={s.wsesslog.sessions},{s.wsesslog.think_s:.3f},{s.wsesslog.path}"
    elif s.wsesspage is not None:
        yield f"--wsesspage={s.wsesspage.sessions},{s.wsesspage.calls},{s.wsesspage.think_s:.3f}"
    elif s.wsess is not None:
        yield f"--wsess={s.wsess.sessions},{s.wsess.calls},{s.wsess.think_s:.3f}"
    else:
        yield f"--num-conns={s.num_conns}"
        yield f"--num-calls={s.num_calls}"
    if s.burst_length != 1:
        yield f"--burst-length={s.burst_length}"
    if s.wset is not None:
        yield f"--wset={s.wset.files},{s.wset.miss_rate:.3f}"
