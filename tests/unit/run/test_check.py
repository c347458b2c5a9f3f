from pathlib import Path

import pytest

from bakeoff.core.errors import ContenderError, PlanError
from bakeoff.kinds.web.run import WebCheck
from bakeoff.plan.model import Plan
from bakeoff.run.kind import Check
from bakeoff.testdata.corpus.manifest import MANIFEST_NAME
from tests.unit.run.fake import WebServer, plan_for, serving, small_manifest, two_contenders


def examined(plan: Plan) -> Check:
    check = WebCheck(plan)
    for contender in plan.contenders:
        check.examine(contender)
    return check


def test_equal_contenders_pass_and_every_class_is_sampled() -> None:
    with two_contenders() as (one, two):
        check = examined(plan_for(one.address, two.address))
        assert [n for n in check.compare() if n.level == "warning"] == []
        assert check.manifest == small_manifest()[0]
        for cls in ("223", "735", "1522", "2895", "6040", "11426", "22132", "large", "bakeoff-missing"):
            assert any(path.startswith(f"/{cls}/") for path in two.requests), cls
        assert one.requests == two.requests
        facts = check.facts()
        assert facts["corpus"]["files"] == 16 and facts["contenders"]["a"]["checked_requests"] == 18


def other_bytes(site: WebServer) -> None:
    site.pages["large/1.bin"] = site.pages["large/1.bin"].swapcase()[::-1]


def too_long(site: WebServer) -> None:
    site.pages["large/1.bin"] += b"x"


def gone(site: WebServer) -> None:
    del site.pages["735/0.bin"]


def soft_404(site: WebServer) -> None:
    site.fault = lambda path, _: (200, b"welcome") if "missing" in path else None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (other_bytes, "/large/1.bin: other bytes than the corpus has"),
        (too_long, "instead of 200 bytes: serve the files unchanged"),
        (gone, "/735/0.bin: status 404 instead of 200: does it serve the folder made by `bakeoff corpus`"),
        (soft_404, "status 200 instead of 404"),
    ],
)
def test_a_contender_with_other_content_is_refused_by_name(change: object, message: str) -> None:
    with two_contenders() as (one, two):
        assert callable(change)
        change(two)
        with pytest.raises(ContenderError) as caught:
            examined(plan_for(one.address, two.address))
        assert message in str(caught.value) and str(caught.value).startswith("b (127.0.0.1:")


def test_two_seeds_are_two_corpora() -> None:
    with two_contenders() as (one, two):
        manifest, pages = small_manifest(seed=2)
        two.pages = pages | {MANIFEST_NAME: manifest.to_bytes()}
        with pytest.raises(ContenderError, match=r"b \(seed 2\) and a \(seed 1\) serve different corpora"):
            examined(plan_for(one.address, two.address))


def test_no_manifest_on_the_server() -> None:
    with serving({}) as site, pytest.raises(ContenderError, match="or name that folder with --corpus DIR"):
        examined(plan_for(site.address))


def test_a_corpus_folder_is_used_instead_of_the_servers_manifest(tmp_path: Path) -> None:
    manifest, pages = small_manifest()
    (tmp_path / MANIFEST_NAME).write_bytes(manifest.to_bytes())
    with serving(pages) as site:
        examined(plan_for(site.address, plan={"corpus": str(tmp_path)}))
        assert f"/{MANIFEST_NAME}" not in site.requests
    with pytest.raises(PlanError, match="no corpus in"):
        WebCheck(plan_for("http://127.0.0.1:1", plan={"corpus": str(tmp_path / "none")}))


def test_the_corpus_of_another_suite() -> None:
    with two_contenders() as (one, _), pytest.raises(PlanError, match="web-dynamic needs web-dynamic"):
        examined(plan_for(one.address, suite="web-dynamic"))


def drop(path: str, count: int) -> None:
    if count % 5 == 0:
        raise ConnectionError


def test_what_fails_now_and_then_is_asked_again_and_told() -> None:
    with two_contenders() as (one, two):
        two.fault = drop
        notes = examined(plan_for(one.address, two.address)).compare()
        assert any(n.level == "warning" and n.text.startswith("b: ") and "repeated" in n.text for n in notes)
        assert not any(n.text.startswith("a: ") for n in notes)


def test_what_always_fails_is_refused() -> None:
    def always(path: str, count: int) -> None:
        raise ConnectionError

    with two_contenders() as (one, _):
        one.fault = always
        with pytest.raises(ContenderError, match="the reply breaks off"):
            examined(plan_for(one.address))


def test_replies_of_the_same_length_are_told_apart() -> None:
    with serving({"x": b"one"}) as one, serving({"x": b"two"}) as two:
        notes = examined(plan_for(one.address + "/x", two.address + "/x", suite="web-url")).compare()
        difference = (
            "a and b answer 'url' differently: a status 200, 3 bytes; b status 200, 3 bytes, but not the same ones"
        )
        assert [n.text for n in notes if n.level == "warning"] == [
            f"{difference}: there will be no verdict between them"
        ]


def test_web_url_warns_of_differences_only() -> None:
    with serving({"x": b"one"}) as one, serving({"x": b"other", "y": b""}) as two:
        two.headers = {"X-Powered-By": "a lot"}
        notes = examined(plan_for(one.address + "/x", two.address + "/x", suite="web-url")).compare()
        texts = [n.text for n in notes if n.level == "warning"]
        difference = "a and b answer 'url' differently: a status 200, 3 bytes; b status 200, 5 bytes"
        assert texts == [f"{difference}: there will be no verdict between them"]
        assert any("bytes of reply headers differ" in n.text for n in notes if n.level == "info")
        check = examined(plan_for(one.address + "/x", two.address + "/x", suite="web-url"))
        assert check.facts()["differences"] == [{"between": ["a", "b"], "text": difference, "withhold": True}]
        check = examined(plan_for(one.address + "/x", two.address + "/x", suite="web-url", expect="2xx,different"))
        assert [found["withhold"] for found in check.facts()["differences"]] == [False]


def test_an_error_page_is_measured_only_when_it_is_asked_for() -> None:
    with serving({}) as one, serving({"x": b"y"}) as two:
        with pytest.raises(ContenderError, match=r"/x: status 404: correct the address, or give `--expect 404`"):
            examined(plan_for(one.address + "/x", two.address + "/x", suite="web-url"))
        with pytest.raises(ContenderError, match=r": HEAD /x: status 404"):
            examined(plan_for(one.address + "/x", two.address + "/x", suite="web-url", method="HEAD"))
        for expect in ("404", "any", "2xx,404"):
            examined(plan_for(one.address + "/gone", suite="web-url", expect=expect))
        check = examined(plan_for(one.address + "/x", two.address + "/x", suite="web-url", expect="200,404"))
        assert check.facts()["differences"][0]["withhold"]


def test_heads_are_asked_and_what_they_state_is_compared() -> None:
    with serving({"x": b"one"}) as one, serving({"x": b"other"}) as two:
        notes = examined(plan_for(one.address + "/x", two.address + "/x", suite="web-url", method="head")).compare()
        texts = [n.text for n in notes if n.level == "warning"]
        assert texts == [
            "a and b answer 'url' differently: a status 200, 3 bytes; b status 200, 5 bytes: there will be no verdict "
            "between them"
        ]
        check = examined(plan_for(one.address + "/x", one.address + "/x", suite="web-url", method="HEAD"))
        assert check.facts()["differences"] == []
        with pytest.raises(ContenderError, match=r"/gone: status 404"):
            examined(plan_for(one.address + "/gone", suite="web-url", method="HEAD"))


def test_a_page_that_changes_from_request_to_request_is_not_compared() -> None:
    with serving({"x": b"one"}) as one, serving({"x": b"two"}) as two:
        one.fault = lambda path, count: (200, b"%d" % count)
        check = examined(plan_for(one.address + "/x", two.address + "/x", suite="web-url"))
        assert [found["withhold"] for found in check.facts()["differences"]] == [True], "one alone changes"
        two.fault = one.fault
        check = examined(plan_for(one.address + "/x", two.address + "/x", suite="web-url"))
        assert [found["withhold"] for found in check.facts()["differences"]] == [False]
        assert [facts["bodies"]["changing"] for facts in check.facts()["contenders"].values()] == [1, 1]
        assert any("bodies are not compared" in note.text for note in check.compare())


def test_nobody_there() -> None:
    with serving({}) as site:
        address = site.address
    with pytest.raises(ContenderError, match="connection refused: start the server, or correct the address"):
        examined(plan_for(address))
    with pytest.raises(ContenderError, match="cannot connect"):
        examined(plan_for("unix:/nonexistent.sock"))


def test_the_first_address_that_answers_is_used() -> None:
    with two_contenders() as (one, _):
        port = one.address.rpartition(":")[2]
        plan = plan_for(f"http://localhost:{port}")
        check = WebCheck(plan)
        check._prober(plan.contenders[0]).addresses = (f"127.0.0.2:{port}", f"127.0.0.1:{port}")
        check.examine(plan.contenders[0])
        assert check.addresses(plan.contenders[0])[0] == f"127.0.0.1:{port}"


def test_http_where_https_is_meant() -> None:
    with two_contenders() as (one, _), pytest.raises(ContenderError, match="is this an http:// address"):
        examined(plan_for(one.address.replace("http", "https")))


def test_answering_means_a_whole_reply() -> None:
    def always(path: str, count: int) -> None:
        raise ConnectionError

    with two_contenders() as (one, _):
        plan = plan_for(one.address)
        check = WebCheck(plan)
        check.answers(plan.contenders[0])
        one.fault = always
        with pytest.raises(ContenderError, match="breaks off"):
            check.answers(plan.contenders[0])


def test_what_may_change_something_is_asked_once_and_held_to_its_status(tmp_path: Path) -> None:
    (tmp_path / "order").write_bytes(b"k=v")
    given = {"method": "POST", "body": str(tmp_path / "order"), "headers": ["Content-Type: a/b"], "cookie": ["s=1"]}
    with serving({"x": b"1"}) as one, serving({"x": b"2"}) as two:
        places = (one.address + "/x", two.address + "/x")
        check = examined(plan_for(*places, suite="web-url", basic_auth="me:secret", **given))
        for site in (one, two):
            ((method, path, headers, carried),) = site.asked
            assert (method, path, carried) == ("POST", "/x", b"k=v")
            assert (headers["Content-Type"], headers["Cookie"]) == ("a/b", "s=1")
            assert headers["Authorization"] == "Basic bWU6c2VjcmV0"
        (warning,) = [note.text for note in check.compare() if note.level == "warning"]
        assert warning.startswith("POST may change something: ") and "no reply's content was compared" in warning
        assert check.facts()["differences"] == []
        two.fault = lambda path, count: (500, b"")
        with pytest.raises(ContenderError, match="status 500"):
            examined(plan_for(*places, suite="web-url", **given))
        assert len(two.asked) == 2, "once each time"


def test_other_statuses_of_what_may_change_something_withhold_the_verdict() -> None:
    with serving({"x": b"1"}) as one, serving({}) as two:
        places = (one.address + "/x", two.address + "/x")
        check = examined(plan_for(*places, suite="web-url", method="PURGE", expect="200,404"))
        assert [asked[0] for asked in one.asked] == ["PURGE"] and check.facts()["differences"][0]["withhold"]
