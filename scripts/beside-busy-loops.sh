#!/bin/sh
# Runs a command beside two busy loops of normal priority, and ends them with it.
set -eu
loops=""
# A loop that has only just been forked may still hold this shell's handler of TERM.
trap 'kill -KILL $loops' EXIT
trap 'exit 130' INT TERM
for _ in 1 2; do
    while :; do :; done &
    loops="$loops $!"
done
"$@"
