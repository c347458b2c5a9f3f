"""What the engine is told of a replay."""

from typing import Literal

from bakeoff.kinds.spec import NullCalibration, Spec
from bakeoff.kinds.web.spec import OverWeb


class LearntSpec(Spec):
    """A request of the log of whose reply something is known; `host` where hosts of the log are kept."""

    method: str
    host: str | None
    path: str


class ReplayWorkload(OverWeb):
    """An access log. The requests of `web` are patterns, a GET and a HEAD, and one for each of `learnt`. `trace` is the
    file with what is replayed, `prefix` stands before each of its paths.
    """

    kind: Literal["replay"] = "replay"
    trace: str
    sha256: str
    spread: Literal["even", "poisson"]
    loops: bool
    statuses: Literal["log", "any"]
    learnt: tuple[LearntSpec, ...] = ()

    @property
    def rehearsed(self) -> bool:
        return self.web.rehearsed

    @property
    def null_calibration(self) -> NullCalibration | None:
        """See Workload: its requests without their moments."""
        return self.web.null_calibration


PART = ReplayWorkload
