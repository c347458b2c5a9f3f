# Sourced by the scripts that install: packages by apt, as root or with sudo, or one sentence that names them.

as_root=
[ "$(id -u)" = 0 ] || as_root=sudo

# Ends with the names of what is missing: nothing here can install it. $1: for what, $2: names.
give_up() {
    echo "Missing for $1: $2. Install it, then run the same command again." >&2
    exit 2
}

# Whether a package, or another one that provides it, is installed.
is_installed() {
    dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' 2>/dev/null |
        awk -v name="$1" '$1 == "installed" { gsub(/,|\([^)]*\)/, " "); for (i = 2; i <= NF; i++) if ($i == name) exit 1 }' &&
        return 1
    return 0
}

# Fetches apt's lists, once in a run of a script.
update_lists() {
    [ -z "${lists_are_new:-}" ] || return 0
    command -v "${as_root:-sh}" >/dev/null || return 0 # install_packages says that it needs root
    $as_root apt-get update -q -o DPkg::Lock::Timeout=300 </dev/null
    lists_are_new=yes
}

# $1: for what; all others: packages.
install_packages() {
    purpose=$1
    shift
    command -v apt-get >/dev/null || give_up "$purpose" "$* (Debian's names)"
    if [ -n "$as_root" ] && ! command -v sudo >/dev/null; then
        give_up "$purpose" "$* (needs root: apt-get install --no-install-recommends $*)"
    fi
    echo "Installing for $purpose: $*"
    # Services that are installed are not started: the tests start servers of their own.
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap '$as_root rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
        $as_root chmod +x "$policy"
    fi
    update_lists
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold "$@" </dev/null ||
        give_up "$purpose" "$* (apt-get could not install all of them)"
}
