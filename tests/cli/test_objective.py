"""One contender and a limit: the exit code, on sockets, with a target that holds every reply back."""

import json

import pytest

from tests.cli.conftest import Bakeoff, Serve

# A limit of seconds: no machine is too slow to meet it.
LONG = ["--length", "5m", "--blocks", "2", "-o", "r.bakeoff"]
LOADS = {"closed loop": ["--clients", "1,2", "--operations", "40"], "rate": ["--rate", "50", "--operations", "40"]}


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize(
    ("objective", "code", "says"),
    [
        ("p50<=20s,errors<=5%", 0, "api meets p50<=20s,errors<=5% at "),
        ("p50<=20ms,errors<=5%", 99, "api misses p50<=20ms,errors<=5%: at "),
        ("p99<=20s", 5, "Whether api meets p99<=20s is not decided: at "),
    ],
)
def test_the_exit_code_is_that_of_the_objective(
    bakeoff: Bakeoff, serve: Serve, load: str, objective: str, code: int, says: str
) -> None:
    address = serve("--delay", "30ms") + "/page-256-0.html"
    done = bakeoff("run", "web-url", f"api={address}", *LOADS[load], *LONG, "--objective", objective)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert says in " ".join(done.stdout.split()), done.stdout
    assert (f"objective {objective}: " in done.stderr) == (code != 0)
    document = json.loads(bakeoff("compare", "r.bakeoff", "--json").stdout)
    assert document["objective"]["verdict"] == {0: "met", 99: "missed", 5: "undecided"}[code]
    trials = json.loads(bakeoff("show", "r.bakeoff", "--json").stdout)["trials"]
    assert trials and all(trial["judged"] is not None for trial in trials)


def test_a_plan_says_what_trials_are_held_to(bakeoff: Bakeoff, serve: Serve) -> None:
    done = bakeoff("plan", "web-url", f"api={serve()}/", "--rate", "50", "--objective", "p99<=50ms")
    assert done.returncode == 0 and "each trial is held to p99<=50ms" in done.stdout, done.stderr
