"""One server by two names is said, unless it is meant."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.plan.design.shared_addresses import shared_addresses
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.run.driver import start_run
from bakeoff.store.sqlite.read import read_run
from tests.unit.compare.synthetic import run
from tests.unit.run.fake import FakeAgent, Notebook, plan_for, two_contenders


def of(*addresses: str, **more: Any) -> list[dict[str, Any]]:
    return [{"name": name, "address": address, **more} for name, address in zip("abc", addresses, strict=False)]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://h", "http://h", True),
        ("http://H:80/", "http://h", True),
        ("https://h:443/a/", "https://h/a", True),
        ("/mnt/a/", "/mnt/a", True),
        ("http://h", "https://h", False),
        ("http://h/a", "http://h/A", False),
        ("http://h:80", "http://h:8080", False),
        ("http://h/?a", "http://h/?b", False),
        ("/mnt/a", "/mnt/b", False),
        ("http://[", "http://[", True),
        ("", "", False),
    ],
)
def test_an_address_is_the_same_however_it_is_written(one: str, other: str, same: bool) -> None:
    assert bool(shared_addresses(of(one, other))) == same
    assert bool(shared_addresses(of(other, one, "smtp=h"))) == same


def test_what_makes_another_server_of_an_address_is_not_told() -> None:
    assert shared_addresses(of("http://h", "http://h", reset="switch raid")) == []
    reply_difference = of("http://h", "http://h")
    reply_difference[1]["settings"] = {"http": "2"}
    assert shared_addresses(reply_difference) == []
    again = of("http://h", "http://h")
    again[1]["name"] = "a-again"
    assert shared_addresses(again) == [], "an A/A run"
    assert shared_addresses([*again, *of("http://other")[:1]]), "of which a third one makes none"


def test_it_is_said_before_the_run_and_in_its_report(tmp_path: Path) -> None:
    with two_contenders() as (one, two):
        notebook = Notebook()
        start_run(
            plan_for(one.address, two.address, f"{one.address}/"), tmp_path / "r.bakeoff", [FakeAgent()], notebook
        )
    (text,) = [event.text for event in notebook.events if "one address" in event.text]
    assert text.startswith("a and c have one address (http://127.0.0.1:") and "bakeoff aa" in text
    (warning_texts,) = [
        w for w in warnings_of(compare_run(read_run(tmp_path / "r.bakeoff"))) if "one address" in w.text
    ]
    assert warning_texts.first and warning_texts.text.startswith("a and c have one address")


def test_a_plan_that_anybody_wrote_does_no_harm() -> None:
    record = run()
    for contenders in (None, "x", [1, {"name": ["a"], "address": {}}, {"address": "http://h"}]):
        compare_run(replace(record, plan={**record.plan, "contenders": contenders}))
