"""What the suite of mail servers asks, in prose."""

from __future__ import annotations

from bakeoff.core.units import format_duration
from bakeoff.kinds.mail.plan import mail_settings
from bakeoff.report.layout.context import Context
from bakeoff.report.narrate import wording


def narrative(context: Context) -> tuple[str, ...]:
    """What clients do, when a message is delivered, and that none may be lost."""
    settings = mail_settings(context.run.planned.settings)
    late = settings.late_after_s
    text = (
        f"Each client sends by SMTP for {wording.percent(settings.sending_share)} of its time and reads its "
        f"mailboxes ({settings.mailboxes:,} of them) by POP3 for the rest: log in, list, fetch, delete, log out. "
        "Mail of earlier trials is deleted before a trial."
    )
    ledger = (
        "A message is delivered when a client has read it whole. Each carries a number and a hash: what a server "
        "took and never gave back, gave twice, changed, or put into another mailbox is named, and costs the verdict."
    )
    waits = f" What is not to be read {format_duration(late)} after it was taken is named as late." if late else ""
    return text, ledger + waits
