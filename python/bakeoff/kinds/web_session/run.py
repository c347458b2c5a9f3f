"""Do the contenders answer? Whether a session comes to its end with one the engine tries itself, before timing."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bakeoff.kinds.web.checks.check import HttpCheck
from bakeoff.kinds.web.checks.learned import Learnt, Seen, bodies, learnt_of, mended, with_reply_check
from bakeoff.kinds.web.settings.statuses import holds_status
from bakeoff.kinds.web_session.file import Step
from bakeoff.kinds.web_session.plan import session_settings, workload
from bakeoff.kinds.web_session.spec import SessionWorkload
from bakeoff.plan.model import Contender, Plan
from bakeoff.run.kind import Note, RunPart


class SessionCheck(HttpCheck):
    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._learnt: dict[str, dict[int, Learnt]] = {}

    def examine(self, contender: Contender) -> None:
        """See Check. What a session asks for is asked by the session alone: it may change something."""
        prober = self._prober(contender)
        prober.begin()
        prober.connect()

    def learn(self, contender: Contender, lessons: Sequence[dict[str, Any]]) -> None:
        """See Check: the replies to each step of the sessions that the engine made."""
        steps = range(len(self._steps()))
        replies = {step: [_seen(found[0]) for each in lessons if (found := each.get(str(step)))] for step in steps}
        self._learnt[contender.name] = {step: learnt_of(all_) for step, all_ in replies.items() if len(all_) > 1}

    def _steps(self) -> Sequence[Step]:
        session = session_settings(self.plan.settings).session
        return () if session is None else session.steps

    def _known(self, name: str) -> dict[int, Learnt]:
        """What was learnt of a contender, also from what the others serve. Pages behind the number of a client are of
        that client alone.
        """
        own = self._learnt.get(name, {})
        others = [pages for other, pages in self._learnt.items() if other != name]
        known = {step: mended(page, [pages[step] for pages in others if step in pages]) for step, page in own.items()}
        first = next((number for number, step in enumerate(self._steps()) if _names_client(step)), len(known))
        return {step: replace(page, seen=("", *page.seen)) if step >= first else page for step, page in known.items()}

    def compare(self) -> Sequence[Note]:
        asked = "two sessions are made with each contender before timing"
        checked = (
            "replies are checked for what two fetches had in common: status, length and bytes; steps add their own "
            "checks. Contenders' replies are not compared with each other"
        )
        return [*self._repeated(), Note("warning", f"{asked}, and {checked}")]

    def facts(self) -> dict[str, Any]:
        contenders = {
            name: {"addresses": list(prober.addresses), "bodies": self._bodies(name)}
            for name, prober in self._probers.items()
        }
        return {"corpus": None, "contenders": contenders}

    def _bodies(self, name: str) -> dict[str, int]:
        """Of how many steps bodies are compared."""
        known = self._known(name)
        pages = [page for step, page in known.items() if self._steps()[step].method != "HEAD"]
        return bodies(len(self._steps()) - (len(known) - len(pages)), pages)

    def workload(self, contender: Contender, addresses: Sequence[str]) -> SessionWorkload:
        asked = workload(self.plan, contender, addresses)
        known = self._known(contender.name)
        classes = list(asked.web.classes)
        for number, page in known.items():
            request = classes[number].requests[0]
            mine = with_reply_check(request, page, holds_status(self._steps()[number].expect))
            if page.seen[0] == "" and mine.reply is not None:
                # Of another client it may be of any length.
                mine = mine.model_copy(update={"reply": mine.reply.model_copy(update={"least_bytes": None})})
            classes[number] = classes[number].model_copy(update={"requests": (mine,)})
        return asked.model_copy(update={"web": asked.web.model_copy(update={"classes": tuple(classes)})})


def _seen(answer: dict[str, Any]) -> Seen:
    return Seen(answer["status"], answer["length"], answer["sha256"], answer["content_type"])


def _names_client(step: Step) -> bool:
    """Whether a request says which client it is of."""
    body = b"" if step.body is None or not step.fill else bytes.fromhex(step.body.content)
    texts = [step.path, *(value for _, value in step.headers)]
    return any("{client" in text for text in texts) or b"{client" in body


PART = RunPart(SessionCheck)
