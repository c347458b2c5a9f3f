"""A verb that takes a plan: its help shows the settings of the suite that is named beside `--help`, those given most
first, and a flag of another tool is answered with the one that does it here.
"""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from typer.core import TyperCommand

from bakeoff.errors import PlanError
from bakeoff.plan.elsewhere import here
from bakeoff.plan.fields import read_toml
from bakeoff.plan.kind import plan_part
from bakeoff.plan.messages import did_you_mean
from bakeoff.plan.suites import load_suite, suite_names

SETTING, FLEET = "setting_", "fleet_"
OFTEN_PANEL = "Settings of {suite} that are given most"
REST_PANEL = "Further settings of {suite}"
SWITCH_PANEL = "Switches of {suite}"
# What a run has and its plan does not: the words of the one are else those of the other.
NO_FILE = ("-o", "--output")


class SuiteCommand(TyperCommand):
    """See the module."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Remember the words for the help, and answer flags of other tools."""
        ctx.meta[__name__] = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            option = getattr(error, "option_name", None)
            if option is None:
                raise
            self._refuse(ctx, str(option), error)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """That of the suite among the words, if there is one."""
        suite = _suite_of(ctx.meta.get(__name__, ()))
        shown = self if suite is None else self._for(suite)
        super(SuiteCommand, shown).format_help(ctx, formatter)

    def _for(self, suite: str) -> "SuiteCommand":
        """This verb with the flags that the suite takes."""
        part = plan_part(load_suite(suite).suite.kind)
        fields = {field.alias or name: field for name, field in part.settings.model_fields.items()}
        settings, others = {}, []
        for param in self.params:
            flag = (param.name or "").removeprefix(SETTING)
            if param.name == flag:
                others.append(param)
            elif flag in fields:
                settings[flag] = _shown(param, fields[flag].description, flag in part.often, suite)
        often = [settings[flag] for flag in part.often if flag in settings]
        rest = [param for flag, param in settings.items() if flag not in part.often]
        shown = copy.copy(self)
        shown.params = [*(p for p in others if not _of_many(p)), *often, *rest, *filter(_of_many, others)]
        return shown

    def _refuse(self, ctx: Any, option: str, error: Exception) -> NoReturn:
        """Raises PlanError with the flag that was meant, or the error itself where that is not known."""
        if any(option in (*param.opts, *param.secondary_opts) for param in self.params):
            raise error
        if ctx.info_name == "plan" and option in NO_FILE:
            raise PlanError(
                f"there is no {option} of `bakeoff plan`, which writes no run file: leave it out; --toml prints a plan "
                "file"
            ) from None
        suite = _suite_of(ctx.meta.get(__name__, ()))
        params = self.params if suite is None else self._for(suite).params
        known = {word for param in params for word in param.opts}
        # A flag cut short is meant before one of another tool: `--user` is `--users` where there is one.
        cut = {word for word in known if option.startswith("--") and word == f"{option}s"}
        if not cut and (advice := here(option)) is not None:
            raise PlanError(f"there is no {option}; {advice}") from None
        near = did_you_mean(option, cut or known)
        if near.startswith("did"):
            raise PlanError(f"there is no {option}: {near}") from None
        if suite is not None:
            raise PlanError(
                f"there is no {option} of {suite}: `bakeoff {ctx.info_name} {suite} --help` lists the flags"
            ) from None
        raise error


def _shown(param: Any, text: str | None, is_often: bool, suite: str) -> Any:
    """A flag as the suite has it."""
    own = copy.copy(param)
    own.help = text
    # Switches have two names, and a table is as narrow as its longest leaves it.
    rest = SWITCH_PANEL if own.is_flag else REST_PANEL
    own.rich_help_panel = (OFTEN_PANEL if is_often else rest).format(suite=suite)
    return own


def _of_many(param: Any) -> bool:
    """Whether a flag is about the machines that send the load, which most runs have one of."""
    return (param.name or "").startswith(FLEET)


def _suite_of(words: Sequence[str]) -> str | None:
    """The suite that the words name, themselves or by the plan file among them."""
    for word in words:
        if word in suite_names():
            return word
    for word in words:
        if word.endswith(".toml") and Path(word).is_file():
            try:
                suite = read_toml(Path(word), "plan").get("plan", {}).get("suite")
            except (PlanError, AttributeError):
                return None
            return suite if suite in suite_names() else None
    return None
