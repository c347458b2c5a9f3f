"""Times over all that was tried: what failed lies beyond every answer, so that nobody gains by failing what is slow."""

from collections.abc import Mapping

from bakeoff.agents.engine import explained, load_engine
from bakeoff.store.records.run_records import TrialRecord
from bakeoff.store.records.trial_parts import Summary, missing_of

QUANTILES = (("p50_ns", 0.5), ("p95_ns", 0.95), ("p99_ns", 0.99), ("p999_ns", 0.999))


def all_attempts_of(record: TrialRecord, histograms: Mapping[str, bytes]) -> Summary | None:
    """The percentiles of the trial's response times (service times in a closed loop) over all operations that were
    tried, ns; a percentile that lies among the failed ones is None. None where nothing failed: the times say it all.
    """
    times = record.service if record.response is None else record.response
    blob = histograms.get("service" if record.response is None else "response")
    missing = missing_of(record)
    if blob is None or not missing or not times.count:
        return None
    count = times.count + missing
    known = {name: share * count / times.count for name, share in QUANTILES if share * count <= times.count}
    with explained():
        values = load_engine().quantiles(blob, list(known.values())) if known else []
    at = dict(zip(known, values, strict=True))
    return Summary(
        count, None, at.get("p50_ns"), at.get("p95_ns"), at.get("p99_ns"), at.get("p999_ns"), None, times.min_ns
    )
