"""Does a contender answer at its address, and with what?"""

import itertools
from collections.abc import Sequence
from typing import Any

from bakeoff.agents.result import TrialResult
from bakeoff.core.errors import ContenderError
from bakeoff.kinds.httperf.figures import HttperfFigures
from bakeoff.kinds.httperf.page import Page, is_one, is_safe, learnt, pages_of, reach, with_page_check
from bakeoff.kinds.httperf.plan import HttperfSettings, httperf_settings
from bakeoff.kinds.httperf.spec import HttperfWorkload, ServerSpec
from bakeoff.kinds.httperf.work import workload
from bakeoff.kinds.web.checks.check import reply_difference, same_reply
from bakeoff.kinds.web.checks.learned import Learnt, bodies, mended
from bakeoff.kinds.web.settings.address import parse_web_address
from bakeoff.plan.input.address import resolve
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.contenders.probe_connection import ProbeError
from bakeoff.run.kind import Check, Fault, Note, RunPart, figures_of
from bakeoff.store.records import run_records


class HttperfCheck(Check):
    """See bakeoff.run.kind.Check. Any reply may be what is wanted: where all calls ask for one page, it is learnt, and
    replies of trials are held to it.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._pages: dict[str, Page] = {}
        self._examined: list[Contender] = []

    def answers(self, contender: Contender) -> None:
        try:
            reach(self._asked(contender, self.addresses(contender)))
        except ProbeError as error:
            raise ContenderError(f"{contender.name} ({contender.address}): {error}") from None

    def addresses(self, contender: Contender) -> Sequence[str]:
        return resolve(parse_web_address(contender.address))

    def examine(self, contender: Contender) -> None:
        self.answers(contender)
        self._examined.append(contender)
        settings = self._settings(contender)
        if is_one(settings) and is_safe(settings):
            page = learnt(self._asked(contender, self.addresses(contender)))
            if page is not None:
                self._pages[contender.name] = page

    def compare(self) -> Sequence[Note]:
        checked = "replies are held to status and length, and bodies are not compared"
        notes = [
            Note("warning", f"{name}: the page changes from request to request: {checked}")
            for name, page in self._known().items()
            if page.digest is None
        ]
        texts = [each["text"] for each in self._differences() if each["withhold"]]
        return [*notes, *(Note("warning", f"{text}: there will be no verdict between them") for text in texts)]

    def facts(self) -> dict[str, Any]:
        contenders = {contender.name: {"bodies": self._bodies(contender)} for contender in self._examined}
        return {"corpus": None, "contenders": contenders, "differences": self._differences()}

    def workload(self, contender: Contender, addresses: Sequence[str]) -> HttperfWorkload:
        return with_page_check(self._asked(contender, addresses), self._known().get(contender.name))

    def _settings(self, contender: Contender) -> HttperfSettings:
        return httperf_settings(self.plan.settings_of(contender.name))

    def _asked(self, contender: Contender, addresses: Sequence[str]) -> HttperfWorkload:
        address = parse_web_address(contender.address)
        server = ServerSpec(host=host_of(address.host), address=addresses[0])
        return workload(self._settings(contender), [server], address.target or "/", address.scheme == "https")

    def _known(self) -> dict[str, Learnt]:
        """What was learnt of each contender, also from what the others serve."""
        return {
            name: mended(page.learnt, [other.learnt for other in self._pages.values() if other is not page])
            for name, page in self._pages.items()
        }

    def _bodies(self, contender: Contender) -> dict[str, int]:
        settings, page = self._settings(contender), self._known().get(contender.name)
        unsafe = 0 if is_safe(settings) or settings.wsesslog is not None else pages_of(settings)
        return bodies(pages_of(settings), [] if page is None else [page], unsafe)

    def _differences(self) -> list[dict[str, Any]]:
        """Pairs of contenders that answer differently."""
        found, known = [], self._known()
        for (one, left), (other, right) in itertools.combinations(self._pages.items(), 2):
            changes = [known[name].digest is None for name in (one, other)]
            same = known[one] == known[other] and not any(changes)
            if not same and not (same_reply(left.first, right.first) and changes[0] == changes[1]):
                found.append(reply_difference("the page", ((one, left.first), (other, right.first)), changes, False))
        return found


def host_of(host: str) -> str:
    """A host as it stands in the Host header."""
    return f"[{host}]" if ":" in host else host


class HttperfRunPart(RunPart):
    def fault(self, result: TrialResult) -> Fault | None:
        """What was cut off by the length of the trial proves nothing about a contender."""
        figures = figures_of(HttperfFigures, result)
        if figures.errors.addrunavail or figures.errors.fd_unavail or figures.errors.ftab_full:
            return Fault(
                run_records.VOIDED,
                f"the generator ran out of local ports {figures.errors.addrunavail:,} times and of open files "
                f"{figures.errors.fd_unavail + figures.errors.ftab_full:,} times: use hog, myaddr or a lower rate, or "
                "raise `ulimit -n`",
            )
        return None


PART = HttperfRunPart(HttperfCheck)
