"""A walk over every setting of every kind: changing it changes what the engine is told, or is refused in a sentence.

What is judged only after the trials has a proof of its own below, where it is used.
"""

import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic.fields import FieldInfo

from bakeoff.agents.local import LocalAgent
from bakeoff.agents.spec import TrialSpec
from bakeoff.core.errors import PlanError
from bakeoff.kinds import KINDS
from bakeoff.kinds.web.plan import needed_corpus
from bakeoff.kinds.web.run import WebCheck
from bakeoff.plan.design.order import order_trials
from bakeoff.plan.kind import plan_part, plan_section_keys, setting_owners
from bakeoff.plan.load import PlanInput, parse_contenders, resolve_plan, with_flags
from bakeoff.plan.model import Plan
from bakeoff.plan.settings.fleet import FleetPlan
from bakeoff.plan.settings.plan_section import PLAN_FIELDS
from bakeoff.plan.suites import load_suite, suite_names
from bakeoff.run.checks.specs import trial_spec
from bakeoff.run.kind import run_part
from bakeoff.run.outcome.judge import judge
from bakeoff.stats.testing.equivalence import equivalence_p
from tests.shop import SESSION
from tests.unit.plan.test_web import manifest
from tests.unit.run.fake import result

Given = dict[str, Any]

# The situations in which a kind's settings are tried: suite, addresses, and what else is given.
WEB = "http://127.0.0.1:1"
SITUATIONS: dict[str, list[tuple[str, str, Given]]] = {
    "web": [
        ("web-static", WEB, {}),
        ("web-static", "https://127.0.0.1:1", {"keep_alive": True, "http": "1.1", "think": "1ms"}),
        ("web-static", "https://127.0.0.1:1", {"insecure": True, "operations": 9}),
        ("web-static", "unix:/run/web.sock", {}),
        ("web-dynamic", WEB, {}),
        ("web-url", WEB, {}),
        ("web-url", WEB, {"rate": "500"}),
        ("web-url", WEB, {"urls": "URLS"}),
        ("web-url", WEB, {"method": "POST"}),
        ("web-url", WEB, {"http": "2", "streams": 4}),
        ("web-url", WEB, {"interval": "500ms", "clients": "4"}),
    ],
    "web-session": [
        ("web-session", WEB, {"session": "SESSION"}),
        ("web-session", "https://127.0.0.1:1", {"session": "SESSION", "think": "1ms", "operations": 9}),
        ("web-session", "https://127.0.0.1:1", {"session": "SESSION", "insecure": True, "rate": "500"}),
        ("web-session", "unix:/run/web.sock", {"session": "SESSION"}),
        ("web-session", WEB, {"session": "SESSION", "interval": "500ms", "clients": "4"}),
    ],
    "replay": [
        ("replay", WEB, {"log": "LOG"}),
        ("replay", "https://127.0.0.1:1", {"log": "LOG", "length": "9s", "loop": True, "keep_alive": True}),
        ("replay", "https://127.0.0.1:1", {"log": "LOG", "insecure": True, "rate": "500"}),
        ("replay", "unix:/run/web.sock", {"log": "LOG"}),
    ],
    "mail": [
        ("mail-pop", "localhost", {"users": "USERS"}),
        ("mail-pop", "localhost", {"users": "USERS", "starttls": True, "think": "1ms"}),
        ("mail-pop", "localhost", {"users": "USERS", "interval": "500ms", "clients": "4"}),
        ("mail-pop", "localhost", {"users": "USERS", "rate": "5", "most_connections": 4}),
    ],
    "app": [
        ("app", "127.0.0.1:1", {}),
        ("app", "unix:/run/app.sock", {"think": "1ms"}),
        ("app", "127.0.0.1:1", {"interval": "500ms", "clients": "4"}),
        ("app", "127.0.0.1:1", {"rate": "500"}),
    ],
    "httperf": [
        ("httperf", WEB, {}),
        ("httperf", "https://127.0.0.1:1", {"timeout": "5", "rate": "10,20", "num_conns": 20}),
        ("httperf", "https://127.0.0.1:1", {"ssl_verify": True, "wsess": "10,5,2", "failure_status": 503}),
        ("httperf", WEB, {"wsesslog": "2,1,SCRIPT"}),
        ("httperf", WEB, {"wsesspage": "2,1,1", "period": "v0.1,1,0.2,1"}),
        ("httperf", "https://127.0.0.1:1", {"ssl_certificate": "AUTHORITY", "ssl_key": "AUTHORITY"}),
    ],
    "file-matrix": [
        ("file-matrix", "FOLDER", {}),
        ("file-matrix", "FOLDER", {"tests": "write,read,mixed", "clients": "2,4", "think": "1ms"}),
        ("file-matrix", "FOLDER", {"tests": "read", "cache": "cold", "file_sizes": "1MiB"}),
        ("file-matrix", "FOLDER", {"record_max": "64KiB", "file_max": "64MiB"}),
    ],
    "file-blocks": [
        ("file-blocks", "FOLDER", {}),
        ("file-blocks", "FOLDER", {"cache": "cold", "patterns": "random_read", "think": "1ms"}),
        ("file-blocks", "FOLDER", {"access": "Database"}),
    ],
    "file-mix": [
        ("file-mix", "FOLDER", {}),
        ("file-mix", "FOLDER", {"think": "1ms", "operations": 9}),
        ("file-mix", "FOLDER", {"iteration_bytes": "2MB"}),
        ("file-mix", "FOLDER", {"loadfile": "LOADFILE"}),
    ],
}


def situations(kind: str) -> list[tuple[str, str, Given]]:
    """Those above; of a kind without any its suites as they are."""
    suites = [name for name in suite_names() if load_suite(name).suite.kind == kind]
    plain: list[Given] = [{}, {"think": "1ms"}]
    return SITUATIONS.get(kind) or [(suite, "127.0.0.1:1", given) for suite in suites for given in plain]


# Another value of each setting, of a whole number one more by itself; FILE words stand for files that the test makes.
OTHER: dict[str, list[Any]] = {
    "rate": ["700", "700,900"], "arrivals": ["poisson", "ramp:0-2", "file:MOMENTS"], "most_connections": [7],
    "clients": ["3,5"], "virtual_users": [3], "length": ["7s"], "ramp_up": ["300ms"], "ramp_down": ["300ms"],
    "stagger": ["123ms"], "think": ["7ms"], "operations": [77], "load_threads": [3], "pin": ["0"],
    "connect_timeout": ["3s"], "reply_timeout": ["3s"], "requests_per_connection": [7], "receive_buffer": ["64KiB"],
    "source_addresses": ["127.0.0.9"], "ca_file": ["AUTHORITY"], "check_every": [7], "headers": ["X-A: b"],
    "weights": ["735=1,404=9", "static/256=77", "upload=3", "INVENTORY"], "dynamic_share": ["33%"],
    "dynamic_url": ["/own"],
    "urls": ["OTHER_URLS"], "upload": ["1KiB"], "download": ["1KiB"], "rounds": [7], "record": ["512"],
    "read_records": [7], "write_records": [7], "working_set": ["50%"], "users": ["OTHER_USERS"], "mailboxes": [3],
    "sending_share": ["44%"], "sizes": ["4KiB"], "recipients": ["2"], "sender": ["me@example.test"],
    "messages_per_connection": [7], "retries": [7], "late_after": ["7s"], "init_limit": ["7s"], "drain_limit": ["7s"],
    "link_speed": ["123Mbit/s"], "tests": ["write"], "file_min": ["128KiB"], "file_max": ["4MiB"],
    "record_min": ["8KiB"], "record_max": ["32KiB"], "file_sizes": ["2MiB"], "record_sizes": ["8KiB"],
    "cut_off": ["1MiB"], "cold_command": ["true"], "mixed_read_percent": [33], "stride": [7],
    "block_sizes": ["8KiB"], "patterns": ["mixed"], "mixed_read": [33], "mixed_random": [33],
    "access": ["File server"], "icf": ["ICF"], "region": ["300MiB"], "outstanding": [7], "cell_time": ["77ms"],
    "session": ["OTHER_SESSION"], "expect": ["404"], "body": ["URLS"], "cookie": ["a=b"], "basic_auth": ["me:word"],
    "log": ["OTHER_LOG"], "speed": ["2"], "host": ["www.example.test", "from-log"], "bodies": ["BODIES"],
    "period": ["e0.1", "u0.1,0.3", "v0.1,5,0.2,5", "0.1"], "wsess": ["3,4,0.5"],
    "wsesslog": ["3,0.5,SCRIPT"], "wsesspage": ["3,4,0.5"], "wlog": ["y,LIST", "n,LIST"], "wset": ["9,0.5"],
    "client": ["1/4"], "uri": ["/other"], "add_header": ["X-A: b\\n"], "add_header_file": ["HEADERS"],
    "server_name": ["other.test"], "myaddr": ["127.0.0.2-127.0.0.4"], "ssl_ciphers": ["TLS13_AES_256_GCM_SHA384"],
    "ssl_certificate": ["USERS"], "ssl_key": ["USERS"], "ssl_ca_file": ["AUTHORITY"], "ssl_ca_path": ["/tmp"],
    "ssl_protocol": ["TLSv1.2"], "tls_server_name": ["other.test"], "timeout": ["7"], "think_timeout": ["7"],
    "runtime": ["7"], "max_connections": [7], "max_piped_calls": [7], "failure_status": [504],
    "num_conns": [7], "method": ["HEAD", "POST"],
    "iteration_bytes": ["3MB"], "iteration_pause": ["77ms"], "min_transfers": [77], "cell_limit": ["77s"],
    "interval": ["1s", "100ms"], "stop_if": ["errors>1%"], "give_up": ["7s"],
    "regions": [["all=files>=1"]], "server_memory": ["3GiB"], "workspace": ["30MB"], "loadfile": ["OTHER_LOADFILE"],
}  # fmt: skip

# Settings of a kind that are used after the trials; what uses each is shown by the test that is named.
JUDGED: dict[tuple[str, str], str] = {
    ("file-matrix", "regions"): "test_matrix.test_regions_are_those_of_the_plan",
    ("file-matrix", "weights"): "test_file_weights.test_the_verdict_is_another_with_other_weights",
    **{(f"file-{kind}", "server_memory"): "test_working_set" for kind in ("matrix", "blocks", "mix")},
    ("mail", "saturated_at"): "report/test_mail",
    ("replay", "different"): "test_replay_check.test_different_pages_withhold_the_verdict_unless_they_may_differ",
    # Off by itself on loopback, which is all that the situations here have.
    **{(kind, "poll"): "test_polling" for kind in setting_owners()["poll"]},
    # What they do is seen while a trial goes on.
    **{(kind, name): "test_soak" for name in ("stop_if", "give_up") for kind in setting_owners()[name]},
}


# Settings of every suite that a kind has no use for, and says so.
REFUSED_ALWAYS = {
    "mail": {"operations"},
    "app": {"virtual_users"},
    "httperf": {"clients", "virtual_users", "think", "think_distribution", "pin", "reply_timeout"},
    "web-session": {"streams"},
    "replay": {
        "clients", "interval", "streams", "virtual_users", "think", "think_distribution", "stagger", "operations",
        "arrivals",
    },
}  # fmt: skip


def access_log(*requests: str) -> str:
    """A log with these requests, two in a second, to a virtual host."""
    stamps = (f"[10/Oct/2026:13:55:{second:02d} +0000]" for second in range(60) for _ in range(2))
    lines = zip(requests * 4, stamps, strict=False)
    return "".join(f'www.test:80 ::1 - - {stamp} "{request} HTTP/1.1" 200 5\n' for request, stamp in lines)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The files that stand behind the words, by word. Marks of mail trials are all alike here."""
    monkeypatch.setattr(secrets, "token_hex", lambda count: "0" * 2 * count)
    users = "user,password,domain\n" + "".join(f"u{i},p,example.test\n" for i in range(200))
    icf = "\n".join(
        [
            "Version 1.1.0 ", "'ACCESS SPECIFICATIONS ==", "'Access specification name,default assignment",
            "\tOwn,NONE", "'size,% of size,% reads,% random,delay,burst,align,reply", "\t1024,100,10,20,0,1,0,0",
            "'END access specifications", "Version 1.1.0 ",
        ]
    )  # fmt: skip
    texts = {
        "MOMENTS": "0\n0.5\n", "URLS": "/a\n3 /b\n", "OTHER_URLS": "/c\n", "AUTHORITY": "x", "USERS": users,
        "OTHER_USERS": users.replace("u", "v").replace("vser", "user"), "LOADFILE": "Mkdir a SUCCESS\n",
        "OTHER_LOADFILE": "Mkdir b SUCCESS\n", "ICF": icf,
        "LOG": access_log("GET /", "HEAD /a?b", "POST /form", "GET /c"), "OTHER_LOG": access_log("GET /", "GET /d"),
        "SESSION": SESSION, "OTHER_SESSION": "[[step]]\npath = '/'\n",
        "SCRIPT": "/a\n\t/b\n", "LIST": "/a\0/b\0", "HEADERS": "X-A: b\n",
        "INVENTORY": "[inventory]\nfolder = '/srv'\ncomplete = true\nerrors = 0\n"
        "[[size]]\nup_to_bytes = 65536\nfiles = 3\nbytes = 99999\n",
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "BODIES").mkdir()
    (tmp_path / "BODIES/bodies.txt").write_text("POST /form -\n")
    return {name: str(tmp_path / name) for name in texts} | {"FOLDER": str(folder), "BODIES": str(tmp_path / "BODIES")}


def named(files: dict[str, str], value: str) -> str:
    """A value with the path of the file that its last word stands for."""
    before, mark, word = re.fullmatch(r"(?s)(?:(.*)([:,]))?(.*)", value).groups("")  # type: ignore[union-attr]
    return before + mark + files.get(word, word)


def resolve(files: dict[str, str], suite: str, address: str, settings: Given, plan: Given | None = None) -> Plan:
    place = files.get(address, address)
    own = {key: named(files, value) if isinstance(value, str) else value for key, value in settings.items()}
    given = PlanInput("command line", {"suite": suite}, {}, parse_contenders([f"a={place}"]))
    return resolve_plan(with_flags(given, plan or {}, own, {}))


def spec_of(plan: Plan) -> TrialSpec:
    """What the engine is told of the first contender; a corpus is the one of the tests."""
    contender = plan.contenders[0]
    check = run_part(plan.kind).check(plan)
    if isinstance(check, WebCheck) and needed_corpus(plan):
        check.manifest = manifest(plan.suite)
    return trial_spec(check, contender, ["127.0.0.1:1", "127.0.0.1:2"], LocalAgent().facts())


def carried_out(plan: Plan) -> str:
    """All that a run does, as the engine is told it: the trials in their order, and the specification of each."""
    spec = spec_of(plan)
    if hasattr(spec.workload, "reuse"):  # the name of the run's folder, which changes with any setting
        spec = spec.model_copy(update={"workload": spec.workload.model_copy(update={"reuse": None})})
    trials = [(trial.load_step.to_json(), trial.seed) for trial in order_trials(plan)]
    return f"{trials}\n{spec.to_json()}"


def others(name: str, field: FieldInfo, now: Any) -> list[Any]:
    """Other values than `now`. Fails when a setting has none here: add one, so that it is walked over."""
    if field.annotation is bool:
        return [not now]
    choices = [c for part in (field.annotation, *getattr(field.annotation, "__args__", ())) for c in literals(part)]
    if choices:
        return [choice for choice in choices if choice != now]
    if name not in OTHER and isinstance(now, int):
        return [now + 1]
    if name not in OTHER and isinstance(now, float):
        return [f"{now + 1:g}s"]
    assert name in OTHER, f"{name} is a new setting: give another value of it in OTHER"
    return OTHER[name]


def literals(annotation: Any) -> list[str]:
    args = getattr(annotation, "__args__", ())
    return [arg for arg in args if isinstance(arg, str)]


def walk(kind: str) -> Iterator[tuple[str, FieldInfo, str]]:
    """The settings of a kind in the table `[settings]`; those in `[plan]` have their proofs in PLAN_PROOFS."""
    for name, field in plan_part(kind).settings.model_fields.items():
        if (field.alias or name) not in plan_section_keys():
            yield field.alias or name, field, name


def tries(files: dict[str, str], kind: str) -> Iterator[tuple[str, bool | str]]:
    """Each setting with another value in each situation: whether that changed something, or why it was refused."""
    for suite, address, given in situations(kind):
        plan = resolve(files, suite, address, given)
        before = carried_out(plan)
        for key, field, name in walk(kind):
            if key in given:
                continue
            named = [f"{plan.classes[0].name}=77"] if key == "weights" and plan.classes else []
            for value in others(key, field, getattr(plan.settings, name)) + named:
                try:
                    after = carried_out(resolve(files, suite, address, {**given, key: value}))
                except PlanError as error:
                    yield key, str(error)
                else:
                    yield f"{key} of {suite} with {given or 'nothing else'}", after != before


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_setting_is_taken_and_ignored(kind: str, files: dict[str, str]) -> None:
    ignored = []
    for what, outcome in tries(files, kind):
        if isinstance(outcome, str):
            assert len(outcome) > len("settings: x") and ": " in outcome, (what, outcome)
        elif not outcome and (kind, what.split()[0]) not in JUDGED:
            ignored.append(what)
    assert not ignored


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_setting_that_a_kind_offers_can_be_used(kind: str, files: dict[str, str]) -> None:
    used = {what.split()[0] for what, outcome in tries(files, kind) if outcome is True}
    used |= {key for _, _, given in situations(kind) for key in given}  # what makes a situation
    offered = {key for key, _, _ in walk(kind)}
    assert offered - used - {key for owner, key in JUDGED if owner == kind} == REFUSED_ALWAYS.get(kind, set())


def test_a_setting_at_its_own_default_is_no_error(files: dict[str, str]) -> None:
    assert resolve(files, "web-static", WEB, {"insecure": False}).settings


@pytest.mark.parametrize(
    ("suite", "given", "sentence"),
    [
        (
            "file-mix",
            {"load_threads": 2},
            r"--load-threads: belongs to suites of kind web, mail\b.* app\b.*: leave it out",
        ),
        ("file-mix", {"connect_timeout": "3s"}, r"--connect-timeout: belongs to suites of kind web, mail\b.* app\b"),
        ("file-matrix", {"stagger": "3s"}, r"--stagger: belongs to suites of kind web, mail, app\b.* file-mix\b"),
        ("file-blocks", {"ramp_down": "1s"}, r"--ramp-down: belongs to suites of kind web, mail, app\b.* file-mix\b"),
        ("file-blocks", {"operations": 7}, r"--operations: belongs to suites of kind web, mail, app\b.* file-mix\b"),
        ("file-mix", {"direct": True}, "--direct: belongs to suites of kind file-matrix and file-blocks"),
        ("file-mix", {"think_distribution": "exponential"}, "--think-distribution: it has no effect without think"),
    ],
)
def test_what_a_kind_does_not_offer_is_refused_by_name(
    suite: str, given: Given, sentence: str, files: dict[str, str]
) -> None:
    with pytest.raises(PlanError) as caught:
        resolve(files, suite, "FOLDER", given)
    assert re.match(sentence, str(caught.value))


def _delta(files: dict[str, str]) -> bool:
    # 3 % apart, each time almost the same: as good as equal within 5 %, not within 1 %.
    return equivalence_p(0.03, 0.001, 8, 0.05) < 0.05 < equivalence_p(0.03, 0.001, 8, 0.01)


def _error_limit(files: dict[str, str]) -> bool:
    outcome = result(operations=97, errors_total=3, errors={"refused": 3})
    return judge(outcome, 0.05, run_part("web"))[0] == "ok" and judge(outcome, 0.01, run_part("web"))[0] == "failed"


def _planned(**plan: Any) -> Callable[[dict[str, str]], bool]:
    def differs(files: dict[str, str]) -> bool:
        return carried_out(resolve(files, "app", "127.0.0.1:1", {}, plan)) != carried_out(
            resolve(files, "app", "127.0.0.1:1", {})
        )

    return differs


def _kept(key: str, value: str) -> Callable[[dict[str, str]], bool]:
    def kept(files: dict[str, str]) -> bool:
        plan = resolve(files, "web-static", WEB, {}, {key: value})
        return {**plan.to_dict(), **plan.settings.stored()}[key] == value

    return kept


def exists(file: str, test: str) -> bool:
    """Whether a file beside this one has a test."""
    return f"def {test}(" in (Path(__file__).parent / file).read_text()


# What each key of [plan] changes, besides the suite that it names.
PLAN_PROOFS: dict[str, Callable[[dict[str, str]], bool]] = {
    "name": _kept("name", "Mine"),
    "corpus": _kept("corpus", "/somewhere"),
    "size": _planned(size="long"),
    "blocks": _planned(blocks=9),
    "seed": _planned(seed=9),
    "delta": _delta,
    "error_limit": _error_limit,
    "interim_analyses": _planned(interim_analyses="6,8"),
    # What uses these is shown by the test that is named.
    "until": lambda files: exists("test_amend.py", "test_a_run_ends_at_the_first_planned_analysis_that_is_clear"),
    "order": lambda files: exists(
        "test_driver.py", "test_pairs_are_those_of_a_block_and_a_load_step_so_that_drift_stays_out"
    ),
    "when_dead": lambda files: exists("test_dead.py", "test_the_plan_says_what_becomes_of_it"),
    "dead_blocks": lambda files: exists("test_dead.py", "test_the_plan_says_what_becomes_of_it"),
    "dead_after": lambda files: exists("test_dead.py", "test_a_trial_is_not_cut"),
    "objective": lambda files: exists(
        "../compare/test_objective.py", "test_one_miss_in_one_block_at_one_load_is_a_miss"
    ),
}


# What uses each key of [fleet] is shown by the test that is named.
FLEET_PROOFS = {
    "agents": "tests/unit/plan/test_fleet.py",
    "least": "tests/unit/run/test_fleet.py",
    "start_spread": "tests/unit/run/test_fleet.py",
    "addresses": "test_an_agent_reaches_a_contender_where_the_plan_says",
}


def test_every_key_of_a_fleet_has_a_use() -> None:
    assert set(FLEET_PROOFS) == {field.alias or name for name, field in FleetPlan.model_fields.items()}


def test_every_key_of_a_plan_has_a_use(files: dict[str, str]) -> None:
    assert set(PLAN_PROOFS) == (set(PLAN_FIELDS) | plan_section_keys()) - {"suite"}
    assert [key for key, proof in PLAN_PROOFS.items() if not proof(files)] == []


@pytest.mark.parametrize("kind", [kind for kind in KINDS if plan_part(kind).client_options])
def test_a_setting_of_one_contender_is_told_as_that_of_a_run_would_be(kind: str, files: dict[str, str]) -> None:
    """Every client option reaches the engine, for its contender alone; what is refused of a run is refused of a
    contender.
    """
    part, reached = plan_part(kind), set()
    fields = {field.alias or name: (name, field) for name, field in part.settings.model_fields.items()}
    for suite, address, given in situations(kind):
        for key in part.client_options:
            name, field = fields[key]
            rest = {setting: value for setting, value in given.items() if setting != key}
            try:
                plain = resolve(files, suite, address, rest)
            except PlanError:
                continue  # the situation lives by this setting
            for value in others(key, field, getattr(plain.settings, name)):
                pair = [f"a={files.get(address, address)}", f"b={files.get(address, address)}"]
                own = PlanInput("test", {"suite": suite}, {}, parse_contenders(pair))
                settings = {k: named(files, v) if isinstance(v, str) else v for k, v in rest.items()}
                written = with_flags(own, {}, settings, {}, client_options={"a": {key: value}})
                try:
                    whole = resolve(files, suite, address, {**rest, key: value})
                except PlanError:
                    with pytest.raises(PlanError):
                        resolve_plan(written)
                    continue
                two = resolve_plan(written)
                last = two.model_copy(update={"contenders": two.contenders[1:]})
                first = two.model_copy(update={"contenders": two.contenders[:1]})
                assert spec_text(first) == spec_text(whole) != spec_text(plain) == spec_text(last), (key, value)
                reached.add(key)
    assert reached == set(part.client_options)


def spec_text(plan: Plan) -> str:
    """What the engine is told of the first contender, without the name of the run's folder."""
    spec = spec_of(plan)
    if hasattr(spec.workload, "reuse"):
        spec = spec.model_copy(update={"workload": spec.workload.model_copy(update={"reuse": None})})
    return spec.to_json()
