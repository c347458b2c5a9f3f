"""The web suites against nginx, Apache and lighttpd, as a user would run them."""

import contextlib
import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.control import PATIENCE_S, went_well
from tests.forks import COMMAND
from tests.servers.conftest import Server

StartServer = Callable[..., Server]
FAST = ["--clients", "1,4", "--operations", "300", "--blocks", "2"]


def bakeoff(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Runs the command line and checks its exit code."""
    command = [*COMMAND, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def trials_of(run_file: Path) -> list[dict[str, Any]]:
    """The trials as programs get them."""
    trials: list[dict[str, Any]] = json.loads(bakeoff("show", str(run_file), "--json").stdout)["trials"]
    return trials


@pytest.fixture(scope="session")
def dynamic_root(public_folder: Callable[[str], Path]) -> Path:
    """A web-dynamic corpus that every server can read and run."""
    root = public_folder("web-dynamic")
    bakeoff("corpus", "web-dynamic", str(root))
    root.chmod(0o755)
    return root


@pytest.fixture(scope="session")
def servers(start_server: StartServer, dynamic_root: Path) -> dict[str, Server]:
    """The three servers with the same corpus."""
    return {kind: start_server(kind, dynamic_root) for kind in ("nginx", "apache", "lighttpd")}


def test_the_dynamic_suite_runs_on_three_real_servers(servers: dict[str, Server], tmp_path: Path) -> None:
    run_file = tmp_path / "run.bakeoff"
    contenders = [f"{name}={server.url}" for name, server in servers.items()]
    done = bakeoff("run", "web-dynamic", *contenders, *FAST, "-o", str(run_file))
    assert "requests/s" in done.stdout
    trials = trials_of(run_file)
    assert len(trials) == 3 * 2 * 2
    for trial in trials:
        assert went_well(trial["state"], trial["reason"]), trial["reason"]
        assert trial["errors"] == {}
        assert trial["operations"] > 0
        names = set(trial["per_operation"])
        assert "dynamic" in names
        assert any(name.startswith("static/") for name in names)
    report = tmp_path / "report.html"
    bakeoff("report", str(run_file), "-o", str(report))
    assert report.stat().st_size < 1_500_000


def test_the_static_suite_runs_on_two_real_servers(
    start_server: StartServer, public_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    root = public_folder("web-static")
    bakeoff("corpus", "web-static", str(root))
    root.chmod(0o755)
    contenders = [f"{kind}={start_server(kind, root).url}" for kind in ("nginx", "apache")]
    run_file = tmp_path / "run.bakeoff"
    bakeoff("run", "web-static", *contenders, *FAST, "-o", str(run_file))
    trials = trials_of(run_file)
    assert [(went_well(trial["state"], trial["reason"]), trial["errors"]) for trial in trials] == [(True, {})] * 8
    assert all("404" in trial["per_operation"] for trial in trials)


@pytest.mark.parametrize("kind", ["nginx", "apache", "lighttpd"])
@pytest.mark.parametrize("flags", [["--keep-alive", "--http", "1.1"], ["--close", "--http", "1.0"]])
def test_every_server_serves_every_connection_mode(
    servers: dict[str, Server], kind: str, flags: list[str], tmp_path: Path
) -> None:
    run_file = tmp_path / "run.bakeoff"
    bounded = ["--clients", "4", "--operations", "400", "--blocks", "1", "--dynamic-share", "0%"]
    bakeoff("run", "web-dynamic", f"one={servers[kind].url}", *bounded, *flags, "-o", str(run_file))
    (trial,) = trials_of(run_file)
    assert (trial["operations"], trial["errors"]) == (400, {})


def test_requests_in_the_access_log_equal_those_reported(
    start_server: StartServer, dynamic_root: Path, tmp_path: Path
) -> None:
    """A count kept by the other side. The checks before timing are lines, too, the same number in each run."""
    server = start_server("nginx-log", dynamic_root)
    log = server.folder / "access.log"
    lines = []
    for operations in (500, 1700):
        run_file = tmp_path / f"{operations}.bakeoff"
        before = len(log.read_text().splitlines())
        bounded = ["--clients", "3", "--operations", str(operations), "--blocks", "1", "--length", "10m"]
        bakeoff("run", "web-dynamic", f"one={server.url}", *bounded, "-o", str(run_file))
        (trial,) = trials_of(run_file)
        assert trial["operations"] == operations
        # The last line is that of the check after the run, which may be written when its answer has gone: the worker
        # writes it before that of whoever asks next.
        mark = f"/after-{operations}"
        with contextlib.suppress(urllib.error.HTTPError):  # there is no such page
            urllib.request.urlopen(f"{server.url}{mark}").close()
        until = time.monotonic() + PATIENCE_S
        while mark not in log.read_text() and time.monotonic() < until:
            time.sleep(0.01)
        lines.append(len(log.read_text().splitlines()) - before)
    assert lines[1] - lines[0] == 1700 - 500
    assert lines[0] - 500 < 200


@pytest.mark.parametrize("kind", ["nginx", "apache"])
def test_tls_full_handshakes_resumption_and_keep_alive(
    start_server: StartServer, dynamic_root: Path, kind: str, tmp_path: Path
) -> None:
    server = start_server(kind, dynamic_root, "https")
    trusted = ["--ca-file", str(server.folder / "cert.pem")]
    bounded = ["--clients", "2", "--operations", "60", "--blocks", "1", "--dynamic-share", "0%"]
    for name, flags, opened in [
        ("full", ["--close", "--full-handshake"], 60),
        ("resumed", ["--close", "--resumption"], 60),
        ("kept", ["--keep-alive", "--http", "1.1"], 2),
    ]:
        run_file = tmp_path / f"{name}.bakeoff"
        command = ["run", "web-dynamic", f"one={server.url}", *trusted, *bounded, *flags]
        bakeoff(*command, "-o", str(run_file))
        (trial,) = trials_of(run_file)
        assert (trial["operations"], trial["errors"]) == (60, {}), name
        connections = trial["connections"]
        assert connections["opened"] == opened
        if name == "full":
            assert connections["tls_full"] == 60
        if name == "resumed":
            assert connections["tls_resumed"] >= 56
    done = bakeoff("run", "web-dynamic", f"one={server.url}", *bounded, code=2)
    assert "certificate" in done.stderr.lower()


@pytest.mark.parametrize("kind", ["nginx-http2", "apache-http2"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_http_2_with_streams_on_real_servers(
    start_server: StartServer, dynamic_root: Path, kind: str, scheme: str, tmp_path: Path
) -> None:
    """Every request is answered right, though nginx ends each connection after 100 and puts back what is on its way;
    its log has as many lines.
    """
    server = start_server(kind, dynamic_root, scheme)
    trusted = ["--ca-file", str(server.folder / "cert.pem")] if scheme == "https" else []
    log = server.folder / "access.log"
    lines = []
    for operations in (300, 1500):
        run_file = tmp_path / f"{operations}.bakeoff"
        before = len(log.read_text().splitlines()) if log.exists() else 0
        bounded = ["--clients", "2", "--operations", str(operations), "--blocks", "1", "--dynamic-share", "0%"]
        flags = ["--http", "2", "--streams", "8", *trusted]
        bakeoff("run", "web-dynamic", f"one={server.url}", *bounded, *flags, "-o", str(run_file))
        (trial,) = trials_of(run_file)
        assert (trial["operations"], trial["errors"]) == (operations, {})
        lines.append(len(log.read_text().splitlines()) - before if log.exists() else operations)
        if kind == "nginx-http2":
            assert trial["connections"]["opened"] >= operations / 100
    assert lines[1] - lines[0] == 1500 - 300


def test_a_server_without_http_2_is_refused_before_timing(
    start_server: StartServer, servers: dict[str, Server], dynamic_root: Path
) -> None:
    plain = bakeoff("run", "web-dynamic", f"one={servers['nginx'].url}", "--http", "2", code=2)
    assert "does not speak HTTP/2" in plain.stderr and "--http 2" in plain.stderr
    server = start_server("nginx", dynamic_root, "https")
    trusted = ["--ca-file", str(server.folder / "cert.pem")]
    secured = bakeoff("run", "web-dynamic", f"one={server.url}", "--http", "2", *trusted, code=2)
    assert "does not offer HTTP/2 (ALPN h2)" in secured.stderr


def test_a_contender_with_other_bytes_is_refused_before_timing(
    servers: dict[str, Server], start_server: StartServer, public_folder: Callable[[str], Path]
) -> None:
    other = public_folder("other-seed")
    bakeoff("corpus", "web-dynamic", str(other), "--seed", "2")
    other.chmod(0o755)
    server = start_server("nginx", other)
    contenders = [f"one={servers['nginx'].url}", f"two={server.url}"]
    done = bakeoff("run", "web-dynamic", *contenders, *FAST, code=2)
    assert "two" in done.stderr
    assert "Traceback" not in done.stderr


def test_web_url_takes_any_status_that_is_expected(servers: dict[str, Server], tmp_path: Path) -> None:
    run_file = tmp_path / "run.bakeoff"
    missing = f"{servers['nginx'].url}/there-is-no-such-page"
    bounded = ["--clients", "1", "--operations", "50", "--blocks", "1"]
    refused = bakeoff("run", "web-url", f"one={missing}", *bounded, "-o", str(run_file), code=2)
    assert "status 404" in refused.stderr and not run_file.exists()
    bakeoff("run", "web-url", f"one={missing}", *bounded, "--expect", "404", "-o", str(run_file))
    (trial,) = trials_of(run_file)
    assert trial["operations"] == 50
    assert trial["statuses"] == {"4xx": 50}


@pytest.mark.parametrize("connections", ["--keep-alive", "--close"])
def test_heads_of_a_large_file_are_headers_only(
    servers: dict[str, Server], dynamic_root: Path, connections: str, tmp_path: Path
) -> None:
    """nginx states the length of the file and sends none of it: a client that waited for it would wait for ever."""
    largest = max((path for path in dynamic_root.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    assert largest.stat().st_size > 20_000
    run_file = tmp_path / "run.bakeoff"
    page = f"{servers['nginx'].url}/{largest.relative_to(dynamic_root)}"
    bounded = ["--clients", "2", "--operations", "60", "--blocks", "1", "--method", "HEAD", connections]
    bakeoff("run", "web-url", f"one={page}", *bounded, "-o", str(run_file))
    (trial,) = trials_of(run_file)
    assert (trial["operations"], trial["errors"], trial["statuses"]) == (60, {}, {"2xx": 60})
    assert trial["bytes_in"] < 60 * 1_000


def test_a_server_that_is_killed_in_the_middle_fails_its_trials_and_the_run_goes_on(
    start_server: StartServer, servers: dict[str, Server], dynamic_root: Path, tmp_path: Path
) -> None:
    dying = start_server("nginx", dynamic_root)
    run_file = tmp_path / "run.bakeoff"
    contenders = [f"dying={dying.url}", f"alive={servers['apache'].url}"]
    command = [*COMMAND, "run", "web-dynamic", *contenders, *FAST, "-o", str(run_file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("[1/"):
            dying.process.terminate()
            break
    process.communicate(timeout=PATIENCE_S)
    trials = trials_of(run_file)
    assert "failed" in [trial["state"] for trial in trials if trial["contender"] == "dying"]
    alive = [went_well(trial["state"], trial["reason"]) for trial in trials if trial["contender"] == "alive"]
    assert alive == [True] * 4
