"""Man pages, one for each command: man(7) in ASCII, which every `man` can show."""

import re

from scripts.reference.commands import Command, tree

from bakeoff import __version__

EXITS = """.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
Done, with something to say: accounts that failed, a machine to mend, a defect of Bakeoff.
.TP
.B 2
Refused: one sentence says what to change, and nothing was lost.
.TP
.B 130
Interrupted; what was measured is kept.
"""


def files() -> dict[str, str]:
    """`man/man1/bakeoff-run.1` and so on: name to text."""
    root = tree()
    return {f"man/man1/{page_name(command)}.1": page(command, root) for command in root.all()}


def page_name(command: Command) -> str:
    """`bakeoff-serve-web`."""
    return "-".join(command.words)


def page(command: Command, root: Command) -> str:
    """One page."""
    name = page_name(command)
    parts = [
        f'.TH "{name.upper()}" 1 "" "bakeoff {__version__}" "Bakeoff"\n.SH NAME\n{plain(name)} \\- '
        f"{plain(command.summary.rstrip('.'))}\n.SH SYNOPSIS\n.B {plain(command.name)}\n"
        f"{plain(command.usage.removeprefix(command.name).strip())}\n",
        ".SH DESCRIPTION\n" + "".join(f".PP\n{plain(text)}\n" for text in (command.summary, *command.rest)),
    ]
    for panel, words in command.panels.items():
        entries = "".join(f".TP\n.B {plain(word.form)}\n{plain(word.meaning)}\n" for word in words)
        parts.append(f".SH {plain(panel.upper())}\n{entries}")
    if command.verbatim:
        parts.append(f".SH OPTIONS\n.nf\n{plain(command.verbatim.rstrip())}\n.fi\n")
    if command.commands:
        entries = "".join(f".TP\n.B {plain(c.words[-1])}\n{plain(c.summary)}\n" for c in command.commands)
        parts.append(f".SH COMMANDS\n{entries}")
    return "".join(parts) + EXITS + _see_also(command, root)


def plain(text: str) -> str:
    """Text as it is: what roff would read as an instruction is written out."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    text = re.sub(r"^([.])", r"\\&\1", text, flags=re.MULTILINE)
    return "".join(sign if ord(sign) < 128 else f"\\[u{ord(sign):04X}]" for sign in text)


def _see_also(command: Command, root: Command) -> str:
    near = [other for other in root.all() if other is not command and _near(other, command)]
    names = [f".BR {plain(page_name(other))} (1)" for other in near]
    return ".SH SEE ALSO\n" + ",\n".join(names) + "\n" if names else ""


def _near(other: Command, command: Command) -> bool:
    """The command above, and those below."""
    return other.words == command.words[:-1] or other.words[:-1] == command.words
