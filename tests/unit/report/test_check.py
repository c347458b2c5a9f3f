"""The forms of a check, and what text from servers may do in them: nothing."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from bakeoff.compare.limits.check import check_run
from bakeoff.compare.limits.check_model import Check, Void
from bakeoff.compare.model.comparison import Comparison
from bakeoff.compare.model.gate import StoredWords
from bakeoff.compare.model.pair import Gate
from bakeoff.report import check as forms
from bakeoff.store.records.run_records import RunRecord
from tests.unit.compare.synthetic import Server, change, run

NASTY = "gone\n::error::x\r\n##[set-env name=A]b\x1b[31m <b>&\"' \ufffe @someone ]]>"


def checked(*rates: float, load_steps: tuple[int, ...] = (1, 8)) -> tuple[Check, RunRecord, Comparison]:
    """Contenders at these shares of the first one's rate, one of which is called like an attack."""
    servers = [Server(f"b{at}" if at else "main", 40_000.0 * rate, 0.1 / rate, 0.01) for at, rate in enumerate(rates)]
    record = run(tuple(servers), load_steps=load_steps)
    found, comparison = check_run(record, 0.03)
    return found, record, comparison


def nasty() -> Check:
    """A check whose sentences hold what must be defused."""
    found = checked(1.0, 1.0)[0]
    gate = Gate("errors", "red", "b1", StoredWords(NASTY))
    return replace(found, checked=(replace(found.checked[0], outcome="void", why=Void((gate,))),), notes=(gate,))


def test_lines_begin_with_the_outcome_and_are_one_line_each() -> None:
    observed = forms.lines(nasty())
    assert [line.split(":")[0] for line in observed] == ["void", "note"]
    assert not any(re.search("[\r\n\x1b]|##\\[|^::", line) for line in observed)


def test_annotations_are_escaped() -> None:
    observed = forms.github(nasty())
    assert [line.split("::")[1].split()[0] for line in observed] == ["error", "warning"]
    assert not any(re.search("[\r\n\x1b]|##\\[", line) for line in observed)
    found = checked(1.0, 1.0)[0]
    assert "95.5 %25 interval" in forms.github(found)[0]
    assert forms.github(found)[0].startswith("::notice title=Check passed::")


def test_junit_counts_and_is_xml_whatever_a_server_said() -> None:
    found = checked(1.0, 1.1, 0.8, 0.975)[0]
    top = ElementTree.fromstring(forms.junit(found))
    assert (top.get("tests"), top.get("failures"), top.get("errors")) == ("3", "1", "1")
    cases = {case.get("name", "").split()[0]: [child.tag for child in case] for case in top.iter("testcase")}
    assert cases == {"b1": ["system-out"], "b2": ["failure"], "b3": ["error"]}
    (suite,) = top.iter("testsuite")
    assert float(suite.get("time", "")) == pytest.approx(sum(found.measured_s.values()), abs=1e-3)
    assert [float(case.get("time", "")) > 0.0 for case in suite.iter("testcase")] == [True, True, True]
    assert found.created_at.startswith(suite.get("timestamp", "?"))
    void = ElementTree.fromstring(forms.junit(nasty()))
    assert [error.get("type") for error in void.iter("error")] == ["void"]


def test_the_comment_says_the_outcome_first_and_defuses_text() -> None:
    found, record, comparison = checked(1.0, 0.8)
    text = forms.comment(found, record, comparison).decode()
    assert text.index("Worse than allowed") < text.index("What was checked") < text.index("### Result\n")
    assert "![" not in text
    assert "| b1 |" in text
    found = nasty()
    text = forms.comment(found, record, comparison).decode()
    assert "<b>" not in text and "@someone" not in text


@pytest.mark.parametrize("endpoints", [1, 5_000])
def test_the_comment_fits_however_much_was_checked(endpoints: int) -> None:
    found, record, comparison = checked(1.0, 0.8)
    found = replace(found, checked=tuple(replace(found.checked[0], title=f"{at}") for at in range(endpoints)))
    text = forms.comment(found, record, comparison)
    assert b"Worse than allowed" in text
    assert len(text) <= forms.MOST_CHARACTERS


def test_a_failed_trial_is_an_error_of_junit() -> None:
    record = change(run((Server("main", 4e4, 0.1), Server("b", 4e4, 0.1))), "b", 4, (1,), state="failed", reason=NASTY)
    found = check_run(record, 0.03)[0]
    assert ElementTree.fromstring(forms.junit(found)).get("errors") == "1"
