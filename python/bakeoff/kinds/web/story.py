"""What web suites ask of a server, in prose."""

from __future__ import annotations

from collections.abc import Set

from bakeoff.compare import settings, wording
from bakeoff.report.context import Context

VERSIONS = {"2": "HTTP/2", "3": "HTTP/3"}


def story(context: Context) -> tuple[str, ...]:
    """What a client asks for, over which connections, and when a request counts."""
    plan = settings.common(context.run.plan)
    how = " ".join(
        filter(None, (_connections(plan, {manner.setting for manner in context.comparison.manners}), _counts(plan)))
    )
    return tuple(filter(None, (_mixture(plan.get("classes")), how)))


def _mixture(classes: object) -> str:
    """The shares of the classes, the common ones first."""
    weights = {_files(row): of for row in _rows(classes) if isinstance(of := row.get("weight"), (int, float))}
    total = sum(weights.values())
    if len(weights) < 2 or total <= 0:
        return ""
    ordered = sorted(weights.items(), key=lambda one: -one[1])
    shares = wording.names([f"{wording.percent(weight / total)} {name}" for name, weight in ordered])
    return (
        f"Requests are drawn at random, in another order for each client: {shares}. The files are to be the same bytes "
        "on each server; whether they are is looked at before the first trial, and audited."
    )


def _rows(classes: object) -> list[dict[str, object]]:
    return [row for row in classes if isinstance(row, dict)] if isinstance(classes, (list, tuple)) else []


def _files(row: dict[str, object]) -> str:
    """What a class asks for: its name is the bytes of its files, where it is a number."""
    name = str(row.get("name"))
    if row.get("source") == "missing":
        return f"of a file that is not there (status {name})"
    size = name.rpartition("/")[2]
    return f"of {int(size):,} bytes" if size.isdecimal() and len(size) < 10 else name


def _connections(plan: dict[str, object], differ: Set[str]) -> str:
    version = settings.text(plan, "http")
    if version in VERSIONS or differ & {"http", "keep_alive"}:
        return ""  # the sentence on streams says it, or the one on what contenders have otherwise
    kept = "A connection is kept for the next request" if settings.flag(plan, "keep_alive") else _closed()
    return f"{kept} (HTTP/{version})." if version else f"{kept}."


def _closed() -> str:
    return "Each request has a connection of its own: connect, request, reply, close"


def _counts(plan: dict[str, object]) -> str:
    text = "A request counts when the whole reply has come within the measured window, with the right status"
    every = settings.number(plan, "check_every", 0.0)
    if not {row.get("source") for row in _rows(plan.get("classes"))} & {"files", "dynamic"}:
        return f"{text}."  # nothing says what the bodies of other pages must be
    hashed = f"the first body of each file in a trial is hashed, and one in {every:,.0f} after it"
    return f"{text}; {hashed}." if every > 1 else f"{text}."
