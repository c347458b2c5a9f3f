"""Does a contender answer at its address?"""

from collections.abc import Sequence

from bakeoff.agents.result import TrialResult
from bakeoff.errors import TargetError
from bakeoff.kinds.httperf.figures import HttperfFigures
from bakeoff.kinds.httperf.plan import httperf_settings
from bakeoff.kinds.httperf.spec import HttperfWorkload, ServerSpec
from bakeoff.kinds.httperf.work import workload
from bakeoff.kinds.web.address import parse_web_address
from bakeoff.plan.address import resolve
from bakeoff.plan.model import Contender
from bakeoff.run.kind import Check, Fault, RunPart, figures_of
from bakeoff.run.wire import Bounds, RefusedError, SlowError, Wire, WireError
from bakeoff.store import records

ANSWER_S = 5.0


class HttperfCheck(Check):
    """See bakeoff.run.kind.Check. Only that somebody listens is asked: any reply may be what is wanted."""

    def answers(self, contender: Contender) -> None:
        """See Check."""
        place = self.addresses(contender)[0]
        where = f"{contender.name} ({contender.address})"
        try:
            with Wire.connect(place, Bounds(ANSWER_S, 1), ANSWER_S):
                return
        except RefusedError:
            raise TargetError(f"{where}: connection refused: start the server, or correct the address") from None
        except SlowError:
            raise TargetError(f"{where}: no connection within {ANSWER_S:g} s: is it reachable?") from None
        except WireError as error:
            raise TargetError(f"{where}: {error}: check address and network") from None

    def addresses(self, contender: Contender) -> Sequence[str]:
        """See Check."""
        return resolve(parse_web_address(contender.address))

    def workload(self, contender: Contender, addresses: Sequence[str]) -> HttperfWorkload:
        """See Check."""
        address = parse_web_address(contender.address)
        server = ServerSpec(host=host_of(address.host), address=addresses[0])
        settings = httperf_settings(self.plan.settings_of(contender.name))
        return workload(settings, [server], address.target or "/", address.scheme == "https")


def host_of(host: str) -> str:
    """A host as it stands in the Host header."""
    return f"[{host}]" if ":" in host else host


class HttperfRunPart(RunPart):
    """See RunPart."""

    def fault(self, result: TrialResult) -> Fault | None:
        """What was cut off by the length of the trial proves nothing about a contender."""
        figures = figures_of(HttperfFigures, result)
        if figures.errors.addrunavail or figures.errors.fd_unavail or figures.errors.ftab_full:
            return Fault(
                records.VOIDED,
                f"the generator ran out of local ports {figures.errors.addrunavail:,} times and of open files "
                f"{figures.errors.fd_unavail + figures.errors.ftab_full:,} times: use hog, myaddr or a lower rate, or "
                "raise `ulimit -n`",
            )
        return None


PART = HttperfRunPart(HttperfCheck)
