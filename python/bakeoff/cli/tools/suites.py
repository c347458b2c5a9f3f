"""`bakeoff suites`: which suites there are, and every setting of one."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bakeoff.cli.complete import one_of
from bakeoff.cli.console import PIPE_WIDTH, make_console, print_line
from bakeoff.plan.design.differences import differences, text_of
from bakeoff.plan.design.size_costs import cost
from bakeoff.plan.kind import plan_part
from bakeoff.plan.suites import BLOCKS, PUBLISHED, load_suite, suite_names

# The list of suites is read, not taken apart: in a pipe it is as wide as a page.
WIDTH = 100


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("suites")(suites)


def suites(
    name: Annotated[
        str | None, typer.Argument(metavar="[SUITE]", help="Show this one.", autocompletion=one_of(suite_names()))
    ] = None,
) -> None:
    """List the suites, or show one with its settings in each size."""
    console = make_console(pipe_width=WIDTH if name is None else PIPE_WIDTH)
    if name is not None:
        _show(console, name)
        return
    table = Table(box=None, pad_edge=False)
    for column in ("suite", "modelled on", "what it does"):
        table.add_column(column, overflow="fold")
    for each in suite_names():
        head = load_suite(each).suite
        table.add_row(each, head.modelled_on, head.summary)
    console.print(table)
    console.print("\nWhat each size costs with two contenders:", markup=False)
    console.print(_costs())
    console.print("\nSettings of a suite: bakeoff suites SUITE", markup=False)


def _costs() -> Table:
    """Suite × size: how long."""
    sizes = sorted({size for name in suite_names() for size in load_suite(name).sizes}, key=list(BLOCKS).index)
    table = Table(box=None, pad_edge=False)
    for column in ("suite", *sizes):
        table.add_column(column, overflow="fold")
    for name in suite_names():
        suite = load_suite(name)
        table.add_row(name, *(cost(suite, size) if size in suite.sizes else "" for size in sizes))
    return table


def _show(console: Console, name: str) -> None:
    suite = load_suite(name)
    kind = plan_part(suite.suite.kind)
    console.print(
        f"{name}: {suite.suite.title}\nmodelled on {suite.suite.modelled_on}\n{suite.suite.summary}\n",
        markup=False,
    )
    models = {size: kind.settings.model_validate(suite.defaults(size)) for size in suite.sizes}
    table = Table(box=None, pad_edge=False)
    for column in ("setting", *suite.sizes, "meaning"):
        table.add_column(column, overflow="fold")
    table.add_row("blocks", *(str(BLOCKS[size]) for size in suite.sizes), "How often every contender is visited.")
    table.add_row("(duration)", *(cost(suite, size) for size in suite.sizes), "Of a run with two contenders.")
    for field_name, field in kind.settings.model_fields.items():
        values = [text_of(field_name, field, getattr(models[size], field_name)) for size in suite.sizes]
        table.add_row(field.alias or field_name, *values, field.description)
    console.print(table)
    if suite.classes:
        console.print(
            "\nrequest classes and their weights: " + ", ".join(f"{c.name} {c.weight:g}" for c in suite.classes),
            markup=False,
        )
    for assumption in suite.suite.assumed:
        console.print(f"(assumed) {assumption.text}", markup=False)
    if PUBLISHED not in suite.size:
        console.print("nothing published of this suite is complete enough for a size of its own", markup=False)
        return
    for size in suite.sizes:
        deviations = differences(suite, models[size], {}, models[size].without_effect(kind.placeholders))
        text = "; ".join(deviations) if deviations else "nothing"
        print_line(console, f"(not as published) {size}: {text}")
