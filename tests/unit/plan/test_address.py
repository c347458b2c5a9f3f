import pytest

from bakeoff.core.errors import ContenderError, PlanError
from bakeoff.kinds.web.settings.address import parse_web_address
from bakeoff.plan.input.address import resolve


@pytest.mark.parametrize(
    ("text", "scheme", "host", "port", "unix", "prefix", "header"),
    [
        ("http://example.org", "http", "example.org", 80, None, "", "example.org"),
        ("http://example.org:8080/", "http", "example.org", 8080, None, "", "example.org:8080"),
        ("https://example.org/a/b/", "https", "example.org", 443, None, "/a/b", "example.org"),
        ("https://example.org:80", "https", "example.org", 80, None, "", "example.org:80"),
        ("http://[::1]:8080/x?y=1", "http", "::1", 8080, None, "/x", "[::1]:8080"),
        ("http://[::1]", "http", "::1", 80, None, "", "[::1]"),
        ("unix:/run/s.sock", "http", "localhost", 80, "/run/s.sock", "", "localhost"),
        ("unix:/run/s.sock:/p/", "http", "localhost", 80, "/run/s.sock", "/p", "localhost"),
        ("http+unix://%2Frun%2Fs.sock/p", "http", "localhost", 80, "/run/s.sock", "/p", "localhost"),
    ],
)
def test_forms(text: str, scheme: str, host: str, port: int, unix: str | None, prefix: str, header: str) -> None:
    a = parse_web_address(text)
    assert (a.scheme, a.host, a.port, a.unix, a.prefix, a.host_header) == (
        scheme,
        host,
        port,
        unix,
        prefix,
        header,
    )


@pytest.mark.parametrize(
    "text",
    [
        "example.org",
        "127.0.0.1:80",
        "ftp://h",
        "http://",
        "http://h:99999",
        "http://h:0",
        "http://h:x",
        "unix:relative",
        "http://user:secret@h/",
        "http://h/#part",
        "http://h/a b",
        "http://h/\r\nX: y",
        "http://[::1",
        "unix:/s:relative",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(PlanError, match="address "):
        parse_web_address(text)


def test_resolving() -> None:
    assert resolve(parse_web_address("http://127.0.0.1:81")) == ("127.0.0.1:81",)
    assert resolve(parse_web_address("http://[::1]:81")) == ("[::1]:81",)
    assert resolve(parse_web_address("unix:/s")) == ()
    with pytest.raises(ContenderError, match=r"'no\.such\.name\.invalid' cannot be resolved"):
        resolve(parse_web_address("http://no.such.name.invalid"))
