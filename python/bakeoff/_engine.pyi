"""The Rust engine: text and bytes only cross this seam."""

from collections.abc import Sequence
from typing import Any, Self

class SpecError(ValueError):
    """A specification that cannot be run; the text says why."""

class EngineError(RuntimeError):
    """The engine could not do its work."""

class TrialHandle:
    """A trial in threads of its own: it makes itself ready and waits for `go`."""

    def armed(self, timeout_s: float) -> bool:
        """Whether it is ready to start, or over already, within the time. Looks for signals every 100 ms."""
    def go(self, at_ns: int = 0) -> Self:
        """Starts its traffic at `at_ns` of CLOCK_MONOTONIC, at once when that has passed; before it is armed that waits
        until it is. The first word counts. Gives the handle back."""

    def barrier(self) -> int:
        """The number of the barrier at which all sessions of this machine wait for those of others, or of the last one;
        0 before the first, and for work that has none."""
    def release_barrier(self, number: int, at_ns: int) -> None:
        """All machines are at this barrier, and go on at `at_ns` of CLOCK_MONOTONIC, at once when that has passed. The
        first word counts."""
    def snapshot(self) -> dict[str, Any]:
        """Figures so far, by the names of a Snapshot."""
    def drain_events(self) -> list[str]:
        """Events since the last call, each as JSON."""
    def drain_intervals(self) -> list[tuple[str, bytes, bytes | None]]:
        """Rows of a soak since the last call: figures as JSON, service times and, where starts are planned, response
        times as HdrHistogram V2."""
    def wait(self, timeout_s: float) -> TrialOutcome | None:
        """The result when it comes within the time. It sleeps until then; a signal wakes it at once where `wake_on` was
        told, else within 100 ms."""
    def run_in_background(self, idle: bool, processors: list[int]) -> None:
        """From the start of traffic to its end all threads of this process that make no load, serve none and do not
        wait for signals are put behind it: into the idle class, or where not `idle` into the batch class; on these
        processors, if any are told."""
    def next_sample(self) -> bool:
        """Sleeps until the trial is to be sampled, about once a second; False when it is over. One thread samples."""
    def control(self) -> tuple[float, float, float] | None:
        """What threads that make no load took of the window: their processor time, within which time, and the most that
        one of them took at once, s; None when there was no sample."""
    def cancel(self) -> None:
        """Asks the trial to stop within 100 ms, in whatever state it is."""

class TrialOutcome:
    """A finished trial."""

    def json(self) -> str:
        """The figures."""
    def histograms(self) -> dict[str, bytes]:
        """HdrHistogram V2 blobs, ns, by the place of the figures that are made of them."""

class ServerHandle:
    """A built-in target that runs in threads of its own."""

    def address(self) -> str:
        """`host:port`, or `unix:` and a path."""
    def counts(self) -> str:
        """What it has served, as JSON."""
    def stop(self) -> None:
        """Ends it."""

class AccessLog:
    """An access log that is being read. `bodies` are method, path, content type and bytes each."""

    def __init__(self, bodies: list[tuple[str, str, str, bytes]], keep_hosts: bool) -> None: ...
    def feed(self, piece: bytes) -> None:
        """Takes the next bytes. Raises SpecError that names the line at fault."""
    def finish(self) -> tuple[bytes, str]:
        """The log is over: its trace, and what must be said of it as JSON. Raises SpecError."""

class ForTests:
    """What only tests ask of the engine."""

    @staticmethod
    def merge(blobs: list[bytes]) -> bytes:
        """One blob with the counts of all. Raises EngineError."""
    @staticmethod
    def summary(blob: bytes) -> str:
        """Count, mean, minimum, percentiles and maximum in ns, as JSON. Raises EngineError."""
    @staticmethod
    def limits() -> list[tuple[str, float]]:
        """The largest values that a specification may have, by name."""

def wake_on(fd: int) -> int:
    """Who waits for a trial in the main thread is woken when `fd` can be read; -1 ends that. Gives what was told
    before."""

def can_return() -> bool:
    """Whether threads of this process that were put into the idle class can leave it again."""

def start(spec_json: str) -> TrialHandle:
    """Begins a trial, which sends nothing before `go`. Raises SpecError or EngineError."""

def check(spec_json: str) -> None:
    """Reads a specification without starting it. Raises SpecError."""

def merge_slices(spec_json: str, slices: list[tuple[str, str, dict[str, bytes]]]) -> TrialOutcome:
    """One outcome of a trial's slices: of each the machine's name, `json()` and `histograms()`. Raises SpecError when
    such trials cannot be divided, EngineError for results that do not fit together."""

def quantiles(blob: bytes, qs: list[float]) -> list[int]:
    """Values in ns at the quantiles (0 to 1) of an HdrHistogram V2 blob. Raises EngineError."""

def counts_within(blob: bytes, limits_ns: list[int]) -> list[int]:
    """How many values of a blob are at most each limit, within its three digits. Raises EngineError."""

def merge_histograms(blobs: list[bytes]) -> tuple[bytes, str]:
    """One blob with the counts of all, and its figures as JSON. Raises EngineError."""

def serve(spec_json: str) -> ServerHandle:
    """Starts a built-in target. Raises SpecError or EngineError."""

def connect(workload_json: str, streams: int, connect_s: float, reply_s: float) -> None:
    """Connects as a workload does, and drops the connection. Raises as `fetch_http` does."""

def fetch_http(
    workload_json: str,
    streams: int,
    connect_s: float,
    reply_s: float,
    most_bytes: int,
    largest: int,
    request: bytes | None = None,
) -> tuple[int, str, list[tuple[str, bytes]], int, bytes, bool, str | None, int, int | None]:
    """Status, version, header fields, bytes of the head, body, whether the connection is kept, version and cipher of
    TLS, bytes received, and the server's limit of streams: of the reply to the workload's first request over HTTP/1 or
    HTTP/2, or over HTTP/1 to `request`. At most `most_bytes` may come, the body is cut off at `largest`. Raises
    SpecError, or EngineError with the name of what is wrong, bytes that show it, a count, and the bytes received.
    """

def fetch_http3(
    workload_json: str, streams: int, connect_s: float, reply_s: float, largest: int
) -> tuple[int, int | None, bytes, int | None]:
    """Status, stated length, body and the server's limit of streams (None when it takes `streams`) of the workload's
    first request over HTTP/3. Raises SpecError, or EngineError with the class of the error and its reason.
    """

def greet_app(place: str, record_bytes: int, timeout_s: float) -> tuple[int, int, int, int, bool, bool, int, int]:
    """How the app server at `host:port` or a path was set up: bytes of a data segment, service time in ns, threads,
    processors, direct, fsync, largest payload, most records. Raises EngineError as `fetch_http` does.
    """

def probe_mail(
    side_json: str, steps: Sequence[str], connect_s: float, reply_s: float, most_bytes: int
) -> tuple[bytes, list[bytes], bytes | None, str | None]:
    """A session with one side of a mail server, as a trial's specification tells it: what the server said of itself (by
    SMTP what it offers, by POP3 its banner), its answers to `steps` until it refused one, and its words for that;
    version and cipher of TLS. Raises SpecError, or EngineError as `fetch_http` does.
    """

def build_info() -> list[tuple[str, str]]:
    """Facts about this build."""

def workloads() -> list[str]:
    """The kinds of workload it knows."""

def work_folder_name(what: str) -> str:
    """The name of a work folder of this process in a contender's folder."""

def check_file_server(address: str) -> None:
    """Reads the address of a file server that is met by its protocol. Raises SpecError with a sentence."""

def try_file_server(address: str, timeout_s: float) -> str:
    """Writes, reads and removes a file: what was agreed with the server, `peer` and `free_bytes` as JSON. Raises
    EngineError with a sentence."""

def remove_server_folder(address: str, name: str, timeout_s: float) -> None:
    """Removes a work folder from a server; one that is not there is fine. Raises EngineError with a sentence."""

def work_folder_owner(name: str) -> str | None:
    """Whose a folder of this name is: own, in_use, over or elsewhere; None when Bakeoff did not make it."""
