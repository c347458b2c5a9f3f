"""`bakeoff users`, and mail runs against the built-in target, as a user has them."""

import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bakeoff.store.read import read_run
from tests.cli.conftest import COMMAND, Bakeoff, target

SHORT = ["--size", "quick", "--mixes", "2", "--length", "1s", "--ramp-up", "100ms", "--ramp-down", "100ms"]
MailServe = Callable[..., str]


@pytest.fixture
def mail() -> Iterator[MailServe]:
    """`mail(flag, …)` starts the target on free ports and gives its address."""
    with ExitStack() as stack:
        yield lambda *words: stack.enter_context(target("mail", "--smtp-port", "0", "--pop3-port", "0", *words))


@pytest.fixture
def users(bakeoff: Bakeoff, tmp_path: Path) -> Path:
    path = tmp_path / "users.csv"
    assert bakeoff("users", "new", "--count", "40", "--domain", "bakeoff.test", "-o", path).returncode == 0
    return path


def test_a_contender_that_loses_one_per_cent_is_told_in_the_first_lines(
    bakeoff: Bakeoff, mail: MailServe, users: Path, tmp_path: Path
) -> None:
    contenders = [f"good={mail('--users', str(users))}", f"bad={mail('--users', str(users), '--lose', '1/100')}"]
    words = ["--users", users, *SHORT, "--sizes", "2KiB", "--blocks", "1", "--drain-limit", "2s"]
    done = bakeoff("run", "mail-pop", *contenders, *words, "-o", "r.bakeoff")
    assert done.returncode == 0, done.stderr
    trials = {trial.contender: trial for trial in read_run(tmp_path / "r.bakeoff").trials}
    ledger = trials["bad"].workload["ledger"]["counts"]
    assert ledger["accepted"] >= 100 and ledger["lost"] == ledger["accepted"] // 100
    first = next(line for line in done.stdout.splitlines() if line.strip())
    assert first.startswith(f"bad did not keep its mail: of {ledger['accepted']:,} accepted, {ledger['lost']:,} lost.")
    assert "good did not" not in done.stdout
    assert bakeoff("report", "r.bakeoff", "-o", "r.html").returncode == 0
    html = (tmp_path / "r.html").read_text()
    verdict = html.index("bad did not keep its mail")
    assert verdict < html.index("What became of the messages")
    assert trials["good"].workload["ledger"]["counts"]["lost"] == 0


def test_a_client_that_is_refused_too_often_fails_its_mix_and_the_run_goes_on(
    bakeoff: Bakeoff, mail: MailServe, users: Path, tmp_path: Path
) -> None:
    """With one session at a time four clients do not get their mailboxes emptied; a single client does."""
    shut = mail("--users", str(users), "--max-sessions", "1", "--delay", "20ms")
    open_ = mail("--users", str(users))
    words = ["--users", users, *SHORT, "--mixes", "1,4", "--blocks", "1", "--retries", "4"]
    done = bakeoff("run", "mail-pop", f"shut={shut}", f"open={open_}", *words, "-o", "r.bakeoff")
    assert done.returncode == 0, done.stderr
    found = {(trial.contender, trial.mix_clients): trial for trial in read_run(tmp_path / "r.bakeoff").trials}
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
    assert process.wait(30) == 130
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
    assert re.findall(r"^(\S+): (\w+): ", done.stderr, re.MULTILINE) == [
        ("u0007@bakeoff.test", "pop3"),
        ("stranger@bakeoff.test", "pop3"),
    ]
    # Everybody is let in here, but no mail is taken.
    refusing = mail("--reject", "RCPT=550")
    done = bakeoff("users", "check", users, *refusing.split(","))
    assert done.returncode == 1 and "0 of 40 accounts are ready" in done.stdout
    assert "u0001@bakeoff.test: smtp: 550" in done.stderr and "… and 20 more" in done.stderr


def test_a_plan_says_what_would_run_and_sends_nothing(bakeoff: Bakeoff, users: Path) -> None:
    done = bakeoff("plan", "mail-pop", "a=smtp=127.0.0.1:1,pop3=127.0.0.1:1", "--users", users, *SHORT)
    assert done.returncode == 0, done.stderr
    assert "mail-pop" in done.stdout
