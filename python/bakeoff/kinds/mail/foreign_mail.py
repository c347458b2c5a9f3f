"""What the mailboxes of a contender hold before a run: asked by the engine, which bounds whatever a server says."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from bakeoff.agents.engine import load_engine
from bakeoff.agents.result import TrialResult
from bakeoff.agents.spec import TrialSpec
from bakeoff.core.errors import ContenderError
from bakeoff.core.units import plural
from bakeoff.kinds.mail.plan import mail_settings, workload
from bakeoff.load.load_step import Clients
from bakeoff.plan.model import Contender, Plan

# Sessions at a time: a look must not be a load.
THREADS = 2
LENGTH_S = 0.001
# Sessions that fail in a row before it gives up.
RETRIES = 20
# What a mailbox may take, on average, and how long the engine may need to end.
MAILBOX_S = 0.1
PATIENCE_S = 30.0
NAMED = 3


@dataclass(frozen=True)
class ForeignMail:
    """Messages that are not Bakeoff's, by mailbox."""

    foreign: dict[str, int]

    @property
    def text(self) -> str:
        """ "37 messages in 3 mailboxes (u0001@example.test 12, …)"."""
        messages, boxes = sum(self.foreign.values()), len(self.foreign)
        named = sorted(self.foreign.items())[:NAMED]
        listed = ", ".join(f"{address} {count:,}" for address, count in named) + (", …" if boxes > NAMED else "")
        return (
            f"{plural(messages, 'message')} in {plural(boxes, 'mailbox', 'mailboxes')} that "
            f"{'is' if messages == 1 else 'are'} not Bakeoff's ({listed})"
        )


def find_foreign_mail(plan: Plan, contender: Contender, addresses: Sequence[str]) -> ForeignMail:
    """Log in to every mailbox of the plan and count; nothing is deleted. Raises ContenderError when that fails."""
    settings = mail_settings(plan.settings)
    work = workload(plan, contender, addresses)
    boxes = len(work.mailboxes)
    limit_s = min(settings.init_limit_s, settings.connect_timeout_s + settings.reply_timeout_s + MAILBOX_S * boxes)
    limits = {"mailboxes_per_client": boxes, "retries": RETRIES, "init_limit_s": limit_s}
    spec = TrialSpec(
        workload=work.model_copy(update={"initialise": "look", **limits}),
        load=Clients(1),
        virtual_users=1 if settings.shared_mailboxes else min(THREADS, boxes),
        length_s=LENGTH_S,
        connect_timeout_s=settings.connect_timeout_s,
        reply_timeout_s=settings.reply_timeout_s,
    )
    outcome = load_engine().start(spec.to_json()).go().wait(limit_s + PATIENCE_S)
    result = None if outcome is None else TrialResult.model_validate(json.loads(outcome.json()))
    if result is None or result.fatal or result.workload is None:
        why = result.fatal if result is not None and result.fatal else "it took too long"
        is_tls = any(word in why.lower() for word in ("tls", "certificate"))
        advice = (
            "name its authority with --ca-file FILE, or use --insecure"
            if is_tls
            else "see whether all accounts work with `bakeoff users check`"
        )
        raise ContenderError(f"{contender.name}: its mailboxes could not be looked at ({why}): {advice}")
    return ForeignMail(dict(result.workload["init"]["foreign"]))
