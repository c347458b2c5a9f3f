"""A row of a soak as a row of the run file and back."""

from dataclasses import asdict
from typing import Any

from bakeoff.store import seal
from bakeoff.store.canonical import to_json
from bakeoff.store.fields import DamagedError, Fields
from bakeoff.store.records import PlannedTrial, SoakRowRecord
from bakeoff.store.trial_parts import Summary


def to_columns(row: SoakRowRecord, service: bytes, response: bytes | None) -> dict[str, Any]:
    """The columns of `soak_rows`, with the histograms of service and response times."""
    return {
        "position": row.order,
        "stretch": row.stretch,
        "number": row.number,
        "started_at": row.started_at,
        "length_s": row.length_s,
        "operations": row.operations,
        "errors": to_json(row.errors),
        "bytes_in": row.bytes_in,
        "bytes_out": row.bytes_out,
        "cpu_share": row.cpu_share,
        "run_delay_share": row.run_delay_share,
        "stolen_s": row.stolen_s,
        "stopped_s": row.stopped_s,
        "rss_bytes": row.rss_bytes,
        "offered": row.offered,
        "started": row.started,
        "never_started": row.never_started,
        **asdict(row.service),
        "response": None if row.response is None else to_json(asdict(row.response)),
        "hdr": service,
        "hdr_sha256": seal.blob_seal(service),
        "response_hdr": response,
        "response_hdr_sha256": None if response is None else seal.blob_seal(response),
    }


def from_row(planned: tuple[PlannedTrial, ...], row: Fields) -> SoakRowRecord:
    """What `to_columns` wrote. Raises DamagedError."""
    of = planned[row.whole("position", most=len(planned) - 1)]
    return SoakRowRecord(
        order=of.order,
        contender=of.contender,
        mix=of.mix,
        block=of.block,
        stretch=row.whole("stretch", least=1),
        number=row.whole("number"),
        started_at=row.moment("started_at"),
        length_s=row.real("length_s"),
        operations=row.whole("operations"),
        errors=row.counts("errors"),
        bytes_in=row.whole("bytes_in"),
        bytes_out=row.whole("bytes_out"),
        cpu_share=row.real("cpu_share"),
        run_delay_share=row.real_or_none("run_delay_share"),
        stolen_s=row.real_or_none("stolen_s"),
        stopped_s=row.real_or_none("stopped_s"),
        rss_bytes=row.whole("rss_bytes"),
        offered=row.whole_or_none("offered"),
        started=row.whole_or_none("started"),
        never_started=row.whole_or_none("never_started"),
        service=summary_of(row),
        response=None if row.is_null("response") else full_summary("soak_rows.response", row.table("response")),
    )


def summary_of(row: Fields) -> Summary:
    """The columns of a histogram in figures."""
    return Summary(
        row.whole("count"),
        row.real_or_none("mean_ns"),
        *(row.whole_or_none(name) for name in ("p50_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns", "min_ns")),
    )


def full_summary(where: str, table: Any) -> Summary:
    """A histogram in figures out of JSON; what is not told is None, and refused where it must be there."""
    if not isinstance(table, dict):
        raise DamagedError(f"{where} does not hold what it must")
    return summary_of(Fields(where, {**dict.fromkeys(Summary.__annotations__), **table}))
