#!/bin/sh
# Makes what others install: dist/bakeoff-*.whl (the command with its engine, man pages and completion) and
# dist/bakeoff-targets-* (the built-in servers, which need no library), for this processor and for the others of CROSS.
# Then installs the wheel into an empty environment, where no other program is on the PATH, and runs the demo there.
#
# The engine is that of `make build`: nothing is compiled twice. The name of the wheel says how recent a C library it
# needs, which is as recent as this system makes it.
# Variables: CROSS (other processors, `aarch64` or nothing), BLOCKS (of the demo).
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/apt.sh
. scripts/apt.sh
bin=$PWD/.venv/bin
here=$(uname -m)
out=$PWD/dist
data=$PWD/bakeoff._engine.data # maturin puts what is below into the wheel, to be installed beside the package

work=$(mktemp -d "${TMPDIR:-/tmp}/bakeoff-dist.XXXXXX")
trap 'rm -rf "$work" "$data"' EXIT
trap 'exit 130' INT TERM
rm -rf "$out" "$data"
mkdir "$out"
"$bin/python" -m scripts.reference --share "$data/data/share"

# All arguments: how maturin is told of another processor.
make_wheel() {
    "$bin/maturin" build --release --locked --quiet --auditwheel check --out "$out" "$@"
}

# $1: processor, $2: where cargo puts its programs; all others: how cargo is told of it. The C library is linked in:
# crt-static concerns the last link alone, and so most of what is below is shared with the engine.
make_targets() {
    arch=$1
    made=$2
    shift 2
    cargo rustc --release --locked --quiet -p bakeoff-targets --bin bakeoff-targets "$@" -- -C target-feature=+crt-static
    cp "$made/bakeoff-targets" "$out/bakeoff-targets-$arch"
}

# Whether this machine can make programs for processor $1, or what it lacks in one sentence.
can_cross() {
    triple=$1-unknown-linux-gnu
    command -v "$1-linux-gnu-gcc" >/dev/null ||
        (install_packages "the wheel for $1" "gcc-$1-linux-gnu" "libc6-dev-$2-cross") >"$work/log" 2>&1 ||
        { echo "No wheel for $1: apt could not install a cross linker (gcc-$1-linux-gnu)."; return 1; }
    [ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ] || rustup -q target add "$triple" >"$work/log" 2>&1 ||
        { echo "No wheel for $1: this Rust has no standard library for it (rustup target add $triple)."; return 1; }
}

make_wheel
make_targets "$here" target/release
for arch in ${CROSS-aarch64}; do
    [ "$arch" != "$here" ] || continue
    case $arch in aarch64) debian=arm64 ;; *) debian=$arch ;; esac
    can_cross "$arch" "$debian" || continue
    triple=$arch-unknown-linux-gnu
    variable=$(echo "$triple" | tr a-z- A-Z_)
    export "CARGO_TARGET_${variable}_LINKER=$arch-linux-gnu-gcc" "CC_$(echo "$triple" | tr - _)=$arch-linux-gnu-gcc"
    make_wheel --target "$triple"
    make_targets "$arch" "target/$triple/release" --target "$triple"
done

for wheel in "$out"/*.whl; do
    case $wheel in
        *-abi3-manylinux_*) ;;
        *) echo "$wheel is tied to this system: its C library is newer than any manylinux" >&2; exit 1 ;;
    esac
done
ldd "$out/bakeoff-targets-$here" 2>&1 | grep -Eq 'statically linked|not a dynamic executable'
"$out/bakeoff-targets-$here" --version

"$bin/python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    --constraint requirements.lock "$out"/bakeoff-*_"$here".whl
for file in man/man1/bakeoff.1 man/man1/bakeoff-run.1 bash-completion/completions/bakeoff \
    zsh/site-functions/_bakeoff fish/vendor_completions.d/bakeoff.fish; do
    [ -s "$work/venv/share/$file" ] || { echo "the wheel lacks share/$file" >&2; exit 1; }
done
cd "$work"
env -i HOME="$work" LANG=C.UTF-8 PATH="$work/venv/bin" bakeoff demo --blocks "${BLOCKS:-6}" --output demo
[ -s demo/report.html ]
ls -l "$out"
