"""What curves do, in words."""

from __future__ import annotations

from bakeoff.compare.model.comparison import Course, CurveShape
from bakeoff.report.narrate import wording
from bakeoff.report.narrate.sentences import sentence


@sentence.register
def shape_words(shape: CurveShape) -> str:
    """ "flat from 8 clients on", and how many trials failed."""
    if shape.knee_load_step is None or shape.peak_load_step is None:
        return "no usable trial"
    knee, peak, last = (
        f"flat from {shape.knee_load_step.words}",
        shape.peak_load_step.words,
        wording.percent(shape.last_share),
    )
    lost = f"{shape.forfeited} of {wording.plural(shape.of, 'trial')}"
    texts: dict[Course, str] = {
        "one_load_step": "one load step only: no curve",
        "rising": f"still rising at {peak}: its limit was not reached",
        "flat_and_falls": f"{knee}, falls to {last} of the peak at the last load step",
        "falls": f"highest at {peak}, falls to {last} of the peak at the last load step",
        "lost": f"highest at {peak}, {last} of that at the end: {lost} of the last load step were lost",
        "may_fall": f"highest at {peak}, {last} of that at the last load step, which may be chance",
        "flat": f"{knee} on",
    }
    text = texts[shape.course]
    return f"{text}; {wording.plural(shape.failed, 'trial')} failed" if shape.failed else text
