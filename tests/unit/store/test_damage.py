"""Whatever happens to a run file: what is read is what was written, or the file is refused in one sentence."""

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from bakeoff.compare import compare_run
from bakeoff.core.errors import RunFileError
from bakeoff.store.records.run_records import FOUND, RunRecord, SearchRecord
from bakeoff.store.records.trial_parts import JudgedRecord, TermRecord
from bakeoff.store.sqlite import checked, seal
from bakeoff.store.sqlite.read import histogram, pending, read_run
from bakeoff.store.sqlite.schema import LISTS, MOST_BYTES, TABLES
from bakeoff.store.sqlite.write import RunWriter
from tests.unit.compare.synthetic import run
from tests.unit.store.builders import OF_A_FLEET, amendment, header, planned, seen, share, soak_interval, stored, trial

FLIPS, CUTS = 300, 90
BLOB = bytes(range(256)) * 20
# Values of every type that SQLite has, and texts that are nearly what is wanted. A column may hold any of them.
HOSTILE: dict[str, object] = {
    "null": None, "zero": 0, "minus": -1, "largest": 2**63 - 1, "smallest": -(2**63), "real": 0.5, "inf": float("inf"),
    "minus inf": float("-inf"), "huge real": 1e300, "empty": "", "words": "not what was written", "digit": "7",
    "blob": b"\xff\x00blob", "empty blob": b"", "not UTF-8": "CAST(x'61ff62' AS TEXT)", "zero byte": "a\0b",
    "list": "[]", "table": "{}", "null in JSON": "null", "true": "true", "NaN": "NaN", "table of NaN": '{"a":NaN}',
    "overflow": "[1e999]", "deep": "[" * 100_000, "deep and closed": "[" * 500 + "]" * 500, "digits": "9" * 5000,
    "table of texts": '{"a":"b"}', "half a character": '{"a":"\\ud800"}', "escape sequence": "\x1b[2J\x1b]0;x\x07",
}  # fmt: skip


JUDGED = JudgedRecord(True, 0.0, "", (TermRecord("p99<=50ms", 4e6, 0.0, True),))


def said(path: Path) -> RunRecord:
    """All that anything printed or drawn is made of."""
    return replace(read_run(path), path=Path("x"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with blobs, events, a trial that was interrupted and repeated, and intervals of a soak."""
    record = run(load_steps=(1,), blocks=2, window_s=1.0)
    path = stored(record, tmp_path_factory.mktemp("whole") / "x.bakeoff", BLOB)
    with RunWriter.reopen(path) as writer:
        again = replace(
            record.trials[-1], reason="again", judged=JUDGED, per_agent=(share(**OF_A_FLEET),), telemetry=(seen(),)
        )
        writer.set_null_rate(1e6, {"local": 1e6})
        writer.add_trial(again, {"service": BLOB})
        writer.amend(amendment(sort="left_out", contender=record.trials[0].contender))
        writer.add_search(SearchRecord(record.trials[0].contender, 1, FOUND, "", 0, 1))
        for number in range(3):
            response = None if number % 2 else trial().service
            writer.add_soak_interval(
                soak_interval(number=number, response=response), BLOB, None if number % 2 else BLOB
            )
    return path


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Callable[[], Path]:
    content, path = whole.read_bytes(), tmp_path / "x.bakeoff"

    def make() -> Path:
        path.write_bytes(content)
        return path

    return make


def refused_or(truth: RunRecord, path: Path) -> bool:
    """Whether the file was refused; if it was not, it says what it said."""
    try:
        found = said(path)
    except RunFileError as error:
        assert str(path) in str(error) and "\n" not in str(error)
        return True
    assert found == truth
    return False


def test_flipped_bits(whole: Path, copy: Callable[[], Path]) -> None:
    truth, rng, content = said(whole), random.Random(1), whole.read_bytes()
    refused = 0
    for number in range(FLIPS):
        path, place = copy(), rng.randrange(100 if number < 60 else len(content))  # the first 100 bytes are SQLite's
        with path.open("r+b") as file:
            file.seek(place)
            file.write(bytes([content[place] ^ (1 << rng.randrange(8))]))
        refused += refused_or(truth, path)
        assert path.stat().st_size == len(content), "reading changed the file"
    assert refused > FLIPS / 10


def test_cut_off_zeroed_and_shuffled(whole: Path, copy: Callable[[], Path]) -> None:
    truth, rng, content = said(whole), random.Random(2), whole.read_bytes()
    page = 4096
    for number in range(CUTS):
        one, other = (page * rng.randrange(len(content) // page) for _ in range(2))
        path = copy()
        if number % 3 == 0:
            path.write_bytes(content[: rng.randrange(len(content))])
        elif number % 3 == 1:
            path.write_bytes(content[:one] + bytes(page) + content[one + page :])
        else:
            with path.open("r+b") as file:  # two pages change places
                file.seek(one)
                file.write(content[other : other + page])
                file.seek(other)
                file.write(content[one : one + page])
        refused_or(truth, path)


def columns() -> Iterator[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            if not table.startswith("sqlite_"):
                yield from ((table, row[1]) for row in connection.execute(f"PRAGMA table_info({table})"))


def put(path: Path, table: str, column: str, value: object) -> bool:
    """Writes a value into a column of all rows where that is possible; whether anything changed."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON")
        raw = isinstance(value, str) and value.startswith("CAST(")
        statement = f"UPDATE OR IGNORE {table} SET {column} = {value if raw else '?'}"
        try:
            changed = connection.execute(statement, () if raw else (value,)).rowcount
        except sqlite3.IntegrityError:  # NOT NULL
            return False
        connection.commit()
        return changed > 0


def seal_anew(path: Path) -> None:
    """What somebody would do who changes a file and knows how it is sealed."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        connection.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN")
        link = seal.START
        for row in connection.execute("SELECT * FROM trials ORDER BY id").fetchall():
            sealed = seal.stored_trial_seal(connection, row["id"])
            link = seal.next_link(link, sealed)
            connection.execute("UPDATE trials SET sha256 = ? WHERE id = ?", (sealed, row["id"]))
        count = connection.execute("SELECT count(*) FROM trials").fetchone()[0]
        connection.execute("UPDATE run SET trials_sha256 = ?, trials = ?", (link, count))
        link, events = seal.START, connection.execute("SELECT * FROM events ORDER BY id").fetchall()
        for row in events:
            link = seal.next_link(link, seal.row_seal(row))
        connection.execute("UPDATE run SET events_sha256 = ?, events = ?", (link, len(events)))
        link, rows = seal.START, connection.execute(f"{seal.soak_intervals_query()} ORDER BY id").fetchall()
        for row in rows:
            link = seal.next_link(link, seal.row_seal(row))
        connection.execute("UPDATE run SET soak_intervals_sha256 = ?, soak_intervals = ?", (link, len(rows)))
        for table in LISTS:
            seal.seal_list(connection, table)
        sealed = seal.run_seal(connection.execute("SELECT * FROM run").fetchone())
        connection.execute("UPDATE run SET sha256 = ?", (sealed,))
        connection.execute("COMMIT")


@pytest.mark.parametrize(("table", "column"), list(columns()))
def test_hostile_columns(whole: Path, copy: Callable[[], Path], table: str, column: str) -> None:
    """Every third value in each column, in turn: as damage, and sealed again by whoever wrote it."""
    truth, changed, first = said(whole), 0, sum(map(ord, table + column))
    for number, value in enumerate(HOSTILE.values()):
        path = copy()
        if (first + number) % 3 or not put(path, table, column, value):
            continue
        changed += 1
        if (first + number) % 2:  # a seal does not see of which kind the damage is
            refused_or(truth, path)
        try:
            seal_anew(path)
        except (sqlite3.Error, ValueError, TypeError):
            continue  # such values cannot be sealed
        try:
            compare_run(said(path))
        except RunFileError as error:
            assert "\n" not in str(error)
    assert changed


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM trials WHERE id = 2",
        "DELETE FROM trials WHERE id = (SELECT max(id) FROM trials)",
        "DELETE FROM clients WHERE trial_id = 1 AND client = 0",
        "DELETE FROM seconds",
        "DELETE FROM events",
        "DELETE FROM planned WHERE position = 3",
        "DELETE FROM contenders WHERE position = 1",
        "DELETE FROM run",
        "INSERT INTO events (at, level, text, code, reason) SELECT at, level, text, code, reason FROM events",
        "INSERT INTO planned SELECT position + 4, contender, load_step, block, seed, purpose, share FROM planned",
        "UPDATE trials SET id = 100 - id",
        "UPDATE trials SET position = 3 - position",
        "UPDATE trials SET state = 'failed' WHERE id = 1",
        "UPDATE steps SET trial_id = 100 - trial_id",
        "DELETE FROM soak_intervals WHERE number = 2",
        "UPDATE soak_intervals SET number = 2 - number",
        "UPDATE soak_intervals SET hdr_sha256 = ''",
        "UPDATE run SET finished_at = NULL",
        "UPDATE run SET delta = 0.5",
        "UPDATE run SET started_here = 'me'",
    ],
)
def test_rows_that_are_missing_doubled_or_moved(copy: Callable[[], Path], statement: str) -> None:
    path = copy()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    with pytest.raises(RunFileError, match="is damaged"):
        read_run(path)
    with pytest.raises(RunFileError, match="is damaged"):
        pending(path)


def test_a_doubled_trial(copy: Callable[[], Path]) -> None:
    path = copy()
    with closing(sqlite3.connect(path)) as connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info(trials)") if row[1] != "id"]
        listed = ", ".join(names)
        connection.execute(f"INSERT INTO trials ({listed}) SELECT {listed} FROM trials WHERE id = 1")
        connection.commit()
    with pytest.raises(RunFileError, match="the seal of trial 6 is broken"):
        read_run(path)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t AFTER UPDATE ON run BEGIN DELETE FROM trials; END",
        "CREATE TABLE more (id)",
        "CREATE INDEX more ON trials(reason)",
        "DROP INDEX trials_by_position",
        "ALTER TABLE trials ADD COLUMN more TEXT",
        "DROP TABLE histograms",
        "ALTER TABLE run RENAME TO ran; CREATE VIEW run AS SELECT * FROM ran",
    ],
)
def test_tables_that_are_not_those_of_a_run_file(copy: Callable[[], Path], statement: str) -> None:
    path = copy()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statement)
    for use in (read_run, pending, RunWriter.reopen):
        with pytest.raises(RunFileError, match="it does not have the tables of a run file"):
            use(path)


def test_a_histogram_is_the_one_that_was_written(copy: Callable[[], Path]) -> None:
    path = copy()
    assert histogram(path, 1, "service") == BLOB
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE histograms SET hdr = x'00' WHERE trial_id = 1")
        connection.commit()
        connection.execute(
            "UPDATE histograms SET hdr = x'00', hdr_sha256 = ? WHERE trial_id = 2", (seal.blob_seal(b"\0"),)
        )
        connection.commit()
    for number in (1, 2):
        with pytest.raises(RunFileError, match=f"trial {number} is not the one that was written"):
            histogram(path, number, "service")


def test_room_is_refused_before_it_is_made(copy: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = copy()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE run SET environment = CAST(zeroblob(?) AS TEXT)", (MOST_BYTES + 1,))
        connection.commit()
    with pytest.raises(RunFileError, match=r"is damaged .*too big"):
        read_run(path)
    monkeypatch.setattr(checked, "MOST_ROWS", 3)
    with pytest.raises(RunFileError, match="more than 3 rows"):
        read_run(copy())


def test_what_is_written_after_a_resume_is_sealed(tmp_path: Path) -> None:
    path = tmp_path / "x.bakeoff"
    with RunWriter.create(path, header(), planned()) as writer:
        writer.add_trial(trial(), {})
    with RunWriter.reopen(path) as writer:
        writer.add_trial(trial(order=1, contender="b"), {})
    assert len(read_run(path).trials) == 2


def test_nothing_is_added_to_a_damaged_run(copy: Callable[[], Path]) -> None:
    path = copy()
    put(path, "run", "delta", 0.5)
    before = path.read_bytes()
    with pytest.raises(RunFileError, match="the seal of its run is broken"):
        RunWriter.reopen(path)
    assert path.read_bytes() == before
