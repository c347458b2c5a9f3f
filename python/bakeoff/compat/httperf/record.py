"""The run file of one run of httperf: a plan of one contender, one load step and one block, and its trial."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from pydantic import ValidationError

from bakeoff.agents.base import Agent
from bakeoff.agents.result import EngineEvent, Outcome
from bakeoff.compat.httperf.echo import echo
from bakeoff.compat.httperf.options import Options
from bakeoff.core.errors import GeneratorError
from bakeoff.core.units import format_duration
from bakeoff.kinds.httperf.figures import HttperfFigures
from bakeoff.plan.design.order import order_trials
from bakeoff.plan.load import PRIMARY
from bakeoff.plan.model import Contender, Plan
from bakeoff.plan.suites import load_suite
from bakeoff.run.checks.build_info import tool
from bakeoff.run.kind import run_part
from bakeoff.run.outcome.judge import to_record, without_result
from bakeoff.store.records.run_records import INTERRUPTED, AgentRecord, ContenderRecord
from bakeoff.store.sqlite.write import RunHeader, RunWriter

SUITE = "httperf"
# The smallest difference that matters, and the share of errors that fails a trial, where no plan says another.
DELTA = 0.05


class Record:
    """What is kept of a run; nothing without `-o`."""

    def __init__(self, plan: Plan, writer: RunWriter | None) -> None:
        self._plan, self._writer = plan, writer
        self._kept = False

    @classmethod
    @contextmanager
    def begin(cls, options: Options, agent: Agent) -> "Iterator[Record]":
        """The run file is made before anything is sent, and removed when nothing came into it.

        Raises RunFileError when it is there already or cannot be written.
        """
        plan = plan_of(options)
        if options.output is None:
            yield cls(plan, None)
            return
        with RunWriter.create(options.output, _header(options, plan, agent), order_trials(plan)) as writer:
            record = cls(plan, writer)
            try:
                yield record
            finally:
                if not record._kept:
                    options.output.unlink(missing_ok=True)

    def so_far(self, began: datetime, event: EngineEvent) -> None:
        """Store what was counted until now as an attempt that was broken off: what is stored next takes its place. So a
        run that is killed keeps what it had.

        Raises GeneratorError when the engine tells what cannot be read.
        """
        if self._writer is None:
            return
        try:
            figures = HttperfFigures.model_validate_json(event.text)
        except ValidationError as error:
            raise GeneratorError(f"the engine's result cannot be read ({str(error)[:200]}): build it again") from None
        length_s, text = figures.test_duration_s, began.isoformat(timespec="milliseconds")
        reason = f"broken off: these are the figures of its first {format_duration(round(length_s, 1))}"
        bytes_in = figures.reply_header_bytes + figures.reply_content_bytes + figures.reply_footer_bytes
        record = replace(
            without_result(order_trials(self._plan)[0], text, INTERRUPTED, reason),
            window_s=length_s,
            operations=figures.replies,
            operations_per_s=figures.replies / max(length_s, 1e-9),
            bytes_in=bytes_in,
            bytes_out=figures.request_bytes,
            bytes_per_s=bytes_in / max(length_s, 1e-9),
            workload=json.loads(event.text),
        )
        self._writer.add_trial(record, {})
        self._kept = True

    def keep(self, began: datetime, outcome: Outcome) -> None:
        """Store the trial."""
        if self._writer is None:
            return
        planned, part = order_trials(self._plan)[0], run_part(self._plan.kind)
        text = began.isoformat(timespec="milliseconds")
        record = to_record(planned, text, outcome.result, self._plan.error_limit, None, part)
        self._writer.add_trial(record, dict(outcome.histograms))
        self._writer.finish()
        self._kept = True

    def tell(self, write: Callable[[str], None]) -> None:
        """Where it is kept, and what can be done with it."""
        if self._writer is not None:
            path = self._writer.path
            write(f"Run file: {path}\nNext: bakeoff compare {path} OTHER.bakeoff   |   bakeoff report {path}\n")


def plan_of(options: Options) -> Plan:
    """The run as a plan."""
    suite = load_suite(SUITE).suite
    name = contender_name(options)
    return Plan(
        name=name,
        suite=SUITE,
        kind=suite.kind,
        title=suite.title,
        modelled_on=suite.modelled_on,
        size="quick",
        blocks=1,
        seed=1,
        delta=DELTA,
        error_limit=DELTA,
        primary=PRIMARY.format("replies per second"),
        settings=options.settings,
        changed=(),
        classes=(),
        contenders=(Contender.model_validate({"name": name, "address": options.address}),),
        assumed=(),
    )


def contender_name(options: Options) -> str:
    """The run file's name without its ending, or the server's, in letters that names have."""
    text = options.hosts[0] if options.output is None else options.output.stem
    letters = "".join(c if c.isascii() and (c.isalnum() or c in "._+-") else "-" for c in text)
    return letters.lstrip("._+-")[:64] or "server"


def _header(options: Options, plan: Plan, agent: Agent) -> RunHeader:
    facts = agent.facts()
    contender = plan.contenders[0]
    return RunHeader(
        name=plan.name,
        suite=plan.suite,
        kind=plan.kind,
        plan=plan.to_dict(),
        plan_hash=plan.hash,
        tool=tool(facts.build),
        environment={"content": {"corpus": None, "contenders": {}}, "command": echo(options)},
        agents=(AgentRecord(agent.name, facts.environment),),
        contenders=[ContenderRecord(contender.name, contender.address, None)],
        load_steps=plan.settings.load_steps,
        blocks_planned=1,
        delta=DELTA,
    )
