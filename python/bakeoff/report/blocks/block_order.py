"""In which order the trials of a block were done, in words."""

from __future__ import annotations

from bakeoff.plan.model import LOAD_STEPS
from bakeoff.report.narrate import wording
from bakeoff.store.records.run_records import RunRecord


def is_by_load_steps(run: RunRecord) -> bool:
    """Whether all contenders were measured back to back at each load step."""
    return run.planned.order == LOAD_STEPS


def in_each_block(run: RunRecord) -> str:
    """The order, and what it does to the pairs that are compared; of several files of each that has another one."""
    texts: dict[str, list[str]] = {}
    for file in run.files:
        texts.setdefault(_of_one(file.run), []).append(file.label)
    if len(texts) == 1:
        return next(iter(texts))
    return " ".join(f"{wording.names(labels)}: {text[0].lower()}{text[1:]}" for text, labels in texts.items())


def _of_one(run: RunRecord) -> str:
    if len(run.contenders) == 1:
        return "Each block has a seed of its own."
    if is_by_load_steps(run):
        return (
            "In each block all contenders are measured back to back at each load step, in random order that is "
            "balanced over load steps and blocks, and with the same seed: what drifts hits both sides of a ratio."
        )
    whole = ", with all its load steps in one piece" if len(run.load_steps) > 1 else ""
    return f"In each block every contender is visited once{whole}, in random order and with the same seed."
