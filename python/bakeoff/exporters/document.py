"""A run as one JSON document; see `document_model`."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from bakeoff.exporters import document_model as form
from bakeoff.exporters.tables import left_out
from bakeoff.mix import InFlight, Mix, Rate
from bakeoff.redact import hidden
from bakeoff.report.narrate.capacity import is_share
from bakeoff.store.figures import Figures
from bakeoff.store.records import EventRecord, RunRecord, SoakRowRecord, TrialRecord
from bakeoff.store.trial_parts import START_COUNTS, ShareRecord, StartsRecord, Summary, TermRecord
from bakeoff.times import ms_of


def document_lines(run: RunRecord) -> Iterator[str]:
    """The text of the document, line by line: each trial, row and event is one of them."""
    yield f'{{"schema": "{form.SCHEMA}",'
    yield f'"run": {_run(run).model_dump_json()},'
    yield from _array("contenders", (form.Contender(**asdict(one)) for one in run.contenders))
    agents = (form.Agent(name=a.name, facts=hidden(a.facts), null_operations_per_s=a.null_operations_per_s)
              for a in run.agents)  # fmt: skip
    yield from _array("agents", agents)
    yield from _array("events", map(_event, run.events))
    yield from _array("searches", (form.Search(**asdict(one)) for one in run.searches))
    yield from _array("soak_rows", map(_soak_row, run.soak_rows))
    yield from _array("amendments", (form.Amendment(**vars(one)) for one in run.amendments))
    reasons, stated = left_out(run), run.imported_from is None
    again = {trial.order: "it was repeated" for trial in run.earlier}
    yield from _array("earlier", (trial_of(trial, again, stated) for trial in run.earlier))
    yield from _array("trials", (trial_of(trial, reasons, stated) for trial in run.trials), "]}")


def _event(event: EventRecord) -> form.Event:
    members = asdict(event)
    return form.Event(trial=members.pop("trial_id"), **members)


def _array(name: str, items: Iterator[Any], end: str = "],") -> Iterator[str]:
    yield f'"{name}": ['
    before: str | None = None
    for item in items:
        if before is not None:
            yield f"{before},"
        before = item.model_dump_json()
    if before is not None:
        yield before
    yield end


def times_ms(summary: Summary) -> form.TimesMs:
    """A summary in milliseconds."""
    figures = ("mean", "p50", "p95", "p99", "p999", "max", "min")
    return form.TimesMs(count=summary.count, **{name: ms_of(getattr(summary, f"{name}_ns")) for name in figures})


def _times_or_none(summary: Summary | None) -> form.TimesMs | None:
    return None if summary is None else times_ms(summary)


def _run(run: RunRecord) -> form.Run:
    same = ("name", "suite", "kind", "imported_from", "plan_hash", "created_at", "finished_at", "seal")
    counts = ("blocks_planned", "trials_planned", "delta", "null_operations_per_s", "tool")
    return form.Run(
        **{name: getattr(run, name) for name in (*same, *counts)},
        file=run.path.name,
        version=run.schema_version,
        mixes=tuple(mix.to_json() for mix in run.mixes),
        plan=hidden(run.plan),
        environment=hidden(run.environment),
    )


def _load(mix: Mix) -> dict[str, Any]:
    """The members that a mix is in the document."""
    if isinstance(mix, Rate):
        return {"mix_clients": None, "mix_outstanding": None, "mix_rate": form.Load(**mix.to_json()["rate"])}
    outstanding = mix.outstanding if isinstance(mix, InFlight) else None
    return {"mix_clients": mix.clients, "mix_outstanding": outstanding, "mix_rate": None}


def trial_of(trial: TrialRecord, reasons: Mapping[int, str], stated: bool = True) -> form.Trial:
    """One trial; `reasons` say by order why a trial was left out. Without `stated` another tool measured it, and what
    only Bakeoff states of a trial is null.
    """
    same = (
        "id",
        "contender",
        "purpose",
        "block",
        "order",
        "state",
        "reason",
        "code",
        "marks",
        "started_at",
        "window_s",
    )
    counts = ("operations", "operations_per_s", "bytes_in", "bytes_out", "bytes_per_s", "errors", "statuses")
    own = ("seed", "fairness_jain", "generator_cpu_us_per_operation", "generator_cpu_share")
    more = ("generator_run_delay_share", "generator_rss_bytes", "control_cpu_share", "control_longest_s")
    operations = {
        one.name: form.Operation(
            operations=one.operations,
            errors=one.errors,
            bytes_in=one.bytes_in,
            bytes_out=one.bytes_out,
            service_ms=times_ms(one.service),
        )
        for one in trial.per_operation
    }
    seconds = tuple(
        form.Second(
            second=one.second,
            phase=one.phase,
            width_s=one.width_s,
            operations=one.operations,
            errors=one.errors,
            bytes_in=one.bytes_in,
            service_ms=times_ms(one.service),
        )
        for one in trial.per_second
    )
    known: dict[str, Any] = {name: getattr(trial, name) for name in (*same, *counts, "connections", "workload")}
    known |= {name: getattr(trial, name) if stated else None for name in (*own, *more)}
    return form.Trial(
        **known,
        **_load(trial.mix),
        share_of_capacity=trial.share,
        left_out=reasons.get(trial.order),
        traffic_began_at=trial.figures(Figures).began_at,
        service_ms=times_ms(trial.service),
        response_ms=_times_or_none(trial.response),
        tried_ms=_times_or_none(trial.tried),
        starts=_starts(trial.starts),
        per_operation=operations,
        steps_ms={one.name: times_ms(one.summary) for one in trial.steps},
        per_second=seconds,
        per_client=tuple(form.Client(**vars(one)) for one in trial.per_client),
        per_agent={share.agent: _share(share) for share in trial.per_agent},
        generator_lag_ms=times_ms(trial.generator_lag) if stated else None,
        generator_late_start_ms=times_ms(trial.generator_late_start) if stated else None,
        judged=None if trial.judged is None else _judged(trial),
        telemetry=tuple(form.Watched(**seen.model_dump()) for seen in trial.telemetry),
        found=trial.found,
    )


def _starts(starts: StartsRecord | None) -> form.Starts | None:
    if starts is None:
        return None
    counts = {name: getattr(starts, name) for name in START_COUNTS}
    fates = None if starts.fates is None else form.Fates(**asdict(starts.fates))
    return form.Starts(**counts, queue=starts.queue, late_ms=times_ms(starts.late), fates=fates)


def _share(share: ShareRecord) -> form.Share:
    same = ("clients", "window_s", "operations", "operations_per_s", "errors", "bytes_in", "bytes_out", "cpu_share")
    more = ("cpu_us_per_operation", "run_delay_share", "rss_bytes", "disturbances")
    return form.Share(
        **{name: getattr(share, name) for name in (*same, *more)},
        lost=share.lost or None,
        service_ms=times_ms(share.service),
        response_ms=_times_or_none(share.response),
        starts=_starts(share.starts),
        late_start_p99_ms=ms_of(share.late_start_p99_ns),
        lag_p99_ms=ms_of(share.lag_p99_ns),
        start_offset_ms=ms_of(share.start_offset_ns),
        clock_error_ms=ms_of(share.clock_error_ns),
        links=tuple(form.Link(**vars(link), share=link.share) for link in share.links),
    )


def _judged(trial: TrialRecord) -> form.Judged | None:
    judged = trial.judged
    if judged is None:
        return None
    return form.Judged(met=judged.met, lost=judged.lost, limit=judged.limit, terms=tuple(map(_term, judged.terms)))


def _term(term: TermRecord) -> form.Term:
    """Times of a term are stored in ns."""
    of_share = is_share(term)
    return form.Term(term=term.term, value=term.value if of_share else ms_of(term.value), lost=term.lost, met=term.met)


def _soak_row(row: SoakRowRecord) -> form.StoredRow:
    same = ("contender", "block", "order", "stretch", "number", "started_at", "length_s", "operations", "errors")
    more = ("operations_per_s", "error_share", "bytes_in", "bytes_out", "offered", "started", "never_started")
    own = ("cpu_share", "run_delay_share", "stolen_s", "stopped_s", "rss_bytes")
    return form.StoredRow(
        **{name: getattr(row, name) for name in (*same, *more, *own)},
        **_load(row.mix),
        service_ms=times_ms(row.service),
        response_ms=_times_or_none(row.response),
    )
