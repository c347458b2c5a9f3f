import pytest
from pydantic import BaseModel, ValidationError

from bakeoff.plan.rules.soak_stop_rules import StopRule, StopRules, parse_rule


class Plan(BaseModel):
    rules: StopRules


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("errors>1%", StopRule("errors>1%", "errors", 0.01, 1)),
        (" p99 >  2s  for 3 ", StopRule("p99 > 2s for 3", "p99", 2e9, 3)),
        ("max>500ms for 1 interval", StopRule("max>500ms for 1 interval", "max", 5e8, 1)),
        ("rate<1000/s for 2 intervals", StopRule("rate<1000/s for 2 intervals", "rate", 1000.0, 2)),
    ],
)
def test_rules_as_people_write_them(text: str, rule: StopRule) -> None:
    assert parse_rule(text) == rule and parse_rule(rule.text) == rule


def test_a_rate_may_be_too_low_and_all_else_too_high() -> None:
    rate, errors = parse_rule("rate<100"), parse_rule("errors>1%")
    assert rate.is_broken(99.9) and not rate.is_broken(100.0)
    assert errors.is_broken(0.011) and not errors.is_broken(0.01)


@pytest.mark.parametrize(
    "text",
    [
        "", ">", "errors", "errors>", "errors>1", "errors<1%", "p99<1s", "rate>5", "p98>1s", "p99>2", "p99>2s for 0",
        "p99>2s for 5000", "p99>2s for x", "p99>2s or p50>1s", "errors>101%", "rate<-1", "x" * 500, "errors>1%\0",
    ],
)  # fmt: skip
def test_what_is_no_rule_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_rule(text)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_a_plan_takes_a_text_or_a_list_and_stores_texts() -> None:
    assert Plan(rules="errors>1%, p99>2s for 3").rules == ("errors>1%", "p99>2s for 3")  # type: ignore[arg-type]
    stored = Plan(rules=["rate<5"]).model_dump(mode="json")  # type: ignore[arg-type]
    assert Plan.model_validate(stored).rules == ("rate<5",)
    for wrong in (5, [5], "errors", ["errors>1%"] * 21):
        with pytest.raises(ValidationError):
            Plan(rules=wrong)  # type: ignore[arg-type]
