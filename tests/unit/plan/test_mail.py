"""Addresses, accounts and tables of mail plans: what is taken and what is refused, with what words."""

from pathlib import Path

import pytest

from bakeoff.core.errors import ContenderError, PlanError
from bakeoff.testdata.mail.accounts import Account, new_accounts, read_accounts, write_accounts
from bakeoff.testdata.mail.address import Place, parse_mail_address, resolve_place
from bakeoff.testdata.mail.sizes import ISP_2001, RECIPIENTS_2001, parse_recipients, parse_sizes


@pytest.mark.parametrize(
    ("text", "sending", "reading"),
    [
        ("mx.test", Place("smtp", "mx.test", 25), Place("pop3", "mx.test", 110)),
        ("smtp=a:2525,pop3=b:2110", Place("smtp", "a", 2525), Place("pop3", "b", 2110)),
        ("pop3s=b, lmtp=a:24", Place("lmtp", "a", 24), Place("pop3s", "b", 995)),
        ("smtps=a,pop3=b", Place("smtps", "a", 465), Place("pop3", "b", 110)),
        ("smtp=[::1]:25,pop3=[::1]", Place("smtp", "::1", 25), Place("pop3", "::1", 110)),
    ],
)
def test_addresses(text: str, sending: Place, reading: Place) -> None:
    found = parse_mail_address(text)
    assert (found.sending, found.reading) == (sending, reading)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("smtp=a", "needs a server to send to and one to read from"),
        ("smtp=a,lmtp=b,pop3=c", "two servers for sending"),
        ("imap=a,smtp=b", "'imap' is not a protocol"),
        ("smtp=a:0,pop3=b", "is not a host with a port"),
        ("smtp=a:99999,pop3=b", "is not a host with a port"),
        ("smtp=a b,pop3=b", "is not a host with a port"),
        ("smtp=,pop3=b", "is not a host with a port"),
        ("http://a/", "is not a host with a port"),
    ],
)
def test_wrong_addresses_are_refused_with_the_right_forms(text: str, why: str) -> None:
    with pytest.raises(PlanError, match=why) as refused:
        parse_mail_address(text)
    assert "smtp=HOST:PORT,pop3=HOST:PORT" in str(refused.value)


def test_places_are_resolved() -> None:
    assert resolve_place(Place("smtp", "localhost", 25)) in ("127.0.0.1:25", "[::1]:25")
    assert resolve_place(Place("smtp", "::1", 25)) == "[::1]:25"
    with pytest.raises(ContenderError, match="cannot be resolved"):
        resolve_place(Place("smtp", "no-such-host.invalid", 25))


def test_accounts_survive_the_file(tmp_path: Path) -> None:
    path, accounts = tmp_path / "u.csv", [*new_accounts(3, "a.test"), Account("x.y", 'pass, "word"', "b.test")]
    write_accounts(path, accounts)
    assert read_accounts(path) == accounts
    assert accounts[3].address == "x.y@b.test"
    assert len({a.password for a in new_accounts(12_000, "a.test")}) == 12_000


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("", "holds no account"),
        ("user,password,domain\n", "holds no account"),
        ("a,b\n", "line 1: write user,password,domain"),
        ("a,b,c.test\n\na,x,c.test\n", "line 3: a@c.test comes twice"),
        ("a@c.test,b,d.test\n", "line 1: a@c.test is of another domain than d.test"),
        ("a,b\n", "or u0001@example.test,secret"),
        ("a@c.test,b,c.test\na,x,c.test\n", "line 2: a@c.test comes twice"),
        ("a b,p,c.test\n", "line 1: use plain letters"),
        ("a,p:q,c.test\n", "line 1: use plain letters"),
        ("ä,p,c.test\n", "line 1: use plain letters"),
    ],
)
def test_wrong_account_files_are_refused_with_the_line(tmp_path: Path, lines: str, why: str) -> None:
    (tmp_path / "u.csv").write_text(lines)
    with pytest.raises(PlanError, match=why):
        read_accounts(tmp_path / "u.csv")


def test_the_tables_of_2001_have_the_published_means() -> None:
    def mean(table: tuple[tuple[int, float], ...]) -> float:
        return sum(value * weight for value, weight in table) / sum(weight for _, weight in table)

    assert mean(ISP_2001) / 1024 == pytest.approx(24.53, abs=0.01)
    assert mean(RECIPIENTS_2001) == pytest.approx(2.00, abs=0.01)
    assert parse_sizes("4KiB=90,100KiB=10") == ((4096, 90.0), (102_400, 10.0))
    assert parse_recipients("3") == ((3, 1.0),)
    for wrong in ("", "4KiB=x", "0", "1=0"):
        with pytest.raises(ValueError, match=r"write isp-2001"):
            parse_sizes(wrong)


def test_accounts_may_be_written_as_whole_addresses(tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text("user,password,domain\na,p,c.test\nb@c.test,p\nd@c.test,p,c.test\n")
    accounts = read_accounts(tmp_path / "u.csv")
    assert [(a.address, a.line) for a in accounts] == [("a@c.test", 2), ("b@c.test", 3), ("d@c.test", 4)]
