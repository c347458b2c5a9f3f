"""What a reader must know of contenders, the generator and trials, each with what to do about it."""

from __future__ import annotations

from bakeoff.compare.advice.advice_model import (
    AuditDoesNotHold,
    BeganLate,
    BlocksDiffer,
    DifferentMounts,
    FewOperations,
    GeneratorDisturbed,
    GeneratorLimit,
    GeneratorWaited,
    LinkFull,
    NearGeneratorCapacity,
    NotCold,
    OperationsFailed,
    OperationsHung,
    OthersRan,
    OutOfConnections,
    QuantizedRates,
    SharedAddress,
    Unfair,
    UnpairedCells,
    WorkingSet,
)
from bakeoff.compare.validity.working_set import CONTROL_GROUP, MACHINE, SERVER
from bakeoff.core.thresholds import P95_OPERATIONS, P99_OPERATIONS
from bakeoff.core.units import format_binary
from bakeoff.kinds import KINDS
from bakeoff.plan.design.shared_addresses import ADVICE
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.advised import advised
from bakeoff.report.narrate.figures.fleet import busy_words, link_words
from bakeoff.report.narrate.kind import words_part
from bakeoff.report.narrate.validity.audits import audit_title
from bakeoff.report.narrate.verdict.gates import hung_text
from bakeoff.report.narrate.verdict.spread import spread_text, spread_too

LISTED = "`bakeoff report` lists the trials under Audits"
AUDITS = {
    "Little's law": f"{LISTED}. Short ones on a busy machine are often off: repeat them with a longer `--length` and "
    "nothing else running. If they still are, operations were lost, or a clock is wrong.",
    "Same content": f"{LISTED}; look at what each contender sends. Their pages differ, so they do different work.",
}
# IOzone's rule: files of three times the cache leave little of them in it.
TIMES = 3
WHOSE = {CONTROL_GROUP: "the control group of the generator", MACHINE: "this machine", SERVER: "the server"}


@advised.register
def _(fact: SharedAddress) -> tuple[str, str]:
    return f"{fact.one.text}.", ADVICE


@advised.register
def _(fact: UnpairedCells) -> tuple[str, str]:
    parts = "; ".join(f"{name} has {alone:,} of {own:,} alone" for name, (alone, own) in fact.alone.items())
    return (
        f"Contenders were measured in different cells: {parts}. Cells of one contender alone do not count.",
        "Measure all contenders in the same cells, with the same command.",
    )


@advised.register
def _(fact: DifferentMounts) -> tuple[str, str]:
    own = "; ".join(f"{name} {', '.join(options) or 'none of these'}" for name, options in fact.options.items())
    advice = "Mount them alike, unless the options are what is compared."
    if len(fact.file_systems) > 1:
        advice = (
            f"{wording.names(list(fact.file_systems))} have different options: use equal sizes of transfers, attribute "
            "times and sync, unless the options are what you compare."
        )
    return f"The folders are mounted with different options: {own}.", advice


@advised.register
def _(fact: OperationsHung) -> tuple[str, str]:
    return (
        f"{hung_text(fact.hung, fact.contender)}: still open at the end of the trial, far beyond its p99.",
        "Look for requests that the server swallowed (its log, its queue, a lost wake-up); a shorter "
        "`--reply-timeout` shows when they begin to hang. No verdict goes to a server that does this.",
    )


@advised.register
def _(fact: GeneratorWaited) -> tuple[str, str]:
    parts: list[str] = []
    for each in fact.contenders:
        trials = f"{each.trials} of {wording.plural(each.of, 'trial')} of {each.contender}"
        parts.append(f"{wording.percent(each.share)}{'' if parts else ' of its time for a processor'} in {trials}")
    ends = "its waits are in the response times shown."
    advice = (
        "Give it cores of its own (`--pin` for the generator, `taskset` for servers on the same machine) or a machine "
        f"of its own: {ends}"
    )
    if fact.pinned:
        advice = (
            "Other processes ran on the cores of its threads: end them (`top`), keep servers off these cores "
            f"(`taskset`), or give it a machine of its own; {ends}"
        )
    return f"The load generator waited up to {', '.join(parts)}.", advice


@advised.register
def _(fact: OthersRan) -> tuple[str, str]:
    who = f", most of it by {wording.names(list(fact.crowd.names))}" if fact.crowd.names else ""
    return (
        f"Others took {wording.percent(fact.crowd.others or 0.0)} of the processors of the machine that sent load in "
        f"{fact.trials} of {wording.plural(fact.of, 'trial')}{who}.",
        "End them, or wait until they are done; `bakeoff doctor` shows when.",
    )


@advised.register
def _(fact: BeganLate) -> tuple[str, str]:
    delay = f" (p99 up to {wording.figures(fact.late_p99_ms, 3)} ms)" if fact.late_p99_ms > 0.0 else ""
    return (
        f"The load generator started requests late in {fact.trials} of {wording.plural(fact.of, 'trial')} of "
        f"{fact.contender} although connections were idle. Response times include this delay{delay}.",
        "Give it cores of its own (`--load-threads`, `--pin`), or a machine of its own. Service times exclude the "
        "delay.",
    )


@advised.register
def _(fact: OutOfConnections) -> tuple[str, str]:
    return (
        f"{fact.contender} kept all connections busy in {fact.trials} of {wording.plural(fact.of, 'trial')}: "
        f"{fact.waited:,} starts found none idle and waited, {fact.never_started:,} of them to the end.",
        "Their wait is in the response time; raise `--most-connections` if its clients would open more.",
    )


@advised.register
def _(fact: GeneratorDisturbed) -> tuple[str, str]:
    how = "was stopped for a moment" if fact.how == "stopped" else "lost time to the hypervisor"
    return (
        f"The load generator {how} in {wording.plural(fact.trials, 'trial')}.",
        "The longest response times there may come from the generator: let nothing else run on its machine.",
    )


@advised.register
def _(fact: BlocksDiffer) -> tuple[str, str]:
    (first, widest), *others = fact.spreads.items()
    clauses = "; ".join([spread_text(widest, first, fact.work), *(spread_too(spread, name) for name, spread in others)])
    who = "servers have" if others else "server has"
    return (
        f"{wording.sentence(clauses)}: the machine or the {who} more than one speed.",
        "Look for what changes between blocks: clock frequency, neighbours, the cores that processes land "
        "on (`--pin`, `taskset`), warm-up. A mean of two speeds describes neither.",
    )


@advised.register
def _(fact: OperationsFailed) -> tuple[str, str]:
    share = "" if fact.share is None else f" ({wording.percent(fact.share)})"
    errors = wording.errors(dict(fact.errors), words_part(fact.kind_of_suite).error_words)
    return (
        f"{fact.contender} failed {sum(fact.errors.values()):,} operations{share}: {errors}.",
        "Rates and response times exclude failed operations: read its curves together with its errors."
        if fact.kind_of_suite in KINDS
        else "Its rate may count failed operations, as some tools do: read its figures together with its errors.",
    )


@advised.register
def _(fact: LinkFull) -> tuple[str, str]:
    share = f"{fact.trials} of {wording.plural(fact.of, 'trial')}"
    at = f", at {wording.several(fact.load_steps)}" if fact.load_steps else ""
    return (
        f"{wording.sentence(link_words(fact.link))} in {share} of {fact.contender}{at}: the network was measured, not "
        "the server.",
        "Use a faster link, more machines (`--agents`), or a load of fewer bytes; such rates are lower bounds.",
    )


@advised.register
def _(fact: GeneratorLimit) -> tuple[str, str]:
    share = f"{fact.trials} of {wording.plural(fact.of, 'trial')}"
    return (
        f"{wording.sentence(busy_words(fact.busy))} was the limit in {share} of {fact.contender}.",
        "Give the generator more cores (`--load-threads`) or a machine of its own; such rates are lower bounds.",
    )


@advised.register
def _(fact: Unfair) -> tuple[str, str]:
    (first, lowest), *others = fact.jain.items()
    text = f"{first} did not treat its clients alike: Jain index down to {lowest:.2f}"
    text += "".join(f", nor did {name}: down to {jain:.2f}" for name, jain in others)
    return f"{text}.", "Some clients got more than others, and the mean hides it: see the fairness chart of the report."


@advised.register
def _(fact: NearGeneratorCapacity) -> tuple[str, str]:
    advice = "This peak may be the generator's: give it more cores (`--load-threads`), or more machines (`--agents`)."
    if fact.share > 1.0:
        advice = (
            "The capacity was measured at the start of the run, on a busier machine or with a server on the same "
            "processors. Look at the generator's processor use, or run again on an idle machine."
        )
    return (
        f"The peak of {fact.contender} is {wording.percent(fact.share)} of the generator's capacity (null server on "
        "loopback).",
        advice,
    )


@advised.register
def _(fact: FewOperations) -> tuple[str, str]:
    p95 = f" ({fact.for_p95} fewer than {P95_OPERATIONS}: for a p95, too)" if fact.for_p95 else ""
    return (
        f"{wording.plural(fact.trials, 'trial')} saw fewer than {P99_OPERATIONS} operations: too few for a p99{p95}.",
        "Verdicts on these percentiles leave out blocks with such a trial. Use a longer `--length`, or read the mean "
        "or the median.",
    )


@advised.register
def _(fact: AuditDoesNotHold) -> tuple[str, str]:
    trials = f"{fact.deviating} of {wording.plural(fact.checked, 'trial')}"
    return (
        f"Audit “{audit_title(fact.audit)}” does not hold in {trials}.",
        AUDITS.get(fact.audit, f"{LISTED}: the generator, lost operations or a wrong clock."),
    )


@advised.register
def _(fact: WorkingSet) -> tuple[str, str]:
    if fact.quick:
        return memory_words(fact), "Reads may come from a cache."
    least = format_binary(TIMES * max(fact.memories.values()))
    return memory_words(fact), f"For figures of disks use files of {least} or more together, or cold caches."


@advised.register
def _(fact: NotCold) -> tuple[str, str]:
    clauses = wording.names(
        [f"{name} before {full:,} of {asked:,} cells" for name, (full, asked) in fact.stayed.items()]
    )
    emptied = f"; the caches of {wording.names(list(fact.emptied))} were emptied" if fact.emptied else ""
    return (
        f"The plan asks for cold caches, but these were not emptied: {clauses}{emptied}.",
        "There a full cache is compared with a disk or a network: compare writes alone, or empty the caches of "
        "all (`--drop-caches` as root, `--cold-command` with a remount). Files in memory have nothing colder.",
    )


@advised.register
def _(fact: QuantizedRates) -> tuple[str, str]:
    return (
        f"Trials of {wording.names(list(fact.contenders))} have as few as {1.0 / fact.step:.3g} {fact.work} for each "
        f"client. One more for each would raise the rate by {wording.percent(fact.step)}; δ is "
        f"{wording.percent(fact.delta)}.",
        "Use a longer `--length`, or read the mean response time, which has no such steps.",
    )


def memory_words(fact: WorkingSet) -> str:
    """That all files fit, and into what."""
    names = " and of ".join(f"{WHOSE[name]} ({format_binary(memory)})" for name, memory in fact.memories.items())
    if fact.quick:
        return f"A quick run: all files fit into the memory of {names}."
    return (
        f"All files of a trial ({format_binary(fact.largest_bytes)} at most) fit into the memory of {names}: what is "
        "read may come from a cache."
    )
