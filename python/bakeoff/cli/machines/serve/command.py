"""A target's verb: flags of runs and of other tools are answered with what a server has instead."""

from typing import Any

from typer.core import TyperCommand

from bakeoff.core.errors import PlanError
from bakeoff.plan.input.messages import did_you_mean

_LATE = "--delay 5ms, by which every reply is held back (web and mail)"
INSTEAD = {
    "--think": _LATE,
    "--stagger": _LATE,
    "--latency": _LATE,
    "--sleep": _LATE,
    "--service-time": _LATE,
    "--rate": "--limit 1000/s, the most requests that it answers (web)",
    "--length": "nothing: it serves until Ctrl-C",
    "--duration": "nothing: it serves until Ctrl-C",
    "--cores": "--threads 2",
    "--listen": "--host 0.0.0.0 --port 8080",
    "--bind": "--host 0.0.0.0 --port 8080",
    "--address": "--host 0.0.0.0 --port 8080",
    "-p": "--port 8080",
    "--dir": "--root DIR (web)",
    "--directory": "--root DIR (web)",
    "--cert": "--tls, with a certificate made for this process; --tls-certificate FILE writes it",
}


class ServeCommand(TyperCommand):
    """See the module."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As always, with advice for a flag that there is not."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            option = getattr(error, "option_name", None)
            known = {word for param in self.params for word in param.opts}
            if option is None or option in known:
                raise
            if option in INSTEAD:
                raise PlanError(
                    f"`bakeoff serve {self.name}` has no {option}; of a server it is {INSTEAD[option]}"
                ) from None
            near = did_you_mean(option, known)
            raise PlanError(f"`bakeoff serve {self.name}` has no {option}: {near}") from None
