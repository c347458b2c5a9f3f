"""The dynamic page: the same bytes from the CGI program and from the built-in target.

Request: `/cgi-bin/bakeoff.cgi?n=ID&size=BYTES`, GET or HEAD, parameters in any order, decimal digits only.
`n` is 0 to 999,999,999, `size` is 64 to 131,072 and is the length of the whole body; anything else is
answered by status 400. The body is ASCII::

    head    <!DOCTYPE html><title>bakeoff</title><pre>\\n        43 bytes
    middle  the first size - 50 bytes of line(0) line(1) line(2) …
    tail    </pre>\\n                                             7 bytes
    line(k) N, space, V, space, 41 dots, \\n                      64 bytes
            N = 1,000,000,000 + n
            V = 1,000,000,000 + (n * 7919 + k * 104729) mod 1,000,003

Integer arithmetic only, at most 2,048 short lines, no file is read: cheap in a shell and in Rust, and a
client
that knows n and size knows every byte.
"""

PATH = "cgi-bin/bakeoff.cgi"
SMALLEST, LARGEST = 64, 131_072
_HEAD = b"<!DOCTYPE html><title>bakeoff</title><pre>\n"
_TAIL = b"</pre>\n"
_BASE = 1_000_000_000


def body(n: int, size: int) -> bytes:
    """The bytes that the page must give. Raises ValueError outside of its limits."""
    if not 0 <= n < _BASE or not SMALLEST <= size <= LARGEST:
        raise ValueError(f"n={n} size={size}: n is 0 to 999999999, size {SMALLEST} to {LARGEST}")
    middle = size - len(_HEAD) - len(_TAIL)
    dots = b"." * 41
    lines = b"".join(
        b"%d %d %s\n" % (_BASE + n, _BASE + (n * 7919 + k * 104729) % 1_000_003, dots) for k in range(middle // 64 + 1)
    )
    return _HEAD + lines[:middle] + _TAIL


CGI = r"""#!/bin/sh
# The dynamic page of Bakeoff's web-dynamic suite: ?n=ID&size=BYTES. POSIX shell, no other program is started.
set -f
LC_ALL=C
export LC_ALL

bad() {
    text='bad query: use ?n=0..999999999&size=64..131072'
    printf 'Status: 400 Bad Request\r\nContent-Type: text/plain\r\n'
    printf 'Content-Length: %d\r\n\r\n%s\n' $((${#text} + 1)) "$text"
    exit 0
}

n= size= old=$IFS
IFS='&'
for pair in $QUERY_STRING; do
    case $pair in
        n=*) n=${pair#n=} ;;
        size=*) size=${pair#size=} ;;
    esac
done
IFS=$old
case $n in '' | *[!0-9]* | ??????????*) bad ;; esac
case $size in '' | *[!0-9]* | ???????*) bad ;; esac
# A leading zero would make the shell read an octal number.
while :; do case $n in 0?*) n=${n#0} ;; *) break ;; esac; done
while :; do case $size in 0?*) size=${size#0} ;; *) break ;; esac; done
if [ "$size" -lt 64 ] || [ "$size" -gt 131072 ]; then bad; fi

printf 'Content-Type: text/html\r\nContent-Length: %d\r\nCache-Control: no-store\r\n\r\n' "$size"
if [ "$REQUEST_METHOD" = HEAD ]; then exit 0; fi
page='<!DOCTYPE html><title>bakeoff</title><pre>
'
left=$((size - 50)) first=$((1000000000 + n)) value=$((n * 7919 % 1000003)) lines=0
while [ $left -ge 64 ]; do
    page="$page$first $((1000000000 + value)) .........................................
"
    value=$(((value + 104729) % 1000003))
    left=$((left - 64)) lines=$((lines + 1))
    if [ $lines -eq 128 ]; then
        printf '%s' "$page"
        page='' lines=0
    fi
done
line="$first $((1000000000 + value)) ........................................."
printf "%s%.${left}s%s\n" "$page" "$line" '</pre>'
"""
