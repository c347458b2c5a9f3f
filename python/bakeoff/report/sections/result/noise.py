"""What equals differ by: of an A/A run all of it, of another run what it quotes."""

from __future__ import annotations

from bakeoff.compare.planning.noise_model import NoiseFloor, NoiseQuote
from bakeoff.report.blocks.tree import Block, Column, Section, Table, Text
from bakeoff.report.layout.context import Context
from bakeoff.report.layout.detail import Detail
from bakeoff.report.layout.parts import ReportPart
from bakeoff.report.layout.report_section import report_section
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.collections.noise import difference_text
from bakeoff.report.narrate.sentences import sentence

# From which floor on a share says less than both ratios: 10 % more is 9 % less.
WIDE = 0.1


@report_section("noise", ReportPart.AUDITS, Detail.COMPARISON)
def section(context: Context) -> Section | None:
    """The noise floor of the set-up, where it was measured."""
    comparison = context.comparison
    if comparison.noise_quote is not None:
        return Section("Noise floor", tuple(_quoted(context, comparison.noise_quote)))
    if comparison.noise is None:
        return None
    return Section("Noise floor", tuple(_measured(comparison.noise)))


def _measured(noise: NoiseFloor) -> list[Block]:
    return [*(Text(text, detail=Detail.COMPARISON) for text in sentences(noise)), _table(noise)]


def sentences(noise: NoiseFloor) -> list[str]:
    """What an A/A run has shown."""
    primary = noise.primary
    blocks = wording.plural(primary.blocks, "block")
    bias = "may be chance" if primary.low <= 1.0 <= primary.high else "is no chance: something makes equals differ"
    order = "which may be chance" if noise.first_low <= 1.0 <= noise.first_high else "which is no chance"
    return [
        f"One server as two contenders, {noise.contender} at {noise.address}: in the mean of {blocks} equals differ by "
        f"{_at_most(primary.floor(primary.blocks))}, and {blocks} show a difference of "
        f"{wording.percent(primary.shown)} in 80 % of runs.",
        f"Bias: the ratio is {wording.ratio(primary.ratio, primary.low, primary.high)} "
        f"({wording.interval(primary.low, primary.high)}), which {bias}. Order: the one measured first at a load step "
        f"did {wording.ratio(noise.first, noise.first_low, noise.first_high)} of the other "
        f"({wording.interval(noise.first_low, noise.first_high)}), {order}.",
        f"False calls: of {noise.drawn:,} draws of {noise.draw_blocks} of these blocks {noise.called:,} made a winner "
        f"by more than {wording.percent(noise.delta)}, and {noise.shown:,} found any difference.",
    ]


def _at_most(floor: float) -> str:
    """A floor of 76 % is a ratio of 1.76, and so of 0.57 the other way round."""
    ends = (
        f": ratios from {wording.ratio(1.0 / (1.0 + floor))} to {wording.ratio(1.0 + floor)}" if floor >= WIDE else ""
    )
    return f"{wording.percent(floor)} at most (95 %{ends})"


def _table(noise: NoiseFloor) -> Table:
    titles = ("blocks", "ratio", "95 % interval", "spread", "lowest", "median", "highest", "shown in 80 %", "floor")
    rows = tuple(
        (
            each.title,
            f"{each.blocks}",
            wording.ratio(each.ratio, each.low, each.high),
            wording.interval(each.low, each.high),
            wording.percent(each.log_sd),
            wording.ratio(each.lowest),
            wording.ratio(each.median),
            wording.ratio(each.highest),
            wording.percent(each.shown),
            wording.percent(each.floor(each.blocks)),
        )
        for each in noise.series
    )
    columns = (Column("Of", numeric=False), *map(Column, titles))
    note = "Ratios of blocks of the same server to itself; floor: what equals differ by at most in 95 % of runs."
    return Table("Equals against each other", columns, rows, note, detail=Detail.COMPARISON)


def _quoted(context: Context, quote: NoiseQuote) -> list[Block]:
    noise = quote.noise
    when = context.moment(noise.measured_at)
    blocks = wording.plural(quote.blocks, "block")
    here = f"in {blocks}, as here, equals differ by {_at_most(quote.floor)}."
    text = (
        f"Of this set-up the noise floor was measured ({noise.file}, {when}, "
        f"{wording.plural(noise.primary.blocks, 'block')} of {noise.contender} against itself): "
        f"{here if quote.blocks else 'here no pair has a block that could be held against it.'}"
    )
    differs = (
        f" It was not all alike: {difference_text(quote)}." if quote.differs else " It was alike in all that is known."
    )
    smaller = (
        f"smaller than that: {'; '.join(map(sentence, quote.within))}"
        if quote.within
        else "no lead that is called is smaller"
    )
    verdicts = f" Verdicts: {smaller}." if quote.blocks else ""
    return [Text(f"{text}{differs}{verdicts}", detail=Detail.COMPARISON), _table(noise)]
