#!/usr/bin/env bash
# Lets the nodes of a Slurm job join a cluster, one agent on each, until the job ends.
#
#   sbatch --nodes=4 --export=ALL,HEAD=10.0.0.1,WHEEL=$PWD/dist/bakeoff-….whl,TOKEN_FILE=$HOME/token deploy/slurm.sh
#
# HEAD        where `bakeoff cluster start --bind HEAD` runs: a login node, or one that you hold by `salloc`
# WHEEL       the wheel of `make dist`, in a folder that the nodes see
# TOKEN_FILE  the token that `start` named, in a folder that the nodes see, readable by you alone
#
# Nodes are whole (--exclusive): who shares one measures its neighbours. Slurm must not lower the priority of jobs
# (PropagatePrioProcess=0), else the agent is refused for its nice value.
#SBATCH --job-name=bakeoff-agents
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --time=04:00:00
#SBATCH --kill-on-invalid-dep=yes
set -euo pipefail
for name in HEAD WHEEL TOKEN_FILE; do
    [ -n "${!name:-}" ] || { echo "slurm.sh: say $name: see the top of this file" >&2; exit 2; }
done
export HEAD WHEEL TOKEN_FILE
trap 'kill "$!" 2>/dev/null || true; wait "$!" || true; exit 0' TERM INT
# shellcheck disable=SC2016 # the node expands it
# A node that leaves must not take the others with it: the run says what to do without it.
srun --ntasks-per-node=1 --kill-on-bad-exit=0 --wait=0 bash -euc '
    umask 077
    folder=$(mktemp -d "${SLURM_TMPDIR:-/tmp}/bakeoff-agent.XXXXXX")
    trap "rm -rf \"$folder\"" EXIT
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$WHEEL[cluster]"
    export XDG_STATE_HOME=$folder
    # Before it: whoever has joined may be told to leave at once.
    trap "kill \$!" TERM INT
    "$folder/venv/bin/bakeoff" cluster join "$HEAD" --token-file "$TOKEN_FILE" --name "$(hostname -s)" --wait 300 &
    wait "$!" || wait "$!"' &
wait "$!"
