"""What the tests of cells share: one stage and one runner for each file of them."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.faults.run import Runner
from tests.faults.scenes import Stage
from tests.patient import be_patient


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """In this process no trial is voided because of the machine."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        be_patient(patch.setattr)
        yield Runner(Stage(Path(folder)))
