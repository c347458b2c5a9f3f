"""Who is asked how is told wherever a ratio is read, and in no other run."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from bakeoff.compare import compare_run
from bakeoff.compare.collections.campaign import Measured, compare_campaign
from bakeoff.compare.limits.check import check_run
from bakeoff.compare.validity.client_options import client_options_of, settings_by_name
from bakeoff.compare.validity.generator_capacity import generator_capacities
from bakeoff.report.compose import compose
from bakeoff.report.narrate.collections.campaign import result as result_over_all
from bakeoff.report.narrate.collections.check import check_notes
from bakeoff.report.narrate.document import to_json
from bakeoff.report.narrate.kind import words_part
from bakeoff.report.narrate.validity.client_options import client_option_words
from bakeoff.report.narrate.verdict.headline import result
from bakeoff.report.narrate.warned import warnings_of
from bakeoff.report.renderers import renderer
from bakeoff.store.collections.join import join
from bakeoff.store.records.run_records import GENERATOR_CAPACITIES, RunRecord
from tests.told import headline_of, texts_of
from tests.unit.compare.designs import Levels, design
from tests.unit.compare.synthetic import run

WORDS = "apache is measured over HTTP/2, nginx over HTTP/1.1"


def talked(record: RunRecord, own: Mapping[str, dict[str, Any]], **settings: Any) -> RunRecord:
    """A run whose plan gives contenders settings of their own."""
    known = {one["name"]: one for one in record.plan.get("contenders", ()) if "name" in one}
    contenders = [{**known.get(c.name, {"name": c.name}), "settings": own.get(c.name, {})} for c in record.contenders]
    whole = {**record.plan["settings"], "http": "1.1", "keep_alive": True, **settings}
    return replace(record, plan={**record.plan, "contenders": contenders, "settings": whole})


@pytest.fixture(scope="module")
def versions() -> RunRecord:
    record = run(blocks=6)
    first = record.contenders[0].name
    return talked(record, {first: {}, record.contenders[1].name: {"http": "2"}})


def test_a_comparison_says_it_first_behind_the_verdict(versions: RunRecord) -> None:
    found = compare_run(versions)
    baseline, other = (contender.name for contender in versions.contenders)
    sentences = f"{baseline} is measured over HTTP/1.1, {other} over HTTP/2"
    assert headline_of(found)[1] == f"{sentences}: ratios are of that difference, too."
    assert result(found) == headline_of(found)[:2], "also where few sentences are read"
    assert [option.values for option in found.client_options] == [{baseline: "1.1", other: "2"}]
    (pair,) = found.pairs
    texts = {(gate.name, gate.level) for gate in pair.primary.gates}
    assert ("settings", "amber") in texts and pair.primary.verdict.winner is not None, "it qualifies, and takes nothing"
    assert json.loads(to_json(found))["client_options"] == [
        {"setting": "http", "values": {baseline: "1.1", other: "2"}}
    ]
    assert any("Contenders are not asked alike" in warning.text for warning in warnings_of(found))
    plain = compare_run(run(blocks=6))
    assert plain.client_options == () and not any("measured over" in text for text in headline_of(plain))


@pytest.mark.parametrize("form", ["html", "markdown", "terminal"])
def test_reports_have_it_where_the_result_stands_and_in_the_settings(versions: RunRecord, form: str) -> None:
    found = compare_run(versions)
    page = " ".join(renderer(form).render(compose(versions, found), "r").decode().split())
    baseline, other = (contender.name for contender in versions.contenders)
    assert "ratios are of that difference, too" in page
    assert f"1.1 ({baseline}), 2 ({other})" in page, "the table of settings has both"
    assert "the plan, by contender" in page and "Asked" in page
    assert "with that, too (column µs/operation)" in page


def test_the_gate_for_build_servers_says_it(versions: RunRecord) -> None:
    checked, _ = check_run(versions)
    assert any("over HTTP/2" in note for note in check_notes(checked))


def test_many_ways_are_few_words() -> None:
    record = run(blocks=1)
    names = [f"s{number}" for number in range(6)]
    contenders = tuple(replace(record.contenders[0], name=name) for name in names)
    own = {name: {"receive_buffer_bytes": 1024 * number} for number, name in enumerate(names)}
    made = talked(replace(record, contenders=contenders), own)
    words = client_option_words(client_options_of(made), words_part("web"), names)
    assert words.startswith("s0 is measured with receive_buffer 0, s1 with") and words.endswith(", others otherwise")
    same_machines = talked(replace(record, contenders=contenders), {name: {"http": "2"} for name in names[2:]})
    words = client_option_words(client_options_of(same_machines), words_part("web"), names)
    assert words == "s0 and s1 are measured over HTTP/1.1, s2, s3, s4 and 1 other over HTTP/2"


def test_secrets_are_not_told() -> None:
    record = run(blocks=1)
    one, other = (contender.name for contender in record.contenders)
    made = talked(record, {one: {"basic_auth": "me:hush"}, other: {"cookie": ["a=hush"], "headers": ["X-Token: hush"]}})
    found = compare_run(made)
    assert "hush" not in to_json(found) and "hush" not in str(renderer("html").render(compose(made, found), "r"))
    assert {option.setting for option in found.client_options} == {"basic_auth", "cookie", "headers"}


def test_the_effect_of_a_factor_that_is_a_setting() -> None:
    """HTTP/2 makes 1.5 times as much of the server, on both: the effect is the one programmed, and says what it is."""

    def speed(levels: Levels) -> float:
        return (1.5 if levels["http"] == "2" else 1.0) * (1.2 if levels["server"] == "nginx" else 1.0)

    shape = {"server": ("nginx", "apache"), "http": ("1.1", "2")}
    record = design(speed, shape)
    own = {c.name: {"http": "2"} if c.name.endswith("-2") else {} for c in record.contenders}
    found = compare_run(talked(record, own))
    assert found.factors is not None
    effects = {effect.factors: effect for effect in found.factors.effects}
    assert effects["http",].ratio == pytest.approx(1.5, rel=0.03)
    assert effects["server", "http"].verdict.kind == "equivalent"
    reasons = " ".join(texts_of(effects["http",].verdict.reasons))
    assert "over HTTP/2" in reasons
    assert "nginx-2 and apache-2 over HTTP/2" in " ".join(headline_of(found))


def test_a_contender_that_is_asked_otherwise_in_another_file_is_another() -> None:
    one, two = run(blocks=6, seed=1), run(blocks=6, seed=2)
    two = replace(two, created_at="2026-02-01T00:00:00.000+00:00")
    first, other = (contender.name for contender in one.contenders)
    two = replace(talked(two, {other: {"http": "2"}}), trials=tuple(replace(t, started_at="x") for t in two.trials))
    one = talked(one, {})
    record = join([one, two])
    assert {contender.name for contender in record.contenders} == {first, f"{other} (A)", f"{other} (B)"}
    assert settings_by_name(record)[f"{other} (B)"]["http"] == "2"
    found = compare_run(record)
    assert found.joined is not None
    assert any("http" in difference.item for difference in found.joined.differences)
    assert any(f"{other} (B) over HTTP/2" in text for text in headline_of(found))


def test_a_ceiling_holds_for_its_own_way_of_asking() -> None:
    record = run(blocks=6)
    one, other = (contender.name for contender in record.contenders)
    texts = {one: {"words": "kept connections", "operations_per_s": 1e6, "agents": {}}}
    made = replace(record, environment={**record.environment, GENERATOR_CAPACITIES: texts}, null_operations_per_s=None)
    assert list(generator_capacities(made)) == [one]
    flat = " ".join(renderer("terminal").render(compose(made, compare_run(made)), "r").decode().split())
    assert f"(kept connections, as {one} is asked)" in flat
    assert f"The generator's capacity for {other} was not measured" in flat


def test_a_campaign_says_it_of_its_suite(versions: RunRecord) -> None:
    names = tuple(contender.name for contender in versions.contenders)
    measured = [Measured("talked", 1.0, versions), Measured("plain", 1.0, run(blocks=6, seed=3))]
    found = compare_campaign("lab", "Lab", names, measured)
    (texts,) = [text for text in headline_of(found) if "over HTTP/2" in text]
    assert texts.startswith("talked: ") and result_over_all(found) == (headline_of(found)[0], texts)


def test_several_files_tell_the_lowest_ceiling_and_none_where_one_did_not_measure_it() -> None:
    record = run(blocks=6)
    one, other = (contender.name for contender in record.contenders)

    def file(letter: str, rates: dict[str, Any]) -> RunRecord:
        texts = {name: {"words": "kept", "operations_per_s": per_s, "agents": {}} for name, per_s in rates.items()}
        path = record.path.with_name(f"{letter}.bakeoff")
        created_at = record.created_at.replace("2026", {"a": "2025", "b": "2026"}[letter])
        environment = {**record.environment, GENERATOR_CAPACITIES: texts}
        return replace(record, path=path, created_at=created_at, environment=environment)

    joined = join([file("a", {one: 3e5, other: 1e5}), file("b", {one: 2e5, other: "much"})])
    assert {name: capacity.operations_per_s for name, capacity in generator_capacities(joined).items()} == {one: 2e5}
