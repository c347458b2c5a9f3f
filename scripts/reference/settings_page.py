"""docs/reference/settings.md"""

from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from scripts.reference.markdown import cell, code, table

from bakeoff.cli.verbs import load
from bakeoff.plan.design.differences import text_of
from bakeoff.plan.kind import plan_part
from bakeoff.plan.model import Contender
from bakeoff.plan.settings.fleet import FleetPlan
from bakeoff.plan.settings.plan_section import PlanSection
from bakeoff.plan.suites import BLOCKS, load_suite, suite_names

HEAD = """# Settings

A plan file has a table `[plan]`, a table `[settings]`, a table `[[contender]]` for each server, and a table `[fleet]`
where several machines send load. Every key of all but `[[contender]]` is a flag of `bakeoff run` and `bakeoff plan`,
too. `bakeoff plan … --toml` writes the plan file of a command line. Times have units (`10s`, `500ms`), sizes too
(`4KiB`, `60MB`); shares are `5%` or `0.05`.
"""

ADDRESSES = """A machine that reaches a contender at another address, or has its share mounted elsewhere, has a table of
its own, under the name that it joined with:

```toml
[agents.loader2]
addresses = { nfs = "/mnt/bench", nginx = "http://10.1.0.5/" }
```
"""


CLIENT_OPTIONS = """What clients do otherwise with one contender stands in its table `settings`: only what is named
below the table of the suite, as all else is one work for all contenders. `--contender-setting NAME:SETTING=VALUE` is
the flag; in campaigns each sort of suite has its own, `settings.web`.

```toml
[[contender]]
name = "h2"
address = "https://192.0.2.1/"
[contender.settings]
http = "2"
```
"""


FACTORS = """## Factors

The table `[factors]` has the levels of each factor as a list, or a table for each level; `--factor NAME=LEVEL,LEVEL`
is the flag. Each `[[contender]]` becomes one for each combination of levels, of 4 factors 36 at most; several of them
are a factor themselves, `server`. Its `factors` names those that it has, where not all.
`{raid}` in its name, address, reset and settings stands for a level, `{raid.disk}`
for a word in the table of the level. There `reset` runs before the contender's own; `address`, `watch`, `ready_timeout`
and each of its `settings` replace them:
[how to try settings as factors](../how-to/settings-as-factors.md).

```toml
[factors]
cache = ["on", "off"]

[factors.raid.5]
disk = "/dev/md5"

[factors.raid.0]
disk = "/dev/md0"
reset = "mdadm --readwrite {raid.disk}"
```
"""


def text() -> str:
    """The page."""
    flags = _flags()
    parts = [HEAD, "## The plan\n", _model(PlanSection, flags, "plan"), "## A contender\n", _model(Contender, {}, "")]
    parts += [CLIENT_OPTIONS]
    parts += ["## Several load machines\n", _model(FleetPlan, flags, "fleet", without="addresses"), ADDRESSES]
    parts += [FACTORS]
    parts += [_suite(name, flags) for name in suite_names()]
    return "\n".join(parts)


def _flags() -> dict[str, str]:
    """How a parameter of `bakeoff run` is written, by its name: `setting_keep_alive` is `--keep-alive / --close`."""
    command: Any = load("run")
    context = command.context_class(command, info_name="run")
    records = {param.name: param.get_help_record(context) for param in command.get_params(context)}
    return {name: " ".join(record[0].split()) for name, record in records.items() if record and name}


def _model(model: type[BaseModel], flags: dict[str, str], table_name: str, without: str = "") -> str:
    rows = []
    for name, field in model.model_fields.items():
        if name == without:
            continue
        key = field.alias or name
        default = "" if field.default in (PydanticUndefined, None) else text_of(name, field, field.default)
        flag = [code(flags.get(f"{table_name}_{key}", ""))] if flags else []
        rows.append((code(key), *flag, cell(default), cell(field.description or "")))
    return table(("key", *(["flag"] if flags else []), "default", "meaning"), rows)


def _suite(name: str, flags: dict[str, str]) -> str:
    suite = load_suite(name)
    settings = plan_part(suite.suite.kind).settings
    models = {size: settings.model_validate(suite.defaults(size)) for size in suite.sizes}
    rows = [(code("blocks"), code("--blocks N"), *(str(BLOCKS[size]) for size in suite.sizes), "see the plan")]
    for field_name, field in settings.model_fields.items():
        key = field.alias or field_name
        values = [cell(text_of(field_name, field, getattr(models[size], field_name))) for size in suite.sizes]
        rows.append((code(key), code(flags.get(f"setting_{key}", "")), *values, cell(field.description or "")))
    about = f"{cell(suite.suite.summary)}; modelled on {cell(suite.suite.modelled_on)}."
    made = table(("key", "flag", *suite.sizes, "meaning"), rows)
    client_options = ", ".join(map(code, plan_part(suite.suite.kind).client_options))
    own = (
        f"Contenders may differ in {client_options}." if client_options else "Contenders cannot differ in any of them."
    )
    return f"## {name}: {suite.suite.title}\n\n{about}\n\n{made}\n{own}\n"
