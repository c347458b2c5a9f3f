"""The recipes in `deploy/`, as far as they can be tried without the systems that they are for."""

import os
import shutil
import signal
import stat
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.control import PATIENCE_S

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SCRIPTS = sorted(DEPLOY.glob("*.sh"))
# What a node of Slurm has: `python3 -m venv` makes an environment whose programs write down what they are told.
PYTHON = """#!/bin/sh
case "$*" in
"-m venv "*)
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    cp {agent} "$3/bin/bakeoff" ;;
*) echo "python $*" >>{observed} ;;
esac
"""
AGENT = """#!/bin/sh
trap 'echo left >>{observed}; exit 0' TERM
echo "$BAKEOFF_NODE: bakeoff $*" >>{observed}
echo joined >{pipe}
while :; do sleep 0.05; done
"""
SRUN = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
steps=
for node in one two; do BAKEOFF_NODE=$node "$@" & steps="$steps $!"; done
trap 'kill $steps; wait' TERM
echo ready >{pipe}
wait
"""


def program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_sound_and_say_how_they_are_used(script: Path) -> None:
    subprocess.run(["shellcheck", str(script)], check=True)
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    assert done.returncode == 2 and "HEAD" in done.stderr


def test_every_recipe_starts_nothing_but_the_agent_of_the_wheel() -> None:
    table = (DEPLOY / "README.md").read_text()
    for path in DEPLOY.iterdir():
        if path.name in ("README.md", "Dockerfile"):
            continue
        assert f"`{path.name}`" in table
        text = path.read_text()
        assert "cluster join" in text or "cluster, join" in text
        assert "[cluster]" in text + (DEPLOY / "Dockerfile").read_text()
    assert stat.S_IMODE((DEPLOY / "ssh.sh").stat().st_mode) & 0o111


def test_slurm_has_one_agent_on_each_node_which_leaves_with_the_job(tmp_path: Path) -> None:
    observed, pipe = tmp_path / "told", tmp_path / "pipe"
    (tmp_path / "bin").mkdir()
    os.mkfifo(pipe)
    program(tmp_path / "agent", AGENT.format(observed=observed, pipe=pipe))
    program(
        tmp_path / "bin/python3",
        PYTHON.replace("{observed}", str(observed)).replace("{agent}", str(tmp_path / "agent")),
    )
    program(tmp_path / "bin/srun", SRUN.replace("{pipe}", str(pipe)))
    given = {"HEAD": "10.0.0.1", "WHEEL": "/w/bakeoff.whl", "TOKEN_FILE": "/t/token", "SLURM_TMPDIR": str(tmp_path)}
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    job = subprocess.Popen(["bash", str(DEPLOY / "slurm.sh")], env={**given, "PATH": path}, start_new_session=True)
    try:
        # Open to write as well: it has no end between two who write.
        with os.fdopen(os.open(pipe, os.O_RDWR), "rb", buffering=0) as news:
            output_so_far = b""
            while sorted(output_so_far.split()) != [b"joined", b"joined", b"ready"]:
                output_so_far += news.read(1)
        job.send_signal(signal.SIGTERM)
        assert job.wait(PATIENCE_S) == 0
    finally:
        with suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
    lines = observed.read_text().splitlines()
    joined = sorted(line for line in lines if "cluster join" in line)
    assert [line.split(":")[0] for line in joined] == ["one", "two"]
    assert all("cluster join 10.0.0.1 --token-file /t/token --name" in line for line in joined)
    assert sum("pip install" in line and "/w/bakeoff.whl[cluster]" in line for line in lines) == 2
    assert lines.count("left") == 2
    assert not list(tmp_path.glob("bakeoff-agent.*"))


def test_slurm_asks_for_whole_nodes() -> None:
    asked = [line for line in (DEPLOY / "slurm.sh").read_text().splitlines() if line.startswith("#SBATCH")]
    assert {"#SBATCH --exclusive", "#SBATCH --ntasks-per-node=1"} <= set(asked)
    assert "nice" not in " ".join(asked)


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    verify = shutil.which("systemd-analyze")
    assert verify, "apt-get install systemd"
    text = (DEPLOY / "bakeoff-agent.service").read_text()
    here = text.replace("/opt/bakeoff/bin/bakeoff", str(shutil.which("true"))).replace("Documentation=", "#")
    (tmp_path / "bakeoff-agent.service").write_text(here)
    done = subprocess.run(
        [verify, "verify", "--man=no", str(tmp_path / "bakeoff-agent.service")], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    settings = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    assert settings["ExecStart"].startswith("/opt/bakeoff/bin/bakeoff cluster join ${HEAD} ")
    assert settings["Restart"] == "always" and int(settings["LimitNOFILE"]) >= 2**20
    assert not {"Nice", "CPUQuota", "CPUWeight"} & set(settings)


def test_kubernetes_has_one_agent_on_each_machine_in_its_own_network() -> None:
    service, job = documents()
    assert service["kind"] == "Service" and service["apiVersion"] == "v1"
    assert service["spec"]["clusterIP"] == "None"
    assert (job["kind"], job["apiVersion"]) == ("Job", "batch/v1")
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    assert spec["completionMode"] == "Indexed" and spec["completions"] == spec["parallelism"]
    assert pod["hostNetwork"] is True and pod["subdomain"] == service["metadata"]["name"]
    assert pod["restartPolicy"] == "Never" and "backoffLimitPerIndex" in spec
    assert service["spec"]["selector"] == {"job-name": job["metadata"]["name"]}
    (rule,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    assert rule["labelSelector"]["matchLabels"] == spec["template"]["metadata"]["labels"]


def test_kubernetes_gives_each_agent_whole_cores_a_token_and_memory() -> None:
    pod = documents()[1]["spec"]["template"]["spec"]
    (agent,) = pod["containers"]
    resources = agent["resources"]
    assert resources["requests"] == resources["limits"] and resources["limits"]["cpu"].isdigit()
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in agent["volumeMounts"]}
    assert mounts["/token"]["secret"]["defaultMode"] & 0o077 == 0
    assert mounts["/dev/shm"]["emptyDir"]["medium"] == "Memory"
    variables = {variable["name"] for variable in agent["env"]}
    words = agent["args"]
    assert words[:3] == ["cluster", "join", "$(HEAD)"] and "HEAD" in variables
    assert all(isinstance(word, str) for word in words)
    assert words[words.index("--token-file") + 1].startswith("/token/")
    assert "$(JOB_COMPLETION_INDEX)" in words[words.index("--name") + 1]
    allowed = {"name", "image", "args", "env", "resources", "volumeMounts"}
    assert set(agent) <= allowed and set(pod) <= {
        "subdomain", "restartPolicy", "hostNetwork", "dnsPolicy", "terminationGracePeriodSeconds", "affinity",
        "containers", "volumes",
    }  # fmt: skip


def documents() -> list[dict[str, Any]]:
    """What kubernetes.yaml holds."""
    return list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))


def test_words_of_the_recipes_are_words_of_the_command() -> None:
    import inspect

    from bakeoff.cli.machines.cluster import join_command

    flags = {f"--{name.replace('_', '-')}" for name in inspect.signature(join_command).parameters} | {
        "--wait",
        "--detach",
    }
    for path in DEPLOY.iterdir():
        for line in path.read_text().splitlines():
            if "cluster join " in line or "cluster, join" in line:
                used = {word.strip("[],") for word in line.split() if word.strip("[],").startswith("--")}
                assert used <= flags, (path.name, used - flags)
