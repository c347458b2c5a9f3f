"""Settings of contenders: how clients talk may differ, what is measured may not."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import PlanError, RunFileError
from bakeoff.kinds import KINDS
from bakeoff.plan.campaign import read_campaign
from bakeoff.plan.input.plan_file import masked_input, plan_to_toml
from bakeoff.plan.input.plan_input import plan_input_of
from bakeoff.plan.input.stored import plan_of as stored_plan_of
from bakeoff.plan.kind import plan_part
from bakeoff.plan.load import PlanInput, read_plan_file, resolve_plan
from bakeoff.plan.model import Plan
from bakeoff.plan.settings.client_options import keys_of, parse_client_options
from bakeoff.plan.settings.fields import extra_of

HEAD = '[plan]\nsuite = "web-url"\n'
TWO = """
[[contender]]
name = "a"
address = "http://127.0.0.1:8081/"
[[contender]]
name = "b"
address = "http://127.0.0.1:8082/"
"""


def plan_of(text: str, folder: Path, head: str = HEAD) -> Plan:
    path = folder / "p.toml"
    path.write_text(head + text)
    return resolve_plan(read_plan_file(path))


def own(plan: Plan, name: str, setting: str) -> Any:
    return getattr(plan.settings_of(name), setting)


@pytest.mark.parametrize("kind", KINDS)
def test_client_options_are_plain_settings_of_their_kind(kind: str) -> None:
    """No path, which agents would need, no command and no part of the load: a plan is what `plan_part` says."""
    part = plan_part(kind)
    fields = part.settings.model_fields
    for name in keys_of(part).values():
        assert not {"path", "command", "acts", "table"} & set(extra_of(fields[name])), name
    loads = {
        "clients",
        "virtual_users",
        "streams",
        "length",
        "think",
        "rate",
        "outstanding",
        "reply_timeout",
        "operations",
    }
    assert not loads & set(part.client_options)


def test_a_contender_has_what_it_says_and_the_run_the_rest(tmp_path: Path) -> None:
    plan = plan_of(f'{TWO}settings = {{ keep_alive = false, headers = ["X-A: 1"] }}\n', tmp_path)
    assert [contender.settings for contender in plan.contenders] == [{}, {"keep_alive": False, "headers": ["X-A: 1"]}]
    assert (own(plan, "a", "keep_alive"), own(plan, "b", "keep_alive")) == (True, False)
    assert own(plan, "b", "headers") == ("X-A: 1",) and own(plan, "b", "clients") == plan.settings.clients_by_step
    assert plan.groups == (("a",), ("b",))
    again = stored_plan_of(plan.to_dict(), "stored")
    assert again == plan and again.hash == plan.hash and again.settings_of("b") == plan.settings_of("b")


def test_a_plan_without_any_is_what_it_was(tmp_path: Path) -> None:
    plain = plan_of(TWO, tmp_path)
    assert "settings" not in plain.to_dict()["contenders"][0]
    same = plan_of(f"{TWO}settings = {{ keep_alive = true }}\n", tmp_path)
    assert same.hash == plain.hash and same.groups == (("a", "b"),), "to say what is so anyway makes no difference"
    assert plan_of(f"{TWO}settings = {{ keep_alive = false }}\n", tmp_path).hash != plain.hash


def test_what_a_version_of_http_puts_out_of_use_is_so_for_its_contender_alone(tmp_path: Path) -> None:
    head = '[plan]\nsuite = "web-static"\nsize = "published"\n'
    plan = plan_of(f'{TWO}settings = {{ http = "2" }}\n', tmp_path, head)
    assert (own(plan, "a", "keep_alive"), own(plan, "b", "keep_alive")) == (False, True)
    assert plan.contenders[1].settings == {"http": "2", "keep_alive": True}
    assert {line for line in plan.differences if line.startswith(("http", "keep_alive"))} == {
        line for line in plan.differences if " of b: " in line
    }, "only b is not as published"


@pytest.mark.parametrize(
    ("suite", "line", "said"),
    [
        ("web-url", "clients = [1]", "clients: says what is measured, which all contenders share"),
        ("web-url", "streams = 4", "streams: says what is measured"),
        ("web-url", 'length = "1s"', "length: says what is measured"),
        ("web-url", 'reply_timeout = "60s"', "reply_timeout: says what is measured"),
        ("web-url", 'method = "HEAD"', "method: says what is measured"),
        ("web-url", "load_threads = 2", "load_threads: says what is measured"),
        ("web-url", 'htpt = "2"', "htpt: unknown key: did you mean 'http'"),
        ("web-url", 'http = "4"', "http: '4' does not fit"),
        ("web-url", 'http = "2"\nkeep_alive = false', "HTTP/2 keeps its connections"),
        ("web-url", 'http = "3"', "give an https:// address"),
        ("web-url", "insecure = true", "insecure: no contender is reached by https://"),
        ("app", 'record = "8KiB"', "all settings of app define the work"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(suite: str, line: str, said: str, tmp_path: Path) -> None:
    two = TWO if suite != "app" else TWO.replace("http://", "").replace("/", "")
    with pytest.raises(PlanError) as error:
        plan_of(f"{two}[contender.settings]\n{line}\n", tmp_path, f'[plan]\nsuite = "{suite}"\n')
    assert (said in str(error.value) and "contender b settings" in str(error.value)) or "address" in said
    assert "\n" not in str(error.value)


def test_a_setting_that_each_has_itself_would_do_nothing_for_the_run(tmp_path: Path) -> None:
    text = TWO.replace('8081/"', '8081/"\nsettings = { http = "1.0" }') + 'settings = { http = "2" }\n'
    assert plan_of(text, tmp_path).contenders[0].settings == {"http": "1.0"}
    with pytest.raises(PlanError, match="http: each contender has its own, so this one has no effect"):
        plan_of(f'[settings]\nhttp = "1.1"\n{text}', tmp_path)


NO_TLS = "no connection is made by TLS"


@pytest.mark.parametrize(
    ("line", "why"),
    [('ca_file = "ca.pem"', NO_TLS), ("insecure = true", NO_TLS), ("handshake_apart = true", "only behind STARTTLS")],
)
def test_what_works_for_one_that_is_spoken_to_by_tls_may_be_given_for_all(line: str, why: str, tmp_path: Path) -> None:
    one = '[[contender]]\nname = "a"\naddress = "smtp=127.0.0.1:25,pop3=127.0.0.1:110"\n'
    two = one.replace('"a"', '"b"')
    head = f'[plan]\nsuite = "mail-pop"\n[settings]\nusers = "users.csv"\n{line}\n'
    users = "\n".join(f"u{n}@example.test,secret" for n in range(40))
    (tmp_path / "users.csv").write_text(users)
    (tmp_path / "ca.pem").write_text("")
    assert plan_of(f"{one}{two}[contender.settings]\nstarttls = true\n", tmp_path, head).contenders[1].settings
    with pytest.raises(PlanError, match=why):
        plan_of(f"{one}{two}", tmp_path, head)


def test_a_stored_plan_cannot_let_contenders_do_different_work(tmp_path: Path) -> None:
    stored = plan_of(TWO, tmp_path).to_dict()
    stored["contenders"][1]["settings"] = {"clients": [1]}
    with pytest.raises(RunFileError, match="contenders may not differ in clients"):
        stored_plan_of(stored, "x.bakeoff")
    stored["contenders"][1]["settings"] = {"http": 7}
    with pytest.raises(RunFileError):
        stored_plan_of(stored, "x.bakeoff")


def test_flags() -> None:
    words = ["b:keep-alive=off", "b:headers=X-A: 1", "b:headers=X-B: 2", "a:receive_buffer=4KiB"]
    assert parse_client_options(words) == {
        "b": {"keep_alive": "off", "headers": ["X-A: 1", "X-B: 2"]},
        "a": {"receive_buffer": "4KiB"},
    }
    for wrong in ("b", "b:http", ":http=2", "http=2", "b:=2"):
        with pytest.raises(PlanError, match="write NAME:SETTING=VALUE"):
            parse_client_options([wrong])


def written_again(plan: Plan, given: PlanInput, folder: Path) -> Plan:
    path = folder / "again.toml"
    path.write_text(plan_to_toml(given, plan))
    return resolve_plan(read_plan_file(path))


def test_a_plan_file_that_is_written_means_the_same(tmp_path: Path) -> None:
    lines = 'keep_alive = false\nreceive_buffer = "4KiB"\nheaders = ["X-A: 1", "X-B: 2"]\n'
    plan = plan_of(f"{TWO}[contender.settings]\n{lines}", tmp_path)
    given = read_plan_file(tmp_path / "p.toml")
    assert written_again(plan, given, tmp_path).hash == plan.hash
    assert written_again(plan, plan_input_of(plan, "run"), tmp_path).hash == plan.hash


def test_secrets_of_a_contender_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(f'{TWO}settings = {{ basic_auth = "me:hush", headers = ["X-Token: hush"] }}\n', tmp_path)
    given = read_plan_file(tmp_path / "p.toml")
    text = plan_to_toml(given, plan)
    assert "hush" not in text
    assert masked_input(given, plan)[1] == ["BAKEOFF_B_BASIC_AUTH", "BAKEOFF_B_HEADERS"]
    monkeypatch.setenv("BAKEOFF_B_BASIC_AUTH", "me:hush")
    monkeypatch.setenv("BAKEOFF_B_HEADERS", "X-Token: hush")
    assert written_again(plan, given, tmp_path).hash == plan.hash


FACTORS = """
[factors]
http = ["1.1", "2"]
[factors.kept.yes]
[factors.kept.no.settings]
requests_per_connection = 1
[[contender]]
name = "a"
address = "http://127.0.0.1:8081/"
settings = { http = "{http}" }
"""


def test_factors_fill_settings_and_levels_have_their_own(tmp_path: Path) -> None:
    plan = plan_of(FACTORS, tmp_path)
    assert {c.name: c.settings for c in plan.contenders} == {
        "a-1.1-yes": {},
        "a-1.1-no": {"requests_per_connection": 1},
        "a-2-yes": {"http": "2"},
        "a-2-no": {"http": "2", "requests_per_connection": 1},
    }
    assert written_again(plan, read_plan_file(tmp_path / "p.toml"), tmp_path).hash == plan.hash
    assert written_again(plan, plan_input_of(plan, "run"), tmp_path).hash == plan.hash


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ('settings = { http = "{http}" }', "", "are the same server: let address, reset or settings say"),
        ("{http}", "{htpt}", "there is no factor 'htpt'"),
        ("{http}", "{http.settings}", "has no word"),
        ("[factors.kept.no.settings]\nrequests_per_connection = 1", "[factors.kept.no]\nsettings = 1", "write a table"),
        ("requests_per_connection = 1", "virtual_users = 2", "virtual_users: says what is measured"),
        ("[factors.kept.yes]", '[factors.kept.yes.settings]\nhttp = "2"\n[factors.other.x.settings]\nhttp = "2"\n'
         '[factors.other.y]\n[factors.kept.maybe]', "both kept and other say it"),
    ],
)  # fmt: skip
def test_factors_that_cannot_be_meant(was: str, becomes: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=said):
        plan_of(FACTORS.replace(was, becomes), tmp_path)


CAMPAIGN = """
[[suite]]
suite = "web-url"
[[suite]]
suite = "file-mix"
[[contender]]
name = "a"
web = "http://127.0.0.1:8081/"
files = "FOLDER"
[[contender]]
name = "b"
web = "http://127.0.0.1:8082/"
"""


def test_campaigns_have_settings_by_sort_of_suite(tmp_path: Path) -> None:
    (tmp_path / "share").mkdir()
    text = CAMPAIGN.replace("FOLDER", str(tmp_path / "share"))
    path = tmp_path / "c.toml"
    path.write_text(f'{text}settings.web = {{ http = "2" }}\n')
    web, files = read_campaign(path).suite_runs
    assert [contender.settings for contender in web.plan.contenders] == [{}, {"http": "2"}]
    assert [contender.settings for contender in files.plan.contenders] == [{}]
    for line, said in (
        ('settings = { http = "2" }', "write a table for each sort of suite"),
        ("settings.wbe = { http = 2 }", "wbe: no sort of suite: did you mean 'web'"),
        ("settings.files = { flush = false }", "no effect without an address for such suites"),
        ("settings.web = { length = '1s' }", "length: says what is measured"),
    ):
        path.write_text(f"{text}{line}\n")
        with pytest.raises(PlanError, match=said):
            read_campaign(path)
