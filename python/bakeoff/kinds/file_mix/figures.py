"""What a trial of the mix of file operations tells."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bakeoff.store.records.figures import Count, Figures, Number, Shape

# More than the mix has operations.
MOST_OPERATIONS = 100


class Iterations(Shape):
    """Clients that work in iterations of `bytes` with rests of `pause_s` between them."""

    bytes: Count = 0
    pause_s: Number = 0.0
    rest_ms: Number | None = None
    implied_sessions: Number | None = None


class BytesPerClient(Shape):
    """Bytes of a client: the least, the most, and the mean over the clients."""

    min: Number | None = None
    max: Number | None = None
    mean: Number | None = None


class MixFigures(Figures):
    """`touched_bytes` are distinct pages of files, of all clients together; `cycles` how often the client that came
    least far went through all the applications of the office mix. `read_back` are pages that were read after the trial,
    of which what was written last was not there in `lost_writes`. `not_expressible` counts operations by name that were
    left out, since the server's protocol has no words for them.
    """

    cycles: Count | None = None
    read_back: Count | None = None
    lost_writes: Count | None = None
    not_expressible: Annotated[dict[str, Count], Field(max_length=MOST_OPERATIONS)] = Field(default_factory=dict)
    iterations: Iterations | None = None
    link_bytes_per_s: Number | None = None
    touched_bytes: Count | None = None
    touched_bytes_per_client: BytesPerClient | None = None

    def working_set_bytes(self, clients: int) -> int:
        return super().working_set_bytes(clients) if self.touched_bytes is None else self.touched_bytes


PART = MixFigures
