"""Data that a report holds is read again bounded, whatever calls itself a report."""

from __future__ import annotations

import base64
import difflib
import gzip
import io
import json
import random
import zlib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.compare import compare_run
from bakeoff.core.errors import BakeoffError, GeneratorError, PlanError
from bakeoff.report.compose import data_of_run
from bakeoff.report.embed import embedded_data
from bakeoff.report.embed.document_words import MOST_STEPS, ReportContent, content_of, differences
from bakeoff.report.embed.embedded_data import MOST_VALUES, data_of, parsed
from bakeoff.report.embed.packing import PACKED, script_of
from bakeoff.report.embed.report_options import KEY, ReportOptions, options_line, options_text
from tests.unit.compare.synthetic import run

MIB = 1 << 20


def page(**data: object) -> bytes:
    scripts = [(name, *script_of(value)) for name, value in data.items()]
    return "".join(
        f'<script type="{kind}" id="bakeoff-{name}">{text}</script>' for name, kind, text in scripts
    ).encode()


def pdf(stream: bytes, box: str = "0 0 100 100") -> bytes:
    """The least PDF with an attachment; `stream` is packed already."""
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [(data.json) 4 0 R] >> >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [%s] >>" % box.encode(),
        b"<< /Type /Filespec /F (data.json) /UF (data.json) /EF << /F 5 0 R >> >>",
        b"<< /Type /EmbeddedFile /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    out, places = io.BytesIO(b"%PDF-1.7\n"), []
    out.seek(0, io.SEEK_END)
    for number, part in enumerate(parts, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, part))
    begin = out.tell()
    out.write(b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % begin)
    return out.getvalue()


def zeros(mib: int) -> bytes:
    """So many MiB of nothing, packed."""
    packer = zlib.compressobj(9)
    return b"".join(packer.compress(bytes(MIB)) for _ in range(mib)) + packer.flush()


def test_what_was_written_is_read() -> None:
    record = run(blocks=2)
    data = json.loads(json.dumps(data_of_run(record, compare_run(record))))
    assert data_of("html", page(**data), "it") == data
    assert data_of("pdf", pdf(zlib.compress(json.dumps(data).encode())), "it") == data


@pytest.mark.parametrize("form", ["html", "pdf", "markdown", "terminal"])
def test_a_report_without_data_says_which_has_some(form: str) -> None:
    content = pdf(zlib.compress(b"{}")) if form == "pdf" else b"# A report"
    with pytest.raises(PlanError, match="has no data of Bakeoff in it"):
        data_of(form, content, "it")


def test_what_unpacks_to_more_than_any_report_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = base64.b64encode(gzip.compress(bytes(80 * MIB), 1)).decode()
    with pytest.raises(GeneratorError, match="larger than any report"):
        data_of("html", f'<script type="{PACKED}" id="bakeoff-plan">{bomb}</script>'.encode(), "it")
    with pytest.raises(PlanError, match="none that Bakeoff wrote"):
        data_of("pdf", pdf(zeros(80)), "it")
    monkeypatch.setattr(embedded_data, "MOST_BYTES", 10_000)
    many = page(**{f"n{number}": "x" * 9_000 for number in range(3)})
    with pytest.raises(PlanError, match="more than 10"):
        data_of("html", many, "it")


CUT_OFF = base64.b64encode(gzip.compress(b"{}", mtime=0)[:-4]).decode()


@pytest.mark.parametrize("packed", ["é", "=", "AAAA", "", CUT_OFF])
def test_what_is_not_packed_as_it_says_is_a_sentence(packed: str) -> None:
    with pytest.raises(GeneratorError, match=r"cannot be unpacked|cut off"):
        data_of("html", f'<script type="{PACKED}" id="bakeoff-plan">{packed}</script>'.encode(), "it")


def test_a_pdf_is_read_by_no_program_that_lies_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever gives a report may give files with it."""
    (tmp_path / "ctypes.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    assert data_of("pdf", pdf(zlib.compress(b'{"plan": {}}')), "it") == {"plan": {}}


def test_pages_larger_than_paper_are_not_drawn() -> None:
    with pytest.raises(PlanError, match="none that Bakeoff wrote"):
        content_of("pdf", pdf(zlib.compress(b"{}"), "0 0 14400 14400"))


def test_random_bytes_end_in_a_sentence() -> None:
    chance = random.Random(4)
    whole = {
        "html": page(plan={"a": [1, 2.5, "x"]}, comparison={"b": None}),
        "pdf": pdf(zlib.compress(b'{"plan": {}}')),
    }
    for form, count in (("html", 300), ("pdf", 6)):
        for _ in range(count):
            content = bytearray(whole[form])
            for _ in range(chance.randint(1, 6)):
                content[chance.randrange(len(content))] = chance.randrange(256)
            try:
                found = data_of(form, bytes(content[: chance.randint(1, len(content))]), "it")
            except BakeoffError as error:
                assert str(error)
            else:
                json.dumps(found, allow_nan=False).encode()


def test_a_file_without_end_is_not_read(tmp_path: Path) -> None:
    endless = tmp_path / "it.html"
    endless.symlink_to("/dev/zero")
    for words in (
        ("verify", endless, "x.bakeoff"),
        ("challenge", endless, "c=http://h/", "-o", tmp_path / "n.bakeoff"),
    ):
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert isinstance(done.exception, PlanError) and "more than" in str(done.exception)


@pytest.mark.parametrize("piece", ["[],", "0,", '{"a":0},'])
def test_millions_of_values_in_a_few_bytes_are_refused_before_they_are_read(piece: str) -> None:
    """64 kB that would take gigabytes of memory: of the data of a page, and of all of its words."""
    text = "[" + piece * (MOST_VALUES // (1 + piece.count("[") + piece.count("{")) + 1) + "0]"
    with pytest.raises(PlanError, match="more than 6,000,000 values"):
        parsed(text, "it")
    packed = base64.b64encode(gzip.compress(text.encode(), 1)).decode()
    page = f'<script type="{PACKED}" id="bakeoff-plan">{packed}</script>'.encode()
    for read in (lambda: data_of("html", page, "it"), lambda: content_of("html", page)):
        with pytest.raises(PlanError, match="more than 6,000,000 values"):
            read()


def test_texts_that_have_nothing_in_common_are_told_apart_at_once() -> None:
    one, other = (tuple(f"{side}{number}" for number in range(40_000)) for side in "ab")
    (found,) = differences(ReportContent(("same", *one, "end")), ReportContent(("same", *other, "end")))
    assert found.after == "same" and found.here.startswith("a0 ") and found.there.endswith(" b39999")
    assert not differences(ReportContent(one), ReportContent(one))
    (last,) = differences(ReportContent((*one, "x")), ReportContent((*one, "y")))
    assert (last.here, last.there) == ("x", "y")


def test_texts_made_to_take_hours_are_told_apart_in_bounded_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that meet again everywhere, one by one, each of which is in a hundred places."""
    looked, least = 0, difflib.SequenceMatcher.find_longest_match

    def counting(self: Any, alo: int, ahi: int, blo: int, bhi: int) -> difflib.Match:
        nonlocal looked
        looked += sum(len(self.b2j.get(word, ())) for word in self.a[alo:ahi])
        return least(self, alo, ahi, blo, bhi)

    monkeypatch.setattr(difflib.SequenceMatcher, "find_longest_match", counting)
    met = [f"x{number % 100}" for number in range(5_000)]
    one, other = ([word for at, each in enumerate(met) for word in (each, f"{own}{at}")] for own in "uv")
    found = differences(ReportContent(("b", *one, "e")), ReportContent(("c", *other, "f")))
    assert found and looked <= MOST_STEPS
    assert "b" in found[0].here and "e" in found[-1].here


def test_a_page_that_only_one_of_them_has_is_named() -> None:
    (found,) = differences(ReportContent(("same",), ("1", "2", "3")), ReportContent(("same",), ("1", "x")))
    assert found.here == "pages 2, 3"
    (found,) = differences(ReportContent(("same",), ("1",)), ReportContent(("same",), ("1", "2")))
    assert found.here == "pages 2"


@pytest.mark.parametrize("paper", [None, {"paper": {"summary": "long " * 4_000}}])
def test_a_line_of_text_holds_how_a_report_was_asked_for(paper: dict[str, object] | None) -> None:
    options = ReportOptions(delta=0.0, baseline="a--> b---", pairs=("a,b",), notes=(("2026-11-21", "x"),), paper=paper)
    line = options_line({KEY: options.model_dump()})
    assert "\n" not in line and "--" not in line and ">" not in line
    for last in (line, f"<!-- {line} -->"):
        assert ReportOptions.model_validate_json(options_text(f"a report\n\n{last}\n")) == options
    assert options_line({}) == "" == options_text("a report\nwithout one\n")


@pytest.mark.parametrize("part", ["<a ", "<a b='", "<!-- ", "<![if ", "<![x[", "<!", "<?", "</", "<script ", "&"])
def test_a_page_of_beginnings_is_read_once(part: str) -> None:
    """A parser that went to the end for each of them would not come back before the watchdog."""
    content = (part * (400_000 // len(part))).encode()
    with pytest.raises(PlanError, match="has no data of Bakeoff in it"):
        data_of("html", content, "it")
    assert content_of("html", content).words
