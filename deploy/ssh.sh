#!/usr/bin/env bash
# Lets machines that you reach by ssh join a cluster; at Ctrl-C they leave it again.
#
#   deploy/ssh.sh HEAD WHEEL MACHINE...
#
# HEAD     where `bakeoff cluster start --bind HEAD` runs: ADDRESS or ADDRESS:PORT
# WHEEL    the wheel of `make dist`, or - where it is installed already
# MACHINE  as ssh knows it; the agent is called by the machine's hostname
#
# Each machine needs Python 3.11 or later with venv, the same version everywhere. All goes into one folder there.
# FOLDER (.bakeoff-agent) is this folder, TOKEN_FILE the token here (where `start` put it), JOIN holds more words for
# `bakeoff cluster join`, such as "--spare-core", and SSH more for ssh, such as "-p 2222".
set -euo pipefail
usage() { sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ $# -ge 3 ] || usage
head=$1 wheel=$2
shift 2
folder=${FOLDER:-.bakeoff-agent}
token=${TOKEN_FILE:-${XDG_STATE_HOME:-$HOME/.local/state}/bakeoff/cluster/token}
read -ra ssh <<<"ssh -o BatchMode=yes ${SSH:-}"
[ -r "$token" ] || { echo "ssh.sh: there is no token at $token: start the head first, or set TOKEN_FILE" >&2; exit 2; }
[ "$wheel" = - ] || [ -r "$wheel" ] || { echo "ssh.sh: there is no wheel at $wheel: make dist" >&2; exit 2; }

# $1: the machine. Its token is written aside first: what is there under its name is whole.
prepare() {
    "${ssh[@]}" "$1" "umask 077; mkdir -p '$folder'; cat >'$folder/.token' && mv '$folder/.token' '$folder/token'" <"$token"
    [ "$wheel" != - ] || return 0
    local name pip="'$folder/venv/bin/python' -m pip install --quiet --disable-pip-version-check"
    name=$folder/$(basename "$wheel")
    "${ssh[@]}" "$1" "cat >'$name'" <"$wheel"
    "${ssh[@]}" "$1" "[ -x '$folder/venv/bin/python' ] || python3 -m venv '$folder/venv'; $pip '${name}[cluster]' &&
        $pip --force-reinstall --no-deps '$name'" </dev/null
}

agents=()
# shellcheck disable=SC2317 # called by the trap
leave() { [ ${#agents[@]} = 0 ] || kill "${agents[@]}" 2>/dev/null || true; }
trap leave EXIT
trap 'exit 130' INT TERM HUP
for machine; do
    prepare "$machine" || { echo "ssh.sh: $machine could not be prepared" >&2; exit 1; }
done
# With a terminal of its own (-tt) the agent is told by a hang-up that this script, or the network to it, is gone.
for machine; do
    "${ssh[@]}" -tt "$machine" "exec '$folder/venv/bin/bakeoff' cluster join '$head' --token-file '$folder/token' ${JOIN:-}" \
        </dev/null > >(sed -u "s/\r//; s/^/$machine: /") 2>&1 &
    agents+=($!)
done
failed=0
for agent in "${agents[@]}"; do
    wait "$agent" || failed=1
done
exit $failed
