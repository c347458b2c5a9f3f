"""Whether all threads of this process are Bakeoff's, so that they may be put behind those that make load."""

from dataclasses import dataclass


@dataclass
class OwnProcess:
    """`may_idle` says whether they may be in the idle class: where no processor is idle they starve there."""

    is_own: bool = False
    may_idle: bool = True


THIS = OwnProcess()


def own_process(may_idle: bool = True) -> None:
    """They are; not `may_idle` where somebody elsewhere waits for one of them."""
    THIS.is_own, THIS.may_idle = True, may_idle
