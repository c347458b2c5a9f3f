"""What the table of audits says of each."""

import pytest

from bakeoff.compare.model.comparison import Audit
from bakeoff.compare.validity.audit_model import LittleRule
from bakeoff.report.sections.validity.audits import _result


@pytest.mark.parametrize(("worst", "said"), [(0.01, "holds"), (0.1, "holds"), (0.4, "too short to judge")])
def test_a_law_that_edges_let_off_more_than_a_verdict_does_is_not_said_to_hold(worst: float, said: str) -> None:
    """Seen: "holds" in the table, beside a verdict withheld because the law is off by more than 10 %."""
    audit = Audit("Little's law", LittleRule(0.02, "longest", False), 48, 0, worst, ())
    assert _result(audit) == said
