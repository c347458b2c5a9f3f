"""`bakeoff users`, and mail runs against the built-in target, as a user has them."""

import csv
import io
import json
import poplib
import re
import signal
import smtplib
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bakeoff.compare import Comparison, compare_run
from bakeoff.store.sqlite.read import read_run
from tests.cli.conftest import COMMAND, Bakeoff, target
from tests.control import PATIENCE_S
from tests.mailtools import serve
from tests.told import headline_of
from tests.unit.store.builders import stored
from tests.unit.store.test_figures import record_of

# Mail is bounded by time, not by a count: by so much that a machine may stand still for a moment.
SHORT = ["--size", "quick", "--clients", "2", "--length", "3s", "--ramp-up", "100ms", "--ramp-down", "100ms"]
MailServe = Callable[..., str]


# A server that answers at once keeps two processors busy for as long as a trial goes on.
CALM = ["--smtp-port", "0", "--pop3-port", "0", "--delay", "5ms"]


@pytest.fixture
def mail() -> Iterator[MailServe]:
    """`mail(flag, …)` starts the target on free ports and gives its address."""
    with ExitStack() as stack:
        yield lambda *words: stack.enter_context(target("mail", *CALM, *words))


@pytest.fixture
def users(bakeoff: Bakeoff, tmp_path: Path) -> Path:
    path = tmp_path / "users.csv"
    assert bakeoff("users", "new", "--count", "40", "--domain", "bakeoff.test", "-o", path).returncode == 0
    return path


def test_a_contender_that_loses_mail_is_told_in_the_first_lines(
    bakeoff: Bakeoff, mail: MailServe, users: Path, tmp_path: Path
) -> None:
    contenders = [f"good={mail('--users', str(users))}", f"bad={mail('--users', str(users), '--lose', '1/10')}"]
    words = ["--users", users, *SHORT, "--sizes", "2KiB", "--blocks", "1", "--drain-limit", "5s"]
    done = bakeoff("run", "mail-pop", *contenders, *words, "-o", "r.bakeoff")
    assert done.returncode == 4, done.stderr
    trials = {trial.contender: trial for trial in read_run(tmp_path / "r.bakeoff").trials}
    ledger = trials["bad"].workload["ledger"]["counts"]
    assert ledger["accepted"] >= 10 and ledger["lost"] == ledger["accepted"] // 10
    first = next(line for line in done.stdout.splitlines() if line.strip())
    assert first.startswith(
        f"bad is disqualified, it did not keep its mail: of {ledger['accepted']:,} accepted, {ledger['lost']:,} lost."
    )
    assert "good did not" not in done.stdout
    assert bakeoff("report", "r.bakeoff", "-o", "r.html").returncode == 0
    html = (tmp_path / "r.html").read_text()
    verdict = html.index("did not keep its mail")
    assert verdict < html.index("What became of the messages")
    assert trials["good"].workload["ledger"]["counts"]["lost"] == 0


def test_lost_messages_are_listed_by_the_ids_that_the_server_lost(
    bakeoff: Bakeoff, users: Path, tmp_path: Path
) -> None:
    server = serve(lose={"count": 1, "of": 10})
    words = ["--users", users, *SHORT, "--blocks", "1", "--mailboxes", "5", "--drain-limit", "4s", "-o", "r.bakeoff"]
    before = datetime.now(UTC)
    done = bakeoff("run", "mail-pop", f"bad={server.address()}", *words)
    after = datetime.now(UTC)
    assert done.returncode == 0, done.stderr
    exported = bakeoff("export", "r.bakeoff", "--to", "lost-messages", "-o", "-")
    rows = list(csv.DictReader(io.StringIO(exported.stdout)))
    lost = [entry.split(" to ") for entry in json.loads(server.counts())["lost"]]
    assert sorted((row["message_id"], row["recipient"]) for row in rows) == sorted(
        (f"<{identity}@bakeoff.invalid>", to) for identity, to in lost
    )
    assert lost and {(row["fate"], row["contender"], row["block"], row["clients"]) for row in rows} == {
        ("lost", "bad", "1", "2")
    }
    known = {line.split(",")[0] for line in users.read_text().splitlines()[1:]}
    assert all(row["sender"].partition("@")[0] in known for row in rows)
    moments = [datetime.fromisoformat(row["accepted_at"]) for row in rows]
    assert before < min(moments) and max(moments) < after
    length = timedelta(seconds=3) + timedelta(seconds=PATIENCE_S)
    assert all(began <= at < began + length for at, began in zip(
        moments, (datetime.fromisoformat(row["traffic_began_at"]) for row in rows), strict=True
    ))  # fmt: skip


def test_losses_that_are_not_listed_are_said_beside_the_list(bakeoff: Bakeoff, tmp_path: Path) -> None:
    """A run file with more losses than are listed, and one of another kind."""
    ids = {"lost": [{"id": "0.0.1", "mailbox": "u@x"}, {"id": "1.0.7", "mailbox": "v@x"}]}
    ledger = {"mark": "m", "counts": {"accepted": 90, "lost": 40}, "ids": ids}
    old = replace(record_of("mail", {"ledger": ledger}), suite="mail-pop")
    one = next(trial for trial in old.trials if trial.contender == "nginx")
    stored(replace(old, trials=(replace(one, order=0),)), tmp_path / "old.bakeoff")
    done = bakeoff("export", "old.bakeoff", "--to", "lost-messages")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "old.lost.csv").read_text())))
    assert [(row["message"], row["recipient"], row["message_id"]) for row in rows] == [
        ("0.0.1", "u@x", "<m.0.0.1@bakeoff.invalid>"), ("1.0.7", "v@x", "<m.1.0.7@bakeoff.invalid>"),
    ]  # fmt: skip
    assert "lists the first 2 of 40 messages: lost" in done.stderr
    stored(record_of("web", {}), tmp_path / "web.bakeoff")
    done = bakeoff("export", "web.bakeoff", "--to", "lost-messages")
    assert done.returncode == 2 and "runs of mail" in done.stderr


def test_a_client_that_is_refused_too_often_fails_its_load_step_and_the_run_goes_on(
    bakeoff: Bakeoff, mail: MailServe, users: Path, tmp_path: Path
) -> None:
    """With one session at a time four clients do not get their mailboxes emptied; a single client does."""
    shut = mail("--users", str(users), "--max-sessions", "1", "--delay", "20ms")
    open_ = mail("--users", str(users))
    words = ["--users", users, *SHORT, "--clients", "1,4", "--blocks", "1", "--retries", "4"]
    done = bakeoff("run", "mail-pop", f"shut={shut}", f"open={open_}", *words, "-o", "r.bakeoff")
    assert done.returncode == 4, done.stderr
    found = {(trial.contender, trial.load_step.clients): trial for trial in read_run(tmp_path / "r.bakeoff").trials}
    assert found["shut", 4].state == "failed"
    assert re.match(r"client \d: could not open a POP3 session in 5 tries \(denied: -ERR", found["shut", 4].reason)
    assert {key: trial.state for key, trial in found.items() if key != ("shut", 4)} == {
        ("shut", 1): "ok",
        ("open", 1): "ok",
        ("open", 4): "ok",
    }


def test_an_interrupted_mail_run_is_resumed(bakeoff: Bakeoff, mail: MailServe, users: Path, tmp_path: Path) -> None:
    words = [*COMMAND, "run", "mail-pop", f"one={mail('--users', str(users))}", "--users", str(users), *SHORT]
    words += ["--blocks", "3", "-o", "r.bakeoff"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("[1/3]"):
            break
    process.send_signal(signal.SIGINT)
    process.stderr.read()
    assert process.wait(PATIENCE_S) == 130
    kept = [trial.started_at for trial in read_run(tmp_path / "r.bakeoff").trials if trial.state == "ok"]
    assert 1 <= len(kept) < 3
    changed = users.read_text()
    users.write_text(changed.replace("pw0001", "other"))
    refused = bakeoff("resume", "r.bakeoff")
    assert refused.returncode == 2 and "u0001@bakeoff.test" in refused.stderr
    users.write_text(changed)
    done = bakeoff("resume", "r.bakeoff")
    assert done.returncode == 0, done.stderr
    run = read_run(tmp_path / "r.bakeoff")
    assert [trial.state for trial in run.trials] == ["ok"] * 3 and run.finished_at is not None
    assert [trial.started_at for trial in run.trials][: len(kept)] == kept
    assert all(trial.workload["ledger"]["balanced"] for trial in run.trials)


def put_mail(address: str, recipient: str, count: int) -> None:
    """Ordinary messages into a mailbox of the target, one connection for all."""
    host, _, port = dict(part.split("=", 1) for part in address.split(","))["smtp"].rpartition(":")
    with smtplib.SMTP(host, int(port)) as session:
        for number in range(count):
            session.sendmail("friend@example.test", recipient, f"Subject: dinner {number}\r\n\r\nAt eight?\r\n")


def mail_of(address: str, user: str, password: str) -> int:
    """Messages in a mailbox of the target."""
    host, _, port = dict(part.split("=", 1) for part in address.split(","))["pop3"].rpartition(":")
    session = poplib.POP3(host, int(port))
    session.user(user)
    session.pass_(password)
    count, _ = session.stat()
    session.quit()
    return count


def test_mail_of_others_stops_the_run_and_goes_only_when_that_was_said(
    bakeoff: Bakeoff, mail: MailServe, users: Path, tmp_path: Path
) -> None:
    address = mail("--users", str(users))
    put_mail(address, "u0002@bakeoff.test", 3)
    put_mail(address, "u0005@bakeoff.test", 1)
    words = ["run", "mail-pop", f"one={address}", "--users", users, *SHORT, "--blocks", "1"]
    done = bakeoff(*words, "-o", "no.bakeoff")
    assert done.returncode == 2 and not (tmp_path / "no.bakeoff").exists()
    assert "one holds 4 messages in 2 mailboxes that are not Bakeoff's" in done.stderr
    assert "u0002@bakeoff.test 3, u0005@bakeoff.test 1" in done.stderr and "--empty-mailboxes" in done.stderr
    assert mail_of(address, "u0002@bakeoff.test", "pw0002") == 3, "nothing was touched"
    # In a plan file, too.
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'[plan]\nname = "p"\nsuite = "mail-pop"\nblocks = 1\n[settings]\nusers = "{users}"\nclients = [2]\n'
        'length = "3s"\nramp_up = "100ms"\nramp_down = "100ms"\nempty_mailboxes = true\n'
        f'[[contender]]\nname = "one"\naddress = "{address}"\n'
    )
    done = bakeoff("run", plan, "-o", "yes.bakeoff")
    assert done.returncode == 0, done.stderr
    assert "one: 4 messages in 2 mailboxes that are not Bakeoff's" in done.stderr
    assert "deleted before the first trial" in done.stderr
    assert mail_of(address, "u0002@bakeoff.test", "pw0002") == 0
    # What a run leaves behind of its own is no reason to stop.
    (trial,) = read_run(tmp_path / "yes.bakeoff").trials
    assert trial.workload["init"]["removed"] == 4 and trial.workload["ledger"]["counts"]["foreign"] == 0


def test_a_pop3_server_that_dies_fails_the_trial_and_loses_nothing(
    bakeoff: Bakeoff, mail: MailServe, users: Path, tmp_path: Path
) -> None:
    dying, good = mail("--users", str(users), "--pop3-ends-after", "20"), mail("--users", str(users))
    words = ["--users", users, *SHORT, "--blocks", "1", "--drain-limit", "4s", "--error-limit", "100%"]
    done = bakeoff("run", "mail-pop", f"dying={dying}", f"good={good}", *words, "-o", "r.bakeoff")
    assert done.returncode == 4, done.stderr
    trials = {trial.contender: trial for trial in read_run(tmp_path / "r.bakeoff").trials}
    counts = trials["dying"].workload["ledger"]["counts"]
    assert trials["dying"].state == "failed" and counts["lost"] == 0 < counts["unchecked"]
    start = f"{counts['unchecked']:,} of {counts['accepted']:,} accepted messages could not be checked"
    assert trials["dying"].reason.startswith(start)
    assert "did not keep its mail" not in done.stdout
    assert trials["good"].state == "ok"


FAULTS = {
    "half": ["--lose", "1/2"],
    "tenth": ["--lose", "1/10"],
    "all": ["--lose", "1/1"],
    "damages": ["--damage", "1/20"],
    "doubles": ["--duplicate", "1/20"],
    "misdelivers": ["--misdeliver", "1/20"],
}


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, str]:
    """A run of a good server and one with each fault, and what it printed."""
    folder = tmp_path_factory.mktemp("faulty")
    users = ["--users", str(folder / "users.csv")]
    made = [*COMMAND, "users", "new", "--count", "40", "--domain", "bakeoff.test", "-o", users[1]]
    subprocess.run(made, check=True, capture_output=True)
    words = [*users, *SHORT, "--blocks", "1", "--mailboxes", "5", "--drain-limit", "4s", "-o", "r.bakeoff"]
    with ExitStack() as stack:
        for name, fault in {"good": [], **FAULTS}.items():
            words.append(f"{name}={stack.enter_context(target('mail', *CALM, *users, *fault))}")
        run = [*COMMAND, "run", "mail-pop", *words]
        done = subprocess.run(run, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 4, done.stderr
    return compare_run(read_run(folder / "r.bakeoff")), done.stdout


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_with_wrong_books_is_disqualified(faulty: tuple[Comparison, str], fault: str) -> None:
    found, printed = faulty
    (pair,) = (pair for pair in found.pairs if {pair.baseline, pair.contender} == {"good", fault})
    assert pair.primary.verdict.kind == "disqualified"
    (told,) = (text for text in headline_of(found) if text.startswith(f"{fault} is disqualified"))
    assert told.startswith(f"{fault} is disqualified, it did not keep its mail") and told in printed


def test_honest_refusals_are_no_wrong_answers(bakeoff: Bakeoff, mail: MailServe, users: Path, tmp_path: Path) -> None:
    """A server that puts off 4 % of the recipients, which is less than an error budget of 5 %."""
    busy = mail("--users", str(users), "--reject", "RCPT=450,1/25")
    words = ["--users", users, *SHORT, "--blocks", "1", "--drain-limit", "5s"]
    done = bakeoff("run", "mail-pop", f"open={mail('--users', str(users))}", f"busy={busy}", *words, "-o", "r.bakeoff")
    assert done.returncode == 0, done.stderr
    run = read_run(tmp_path / "r.bakeoff")
    (put_off,) = (trial for trial in run.trials if trial.contender == "busy")
    assert put_off.state == "ok" and set(put_off.errors) == {"put_off"}
    assert put_off.workload["ledger"]["counts"]["temporary"] >= put_off.errors["put_off"]
    assert not any(gate.name == "wrong answers" for gate in compare_run(run).pairs[0].primary.gates)


def test_new_accounts_are_the_same_each_time_and_never_written_over_others(bakeoff: Bakeoff, tmp_path: Path) -> None:
    words = ["users", "new", "--count", "3", "--domain", "example.test", "-o"]
    assert bakeoff(*words, "a.csv").returncode == 0
    assert bakeoff(*words, "b.csv").returncode == 0
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    assert (tmp_path / "a.csv").read_text().splitlines() == [
        "user,password,domain",
        "u0001,pw0001,example.test",
        "u0002,pw0002,example.test",
        "u0003,pw0003,example.test",
    ]
    again = bakeoff(*words, "a.csv")
    assert again.returncode == 2 and "exists already" in again.stderr


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        ("dovecot", ["u0001@bakeoff.test:{PLAIN}pw0001", "u0002@bakeoff.test:{PLAIN}pw0002"]),
        ("postfix", ["u0001@bakeoff.test x", "u0002@bakeoff.test x"]),
        ("opensmtpd", ["u0001@bakeoff.test bakeoff", "u0002@bakeoff.test bakeoff"]),
        ("greenmail", ["u0001:pw0001@bakeoff.test,u0002:pw0002@bakeoff.test"]),
        (
            "ldif",
            [
                "dn: uid=u0001,ou=people,dc=bakeoff,dc=test",
                "objectClass: inetOrgPerson",
                "uid: u0001",
                "cn: u0001",
                "sn: u0001",
                "mail: u0001@bakeoff.test",
                "userPassword: pw0001",
                "",
                "dn: uid=u0002,ou=people,dc=bakeoff,dc=test",
            ],
        ),
    ],
)
def test_accounts_in_the_form_of_a_server(bakeoff: Bakeoff, tmp_path: Path, form: str, lines: list[str]) -> None:
    (tmp_path / "u.csv").write_text("u0001,pw0001,bakeoff.test\nu0002,pw0002,bakeoff.test\n")
    printed = bakeoff("users", "convert", "u.csv", "--to", form)
    assert printed.returncode == 0 and printed.stdout.splitlines()[: len(lines)] == lines
    assert bakeoff("users", "convert", "u.csv", "--to", form, "-o", "out").returncode == 0
    assert (tmp_path / "out").read_text() == printed.stdout


def test_check_names_the_accounts_that_fail_on_either_side(
    bakeoff: Bakeoff, mail: MailServe, users: Path, tmp_path: Path
) -> None:
    address = mail("--users", str(users)).split(",")
    done = bakeoff("users", "check", users, *address)
    assert done.returncode == 0 and "40 of 40 accounts are ready" in done.stdout
    text = users.read_text().replace("pw0007", "wrong") + "stranger,secret,bakeoff.test\n"
    (tmp_path / "other.csv").write_text(text)
    done = bakeoff("users", "check", "other.csv", *address, "--parallel", "3")
    assert done.returncode == 1 and "39 of 41 accounts are ready" in done.stdout
    assert re.findall(r"^(\S+) \(line (\d+)\): (\w+): ", done.stderr, re.MULTILINE) == [
        ("u0007@bakeoff.test", "8", "pop3"),
        ("stranger@bakeoff.test", "42", "pop3"),
    ]
    # Everybody is let in here, but no mail is taken.
    refusing = mail("--reject", "RCPT=550")
    done = bakeoff("users", "check", users, *refusing.split(","))
    assert done.returncode == 1 and "0 of 40 accounts are ready" in done.stdout
    assert "u0001@bakeoff.test (line 2): smtp: 550" in done.stderr and "… and 20 more" in done.stderr


def test_a_plan_says_what_would_run_and_sends_nothing(bakeoff: Bakeoff, users: Path) -> None:
    done = bakeoff("plan", "mail-pop", "a=smtp=127.0.0.1:1,pop3=127.0.0.1:1", "--users", users, *SHORT)
    assert done.returncode == 0, done.stderr
    assert "mail-pop" in done.stdout


def test_one_wrong_password_is_found_before_anything_is_measured(
    bakeoff: Bakeoff, mail: MailServe, users: Path, tmp_path: Path
) -> None:
    """It is named with its line; a server that takes one session at a time refuses nobody for good."""
    place = mail("--users", str(users), "--max-sessions", "1")
    users.write_text(users.read_text().replace("pw0017", "other"))
    done = bakeoff("run", "mail-pop", f"a={place}", "--users", users, *SHORT, "--mailboxes", "20", "-o", "r.bakeoff")
    assert done.returncode == 2 and not (tmp_path / "r.bakeoff").exists()
    assert f"does not let 1 of 40 accounts of {users} in: u0017@bakeoff.test (line 18): -ERR [AUTH]" in done.stderr
    assert "users convert" in done.stderr
    checked = bakeoff("users", "check", users, *place.split(","))
    assert checked.returncode == 1 and "u0017@bakeoff.test (line 18): pop3: -ERR" in checked.stderr
    assert "39 of 40 accounts are ready" in checked.stdout


def test_the_target_takes_users_with_and_without_their_domain(mail: MailServe, tmp_path: Path) -> None:
    users = tmp_path / "u.csv"
    users.write_text("one,pw1,a.test\ntwo@a.test,pw2\nboth,pw3,a.test\nboth,pw4,b.test\n")
    place = mail("--users", str(users))
    port = int(place.rpartition(":")[2])
    for name, password, is_let_in in (
        ("one", "pw1", True),
        ("one@a.test", "pw1", True),
        ("two", "pw2", True),
        ("both@b.test", "pw4", True),
        ("both", "pw4", False),
        ("one", "pw2", False),
    ):
        session = poplib.POP3("127.0.0.1", port, timeout=PATIENCE_S)
        session.user(name)
        try:
            session.pass_(password)
            assert is_let_in, name
        except poplib.error_proto:
            assert not is_let_in, name
        session.quit()


def test_a_server_that_does_not_do_what_the_plan_asks_of_it_is_told_what_is_wrong(
    bakeoff: Bakeoff, mail: MailServe, users: Path
) -> None:
    address = mail("--users", str(users))
    words = ["--users", users, *SHORT, "--blocks", "1"]
    done = bakeoff("run", "mail-pop", f"a={address}", *words, "--starttls")
    assert done.returncode == 2 and "does not turn to TLS (STARTTLS: 500" in done.stderr, done.stderr
    assert "leave --starttls out" in done.stderr
    smtp, pop3 = (place.partition("=")[2] for place in address.split(","))
    for alone, protocol, other in ((smtp, "pop3", "smtp"), (pop3, "smtp", "pop3")):
        done = bakeoff("run", "mail-pop", f"a={alone}", *words)
        assert done.returncode == 2, done.stderr
        assert f"a: {protocol} at {alone} is a server of {other}" in done.stderr
        assert "name both ports, as in smtp=HOST:PORT,pop3=HOST:PORT" in done.stderr


def test_contenders_with_and_without_tls_are_named_before_they_are_compared(
    bakeoff: Bakeoff, mail: MailServe, users: Path
) -> None:
    plain, secured = mail("--users", str(users)), mail("--users", str(users), "--implicit-tls")
    secured = secured.replace("smtp=", "smtps=").replace("pop3=", "pop3s=")
    words = ["--users", users, *SHORT, "--blocks", "1", "--insecure", "-o", "r.bakeoff"]
    done = bakeoff("run", "mail-pop", f"plain={plain}", f"tls={secured}", *words)
    assert done.returncode == 0, done.stderr
    assert "plain by SMTP without TLS and POP3 without TLS, tls by SMTP with TLS from the first byte" in done.stderr
