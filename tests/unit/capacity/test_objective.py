import random
import string

import pytest

from bakeoff.load.capacity.objective import Condition, Objective, parse_objective


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("p99<=50ms,errors<=0.1%", "p99<=50ms,errors<=0.1%"),
        (" P99.9 ≤ 1.5s , mean<=200us,errors<=0 ", "p99.9<=1.5s,mean<=200us,errors<=0%"),
        ("max<=1s", "max<=1s"),
        ("p50<=1ms,p90<=2ms,p95<=3ms,p99<=4ms", "p50<=1ms,p90<=2ms,p95<=3ms,p99<=4ms"),
        ("achieved>=99%", "achieved>=99%"),
        ("errors<=0.001", "errors<=0.1%"),
    ],
)
def test_what_is_said_is_what_is_meant_and_can_be_read_again(text: str, said: str) -> None:
    objective = parse_objective(text)
    assert str(objective) == said and parse_objective(said) == objective


def test_a_term_knows_what_it_lets_go() -> None:
    objective = parse_objective("p99<=50ms,errors<=0.1%,achieved>=99.5%,mean<=10ms")
    assert [t.allowed for t in objective.terms] == [pytest.approx(0.01), 0.001, pytest.approx(0.005), None]
    assert objective.strictest == 0.001 and objective.longest_s == 0.05
    assert objective.needs_rate == Condition("achieved", 0.995)
    assert parse_objective("max<=1s").strictest == 0.0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "an objective needs a term: write it like p99<=50ms,errors<=0.1%"),
        ("p99<=50ms,", "an empty term between commas"),
        ("p99", "'p99' is not a term"),
        ("p99=50ms", "'p99=50ms': p99 is bounded by <=: write p99<=50ms"),
        ("p99>=50ms", "p99 is bounded by <="),
        ("p99<50", "'p99<50': p99 is bounded by <=, and a time has a unit: write p99<=50ms"),
        ("p99<50ms", "write p99<=50ms"),
        ("p99<=50", "'p99<=50': '50' is not a duration: write it with its unit"),
        ("p99<=fast", "'fast' is not a duration"),
        ("p99<=0", "no answer takes no time"),
        ("p0<=1s", "a percentile lies above 0"),
        ("p100<=1s", "p100 cannot be bounded: there are p50, p90"),
        ("speed<=1s", "speed cannot be bounded"),
        ("<=1s", "nothing cannot be bounded"),
        ("errors<=2", "'2' is not a share"),
        ("errors<=100%", "lets everything fail"),
        ("errors>=1%", "errors is bounded by <="),
        ("achieved<=99%", "achieved is bounded by >=: write achieved>=99%"),
        ("achieved>=0%", "is met by a server that answers nothing"),
        ("mean<=5ms", "says nothing of operations that fail, for a mean is of the others: add errors<=0.1%"),
        ("p99<=1s,p99<=2s", "p99 is bounded twice"),
        ("p99<=1s,p99.0<=2s", "p99 is bounded twice"),
        (",".join(f"p{n}<=1s" for n in range(10, 30)), "20 terms are too many"),
        ("p99<=50ms" * 100, "is too long"),
    ],
)
def test_what_is_no_objective_is_refused_by_one_sentence_with_the_term(text: str, why: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_objective(text)
    assert why in str(caught.value) and "\n" not in str(caught.value)


def test_any_text_is_an_objective_or_refused() -> None:
    rng = random.Random(1)
    pieces = ["p99", "p", "max", "mean", "errors", "achieved", "<=", ">=", "<", "50ms", "1e9s", "9" * 50, "%", ",", " "]
    for _ in range(3000):
        chosen = (rng.choice(pieces) if rng.random() < 0.8 else rng.choice(string.printable) for _ in range(7))
        text = "".join(chosen)
        try:
            objective = parse_objective(text)
        except ValueError as error:
            assert len(str(error)) < 1000
        else:
            assert isinstance(objective, Objective) and str(parse_objective(str(objective))) == str(objective)
