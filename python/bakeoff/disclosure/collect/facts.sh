# Reads what a paper discloses of a machine, and writes nothing. POSIX sh; what is missing is left out.
# Every line of an answer begins with a space, so that no content can be taken for the head of the next part.
# `root` and `files` are set before these lines.
PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin
LC_ALL=C
export PATH LC_ALL

part() { printf '@%s\n' "$1"; sed 's/^/ /' | head -c "${2:-32768}"; echo; }
limited() { if command -v timeout >/dev/null 2>&1; then timeout 5 "$@"; else "$@"; fi; }
read_file() { if [ -r "$root$1" ]; then head -c "${2:-32768}" "$root$1" 2>/dev/null | part "$1" "${2:-32768}"; fi; }
ran() {
    name=$1
    shift
    if command -v "$1" >/dev/null 2>&1; then limited "$@" 2>/dev/null | part "$name" 1048576; fi
}
said() {
    name=$1
    shift
    if command -v "$1" >/dev/null 2>&1; then limited "$@" 2>&1 | head -n 3 | part "version $name" 1024; fi
}
values() { for path in "$@"; do if [ -r "$path" ] && [ -f "$path" ]; then
    printf '%s = ' "${path#"$root"}"; head -c 400 "$path" 2>/dev/null | tr '\n' ' '; echo
fi; done; }

# Of the first processor all, of the others what is counted: with all of them large machines would fill megabytes.
processors() {
    if [ -r "$root/proc/cpuinfo" ]; then sed -n '1,/^$/{
        p
        d
    }
    /^processor/p
    /^physical id/p
    /^core id/p
    /^$/p' "$root/proc/cpuinfo" | part /proc/cpuinfo 1048576; fi
}
# Those that are listed, up to the words for the first process: the others say what is nobody else's.
kernel_parameters() {
    [ -r "$root/proc/cmdline" ] || return 0
    # shellcheck disable=SC2154 # `parameters` is set before these lines.
    head -c 32768 "$root/proc/cmdline" | tr -s ' \t' '\n\n' | while read -r word; do
        [ "$word" != -- ] || break
        case " $parameters " in *" ${word%%=*} "*) printf '%s ' "$word" ;; esac
    done | part 'kernel parameters'
}
hardware() {
    processors
    read_file /proc/meminfo
    read_file /etc/os-release
    read_file /proc/sys/kernel/osrelease
    kernel_parameters
    values "$root"/sys/class/dmi/id/sys_vendor "$root"/sys/class/dmi/id/product_name \
        "$root"/sys/class/dmi/id/bios_vendor "$root"/sys/class/dmi/id/bios_version \
        "$root"/sys/class/dmi/id/bios_date "$root"/sys/hypervisor/type \
        "$root"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor \
        "$root"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq \
        "$root"/sys/devices/system/cpu/intel_pstate/no_turbo "$root"/sys/devices/system/cpu/smt/control \
        "$root"/sys/devices/system/cpu/cpu0/cache/index*/level "$root"/sys/devices/system/cpu/cpu0/cache/index*/type \
        "$root"/sys/devices/system/cpu/cpu0/cache/index*/size \
        "$root"/sys/kernel/mm/transparent_hugepage/enabled \
        "$root"/sys/devices/system/clocksource/clocksource0/current_clocksource \
        "$root"/sys/devices/system/cpu/vulnerabilities/* | part values 65536
    ran dmidecode dmidecode -t 17
    ran virtualisation systemd-detect-virt
    ran lspci lspci
}

disks() {
    for disk in "$root"/sys/block/*; do case "${disk##*/}" in loop*|ram*|zram*|sr*|fd*|nbd*|'*') continue ;; esac
        values "$disk/size" "$disk/queue/rotational" "$disk/queue/scheduler" "$disk/queue/write_cache" \
            "$disk/device/model" "$disk/device/vendor" "$disk/device/firmware_rev" "$disk/device/rev"
    done | part disks 1048576
    read_file /proc/mdstat
    read_file /proc/mounts 1048576
}

network() {
    for card in "$root"/sys/class/net/*; do [ -e "$card/mtu" ] || continue
        values "$card/operstate" "$card/speed" "$card/duplex" "$card/mtu" "$card/type"
        if [ -e "$card/device" ]; then
            driver=$(readlink "$card/device/driver" 2>/dev/null)
            printf '%s/driver = %s\n' "${card#"$root"}" "${driver##*/}"
            slot=$(readlink "$card/device" 2>/dev/null)
            printf '%s/slot = %s\n' "${card#"$root"}" "${slot##*/}"
        fi
    done | part network 1048576
    ran lldp lldpctl -f keyvalue
}

software() {
    ran dpkg dpkg-query -W -f '${Package} ${Version} ${db:Status-Abbrev}\n'
    if ! command -v dpkg-query >/dev/null 2>&1; then ran rpm rpm -qa --qf '%{NAME} %{VERSION}-%{RELEASE} ii\n'; fi
    said nginx nginx -v
    said apache apache2 -v
    said apache httpd -v
    said lighttpd lighttpd -v
    said caddy caddy version
    said haproxy haproxy -v
    said varnish varnishd -V
    said samba smbd -V
    said postfix postconf -h mail_version
    said dovecot dovecot --version
    said exim exim -bV
    said exim exim4 -bV
    said openssl openssl version
    said php php -v
}

settings() {
    # shellcheck disable=SC2154 # `sysctls` is set before these lines.
    for name in $sysctls; do values "$root/proc/sys/$name"; done | part sysctl 65536
}

configuration() {
    number=0
    # shellcheck disable=SC2154 # `files` is set before these lines: patterns, to be matched below `root`.
    for pattern in $files; do for path in $root$pattern; do one_file "$path"; done; done
    for path in "$@"; do one_file "$root$path"; done
}
one_file() {
    [ -f "$1" ] && [ "$number" -lt 96 ] || return 0
    number=$((number + 1))
    printf '%s\n' "${1#"$root"}" | part file-name 1024
    if [ ! -r "$1" ]; then echo '@file-unreadable'; return 0; fi
    size=$(wc -c <"$1" 2>/dev/null) || size=
    printf '%s\n' "$size" | part file-size 64
    # A space more on each line must have room.
    if [ "${size:-0}" -le 131072 ]; then head -c 131073 "$1" | part file-text 400000; fi
}

all() { echo '@bakeoff-facts 1'; hardware; disks; network; software; settings; configuration "$@"; echo '@end'; }
