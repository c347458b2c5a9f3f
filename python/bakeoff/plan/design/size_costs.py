"""What each size of a suite costs for two contenders: the table of README, and a line of `bakeoff suites SUITE`."""

from bakeoff.plan.design.durations import expected_duration_of
from bakeoff.plan.kind import plan_part
from bakeoff.plan.suites import BLOCKS, SizeName, Suite

CONTENDERS = 2


def cost(suite: Suite, size: SizeName) -> str:
    """How long a size takes, as `17 min`, and on what that rests where it is not time alone."""
    kind = plan_part(suite.suite.kind)
    if kind.lasts is not None:
        return f"{CONTENDERS * BLOCKS[size]} × {kind.lasts}"
    given, words = kind.example
    settings = kind.settings.model_validate({**suite.defaults(size), **given})
    found = expected_duration_of(settings, CONTENDERS, BLOCKS[size])
    if found.how == "speed":
        words = "at 1 Gbit/s"
    return f"{rounded(found.run_s)} {words}".strip()


def rounded(seconds: float) -> str:
    """To a minute below 100, else to a tenth of an hour: `17 min`, `10.7 h`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h".replace(".0 h", " h")
