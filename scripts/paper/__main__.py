"""Make the example paper: start three boxes, measure them under three suites, disclose, print, and verify.

    make paper

Writes docs/examples/ with a picture of the first page. Needs root, as mail servers do, and about twelve minutes.

    python -m scripts.paper [--to FOLDER] [--blocks 8]
    python -m scripts.paper --again    # measures nothing: prints again what the paper there holds
"""

import argparse
import contextlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
from scripts.paper.box import BOXES

from bakeoff.cli.read.report import extent_of
from bakeoff.cli.read.report_inputs import compose_embedded, paper_tables
from bakeoff.report.embed.document_words import content_of
from bakeoff.report.embed.embedded_runs import checked, read_embedded, repacked
from bakeoff.report.embed.report_options import ReportOptions
from bakeoff.report.renderers import renderer
from bakeoff.testdata.mail.accounts import new_accounts, write_accounts

ROOT = Path(__file__).parents[2]
WORK = Path("/var/tmp/bakeoff-paper")
EXAMPLES = ROOT / "docs/examples"
BAKEOFF = str(Path(sys.executable).with_name("bakeoff"))
ACCOUNTS = 60
START_S = 180.0
PAGE_SCALE = 1.3

CAMPAIGN = """
[campaign]
name = "boxes"
title = "Three small-office servers made of Debian packages"

[[suite]]
suite = "web-static"
clients = "1,4,8,16"
http = "1.1"
keep_alive = true

[[suite]]
suite = "file-mix"

[[suite]]
suite = "mail-pop"
mailboxes = 5
users = "users.csv"
"""
HEAD = "[campaign]"


@dataclass(frozen=True)
class Box:
    """A started box: how to reach and to watch it, and how long it took until all of it answered."""

    name: str
    addresses: dict[str, str]
    pid: int
    start_s: float

    def table(self) -> str:
        """As a plan file has it."""
        lines = [f'{kind} = "{address}"' for kind, address in self.addresses.items()]
        return "\n".join(("[[contender]]", f'name = "{self.name}"', *lines, f'watch = "pid:{self.pid}"', ""))


@contextlib.contextmanager
def started(name: str, corpus: Path, users: Path) -> Iterator[Box]:
    """A box in a process of its own."""
    words = [sys.executable, "-m", "scripts.paper.box", name, str(WORK / name.lower()), str(corpus), str(users)]
    begun = time.monotonic()
    process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdin is not None
        line = process.stdout.readline()
        if not line:
            raise SystemExit(f"{name} did not start: what it said stands above")
        yield Box(name, json.loads(line), process.pid, time.monotonic() - begun)
    finally:
        process.communicate(timeout=START_S)


def say(text: str) -> None:
    """A line for who waits."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def do(*words: str | Path) -> None:
    """A verb of Bakeoff; ends the whole when it fails, but for a contender that failed, which the paper tells."""
    texts = [str(word) for word in words]
    say(" ".join(("$ bakeoff", *texts)))
    if (code := subprocess.run([BAKEOFF, *texts], cwd=WORK if WORK.exists() else ROOT, check=False).returncode) not in (
        0,
        4,
    ):
        raise SystemExit(f"bakeoff {texts[0]} ended with {code}")


def author(boxes: list[Box]) -> None:
    """The author's words, with the times that starting took."""
    text = (EXAMPLES / "paper.toml.in").read_text()
    for box in boxes:
        text = text.replace(f"@start {box.name}@", f"{box.start_s:.1f} s")
    (WORK / "paper.toml").write_text(text)


def first_page(paper: Path, picture: Path) -> None:
    """The first page of the PDF as a picture."""
    page = pypdfium2.PdfDocument(paper)[0]
    page.render(scale=PAGE_SCALE).to_pil().save(picture, optimize=True)


def again(to: Path) -> None:
    """Print the paper as this version does, from the trials that its page holds and the author's file beside it."""
    page = to / "paper.html"
    here = content_of("html", page.read_bytes())
    embedded = checked(read_embedded(here.inside.rows, str(page)), str(page))
    for ending in ("html", "pdf"):
        own = {"paper": paper_tables(to / "paper.toml"), "extent": extent_of(ending, short=False, full=False)}
        options = (here.options or ReportOptions()).model_copy(update=own)
        made, _ = compose_embedded(embedded, options, repacked(embedded, here.inside.rows))
        chosen = renderer(ending)
        chosen.prepare()
        (to / f"paper.{ending}").write_bytes(chosen.render(made, "paper"))
        do("verify", to / f"paper.{ending}")
    first_page(to / "paper.pdf", to / "paper.png")


def main(to: Path, blocks: int) -> None:
    """Measure so many blocks, disclose, print, verify."""
    begun = time.monotonic()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(mode=0o755)
    users, corpus = WORK / "users.csv", WORK / "corpus"
    write_accounts(users, new_accounts(ACCOUNTS, "bakeoff.test"))
    do("corpus", "web-static", corpus)
    with contextlib.ExitStack() as stack:
        boxes = [stack.enter_context(started(name, corpus, users)) for name in BOXES]
        plan = CAMPAIGN.replace(HEAD, f"{HEAD}\nblocks = {blocks}")
        (WORK / "boxes.toml").write_text("\n".join((plan, *(box.table() for box in boxes))))
        author(boxes)
        do("run", "boxes.toml", "-o", "boxes.bakeoff")
        do("disclose", "paper.toml", "--trust", "-o", "disclosure.toml")
    to.mkdir(exist_ok=True)
    for ending in ("html", "pdf"):
        report = to / f"paper.{ending}"
        do("report", "boxes.bakeoff", "--paper", "paper.toml", "-o", report, "--force")
        do("verify", report, "boxes.bakeoff")
    first_page(to / "paper.pdf", to / "paper.png")
    for name in ("boxes.toml", "paper.toml", "disclosure.toml"):
        shutil.copy(WORK / name, to / name)
    say(f"{to}/paper.pdf and paper.html, in {(time.monotonic() - begun) / 60:.0f} minutes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=EXAMPLES, help="folder of the paper")
    parser.add_argument("--blocks", type=int, default=8, help="fewer are for trying: they give no verdict")
    parser.add_argument("--again", action="store_true", help="print again what the paper there holds; measure nothing")
    chosen = parser.parse_args()
    if chosen.again:
        again(chosen.to.resolve())
    else:
        main(chosen.to.resolve(), chosen.blocks)
