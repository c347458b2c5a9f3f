import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bakeoff.cli.app import app
from bakeoff.cli.machines.serve import base
from bakeoff.core.errors import PlanError


@pytest.fixture
def specs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], str]]:
    seen: list[tuple[dict[str, Any], str]] = []
    monkeypatch.setattr(base, "serve_until_stopped", lambda spec, scheme, what, counts: seen.append((spec, scheme)))
    return seen


def invoke(*words: str) -> None:
    outcome = CliRunner().invoke(app, ["serve", *words])
    if outcome.exception is not None:
        raise outcome.exception


def test_every_fault_reaches_the_target(specs: list[tuple[dict[str, Any], str]], tmp_path: Path) -> None:
    invoke(
        "web",
        "--root",
        str(tmp_path),
        "--host",
        "::1",
        "--port",
        "0",
        "--threads",
        "2",
        "--pin",
        "0,1",
        "--close",
        "--requests-per-connection",
        "3",
        "--chunked",
        "--tls-certificate",
        "ca.pem",
        "--delay",
        "5ms",
        "--stall",
        "200ms/1s",
        "--refuse",
        "1/10",
        "--limit",
        "1000/s",
        "--status",
        "503/7",
        "--truncate",
        "4",
        "--corrupt",
        "5",
        "--close-after",
        "1kB",
        "--cut-with-reset",
        "--unanswered",
        "30",
        "--bad-chunk",
        "6",
        "--unsolicited",
        "8",
        "--leave-open",
        "--idle-timeout",
        "2s",
    )
    assert specs == [
        (
            {
                "kind": "web",
                "host": "::1",
                "port": 0,
                "unix": None,
                "threads": 2,
                "pin": [0, 1],
                "root": str(tmp_path),
                "page_bytes": 1024,
                "keep_alive": False,
                "requests_per_connection": 3,
                "chunked": True,
                "tls": {"certificate_file": "ca.pem"},
                "delay_s": 0.005,
                "stall": {"for_s": 0.2, "every_s": 1.0},
                "refuse": {"count": 1, "of": 10},
                "limit_per_s": 1000.0,
                "status": {"code": 503, "every": 7},
                "truncate_every": 4,
                "corrupt_every": 5,
                "close_after_bytes": 1000,
                "unanswered_every": 30,
                "bad_chunk_every": 6,
                "unsolicited_every": 8,
                "leave_open": True,
                "cut_with_reset": True,
                "idle_timeout_s": 2.0,
            },
            "https",
        )
    ]
    json.dumps(specs[0][0])


def test_by_default_it_behaves(specs: list[tuple[dict[str, Any], str]]) -> None:
    invoke("web")
    spec, scheme = specs[0]
    assert scheme == "http" and spec["root"] is None and spec["tls"] is None and spec["keep_alive"]
    assert not any(
        spec[key] for key in ("delay_s", "stall", "refuse", "limit_per_s", "status", "truncate_every", "corrupt_every")
    )
    invoke("null", "--close", "--page", "64")
    assert specs[1][0]["kind"] == "null" and specs[1][0]["close"] and specs[1][0]["page_bytes"] == 64


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--root", "/nonexistent"], "is not a folder: make one with `bakeoff corpus"),
        (["--delay", "5"], "--delay: '5' is not a duration"),
        (["--stall", "1s"], "write it like 200ms/1s"),
        (["--stall", "2s/1s"], "the first time must be shorter"),
        (["--refuse", "11/10"], "write it like 1/10"),
        (["--status", "999"], "write it like 503 or 503/10"),
        (["--limit", "many"], "such as 1000/s"),
    ],
)
def test_wrong_values(specs: list[tuple[dict[str, Any], str]], words: list[str], message: str) -> None:
    with pytest.raises(PlanError) as caught:
        invoke("web", *words)
    assert message in str(caught.value) and specs == []
