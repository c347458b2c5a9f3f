#!/bin/sh
# Installs what the tests need and this machine lacks: the Debian packages of packages.txt, those of unpacked.txt below
# .servers, a mail server from Maven Central, the kernel of the file tests' guest. Does nothing when all are there.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/apt.sh
. scripts/apt.sh
servers="$PWD/.servers"
greenmail=2.1.3

missing=""
for package in $(sed 's/#.*//' packages.txt); do
    if ! command -v dpkg-query >/dev/null || ! is_installed "$package"; then missing="$missing $package"; fi
done
# shellcheck disable=SC2086 # a list of words is meant
[ -z "$missing" ] || install_packages "the tests" $missing

mkdir -p "$servers"
for package in $(sed 's/#.*//' unpacked.txt); do
    [ ! -d "$servers/$package" ] || continue
    echo "Unpacking for the tests: $package"
    (
        cd "$servers"
        apt-get download -q -o APT::Sandbox::User=root "$package" >/dev/null
        dpkg -x "$package"_*.deb "$package.part"
        mv "$package.part" "$package"
    ) || give_up "the tests" "$package (apt-get could not download it: apt-get update)"
done
sh scripts/guest-kernel.sh

# Exim looks for its user when it starts, whoever it then runs as.
id Debian-exim >/dev/null 2>&1 ||
    $as_root useradd --system --no-create-home --home-dir /var/spool/exim4 --shell /usr/sbin/nologin Debian-exim
[ -e "$servers/greenmail-standalone-$greenmail.jar" ] ||
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy </dev/null \
        -Dartifact="com.icegreen:greenmail-standalone:$greenmail" -DoutputDirectory="$servers" ||
    give_up "the tests" "greenmail-standalone-$greenmail.jar in .servers (Maven could not fetch it)"
