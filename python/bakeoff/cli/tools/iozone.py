"""`bakeoff iozone`: IOzone's options and output on the engine of this program."""

import sys

import typer

from bakeoff import __version__
from bakeoff.agents.make import make_agent
from bakeoff.compat.iozone.options import parse
from bakeoff.compat.iozone.run import run

USAGE = """\
usage: bakeoff iozone [options]     (IOzone's options; sizes are in kB or have k, m or g behind them)

  -a          auto mode: files of 64 kB to 512 MB, records of 4 kB to 16 MB; 126 rows
  -z          with -a: small records for large files, too; 146 rows
  -A          like -az, tests 0 and 1 alone
  -i N        test, may be repeated: 0 write/rewrite, 1 read/re-read, 2 random read/write, 3 backward read,
              4 record rewrite, 5 stride read, 6 fwrite/re-fwrite, 7 fread/re-fread, 8 mixed (throughput),
              9 pwrite, 10 pread (with -E)
  -n S -g S   smallest and largest file          -y S -q S   smallest and largest record
  -s S        file size, may be repeated         -r S        record size, may be repeated
  -R          blocks for spreadsheets            -E          pwrite and pread columns
  -f FILE     work in the folder of FILE         -F F1 F2 …  one for each client of throughput mode
  -t N        throughput mode with N clients     -l N -u N   … with N to N clients; -T calls them threads
  -C          each client's figures              -x          no stonewall
  -e          fsync in the clock                 -c          close in the clock
  -I          O_DIRECT   -o  O_SYNC   -+D  O_DSYNC           -B  mmap
  -+n         no retests                         -O  operations/s   -N  µs per operation
  -U MOUNT    unmount and mount before each test -j N        stride in records
  -+p N       percent of readers in mixed        -J MS       think time
  -+q S       pause between rows, s              -P N        processor to run on
  -w          keep the files                     -M          print the machine   -v  version   -h  this
Data are checked when they are read back, outside the measured time. Of -R there is the text, not the workbook of -b.
"""


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(
        "iozone",
        add_help_option=False,
        context_settings={
            "ignore_unknown_options": True,
            "allow_extra_args": True,
            "allow_interspersed_args": False,
            "help_option_names": [],
        },
    )(iozone)


def iozone(context: typer.Context) -> None:
    """The file matrix by IOzone's options, with IOzone's output."""
    options = parse(context.args)
    if options.help or options.version:
        typer.echo(USAGE if options.help else f"bakeoff iozone {__version__}", nl=not options.help)
        return
    try:
        run(options, make_agent(), _write)
    except KeyboardInterrupt:
        typer.echo("\niozone: interrupted\n", err=True)
        raise typer.Exit(130) from None


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
