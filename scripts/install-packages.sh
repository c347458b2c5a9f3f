#!/bin/sh
# Installs the Debian packages of packages.txt that are missing. Does nothing when all are there.
set -eu
list="$(dirname "$0")/../packages.txt"
missing=""
for package in $(sed 's/#.*//' "$list"); do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo"

# Servers that cannot be installed beside others, and GreenMail, which Debian does not have.
servers="$(dirname "$0")/../.servers"
greenmail=2.1.3
fetch() {
    mkdir -p "$servers"
    for package in $(sed 's/#.*//' "$(dirname "$0")/../unpacked.txt"); do
        [ -d "$servers/$package" ] && continue
        echo "Unpacking for the tests: $package"
        (cd "$servers" && apt-get download -q "$package" && dpkg -x "$package"_*.deb "$package.part" && mv "$package.part" "$package")
    done
    sh "$(dirname "$0")/guest-kernel.sh"
    # Exim looks for its user when it starts, whoever it then runs as.
    id Debian-exim >/dev/null 2>&1 ||
        $as_root useradd --system --no-create-home --home-dir /var/spool/exim4 --shell /usr/sbin/nologin Debian-exim
    jar="greenmail-standalone-$greenmail.jar"
    [ -e "$servers/$jar" ] || mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
        -Dartifact="com.icegreen:greenmail-standalone:$greenmail" -DoutputDirectory="$(cd "$servers" && pwd)"
}

[ -z "$missing" ] && fetch && exit 0
echo "Installing for the tests:$missing"
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
fetch
