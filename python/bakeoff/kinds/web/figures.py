"""What a trial of web requests tells."""

from __future__ import annotations

from bakeoff.store.records.figures import Count, Figures


class WebFigures(Figures):
    """`bodies_hashed` replies were held against the corpus byte by byte, ramps included."""

    bodies_hashed: Count | None = None


PART = WebFigures
