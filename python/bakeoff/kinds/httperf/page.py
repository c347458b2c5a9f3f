"""The page that all calls ask for, learnt before timing: replies are held to what it was."""

from dataclasses import dataclass

from bakeoff.kinds.httperf.plan import HttperfSettings
from bakeoff.kinds.httperf.spec import HttperfWorkload, PageSpec
from bakeoff.kinds.spec import TlsSpec
from bakeoff.kinds.web.checks.check import seen_in
from bakeoff.kinds.web.checks.fetch import REPLY_BYTES, Limits, UnopenedError, connect, fetch
from bakeoff.kinds.web.checks.learned import Learnt, learn, with_reply_check
from bakeoff.kinds.web.checks.probe import Reply, reply_of
from bakeoff.kinds.web.settings.body import SAFE
from bakeoff.kinds.web.spec import ClassSpec, RequestSpec, WebWorkload
from bakeoff.run.contenders.probe_connection import Bounds, ProbeError, SlowError

# Of the bodies behind a trial's first ones, one in so many is hashed.
CHECK_EVERY = 100
# So long a reply may take, s, and so often a connection that fails is tried again.
ANSWER_S, TRIES = 5.0, 3


@dataclass(frozen=True)
class Page:
    """What a contender answered before timing: its first reply, and what stayed the same."""

    first: Reply
    learnt: Learnt


def pages_of(settings: HttperfSettings) -> int:
    """How many pages are asked for, as far as the options tell it."""
    if settings.wlog is not None:
        return len(settings.wlog.uris)
    if settings.wset is not None:
        return settings.wset.files
    if settings.wsesslog is not None:
        return len({call.uri for session in settings.wsesslog.script for burst in session for call in burst.calls})
    return 1


def is_one(settings: HttperfSettings) -> bool:
    """Whether all calls ask for one page."""
    lists = (settings.wlog, settings.wset, settings.wsesslog, settings.wsesspage)
    return all(each is None for each in lists)


def is_safe(settings: HttperfSettings) -> bool:
    """Whether it may be asked before timing as often as one likes."""
    return settings.method in SAFE


def reach(work: HttperfWorkload) -> None:
    """Connect to the first server, without TLS, and drop the connection. Raises WireError that says what to do."""
    connect(_way(work).model_copy(update={"scheme": "http", "tls": None}), 1, _limits())


def learnt(work: HttperfWorkload) -> Page | None:
    """What the first server answers to the calls of this work; None where it answers nothing that can be read."""
    try:
        first = _fetch(work)
        return Page(first, learn(lambda: seen_in(_fetch(work)), seen_in(first)))
    except ProbeError:
        return None


def with_page_check(work: HttperfWorkload, page: Learnt | None) -> HttperfWorkload:
    """The work with its replies held to the page."""
    if page is None or page.status is None:
        return work
    request = RequestSpec(method=work.method, path=work.uri, length=None, sha256=None)
    return work.model_copy(
        update={"page": PageSpec(request=with_reply_check(request, page, True, False), check_every=CHECK_EVERY)}
    )


def _fetch(work: HttperfWorkload) -> Reply:
    for _ in range(TRIES - 1):
        try:
            return _exchange(work)
        except (SlowError, UnopenedError):
            raise
        except ProbeError:
            continue
    return _exchange(work)


def _exchange(work: HttperfWorkload) -> Reply:
    """One call on a connection of its own, with the bytes that the generator sends."""
    lines = [f"{work.method} {work.uri} HTTP/{work.http_version}", f"User-Agent: {work.user_agent}"]
    if work.http_version == "1.0":
        lines.append("Connection: keep-alive")
    if not work.no_host_hdr:
        lines.append(f"Host: {work.server_name or work.servers[0].host}")
    call = ("\r\n".join(lines) + f"\r\n{work.add_header}\r\n").encode("latin-1")
    return reply_of(fetch(_way(work), 1, _limits(), call), work.method == "HEAD")


def _limits() -> Limits:
    return Limits(Bounds(ANSWER_S, REPLY_BYTES), ANSWER_S, ANSWER_S)


def _way(work: HttperfWorkload) -> WebWorkload:
    """How a call reaches the first server."""
    server, ssl = work.servers[0], work.ssl
    request = RequestSpec(method=work.method, path="/", length=None, sha256=None)
    return WebWorkload(
        scheme="http" if ssl is None else "https",
        host=server.host if ssl is None or ssl.server_name is None else ssl.server_name,
        addresses=(server.address,),
        unix=None,
        http="1.1",
        keep_alive=True,
        receive_buffer_bytes=None,
        close_with_reset=False,
        source_addresses=(),
        requests_per_connection=None,
        tls=None if ssl is None else TlsSpec(verify=ssl.verify, ca_file=ssl.ca_file, resumption=False),
        check_every=0,
        headers=(),
        classes=(ClassSpec(name="check", weight=1.0, expect=(), requests=(request,)),),
    )
