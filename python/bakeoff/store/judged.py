"""What an objective made of a trial, as JSON in the run file and back."""

from typing import Any

from bakeoff.store.fields import DamagedError, Fields
from bakeoff.store.trial_parts import JudgedRecord, TermRecord


def to_table(judged: JudgedRecord) -> dict[str, Any]:
    """As it stands in the column `judged` of `trials`."""
    terms = [{"term": t.term, "value": t.value, "lost": t.lost, "met": t.met} for t in judged.terms]
    return {"met": judged.met, "lost": judged.lost, "limit": judged.limit, "terms": terms}


def from_row(row: Fields) -> JudgedRecord | None:
    """What `to_table` wrote; None where nothing was judged. Raises DamagedError."""
    if row.is_null("judged"):
        return None
    table = row.table("judged")
    match table:
        case {"met": bool(met), "lost": float(lost) | int(lost), "limit": str(limit), "terms": list(terms)} if terms:
            return JudgedRecord(met, float(lost), limit, tuple(map(_term, terms)))
    raise DamagedError("what an objective made of a trial is not told")


def _term(table: Any) -> TermRecord:
    match table:
        case {
            "term": str(term),
            "value": (float() | int() | None) as value,
            "lost": float(lost) | int(lost),
            "met": bool(met),
        }:
            return TermRecord(term, None if value is None else float(value), float(lost), met)
    raise DamagedError("a term of an objective is not told")
