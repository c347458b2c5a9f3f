"""What other load generators and habit call a thing, and what to write here."""

CLIENTS = "--clients 1,4,8 (clients, one load step each)"
LENGTH = "--length 30s (both ramps included)"
RATE = "--rate 500,1000 (open-loop load)"
COUNT = "--operations 1000"
BLOCKS = "--blocks 8 (blocks with every contender)"
TLS = "https:// in the addresses, with --ca-file FILE or --insecure where the certificates are your own"
PERCENTILES = "no flag: p50, p95 and p99 are always measured, and `bakeoff compare RUN.bakeoff` prints them"

# By flag, or by setting of another kind that is no flag of this one.
FOREIGN_FLAGS = {
    "--duration": LENGTH,
    "--time": LENGTH,
    "--runtime": LENGTH,
    "-d": LENGTH,
    "-z": LENGTH,
    "--timeout": "--reply-timeout 10s, and --connect-timeout 5s for the connection",
    "--connections": CLIENTS,
    "--concurrency": CLIENTS,
    "--vus": CLIENTS,
    "--users": CLIENTS,
    "--numjobs": CLIENTS,
    "-c": CLIENTS,
    "-t": "--load-threads 2 for threads of the generator, --virtual-users 2 for connections of each client, --length "
    "30s for a time",
    "--qps": RATE,
    "-R": RATE,
    "-q": RATE,
    "--requests": COUNT,
    "--iterations": COUNT,
    "--num-conns": COUNT,
    "--num-calls": COUNT,
    "-n": COUNT,
    "--warmup": "--ramp-up 5s",
    "--ramp": "--ramp-up 5s, and --ramp-down 5s at the end",
    "--runs": BLOCKS,
    "--repeat": BLOCKS,
    "--surfaces": "bakeoff report RUN.bakeoff --surfaces, once it has run",
    "--iodepth": "--outstanding 1,4,16",
    "--bs": "--block-sizes 4KiB,64KiB",
    "--uri": "the path in the contender's address, or --urls FILE for several",
    "--delay": "--stagger 5s (clients begin at random moments within it) or --think 10ms (a pause after each "
    "operation); servers that answer late are those of `bakeoff serve`",
    "--latency": f"{PERCENTILES}; for a pause after each operation --think 10ms; servers that answer late are those of "
    "`bakeoff serve`",
    "-X": "--method POST",
    "-m": "--method POST; --streams 10 for requests at once on a connection of HTTP/2",
    "--request": "--method POST",
    "--http2": "--http 2",
    "--http2.0": "--http 2",
    "--h2": "--http 2",
    "--http3": "--http 3",
    "--tls": TLS,
    "--ssl": TLS,
    "--dry-run": "bakeoff plan with the same words, which sends nothing",
    "--percentiles": PERCENTILES,
    "--data": "--method POST --body FILE",
    "--data-binary": "--method POST --body FILE",
    "--user": "--basic-auth USER:PASSWORD",
    "-k": "--keep-alive; --insecure for certificates that are not to be checked",
    "--cert": "--ca-file FILE, the authorities to trust",
    "--cacert": "--ca-file FILE, the authorities to trust",
}


def own_flag(flag: str) -> str | None:
    """What a flag of another tool is in Bakeoff: `in Bakeoff: --length 30s (…)`; None when that is not known."""
    return f"in Bakeoff: {FOREIGN_FLAGS[flag]}" if flag in FOREIGN_FLAGS else None
