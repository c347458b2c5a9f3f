"""The table: what must come out of each fault under each load of each suite, with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tests.faults.faults import FAULTS, NOTHING
from tests.faults.scenes import SCENES
from tests.faults.sorts import (
    AGENTS,
    CAPACITY,
    CLOSED,
    HTTP_2,
    HTTP_3,
    IN_FLIGHT,
    LOADS,
    RATE,
    SOAK,
    SUITES,
)

# What may come out.
DISQUALIFIED = "disqualified"
WITHHELD = "withheld"
LOSES = "loses"
NEVER_AHEAD = "never ahead"  # withheld, disqualified or a loss: how many fail is a matter of chance
NAMED = "named in the headline"
REFUSED = "refused before timing"
NO_VERDICT = "no verdict"  # of a soak, which has one block; its failures are in the headline
UNSEEN = "cannot be seen"  # no client can tell it from the outside
FAIR = "cannot matter"  # the faster contender is the better one
ABSENT = "no such load"  # the plan refuses it
STRANGERS = "never meet"  # the checks before timing refuse a server of another protocol
OUTCOMES = (
    DISQUALIFIED,
    WITHHELD,
    LOSES,
    NEVER_AHEAD,
    NAMED,
    REFUSED,
    NO_VERDICT,
    UNSEEN,
    FAIR,
    ABSENT,
    STRANGERS,
)


@dataclass(frozen=True)
class Says:
    """What must come out, and why; `words` stand in the headline, or in the refusal."""

    outcome: str
    why: str
    words: str = ""


Places = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Row:
    """A fault: what comes out of it; of soaks; of searches, where that is something else; of places told apart."""

    says: Says
    soak: Says
    search: Says | None = None
    apart: Mapping[Places, Says] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """A fault in a suite under a load."""

    fault: str
    suite: str
    load: str
    says: Says

    @property
    def is_run(self) -> bool:
        """Whether it is a run; of the others plans and checks say that there can be none."""
        return self.says.outcome not in (ABSENT, STRANGERS)


# Loads that a suite does not have, with the words of the plan that refuses them.
_HTTP = Says(ABSENT, "the suite speaks another protocol, or one version of HTTP", "http: ")
_FLIGHT = Says(ABSENT, "one operation at a time is under way in each session", "outstanding: belongs to suites of")
_SEARCH = Says(ABSENT, "there is no load of it to search for", "has no load that can be searched")
_ROW = Says(ABSENT, "its trials end with their work", "interval: ")
_RATE = Says(ABSENT, "file work waits for itself", "rate: belongs to suites of")
MISSING: dict[tuple[str, str], Says] = {
    **{(suite, IN_FLIGHT): _FLIGHT for suite in SUITES if suite != "file-blocks"},
    **{
        (suite, load): _HTTP
        for suite in SUITES
        if suite not in ("web-url", "web-static", "web-dynamic")
        for load in (HTTP_2, HTTP_3)
    },
    **{(suite, CAPACITY): _SEARCH for suite in ("file-blocks", "file-matrix", "file-mix", "httperf")},
    **{(suite, SOAK): _ROW for suite in ("file-blocks", "file-matrix", "file-mix", "httperf", "replay")},
    **{(suite, RATE): _RATE for suite in ("file-blocks", "file-matrix", "file-mix")},
    ("file-matrix", AGENTS): Says(ABSENT, "a small file is through before another machine begins", "agents: a test of"),
    ("replay", CAPACITY): Says(ABSENT, "the load of a log changes", "a search needs the same load all through"),
    ("replay", CLOSED): Says(ABSENT, "a log says itself when each request begins", "clients: "),
}


def _but(*loads: str) -> tuple[str, ...]:
    return tuple(load for load in LOADS if load not in loads)


_ONE_BLOCK = Says(NO_VERDICT, "a soak has one block")
_FAST = Row(Says(FAIR, "it does the work, faster"), _ONE_BLOCK)
_SLOW = Row(Says(LOSES, "its times show it"), _ONE_BLOCK)
# Some 3 of 100 fail, which is overload too at a rate, where a trial is long enough to tell it from chance.
_AT_A_RATE: dict[Places, Says] = {
    (("web-url", "web-static"), (RATE,)): Says(NEVER_AHEAD, "more fails than may, and than a rate that is served"),
}
_FAILS = Row(
    Says(WITHHELD, "it fails more than the budget of errors"),
    _ONE_BLOCK,
    Says(LOSES, "no load meets the objective"),
    {
        (("replay", "httperf"), (RATE, AGENTS)): Says(LOSES, "the percentile that decides lies among the failures"),
        **_AT_A_RATE,
    },
)
_IN_A_CLASS: dict[Places, Says] = {
    (("web-dynamic",), (CLOSED, RATE, AGENTS, HTTP_2, HTTP_3)): Says(
        LOSES, "the pages that fail are most of what one class of requests asks for"
    ),
}
_FAILS_BY_CHANCE = Row(
    Says(NEVER_AHEAD, "more fails than the budget of errors; how much is chance"),
    _ONE_BLOCK,
)
_WRONG = Row(
    Says(DISQUALIFIED, "wrong data are taken for right ones"),
    Says(DISQUALIFIED, "one wrong reply is enough, in any load"),
)
_ASKED_AGAIN = Row(
    Says(
        NAMED,
        "requests that a kept connection left open are asked again, in their time",
        "clients asked again on new ones",
    ),
    _ONE_BLOCK,
)
_PUT_BACK = Row(Says(NAMED, "streams that it put back are asked again, in their time", "asked again"), _ONE_BLOCK)
_RESET_STREAM = Says(WITHHELD, "a stream that is reset is not asked for again")
_OTHER_PAGE = Says(WITHHELD, "the pages differ before timing")
_OF_CORPUS = Says(FAIR, "the files of a corpus have their own sizes")
_NO_CORPUS = Says(REFUSED, "it serves no corpus")
_STRANGE_MAIL = Says(REFUSED, "mail of others would be read with its own")
_NO_WHOLE = Says(REFUSED, "no body is whole")
_CORPORA = ("web-static", "web-dynamic")
_IN_CORPORA: dict[Places, Says] = {(_CORPORA, LOADS): _NO_CORPUS}
_MUXED = (HTTP_2, HTTP_3)

ROWS: dict[str, Row] = {
    f"web: {NOTHING}": _FAST,
    "web: page_bytes": Row(_OTHER_PAGE, _OTHER_PAGE, apart={
        (_CORPORA, _but(SOAK)): _OF_CORPUS,
        (_CORPORA, (SOAK,)): _ONE_BLOCK,
        (("web-session",), (SOAK,)): _ONE_BLOCK,
    }),
    "web: dynamic": replace(_FAST, apart={(("web-dynamic",), LOADS): Says(REFUSED, "no page is computed")}),
    "web: keep_alive": _FAST,
    "web: requests_per_connection": _FAST,
    "web: chunked": _FAST,
    "web: delay_s": _SLOW,
    "web: stall": _SLOW,
    "web: refuse": _FAILS_BY_CHANCE,
    "web: limit_per_s": _SLOW,
    "web: status": replace(_FAILS, apart={
        **_IN_A_CLASS,
        **_AT_A_RATE,
        (("replay",), (RATE, AGENTS)): Says(LOSES, "the percentile that decides lies among the failures"),
        (("httperf",), (CLOSED, RATE, AGENTS)): Says(WITHHELD, "the page of the error is other content"),
        (("web-session",), (CLOSED, RATE, AGENTS)): Says(LOSES, "more of its sessions fail than a trial may"),
    }),
    "web: truncate_every": _WRONG,
    "web: corrupt_every": _WRONG,
    "web: close_after_bytes": Row(_NO_WHOLE, _NO_WHOLE, apart={
        (("httperf",), LOADS): Says(DISQUALIFIED, "the checks read no body there, the trials do"),
    }),
    "web: unanswered_every": replace(_ASKED_AGAIN, apart={
        (_CORPORA, (CLOSED, RATE, AGENTS, CAPACITY, HTTP_2, HTTP_3)): Says(NEVER_AHEAD, "no connection is kept"),
        (("web-url",), _MUXED): _RESET_STREAM,
        (("httperf",), (CLOSED, RATE, AGENTS)): Says(NEVER_AHEAD, "httperf asks nothing again"),
    }),
    "web: bad_chunk_every": replace(_FAILS, apart={**_FAILS.apart, **_IN_A_CLASS}),
    "web: unsolicited_every": replace(_FAILS_BY_CHANCE, apart={
        (("web-url",), _MUXED): Says(FAIR, "no stream carries a second reply"),
    }),
    "web: leave_open": _FAST,
    "web: cut_with_reset": replace(_FAILS, apart={**_FAILS.apart, **_IN_A_CLASS}),
    "web: idle_timeout_s": _FAST,
    "web: max_connections": replace(_FAILS_BY_CHANCE, apart={
        (("web-url",), (HTTP_3,)): Says(FAIR, "all streams share one connection, which it takes"),
        (("httperf",), (CLOSED,)): Says(FAIR, "one connection after the other"),
    }),
    "null: page_bytes": Row(_OTHER_PAGE, _OTHER_PAGE, apart={
        (_CORPORA, LOADS): _NO_CORPUS, (("web-session",), (SOAK,)): _ONE_BLOCK,
    }),
    "null: close": replace(_FAST, apart={(_CORPORA, LOADS): _NO_CORPUS}),
    "scripted: 203 after the check": replace(_FAILS_BY_CHANCE, apart=_IN_CORPORA),
    "scripted: 204 after the check": replace(_FAILS_BY_CHANCE, apart=_IN_CORPORA),
    "scripted: 206 after the check": replace(_FAILS_BY_CHANCE, apart=_IN_CORPORA),
    **{
        name: replace(_WRONG, apart=_IN_CORPORA)
        for name in FAULTS
        if name.startswith("scripted: ") and not name.startswith("scripted: 20")
    },
    "scripted: one of 40 requests reset": replace(_ASKED_AGAIN, apart={
        **_IN_CORPORA,
        (("web-url",), _MUXED): _RESET_STREAM,
        (("httperf",), (CLOSED, RATE, AGENTS)): Says(NEVER_AHEAD, "httperf asks nothing again"),
    }),
    f"list: {NOTHING}": _FAST,
    "list: a URL never succeeds": _FAILS_BY_CHANCE,
    f"shop: {NOTHING}": _FAST,
    "shop: one of 10 log-in pages without a token": _WRONG,
    "shop: one of 10 home pages is the log-in page": _WRONG,
    "shop: one of 10 log-ins refused": _FAILS_BY_CHANCE,
    **{
        name: _FAST if name.endswith(NOTHING) or "GOAWAY" in name else _WRONG if "cut" in name
        else _PUT_BACK if "put back" in name else _FAILS_BY_CHANCE
        for name in FAULTS
        if name.startswith(("HTTP/2: ", "HTTP/3: "))
    },
    f"app: {NOTHING}": _FAST,
    "app: data_limit_bytes": _FAILS_BY_CHANCE,
    "app: service_s": _SLOW,
    "app: payload_max_bytes": Row(
        Says(REFUSED, "it tells its limit with the hello"), Says(REFUSED, "it tells its limit with the hello")
    ),
    "app: rounds_max": _FAILS_BY_CHANCE,
    "app: queue": _FAILS_BY_CHANCE,
    "app: max_connections": _FAILS_BY_CHANCE,
    "app: damage_every": _WRONG,
    "app: lose_every": _WRONG,
    "app: garbage_every": _WRONG,
    "app: forget": _WRONG,
    "app: remember": Row(Says(FAIR, "each request has a seed of its own: nothing comes twice"), _ONE_BLOCK),
    "app: false_times": Row(Says(FAIR, "its own times decide nothing, and what cannot be is told"), _ONE_BLOCK),
    f"mail: {NOTHING}": _FAST,
    "mail: size_limit_bytes": _FAILS_BY_CHANCE,
    "mail: max_sessions": _FAILS_BY_CHANCE,
    "mail: fill": Row(_STRANGE_MAIL, _STRANGE_MAIL),
    "mail: fill, endless": _FAILS_BY_CHANCE,
    "mail: delay_s": _SLOW,
    "mail: pop3_refuse_first": _FAILS_BY_CHANCE,
    "mail: refuse": _FAILS_BY_CHANCE,
    **{f"mail: reject {command}": _FAILS_BY_CHANCE for command in ("CONNECT", "EHLO", "MAIL", "RCPT", "DATA", "DOT")},
    "mail: drop_after_dot": _FAILS_BY_CHANCE,
    **{f"mail: {fault}": _WRONG for fault in ("lose", "duplicate", "damage", "misdeliver")},
    "mail: pop3_ends_after": _FAILS_BY_CHANCE,
    "mail: defer": _FAILS_BY_CHANCE,
    f"files: {NOTHING}": _FAST,
    "files: bytes change": Row(
        Says(NEVER_AHEAD, "records are damaged, or most of the work fails; which is chance"), _ONE_BLOCK
    ),
    "files: some reads give other bytes": replace(_WRONG, apart={
        # Clients of an office mix read names of folders, too: of other bytes there each of them may die.
        (("file-mix",), LOADS): Says(NEVER_AHEAD, "other bytes are found, or clients die of them; which is chance"),
    }),
    "files: some writes are lost": _WRONG,
    "files: a server gives other bytes": _WRONG,
    "files: a server loses writes": _WRONG,
    "files: fsync does nothing": Row(Says(UNSEEN, "what survives a crash shows after one alone"), _ONE_BLOCK),
    "files: no room": _FAILS_BY_CHANCE,
}  # fmt: skip


def says(fault: str, suite: str, load: str) -> Says:
    """What the table says of a cell. Raises AssertionError unless that is one thing."""
    if SCENES[suite].family != FAULTS[fault].family:
        return Says(STRANGERS, "a contender of one protocol is refused by suites of another")
    if (suite, load) in MISSING:
        return MISSING[suite, load]
    fault_ = FAULTS[fault]
    if (fault_.suites and suite not in fault_.suites) or fault_.load not in ("", load):
        return Says(STRANGERS, f"a fault in {', '.join(fault_.suites)} alone, over {fault_.load or 'HTTP/1.1'}")
    row = ROWS[fault]
    found = [one for (suites, loads), one in row.apart.items() if suite in suites and load in loads]
    assert len(found) <= 1, (fault, suite, load)
    if found:
        return found[0]
    return row.soak if load == SOAK else row.search if load == CAPACITY and row.search else row.says


def cells() -> list[Cell]:
    """All cells."""
    return [
        Cell(fault, suite, load, says(fault, suite, load)) for fault in FAULTS for suite in SUITES for load in LOADS
    ]
