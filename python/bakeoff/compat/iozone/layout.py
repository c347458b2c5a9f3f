"""IOzone's output, character for character: the text matrix, the blocks for spreadsheets, throughput mode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bakeoff.compat.iozone.options import RETESTS, Options
from bakeoff.kinds.file_matrix.plan import KIB

WIDTHS = {
    "write": 9, "rewrite": 9, "read": 9, "reread": 9, "random_read": 9, "random_write": 9, "backward_read": 9,
    "record_rewrite": 10, "stride_read": 10, "fwrite": 9, "refwrite": 9, "fread": 9, "refread": 9,
    "pwrite": 9, "repwrite": 9, "pread": 8, "repread": 9,
}  # fmt: skip
# Columns whose blank is narrower than their figures.
BLANKS = {"refread": 8}
BLANK_STREAMS = " " * 18  # mapped files have no streams: what IOzone leaves for them
TITLES = {
    "write": "Writer", "rewrite": "Re-writer", "read": "Reader", "reread": "Re-Reader",
    "random_read": "Random read", "random_write": "Random write", "backward_read": "Backward read",
    "record_rewrite": "Record rewrite", "stride_read": "Stride read", "fwrite": "Fwrite",
    "refwrite": "Re-Fwrite", "fread": "Fread", "refread": "Re-Fread", "pwrite": "Pwrite",
    "repwrite": "Re-Pwrite", "pread": "Pread", "repread": "Re-Pread",
}  # fmt: skip
# Label, how the number of clients is padded, tabs before the equals sign, row title for spreadsheets.
THROUGHPUT = {
    "write": ("initial writers", 2, 1, "Initial write"),
    "rewrite": ("rewriters", 2, 1, "Rewrite"),
    "read": ("readers", 2, 2, "Read"),
    "reread": ("re-readers", 1, 1, "Re-read"),
    "backward_read": ("reverse readers", 1, 1, "Reverse Read"),
    "stride_read": ("stride readers", 1, 1, "Stride read"),
    "random_read": ("random readers", 1, 1, "Random read"),
    "mixed": ("mixed workload", 1, 1, "Mixed workload"),
    "random_write": ("random writers", 1, 1, "Random write"),
    "pwrite": ("pwrite writers", 1, 1, "Pwrite"),
    "pread": ("pread readers", 1, 1, "Pread"),
    "fwrite": ("fwriters", 1, 2, "Fwrite"),
    "fread": ("freaders", 1, 2, "Fread"),
}
UNITS = {"kB": "kBytes/sec", "ops": "ops/sec", "usec": "microseconds/op"}


@dataclass(frozen=True)
class Clients:
    """One throughput test. Rates are in the unit of the options, `moved` in kB or operations, per client."""

    test: str
    rates: tuple[float, ...]
    moved: tuple[float, ...]
    parent: float


def splash(options: Options, version: str, began: str) -> str:
    """Everything before the results."""
    lines = ["\tIozone: Performance Test of File I/O", f"\t        Version bakeoff {version}", ""]
    lines += [f"\tRun began: {began}", ""]
    lines += [f"\t{line}" if line else "" for line in options.splash]
    lines.append("\tCommand line used: iozone " + " ".join(options.words))
    if options.unit == "kB":
        lines.append("\tOutput is in kBytes/sec")
    lines += [
        "\tTime Resolution = 0.000001 seconds.",
        f"\tProcessor cache size set to {options.cache_kib} kBytes.",
        f"\tProcessor cache line size set to {options.line_bytes} bytes.",
        f"\tFile stride size set to {options.stride} * record size.",
    ]
    return "\n".join(lines) + "\n"


def heading(options: Options) -> str:
    """The two lines over the text matrix."""
    first, second = " " * 60, "              kB  reclen    write  rewrite    read    reread"
    if not options.auto2:
        first += "  random    random     bkwd    record    stride"
        second += "    read     write     read   rewrite      read"
        tail = (
            (" " * 36 if options.mmap else "   fwrite frewrite    fread  freread")
            + ("  pwrite repwrite   pread   repread" if options.extended else "")
        )  # fmt: skip
        first += " " * max(36, len(tail))
        second += tail
    return f"{first}\n{second}\n"


def row(options: Options, file: int, record: int, values: Mapping[str, int]) -> str:
    """One row: blank where a test was not asked for, 0 where its retest is off."""
    text = f"{file // KIB:16d}{record // KIB:8d}"
    wanted = set(options.wanted())
    for test in options.columns():
        width = WIDTHS[test]
        off = not options.retest and test in RETESTS and _first_of(test) in wanted
        shown = test in wanted or off
        if options.mmap and test == "pwrite":
            text += BLANK_STREAMS
        text += f"{values.get(test, 0):{width}d}" if shown else " " * BLANKS.get(test, width)
    if options.mmap and not options.extended and not options.auto2:
        text += BLANK_STREAMS
    return text + "\n"


def _first_of(retest: str) -> str:
    return retest.removeprefix("re")


def excel(options: Options, cells: Mapping[tuple[int, int, str], int]) -> str:
    """The blocks for spreadsheets, one for each test; 0 in cells that the cut-off rule leaves out."""
    text = "Excel output is below:\n"
    records = options.record_sizes()
    header = "  ".join(f'"{record // KIB}"' for record in records)
    for test in options.columns():
        if test not in options.wanted():
            continue
        text += f'\n"{TITLES[test]} report"\n        {header}\n'
        for file in options.file_sizes():
            shown = [record for record in records if record <= file or options.records]
            values = "".join(f" {cells.get((file, record, test), 0)} " for record in shown)
            text += f'"{file // KIB}"  {values}\n'
    return text


def throughput_head(options: Options, count: int, file: int, record: int, first: bool) -> str:
    """The lines before the tests of one number of clients."""
    one, many = ("thread", "threads") if options.threads else ("process", "processes")
    text = f"\tThroughput test with {count} {one if count == 1 else many}\n" if first else ""
    return f"{text}\tEach {one} writes a {file // KIB} kByte file in {record // KIB} kByte records\n\n"


def throughput_block(options: Options, clients: Clients) -> str:
    """The block of one test."""
    label, padding, tabs, _ = THROUGHPUT[clients.test]
    unit = "ops" if options.unit == "ops" else "kB"
    one, gap = "thread" if options.threads else "process", "\t" * tabs
    count = f"{len(clients.rates):{padding}d}"
    total = sum(clients.rates)
    lines = [
        f"Children see throughput for {count} {label} {gap}= {total:10.2f} {unit}/sec",
        f"Parent sees throughput for {count} {label} {gap}= {clients.parent:10.2f} {unit}/sec",
        f"Min throughput per {one} \t\t\t= {min(clients.rates):10.2f} {unit}/sec ",
        f"Max throughput per {one} \t\t\t= {max(clients.rates):10.2f} {unit}/sec",
        f"Avg throughput per {one} \t\t\t= {total / len(clients.rates):10.2f} {unit}/sec",
        f"Min xfer \t\t\t\t\t= {min(clients.moved):10.2f} {unit}",
    ]
    if options.children:
        lines += [
            f"Child[{number}] xfer count = {moved:10.2f} {unit}, Throughput = {rate:10.2f} {unit}/sec"
            for number, (moved, rate) in enumerate(zip(clients.moved, clients.rates, strict=True))
        ]
    return "".join(f"\t{line}\n" for line in lines) + "\n"


def throughput_excel(options: Options, record: int, columns: Sequence[Sequence[Clients]]) -> str:
    """The block for spreadsheets: a line for each test, a column for each number of clients."""
    many = "threads" if options.threads else "processes"
    text = f'"Throughput report Y-axis is type of test X-axis is number of {many}"\n'
    text += f'"Record size = {record // KIB} kBytes "\n"Output is in {UNITS[options.unit]}"\n\n'
    for position, clients in enumerate(columns[0]):
        title = THROUGHPUT[clients.test][3]
        values = "".join(f" {sum(column[position].rates):10.2f} " for column in columns)
        text += f'"{title:>15} "{values}\n\n'
    return text
