from pathlib import Path
from typing import Any

import pytest

from bakeoff.agents.spec import TrialSpec
from bakeoff.core.errors import PlanError
from bakeoff.kinds.web.plan import WebSettings, needed_corpus
from bakeoff.kinds.web.plan import workload as workload_of
from bakeoff.kinds.web.settings.classes import web_classes
from bakeoff.kinds.web.spec import WebWorkload
from bakeoff.plan.kind import plan_part
from bakeoff.plan.load import resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.plan.suites import load_suite, suite_names
from bakeoff.testdata.corpus.manifest import Manifest, ManifestFile
from tests.unit.plan.test_load import flags

SHA = "a" * 64


def manifest(suite: str) -> Manifest:
    classes = {
        c.name: (ManifestFile(path=f"d/{i}.gif", size=223 + i, sha256=SHA),)
        for i, c in enumerate(web_classes(load_suite(suite).classes))
        if c.source == "files"
    }
    dynamic = (
        (ManifestFile(path="cgi-bin/bakeoff.cgi?n=1&size=64", size=64, sha256=SHA),) if suite == "web-dynamic" else ()
    )
    return Manifest(suite=suite, seed=1, files=len(classes), bytes_total=1, classes=classes, dynamic=dynamic)


def workload(suite: str, address: str = "http://h.example:81/www", **settings: Any) -> WebWorkload:
    plan = resolve_plan(flags(suite, f"a={address}", **settings))
    corpus = manifest(suite) if needed_corpus(plan) else None
    return workload_of(plan, plan.contenders[0], ["127.0.0.1:81"], corpus)


def test_the_published_classes_of_web_static() -> None:
    classes = {c.name: c for c in workload("web-static").classes}
    shares = {
        "223": 20,
        "735": 8,
        "1522": 12,
        "2895": 20,
        "6040": 14,
        "11426": 16,
        "22132": 7,
        "large": 1,
        "404": 2,
    }
    assert {name: pytest.approx(c.weight) for name, c in classes.items()} == shares
    assert classes["404"].expect == (404,) and classes["223"].expect == (200,)
    missing = classes["404"].requests
    assert len({r.path for r in missing}) == 100
    assert all(r.path.startswith("/www/") and r.length is None and r.sha256 is None for r in missing)
    assert [(r.path, r.length, r.sha256) for r in classes["735"].requests] == [("/www/d/1.gif", 224, SHA)]


def test_the_method_of_web_url() -> None:
    (asked,) = workload("web-url", method="head").classes[0].requests
    assert (asked.method, asked.length) == ("HEAD", None)
    assert workload("web-url").classes[0].requests[0].method == "GET"
    with pytest.raises(PlanError, match=r"method belongs to web-url, not to web-static"):
        workload("web-static", method="HEAD")
    assert workload("web-url", method="purge-x").classes[0].requests[0].method == "purge-x"
    for wrong, why in (("GE T", "no method"), ("", "no method"), ("x" * 33, "no method"), ("connect", "tunnel")):
        with pytest.raises(PlanError, match=why):
            workload("web-url", method=wrong)


def test_the_connection_of_web_static() -> None:
    w = workload("web-static")
    assert (w.http, w.keep_alive, w.receive_buffer_bytes, w.tls, w.unix) == ("1.0", False, None, None, None)
    assert (w.scheme, w.host, w.addresses) == ("http", "h.example:81", ("127.0.0.1:81",))
    assert w.headers == (("User-Agent", "bakeoff/0.1.0"),)


def test_twenty_percent_of_web_dynamic_are_computed() -> None:
    classes = {c.name: c.weight for c in workload("web-dynamic").classes}
    assert classes["dynamic"] == pytest.approx(20)
    assert sum(classes.values()) == pytest.approx(100)
    assert {name.partition("/")[0] for name in classes} == {"static", "dynamic"}
    assert {c.name: c.weight for c in workload("web-dynamic", dynamic_share="50%").classes}["dynamic"] == pytest.approx(
        50
    )
    assert "dynamic" not in {c.name for c in workload("web-dynamic", dynamic_share="0%").classes}


def test_a_computed_page_of_ones_own_is_not_checked() -> None:
    dynamic = workload("web-dynamic", dynamic_url="/app.php?id=3").classes[-1]
    assert [(r.path, r.length, r.sha256) for r in dynamic.requests] == [("/www/app.php?id=3", None, None)]


def test_web_url_takes_the_address_as_it_is_and_success_only() -> None:
    (only,) = workload("web-url", "http://h/x/y?z=1").classes
    assert (only.name, only.expect, [r.path for r in only.requests]) == (
        "url",
        tuple(range(200, 300)),
        ["/x/y?z=1"],
    )
    wanted = [workload("web-url", "http://h/x", expect=text).classes[0].expect for text in ("200,304", "any", "404")]
    assert wanted == [(200, 304), (), (404,)]
    for wrong in ("ok", "", "20", "2xx;3xx", "any,200", "700", True):
        with pytest.raises(PlanError, match="does not name statuses"):
            workload("web-url", "http://h/x", expect=wrong)
    assert [r.path for r in workload("web-url", "http://h").classes[0].requests] == ["/"]


def test_a_list_of_paths(tmp_path: Path) -> None:
    path = tmp_path / "urls"
    path.write_text("# comment\n\n3 /a\n1 /b?x=1  # another\n/c\n")
    classes = workload("web-url", "http://h/base/", urls=str(path)).classes
    assert [(c.name, c.weight, [r.path for r in c.requests]) for c in classes] == [
        ("/a", pytest.approx(60), ["/base/a"]),
        ("/b?x=1", pytest.approx(20), ["/base/b?x=1"]),
        ("/c", pytest.approx(20), ["/base/c"]),
    ]


def test_a_long_list_is_grouped_by_weight(tmp_path: Path) -> None:
    path = tmp_path / "urls"
    path.write_text("".join(f"{1 + i % 2} /p{i}\n" for i in range(100)))
    classes = {c.name: c for c in workload("web-url", urls=str(path)).classes}
    assert {name: pytest.approx(c.weight) for name, c in classes.items()} == {
        "weight 1": 100 / 3,
        "weight 2": 200 / 3,
    }
    assert len(classes["weight 1"].requests) == 50


def test_what_requests_carry(tmp_path: Path) -> None:
    (tmp_path / "order.json").write_bytes(b"{}\xff")
    body = str(tmp_path / "order.json")
    w = workload("web-url", method="post", body=body)
    (asked,) = w.classes[0].requests
    assert (asked.method, asked.body, w.bodies) == ("POST", 0, (b"{}\xff".hex(),))
    for settings, why in (
        ({}, "GET requests have no body: give method POST"),
        ({"method": "POST", "http": "2"}, "over HTTP/1"),
        ({"method": "POST", "http": "3"}, "over HTTP/1"),
    ):
        with pytest.raises(PlanError, match=why):
            workload("web-url", "https://h/", body=body, **settings)
    with pytest.raises(PlanError, match="cannot be read"):
        workload("web-url", method="POST", body=str(tmp_path / "none"))
    (tmp_path / "large").write_bytes(bytes((4 << 20) + 1))
    with pytest.raises(PlanError, match=r"more than 4\.19 MB"):
        workload("web-url", method="POST", body=str(tmp_path / "large"))
    with pytest.raises(PlanError, match="body belongs to web-url"):
        workload("web-static", body=body, method="POST")


def test_lines_with_method_and_body(tmp_path: Path) -> None:
    (tmp_path / "login").write_bytes(b"k=v")
    path = tmp_path / "urls"
    path.write_text("2 /a\npost /login @login a/b\n1 POST /again @login\nDELETE /c\n")
    w = workload("web-url", "http://h/base", urls=str(path))
    asked = {c.name: [(r.method, r.path, r.body, r.content_type) for r in c.requests] for c in w.classes}
    assert asked == {
        "/a": [("GET", "/base/a", None, None)],
        "POST /login": [("POST", "/base/login", 0, "a/b")],
        "POST /again": [("POST", "/base/again", 0, None)],
        "DELETE /c": [("DELETE", "/base/c", None, None)],
    }
    assert w.bodies == (b"k=v".hex(),)
    for line, why in (
        ("/a @login", "name the method"),
        ("GET /a @login", "GET requests have no body"),
        ("POST /a @none", "cannot be read"),
        ("POST /a @login b\x01", "no content type"),
        ("POST /a login", "is not `weight path`"),
        ("CONNECT /a", "tunnel"),
    ):
        path.write_text(line + "\n")
        with pytest.raises(PlanError, match=why):
            workload("web-url", urls=str(path))


def test_a_stored_list_of_an_older_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "urls"
    path.write_text("3 /a\n")
    stored = resolve_plan(flags("web-url", "a=http://h", urls=str(path))).to_dict()
    older = {**stored, "settings": {**stored["settings"], "urls": [[3.0, "/a"]]}}
    assert Plan.from_dict(older).settings == Plan.from_dict(stored).settings


def test_cookies_and_credentials_are_headers() -> None:
    w = workload("web-url", cookie=["a=1", "b=2"], basic_auth="me:s:t")
    assert w.headers[1:] == (("Authorization", "Basic bWU6czp0"), ("Cookie", "a=1; b=2"))
    for settings, why in (
        ({"cookie": ["a"]}, "NAME=VALUE"),
        ({"cookie": ["a=b;c=d"]}, "NAME=VALUE"),
        ({"basic_auth": "me"}, "USER:PASSWORD"),
        ({"basic_auth": "m\re:x"}, "USER:PASSWORD"),
        ({"cookie": ["a=b"], "headers": ["cookie: c=d"]}, "leave one of the two out"),
        ({"basic_auth": "a:b", "headers": ["Authorization: x"]}, "leave one of the two out"),
    ):
        with pytest.raises(PlanError, match=why):
            workload("web-url", **settings)


@pytest.mark.parametrize("text", ["", "# only\n", "3 a\n", "x /a y\n", "-1 /a\n", "1 2 /a\n", "0 /a\n", "inf /a\n"])
def test_a_wrong_list_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "urls"
    path.write_text(text)
    with pytest.raises(PlanError, match=r"--urls: .*such as `3 /index.html`"):
        workload("web-url", urls=str(path))


def test_tls_and_other_settings_reach_the_workload(tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_text("x")
    w = workload(
        "web-static",
        "https://h",
        full_handshake=True,
        ca_file=str(authority),
        keep_alive=True,
        requests_per_connection="7",
        check_every="0",
        headers=["User-Agent: me", "X-A: b: c"],
        source_addresses="127.0.0.2",
        close_with_reset=True,
        http="1.1",
        receive_buffer="auto",
    )
    assert w.tls is not None and w.tls.verify and not w.tls.resumption and w.tls.ca_file == str(authority)
    assert w.headers == (("User-Agent", "me"), ("X-A", "b: c"))
    assert (w.requests_per_connection, w.check_every, w.source_addresses) == (7, 0, ("127.0.0.2",))
    assert (w.close_with_reset, w.http, w.receive_buffer_bytes) == (True, "1.1", None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"headers": ["no colon"]}, "is not a header: write 'Name: value'"),
        ({"headers": ["A: b\r\nC: d"]}, "is not a header"),
        ({"headers": ["Host: x"]}, "Host is set by the suite itself"),
        ({"requests_per_connection": "5"}, "requests_per_connection needs keep_alive"),
        ({"ca_file": "/nonexistent.pem"}, "does not exist: give a PEM file"),
        ({"ca_file": "/usr"}, "ca_file: /usr is a folder: give a PEM file"),
        ({"weights": "223=-1"}, "weights: give shares of 0 or more"),
        ({"weights": "223"}, "is not a list of weights: write it like 223=20,735=8"),
        ({"receive_buffer": "4 bananas"}, "is not a size"),
        ({"virtual_users": "two"}, "--virtual-users: 'two' is not a whole number"),
        ({"pin": "0,0"}, "pin: give different core numbers"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError) as caught:
        workload("web-static", **settings)
    assert message in str(caught.value)


def test_an_empty_class_of_the_corpus_is_named() -> None:
    plan = resolve_plan(flags("web-static"))
    thin = manifest("web-static").model_copy(update={"classes": {}})
    with pytest.raises(PlanError, match="no files of class '223'"):
        workload_of(plan, plan.contenders[0], [], thin)


ADDRESSES = {
    "web": "http://127.0.0.1:1",
    "app": "127.0.0.1:1",
    "mail": "smtp=127.0.0.1:1,pop3=127.0.0.1:2",
}


@pytest.mark.parametrize("suite", suite_names())
def test_every_shipped_suite_resolves_in_every_size(suite: str, tmp_path: Path) -> None:
    kind = load_suite(suite).suite.kind
    settings = {}
    if kind == "mail":
        users = tmp_path / "users.csv"
        users.write_text("user,password,domain\n" + "".join(f"u{n},pw{n},example.test\n" for n in range(3000)))
        settings = {"users": str(users)}
    if kind == "replay":
        log = tmp_path / "access.log"
        log.write_text('::1 - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1" 200 5\n')
        settings = {"log": str(log)}
    if kind == "web-session":
        session = tmp_path / "session.toml"
        session.write_text('[[step]]\npath = "/"\n')
        settings = {"session": str(session)}
    for size in ("quick", "long", "full"):
        address = ADDRESSES.get(plan_part(kind).address_kind, "/srv/share")
        plan = resolve_plan(flags(suite, f"a={address}", plan={"size": size}, **settings))
        if plan.classes:
            assert sum(c.weight for c in plan.classes) == pytest.approx(100)


def test_every_setting_is_documented() -> None:
    for name, field in WebSettings.model_fields.items():
        assert field.description and field.description.endswith((".", "%.")), name


def test_the_trial_spec_refuses_unknown_keys() -> None:
    with pytest.raises(ValueError, match="extra"):
        TrialSpec.model_validate({"workload": {"kind": "null"}, "load": {"clients": 1}, "length_s": 1.0, "lenght": 2})
