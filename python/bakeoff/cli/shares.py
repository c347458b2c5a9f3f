"""What each agent did of the trials of a run file, for `bakeoff show`."""

from dataclasses import asdict
from typing import Any

from bakeoff.report.fit import Sheet
from bakeoff.store.records import RunRecord, ShareRecord, TrialRecord
from bakeoff.store.starts import counts_of


def share_objects(trial: TrialRecord) -> dict[str, Any]:
    """By agent, as JSON values; times in ms, counts of the measured window. `lost` says why an agent was lost."""
    return {
        share.agent: {
            "clients": share.clients,
            "lost": share.lost or None,
            "window_s": share.window_s,
            "operations": share.operations,
            "errors": share.errors,
            "bytes_in": share.bytes_in,
            "bytes_out": share.bytes_out,
            "service_p50_ms": _ms(share.service.p50_ns),
            "service_p99_ms": _ms(share.service.p99_ns),
            "cpu_share": share.cpu_share,
            "cpu_us_per_operation": share.cpu_us_per_operation,
            "run_delay_share": share.run_delay_share,
            "rss_bytes": share.rss_bytes,
            "late_start_p99_ms": _ms(share.late_start_p99_ns),
            "lag_p99_ms": _ms(share.lag_p99_ns),
            "start_offset_ms": _ms(share.start_offset_ns),
            "links": [{**asdict(link), "share": link.share} for link in share.links],
            "response_p50_ms": None if share.response is None else _ms(share.response.p50_ns),
            "response_p99_ms": None if share.response is None else _ms(share.response.p99_ns),
            "starts": None if share.starts is None else counts_of(share.starts) | {"late_p99_ms": _late(share)},
            "disturbances": share.disturbances,
        }
        for share in trial.per_agent
    }


def agents_sheet(run: RunRecord) -> Sheet | None:
    """One row for each agent of each trial; None when there is one agent, whose figures are those of the trials."""
    if len(run.agents) < 2:
        return None
    sheet = Sheet()
    sheet.column("order")
    sheet.column("agent", numeric=False)
    sheet.column("clients")
    sheet.column("operations/s")
    sheet.column("p99 ms")
    sheet.column("errors")
    sheet.column("CPU %", spare=1)
    sheet.column("link %", spare=2)
    sheet.column("start ms", spare=4)
    sheet.column("p99 lag ms", spare=3)
    sheet.column("state", numeric=False)
    for trial in run.trials:
        for share in trial.per_agent:
            sheet.row(
                str(trial.order),
                share.agent,
                str(share.clients),
                f"{share.operations_per_s:,.1f}",
                _figure(share.times.p99_ns),
                f"{sum(share.errors.values()):,}",
                f"{100.0 * share.cpu_share:.1f}",
                _link(share),
                _figure(share.start_offset_ns),
                _figure(share.lag_p99_ns),
                "lost" if share.lost else "ok",
            )
    return sheet


def _link(share: ShareRecord) -> str:
    """Of the fullest of its links; a dash where none has a speed."""
    shares = [link.share for link in share.links if link.share is not None]
    return f"{100.0 * max(shares):.1f}" if shares else "-"


def _late(share: ShareRecord) -> float | None:
    return None if share.starts is None else _ms(share.starts.late.p99_ns)


def _ms(time_ns: int | None) -> float | None:
    return None if time_ns is None else time_ns / 1e6


def _figure(time_ns: int | None) -> str:
    return "-" if time_ns is None else f"{time_ns / 1e6:.3f}"
