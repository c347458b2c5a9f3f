#!/bin/sh
# Installs the Debian packages of packages.txt that are missing. Does nothing when all are there.
set -eu
list="$(dirname "$0")/../packages.txt"
missing=""
for package in $(sed 's/#.*//' "$list"); do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
echo "Installing for the tests:$missing"
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo"
# The tests start servers of their own: the packages must not start theirs.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
    $as_root chmod +x "$policy"
    trap '$as_root rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q
# shellcheck disable=SC2086 # a list of words is meant
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
