"""What planning by a pilot assumes, in words."""

import pytest

from bakeoff.compare.planning.power import Assumption, OtherSetting
from bakeoff.report.narrate.sentences import sentence

SETTINGS = (OtherSetting("length_s", 1.8, 30.0), OtherSetting("sizes", ["x"] * 30, [1, 2]), OtherSetting(""))
TEXTS = {
    Assumption("alone", ("x", "y"), ("a",)): "a stands for both of a pair, ",
    Assumption("other_pair", ("x", "y"), ("a", "b")): "x and y vary against each other as a and b did",
    Assumption("widest_pair", ("a", "b", "c"), ("a", "b")): "all pairs vary as a and b, ",
    Assumption("other_work", ("web-static",), ("app",)): "web-static varies as app did, ",
    Assumption("lost", number=1): "1 trial of the pilot was forfeited, ",
    Assumption("lost", number=2): "2 trials of the pilot were forfeited, ",
    Assumption("few_blocks", number=4): "the spread of 4 blocks is ",
}


@pytest.mark.parametrize("one", TEXTS, ids=lambda one: one.kind)
def test_each_assumption_names_who_stands_for_whom(one: Assumption) -> None:
    assert sentence(one).startswith(TEXTS[one])


def test_settings_are_listed_shortened_and_counted() -> None:
    texts = sentence(Assumption("other_settings", number=2, settings=SETTINGS))
    assert texts.partition("differ: ")[2].split("; ") == [
        "length_s 1.8, here 30.0", "sizes x, x, x, x, x, x, x, x, x, x, x, x, x …, here 1, 2",
        "settings of single contenders", "and 2 more",
    ]  # fmt: skip
