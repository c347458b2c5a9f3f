"""What facts are told as."""

from collections.abc import Iterable

from bakeoff.compare.model.fact import Fact
from bakeoff.report.narrate.advised import advised


def texts_of(facts: Iterable[Fact]) -> list[str]:
    """Their texts, without the full stop."""
    return [advised(fact)[0].removesuffix(".") for fact in facts]
