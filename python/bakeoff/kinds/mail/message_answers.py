"""Messages held against the objective of a search: a load whose mail is taken and not delivered is not carried."""

import base64
import binascii
import math
from collections.abc import Callable, Mapping
from typing import Any

from bakeoff.core.errors import GeneratorError
from bakeoff.kinds.mail.figures import MailFigures
from bakeoff.load.capacity.judge import Answers
from bakeoff.run.kind import Timed

VISIBLE = "visible"
# What a message that was taken must not come to.
FAULTS = ("lost", "unchecked", "duplicate", "corrupt")

NONE_TIMED: tuple[Callable[[int], int], Callable[[float], int | None]] = (lambda limit_ns: 0, lambda share: None)


def message_answers(workload: Mapping[str, Any], timed: Timed) -> Mapping[str, Answers]:
    """The messages of a trial: their times are those from the acceptance on in which they were certainly not visible
    yet; those that were refused, lost or damaged failed. Empty where none was sent. Raises GeneratorError for a
    histogram that cannot be read.
    """
    figures = MailFigures.model_validate(workload)
    counts, after = figures.ledger.counts, figures.visible.after
    refused = 0 if figures.done is None else figures.done.messages.failed
    accepted = counts.get("accepted", 0)
    if not accepted + refused:
        return {}
    failed = refused + sum(counts.get(fault, 0) for fault in FAULTS)
    good = max(0, accepted - (failed - refused))
    count = int(after.count) if after.count > 0 else 0
    try:
        within, at = timed(base64.b64decode(figures.visible.after_histogram, validate=True)) if count else NONE_TIMED
    except binascii.Error:
        raise GeneratorError("the engine gave no times of messages: build it again with `make build`") from None
    mean_ns = after.mean_ns if math.isfinite(after.mean_ns) else None
    return {VISIBLE: Answers(accepted + refused, good, failed, count, mean_ns, within, at)}
