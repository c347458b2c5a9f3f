"""What an agent did of a trial as a row of the run file and back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bakeoff.store import starts
from bakeoff.store.canonical import printable, to_json
from bakeoff.store.fields import MOST_CLIENTS, DamagedError, Fields
from bakeoff.store.records import AgentRecord
from bakeoff.store.soak import full_summary, summary_of
from bakeoff.store.trial_parts import LinkRecord, ShareRecord, StartsRecord

MOST_LINKS = 1000


def to_columns(share: ShareRecord) -> dict[str, Any]:
    """The columns of `shares` but for the trial and the agent."""
    return {
        "clients": share.clients,
        "lost": printable(share.lost),
        "window_s": share.window_s,
        "operations": share.operations,
        "errors": to_json(share.errors),
        "bytes_in": share.bytes_in,
        "bytes_out": share.bytes_out,
        "cpu_share": share.cpu_share,
        "cpu_us_per_operation": share.cpu_us_per_operation,
        "run_delay_share": share.run_delay_share,
        "rss_bytes": share.rss_bytes,
        "late_start_p99_ns": share.late_start_p99_ns,
        "lag_p99_ns": share.lag_p99_ns,
        "disturbances": to_json(share.disturbances),
        "start_offset_ns": share.start_offset_ns,
        "links": to_json([asdict(link) for link in share.links]),
        "starts": None if share.starts is None else to_json(starts.counts_of(share.starts)),
        "response": None if share.response is None else to_json(_times(share)),
        **asdict(share.service),
    }


def from_row(row: Fields, agents: Sequence[AgentRecord]) -> ShareRecord:
    """What `to_columns` wrote. Raises DamagedError."""
    times = {} if row.is_null("response") else row.table("response")
    return ShareRecord(
        agent=agents[row.whole("agent", most=len(agents) - 1)].name,
        clients=row.whole("clients", most=MOST_CLIENTS),
        lost=row.text("lost"),
        window_s=row.real("window_s"),
        operations=row.whole("operations"),
        errors=row.counts("errors"),
        bytes_in=row.whole("bytes_in"),
        bytes_out=row.whole("bytes_out"),
        service=summary_of(row),
        cpu_share=row.real("cpu_share"),
        cpu_us_per_operation=row.real("cpu_us_per_operation"),
        run_delay_share=row.real_or_none("run_delay_share"),
        rss_bytes=row.whole("rss_bytes"),
        late_start_p99_ns=row.whole_or_none("late_start_p99_ns"),
        lag_p99_ns=row.whole_or_none("lag_p99_ns"),
        disturbances=row.table("disturbances"),
        start_offset_ns=row.whole_or_none("start_offset_ns"),
        links=tuple(map(_link, row.tables("links", MOST_LINKS))),
        starts=_starts(row, times),
        response=None if row.is_null("response") else full_summary("shares.response", times.get("all")),
    )


def _times(share: ShareRecord) -> Mapping[str, Any]:
    """Times of a rate: of all operations from their planned start, and how late those were that found no connection."""
    assert share.response is not None
    return {"all": asdict(share.response), "late": None if share.starts is None else asdict(share.starts.late)}


def _starts(row: Fields, times: Mapping[str, Any]) -> StartsRecord | None:
    if row.is_null("starts"):
        return None
    if not times:
        raise DamagedError("an agent's share of a trial at a rate does not tell its times")
    return starts.from_counts(row, full_summary("shares.response", times.get("late")))


def _link(told: dict[str, Any]) -> LinkRecord:
    table = Fields("shares.links", {**dict.fromkeys(LinkRecord.__annotations__), **told})
    return LinkRecord(
        name=table.text("name"),
        bits_per_s=table.whole_or_none("bits_per_s"),
        unjudged=table.text("unjudged"),
        span_s=table.real("span_s"),
        bytes_in=table.whole("bytes_in"),
        bytes_out=table.whole("bytes_out"),
        packets_in=table.whole("packets_in"),
        packets_out=table.whole("packets_out"),
    )
