"""The command line of httperf: getopt_long's rules, httperf's defaults, and one sentence for each that cannot be."""

import random
from pathlib import Path

import pytest

from bakeoff.compat.httperf.completion import completions
from bakeoff.compat.httperf.getopt import LONG, OPTIONS, SHORT, read_words
from bakeoff.compat.httperf.options import OWN, parse
from bakeoff.core.errors import PlanError
from bakeoff.kinds.httperf.plan import HttperfSettings
from bakeoff.kinds.httperf.values import Client, Period, Wset
from bakeoff.load.arrivals import Constant, Poisson, Steps, Uniform
from bakeoff.load.load_step import Clients, Rate
from bakeoff.plan.input.messages import input_names


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("--num-conns 5", [("num-conns", "5")]),
        ("--num-conns=5", [("num-conns", "5")]),
        ("--num-con=5", [("num-conns", "5")]),
        ("--ra 3", [("rate", "3")]),
        ("--session-cookie", [("session-cookies", None)]),
        ("--server a --server-n b --servers c", [("server", "a"), ("server-name", "b"), ("servers", "c")]),
        ("--timeout=", [("timeout", "")]),
        ("--rate -1", [("rate", "-1")]),
        ("--print-reply --hog", [("print-reply", None), ("hog", None)]),
        ("--print-reply=header", [("print-reply", "header")]),
        ("--ssl-verify=yes --ssl-verify", [("ssl-verify", "yes"), ("ssl-verify", None)]),
        ("--ssl", [("ssl", None)]),
        ("-vvn", [("verbose", None), ("verbose", None), ("periodic-stats", None)]),
        ("-d5 -d 6", [("debug", "5"), ("debug", "6")]),
        ("-vd5", [("verbose", None), ("debug", "5")]),
        ("-hV", [("help", None), ("version", None)]),
        ("a --hog -- --hog b", [("", "a"), ("hog", None), ("", "--hog"), ("", "b")]),
        ("-", [("", "-")]),
    ],
)
def test_words_are_read_as_getopt_long_reads_them(words: str, read: list[tuple[str, str | None]]) -> None:
    assert list(read_words(words.split())) == read


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_beginning_that_only_one_option_has_means_it(option: object) -> None:
    name = option.name  # type: ignore[attr-defined]
    for length in range(1, len(name) + 1):
        beginning = name[:length]
        possible = [other for other in LONG if other.startswith(beginning)]
        word = f"--{beginning}" + ("" if LONG[name].takes == "no" else "=x")
        if len(possible) == 1 or beginning == name:
            assert next(iter(read_words([word])))[0] == name
        elif beginning not in LONG:
            with pytest.raises(PlanError) as refused:
                list(read_words([word]))
            assert all(f"--{other}" in str(refused.value) for other in possible)


def test_short_options_are_those_of_httperf_and_ours() -> None:
    assert set(SHORT) == {"d", "h", "n", "v", "V", "o"} and set(SHORT.values()) <= set(LONG)


def test_an_option_is_a_setting_of_the_kind_or_says_where_and_what_is_printed() -> None:
    settings = {key.replace("_", "-") for key in input_names(HttperfSettings)}
    crowd = {"clients", "virtual-users", "length", "think", "think-distribution", "pin", "reply-timeout"}
    assert set(LONG) - OWN == settings - crowd


def test_defaults_are_those_of_httperf() -> None:
    options = parse([])
    s = options.settings
    assert (options.server, options.port, options.uri, options.tls) == ("localhost", 80, "/", False)
    assert (s.num_conns, s.num_calls, s.burst_length, s.timeout_s, s.think_timeout_s) == (1, 1, 1, None, 0.0)
    assert (s.send_buffer, s.recv_buffer, s.method, s.http_version) == (4096, 16384, "GET", "1.1")
    assert s.client == Client(0, 1) and s.load_steps == (Clients(1),) and not s.ssl_verify
    assert options.print_reply is None and not options.telling.verbose


def test_tls_moves_the_port() -> None:
    assert parse(["--ssl"]).port == 443 and parse(["--ssl", "--port", "8443"]).port == 8443
    assert parse(["--ssl"]).address == "https://localhost:443/"


def test_the_last_one_of_an_option_holds_and_repeated_ones_add_up() -> None:
    options = parse(
        [
            "--rate",
            "5",
            "--rate",
            "7",
            "--add-header",
            "A:b",
            "--add-header",
            "C:d\\n",
            "--myaddr",
            "127.0.0.2-127.0.0.3",
        ]
    )
    assert options.settings.rates == (7.0,)
    assert options.settings.header_text == "A:b\r\nC:d\r\n"


@pytest.mark.parametrize(
    ("period", "per_s", "arrivals"),
    [
        ("0.1", 10.0, Constant()),
        ("d0.5", 2.0, Constant()),
        ("e0.1", 10.0, Poisson()),
        ("u1,3", 0.5, Uniform()),
        ("v0.1,1,0.2,1", 7.5, Steps(((10 / 7.5, 1.0), (5 / 7.5, 1.0)))),
    ],
)
def test_a_period_is_a_rate(period: str, per_s: float, arrivals: object) -> None:
    (load_step,) = parse([f"--period={period}"]).settings.load_steps
    assert isinstance(load_step, Rate) and load_step.per_s == pytest.approx(per_s) and load_step.arrivals == arrivals


@pytest.mark.parametrize(
    ("words", "counted_length_s"),
    [
        ("--rate 10 --num-conns 100", 10.0),
        ("--rate 10 --num-conns 100 --runtime 3", 3.0),
        ("--period u0.1,0.3 --num-conns 100", 20.0),
        ("--rate 10 --wsess 20,6,0.5 --burst-length 2", 3.0),
        ("--num-conns 100", None),
        ("--wsess 20,6,0.5", None),
    ],
)
def test_how_long_a_run_lasts_is_counted_from_its_work(words: str, counted_length_s: float | None) -> None:
    assert parse(words.split()).settings.counted_length_s == (
        None if counted_length_s is None else pytest.approx(counted_length_s)
    )


def test_a_period_of_nothing_is_one_after_the_other() -> None:
    for words in (["--period", "0"], ["--period", "e0"], ["--rate", "0"]):
        assert parse(words).settings.load_steps == (Clients(1),)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--ser x", "--ser is ambiguous: write one of --server, --servers, --server-name"),
        ("--nu 3", "--nu is ambiguous: write one of --num-conns, --num-calls"),
        ("--number 3", "--number is not an option: "),
        ("-num-conns 3", "-u is not an option: long ones have two dashes"),
        ("--hog=yes", "--hog takes no value"),
        ("--num-conns", "--num-conns needs a value: --num-conns N"),
        ("--num-conns abc", "--num-conns: 'abc' is not a whole number"),
        ("--num-conns 0", "--num-conns: '0'|--num-conns: 0 does not fit"),
        ("--num-conns 1e9", "--num-conns: '1e9' is not a whole number"),
        ("--rate -5", "--rate: '-5' is not a number"),
        ("--rate 1,2,3", "--rate: give one rate"),
        ("--rate nan", "--rate: 'nan' is not a number"),
        ("--rate 1e11", "a rate must be over 0 and at most"),
        ("--rate 5 --period 0.1", "rate and period both say when to start"),
        ("--period x", "--period: 'x' is not a period: write 0.1"),
        ("--period u3,1", "of u the second time is the longer one"),
        ("--period v0.1", "--period: 'v0.1' is not a period"),
        ("--wsess 3,2", "--wsess: '3,2' is not sessions,calls,seconds: write 10,5,2"),
        ("--wsess 1,0,1", "sessions without calls"),
        ("--wsess 1,1,1 --wsesspage 1,1,1", "wsess and wsesspage exclude each other"),
        ("--wset 10", "--wset: '10' is not files,miss rate"),
        ("--wset 10,2", "it lies between 0 and 1"),
        ("--wset 5,0.1 --wlog y,{list}", "wlog and wset both say which URIs"),
        ("--wlog {list}", "is not y,file or n,file"),
        ("--wlog y,/nowhere", "--wlog: /nowhere cannot be read"),
        ("--client 4/4", "clients are counted from 0, so the last of 4 is 3"),
        ("--client 1", "'1' is not I/N"),
        ("--print-reply header", "'header' belongs to no option: values of optional ones stand behind ="),
        ("--print-reply=headers", "--print-reply=headers: write --print-reply, "),
        ("--session-cookies", "session_cookies needs sessions"),
        ("--http-version 2.0", "--http-version: "),
        ("--ssl --ssl-protocol SSLv3", "SSLv3 is not spoken any more"),
        ("--ssl --ssl-certificate /tmp/x", "ssl_certificate and ssl_key belong together"),
        ("--server a --servers {list}", "--server and --servers both say where to connect"),
        ("--server http://a/", "is no host"),
        ("--port 0", "--port: '0'"),
        ("--port 65536", "--port: '65536'"),
        ("--myaddr 127.0.0.9-127.0.0.2", "the lower one first"),
        ("--myaddr a/b", "'a/b' is no address"),
        ("--add-header nonsense", "'nonsense' is not a header"),
        ("--add-header A:b\\x", "behind a backslash stands"),
        ("--add-header-file /nowhere", "/nowhere cannot be read"),
        ("--uri /a\tb", "is no URI"),
        ("--method GET/", "--method: "),
        ("--failure-status 99 --wsess 1,1,1", "--failure-status: "),
        ("--side-by-side", "--side-by-side: name the run files"),
        ("--side-by-side a --rate 5", "--side-by-side sends nothing: leave --rate out"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(words: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "list").write_text("/a\0")
    with pytest.raises(PlanError) as refused:
        parse(words.format(list=tmp_path / "list").split(" "))
    assert any(part in str(refused.value) for part in sentence.split("|")), refused.value
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("words", "warned"),
    [
        ("--wsess 1,1,1 --num-conns 5", "--num-conns does nothing: sessions have their own counts"),
        ("--ssl-ciphers x", "--ssl-ciphers does nothing: belongs to TLS"),
        ("--think-timeout 5", "--think-timeout does nothing: is added to timeout, which is not set"),
        ("--max-piped-calls 5", "--max-piped-calls does nothing: belongs to sessions"),
    ],
)
def test_what_httperf_takes_and_ignores_is_taken_with_a_warning(words: str, warned: str) -> None:
    (warning,) = parse(words.split()).warnings
    assert warning.startswith(warned)


def test_numbers_are_read_as_httperf_reads_them() -> None:
    s = parse(
        ["--rate", "1e2", "--timeout", ".5", "--wset", "1024,0.3", "--runtime", "2.5", "--period-x"][:-1]
    ).settings
    assert (s.rates, s.timeout_s, s.wset, s.runtime_s) == ((100.0,), 0.5, Wset(1024, 0.3), 2.5)
    assert parse(["--period", "v.1,1,2,3"]).settings.period == Period("v", (0.1, 1.0, 2.0, 3.0))


def test_any_words_are_options_or_a_sentence() -> None:
    chance = random.Random(7)
    words = ["0", "1", "5", "-1", "1e999", "y,/dev/zero", "u1,2", "0/2", "é", "=", "--", "-", "-v", "-n"]
    pieces = [*(f"--{name}" for name in LONG), *words, "\0"]
    pieces += ["--wsess=1,2,3", "--ra=5", "x" * 5000, "--" + "y" * 5000, "--period=v" + "1," * 3000 + "1", "\udcff"]
    pieces = [piece for piece in pieces if piece not in ("--add-header-file", "--wsesslog")]
    read = 0
    for _ in range(3000):
        words = [
            chance.choice(pieces) + (f"={chance.choice(pieces)}" if chance.random() < 0.3 else "")
            for _ in range(chance.randint(1, 6))
        ]
        try:
            parse(words)
            read += 1
        except PlanError as error:
            assert len(str(error)) > 10
    assert read > 10


@pytest.mark.parametrize(
    ("words", "begun", "offered"),
    [
        ("", "--num-c", ["--num-conns", "--num-calls"]),
        ("--server www", "--ra", ["--rate"]),
        ("", "--print-rep", ["--print-reply", "--print-reply=header", "--print-reply=body"]),
        ("--ssl-pro", "TLS", ["TLSv1.2", "TLSv1.3"]),
        ("--hog", "w", []),
        ("-o", "r", []),
        ("--nothing", "--hog", ["--hog"]),
        ("--ssl-protocol=auto", "", []),
    ],
)
def test_the_shell_is_offered_options_and_values_where_there_are_few(
    words: str, begun: str, offered: list[str]
) -> None:
    assert [word for word, _ in completions(words.split(), begun)] == offered


def test_one_dash_offers_all_options_each_once() -> None:
    offered = [word for word, _ in completions([], "-")]
    assert len(offered) == len(set(offered)) and {"-o", "--output", "-n"} <= set(offered)
