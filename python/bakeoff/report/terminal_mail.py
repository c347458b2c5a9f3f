"""Mail on a terminal: messages, waiting and responses at each mix, and what became of all messages."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from bakeoff.compare.model import Comparison
from bakeoff.kinds.mail.compare.summary import MailSummary
from bakeoff.kinds.mail.report.words import book_lines, columns_of, mail_cells, saturation_words
from bakeoff.report.fit import Sheet, fitted
from bakeoff.visible import visible


def print_mail(comparison: Comparison, console: Console) -> None:
    """Nothing when the run has no mail."""
    if not isinstance(comparison.own, MailSummary):
        return
    table = Sheet("Mail at each mix (mean over blocks ± half of the 95 % interval; times in s)")
    table.column("clients")
    table.column("contender", numeric=False)
    for title in columns_of(comparison):
        table.column(title)
    for index, clients in enumerate(comparison.run.mixes):
        for contender in comparison.contenders:
            table.row(str(clients), contender.name, *mail_cells(comparison, contender.name, index))
    console.print(fitted(table, console))
    for text in saturation_words(comparison):
        console.print(Text(visible(f"! {text}"), style="yellow"), soft_wrap=not console.is_terminal)
    for text in book_lines(comparison):
        console.print(Text(visible(text)), soft_wrap=not console.is_terminal)
