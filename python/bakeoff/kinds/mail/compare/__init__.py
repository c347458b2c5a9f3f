"""What comparisons know of mail: messages, not steps, are its work, and none may be lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bakeoff.compare.cube.cube import Cube
from bakeoff.compare.failures.faults import FaultSource
from bakeoff.compare.kind import ComparePart
from bakeoff.compare.metrics.metric import Metric
from bakeoff.compare.model.comparison import Audit, Failed
from bakeoff.compare.model.fact import Fact
from bakeoff.compare.model.pair import Gate
from bakeoff.compare.validity.audits import exact, same_content
from bakeoff.compare.validity.client_options import settings_by_name
from bakeoff.compare.validity.gates import ERROR_BUDGET
from bakeoff.core.errors import PlanError
from bakeoff.kinds.mail.compare import steps
from bakeoff.kinds.mail.compare.delivery import deliveries
from bakeoff.kinds.mail.compare.failures import failures, parts
from bakeoff.kinds.mail.compare.known import (
    FailedShares,
    LedgerRule,
    LostCameLater,
    MixedTls,
    ShortDrain,
    SmallerMail,
)
from bakeoff.kinds.mail.compare.ledger import (
    LOSSES,
    came_later,
    few_messages,
    foreign_mail,
    lags,
    ledger_counts,
    mail_summary,
)
from bakeoff.kinds.mail.compare.limits import limits
from bakeoff.kinds.mail.compare.metrics import counts_messages, mail_at_rates, mail_metrics, piles_up, put_off_ns
from bakeoff.kinds.mail.compare.smaller import SMALLER, shortfall
from bakeoff.kinds.mail.compare.summary import MailSummary
from bakeoff.kinds.mail.figures import LedgerTotals, MailFigures
from bakeoff.kinds.mail.plan import mail_settings
from bakeoff.store.records.run_records import RunRecord, TrialRecord
from bakeoff.store.records.served import WorkPart
from bakeoff.testdata.mail.address import parse_mail_address, way_of

LOST = FaultSource(
    "mail",
    LOSSES,
    lambda trial: ledger_counts([trial]),
    lambda trial: ledger_counts([trial]).get("accepted", 0),
)
SMALLER_MAIL = "smaller mail"
LEDGER = "Ledger"


class Mail(ComparePart):
    work = "mail steps"
    iterations = "mail sessions"
    responds = "a whole message or session of reading"
    faults = (LOST, *ComparePart.faults)
    gates_of_its_own = (SMALLER_MAIL,)
    audits_of_its_own = (LEDGER,)

    def endpoints(self, run: RunRecord, cube: Cube, general: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Messages, where they were counted."""
        return mail_metrics(run, general) if counts_messages(run) else general

    def time_breakdown(self, trials: Sequence[TrialRecord]) -> Mapping[str, Mapping[str, float]]:
        """The steps of sending, and those of reading."""
        return steps.time_breakdown(trials)

    waits_for = "the time until a message is visible (p95 or above, lower end)"

    def open_loop_metrics(self, run: RunRecord, metrics: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Messages beside response times, where they were counted."""
        return mail_at_rates(run, metrics) if counts_messages(run) else metrics

    def waited_ns(self, trial: TrialRecord, figure: str) -> float:
        """A message that was accepted is of use when it can be read."""
        return put_off_ns(trial, figure)

    def owes_more(self, trial: TrialRecord) -> bool:
        """Messages that were accepted and are not there."""
        return piles_up(trial)

    def failures(self, trials: Sequence[TrialRecord]) -> Sequence[Failed]:
        """Messages, one for each recipient, and visits of mailboxes; never steps, of which polls make any number."""
        return failures(trials)

    def parts(self, trial: TrialRecord) -> Iterable[WorkPart]:
        """Also mailboxes, and clients by their messages."""
        return parts(trial)

    def same_work(self, run: RunRecord, cube: Cube) -> Sequence[Audit]:
        """How often a mailbox is found empty depends on the server: bytes per step are no measure of the same work."""
        trials = sorted(cube.usable.values(), key=lambda trial: trial.order)
        counted = [(trial, totals) for trial in trials if (totals := trial.figures(MailFigures).ledger.totals)]
        if not counted:
            return (same_content(cube),)
        return (exact(LEDGER, LedgerRule(), [trial for trial, _ in counted], [_sums(totals) for _, totals in counted]),)

    def gates(self, name: str, usable: list[TrialRecord], ahead: bool) -> list[Gate]:
        """A server that takes only what is small has more messages per second for less mail."""
        failed = {each.what: each.share for each in failures(usable) if each.share > ERROR_BUDGET}
        if failed:
            return [Gate("errors", "red" if ahead else "amber", name, FailedShares(failed))]
        smaller = shortfall(usable)
        if smaller <= SMALLER:
            return []
        return [Gate(SMALLER_MAIL, "red" if ahead else "amber", name, SmallerMail(smaller))]

    def advice(self, run: RunRecord) -> list[Fact]:
        """Reading that lags, foreign mail, and limits that decided the result."""
        return [
            *_tls_ways(run),
            *lags(run),
            *few_messages(run),
            *foreign_mail(run),
            *_short_drain(run),
            *limits(run),
            *deliveries(run),
        ]

    def summary(self, run: RunRecord) -> MailSummary:
        """Saturation and ledger."""
        return mail_summary(run)


def _sums(totals: LedgerTotals) -> list[tuple[str, int, int]]:
    return [
        ("accepted messages", totals.accounted, totals.accepted),
        ("messages seen", totals.classified, totals.ids_seen),
    ]


def _tls_ways(run: RunRecord) -> list[Fact]:
    """That some contenders are spoken to by TLS, and others are not."""
    given = settings_by_name(run)
    try:
        ways = {
            each.name: way_of(parse_mail_address(each.address), given[each.name].get("starttls") is True)
            for each in run.contenders
            if each.name in given
        }
    except PlanError:  # of a file that came from elsewhere
        return []
    if len(set(ways.values())) < 2:
        return []
    return [MixedTls(ways)]


def _short_drain(run: RunRecord) -> list[Fact]:
    """That nobody waited for mail as long as it took, or may take: what counts as lost was, or may be, in a queue."""
    settings = mail_settings(run.planned.settings)
    drain_s, late_s = settings.drain_limit_s, settings.late_after_s
    lost = {
        c.name: ledger_counts([t for t in run.trials if t.contender == c.name]).get("lost", 0) for c in run.contenders
    }
    if came := {name: (n, lost[name]) for name in lost if (n := min(lost[name], came_later(run, name)))}:
        return [LostCameLater(came, drain_s)]
    named = {name: number for name, number in lost.items() if number}
    return [ShortDrain(named, drain_s, late_s)] if named and drain_s < late_s else []


PART = Mail()
