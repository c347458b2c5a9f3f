#!/bin/sh
# Installs the other tools that `make bench` measures Bakeoff beside, as far as they can be had: packages of the
# distribution, and into .servers/peers what only crates.io or the Go module proxy has. What is missing afterwards is
# named here and in the tables.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/apt.sh
. scripts/apt.sh
peers="$PWD/.servers/peers"
mkdir -p "$peers/bin"
PATH="$peers/bin:$PATH:/usr/sbin"
oha=1.16.0
vegeta=v12.12.0
bombardier=v1.2.6
k6=v1.0.0

# Program and package. iozone is in Debian's non-free, which not every machine's sources name.
wanted="wrk:wrk ab:apache2-utils h2load:nghttp2-client httperf:httperf hey:hey siege:siege fio:fio dbench:dbench
    iozone:iozone3 smtp-source:postfix"
packages=""
for pair in $wanted; do
    command -v "${pair%%:*}" >/dev/null && continue
    command -v apt-get >/dev/null || break
    update_lists
    apt-cache show "${pair#*:}" >/dev/null 2>&1 && packages="$packages ${pair#*:}"
done
# shellcheck disable=SC2086 # a list of words is meant
[ -z "$packages" ] || (install_packages "make bench" $packages) || echo "Going on without them."

command -v oha >/dev/null || {
    echo "Building for make bench: oha $oha"
    cargo install --quiet --locked --root "$peers" "oha@$oha" </dev/null || echo "oha could not be built."
}
# A module of one line, as `go install` asks for the list of versions, which not every proxy has.
go_program() { # program, module, version, package
    command -v "$1" >/dev/null && return
    command -v go >/dev/null || return 0
    echo "Building for make bench: $1 $3"
    place=$(mktemp -d)
    printf 'module peers\n\ngo 1.21\n\nrequire %s %s\n' "$2" "$3" >"$place/go.mod"
    (cd "$place" && go build -mod=mod -o "$peers/bin/$1" "$4" </dev/null) ||
        echo "$1 could not be built (it needs a recent Go)."
    rm -r "$place"
}
go_program vegeta github.com/tsenart/vegeta/v12 "$vegeta" github.com/tsenart/vegeta/v12
go_program bombardier github.com/codesenberg/bombardier "$bombardier" github.com/codesenberg/bombardier
go_program k6 go.k6.io/k6 "$k6" go.k6.io/k6

missing=""
for program in wrk ab h2load httperf hey siege oha vegeta bombardier k6 wrk2 fio dbench iozone smtp-source; do
    command -v $program >/dev/null || missing="$missing $program"
done
[ -z "$missing" ] || echo "Not to be had here, and named as missing in the tables:$missing"
