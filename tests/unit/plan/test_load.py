from pathlib import Path
from typing import Any

import pytest

from bakeoff.core.errors import PlanError
from bakeoff.kinds.web.plan import WebSettings
from bakeoff.plan.input.plan_file import plan_to_toml
from bakeoff.plan.kind import plan_part
from bakeoff.plan.load import PlanInput, parse_contenders, placed, read_plan_file, resolve_plan, with_flags
from bakeoff.plan.model import Plan
from bakeoff.plan.suites import load_suite

PLAN = """
[plan]
name = "which proxy"
suite = "web-static"
size = "long"
blocks = 9
seed = 7
delta = "3%"
error_limit = "1%"
corpus = "files"

[settings]
length = "20s"
keep_alive = true
http = 1.1
clients = [2, 6]
weights = { 223 = 50, "404" = 0 }

[[contender]]
name = "nginx"
address = "http://127.0.0.1:8080"
reset = "systemctl restart nginx"
ready_timeout = "5s"

[[contender]]
name = "apache"
address = "http://127.0.0.1:8081/www"
"""


def flags(
    suite: str = "web-static", *contenders: str, plan: dict[str, Any] | None = None, **settings: Any
) -> PlanInput:
    words = contenders or ("a=http://127.0.0.1:1", "b=http://127.0.0.1:2")
    given = PlanInput("command line", {"suite": suite}, {}, parse_contenders(words))
    return with_flags(given, plan or {}, settings, {})


def write(folder: Path, text: str) -> Path:
    path = folder / "p.toml"
    path.write_text(text)
    return path


def test_a_whole_plan_file(tmp_path: Path) -> None:
    plan = resolve_plan(read_plan_file(write(tmp_path, PLAN)))
    assert (plan.name, plan.suite, plan.kind, plan.size) == ("which proxy", "web-static", "web", "long")
    assert (plan.blocks, plan.seed, plan.delta, plan.error_limit) == (9, 7, 0.03, 0.01)
    assert plan.settings.stored()["corpus"] == str(tmp_path / "files")
    settings = plan.settings
    assert isinstance(settings, WebSettings)
    assert (settings.length_s, settings.clients, settings.http, settings.keep_alive) == (
        20.0,
        (2, 6),
        "1.1",
        True,
    )
    assert settings.receive_buffer_bytes is None
    nginx, apache = plan.contenders
    assert (nginx.name, nginx.reset, nginx.ready_timeout_s) == ("nginx", "systemctl restart nginx", 5.0)
    assert (apache.address, apache.reset, apache.ready_timeout_s) == ("http://127.0.0.1:8081/www", None, 30.0)
    assert "404" not in {c.name for c in plan.classes}
    assert plan.trials == 2 * 2 * 9
    assert not any("Shares of the request classes" in text for text in plan.assumed)


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    given = with_flags(read_plan_file(write(tmp_path, PLAN)), {"blocks": "6"}, {"length": "5s"}, {"apache": "true"})
    plan = resolve_plan(given)
    assert (plan.blocks, plan.settings.length_s, plan.contenders[1].reset) == (6, 5.0, "true")
    with pytest.raises(PlanError, match=r"^--length: 'x' is not a duration"):
        resolve_plan(with_flags(given, {}, {"length": "x"}, {}))


def test_defaults_of_the_sizes() -> None:
    quick, long, full = (resolve_plan(flags(plan={"size": size})) for size in ("quick", "long", "full"))
    assert resolve_plan(flags()) == quick
    assert (quick.blocks, quick.settings.clients) == (6, (1, 4, 8))
    assert (long.blocks, long.settings.clients) == (8, (1, 4, 8, 12, 16, 20, 24, 28))
    assert full.settings.clients == (1, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60)
    assert (full.settings.length_s, full.settings.ramp_up_s, full.settings.window_s) == (300.0, 30.0, 240.0)
    assert quick.trials * (quick.settings.length_s + 0.1) < 110, "two contenders must take under 2 minutes"


def test_a_shorter_length_takes_shorter_ramps_with_it() -> None:
    settings = resolve_plan(flags(plan={"size": "full"}, length="10s")).settings
    assert (settings.ramp_up_s, settings.ramp_down_s) == (1.0, 1.0)
    settings = resolve_plan(flags(plan={"size": "full"}, length="10s", ramp_up="4s")).settings
    assert (settings.ramp_up_s, settings.ramp_down_s) == (4.0, 1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLAN.replace("blocks", "blokcs"), "p.toml [plan] blokcs: unknown key: did you mean 'blocks'?"),
        (
            PLAN.replace("keep_alive", "keepalive"),
            "p.toml [settings] keepalive: unknown key: did you mean 'keep_alive'?",
        ),
        (PLAN.replace("address =", "adress ="), "p.toml contender nginx address: is missing: add it"),
        (
            PLAN.replace("[settings]", "[setings]"),
            "p.toml: unknown table [setings]: did you mean 'settings'?",
        ),
        (
            PLAN.replace("web-static", "web-statik"),
            "there is no suite 'web-statik': did you mean 'web-static'?",
        ),
        (PLAN.replace("web-static", "smtp"), "there is no suite 'smtp': did you mean 'mail-pop'?"),
        (PLAN.replace('"20s"', "20"), "p.toml [settings] length: '20' is not a duration"),
        (PLAN.replace('"20s"', '"20 MB"'), "p.toml [settings] length: '20 MB' is not a duration"),
        (PLAN.replace('"20s"', '"3s"\nramp_up = "2s"\nramp_down = "1s"'), "length includes both ramps"),
        (
            PLAN.replace("[2, 6]", "[6, 2]"),
            "clients: give different numbers of clients, all at least 1, rising",
        ),
        (PLAN.replace("[2, 6]", "[]"), "clients: give different numbers"),
        (PLAN.replace("http = 1.1", "http = 4"), "http: '4' does not fit: input should be '1.0', '1.1', '2' or '3'"),
        (PLAN.replace('"nginx"', '"apache"'), "two contenders are named 'apache'"),
        (PLAN.replace('"nginx"', '"my server"'), "contender my server name: 'my server' does not fit"),
        (PLAN.replace("http://127.0.0.1:8080", "127.0.0.1:8080"), "is not a web address: write http://host"),
        (PLAN.replace("223 = 50", "224 = 50"), "weights: there is no class '224': did you mean '223'?"),
        (PLAN.replace('"3%"', '"3"'), "delta: '3' is not a share: write a percentage such as 5%"),
        (PLAN.replace("blocks = 9", "blocks = 0"), "blocks: 0 does not fit"),
        (PLAN.replace("[plan]", "[plan"), "p.toml is not valid TOML"),
        (
            PLAN + "[[contender]]\nname = 'c'\naddress = 'http://h'\nrest = 'x'",
            "contender c rest: unknown key: did you mean 'reset'?",
        ),
        ("[plan]\nsuite = 'web-static'", "name at least one contender"),
        ("[plan]\nname = 'x'", "[plan] suite: is missing"),
    ],
)
def test_each_fault_gets_its_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PlanError) as caught:
        resolve_plan(read_plan_file(write(tmp_path, text)))
    assert message in str(caught.value)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    text = PLAN.replace('"20s"', '"x"').replace("keep_alive", "keepalive")
    with pytest.raises(PlanError) as caught:
        resolve_plan(read_plan_file(write(tmp_path, text)))
    assert len(str(caught.value).splitlines()) == 2


def test_missing_plan_file(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="does not exist: check the path"):
        read_plan_file(tmp_path / "none.toml")


@pytest.mark.parametrize("word", ["nginx", "=http://h", "nginx=", "my server=http://h"])
def test_what_is_not_a_contender(word: str) -> None:
    with pytest.raises(PlanError, match="write NAME=ADDRESS"):
        parse_contenders([word])


def test_an_address_may_contain_equals_signs() -> None:
    assert parse_contenders(["a=http://h/?x=1&y=2"]) == [{"name": "a", "address": "http://h/?x=1&y=2"}]


@pytest.mark.parametrize(
    ("suite", "setting", "owner"),
    [
        ("web-static", {"dynamic_share": "10%"}, "web-dynamic"),
        ("web-static", {"urls": "URLS"}, "web-url"),
        ("web-url", {"dynamic_url": "/x"}, "web-dynamic"),
    ],
)
def test_a_setting_that_would_do_nothing_is_refused(
    suite: str, setting: dict[str, str], owner: str, tmp_path: Path
) -> None:
    urls = tmp_path / "urls"
    urls.write_text("/\n")
    given = {key: str(urls) if value == "URLS" else value for key, value in setting.items()}
    with pytest.raises(PlanError, match=f"belongs to {owner}, not to {suite}"):
        resolve_plan(flags(suite, **given))


def test_a_corpus_does_not_belong_to_web_url() -> None:
    with pytest.raises(PlanError, match="corpus does not belong to web-url"):
        resolve_plan(flags("web-url", plan={"corpus": "x"}))


def test_the_hash_is_that_of_the_contents_and_survives_storage() -> None:
    plan = resolve_plan(flags())
    assert resolve_plan(flags()).hash == plan.hash
    assert resolve_plan(flags(think="1ms")).hash != plan.hash
    assert resolve_plan(flags(plan={"seed": "2"})).hash != plan.hash
    stored = Plan.from_dict(plan.to_dict())
    assert stored == plan and stored.hash == plan.hash
    assert len(plan.hash) == 64


def test_a_plan_with_every_kind_of_setting_survives_storage(tmp_path: Path) -> None:
    urls, authority = tmp_path / "urls", tmp_path / "ca.pem"
    urls.write_text("3 /a\n/b\n")
    authority.write_text("x")
    plan = resolve_plan(
        flags(
            "web-url",
            "a=https://127.0.0.1:1",
            urls=str(urls),
            ca_file=str(authority),
            headers=["A: b", "C: d,e"],
            source_addresses="127.0.0.2,127.0.0.3",
            pin="0",
            receive_buffer="64KiB",
            operations="100",
            requests_per_connection="5",
            think="1ms",
        )
    )
    urls.unlink()
    assert Plan.from_dict(plan.to_dict()) == plan


def test_the_plan_as_a_file_says_the_same(tmp_path: Path) -> None:
    given = flags(
        "web-static",
        length="4s",
        keep_alive=True,
        weights="223=50,404=0",
        headers=['X: "quoted" ü'],
        plan={"blocks": "7"},
    )
    again = read_plan_file(write(tmp_path, plan_to_toml(given, resolve_plan(given))))
    assert resolve_plan(again) == resolve_plan(given)


def test_assumed_values_are_named_until_the_plan_sets_them() -> None:
    assert any("20 %" in text for text in resolve_plan(flags("web-dynamic")).assumed)
    assert not any(
        text.startswith("Share of dynamic") for text in resolve_plan(flags("web-dynamic", dynamic_share="30%")).assumed
    )


def test_only_assumed_values_that_are_in_use_are_named(tmp_path: Path) -> None:
    """Seen: "Length of a trial: 300 s" in the plan of trials of 3 s, and how a mix is drawn beside a loadfile."""

    def assumed(text: str, **given: Any) -> bool:
        return any(text in one for one in resolve_plan(folder(tmp_path, **given)).assumed)

    users = tmp_path / "users.csv"
    users.write_text("".join(f"u{n},secret,example.org\n" for n in range(400)))
    for suite, settings in (("mail-pop", {"users": str(users), "mailboxes": "5"}), ("app", {})):
        address = plan_part(load_suite(suite).suite.kind).placeholders[0]
        for size, is_reported in (("quick", False), ("full", True)):
            given = PlanInput("", {"suite": suite, "size": size}, settings, [{"name": "a", "address": address}])
            assert any("300 s" in text for text in resolve_plan(given).assumed) == is_reported, (suite, size)
    loadfile = tmp_path / "l.txt"
    loadfile.write_text('NTCreateX "/a" 0x0 2 1 0xffffffff SUCCESS\n')
    assert assumed("How searches") and not assumed("How searches", loadfile=str(loadfile))
    assert assumed("2 MB, and 2.36 s", size="published") and not assumed("2 MB, and 2.36 s", size="quick")


def folder(path: Path, suite: str = "file-mix", size: str = "quick", **settings: Any) -> PlanInput:
    contenders = [{"name": "a", "address": str(path)}]
    return PlanInput("", {"suite": suite, "size": size}, settings, contenders)


def test_settings_that_others_put_out_of_use_are_no_departures(tmp_path: Path) -> None:
    """Seen: "file_max: 8MiB" beside files of 32 MiB that were named one by one."""
    given = folder(tmp_path, "file-matrix", file_sizes="1MiB,32MiB", record_sizes="4KiB")
    observed = resolve_plan(given).differences
    assert not any(text.startswith(("file_min", "file_max", "record_m", "cut_off")) for text in observed)
    assert "file_sizes: 1MiB,32MiB, published file_min 64KiB, file_max 512MiB" in observed
    largest = resolve_plan(folder(tmp_path, "file-matrix", file_max="8MiB")).differences
    assert any(text.startswith("file_max: 8MiB") for text in largest)


def test_folders_are_relative_to_the_plan_file_or_to_where_the_command_is_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = '[plan]\nsuite = "file-mix"\n[[contender]]\nname = "a"\naddress = "share"\n'
    (tmp_path / "plans").mkdir()
    path = write(tmp_path / "plans", words)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for given in (read_plan_file(path), read_plan_file(Path("plans/p.toml"))):
        assert resolve_plan(given).contenders[0].address == str(tmp_path / "plans/share")
    typed = resolve_plan(flags("file-mix", "a=share", "b=./other", "c=~/third", f"d={tmp_path}/full"))
    places = [str(tmp_path / name) for name in ("share", "other", "home/third", "full")]
    assert [c.address for c in typed.contenders] == places
    assert resolve_plan(flags("web-url", "a=unix:run/s")).contenders[0].address == f"unix:{tmp_path}/run/s"


def test_a_plan_file_that_is_written_has_full_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ca.pem").write_text("")
    given = placed(flags("web-url", "a=https://h", ca_file="ca.pem"))
    text = plan_to_toml(given, resolve_plan(given))
    assert f'ca_file = "{tmp_path}/ca.pem"' in text


def test_secrets_stand_in_no_plan_file_and_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {"basic_auth": "me:pass-1", "cookie": ["k=pass-2"], "headers": ["X-Api-Key: pass-3", "Accept: text/html"]}
    given = flags("web-url", "a=http://h", **secrets)
    plan = resolve_plan(given)
    text = plan_to_toml(given, plan)
    assert "pass-" not in text and "Accept: text/html" in text
    path = write(tmp_path, text)
    with pytest.raises(PlanError, match="basic_auth: the environment has no BAKEOFF_BASIC_AUTH: export"):
        resolve_plan(read_plan_file(path))
    for name, value in (("BASIC_AUTH", "me:pass-1"), ("COOKIE", "k=pass-2"), ("HEADERS", "X-Api-Key: pass-3")):
        monkeypatch.setenv(f"BAKEOFF_{name}", value)
    again = read_plan_file(path)
    assert resolve_plan(again).hash == plan.hash
    assert "pass-" not in plan_to_toml(again, plan)


def test_a_key_of_another_tool_is_answered_with_the_one_that_is_meant(tmp_path: Path) -> None:
    text = '[plan]\nsuite = "web-url"\n[settings]\ndelay = "1s"\n[[contender]]\nname = "a"\naddress = "http://h"\n'
    path = write(tmp_path, text)
    with pytest.raises(PlanError, match=r"delay: unknown key: in Bakeoff: --stagger 5s"):
        resolve_plan(read_plan_file(path))
