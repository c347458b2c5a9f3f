"""One run of httperf with an engine of known figures: what is printed, stored, compared and put side by side."""

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.result import EngineEvent, Outcome, Snapshot, TrialResult
from bakeoff.agents.spec import WHOLE, Slice, TrialSpec
from bakeoff.compare import compare_run
from bakeoff.compat.httperf.options import Options, parse
from bakeoff.compat.httperf.progress import Progress
from bakeoff.compat.httperf.run import run
from bakeoff.compat.httperf.side_by_side import SAMPLED, side_by_side
from bakeoff.core.errors import ContenderError, GeneratorError, PlanError, RunFileError
from bakeoff.kinds.httperf.figures import HttperfFigures
from bakeoff.report.compose import compose
from bakeoff.report.layout.detail import Detail
from bakeoff.report.narrate.verdict.headline import result as result_of
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.store.collections.join import join
from bakeoff.store.records.run_records import INTERRUPTED, OK
from bakeoff.store.sqlite.read import read_run
from tests.told import headline_of
from tests.unit.compare.synthetic import run as web_run
from tests.unit.httperf.test_statistics import EXAMPLE, LINES_OF_IT
from tests.unit.run.fake import EMPTY, SOME, FakeAgent, FakeSession, result

ECHO = "httperf --client=0/1 --server=127.0.0.1 --port=1 --uri=/ --rate=100 --send-buffer=4096 --recv-buffer=16384"
ECHO += " --num-conns=30000 --num-calls=1\n"
RATE = '{"replies_per_s": 5.04, "sessions_per_s": 0.5}'
WORDS = "--server 127.0.0.1 --port 1 --rate 100 --num-conns 30000"


def operation(name: str, count: int) -> dict[str, Any]:
    table = {"name": name, "operations": count, "errors": {}, "bytes_in": 10 * count, "bytes_out": count}
    return table | {"service": SOME | {"count": count}, "histogram": f"op/{name}"}


def known(**figures: Any) -> TrialResult:
    """What the engine makes of the example of the manual."""
    counts = [operation("connection", 30_000), operation("call", 29_997)]
    return result(
        1, operations=59_997, errors={}, bytes_in=599_970, bytes_out=59_997, per_operation=counts, per_client=[],
        service=SOME | {"count": 59_997}, statuses={}, window_s=299.992, workload=EXAMPLE | figures,
        response=SOME | {"count": 59_997},
        starts={"offered": 30_000, "started": 30_000, "never_started": 0, "answered": 29_997, "late": EMPTY,
                "ran_out": 0, "connections_used": 9},
    )  # fmt: skip


class Session(FakeSession):
    """Tells `events` at its first look; Ctrl-C comes at the second wait when it is `stopped`."""

    def __init__(self, outcome: TrialResult, events: Sequence[EngineEvent], stopped: bool) -> None:
        super().__init__(outcome, None)
        self._events, self._stopped = list(events), stopped

    def drain_events(self) -> Sequence[EngineEvent]:
        events, self._events = self._events, []
        return events

    def wait(self, timeout_s: float) -> Outcome | None:
        if self._stopped and self._waits == 1 and not self._cancelled:
            raise KeyboardInterrupt
        return super().wait(timeout_s)


class Agent(FakeAgent):
    """An engine that gives known figures."""

    def __init__(self, outcome: TrialResult, events: Sequence[EngineEvent] = (), stopped: bool = False) -> None:
        super().__init__()
        self._outcome, self._events, self._stopped = outcome, events, stopped

    def start(self, spec: TrialSpec, part: Slice = WHOLE) -> FakeSession:
        if spec.workload.kind == "null":
            return super().start(spec, part)
        self.specs.append(spec)
        return Session(self._outcome, self._events, self._stopped)


def carried_out(words: str, agent: Agent | None = None) -> tuple[str, str, bool]:
    """What is printed, what is told beside it, and whether it was stopped."""
    out, found = list[str](), list[str]()
    options = parse(words.split())
    progress = Progress(io.StringIO(), options.settings, terminal=False)
    stopped = run(options, agent or Agent(known()), out.append, found.append, progress)
    return "".join(out), "".join(found), stopped


def test_the_output_is_the_echo_and_the_report() -> None:
    assert carried_out(WORDS) == (ECHO + LINES_OF_IT, "", False)


def test_the_engine_is_told_what_the_options_say() -> None:
    agent = Agent(known())
    carried_out(
        "--server 127.0.0.1 --port 81 --wsess 10,5,2 --rate 4 --timeout 5 --burst 3 -vn --print-reply=body", agent
    )
    (spec,) = agent.specs
    document = json.loads(spec.to_json())
    work = document["workload"]
    assert document["load"] == {"rate": {"per_s": 4.0, "arrivals": {"shape": "constant"}, "most_connections": 40}}
    assert work["period"] is None, "the load says it, which is another one in each load step"
    assert work["wsess"] == {"sessions": 10, "calls": 5, "think_s": 2.0} and work["burst_length"] == 3
    assert (work["timeout_s"], work["verbose"], work["periodic_stats"]) == (5.0, True, True)
    assert work["print_reply"] == {"header": False, "body": True}
    assert work["servers"] == [{"host": "127.0.0.1", "address": "127.0.0.1:81"}] and work["ssl"] is None


def test_lines_of_the_engine_stand_where_they_come() -> None:
    events = [
        EngineEvent(at_s=1.0, level="periodic", text='{"200": 5, "302": 0}'),
        EngineEvent(at_s=5.0, level="rate", text='{"replies_per_s": 5.04, "sessions_per_s": 0.5}'),
        EngineEvent(at_s=5.0, level="print", text="RB0:\xc3\xa9\xff"),
        EngineEvent(at_s=5.0, level="warning", text="out of ports"),
    ]
    out, output, _ = carried_out(f"-v {WORDS}", Agent(known(prints_lost=3), events))
    lines = out.splitlines()
    rates = ["reply-rate = 5.0     ", "session-rate = 0.5     "]
    assert lines[1].startswith("httperf: maximum number of open descriptors = ")
    assert lines[2:6] == ["[1.000000 s] 200=5, 302=0", *rates, "RB0:é\\xff"]
    assert lines[6] == "Maximum connect burst length: 1"
    assert output == "warning: out of ports\nwarning: 3 messages found no room and were not printed\n"


def test_json_has_the_numbers_unrounded_and_the_sums() -> None:
    out, _, _ = carried_out(f"--json -v {WORDS}", Agent(known(), [EngineEvent(at_s=5.0, level="rate", text=RATE)]))
    document = json.loads(out)
    assert document["command"].startswith("httperf --verbose --client=0/1") and document["stopped"] is False
    assert document["figures"]["connection_rate_per_s"] == 30_000 / 299.992
    assert document["sums"]["request_bytes"] == EXAMPLE["request_bytes"] and document["sums"]["sessions"] is None


def test_ctrl_c_prints_and_keeps_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "a.bakeoff"
    out, output, stopped = carried_out(f"{WORDS} -o {path}", Agent(known(), stopped=True))
    assert stopped and out == ECHO + LINES_OF_IT and f"Run file: {path}" in output
    (trial,) = read_run(path).trials
    assert trial.state == INTERRUPTED and trial.workload["connections"] == 30_000


def so_far(**figures: Any) -> EngineEvent:
    return EngineEvent(at_s=3.0, level="figures", text=json.dumps(EXAMPLE | {"test_duration_s": 3.0} | figures))


def test_figures_that_are_told_are_kept_until_the_run_is_over(tmp_path: Path) -> None:
    path, seen = tmp_path / "a.bakeoff", list[str]()

    class Looking(Session):
        def snapshot(self) -> Snapshot:
            (trial,) = read_run(path).trials
            seen.append(trial.reason)
            assert trial.state == INTERRUPTED and trial.figures(HttperfFigures).replies == 7
            return super().snapshot()

    class Telling(Agent):
        def start(self, spec: TrialSpec, part: Slice = WHOLE) -> FakeSession:
            if spec.workload.kind == "null":
                return super().start(spec, part)
            assert spec.model_dump()["workload"]["tell_figures"]
            return Looking(known(), [so_far(replies=5), so_far(replies=7)], False)

    out, output, _ = carried_out(f"{WORDS} -o {path}", Telling(known()))
    assert seen and set(seen) == {"broken off: these are the figures of its first 3s"}
    assert out == ECHO + LINES_OF_IT and "figures:" not in output
    assert read_run(path).trials[0].state == OK


def test_figures_that_cannot_be_read_are_one_sentence(tmp_path: Path) -> None:
    broken = EngineEvent(at_s=3.0, level="figures", text="{")
    with pytest.raises(GeneratorError, match="build it again"):
        carried_out(f"{WORDS} -o {tmp_path / 'a.bakeoff'}", Agent(known(), [broken]))


def test_what_is_fatal_is_a_sentence_and_is_kept(tmp_path: Path) -> None:
    broken = known().model_copy(update={"fatal": "the name changed"})
    with pytest.raises(ContenderError, match="the name changed"):
        carried_out(f"{WORDS} -o {tmp_path / 'a.bakeoff'}", Agent(broken))
    assert read_run(tmp_path / "a.bakeoff").trials[0].reason == "the name changed"


def test_an_engine_that_refuses_leaves_no_file(tmp_path: Path) -> None:
    class Refusing(Agent):
        def start(self, spec: TrialSpec, part: Slice = WHOLE) -> FakeSession:
            raise PlanError("no")

    with pytest.raises(PlanError):
        carried_out(f"{WORDS} -o {tmp_path / 'a.bakeoff'}", Refusing(known()))
    assert not (tmp_path / "a.bakeoff").exists()


def test_a_file_that_is_there_is_left_alone_and_nothing_is_sent(tmp_path: Path) -> None:
    (tmp_path / "a.bakeoff").write_text("mine")
    agent = Agent(known())
    with pytest.raises(RunFileError, match="exists"):
        carried_out(f"{WORDS} -o {tmp_path / 'a.bakeoff'}", agent)
    assert (tmp_path / "a.bakeoff").read_text() == "mine" and not agent.specs


@pytest.fixture
def kept(tmp_path: Path) -> Callable[..., Path]:
    """Makes run files of single runs."""

    def make(name: str, words: str = WORDS, **figures: Any) -> Path:
        path = tmp_path / f"{name}.bakeoff"
        carried_out(f"{words} -o {path}", Agent(known(**figures)))
        return path

    return make


def test_two_run_files_are_compared_as_numbers_without_a_verdict(kept: Callable[..., Path]) -> None:
    words = "--server 127.0.0.1 --num-conns 30000"
    twice = {"replies": 59_994, "requests": 59_994, "reply_content_bytes": 2 * EXAMPLE["reply_content_bytes"]}
    paths = [kept("old", words), kept("new", words, **twice, statuses={"s2xx": 59_994})]
    joined = join([read_run(path) for path in paths])
    comparison = compare_run(joined)
    assert comparison.joined is not None and not comparison.pairs
    (pair,) = comparison.joined.between
    assert pair.ratio == pytest.approx(2.0) and pair.explained_by == pytest.approx(1.0) and pair.kind == "withheld"
    assert comparison.run.rate_unit == "replies/s" and comparison.run.blocks_measured == 2
    assert not any(verdict in " ".join(result_of(comparison)) for verdict in ("is better", "is faster", "equivalent"))
    warned = " ".join(advisory.text for advisory in warnings_of(comparison))
    assert (
        "measured one after the other, unpaired: old.bakeoff, new.bakeoff" in warned
        and "cannot be ranked" in headline_of(comparison)[0]
    )
    assert all(not audit.deviating for audit in comparison.audits)
    page = compose(joined, comparison)
    (section,) = [section for section in page.sections if section.id == "httperf"]
    cells = {row[0]: row[1:] for row in section.blocks[1].rows}  # type: ignore[union-attr]
    assert cells["Replies"] == ("29,997", "59,994") and cells["Connect [ms]"] == ("1.200", "1.200")
    assert any("unpaired" in str(block) for block in page.blocks(Detail.COMPARISON))


def test_at_a_rate_response_times_are_compared_and_all_that_was_offered_counts(kept: Callable[..., Path]) -> None:
    comparison = compare_run(join([read_run(kept("old")), read_run(kept("new"))]))
    assert [falls.overload_load_step for falls in comparison.overload_points] == [None, None]
    assert comparison.joined is not None and comparison.joined.between[0].ratio == pytest.approx(1.0)
    assert all(not audit.deviating for audit in comparison.audits)


def test_a_run_that_was_stopped_is_named(kept: Callable[..., Path], tmp_path: Path) -> None:
    path = tmp_path / "early.bakeoff"
    carried_out(f"{WORDS} -o {path}", Agent(known(), stopped=True))
    comparison = compare_run(join([read_run(path), read_run(kept("whole"))]))
    warned = " ".join(advisory.text for advisory in warnings_of(comparison))
    assert "These trials stopped before their end and have no figures: early (stopped after" in warned


def test_settings_that_differ_are_named(kept: Callable[..., Path]) -> None:
    runs = [read_run(kept("a")), read_run(kept("b", f"{WORDS} --num-calls 2 --timeout 5"))]
    warned = " ".join(advisory.text for advisory in warnings_of(compare_run(join(runs))))
    assert "Their settings differ: num_calls, timeout_s." in warned


def test_one_file_twice_is_refused_and_alone_is_itself(kept: Callable[..., Path]) -> None:
    one = read_run(kept("a"))
    with pytest.raises(PlanError, match=r"have trials in common \(1\), which would count twice: name one of them"):
        join([one, one])
    assert join([one]) is one


def test_runs_of_other_work_do_not_join(kept: Callable[..., Path]) -> None:
    one, many = read_run(kept("a")), web_run()
    with pytest.raises(PlanError, match="are of different work"):
        join([one, many])
    sequential = read_run(kept("c", "--server 127.0.0.1 --num-conns 9"))
    with pytest.raises(PlanError, match="are of different work"):
        join([one, sequential])


def test_four_clients_stand_side_by_side_with_ranges_and_sums(kept: Callable[..., Path]) -> None:
    paths = [kept(f"r{i}", f"{WORDS} --client {i}/4", connections=30_000 + i) for i in range(4)]
    lines = side_by_side(paths, as_json=False).splitlines()
    assert lines[0].split() == ["0/4", "1/4", "2/4", "3/4", "least", "-", "most", "together"]
    rows = {line[:30].strip(): line[30:].split() for line in lines}
    assert rows["Connections"] == ["30,000", "30,001", "30,002", "30,003", "30,000", "-", "30,003", "120,006"]
    assert rows["Connect [ms]"] == ["1.200"] * 4 + ["1.200", "-", "1.200"]
    assert not [line for line in lines if line.startswith("Note")]
    document = json.loads(side_by_side(paths, as_json=True))
    assert document["results"] == ["0/4", "1/4", "2/4", "3/4"]
    assert document["figures"]["connections"] == {
        "values": [30_000, 30_001, 30_002, 30_003], "min": 30_000, "max": 30_003, "sum": 120_006,
    }  # fmt: skip
    assert document["figures"]["connect_time_ms"]["sum"] is None
    sampled = [row["sum"] for name, row in document["figures"].items() if name.startswith(SAMPLED)]
    assert len(sampled) == len(SAMPLED) and not any(sampled), "each client has its own five seconds"


def test_what_does_not_belong_together_is_named(kept: Callable[..., Path]) -> None:
    paths = [kept("a", f"{WORDS} --client 0/4"), kept("b", f"{WORDS} --client 0/4 --num-calls 2"), kept("c")]
    text = side_by_side(paths[:2], as_json=False)
    assert "Of 4 clients these are missing: 1, 2, 3." in text and "more than once: 0" in text
    assert "Their settings differ: num_calls." in text
    assert "different numbers of clients: 0/4, 0/4, 0/1" in side_by_side(paths, as_json=False)


def test_only_runs_of_httperf_stand_side_by_side(tmp_path: Path, kept: Callable[..., Path]) -> None:
    with pytest.raises(RunFileError):
        side_by_side([tmp_path / "none.bakeoff"], as_json=False)


def progress_text(words: str, elapsed_s: float, done: int) -> str:
    options: Options = parse(words.split())
    name = "connection" if options.settings.sessions is None else "session"
    seen = Snapshot.model_validate(
        {
            "elapsed_s": elapsed_s, "phase": "window", "operations": done, "errors": 2, "bytes_in": 0,
            "per_operation": [{"name": name, "operations": done - 2, "errors": 2}],
        }
    )  # fmt: skip
    return Progress(io.StringIO(), options.settings, terminal=False).text(seen)


def test_progress_tells_the_time_to_come() -> None:
    long = "--num-conns 1000000 --rate 10 --client 0/4"
    assert progress_text(long, 3600.0, 36_000) == "36,000 of 1,000,000 connections, 2 errors; 26h46m40s left"
    assert progress_text("--wsess 10,5,2 --rate 1", 4.0, 2) == "2 of 10 sessions, 2 errors; 6s left"
    assert progress_text("--num-conns 100", 5.0, 50) == "50 of 100 connections, 2 errors; 5s left"
    assert progress_text("--num-conns 100 --runtime 8", 5.0, 50) == "50 of 100 connections, 2 errors; 3s left"


def test_a_terminal_gets_one_line_and_a_pipe_one_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("bakeoff.compat.httperf.progress.time.monotonic", lambda: now[0])
    seen = Snapshot(elapsed_s=1.0, phase="window", operations=0, errors=0, bytes_in=0)
    settings = parse(WORDS.split()).settings
    shown = {True: io.StringIO(), False: io.StringIO()}
    displays = [Progress(stream, settings, terminal) for terminal, stream in shown.items()]
    for _ in range(130):
        now[0] += 1.0
        for display in displays:
            display.show(seen)
    for display in displays:
        display.end()
    assert shown[False].getvalue().count("\n") == 2 and "\x1b" not in shown[False].getvalue()
    assert shown[True].getvalue().count("\n") == 0 and shown[True].getvalue().endswith("\r\x1b[K")


def test_ok_trials_are_ok(kept: Callable[..., Path]) -> None:
    run_record = read_run(kept("a"))
    assert run_record.trials[0].state == OK and run_record.contenders[0].address == "http://127.0.0.1:1/"
    assert run_record.null_operations_per_s is None, "no server that does nothing is asked as httperf asks"
    assert run_record.environment["command"] == ECHO.strip()
