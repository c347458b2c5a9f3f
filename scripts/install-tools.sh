#!/bin/sh
# Installs what the build needs and this machine lacks: Python with venv, a C compiler, Rust. With `lint` rustfmt and
# clippy as well. Does nothing when all are there. Tools that are not on the PATH get links in .make/bin.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/apt.sh
. scripts/apt.sh
python=${PYTHON:-python3}
python_minimum=3.11
rust_minimum=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
links=.make/bin
PATH="$PWD/$links:$PATH"

# Whether version $1 is $2 or later.
at_least() {
    [ -n "$1" ] && [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# The version of a package that apt would install, or nothing.
candidate() {
    apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: \([0-9]*:\)\{0,1\}\([0-9].*\)/\2/p'
}

# Links to programs of folder $1, as far as it has them; all others: their names.
link_tools() {
    folder=$1
    shift
    mkdir -p "$links"
    for tool in "$@"; do
        [ ! -x "$folder/$tool" ] || ln -sf "$folder/$tool" "$links/$tool"
    done
}

has_python() {
    "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info[:2] < tuple(map(int, sys.argv[1].split("."))))' \
        $python_minimum 2>/dev/null
}

has_compiler() {
    command -v cc >/dev/null && echo '#include <stdlib.h>' | cc -E -o /dev/null - 2>/dev/null
}

has_rust() {
    for tool in cargo rustc; do
        at_least "$($tool --version 2>/dev/null | cut -d ' ' -f 2)" "$rust_minimum" || return 1
    done
}

# Debian's and Ubuntu's names for a Python that is recent enough: its own, else one with a version in its name.
install_python() {
    update_lists
    version=$(candidate python3)
    if at_least "$version" $python_minimum; then
        install_packages "the build" python3 python3-venv
        has_python "$python" || link_tools /usr/bin python3
        return
    fi
    for name in python3.14 python3.13 python3.12 python3.11; do
        [ -n "$(candidate $name-venv)" ] || continue
        install_packages "the build" $name $name-venv
        mkdir -p "$links"
        ln -sf "/usr/bin/$name" "$links/python3"
        return
    done
    give_up "the build" "Python $python_minimum or later with its venv module (this system has $version)"
}

# What stands behind `rustc` and `cargo` in the names of packages that are recent enough: nothing, -web (what Debian
# builds its browsers with) or a version (Ubuntu).
recent_rust() {
    for suffix in "" -web $(apt-cache pkgnames rustc- | sed -n 's/^rustc\(-1\.[0-9]*\)$/\1/p' | sort -rV); do
        if at_least "$(candidate "rustc$suffix")" "$rust_minimum" && [ -n "$(candidate "cargo$suffix")" ]; then
            echo "suffix=$suffix"
            return
        fi
    done
}

install_rust() {
    if command -v rustup >/dev/null; then
        echo "Installing for the build: Rust, by rustup (stable)"
        rustup toolchain install stable --profile minimal --no-self-update
        link_tools "$(dirname "$(rustup which --toolchain stable cargo)")" cargo rustc rustdoc
        return
    fi
    update_lists
    found=$(recent_rust)
    [ -n "$found" ] || give_up "the build" \
        "Rust $rust_minimum or later (cargo, rustc; this system's is $(candidate rustc), rustup has newer ones)"
    suffix=${found#suffix=}
    install_packages "the build" "cargo$suffix" "rustc$suffix"
    case $suffix in
        -1.*) link_tools "/usr/lib/rust$suffix/bin" cargo rustc rustdoc ;;
        *) has_rust || link_tools /usr/bin cargo rustc rustdoc ;;
    esac
}

install_linters() {
    linters="cargo-fmt rustfmt cargo-clippy clippy-driver"
    sysroot=$(rustc --print sysroot)
    case $sysroot in
        */toolchains/*)
            rustup component add --toolchain "$(basename "$sysroot")" rustfmt clippy
            link_tools "$sysroot/bin" $linters
            return
            ;;
        /usr/lib/rust-1.*)
            suffix=${sysroot#/usr/lib/rust}
            packages="rustfmt$suffix rust$suffix-clippy"
            ;;
        *)
            packages="rustfmt rust-clippy"
            ! is_installed rustc-web || packages="rustfmt-web rust-web-clippy"
            ;;
    esac
    # shellcheck disable=SC2086 # lists of words are meant
    install_packages "make lint" $packages
    # shellcheck disable=SC2086
    link_tools "$sysroot/bin" $linters
}

# Where there is no apt all that is missing is named at once.
if ! command -v apt-get >/dev/null; then
    missing=""
    has_python "$python" || missing="$missing, Python $python_minimum or later with its venv module (python3 python3-venv)"
    has_compiler || missing="$missing, a C compiler (gcc libc6-dev)"
    has_rust || command -v rustup >/dev/null || missing="$missing, Rust $rust_minimum or later (cargo rustc)"
    [ -z "$missing" ] || give_up "the build" "${missing#, }"
fi
has_python "$python" || install_python
has_compiler || install_packages "the build" gcc libc6-dev
has_rust || install_rust
[ "${1:-}" != lint ] || { cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1 || install_linters
has_python "$python" || give_up "the build" "Python $python_minimum or later with its venv module, as $python"
has_compiler || give_up "the build" "a C compiler that works, as cc"
has_rust || give_up "the build" "Rust $rust_minimum or later, as cargo and rustc"
