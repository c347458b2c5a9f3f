"""The `bakeoff` command: the verbs, and errors turned into one message and exit code 2."""

import os
import sys
import time
from typing import Annotated, NoReturn

import typer

from bakeoff import __version__
from bakeoff.cli.streams import CLOSED, OutputError, mend_streams
from bakeoff.cli.verbs import VERBS, Verbs
from bakeoff.core.errors import BakeoffError
from bakeoff.core.timeouts import hanging_calls

EXIT_USER_ERROR = 2
# Verbs whose work is what they print.
PRINTING = frozenset({"compare", "show", "explain", "suites", "plan", "inventory"})
SLOW_CALL_S = 0.1
LONGEST_LINE, MOST_LINES = 1500, 40
EXIT_BROKEN_PIPE = 141  # as a shell reports a filter that SIGPIPE ended

app = typer.Typer(
    name="bakeoff",
    cls=Verbs,
    help="Which of these servers is faster under my load, by how much, and where does each break?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Colours are not to be cut out of what is printed: bakeoff.cli.streams shows them.
    context_settings={"help_option_names": ["-h", "--help"], "color": True},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bakeoff {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Which of these servers is faster under my load, by how much, and where does each break?"""


def main() -> NoReturn:
    """Run the command line; what the user can put right ends with exit code 2, no traceback.

    When the reader of the output has gone (`| head`), it ends at once and says nothing, as any filter does.
    """
    mend_streams()
    try:
        _run_command_line()
    except (SystemExit, BrokenPipeError) as stop:
        fault = _flush()
        if _reader_is_gone(stop) or _reader_is_gone(fault):
            sys.exit(EXIT_BROKEN_PIPE)
        if isinstance(fault, OutputError) and stop.code == 0:  # type: ignore[union-attr]
            _refuse(str(fault))
        raise
    finally:
        _tell_hanging_calls()


def _run_command_line() -> NoReturn:
    if "stdout" in CLOSED and _verb_of(sys.argv).strip() in PRINTING and not {"-o", "--output"} & set(sys.argv):
        _refuse("standard output is closed, and this verb only prints: give it a file, a pipe or a terminal")
    try:
        code = app(standalone_mode=False)
    except BakeoffError as error:
        _refuse(str(error))
    except typer.TyperException as error:
        if not error.format_message():  # the help was printed instead
            sys.exit(EXIT_USER_ERROR)
        _refuse(f"{error.format_message()}\nTry `bakeoff {_verb_of(sys.argv)}--help`.")
    except typer.Abort:
        sys.exit(130)
    except MemoryError:
        _refuse("there is not enough memory for this: close other programs, or raise the limit (`ulimit -v`)")
    except OSError as error:
        if error.filename is None:
            raise
        _refuse(f"{os.fsdecode(error.filename)}: {error.strerror}: check the path and its permissions")
    sys.exit(code if isinstance(code, int) else 0)


def _tell_hanging_calls() -> None:
    """Why the command does not end yet, whichever verb it was, when a share has stopped to answer in the middle of a
    call. A call seen once may only be slow.
    """
    if hanging_calls():
        time.sleep(SLOW_CALL_S)
        if hanging_calls():
            text = "a network folder does not answer: wait for it, or abort its mount (umount -f)"
            typer.echo(f"bakeoff: {text}", err=True)
            sys.stderr.flush()


def _reader_is_gone(stop: BaseException | None) -> bool:
    """Whether a broken pipe is behind `stop`: libraries turn it into an exit code of their own."""
    while stop is not None and not isinstance(stop, BrokenPipeError):
        stop = stop.__context__
    return stop is not None


def _flush() -> Exception | None:
    """What stood in the way of it; else the interpreter would flush on its way out, fail, and complain."""
    fault: Exception | None = None
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            stream.flush()
        except (OSError, OutputError) as error:
            fault = fault or error
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    return fault


def _verb_of(arguments: list[str]) -> str:
    """The verb with a space after it, when the first word is one."""
    return f"{arguments[1]} " if len(arguments) > 1 and arguments[1] in VERBS else ""


def _refuse(message: str) -> NoReturn:
    lines = [line if len(line) <= LONGEST_LINE else f"{line[:400]} … {line[-200:]}" for line in message.split("\n")]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… and {len(lines) - MOST_LINES:,} more"]
    typer.echo("bakeoff: " + "\n".join(lines), err=True, color=True)
    sys.exit(EXIT_USER_ERROR)
