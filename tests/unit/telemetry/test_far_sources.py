"""Machines that are watched over a network: what they count is programmed, and so is what goes wrong."""

import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from bakeoff.telemetry import sampler, where
from bakeoff.telemetry.model import CONTENDER
from bakeoff.telemetry.readers import over_ssh
from bakeoff.telemetry.readers.exporter import MOST_BYTES, MOST_HEAD_BYTES, Exporter
from bakeoff.telemetry.readers.over_ssh import OverSsh, command, texts
from bakeoff.telemetry.readers.proc_text import link_speeds
from bakeoff.telemetry.reading import QuietSource, Reading, SampleError, Source
from bakeoff.telemetry.sampler import MOST_FAILURES, Sampler
from tests.control import PATIENCE_S
from tests.unit.telemetry.test_proc_text import NODE

# Of whoever never answers: nothing else may wait for so short a time.
SOON_S = 0.2


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is given up because this machine is busy."""
    for name in ("CONNECT_S", "ENDS_S"):
        monkeypatch.setattr(over_ssh, name, PATIENCE_S)
    monkeypatch.setattr(sampler, "PATIENCE_S", PATIENCE_S)


@contextmanager
def serving(*answers: bytes | None) -> Iterator[str]:
    """A server that gives these answers, one for each connection; None is to say nothing at all."""
    listener, held = socket.create_server(("127.0.0.1", 0)), list[socket.socket]()

    def serve() -> None:
        for answer in answers:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            held.append(peer)
            peer.recv(65_536)
            if answer is not None:
                peer.sendall(answer)
                peer.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/metrics"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for peer in held:
            peer.close()


def page(text: str, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(text.encode())}\r\nConnection: close\r\n\r\n{text}".encode()


def test_what_a_node_exporter_counts_is_what_is_told_and_bytes_are_counted() -> None:
    later = NODE.replace('mode="user"} 1\n', 'mode="user"} 3.5\n')
    with serving(page(NODE), page(later)) as url:
        source = Exporter(url)
        first, second = source.sample(PATIENCE_S), source.sample(PATIENCE_S)
    assert second.counters["cpu_user_s"] - first.counters["cpu_user_s"] == pytest.approx(2.5)
    assert source.traffic()[1] == len(page(NODE)) + len(page(later))
    source.close()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (page(NODE, "503 Busy"), "answers 503"),
        (page("", "302 Found\r\nLocation: http://192.0.2.1/"), "answers 302"),
        (b"\xff\x00" * 500, "does not answer"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + bytes(range(256)) * 40, "no processor times"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\nnode", "does not answer|no processor times"),
        (b"", "does not answer"),
        (None, "did not answer in time"),
    ],
)
def test_an_exporter_that_answers_wrongly_or_never_is_a_gap_with_its_reason(answer: bytes | None, why: str) -> None:
    with serving(answer) as url:
        source = Exporter(url)
        with pytest.raises(SampleError, match=why):
            source.sample(SOON_S if answer is None else PATIENCE_S)
        source.close()


def test_an_answer_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bakeoff.telemetry.readers.exporter.MOST_BYTES", 1_000)
    with serving(page("x" * 5_000)) as url, pytest.raises(SampleError, match="no end"):
        Exporter(url).sample(PATIENCE_S)


@contextmanager
def dripping(first: bytes, piece: bytes, pause_s: float) -> Iterator[str]:
    """A server that answers with `first`, then with `piece` without end until it is told to stop."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            peer, _ = listener.accept()
            with peer, suppress(OSError):
                peer.recv(4_096)
                peer.sendall(first)
                while not over.wait(pause_s):
                    peer.sendall(piece)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/metrics"
        finally:
            over.set()
            thread.join(PATIENCE_S)


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("first", "piece", "pause_s", "why"),
    [
        (CHUNKED, b"0", 0.01, "not answer in time|no end"),  # the size of a chunk, byte by byte
        (CHUNKED + b"5\r\nnode_\r\n", b"1", 0.01, "not answer in time|no end"),
        (b"HTTP/1.1 200 OK\r\n", b"X: 1\r\n", 0.01, "not answer"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 400, 0.0, "no end|not answer"),
    ],
)
def test_a_sample_ends_whatever_the_other_side_does(first: bytes, piece: bytes, pause_s: float, why: str) -> None:
    with dripping(first, piece, pause_s) as url:
        source, over = Exporter(url), threading.Event()

        def sample() -> None:
            with pytest.raises(SampleError, match=why):
                source.sample(SOON_S)
            over.set()

        threading.Thread(target=sample, daemon=True).start()
        assert over.wait(PATIENCE_S)
    assert source.traffic()[1] <= MOST_HEAD_BYTES + MOST_BYTES


def test_closing_waits_for_no_look() -> None:
    with dripping(CHUNKED, b"0", 0.01) as url:
        source, over = Exporter(url), threading.Event()

        def sample() -> None:
            with pytest.raises(SampleError):
                source.sample(10 * PATIENCE_S)
            over.set()

        threading.Thread(target=sample, daemon=True).start()
        while not source.traffic()[0]:
            time.sleep(0.001)
        source.close()
        assert over.wait(PATIENCE_S), "the sample that hung has ended with its socket"


def test_a_sample_that_hangs_is_charged_with_what_it_spends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread works on while its trial is over: what it took is told all the same."""

    class Busy(QuietSource):
        ends = False

        def sample(self, deadline_s: float) -> Reading:
            while not self.ends:
                pass
            return Reading()

    monkeypatch.setattr(sampler, "PATIENCE_S", SOON_S)
    source = Busy()
    sampling = Sampler(source, 1.0)
    while sampling._spent_s() < 0.2:
        time.sleep(0.01)
    seen = sampling.finish("contender", "a", "busy", 0.0, (0.0, 1.0))
    source.ends = True
    assert seen.cost.cpu_s >= 0.2 and seen.cost.samples == 0


SSH = """#!/bin/sh
printf '%s\\n' "$*" >> {log}
for last; do :; done
{what}
"""


def stub(folder: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An ssh that does `what`; the words that it was given are in the file."""
    log = folder / "words"
    (folder / "ssh").write_text(SSH.format(log=log, what=what))
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return log


def test_a_machine_is_read_through_one_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = stub(tmp_path, 'exec sh -c "$last"', monkeypatch)
    source = OverSsh(where.parse("ssh://me@there:2222"))
    first, second = source.sample(PATIENCE_S), source.sample(PATIENCE_S)
    source.close()
    assert first.facts["processors"] == os.cpu_count()
    assert second.counters["cpu_idle_s"] + second.counters["cpu_user_s"] >= first.counters["cpu_user_s"]
    assert second.remote_cpu_s is not None and second.remote_cpu_s >= (first.remote_cpu_s or 0.0)
    (words,) = log.read_text().splitlines()
    assert "BatchMode=yes" in words and "-p 2222 -l me -- there exec sh -c" in words
    assert "StrictHostKeyChecking=yes" in words, "who answers in its place tells no figures"
    sent, received = source.traffic()
    assert sent == 2 and received > 1_000


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ('echo "me@there: Permission denied (publickey,password)." >&2; exit 255', "Permission denied"),
        ("exit 1", "ssh ended"),
        (f"cat; exec sleep {PATIENCE_S}", "did not answer in time"),
        ("exec head -c 400000 /dev/urandom", "ssh ended"),
        ("read x; printf '==> /proc/stat <==\\n\\n==> bakeoff <==\\n'; cat", "only Linux"),
    ],
)
def test_an_ssh_that_fails_is_a_gap_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, why: str
) -> None:
    if "sleep" in what:
        for name in ("CONNECT_S", "ENDS_S"):
            monkeypatch.setattr(over_ssh, name, SOON_S)
    stub(tmp_path, what, monkeypatch)
    source = OverSsh(where.parse("ssh://me@there"))
    with pytest.raises(SampleError, match=why):
        source.sample(PATIENCE_S)
    source.close()


def test_without_ssh_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SampleError, match="openssh-client"):
        OverSsh(where.parse("ssh://there")).sample(PATIENCE_S)


def test_nothing_is_left_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub(tmp_path, 'echo $$ > "$0.pid"; exec sh -c "$last"', monkeypatch)
    source = OverSsh(where.parse("ssh://there"))
    source.sample(PATIENCE_S)
    pid = int((tmp_path / "ssh.pid").read_text())
    source.close()
    assert subprocess.run(["kill", "-0", str(pid)], capture_output=True).returncode != 0


def test_what_looking_took_there_is_that_of_all_logins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each login is a shell that has used 3 ticks at its first sample, and ends then."""
    shell = "7 (sh) S 1 1 1 0 -1 0 0 0 0 0 1 1 1 0 20 0 1 0 99 4096 5 0 0"
    files = f"==> /proc/stat <==\\ncpu 1 1 1 1 1 1 1 1\\n==> /proc/7/stat <==\\n{shell}\\n\\n==> bakeoff <==\\n"
    stub(tmp_path, f"read x; printf '{files}'", monkeypatch)
    source = OverSsh(where.parse("ssh://there"))
    assert source.sample(PATIENCE_S).remote_cpu_s == pytest.approx(0.03)
    source.close()
    assert source.sample(PATIENCE_S).remote_cpu_s == pytest.approx(0.06)
    source.close()


def speed_of(name: str) -> str:
    return f"/sys/class/net/{name}/device/net/{name}/speed"


def test_speeds_of_links_come_by_their_paths() -> None:
    answer = f"==> /proc/stat <==\ncpu 1\n\n==> {speed_of('lo')} <==\n\n==> {speed_of('eth0')} <==\n1000\n"
    found = texts(answer)
    assert link_speeds(found) == {"eth0": 125_000_000} and found["stat"].strip() == "cpu 1"


def test_files_that_nobody_asked_for_are_passed_over() -> None:
    found = texts("==> /etc/passwd <==\nroot\n==> /proc/stat <==\ncpu 1\n==> /proc/77/stat <==\n77 (sh)\n")
    assert found == {"stat": "cpu 1", "self": "77 (sh)\n"}


@pytest.mark.parametrize(
    "word",
    [
        "ssh://-oProxyCommand=id", "ssh://me:secret@there", "ssh://a b", "ssh://", "ssh://there:99999", "pid:", "pid:0",
        "pid:99999999999999999999", "pid:-1", "pidfile:run/x", "cgroup:/../x", "http://", "http://me:pw@there/",
        "https://there/metrics", "http://there:xx/", "file:///etc/passwd", "http://a/\nb", "", "x" * 5_000,
        "cgroup:/\x1b", "http://me:pw@there:xx/", "https://me:pw@there/",
    ],
)  # fmt: skip
def test_what_cannot_be_watched_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=r"write|leave|node_exporter") as raised:
        where.parse(word)
    assert "secret" not in str(raised.value) and "pw" not in str(raised.value)


@pytest.mark.parametrize("word", ["pidfile:nginx.pid", "cgroup:system.slice/nginx.service"])
def test_a_path_from_the_folder_at_hand_is_told_to_be_written_whole(word: str) -> None:
    with pytest.raises(ValueError, match="whole path, from /"):
        where.parse(word)


def test_a_name_is_never_taken_for_an_option() -> None:
    words = command(where.parse("ssh://there"))
    assert words[words.index("--") + 1] == "there"


class Scripted:
    """Samples that are programmed: readings, or errors. `looked` is set with each."""

    def __init__(self, *samples: Reading | Exception | Callable[[], Reading]) -> None:
        self._samples, self.looked, self.calls = list(samples), threading.Semaphore(0), 0

    def sample(self, deadline_s: float) -> Reading:
        self.calls += 1
        found = self._samples.pop(0) if len(self._samples) > 1 else self._samples[0]
        self.looked.release()
        if isinstance(found, Exception):
            raise found
        return found if isinstance(found, Reading) else found()

    def traffic(self) -> tuple[int, int]:
        return self.calls, 10 * self.calls

    def helper_cpu_s(self) -> float:
        return 0.0

    def close(self) -> None:
        pass


def count(value: float) -> Reading:
    return Reading({"own_user_s": value}, {"run_queue": value}, {"processors": 2})


def sampled(source: Scripted, samples: int) -> tuple[Source, Sampler]:
    made = Sampler(source, 0.001)
    for _ in range(samples):
        ends_s = time.monotonic() + PATIENCE_S
        while not source.looked.acquire(timeout=0.002):
            assert time.monotonic() < ends_s
            made.tick()
    return source, made


def test_growth_between_sample_is_told_and_a_counter_that_was_reset_is_not_known() -> None:
    _, made = sampled(Scripted(count(5.0), count(7.0), count(1.0), count(1.5)), 4)
    seen = made.finish(CONTENDER, "a", "pid:1", 0.0, (0.0, 1.0))
    assert seen.series["own_user_s"][:3] == (2.0, None, 0.5)
    assert seen.series["run_queue"][:3] == (7.0, 1.0, 1.5)
    assert seen.facts["resets"] == 1 and not seen.gaps
    assert seen.cost.in_bytes == 10 * seen.cost.out_bytes > 0


@pytest.mark.parametrize("error", [SampleError("it is gone"), OSError("no"), RuntimeError("bug"), RecursionError()])
def test_whatever_a_sample_raises_is_a_gap(error: Exception) -> None:
    _, made = sampled(Scripted(count(1.0), error, count(4.0), count(5.0)), 4)
    seen = made.finish(CONTENDER, "a", "pid:1", 0.0, (0.0, 1.0))
    assert len(seen.gaps) == 1 and seen.gaps[0].from_s < seen.gaps[0].to_s
    assert seen.series["own_user_s"][0] == 1.0  # of the two samples behind the gap


def test_after_some_failures_nobody_sample_again_in_a_trial() -> None:
    source, made = sampled(Scripted(SampleError("it is gone")), MOST_FAILURES)
    seen = made.finish(CONTENDER, "a", "pid:1", 0.0, (0.0, 1.0))
    assert isinstance(source, Scripted) and source.calls == MOST_FAILURES
    assert [gap.why for gap in seen.gaps] == ["it is gone"] and seen.at_s == ()


def test_a_sample_that_hangs_holds_no_trial_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "PATIENCE_S", SOON_S)
    released = threading.Event()

    def hang() -> Reading:
        released.wait()
        return count(2.0)

    _, made = sampled(Scripted(count(1.0), hang), 2)
    seen = made.finish(CONTENDER, "a", "pid:1", 0.0, (0.0, 1.0))
    released.set()
    assert seen.gaps[-1].why == "it did not answer in time"


class Hanging(QuietSource):
    """Samples that end when they are `released`."""

    def __init__(self) -> None:
        self.inside, self.samples, self.entered, self.released = 0, 0, threading.Event(), threading.Event()

    def sample(self, deadline_s: float) -> Reading:
        self.inside += 1
        self.samples += 1
        self.entered.set()
        self.released.wait()
        self.inside -= 1
        return count(1.0)


def test_a_sample_that_hangs_is_over_before_the_next_trial_sample_by_the_same_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sampler, "PATIENCE_S", SOON_S)
    source, turn = Hanging(), threading.Lock()
    first = Sampler(source, 0.001, turn=turn)
    assert source.entered.wait(PATIENCE_S)
    first.finish(CONTENDER, "a", "pid:1", 0.0, (0.0, 1.0))
    seen = Sampler(source, 0.001, turn=turn).finish(CONTENDER, "a", "pid:1", 0.0, (0.0, 1.0))
    assert source.inside == 1 and seen.gaps[-1].why == "it did not answer in time"
    source.released.set()


@pytest.mark.parametrize("given_up", [Sampler.drop, lambda late: late.finish(CONTENDER, "a", "pid:1", 0.0, (0.0, 1.0))])
def test_who_is_given_up_while_it_waits_for_its_turn_sample_no_more(
    monkeypatch: pytest.MonkeyPatch, given_up: Callable[[Sampler], object]
) -> None:
    """The source may be closed by then, and a sample would open it again."""
    monkeypatch.setattr(sampler, "PATIENCE_S", SOON_S)
    source, turn = Hanging(), threading.Lock()
    first = Sampler(source, 0.001, turn=turn)
    assert source.entered.wait(PATIENCE_S)
    late = Sampler(source, 0.001, turn=turn)
    given_up(late)
    first.drop()
    source.released.set()
    late._thread.join(PATIENCE_S)
    assert source.samples == 1 and not late._thread.is_alive()


def test_a_trial_of_many_hours_needs_no_more_room_than_one_of_one() -> None:
    from bakeoff.telemetry.intervals import Intervals
    from bakeoff.telemetry.model import MOST_INTERVALS

    intervals = Intervals()
    for second in range(100_001):
        intervals.add(float(second), Reading({"own_user_s": 0.25 * second}, {"run_queue": float(second)}))
    series = intervals.series()
    assert len(series["own_user_s"]) < MOST_INTERVALS
    assert sum(value or 0.0 for value in series["own_user_s"]) == pytest.approx(25_000.0)
    assert sum(intervals.width_s) == pytest.approx(100_000.0) and series["run_queue"][-1] == 100_000.0
