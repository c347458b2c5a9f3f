#!/bin/sh
# From clone to green in a bare system: `make demo` and `make test` of the committed tree where nothing is installed but
# make and git. A plain chroot would not do: it forbids user namespaces and private mounts, which tests make; so the
# system is entered by pivot_root in mount and process namespaces of its own, and all of it is removed at the end.
#
# What tells this machine where registries are (apt, pip, cargo, Maven, certificates, proxies) is carried over.
# Variables: SUITE (another release), FRESH (other commands than those two, one a line), FRESH_KEEP=yes (keep the
# system, and say where).
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/apt.sh
. scripts/apt.sh
PATH="$PATH:/usr/sbin:/sbin"
[ -z "$as_root" ] || exec sudo -E sh scripts/fresh.sh
command -v debootstrap >/dev/null || install_packages "make fresh" debootstrap
export FRESH="${FRESH:-make demo
make test}"

codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
suite=${SUITE:-$codename}
# shellcheck disable=SC2016 # apt's own variables
mirror=$(apt-get indextargets --format '$(CREATED_BY) $(CODENAME) $(REPO_URI)' |
    awk -v name="$codename" '$1 == "Packages" && $2 == name { print $3; exit }')
[ -n "$mirror" ] || give_up "make fresh" "a source of packages for $codename in apt's configuration"

# Nobody else may look into the folder, which gets this machine's settings of registries; but inside, the system's root
# is open to all users, as servers that drop their rights need it.
folder=$(mktemp -d "${TMPDIR:-/var/tmp}/bakeoff-fresh.XXXXXX")
root=$folder/system
mkdir -m 755 "$root"
clean_up() {
    [ -n "${FRESH_KEEP:-}" ] && echo "Kept: $root" || rm -rf --one-file-system "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
echo "Bare system: $suite in $root"
debootstrap --variant=minbase --include=ca-certificates,git,make "$suite" "$root" "$mirror" >"$root.log" 2>&1 ||
    { tail -n 5 "$root.log" >&2; exit 1; }
rm "$root.log"
git clone -q --bare . "$root/source.git"

# Registries, as this machine has them.
rm -f "$root/etc/apt/sources.list"
cp -a /etc/apt/. "$root/etc/apt"
find "$root/etc/apt" '(' -name '*.list' -o -name '*.sources' ')' -exec sed -i "s/\b$codename\b/$suite/g" {} +
for path in /etc/resolv.conf /etc/hosts /etc/pip.conf /usr/share/keyrings /usr/local/share/ca-certificates; do
    [ ! -e "$path" ] || { mkdir -p "$root${path%/*}" && cp -rL "$path" "$root${path%/*}"; }
done
for path in .config/pip .pip .cargo/config .cargo/config.toml .m2/settings.xml; do
    [ ! -e "$HOME/$path" ] || { mkdir -p "$root/root/${path%/*}" && cp -rL "$HOME/$path" "$root/root/${path%/*}"; }
done
[ ! -d "${PIP_FIND_LINKS:-}" ] || { mkdir -p "$root$PIP_FIND_LINKS" && cp -rL "$PIP_FIND_LINKS/." "$root$PIP_FIND_LINKS"; }
names='PIP_|CARGO_(REGISTR|HTTP_|NET_|SOURCE_)|MAVEN_(OPTS|ARGS)|SSL_CERT_|GIT_SSL_'
{ export -p | grep -E "^export ($names|[A-Za-z_]*(_proxy|_PROXY|_CA_BUNDLE)=)" || :; } >"$root/environment"

# Done in the bare system, each command with its minutes.
echo "$FRESH" >"$root/commands"
cat >"$root/inside" <<'END'
set -eu
. /environment
export HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umount -l /.host
update-ca-certificates >/dev/null 2>&1
begun=$(date +%s)
git clone -q /source.git /root/bakeoff
cd /root/bakeoff
while read -r command; do
    echo "+ $command"
    sh -c "$command" </dev/null || { echo "fresh: $command failed"; exit 1; }
    minutes=$(awk -v s=$(($(date +%s) - begun)) 'BEGIN { printf "%.1f", s / 60 }')
    echo "fresh: $minutes minutes from clone to the end of: $command"
done </commands
END

# Done in the namespaces: the system's own mounts, and nothing of this machine's left.
cat >"$root/enter" <<'END'
set -eu
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs tmpfs dev/shm
mount -t tmpfs tmpfs run
mkdir -p .host
pivot_root . .host
exec chroot . /bin/sh /inside
END
unshare --mount --pid --ipc --uts --fork --kill-child env -i /bin/sh "$root/enter" "$root"
