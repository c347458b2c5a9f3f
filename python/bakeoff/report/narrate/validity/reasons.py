"""Why trials and cells have no figures, or count as forfeited, in words."""

from __future__ import annotations

from collections.abc import Iterable

from bakeoff.compare.model import reason as of
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence

NAMED = 3
"""Clients, or parts of the work, that are named."""


def clients_words(clients: Iterable[int], number: int) -> str:
    """ "client 3 of 4", "clients 0, 1, 2 and 7 more of 60"."""
    known = list(clients)
    shown = ", ".join(str(client) for client in known[:NAMED])
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    return f"{'client' if len(known) == 1 else 'clients'} {shown}{more} of {number}"


@sentence.register
def _(why: of.Recorded) -> str:
    return why.reason or "no reason was recorded"


@sentence.register
def _(why: of.NoneSucceeded) -> str:
    return "not one operation succeeded"


@sentence.register
def _(why: of.NoneInWindow) -> str:
    errors = ", ".join(f"{name} {count:,}" for name, count in why.errors)
    return f"not one operation succeeded in the window ({errors or 'and none failed'})"


@sentence.register
def _(why: of.NoRate) -> str:
    return "no rate was recorded"


@sentence.register
def _(why: of.NoneOfUnit) -> str:
    return f"0 {why.unit} in the window, though {why.operations:,} operations succeeded"


@sentence.register
def _(why: of.OtherMachines) -> str:
    return (
        f"sent by {', '.join(why.own)}, and by {', '.join(why.others)} to what it would be compared with: machines "
        "were lost, or came back, in this block"
    )


@sentence.register
def _(why: of.OtherProbeMachines) -> str:
    others = "; ".join(", ".join(one) for one in why.others)
    return f"searched by {', '.join(why.usual)} and by {others}: machines were lost, or came back, in this search"


@sentence.register
def _(why: of.NoCapacity) -> str:
    return "no capacity was found"


@sentence.register
def _(why: of.ClientsUnserved) -> str:
    return f"{clients_words(why.clients, why.of)} got (next to) nothing"


@sentence.register
def _(why: of.NeverServed) -> str:
    parts = [f"{words}: none of {failed:,} succeeded" for words, failed in why.parts[:NAMED]]
    more = f"; and {len(why.parts) - NAMED} more" if len(why.parts) > NAMED else ""
    return "; ".join(parts) + more


@sentence.register
def _(why: of.NoTransfer) -> str:
    return "no transfer ended in its time"


@sentence.register
def _(why: of.GeneratorIdle) -> str:
    time = f"{wording.percent(why.share)} of its time"
    return f"the load generator did not run for {clients_words(why.clients, why.of)} for {time}"


@sentence.register
def _(why: of.DamagedRecords) -> str:
    return f"{why.contender} gave back {why.records:,} damaged records"


@sentence.register
def _(why: of.NoCommonBlock) -> str:
    return "no block in which both have a rate"


@sentence.register
def _(why: of.MovedNothing) -> str:
    return "; ".join(
        f"{name} moved nothing, for a client at least, in {wording.plural(blocks, 'block')}"
        for name, blocks in why.blocks
    )


@sentence.register
def _(why: of.SeveralReasons) -> str:
    return "; ".join(map(sentence, why.reasons))
