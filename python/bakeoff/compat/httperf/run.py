"""One run of httperf: the trial, what is told while it goes on, the report at its end, and the run file."""

import json
import resource
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from bakeoff import __version__
from bakeoff.agents.base import Agent, TrialSession
from bakeoff.agents.result import EngineEvent, Outcome
from bakeoff.agents.spec import TrialSpec
from bakeoff.compat.httperf.echo import echo
from bakeoff.compat.httperf.live import live_lines
from bakeoff.compat.httperf.options import Options
from bakeoff.compat.httperf.progress import Progress
from bakeoff.compat.httperf.record import Record
from bakeoff.compat.httperf.statistics import statistics
from bakeoff.core.errors import ContenderError, GeneratorError
from bakeoff.kinds.httperf.figures import HttperfFigures
from bakeoff.kinds.httperf.lines import values_of
from bakeoff.kinds.httperf.run import host_of
from bakeoff.kinds.httperf.spec import ServerSpec
from bakeoff.kinds.httperf.work import workload
from bakeoff.plan.input.address import SocketAddress, resolve
from bakeoff.plan.settings.shared import LENGTH_MAX_S
from bakeoff.run.kind import figures_of
from bakeoff.run.stop import Stop
from bakeoff.store.records.figures import Figures

POLL_S = 1.0
CANCEL_PATIENCE_S = 30.0
Write = Callable[[str], None]


def run(options: Options, agent: Agent, write: Write, tell: Write, progress: Progress) -> bool:
    """Carry out `options`: lines go to `write`, warnings and where the run is kept to `tell`. Whether it was stopped.

    Raises ContenderError for a server whose name is not known, PlanError for what the engine refuses, RunFileError when
    the run file cannot be written; what goes wrong later is part of the figures.
    """
    spec = trial_spec(options)
    agent.accept(spec)
    stop = Stop()
    with stop.active(), Record.begin(options, agent) as record:
        if not options.json:
            write(echo(options) + "\n")
            if options.verbose:
                write(f"httperf: maximum number of open descriptors = {_descriptors()}\n")
        for warning in options.warnings:
            tell(f"warning: {warning}\n")
        began = datetime.now(UTC)
        with stop.deferred():
            session = agent.start(spec).go()
        stopped, messages = False, _Messages(options, write, tell, lambda event: record.so_far(began, event))
        try:
            outcome = _watch(session, messages, progress, stop)
        except KeyboardInterrupt:
            stopped = True
        with stop.deferred():
            if stopped:
                outcome = _stopped(session, messages)
            progress.end()
            result = outcome.result
            record.keep(began, outcome)
            if result.fatal:
                raise ContenderError(result.fatal)
            figures = figures_of(HttperfFigures, result)
            write(_json(options, figures, stopped) if options.json else report(options, figures))
            if figures.prints_lost:
                tell(f"warning: {figures.prints_lost:,} messages found no room and were not printed\n")
            record.tell(tell)
    return stopped


def _descriptors() -> int:
    """What the engine raises the limit of this process to."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def report(options: Options, figures: HttperfFigures) -> str:
    """The lines from the burst on."""
    return statistics(figures, options.verbose > 1, options.periodic_stats)


def trial_spec(options: Options) -> TrialSpec:
    """What the engine is told. Raises ContenderError for a host that is not known."""
    servers = [ServerSpec(host=host_of(host), address=_place(host, options.port)) for host in options.hosts]
    settings = options.settings
    return TrialSpec(
        workload=workload(settings, servers, options.uri, options.tls, options.telling),
        load=settings.load_steps[0],
        length_s=LENGTH_MAX_S,
        seed=1,
    )


def _place(host: str, port: int) -> str:
    """Where a host is. IPv4 first, as httperf knows nothing else, and IPv6 for hosts that have only that."""
    places = resolve(SocketAddress(host, host, port, None))
    return next((place for place in places if not place.startswith("[")), places[0])


class _Messages:
    """What the engine tells while it runs, and where it goes."""

    def __init__(self, options: Options, write: Write, tell: Write, keep: Callable[[EngineEvent], None]) -> None:
        self._options, self._write, self._tell, self._keep = options, write, tell, keep

    def pass_on(self, events: Sequence[EngineEvent]) -> None:
        """Lines of the report to the output, figures to the run file, anything else to the user."""
        for event in events:
            if event.level == "figures":
                self._keep(event)
            elif (lines := live_lines(event)) is None:
                self._tell(f"{event.level}: {event.text}\n")
            elif not self._options.json:
                self._write("".join(f"{line}\n" for line in lines))


def _watch(session: TrialSession, messages: _Messages, progress: Progress, stop: Stop) -> Outcome:
    """Pass on what the engine tells until the trial is over."""
    while (outcome := session.wait(POLL_S)) is None:
        stop.check()
        messages.pass_on(session.drain_events())
        if (snapshot := session.snapshot()) is not None:
            progress.show(snapshot)
    messages.pass_on(session.drain_events())
    return outcome


def _stopped(session: TrialSession, messages: _Messages) -> Outcome:
    """The outcome so far. Raises GeneratorError when there is none."""
    session.cancel()
    until = time.monotonic() + CANCEL_PATIENCE_S
    outcome = None
    while outcome is None and time.monotonic() < until:
        outcome = session.wait(POLL_S)
    messages.pass_on(session.drain_events())
    if outcome is None:
        raise GeneratorError("the engine does not stop: its figures are lost; end it with SIGKILL")
    return outcome


def _json(options: Options, figures: HttperfFigures, stopped: bool) -> str:
    """The figures as one JSON object: those of the report, not rounded, and the sums behind them."""
    content: dict[str, Any] = {
        "tool": f"bakeoff {__version__}",
        "command": echo(options),
        "stopped": stopped,
        "figures": dict(values_of(figures)),
        "sums": figures.model_dump(mode="json", exclude=set(Figures.model_fields)),
    }
    return json.dumps(content, indent=2) + "\n"
