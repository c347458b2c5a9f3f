#!/bin/sh
# Puts what the emulated guest of tests/files/guest.py starts from into .servers/guest: a kernel of the distribution
# that has clients of NFS and SMB, and a small disk in memory with busybox and the kernel's modules. Installs nothing.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
place="$top/.servers/guest"
init="$top/tests/files/guest-init"
[ "$place/initrd" -nt "$init" ] && [ "$place/initrd" -nt "$0" ] && [ -e "$place/vmlinuz" ] && exit 0

# What `modprobe` would ask for later, too: SMB signs and seals with these ciphers.
modules="9pnet_virtio 9p virtio_pci virtio_net cmac hmac md5 sha512 ccm gcm ctr ghash-generic ecb nls_utf8 cifs nfsv4 nfs"
umask 022
rm -rf "$place" "$place.part"
mkdir -p "$place.part/root/bin" "$place.part/root/modules" "$place.part/tree"
cd "$place.part"

# The package that the distribution's newest general kernel is in: Debian's name for it, then Ubuntu's.
image=
for name in linux-image-amd64 linux-image-generic; do
    [ -n "$image" ] || image=$(apt-cache depends "$name" 2>/dev/null |
        sed -n 's/^ *Depends: \(linux-image-[0-9][^ ]*\)$/\1/p' | head -n 1)
done
[ -n "$image" ] || { echo "apt knows no kernel for the guest of the tests: apt-get update" >&2; exit 2; }
echo "Unpacking for the tests: $image, busybox-static"
modules_apart=$(echo "$image" | sed 's/^linux-image/linux-modules/') # Ubuntu's way
for package in "$image" "$modules_apart" busybox-static; do
    apt-cache show "$package" >/dev/null 2>&1 || [ "$package" != "$modules_apart" ] || continue
    apt-get download -q -o APT::Sandbox::User=root "$package" >/dev/null
    dpkg -x "$package"_*.deb tree
    rm "$package"_*.deb
done
version=${image#linux-image-}
cp tree/boot/vmlinuz-"$version" vmlinuz
[ -d tree/lib ] || ln -s usr/lib tree/lib
PATH="$PATH:/usr/sbin:/sbin"
depmod -b tree "$version"
for module in $modules; do # what is built in is shown as such, what is missing is an error
    modprobe -S "$version" -d "$place.part/tree" --show-depends "$module"
done >needed
awk '$1 == "insmod" && !seen[$2]++ { print $2 }' needed | while read -r path; do
    name=$(basename "$path")
    case $name in
        *.xz) xz -dc "$path" ;;
        *.zst) zstd -dcq "$path" ;;
        *) cat "$path" ;;
    esac >"root/modules/${name%%.ko*}.ko"
    echo "${name%%.ko*}.ko" >>root/modules/order
done
find tree/bin tree/usr/bin -name busybox -exec cp {} root/bin/busybox \; 2>/dev/null || :
cp "$init" root/init
chmod 755 root/init root/bin/busybox
mkdir root/proc root/sys root/dev root/host
(cd root && find . | cpio --create --format=newc --owner=0:0 --quiet) | gzip -1 >initrd
rm -rf tree root needed
mv "$place.part" "$place"
