"""What marks and states of trials mean, and what to do about them: for `bakeoff explain` and the legends of reports."""

from collections.abc import Iterable
from dataclasses import dataclass

from bakeoff.core.thresholds import (
    BUSY_SHARE,
    CAPACITY_FRACTION,
    CONTROL_LONGEST_S,
    CONTROL_SHARE,
    LATE_START_P99_NS,
    OTHER_LOAD_SHARE,
    P99_OPERATIONS,
    WAIT_SHARE,
)
from bakeoff.core.times import ms_of
from bakeoff.core.units import format_share
from bakeoff.store.records.marks import Mark
from bakeoff.store.records.run_records import FAILED, INTERRUPTED, OK, VOIDED

BUSY, CAPACITY, WAIT, OTHERS = map(format_share, (BUSY_SHARE, CAPACITY_FRACTION, WAIT_SHARE, OTHER_LOAD_SHARE))


@dataclass(frozen=True)
class MarkDoc:
    """`text` says what was seen and what it does to the trial; `mend` what to do, empty where there is nothing."""

    text: str
    mend: str = ""


MARKS: dict[Mark, MarkDoc] = {
    "few-operations": MarkDoc(
        f"Fewer than {P99_OPERATIONS} operations ended in the window: its p99 is hardly more than the largest value.",
        "Make trials longer (--length).",
    ),
    "late-start": MarkDoc(
        f"One operation in a hundred or more began over {ms_of(LATE_START_P99_NS):g} ms after it was due: the "
        "generator itself was late.",
        "Give the generator cores of its own (--pin) or more of them (--load-threads; clients of file suites have a "
        "thread each and no such setting), or a lower load.",
    ),
    "behind-schedule": MarkDoc(
        "At a rate: the generator began late although connections were idle. Response times have its lateness in them, "
        "and a verdict that rests on it is withheld.",
        "Give it more cores (--load-threads), cores of its own (--pin), or a lower rate.",
    ),
    "out-of-connections": MarkDoc(
        "At a rate: starts found every connection busy and waited. Their wait is in the response time.",
        "Raise --most-connections where the server is meant to have more; else this is the server's queue.",
    ),
    "generator-limited": MarkDoc(
        f"A load thread was busy for more than {BUSY} of the window: the rate may be the generator's, not the "
        "server's.",
        "Use more cores or machines (--load-threads, --agents), or a slower load step.",
    ),
    "generator-waited": MarkDoc(
        f"A load thread waited for a processor for more than {WAIT} of the window: something else ran on its core.",
        "Keep other work off the machine, or bind load threads to cores of their own (--pin).",
    ),
    "other-load": MarkDoc(
        f"Processes that are neither the load generator nor the contender took more than {OTHERS} of the processors of "
        "a machine that sends load.",
        "End them, or wait until they are done: `bakeoff doctor` shows how busy the machine is.",
    ),
    "link-limited": MarkDoc(
        f"The network link of a machine that sends load was more than {BUSY} full: the link was measured.",
        "Use a faster link, or more machines (--agents).",
    ),
    "near-generator-capacity": MarkDoc(
        f"The rate is above {CAPACITY} of what the generator asks of the null server. Where the null server was "
        f"no faster than the generator, a load thread was busy for more than {CAPACITY} of the window, too.",
        "Use more cores or machines (--load-threads, --agents).",
    ),
    "starved-client": MarkDoc(
        "Some client was served nothing while others had ten operations and more on average: the server is unfair.",
    ),
    "stuck-operations": MarkDoc(
        "Operations still ran at the end that were older than half of the window: they are in no figure but their own.",
        "Look at the server's log; a shorter --reply-timeout makes errors of them.",
    ),
    "generator-paused": MarkDoc(
        "The load generator stood still for a moment (stopped, suspended, starved by other work, or its clock was "
        "set). The trial counts unless its state is voided.",
        "Keep other work off the machine, and let nothing stop it: a debugger, a paused virtual machine, power saving.",
    ),
    "stolen-time": MarkDoc(
        "The hypervisor gave some of the generator's processor time to others.",
        "Measure on a quieter host.",
    ),
    "control-busy": MarkDoc(
        "Beside its load threads the generator's process (samples, telemetry, the live line) took more than "
        f"{format_share(CONTROL_SHARE)} of a processor in the window, or one of its threads over "
        f"{CONTROL_LONGEST_S * 1e3:g} ms at once: it may have delayed whom it watched.",
        "Give it a processor that neither load threads nor local contenders have (--pin), or watch less (--watch).",
    ),
    "warming-up": MarkDoc(
        "The rate of the first seconds of the window was another than that of the rest: the server, or a cache, was "
        "not warm yet. The trial counts.",
        "Leave the warm-up out of the window: a longer --ramp-up, with as much more --length.",
    ),
    "changed-rate": MarkDoc(
        "The rate changed in the middle of the window by 2 % or more, and stayed so. The trial counts.",
        "Look for what changes: clock frequency, caches that fill, neighbours; a longer --length shows where it leads.",
    ),
    "drifting": MarkDoc(
        "The rate rose or sank all through the window, by 2 % or more. The trial counts.",
        "Make trials longer (--length), or ramps (--ramp-up): the mean of a course is no steady rate.",
    ),
    "ledger-unbalanced": MarkDoc(
        "The accounting of a mail trial does not balance: messages were lost, doubled or damaged, or came late.",
        "See the ledger in the report, or `bakeoff show --json`.",
    ),
    "beyond-link": MarkDoc(
        "Data came faster than the link can carry (--link-speed): a cache of the client answered.",
        "Use --direct, or work on more data than the client's memory holds.",
    ),
}


def legend(marks: Iterable[str]) -> list[str]:
    """A line for each of these marks, each once, in the order of the table."""
    there = set(marks)
    return [f"{mark}: {doc.text} {doc.mend}".strip() for mark, doc in MARKS.items() if mark in there]


STATES: dict[str, MarkDoc] = {
    OK: MarkDoc("The trial counts."),
    FAILED: MarkDoc(
        "The contender did not do the work: too many errors (--error-limit), no success, or it did not come back. That "
        "is a result, and it counts against the contender.",
    ),
    VOIDED: MarkDoc(
        "The trial says nothing about the contender: the generator or its machine was at fault.", "Measure again."
    ),
    INTERRUPTED: MarkDoc("The user stopped it.", "`bakeoff resume RUN.bakeoff` does it again."),
}
