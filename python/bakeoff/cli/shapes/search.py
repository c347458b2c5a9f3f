"""What a search for capacities would do, in words."""

from itertools import groupby

from rich.table import Table

from bakeoff.cli.shapes.loop import PlanWords
from bakeoff.core.units import format_share, plural
from bakeoff.load.capacity.judge import GROWTH
from bakeoff.plan.design.order import order_slots
from bakeoff.plan.model import Plan


class SearchWords(PlanWords):
    verdict = "the verdict on capacities"
    lost = "which a search finds no load"

    def loads(self, plan: Plan) -> list[str]:
        """What is searched, where, and in how many trials."""
        capacity = plan.capacity
        assert capacity is not None
        words, goal = capacity.words, capacity.goal
        times = "response times, from the planned start" if capacity.by == "rate" else "service times"
        allowed = [
            f"{term} (lets {format_share(share)} go)" for term in goal.terms if (share := term.allowed) is not None
        ]
        shares = ", ".join(map(format_share, capacity.shares)) or "none"
        grows = (
            f"; no load meets it under which the queue grows by {format_share(GROWTH)}" if capacity.by == "rate" else ""
        )
        searches = len(plan.contenders) * plan.blocks
        usual = round(capacity.usual_trials(plan.blocks) / plan.blocks)
        return [
            f"capacity: the highest load that meets {goal}, once for each contender and block (MLRsearch, RFC 9971)",
            f"judged by {times}; what fails or never begins counts as failed: {', '.join(allowed)}{grows}",
            f"searched from {words(capacity.least)} to {words(capacity.most)} at most, until the bounds are "
            f"{format_share(capacity.width)} apart; {capacity.repeats} probes decide on a load",
            f"then measured at shares of what was found: {shares}",
            f"{plural(searches, 'search', 'searches')} = {plural(len(plan.contenders), 'contender')} x "
            f"{plural(plan.blocks, 'block')}; each usually has about {usual} trials, {capacity.most_trials} at most",
        ]

    def blocks(self, plan: Plan) -> Table:
        """The searches in their order."""
        table = Table(box=None, pad_edge=False)
        for column in ("block", "searches in this order", "seed"):
            table.add_column(column, overflow="fold")
        for block, slots in groupby(order_slots(plan), key=lambda slot: slot.block):
            listed = list(slots)
            table.add_row(str(block), ", ".join(slot.contender for slot in listed), str(listed[0].seed))
        return table


PART = SearchWords
