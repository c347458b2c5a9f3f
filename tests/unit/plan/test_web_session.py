"""Session files: what they say is what the engine is told, and what they cannot say is refused in a sentence."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.kinds.web_session.file import SessionFile, read_session
from bakeoff.kinds.web_session.plan import workload
from bakeoff.kinds.web_session.spec import SessionWorkload
from bakeoff.plan.load import resolve_plan
from bakeoff.plan.model import Plan
from tests.shop import SESSION, STEPS, session_file
from tests.unit.plan.test_load import flags


def session_spec(
    folder: Path, text: str = SESSION, address: str = "http://h.example:81/www", **settings: Any
) -> SessionWorkload:
    path = str(session_file(folder, text))
    plan = resolve_plan(flags("web-session", f"a={address}", session=path, **settings))
    assert Plan.from_dict(plan.to_dict()).hash == plan.hash
    return workload(plan, plan.contenders[0], ["127.0.0.1:81"])


def test_a_file_is_told_to_the_engine_step_by_step(tmp_path: Path) -> None:
    spec = session_spec(tmp_path, cookie="theme=dark", headers="Accept: */*", basic_auth="me:word")
    assert [step.name for step in spec.steps] == list(STEPS) == [c.name for c in spec.web.classes]
    assert [c.requests[0].method for c in spec.web.classes] == ["GET", "POST", "GET", "POST", "GET"]
    assert spec.web.classes[1].expect == (302,) and spec.web.classes[4].expect == tuple(range(200, 300))
    page, login, home, add, look = spec.steps
    assert (page.take[0].name, page.take[0].way, page.take[0].what) == ("csrf", "between", ('name="csrf" value="', '"'))
    assert login.body is not None and bytes.fromhex(login.body.content) == b"user=u{client}&csrf={csrf:url}"
    assert login.body.fill and [take.way for take in login.take] == ["header", "cookie"]
    assert home.texts == ("Welcome", "</html>") and home.path == "{home:none}"
    assert add.headers == (("Content-Type", "application/json"), ("X-Session", "{sid}"))
    assert (look.take, look.body, look.think_s) == ((), None, 0.0)
    assert (spec.prefix, spec.keep_cookies, spec.cookies) == ("/www", "session", (("theme", "dark"),))
    names = [name for name, _ in spec.web.headers]
    assert "Cookie" not in names and {"Accept", "Authorization"} <= set(names)
    assert spec.rehearsed and spec.pauses_s == 0.0


def test_without_a_jar_a_cookie_is_a_header(tmp_path: Path) -> None:
    text = 'cookies = "off"\n[[step]]\npath = "/"\nthink = "250ms"\n[[step]]\npath = "/b"\nexpect = "200,304"\n'
    spec = session_spec(tmp_path, text, cookie="theme=dark")
    assert spec.cookies == () and ("Cookie", "theme=dark") in spec.web.headers
    assert [step.name for step in spec.steps] == ["1", "2"] and spec.pauses_s == 0.25


def test_bodies_are_read_from_beside_the_file_and_sent_as_they_are_where_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(b"\xff{nobody}")
    step = '[[step]]\npath = "/"\nmethod = "put"\nbody_file = "blob"\n'
    spec = session_spec(tmp_path, step + "fill = false\n")
    body = spec.steps[0].body
    assert body is not None and bytes.fromhex(body.content) == b"\xff{nobody}" and not body.fill
    with pytest.raises(PlanError, match=r"step 1: body: no step before takes \{nobody\}"):
        session_spec(tmp_path, step)


WRONG = [
    ("", "write a table [[step]] for each request"),
    ("[[step]", "is not valid TOML"),
    ("step = [1]", "write a table [[step]]"),
    ("cookies = 'all'\n[[step]]\npath = '/'", "cookies: say"),
    ("[[step]]\npath = '/'\nexpekt = 200", "step 1: there is no 'expekt': did you mean expect?"),
    ("[[steps]]\npath = '/'", "there is no 'steps': did you mean step?"),
    ("[[step]]\nname = 'a'", "step a: path: write one that begins with / or a value"),
    ("[[step]]\npath = 'a b'", "path: write one that begins with /"),
    ("[[step]]\npath = '/{csrf}'", "path: no step before takes {csrf} (there are client)"),
    ("[[step]]\npath = '/{cliemt}'", "did you mean {client}?"),
    ("[[step]]\npath = '/{client:html}'", "{client:html} is written in no known way: url, json, none"),
    ("[[step]]\npath = '/'\nmethod = 'POST'\nbody = '{a}'", "no step before takes {a}"),
    ("[[step]]\npath = '/'\ntake.a = { header = 'A' }\n[[step]]\npath = '/'\nmethod = 'POST'\nbody = '{a}'",
     "step 2: body: say how {a} is written there, one of {a:url}, {a:json}, {a:none}"),
    ("[[step]]\npath = '/'\nbody = 'x'", "step 1: body: GET requests have no body"),
    ("[[step]]\npath = '/'\nbody = 'x'\nbody_file = 'y'", "leave one of the two out"),
    ("[[step]]\npath = '/'\nmethod = 'POST'\nbody_file = 'none-there'", "cannot be read"),
    ("[[step]]\npath = '/'\nfill = false", "fill = false lets a body_file"),
    ("[[step]]\npath = '/'\nname = 'a/b'", "its name is a text"),
    ("[[step]]\npath = '/'\nname = 'a'\n[[step]]\npath = '/'\nname = 'a'", "another step has that name"),
    ("[[step]]\npath = '/'\nheaders = ['Cookie: a=b']", "Cookie is set by the session itself"),
    ("[[step]]\npath = '/'\nheaders = ['nothing']", "'nothing' is not a header"),
    ("[[step]]\npath = '/'\nexpect = 'good'", "expect: 'good' does not name statuses"),
    ("[[step]]\npath = '/'\nexpect = { status = 200, tekst = 'x' }", "there is no 'tekst': did you mean text?"),
    ("[[step]]\npath = '/'\nexpect = { text = '' }", "none of them empty"),
    ("[[step]]\npath = '/'\nthink = 3", 'think: write a time with its unit, such as "500ms"'),
    ("[[step]]\npath = '/'\nthink = '30h'", "a day at most"),
    ("[[step]]\npath = '/'\ntake.client = { header = 'A' }", "take: client can be no value"),
    ("[[step]]\npath = '/'\ntake.a = { regex = 'A' }", "say one of header, cookie, json, between"),
    ("[[step]]\npath = '/'\ntake.a = { header = 'A', json = '/a' }", "say one of header, cookie, json, between"),
    ("[[step]]\npath = '/'\ntake.a = { between = ['x'] }", "write between = ['before', 'after']"),
    ("[[step]]\npath = '/'\ntake.a = { json = 'a' }", 'write json = "/order/0/id"'),
    ("[[step]]\npath = '/'\nmethod = 'HEAD'\nexpect = { text = 'x' }", "replies to HEAD have no body"),
    ("cookies = 'off'\n[[step]]\npath = '/'\ntake.a = { cookie = 'x' }", "cookies are off"),
    ("[[step]]\npath = '/'\nmethod = 'CONNECT'", "CONNECT makes a tunnel"),
    ("[[step]]\npath = '/'\n" * 101, "a session has 100 steps at most, not 101"),
    ("[[step]]\npath = '/'\nthink = '31s'\n[[step]]\npath = '/'", "no session would end in it; give a greater"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), WRONG, ids=[sentence[:40] for _, sentence in WRONG])
def test_what_cannot_be_is_refused_in_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        session_spec(tmp_path, text)
    assert sentence in str(caught.value) and "session" in str(caught.value) and "\n" not in str(caught.value)


def test_what_does_not_go_with_sessions_is_refused(tmp_path: Path) -> None:
    for settings, sentence in (
        ({"http": "2"}, "this suite asks by HTTP/1"),
        ({"headers": "Cookie: a=b"}, "give cookies by --cookie"),
    ):
        with pytest.raises(PlanError, match=sentence):
            session_spec(tmp_path, **settings)
    with pytest.raises(PlanError, match="has a query"):
        session_spec(tmp_path, address="http://h/?a=1")
    with pytest.raises(PlanError, match=r"name the file with the steps of a session, such as --session session\.toml"):
        resolve_plan(flags("web-session", "a=http://h/"))
    with pytest.raises(PlanError, match="cannot be read"):
        resolve_plan(flags("web-session", "a=http://h/", session=str(tmp_path / "none")))


def test_a_stored_session_is_believed_as_far_as_it_fits(tmp_path: Path) -> None:
    read = read_session(session_file(tmp_path))
    assert SessionFile.model_validate_json(read.model_dump_json()) == read
    with pytest.raises(ValueError, match="steps"):
        SessionFile(name="x", cookies="session", steps=())
