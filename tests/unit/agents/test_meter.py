"""What went over a link while a trial measured."""

from collections.abc import Iterator, Mapping

from bakeoff.agents.machine.links import Meter
from bakeoff.core.system.links import Link

READ = ("starting", "ramp_up", "window", "window", "window", "ramp_down", "done")


class Cable:
    """A link that carries so many bytes per second of a clock that goes on by 0.4 s with every sample."""

    def __init__(self, rates: Mapping[str, float]) -> None:
        self._rates, self._phase = rates, "starting"
        self.now, self._bytes = 0.0, 0.0

    def to(self, phase: str) -> str:
        self.now += 0.4
        self._bytes += 0.4 * self._rates.get(self._phase, 0.0)
        self._phase = phase
        return phase

    def read(self, known: Mapping[str, Link]) -> Mapping[str, Link]:
        count = round(self._bytes)
        return {
            "eth0": Link("eth0", (), 1_000_000, "", count, count // 2, count // 100, 0),
            "lo": Link("lo", (), None, "a loopback", 7, 7, 7, 7),
        }

    def phases(self, *names: str) -> Iterator[str]:
        return map(self.to, names)


def metered(wire: Cable, *phases: str, names: tuple[str, ...] = ("eth0",)) -> Meter:
    meter = Meter(names, wire.read, lambda: wire.now)
    for phase in wire.phases(*phases):
        meter.sample(phase)
    return meter


def test_ramps_and_waits_do_not_hide_how_full_it_was_in_the_window() -> None:
    wire = Cable({"window": 100_000.0, "ramp_up": 10_000.0})
    (used,) = metered(wire, *READ).used()
    assert (used.name, used.bits_per_s) == ("eth0", 1_000_000)
    assert used.bytes_in == 80_000 and abs(used.span_s - 0.8) < 1e-9
    assert (used.bytes_out, used.packets_in) == (40_000, 800)


def test_a_window_that_was_seen_once_counts_from_the_sample_before_it() -> None:
    wire = Cable({"window": 100_000.0})
    meter = metered(wire, "armed", "ramp_up", "window", "ramp_down")
    (used,) = meter.used()
    assert used.bytes_in == 40_000 and abs(used.span_s - 0.8) < 1e-9


def test_without_a_sample_it_is_the_whole_trial() -> None:
    wire = Cable({"starting": 50_000.0})
    meter = metered(wire)
    wire.to("done")
    (used,) = meter.used()
    assert used.bytes_in == 20_000 and abs(used.span_s - 0.4) < 1e-9


def test_links_that_lead_nowhere_are_not_read() -> None:
    def never(known: Mapping[str, Link]) -> Mapping[str, Link]:
        raise AssertionError

    meter = Meter((), never)
    meter.sample("window")
    assert meter.used() == ()


def test_a_link_that_went_away_is_left_out() -> None:
    wire = Cable({"window": 1.0})
    assert metered(wire, *READ, names=("eth9", "lo")).used()[0].name == "lo"
