"""docs/reference/commands.md"""

from scripts.reference.commands import Command, Word, tree
from scripts.reference.markdown import cell, code, table

HEAD = """# Commands

`bakeoff COMMAND --help` says the same; from a wheel there are man pages as well (`man bakeoff-run`).

| exit code | means |
|---|---|
| 0 | done |
| 1 | done, with something to say: `check` found worse, accounts failed, a machine is to mend, a defect of Bakeoff |
| 2 | refused: one sentence says what to change, and nothing was lost |
| 3 | measured, and nothing is comparable: no block has usable trials of two contenders; of `check` inconclusive |
| 4 | measured, and a contender failed: in trials, or by wrong results; all of it is in the report; of `check` void |
| 99 | a rule stopped a contender in a soak; all that was measured is kept |
| 130 | interrupted; what was measured is kept |
| 141 | the reader of the output went away |
"""


def text() -> str:
    """The page."""
    root, seen = tree(), dict[tuple[str, tuple[Word, ...]], str]()
    parts = [HEAD, _list(root)]
    parts += [_section(command, seen) for command in root.all()]
    return "\n".join(parts).rstrip() + "\n"


def _list(root: Command) -> str:
    rows = [(f"[{command.name}](#{_anchor(command)})", cell(command.summary)) for command in root.all()[1:]]
    return table(("command", "what it does"), rows)


def _section(command: Command, seen: dict[tuple[str, tuple[Word, ...]], str]) -> str:
    lines = [f"## {command.name}\n", command.summary + "\n", f"```\n{command.usage}\n```\n"]
    lines += [f"{paragraph}\n" for paragraph in command.rest]
    for name, words in command.panels.items():
        same = seen.setdefault((name, words), command.name)
        if same != command.name and len(words) > 1:
            lines.append(f"**{name}**: those of [{same}](#{same.replace(' ', '-')}).\n")
        else:
            rows = [(code(word.form), cell(word.meaning)) for word in words]
            lines.append(table((name.lower() if name in ("Arguments", "Options") else cell(name), ""), rows))
    if command.verbatim:
        lines.append(f"```\n{command.verbatim.rstrip()}\n```\n")
    return "\n".join(lines)


def _anchor(command: Command) -> str:
    return "-".join(command.words)
