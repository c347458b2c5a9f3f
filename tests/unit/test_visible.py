"""Text from outside cannot steer a terminal."""

import json
import tomllib
import unicodedata

from rich.control import Control
from rich.text import Text

from bakeoff.cli.console import SanitizingConsole
from bakeoff.core.sanitize import sanitize
from bakeoff.plan.input.toml import _value
from bakeoff.report.blocks.fit import ConsoleTable, fitted

BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
STEERING = "".join(
    chr(code)
    for code in (*range(0x3000), *range(0xD800, 0xE000), 0xFEFF, *range(0xE0000, 0xE0080))
    if unicodedata.category(chr(code)) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(chr(code)) in BIDI
)


def test_every_control_character_is_written_out_and_nothing_else_is_touched() -> None:
    shown = sanitize(STEERING.replace("\n", "").replace("\t", ""))
    assert all(unicodedata.category(c) not in ("Cc", "Cs", "Cf", "Zl", "Zp") for c in shown)
    assert shown.startswith("␀␁␂") and "␛" in shown and "\\u202e" in shown and "\\udcff" in shown
    plain = "Größe 5 µs – 3×, 日本, é, a\tb\nc\r\n"
    assert sanitize(plain) == plain and sanitize("a\rb") == "a␍b"


def test_json_and_toml_still_mean_the_same() -> None:
    for text in STEERING:
        if not 0xD800 <= ord(text) < 0xE000:
            assert json.loads(sanitize(json.dumps(text, ensure_ascii=False))) == text
            assert tomllib.loads(f"a = {sanitize(_value(text))}")["a"] == text


def test_a_console_draws_its_own_and_shows_those_of_others() -> None:
    console_table = ConsoleTable("title \x1b[7m")
    console_table.column("head \x1b[31m", numeric=False)
    console_table.row(Text("cell \x1b[2J \u202e", style="bold"))
    console = SanitizingConsole(force_terminal=True, width=60, color_system="truecolor", highlight=False)
    with console.capture() as captured:
        console.print(fitted(console_table, console))
        console.print("plain \x1b]0;title\x07", markup=False)
        console.control(Control.home())
    text = captured.get()
    assert "\x1b[1m" in text, "its own style"
    assert "\x1b[H" in text, "its own control"
    for code in ("\x1b[31m", "\x1b[2J", "\x1b]0", "\x1b[7m", "\u202e", "\x07"):
        assert code not in text
    assert "␛[31m" in text and "␛[2J" in text and "␛]0;title" in text
