"""A verb that takes a plan: `--help` shows on one page what people give, of the suite that is named beside it,
`--help-all` every option; a flag of another tool is answered with the one that does it here.
"""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import typer
from pydantic.fields import FieldInfo
from typer.core import TyperCommand

from bakeoff.cli.options import metavar
from bakeoff.core.errors import PlanError
from bakeoff.plan.input.foreign_flags import own_flag
from bakeoff.plan.input.messages import did_you_mean
from bakeoff.plan.kind import PlanPart, plan_part
from bakeoff.plan.settings.fields import read_toml
from bakeoff.plan.suites import load_suite, suite_names

SETTING, FLEET, SEARCH = "setting_", "fleet_", "capacity_"
OFTEN_PANEL = "Options given most"
REST_PANEL = "Settings of {suite}"
SWITCH_PANEL = "Switches of {suite}"
# What every suite has, and verbs have of their own, each in a line.
GENERAL = {
    "capacity_objective": "Limits to hold: p99<=50ms,errors<=1%.",
    "capacity_by": "The load to raise: clients, or rate.",
    "capacity_most": "The highest load that is tried.",
    "plan_blocks": "Interleaved blocks; a verdict takes 6.",
    "plan_size": "quick, medium, long, full, published.",
    "plan_objective": "Limits to meet: p99<=50ms,errors<=0.1%.",
    "plan_delta": "Smallest difference that matters: 5%.",
    "length": "How long each is loaded: 2h.",
    "output": "Run file to write.",
    "trials": "List the trials.",
    "power": "Blocks that a verdict takes, by a pilot run.",
    "as_toml": "Print the plan as a file to edit.",
}
WORDS = "A suite and its contenders, a plan file, a campaign, or a run file, to repeat its plan."
ALL = "--help-all"
# What a run has and its plan does not: the words of the one are else those of the other.
NO_FILE = ("-o", "--output")


class SuiteCommand(TyperCommand):
    """See the module."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Remember the words for the help, and answer flags of other tools."""
        ctx.meta[__name__] = tuple(args)
        if ALL in args:
            typer.echo(ctx.get_help())
            ctx.exit()
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            option = getattr(error, "option_name", None)
            if option is None:
                raise
            self._refuse(ctx, str(option), error)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """That of the suite among the words, if there is one; on one page, but for `--help-all`."""
        words = ctx.meta.get(__name__, ())
        suite = _suite_of(words)
        shown = self if suite is None else self._for(suite)
        if ALL not in words:
            shown = shown._brief(str(ctx.info_name), suite)
        super(SuiteCommand, shown).format_help(ctx, formatter)

    def _brief(self, verb: str, suite: str | None) -> "SuiteCommand":
        """What people give, an option in a line."""
        part = PlanPart if suite is None else plan_part(load_suite(suite).suite.kind)
        lines = {f"{SETTING}{name}": text for name, text in part.common_settings.items()} | GENERAL
        by_name = {param.name: param for param in self.params}
        shown = copy.copy(self)
        if verb != "capacity":  # a plan may be of a search as well
            by_name = {name: param for name, param in by_name.items() if not str(name).startswith(SEARCH)}
        often = [_in_a_line(by_name[name], text) for name, text in lines.items() if name in by_name]
        shown.params = [_in_a_line(by_name["words"], WORDS), *often]
        shown.help = "\n\n".join(_heading(verb, suite, (self.help or "").split("\n\n")))
        return shown

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
                settings[flag] = _shown(param, fields[flag], flag in part.common_settings, suite)
        often = [settings[flag] for flag in part.common_settings if flag in settings]
        rest = [param for flag, param in settings.items() if flag not in part.common_settings]
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
        if not cut and (advice := own_flag(option)) is not None:
            raise PlanError(f"there is no {option}; {advice}") from None
        near = did_you_mean(option, cut or known)
        if near.startswith("did"):
            raise PlanError(f"there is no {option}: {near}") from None
        if suite is not None:
            raise PlanError(
                f"there is no {option} of {suite}: `bakeoff {ctx.info_name} {suite} --help` lists the flags"
            ) from None
        raise error


def _shown(param: Any, field: FieldInfo, is_often: bool, suite: str) -> Any:
    """A flag as the suite has it."""
    own = copy.copy(param)
    own.help = field.description
    if not own.is_flag:
        own.metavar = metavar(field)
    # Switches have two names, and a table is as narrow as its longest leaves it.
    rest = SWITCH_PANEL if own.is_flag else REST_PANEL
    own.rich_help_panel = (OFTEN_PANEL if is_often else rest).format(suite=suite)
    return own


def _in_a_line(param: Any, text: str) -> Any:
    own = copy.copy(param)
    own.help, own.rich_help_panel, own.show_envvar, own.show_default = text, None, False, False
    own.secondary_opts = [word for word in own.secondary_opts if not word.startswith("--no-")]
    return own


def _heading(verb: str, suite: str | None, own: Sequence[str]) -> list[str]:
    """What stands above the options: of a suite its line and an example, else the verb's `own` first paragraphs."""
    if suite is None:
        more = f"`bakeoff {verb} SUITE --help` lists the options of a suite, `bakeoff {verb} {ALL}` every option."
        return [*own[:2], more]
    found = load_suite(suite).suite
    one, other = plan_part(found.kind).placeholders
    return [
        own[0],
        f"{suite}: {found.summary}.",
        f"bakeoff {verb} {suite} old={one} new={other}",
        f"`bakeoff {verb} {suite} {ALL}` has every option, `bakeoff suites {suite}` the values of each size.",
    ]


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
