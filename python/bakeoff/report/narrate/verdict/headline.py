"""The result in sentences, made from a comparison and from nothing else."""

from __future__ import annotations

import math
from collections import Counter

from bakeoff.compare.estimate.interim import LEVEL, InterimAnalysis
from bakeoff.compare.estimate.intervals import turned
from bakeoff.compare.failures.error_replies import ErrorReplies
from bakeoff.compare.limits.capacity_model import CAPACITY
from bakeoff.compare.limits.objective_model import KINDS
from bakeoff.compare.model.cell import CellComparison
from bakeoff.compare.model.comparison import Comparison, ContenderSummary, Measure, Repeated, RunInfo
from bakeoff.compare.model.pair import Endpoint, PairComparison
from bakeoff.compare.resources.telemetry_cost import CPU
from bakeoff.compare.verdict.crossover import CROSSOVER
from bakeoff.compare.verdict.ranking import LEAST, leading
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.collections.challenge import with_challenger
from bakeoff.report.narrate.collections.joined import joined_sentences
from bakeoff.report.narrate.collections.noise import noise_sentence
from bakeoff.report.narrate.figures.factors import in_headline
from bakeoff.report.narrate.figures.objective import objective_sentences
from bakeoff.report.narrate.figures.time_breakdown import dominant_sentences
from bakeoff.report.narrate.sentences import Sentence, sentence
from bakeoff.report.narrate.shapes import shape_words
from bakeoff.report.narrate.validity.client_options import client_options_sentence
from bakeoff.report.narrate.validity.content import bodies_sentence, changed_sentences
from bakeoff.report.narrate.validity.error_replies import error_replies_text
from bakeoff.report.narrate.validity.faults import disqualified
from bakeoff.report.narrate.validity.run_advice import outages_words
from bakeoff.report.narrate.verdict.crossover import crossover_sentence, other_crossovers
from bakeoff.report.narrate.verdict.gates import gate_text
from bakeoff.report.narrate.verdict.ranking import ranking_sentence, undecided
from bakeoff.report.narrate.verdict.verdicts import decisive_words, faster_words, open_text


def headline(found: Comparison) -> tuple[Sentence, ...]:
    """What was lost first, then the result and what belongs to it. Each sentence stands by itself."""
    sentences = [*_before(found), *_result(found)]
    if found.challenge is not None:
        sentences = with_challenger(found.challenge, found.pairs, what_decides(found), sentences)
    if found.joined is not None:
        # What files are and how they agree stands behind what decides.
        first = sum(bool(one.kind) for one in sentences)
        sentences[first:first] = joined_sentences(found.joined, found.notes)
    return tuple(sentences)


def result(found: Comparison) -> tuple[str, ...]:
    """The sentences to read when only a few are read: what was lost, who meets the objective, the first of the others,
    and that contenders were not asked alike, or their replies not compared.
    """
    sentences = headline(found)
    before = sum(one.kind in ("loss", *KINDS.values()) for one in sentences)
    first = [one.text for one in sentences[: before + 1]]
    also = [client_options_sentence(found), bodies_sentence(found.bodies)]
    return (*first, *(text for text in also if text and text not in first))


def _before(found: Comparison) -> list[Sentence]:
    """What stands before the result."""
    return [
        *(Sentence("loss", text) for text in changed_sentences(found.changed)),
        *objective_sentences(found.objective),
        *(Sentence("loss", text) for text in disqualified(found.faults)),
    ]


def _result(found: Comparison) -> list[Sentence]:
    """The result, that contenders are not talked to alike, whose replies are not compared, response time, peaks (or
    and the overload points) and errors. Of three and more contenders the order comes first, the two
    that lead stand for all pairs, and pairs without a winner are named: a handful of sentences, however many there are.
    Of one server as two contenders no pair is told.
    """
    info, contenders = found.run, found.contenders
    first = equals_sentences(found)
    pairs = () if first else found.pairs
    leads = leading(found.ranking, pairs) if found.ranking else pairs
    if found.ranking:
        outages = {c.name: outages_words(c) for c in contenders}
        first.append(ranking_sentence(found.ranking, pairs, what_decides(found), outages))
    first += in_headline(found)
    first += [Sentence(pair.primary.verdict.kind, _primary(pair, found)) for pair in leads]
    others = [pair for pair in pairs if pair not in leads]
    crossings = [*(crossover_sentence(pair, what_decides(found)) for pair in leads), other_crossovers(others)]
    first += [Sentence(CROSSOVER, text) for text in crossings if text]
    first += undecided(others)
    texts = [f"{name} is missing, it was not there when the run began: {why}" for name, why in info.absent.items()]
    texts += [client_options_sentence(found), bodies_sentence(found.bodies)]
    texts += [text for pair in leads for text in _asked_again(pair)]
    texts += [f"{each.contender} was {each.words}; what it was not asked counts as failed." for each in info.left_out]
    texts += _repeated(contenders, found.repeated)
    shape = shape_words(found)
    texts += shape.beside(found, leads)
    texts += [units_sentence(found)]
    named = {name for pair in leads for name in (pair.baseline, pair.contender)}
    texts += dominant_sentences([one for one in found.dominant if one.contender in named])
    texts += [text for pair in leads for text in _processor_time(pair, found)]
    texts += [*shape.most(found), _errors(contenders, info)]
    return [*first, *(Sentence("", text) for text in texts if text)]


def units_sentence(found: Comparison) -> str:
    """ "67 sessions/s are 201 requests/s: a session has 3 requests." of what was offered, or carried."""
    loads = shape_words(found).rates(found)
    return found.run.unit.sentence(loads) if loads else ""


def equals_sentences(found: Comparison) -> list[Sentence]:
    """What an A/A run comes to; nothing of another, and of a search, whose capacities have no floor."""
    if not found.run.equals or not shape_words(found).has_floor or not found.pairs:
        return []
    return [noise_sentence(found.noise, found.pairs[0].primary.blocks, found.run.file)]


def _asked_again(pair: PairComparison) -> list[str]:
    """That the better one left requests unanswered, which were asked again: a client that does not gets errors."""
    verdict = pair.primary.verdict
    gates = [gate for gate in pair.primary.gates if gate.name == "stale connections"]
    return [f"{wording.sentence(gate_text(gate))}." for gate in gates if gate.contender == verdict.winner]


def _repeated(contenders: tuple[ContenderSummary, ...], repeated: tuple[Repeated, ...]) -> list[str]:
    """Who had failed what was repeated."""
    failed = Counter(each.contender for each in repeated if each.state == "failed")
    parts = [f"{c.name} had failed {wording.plural(failed[c.name], 'trial')}" for c in contenders if failed[c.name]]
    return [f"{wording.names(parts)} before they were repeated; these are kept."] if parts else []


def what_decides(found: Comparison) -> str:
    """By what contenders are ranked."""
    decides = found.measures[0]
    if decides.metric == CAPACITY:
        return decides.title
    return found.run.rate_unit if decides.higher_is_better else decides.short


def _of_a_cache(pair: PairComparison, cells: CellComparison | None) -> list[str]:
    """That only a cache explains the cells of a pair, where that is so in most of them."""
    own = [
        one
        for one in ([] if cells is None else cells.pairs)
        if {one.baseline, one.contender} == {pair.baseline, pair.contender}
    ]
    cached, all_cells = sum(one.cached_cells for one in own), sum(one.overall.cells for one in own)
    if not cached or 2 * cached < all_cells:
        return []
    how_much = "all of it cache" if cached == all_cells else "most of it cache"
    return [f"{how_much}: {cached:,} of {wording.plural(all_cells, 'cell')}"]


def _primary(pair: PairComparison, found: Comparison) -> str:
    end, info, decides = pair.primary, found.run, found.measures[0]
    if end.blocks == 0:
        return f"{pair.contender} and {pair.baseline} have no complete block in common: nothing can be compared."
    if all_forfeited := _all_forfeited(pair, decides):
        return all_forfeited
    kind = end.verdict.kind
    now, past = (f"{words} {pair.baseline}" for words in _ratio_texts(pair, info, decides))
    begun = wording.sentence(past) if past.startswith("the ") else past
    basis = ", ".join([*_of_a_cache(pair, found.cells), *_basis(end, info.interim)])
    if end.load_steps_left_out:
        left_out = wording.several(end.load_steps_left_out)
        basis += f", without the load step at {left_out}, where too few pairs can be compared"
    if kind == "better" and not end.verdict.sized:
        crowded = next(gate_text(gate) for gate in end.gates if gate.name == "other load")
        return (
            f"{end.verdict.winner} is better; the direction is certain, the size is not: {past} ({basis}), "
            f"but {crowded}."
        )
    if kind == "better":
        return f"{end.verdict.winner} is better: {now} ({basis})."
    if kind == "equivalent":
        # Means of cells can agree where the cells do not.
        mean = " on average" if end.is_mean_of_cells else ""
        return (
            f"{pair.contender} and {pair.baseline} are equivalent{mean} within ±{wording.percent(info.delta)}: "
            f"{now} ({basis}).{_certain(end)}"
        )
    if kind == "near_margin":
        return f"{sentence(end.verdict)}: {now} ({basis})."
    if kind == "inconclusive":
        return f"No winner yet between {pair.contender} and {pair.baseline}: {past} ({basis}); {_more(end)}."
    if kind == "disqualified":
        wrong = wording.names([n for n in (pair.contender, pair.baseline) if n in wrong_side(end)])
        return (
            f"{wrong} cannot win with this fault. There is no verdict on speed between "
            f"{pair.contender} and {pair.baseline} ({decides.short}, {pair.contender} over {pair.baseline}: "
            f"{wording.ratio(end.ratio, end.low, end.high)}, {basis})."
        )
    if kind == "withheld":
        return f"Verdict withheld: {decisive_words(end.verdict)}. {begun} ({basis})."
    return f"{begun} ({basis}); {sentence(end.verdict)}."


def _basis(end: Endpoint, interim: InterimAnalysis | None) -> list[str]:
    """What the ratio rests on: its interval from six blocks on, at which analysis, the blocks and load steps, and what
    was forfeited.
    """
    parts = [] if math.isnan(end.low) else [f"95 % interval {wording.interval(end.low, end.high)}"]
    if interim is not None and interim.joined:
        # Where no analysis came before, the interval is the usual one.
        if interim.number > 1:
            parts.append(f"widened as {wording.plural(sum(interim.added), 'block')} came later")
        elif interim.level > LEVEL:
            parts.append("as wide as the planned interim analyses of the files ask for")
    elif interim is not None and interim.added:
        parts.append(f"widened as {sum(interim.added)} blocks were added after an analysis")
    elif interim is not None and interim.planned and not interim.between:
        parts.append(f"interim analysis {interim.number} of {len(interim.planned)} that were planned")
    parts += [wording.plural(end.blocks, "block"), _over(end)]
    pairs = wording.plural(end.pairs_counted, "pair")
    what = "with empty cells of" if end.is_mean_of_cells else "forfeited by"
    losers = [f"{n:,} of {pairs} {what} {name}" for name, n in end.forfeited.items() if n]
    if losers:
        parts.append(f"{wording.names(losers)} counted {wording.counted_as(end.forfeited_as)}")
    return parts


def _ratio_texts(pair: PairComparison, info: RunInfo, decides: Measure) -> tuple[str, str]:
    """The ratio up to the name of the baseline, for what is settled and for what was only seen. It is the ratio of the
    tables, the same way round: contender over baseline, whoever is ahead.
    """
    end = pair.primary
    bound = ""
    if end.verdict.kind == "better" and any(gate.name in ("generator", "link") for gate in end.gates):
        # The one ahead could have been faster still.
        bound = "at least " if end.ratio > 1.0 else "at most "
    if not decides.higher_is_better:
        ratio, time = bound + wording.times(end.ratio, "that of", end.low, end.high), f"the {decides.short}"
        return f"{time} of {pair.contender} is {ratio}", f"{time} of {pair.contender} was {ratio}"
    carried = decides.metric == CAPACITY
    what = "the load of" if carried else f"the {info.rate_unit} of"
    ratio = bound + wording.times(end.ratio, what, end.low, end.high)
    does, did = ("carries", "carried") if carried else ("serves", "served")
    return f"{pair.contender} {does} {ratio}", f"{pair.contender} {did} {ratio}"


def _all_forfeited(pair: PairComparison, decides: Measure) -> str:
    """The sentence when one of them lost every pair: then there is no ratio."""
    end = pair.primary
    name = end.all_forfeited
    if not name or end.verdict.kind == "disqualified":
        return ""
    other = pair.baseline if name == pair.contender else pair.contender
    result = f"{other} is better" if end.verdict.winner == other else sentence(end.verdict)
    number = wording.plural(end.forfeited[name], "trial")
    failed = "forfeited" if not decides.paired else "was overloaded, or failed, in"
    return f"{name} {failed} all of its {number} in which {other} was measured: {result}."


def _certain(end: Endpoint) -> str:
    """Equivalent contenders can differ for certain: the clause of the verdict that says so."""
    faster = faster_words(end.verdict)
    return f" {faster}." if faster else ""


def wrong_side(end: Endpoint) -> set[str]:
    """The contenders with wrong content or mail accounting."""
    return {gate.contender for gate in end.gates if gate.name == "wrong content"}


def _over(end: Endpoint) -> str:
    """What the ratio is a mean of."""
    if end.metric == CAPACITY:
        return "a search in each"
    load_steps = (
        f"{'weighted geometric mean over ' if len(end.load_steps) > 1 else ''}{wording.load_steps(end.load_steps)}"
    )
    if not end.is_mean_of_cells:
        return load_steps
    cells = end.title[0].lower() + end.title[1:]
    return f"{cells}, {load_steps}" if len(end.load_steps) > 1 else cells


def _more(end: Endpoint) -> str:
    """What an answer would still take, as the verdict says it."""
    reason = "" if end.verdict.still is None else open_text(end.verdict.still)
    return reason or "inconclusive"


def _processor_time(pair: PairComparison, found: Comparison) -> list[str]:
    """What one of them needs for the same work, where that differs for sure."""
    for end in pair.secondary:
        if end.metric == CPU and end.verdict.kind == "better":
            more = end.ratio > 1.0
            name, other = (pair.contender, pair.baseline) if more else (pair.baseline, pair.contender)
            low, high = (end.low, end.high) if more else turned(end.low, end.high)
            reach = wording.ratio(end.ratio if more else 1.0 / end.ratio, low, high)
            what = next(one.short for one in found.measures if one.metric == CPU)
            return [f"{name} needs {reach} the {what} that {other} does (95 % interval {wording.interval(low, high)})."]
    return []


def _errors(contenders: tuple[ContenderSummary, ...], info: RunInfo) -> str:
    parts = []
    clean = [c for c in contenders if len(contenders) >= LEAST and _is_clean(c)]
    for c in contenders:
        if c in clean:
            continue
        failed = sum(c.errors.values())
        if c.trials_ok and math.isnan(c.error_share):
            parts.append(f"those of {c.name} are not stated")
            continue
        if not (failed or c.operations or c.trials_failed or c.hung_trials):
            parts.append(f"of {c.name} nothing was measured")
            continue
        if c.trials_failed and not (failed or c.operations or c.hung_trials):
            parts.append(f"{c.name} {outages_words(c)}")
            continue
        down = f"{outages_words(c)}, and " if c.trials_failed else ""
        if c.failures:
            parts.append(f"{c.name} {down}{_failures(c)}{_never_ended(c)}")
            continue
        share = f"{failed:,}{_share(c)}" if failed else "none"
        parts.append(
            f"{c.name} {down}{share} in {c.operations + failed:,} {info.work}{_never_ended(c)}{_error_replies(c)}"
        )
    if clean:
        who = "none of the others" if parts else "none"
        parts.append(f"{who} in {sum(c.operations for c in clean):,} {info.work}")
    return f"Errors: {'; '.join(parts)}."


def _is_clean(c: ContenderSummary) -> bool:
    """Nothing went wrong with it: of many such nobody wants a list."""
    failed = math.isnan(c.error_share) or any(c.errors.values()) or any(each.failed for each in c.failures)
    return not (failed or c.trials_failed or c.error_replies or c.hung_operations or c.hung_trials)


def _share(c: ContenderSummary) -> str:
    """Who is dead is asked little: the share would be small."""
    return "" if c.trials_dead else f" ({wording.percent(c.error_share)})"


def _error_replies(c: ContenderSummary) -> str:
    if not c.error_replies:
        return ""
    away = error_replies_text(ErrorReplies(c.operations, c.error_replies))
    return f", though it answered {away}, which counts as answered here"


def _failures(c: ContenderSummary) -> str:
    """ "12 (5 %) of 240 messages, none of 900 visits of a mailbox"."""
    parts = [
        f"{each.failed:,} ({wording.percent(each.share)}) of {each.tried:,} {each.what}"
        if each.failed
        else f"none of {each.tried:,} {each.what}"
        for each in c.failures
    ]
    return ", ".join(parts)


def _never_ended(c: ContenderSummary) -> str:
    if c.hung_operations:
        return f", {c.hung_operations:,} of them never ended"
    return f", operations left hanging in {wording.plural(c.hung_trials, 'trial')}" if c.hung_trials else ""
